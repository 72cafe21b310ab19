"""Completion of command lines: what the program says, and what real shells make of it; manual pages."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest


@pytest.fixture
def complete(run):
    """complete("run", "res") -> {word: what it is}."""

    def call(*words):
        done = run("complete", "--about", "--", *words)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return dict((line + "\t").split("\t")[:2] for line in done.stdout.splitlines())

    return call


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed: scripts/setup --tests")


def test_verbs_and_flags(complete, run):
    verbs = complete("")
    listed = {line.split()[0] for line in run("--help").stdout.split("Verbs:")[1].splitlines() if line.startswith("  ") and line[2] != " "}
    assert listed - {"-h,", "--version"} <= set(verbs) and {"--help", "--version"} <= set(verbs)
    assert complete("ru") == {"run": "Measure subjects: models on back ends", "runs": "List the stored runs"}
    assert set(complete("help", "comp")) == {"compare", "completion"}
    assert complete("run", "--iter")["--iterations"] == "Timed inferences per process"
    assert set(complete("models", "")) >= {"build", "show"} and set(complete("baseline", "s")) == {"set"}
    assert set(complete("models", "show", "res")) == {"resnet50"}
    assert complete("no-such-verb", "") == {}


def test_subjects(complete):
    assert set(complete("run", "resn")) == {"resnet50@"}
    assert set(complete("run", "mlp@fake", "slow=ml")) == {"slow=mlp@"}
    assert set(complete("compare", "mlp@fa")) == {"mlp@fake"}
    assert "mlp@fake,latency=" in complete("run", "mlp@fake,") and "mlp@fake,threads=" in complete("run", "mlp@fake,")
    assert set(complete("run", "mlp@fake,threads=1,dty")) == {"mlp@fake,threads=1,dtype="}
    assert "mlp@fake,dtype=bfloat16" in complete("run", "mlp@fake,dtype=")
    assert complete("run", "mlp@nothing,") == {} or all("," in word for word in complete("run", "mlp@nothing,"))


def test_values_of_flags(complete):
    assert set(complete("run", "--format", "")) == {"table", "json", "csv", "markdown", "html", "latex", "openmetrics", "bencher", "google-benchmark"}
    assert set(complete("run", "--format=js")) == {"--format=json"}
    assert set(complete("backends", "--format", "")) == {"table", "json"}
    assert "fake" in complete("run", "--backend", "onnxruntime", "f")
    assert set(complete("run", "--model", "resnet50", "vit")) == {"vit_b_16"}
    assert complete("run", "--output", "") == {}  # files are the shell's
    assert "imaging" in complete("study", "")


def test_stored_runs_and_baselines(complete, run):
    assert {"latest", "previous"} <= set(complete("report", ""))
    assert run("run", "mlp@fake", "--iterations", 3, "--processes", 1, "--quiet", "--output-dir", "else where").returncode == 0
    assert run("baseline", "set", "nightly", "latest", "--output-dir", "else where").returncode == 0
    words = complete("report", "--output-dir", "else where", "")
    assert words["nightly"].startswith("baseline: 2") and "mlp@fake" in words.values()
    assert set(complete("baseline", "remove", "--output-dir", "else where", "")) == {"nightly"}
    assert "nightly" not in complete("report", "")


def test_names_that_a_shell_would_read_otherwise_are_left_out(complete, run):
    assert run("run", "mlp@fake", "--iterations", 3, "--processes", 1, "--quiet").returncode == 0
    for name in ("$(touch owned)", "two words", "quo'te", "`id`"):
        assert run("baseline", "set", name, "latest").returncode == 0
    done = run("complete", "--", "report", "")
    assert all(sign not in done.stdout for sign in "$ '`\x1b")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_syntax_that_the_shell_takes(run, shell):
    script = run("completion", shell).stdout
    assert "infermeter" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: scripts/setup --tests")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_shell_that_has_no_script(run):
    done = run("completion", "fisch")
    assert done.returncode == 2 and "did you mean 'fish'?" in done.stderr and "bash, zsh or fish" in done.stderr


@needs("fish")
def test_fish_asks_the_program(run, environment, build_dir):
    (run.folder / "script.fish").write_text(run("completion", "fish").stdout)
    path = f"{build_dir / 'bin'}:{environment['PATH']}"
    done = subprocess.run(["fish", "-N", "-c", 'source script.fish; complete -C"infermeter run mlp@fak"; complete -C"infermeter repo"'],
                          cwd=run.folder, env=environment | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["mlp@fake", "report\tPrint a stored run, in any format"], done.stderr


# What is typed into a shell at a terminal (a tab asks for completion), and what its line has become.
PROMPTS = {"bash": (["bash", "--norc", "--noprofile", "-i"], 'PS1="> "; source <(infermeter completion bash); bind "set bell-style none"\n'),
           "zsh": (["zsh", "-f", "-i"], "PS1='> '; autoload -Uz compinit; compinit -u -D; source <(infermeter completion zsh)\n")}


@pytest.mark.parametrize("shell", [pytest.param("bash", marks=needs("bash")), pytest.param("zsh", marks=needs("zsh"))])
@pytest.mark.parametrize("steps, line", [
    ([("infermeter repo", "report ")], "infermeter report"),
    ([("infermeter run resn", "resnet50@"), ("fak", "fake")], "infermeter run resnet50@fake"),
    ([("infermeter run mlp@fake,lat", "latency=")], "infermeter run mlp@fake,latency="),
    ([("infermeter run --form", "--format "), ("js", "json ")], "infermeter run --format json")])
def test_a_tab_completes(run, environment, build_dir, shell, steps, line):
    command, settings = PROMPTS[shell]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(run.folder)
        os.execvpe(command[0], command, environment | {"PATH": f"{build_dir / 'bin'}:{environment['PATH']}", "TERM": "dumb"})
    seen = b""

    def read_until(word):
        nonlocal seen
        until = time.monotonic() + 60
        while word.encode() not in seen.replace(b"\a", b"") and time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)
        assert word.encode() in seen.replace(b"\a", b""), seen
        seen = b""

    try:
        os.write(terminal, settings.encode() + b"echo rea''dy\n")
        read_until("\nready")
        for typed, completed in steps:
            os.write(terminal, typed.encode() + b"\t")
            read_until(completed)
        os.write(terminal, b"\x01echo \x05\n")  # the line becomes what echo says
        read_until(f"\n{line}")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


@needs("mandoc")
def test_manual_pages_are_clean(run):
    pages = [""] + [word for word in run("complete", "--", "").stdout.split() if not word.startswith("-")]
    assert len(pages) > 15
    for verb in pages:
        page = run("manual-page", *([verb] if verb else [])).stdout
        reported = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True, check=False)
        # No date: what is built again has the same bytes.
        wrong = [line for line in (reported.stdout + reported.stderr).splitlines() if "missing date" not in line]
        assert not wrong, (verb, wrong)
        text = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=200"], input=page, capture_output=True, text=True, check=True).stdout
        text = re.sub(r".\x08", "", text)
        assert page.startswith(".TH") and f"infermeter{'-' if verb else ''}{verb}" in text
        if verb:
            for flag in [word for word in run("complete", "--", verb, "--").stdout.split()]:
                assert flag.replace("-", "\\-") in page, flag
