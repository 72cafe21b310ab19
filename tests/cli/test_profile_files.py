"""`infermeter report --profile-files`: what stands in the way is one sentence. Files are tested beside the code."""

import pytest

SHORT = ("--processes", 2, "--iterations", 20, "--warmup", 1, "--quiet")


@pytest.fixture
def stored(run):
    done = run("run", "a=mlp@fake,latency=constant:100us", *SHORT)
    assert done.returncode == 0, done.stderr


def refused(done, sentence):
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1


def test_a_run_without_profiles_is_refused(run, stored):
    refused(run("report", "--profile-files", "profiles"), "has no profile of operators: infermeter run --profile makes them")
    assert not (run.folder / "profiles").exists()


def test_a_file_that_is_there_is_kept_without_force(run, stored):
    (run.folder / "profiles").mkdir()
    (run.folder / "profiles/detailed_breakdown.txt").write_text("mine")
    refused(run("report", "--profile-files", "profiles"), "profiles/detailed_breakdown.txt exists already: --force writes over it")
    assert (run.folder / "profiles/detailed_breakdown.txt").read_text() == "mine"


@pytest.mark.parametrize("arguments, sentence", [
    (["--format", "json"], "--profile-files writes files instead of printing"),
    (["--output", "a"], "--profile-files writes files instead of printing"),
    (["--html", "a.html"], "--profile-files writes files instead of printing"),
    (["--plot", "a.png"], "--profile-files writes files instead of printing"),
    (["latest", "latest"], "--profile-files writes the profiles of one run"),
])
def test_what_is_asked_for_wrongly(run, stored, arguments, sentence):
    refused(run("report", "--profile-files", "profiles", *arguments), sentence)


def test_a_folder_without_a_name_is_refused(run, stored):
    refused(run("report", "--profile-files", ""), "--profile-files needs the name of a folder: --profile-files profiles")
    assert sorted(each.name for each in run.folder.iterdir()) == ["results"]
