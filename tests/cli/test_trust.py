"""Code comes from the installation, from what the command line names and from an environment that is activated; folders,
plans, stores and infermeter.toml are data."""

import json
import shutil
import signal
import sqlite3
import sys

import pytest

FAKE = "mlp@fake,latency=constant:100us"
SHORT = ("--processes", 2, "--warmup", 0, "--iterations", 3, "--quiet")


def refused(done, *fragments):
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr


@pytest.fixture
def hostile(run, tmp_path):
    """A folder with an environment whose Python leaves a trace when it is started."""
    trace = tmp_path / "started"
    for place in (run.folder / ".venv", run.folder):
        (place / "bin").mkdir(parents=True)
        (place / "bin/python").write_text(f"#!/bin/sh\ntouch {trace}\nexit 1\n")
        (place / "bin/python").chmod(0o755)
        library = place / "lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.99"
        library.parent.mkdir(parents=True)
        library.write_bytes(b"no library")
    return trace


@pytest.mark.parametrize("activated", [True, False])
def test_nothing_of_the_current_folder_is_executed(run, hostile, activated):
    env = {} if activated else {"VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
    backends = json.loads(run("backends", "--format", "json", env=env).stdout)
    assert {backend["name"] for backend in backends} >= {"fake", "onnxruntime"}
    for backend in backends:
        assert str(run.folder) not in backend["library"] + backend["error"]
    if not activated:
        run("doctor", env=env)
    assert not hostile.exists()


def test_nothing_above_an_installation_is_executed(run, installed, tmp_path):
    """Its prefix may lie in /tmp, where anybody can make a folder infermeter/backends or .venv."""
    prefix = tmp_path / "shared/home/prefix"
    shutil.copytree(installed, prefix, symlinks=True)
    for above in (prefix.parent, prefix.parent.parent):
        (above / "infermeter/backends").mkdir(parents=True)
        (above / "infermeter/backends/infermeter_backend_evil.so").write_bytes(b"no library")
        (above / ".venv/bin").mkdir(parents=True)
        (above / ".venv/bin/python").symlink_to(sys.executable)
    done = run("backends", "--format", "json", program=prefix / "bin/infermeter")
    assert "fake" in done.stdout and "evil" not in done.stdout, done.stderr
    verbose = run("run", FAKE, *SHORT[:-1], "--verbose", env={"VIRTUAL_ENV": ""}, program=prefix / "bin/infermeter")
    assert verbose.returncode == 0 and f"{tmp_path}/shared/.venv" not in verbose.stderr
    assert f"{tmp_path}/shared/home/.venv" not in verbose.stderr


def test_a_configuration_file_is_data(run):
    (run.folder / "infermeter.toml").write_text("sandbox = 'off'\n")
    refused(run("run", FAKE, *SHORT), "infermeter.toml:1:11: sandbox = 'off' may be set on the command line only")
    (run.folder / "infermeter.toml").write_text("output_dir = '../elsewhere'\n")
    refused(run("run", FAKE, *SHORT), "infermeter.toml:1:14: output_dir", "a folder below the current one")
    (run.folder / "infermeter.toml").write_text("output_dir = 'here'\nseed = 3\n")
    done = run("run", FAKE, *SHORT)
    assert done.returncode == 0 and done.stderr == "infermeter.toml sets output_dir, seed\n"
    assert (run.folder / "here/infermeter.db").exists()


def test_a_plan_is_data(run):
    (run.folder / "plan.toml").write_text(f"subjects = ['{FAKE}']\nbackend_path = 'evil'\n")
    refused(run("run", "--plan", "plan.toml", *SHORT), "a folder of back ends, 'evil'", "add --allow-code")
    (run.folder / "plan.toml").write_text(f"subjects = ['{FAKE},library=./evil.so']\n")
    refused(run("run", "--plan", "plan.toml", *SHORT), "a library of a back end, './evil.so'", "add --allow-code")
    (run.folder / "plan.toml").write_text(f"subjects = ['{FAKE}']\nsandbox = 'off'\n")
    refused(run("run", "--plan", "plan.toml", *SHORT), "plan.toml:2:11", "--sandbox off")


@pytest.fixture
def unfinished(run, run_slowly):
    """unfinished(flags…) -> the id of a run that was interrupted."""

    def make(subject, *flags):
        with run_slowly("run", subject, "--processes", 50, "--warmup", 0, "--iterations", 3, *flags) as running:
            running.wait_for("1/50]")
            running.process.send_signal(signal.SIGINT)
            code, _, err = running.end()
        assert code == 130, err
        return json.loads(run("runs", "--format", "json").stdout)[-1]["id"]

    return make


def change_plan(folder, **members):
    """What somebody else could have written into a store, whose checksums are no signatures."""
    with sqlite3.connect(folder / "results/infermeter.db") as store:
        (text,) = store.execute("SELECT plan FROM runs").fetchone()
        plan = json.loads(text) | members
        store.execute("UPDATE runs SET plan = ?, checksum = NULL", (json.dumps(plan),))
    store.close()


def test_a_store_is_data(run, unfinished):
    name = unfinished("mlp@fake,latency=constant:1ms,work=sleep", "--sandbox", "off")
    refused(run("run", "--resume"), f"run {name} was begun with --sandbox off", f"give --sandbox off with --resume {name}")
    change_plan(run.folder, sandbox="auto", backend_path="evil")
    refused(run("run", "--resume", name), "back ends of the folder 'evil'", f"give --allow-code with --resume {name}")
    change_plan(run.folder, sandbox="auto", backend_path="", allow_code=True)
    refused(run("run", "--resume", name), "loads models that are code", "--allow-code")
    change_plan(run.folder, sandbox="auto", backend_path="", processes=2)
    done = run("run", "--resume", name, "--allow-code", "--dry-run")
    assert done.returncode == 0, done.stderr


def test_a_library_that_a_store_names_is_not_loaded(run, unfinished):
    name = unfinished("mlp@fake,latency=constant:1ms,work=sleep")
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        (text,) = store.execute("SELECT plan FROM runs").fetchone()
        plan = json.loads(text)
        plan["subjects"][0]["backend_library"] = "./evil.so"
        store.execute("UPDATE runs SET plan = ?, checksum = NULL", (json.dumps(plan),))
    store.close()
    refused(run("run", "--resume", name), "loads the library './evil.so'", "--allow-code")
    refused(run("run", "--resume", name, "--dry-run"), "loads the library './evil.so'")


@pytest.mark.parametrize("option", [("url", "http://192.0.2.1:9"), ("token_file", "/etc/passwd")])
def test_a_server_that_a_store_names_is_not_asked(run, unfinished, option):
    name = unfinished("mlp@fake,latency=constant:1ms,work=sleep")
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        (text,) = store.execute("SELECT plan FROM runs").fetchone()
        plan = json.loads(text)
        plan["subjects"][0]["options"] = [list(option)]
        store.execute("UPDATE runs SET plan = ?, checksum = NULL", (json.dumps(plan),))
    store.close()
    refused(run("run", "--resume", name), f"loads a model of a server ('{option[0]}={option[1]}')", "--allow-code")


def test_a_variable_that_a_store_names_is_not_set(run, unfinished):
    name = unfinished("mlp@fake,latency=constant:1ms,work=sleep", "--env", "OMP_TOOL_LIBRARIES=./evil.so")
    refused(run("run", "--resume", name), f"run {name} was given --env OMP_TOOL_LIBRARIES=", "give its arguments again")


def test_a_store_with_views_is_refused_before_it_is_asked(run):
    assert run("run", FAKE, *SHORT).returncode == 0
    with sqlite3.connect(run.folder / "results/infermeter.db") as store:
        store.execute("ALTER TABLE runs RENAME TO hidden")
        store.execute("CREATE VIEW runs AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                      "SELECT n AS id, n AS created_at, 0 AS finished FROM c")
    store.close()
    for verb in (["runs"], ["report"], ["history"], ["run", "--resume"], ["baseline", "list"]):
        refused(run(*verb), "infermeter.db is refused: its ", "is not as infermeter makes it")
