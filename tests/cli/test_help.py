"""Help is a golden file: INFERMETER_APPROVE=1 writes it anew."""

import os
import re
import shlex

import pytest

VERBS = ["", "run", "compare", "load", "tune", "profile", "import", "gate", "report", "runs", "runs list", "runs tag", "runs untag", "runs note", "runs delete", "runs prune", "store", "store copy", "store push", "baseline", "baseline set", "baseline list", "baseline remove",
         "history", "publish", "validate", "variants", "study", "models", "models build", "models show", "backends", "doctor", "completion", "version"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_as_approved(run, source_dir, verb):
    done = run(*verb.split(), "--help")
    assert done.returncode == 0 and done.stderr == ""
    golden = source_dir / "tests/golden/help" / f"{verb.replace(' ', '_') or 'infermeter'}.txt"
    if os.environ.get("INFERMETER_APPROVE"):
        golden.write_text(done.stdout)
    assert done.stdout == golden.read_text()
    options = done.stdout.split("\nExamples:")[-1]
    assert all(len(line) <= 80 for line in options.splitlines() if not line.startswith("  infermeter "))


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_parses(run, verb):
    """The flags of each example exist: with --help behind them they must lead to the verb's help, not to an error."""
    text = run(*verb.split(), "--help").stdout
    for command in re.findall(r"^  (infermeter .*)$", text, re.M):
        arguments = shlex.split(command.split("|")[0])[1:]
        done = run(*arguments, "--help")
        assert done.returncode == 0 and done.stdout.startswith("usage: infermeter "), command


def test_every_setting_of_a_plan_is_described(source_dir, run):
    described = (source_dir / "docs/plan.md").read_text()
    own, _, others = run("run", "--help").stdout.partition("\nOther names, of earlier tools:\n")
    ours = own + others.partition("\n\n")[2]  # docs/coming-from.md has the other ones
    flags = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", ours, re.M))
    not_in_plans = {"--plan", "--output", "--html", "--force", "--no-samples", "--operators", "--width", "--dry-run", "--resume", "--quiet",
                    "--verbose", "--help",
                    # Of runs on a cluster: docs/fleet.md.
                    "--on", "--nodes", "--partition", "--constraint", "--time", "--sbatch", "--wait", "--write-job", "--image", "--volume",
                    "--task-processors", "--task-memory", "--shard"}
    missing = {flag for flag in flags - not_in_plans if f"`{flag}`" not in described}
    assert not missing


def test_version(run):
    assert re.fullmatch(r"infermeter \d+\.\d+\.\d+\n", run("--version").stdout)
    assert re.fullmatch(r"infermeter \d+\.\d+\.\d+ \(.*\)\n", run("version").stdout)
