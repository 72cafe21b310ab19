"""`infermeter report --profile-files`: what stands in the way is one sentence; traces of what was measured, read by Perfetto's own schema and
compared with the Trace Event Format. The other files are tested beside the code."""

import json
import math
from itertools import pairwise

import pytest

SHORT = ("--processes", 2, "--iterations", 20, "--warmup", 1, "--quiet")


@pytest.fixture
def stored(run):
    done = run("run", "a=mlp@fake,latency=constant:100us", *SHORT)
    assert done.returncode == 0, done.stderr


def refused(done, sentence):
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and done.stderr.startswith("infermeter: ") and done.stderr.count("\n") == 1


def test_a_run_without_profiles_and_iterations_is_refused(run):
    assert run("run", "a=mlp@fake,crash=load", *SHORT).returncode == 4
    refused(run("report", "--profile-files", "profiles"), "has neither an iteration nor a profile of operators, which infermeter run --profile makes")
    assert not (run.folder / "profiles").exists()


def slices_of_perfetto(file):
    """By process and track, in nanoseconds: begins and ends of slices."""
    schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="scripts/setup --tests")
    trace = schema.Trace.FromString(file.read_bytes())
    names, found = {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            names[track.uuid] = names.get(track.parent_uuid, ()) + ((track.process.process_name or track.thread.thread_name or track.name),)
        if packet.HasField("track_event") and packet.track_event.type != schema.TrackEvent.TYPE_COUNTER:
            event = packet.track_event
            edges = found.setdefault(names[event.track_uuid], [])
            assert (event.type == schema.TrackEvent.TYPE_SLICE_BEGIN) == (len(edges) % 2 == 0)
            edges.append(packet.timestamp)
    return {name: list(zip(edges[::2], edges[1::2])) for name, edges in found.items()}


def slices_of_chrome(file):
    """The same. As the Trace Event Format has it: complete events with name, category, place, time and length; names of what they stand in."""
    events = json.loads(file.read_text())["traceEvents"]
    assert {event["ph"] for event in events} <= {"X", "M", "C"}
    names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in events if event["ph"] == "M" and "name" in event["args"]}
    found = {}
    for event in events:
        if event["ph"] != "X":
            continue
        assert isinstance(event["name"], str) and isinstance(event["cat"], str) and event["ts"] >= 0 and event["dur"] >= 0
        process, thread = names["process_name", event["pid"], event["pid"]], names["thread_name", event["pid"], event["tid"]]
        found.setdefault((process, thread), []).append((round(1e3 * event["ts"]), round(1e3 * (event["ts"] + event["dur"]))))
    return found


def test_iterations_of_measured_processes_are_slices(run, stored):
    assert run("report", "--profile-files", "profiles").returncode == 0
    trials = json.loads(run("report", "--format", "json").stdout)["trials"]
    wanted = {}
    for number, trial in enumerate(trials, 1):
        begins = [begin - trial["samples"]["begin_s"][0] for begin in trial["samples"]["begin_s"]]
        wanted["a, measured process " + str(number), "iterations"] = [
            (1e9 * begin, 1e9 * (begin + latency)) for begin, latency in zip(begins, trial["samples"]["latency_s"])]
    assert len(wanted) == 2
    for slices in (slices_of_chrome(run.folder / "profiles/trace.json"), slices_of_perfetto(run.folder / "profiles/profile.perfetto-trace")):
        assert slices.keys() == wanted.keys()
        for name, expected in wanted.items():
            assert len(slices[name]) == 20
            # Whole nanoseconds of times that the report rounds as well.
            assert all(math.dist(one, other) < 3 for one, other in zip(slices[name], expected))


def test_requests_of_a_load_stand_beside_each_other(run):
    done = run("load", "mlp@fake,latency=constant:5ms,work=sleep", "--concurrency", 3, "--requests", 30, "--processes", 1, "--quiet")
    assert done.returncode in (0, 1), done.stderr
    assert run("report", "--profile-files", "profiles").returncode == 0
    slices = slices_of_chrome(run.folder / "profiles/trace.json")
    assert {name[1] for name in slices} == {"requests 1", "requests 2", "requests 3"}
    assert sum(map(len, slices.values())) == 30
    for track in slices.values():
        assert all(one[1] <= other[0] for one, other in pairwise(track))


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
