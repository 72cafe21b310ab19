"""Every verb that reads or writes a store, on each kind of store."""

import json
import signal
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "infermeter"
QUICK = ("--processes", 2, "--warmup", 0, "--iterations", 5)
SLOW = ("mlp@fake,latency=constant:1ms,work=sleep", "b=mlp@fake,latency=constant:2ms,work=sleep", "--processes", 3, "--warmup", 0)


@pytest.fixture
def stored(run, place):
    """stored(verb, …) -> the verb with --store."""

    def call(*arguments, **options):
        return run(*arguments, "--store", place, **options)

    return call


def ids(stored):
    return [entry["id"] for entry in json.loads(stored("runs", "--format", "json").stdout)]


def test_a_run_is_stored_and_reported_again(run, stored, place):
    done = stored("run", "mlp@fake", *QUICK, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert "is stored in " in done.stderr and not (run.folder / "results/infermeter.db").exists()
    again = stored("report", "--format", "json")
    assert again.returncode == 0 and again.stdout == done.stdout
    assert "store" not in report["plan"] and report["plan"]["output_dir"] == "results"
    listed = json.loads(stored("runs", "--format", "json").stdout)
    assert [entry["id"] for entry in listed] == [report["id"]] and listed[0]["finished"]


def test_the_variable_says_where_as_well(run, place):
    assert run("run", "mlp@fake", *QUICK, "--quiet", env={"INFERMETER_STORE": place}).returncode == 0
    assert len(ids(lambda *verb: run(*verb, env={"INFERMETER_STORE": place}))) == 1


def test_histories_baselines_gates_and_comparisons(run, stored, place):
    for _ in range(2):
        assert stored("run", "mlp@fake", *QUICK, "--quiet").returncode == 0
    first, second = ids(stored)
    assert stored("baseline", "set", "main", first).stdout == f"baseline main is run {first}\n"
    assert json.loads(stored("baseline", "--format", "json").stdout)[0]["run"] == first
    history = json.loads(stored("history", "--format", "json").stdout)
    assert history["series"][0]["runs"] == 2, history
    compared = stored("compare", "main", second)
    assert compared.returncode == 0, compared.stderr
    (run.folder / "gate.toml").write_text("expect = ['latency_p50 <= 10s']\nbaseline = 'main'\n")
    judged = stored("gate", "gate.toml", "--run", second)
    assert judged.returncode == 0, judged.stderr
    measured = stored("gate", "gate.toml", "--run", "nosuch")
    assert measured.returncode == 2 and "there is no run 'nosuch'" in measured.stderr
    published = stored("publish", "site")
    assert published.stdout.startswith("site: 2 runs, 1 series;"), published.stderr
    assert stored("publish", "site").stdout.endswith("; 0 files written, 0 removed\n")
    assert (run.folder / f"site/runs/{second}.html").is_file()
    assert stored("baseline", "remove", "main").returncode == 0
    assert stored("report", first, second).returncode == 0
    assert stored("report", "--html", "page.html").returncode == 0
    assert first in run("complete", "--", "report", "--store", place, "").stdout
    assert stored("run", "mlp@fake", *QUICK, "--dry-run").returncode == 0


def test_what_other_tools_measured_is_imported(stored, place, run):
    """Profiles, call stacks and times: what is stored is what was reported, and is copied as any run."""
    (run.folder / "calls.txt").write_text("main;work 12\nmain;rest 3\n")
    files = (FIXTURES / "profile/fixtures/onnxruntime_mlp.json", FIXTURES / "importing/fixtures/hyperfine.json", "calls.txt")
    reported = [stored("import", file, "--format", "json", "--quiet") for file in files]
    assert [done.returncode for done in reported] == [0, 0, 0], [done.stderr for done in reported]
    for identity, done in zip(ids(stored), reported, strict=True):
        assert stored("report", identity, "--format", "json").stdout == done.stdout
    assert not (run.folder / "results/infermeter.db").exists()
    copied = run("store", "copy", place, "copy.db")
    assert copied.stdout.endswith(": 3 copied, 0 extended, 0 there already\n"), copied.stderr
    assert run("report", "--store", "copy.db", "--format", "json").stdout == reported[-1].stdout
    (run.folder / "cut.json").write_text('{"results": [{"command"')
    refused = stored("import", "cut.json")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "cut.json" in refused.stderr
    assert len(ids(stored)) == 3


def test_nothing_is_imported_where_the_database_is_not(run, postgres):
    (run.folder / "calls.txt").write_text("main;work 12\n")
    done = run("import", "calls.txt", "--store", postgres.url("nosuch"))
    assert done.returncode == 2 and done.stdout == "" and 'database "nosuch" does not exist' in done.stderr, done
    assert not (run.folder / "results/infermeter.db").exists()


def test_an_interrupted_run_is_finished(run_slowly, stored, place):
    with run_slowly("run", *SLOW, "--iterations", 50, "--store", place) as running:
        running.wait_for("[2/6]")
        running.process.send_signal(signal.SIGINT)
        code, _, errors = running.end()
    assert code == 130 and "--resume" in errors and "--store" in errors, errors
    before = json.loads(stored("runs", "--format", "json").stdout)[0]
    assert not before["finished"] and before["trials_done"] >= 2
    done = stored("run", "--resume", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    assert stored("report", "--format", "json").stdout == done.stdout
    assert stored("run", "--resume").returncode == 2


def test_who_measures_a_run_keeps_others_out(run_slowly, stored, place):
    with run_slowly("run", *SLOW, "--iterations", 2000, "--store", place) as running:
        running.wait_for("[1/6]")
        identity = ids(stored)[0]
        done = stored("run", "--resume", identity)
        assert done.returncode == 2 and "is being measured by another infermeter" in done.stderr
    # It was killed: its lock is gone with it.
    assert stored("run", "--resume", "--dry-run").returncode == 0


def test_python_reads_and_writes_it(build_dir, run, place):
    program = f"""
import infermeter as im
place = {place!r}
record = im.run("mlp@fake", processes=2, warmup=0, iterations=5, store=place)
assert im.load(store=place).id == record.id
assert [run.id for run in im.list_runs(store=place)] == [record.id]
assert im.set_baseline("main", store=place) == record.id
assert im.load_baseline("main", store=place).id == record.id
assert len(im.histories(store=place)) >= 1
"""
    done = run("-c", program, program=sys.executable, env={"PYTHONPATH": str(build_dir / "python")})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, said", [
    ("postgresql://ann:secret@db.invalid/team", "~/.pgpass"),
    ("postgresql://db.invalid/team?password=secret", "~/.pgpass"),
    ("host=db.invalid password=secret", "~/.pgpass"),
    ("mysql://db.invalid/team", "is not a store"),
    ("postgres:db.invalid/team", "is not a store"),
    ("postgresql://db.invalid/team?colour=red", "invalid URI query parameter"),
    ("postgresql:///team?host=/nowhere", "cannot connect to the store postgresql:///team?host=/nowhere"),
    ("service=nosuch", "nosuch"),
    ("", "--store"),
])
@pytest.mark.parametrize("verb", [("runs",), ("run", "mlp@fake", "--quiet"), ("report",)])
def test_what_is_no_store_is_refused_in_one_sentence(run, verb, text, said):
    done = run(*verb, "--store", text, env={"PGSERVICEFILE": "/nonexistent", "PGSYSCONFDIR": "/nonexistent"})
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert "secret" not in done.stderr and not (run.folder / "results/infermeter.db").exists()


@pytest.mark.parametrize(("instead", "why"), [
    ("nothing", "libpq.so.5: file too short"), ("another library", "it has no PQcancel"),
])
def test_where_libpq_is_missing_files_are_stores_all_the_same(run, build_dir, instead, why):
    library = run.folder / "libraries/libpq.so.5"
    library.parent.mkdir()
    [another] = (build_dir / "lib").rglob("infermeter_backend_fake.so")
    library.write_bytes(b"" if instead == "nothing" else another.read_bytes())
    env = {"LD_LIBRARY_PATH": str(library.parent)}
    assert run("run", "mlp@fake", *QUICK, env=env).returncode == 0
    done = run("runs", "--store", "postgresql://host/database", env=env)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "a store in PostgreSQL needs libpq.so.5 (Debian: apt install libpq5), which cannot be loaded: " in done.stderr
    assert why in done.stderr


def test_a_file_can_name_a_service_only(run, postgres):
    database = postgres.new()
    (run.folder / "services.conf").write_text(f"[team]\nhost={postgres.folder}\nuser=infermeter\ndbname={database}\n")
    services = {"PGSERVICEFILE": str(run.folder / "services.conf")}
    (run.folder / "infermeter.toml").write_text("store = 'service=team'\n")
    done = run("run", "mlp@fake", *QUICK, env=services)
    assert done.returncode == 0 and "is stored in service=team" in done.stderr, done.stderr
    for other in (postgres.url(database), "elsewhere.db", "service=team host=db.invalid"):
        (run.folder / "infermeter.toml").write_text(f"store = '{other}'\n")
        done = run("runs", env=services)
        assert done.returncode == 2 and "store is to be service=NAME here" in done.stderr, done.stderr
    (run.folder / "infermeter.toml").unlink()
    (run.folder / "plan.toml").write_text(f"subjects = ['mlp@fake']\nstore = '{postgres.url(database)}'\n")
    assert "store is to be service=NAME here" in run("run", "--plan", "plan.toml").stderr


def test_what_others_wrote_is_text(run, postgres):
    database = postgres.new()
    place = postgres.url(database)
    assert run("run", "mlp@fake", *QUICK, "--quiet", "--store", place).returncode == 0
    postgres.psql(r"""
        ALTER TABLE infermeter.trials DROP CONSTRAINT trials_run_fkey;
        ALTER TABLE infermeter.outputs DROP CONSTRAINT outputs_run_fkey;
        ALTER TABLE infermeter.side_trials DROP CONSTRAINT side_trials_run_fkey;
        ALTER TABLE infermeter.figures DROP CONSTRAINT figures_run_fkey;
        UPDATE infermeter.runs SET id = E'20261121-\x1b]0;x\x07', labels = '["\u001b[31mred"]';
        UPDATE infermeter.trials SET run = (SELECT id FROM infermeter.runs)""", database)
    listed = run("runs", "--store", place)
    assert "20261121-" in listed.stdout and "\x1b" not in listed.stdout + listed.stderr, listed
    shown = run("report", "--store", place)
    assert "\x1b" not in shown.stdout + shown.stderr


def test_a_server_that_goes_away_ends_the_run_and_what_was_kept_is_there(run_slowly, run, postgres):
    place = postgres.url(postgres.new())
    with run_slowly("run", *SLOW, "--iterations", 300, "--store", place) as running:
        running.wait_for("[2/6]")
        postgres.crash()
        try:
            code, _, errors = running.end()
        finally:
            postgres.again()
    assert code == 2 and "the connection to the store" in errors and "Traceback" not in errors, errors
    kept = json.loads(run("runs", "--store", place, "--format", "json").stdout)[0]
    assert not kept["finished"] and kept["trials_done"] >= 2
    assert run("run", "--resume", "--store", place, "--quiet").returncode in (0, 1)
