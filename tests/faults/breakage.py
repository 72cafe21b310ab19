"""Runs that are broken off and resumed, compared with the unbroken run: same verdicts, exit code and reports.

Times differ from run to run, and what is said about them; all else must not."""

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy

# Of the reservations about figures, those that do not depend on times.
STEADY_DIAGNOSTICS = {"outputs_differ", "outputs_not_comparable", "trial_failed", "samples_partial", "accuracy_not_told",
                      "no_operator_profile", "nodes_not_attributed", "few_cores"}
LIMIT_S = 300  # a hang, not a slow machine


@dataclass
class Verb:
    """A command, how what it left is resumed, and the files that it reads."""
    name: str
    start: list
    resume: list
    files: dict = field(default_factory=dict)


SUBJECTS = ["a=mlp@fake,latency=constant:100us", "b=mlp@fake,latency=constant:100us,output_error=50%"]
# How many rounds are measured again because of other work is that work's affair, and not the same in two runs.
AS_PLANNED = ["--repeat-disturbed", "0"]
SHORT = ["--processes", "2", "--iterations", "5", "--warmup", "1", "--seed", "7"]
ROWS = BytesIO()
numpy.save(ROWS, numpy.arange(2 * 3 * 8 * 8, dtype=numpy.float32).reshape(2, 3, 8, 8) / 100)
PLAN = 'subjects = ["a=mlp@fake,latency=constant:100us", "b=mlp@fake,latency=constant:100us,output_error=50%"]\n' \
       "processes = 2\niterations = 5\nwarmup = 1\nseed = 7\nrepeat_disturbed = 0\n"

VERBS = {verb.name: verb for verb in [
    Verb("run", ["run", *SUBJECTS, *SHORT, "--data", "rows.npy", "--labels", "labels.txt", "--quiet"],
         ["run", "--resume", "--quiet"], {"labels.txt": b"3\n7\n", "rows.npy": ROWS.getvalue()}),
    # As many processes as the answer needs: decided at the first look, however busy the machine is.
    Verb("automatic", ["run", "a=mlp@fake,latency=constant:500us", "b=mlp@fake,latency=constant:10ms,work=sleep", "--iterations", "5",
                       "--warmup", "1", "--seed", "7", "--budget", "10min", *AS_PLANNED, "--quiet"],
         ["run", "--resume", "--quiet"]),
    Verb("profile", ["profile", *SUBJECTS, "--profile-processes", "1", "--processes", "1", "--profile-iterations", "3",
                     "--iterations", "5", "--warmup", "1", "--seed", "7", "--stacks", "off", "--quiet"],
         ["run", "--resume", "--quiet"]),
    Verb("compare", ["compare", "a=mlp@fake,latency=constant:200us", "b=mlp@fake,latency=constant:4ms,work=sleep", "--max-pairs", "8",
                     "--iterations", "5", "--warmup", "1", "--seed", "7", "--fail-slower", *AS_PLANNED, "--quiet"],
         ["run", "--resume", "--quiet"]),
    Verb("variants", ["variants", "mlp@fake", "--precisions", "float32", "--threads", "1,2", *SHORT, "--quiet"],
         ["variants", "mlp@fake", "--precisions", "float32", "--threads", "1,2", *SHORT, "--quiet", "--resume", "latest"]),
    Verb("gate", ["gate", "gate.toml", "--quiet"], ["gate", "gate.toml", "--quiet", "--resume"],
         {"gate.toml": 'plan = "plan.toml"\nexpect = ["outputs agree", "latency_p50_ms <= 100000", '
                       '"reproducible over 2 runs within 100000%"]\n', "plan.toml": PLAN}),
    Verb("study", ["study", "study.toml", "--quiet"], ["study", "study.toml", "--quiet", "--resume", "--force"],
         {"study.toml": 'title = "Two parts"\n[[part]]\nname = "one"\ntitle = "One"\nexpect = ["outputs agree"]\n'
                        "[part.plan]\n" + PLAN + '[[part]]\nname = "two"\ntitle = "Two"\nexpect = ["latency_p50_ms <= 100000"]\n'
                        "[part.plan]\n" + PLAN.replace("seed = 7", "seed = 8")}),
]}


def answer(report):
    """What a report (JSON) says, less times and what follows from them."""
    def trial(one):
        return {key: one[key] for key in ("subject", "process", "position", "purpose", "end", "phase", "iterations",
                                          "message", "outputs", "input_digest", "output_digest")}

    def subject(one):
        said = {key: one[key] for key in one if key in ("label", "baseline", "trials_ok", "trials_partial", "trials_failed",
                                                        "outputs", "accuracy")}
        said["metrics"] = {name: (metric["n"], metric["processes"], metric["value"] is None)
                           for name, metric in one["metrics"].items() if name.startswith("latency")}
        return said

    comparison = report["comparison"]
    profile = report["profile"]
    return {
        "exit_code": report["exit_code"], "finished": report["finished"], "plan": report["plan"],
        "models": report["models"],
        "subjects": [subject(one) for one in report["subjects"]],
        "trials": [trial(one) for one in report["trials"]],
        "side_trials": sorted((trial(one) for one in report["side_trials"]), key=lambda one: one["position"]),
        "comparison": comparison and [(one["direction"], one["pairs"])
                                      for one in comparison["primary"]],
        "profile": profile and [[operator["name"] for operator in one["table"]["operators"]] for one in profile["subjects"]],
        "diagnostics": sorted({(one["id"], one["about"]) for one in report["diagnostics"]
                               if one["id"] in STEADY_DIAGNOSTICS}),
    }


class Bench:
    """Where one verb is broken off, again and again, each time in a folder of its own."""

    def __init__(self, folder: Path, infermeter: Path, environment: dict, shim: Path, verb: Verb):
        self.folder, self.infermeter, self.environment, self.shim, self.verb = folder, infermeter, environment, shim, verb
        self.number = self.tried = 0
        self.reached = {}  # how many faults of a kind came to pass
        # The first run makes the model's file, which would count.
        assert self.call(self.place(), ["run", SUBJECTS[0], *SHORT, "--quiet"]).returncode == 0
        place = self.place()
        counts = place / "counts"
        done = self.call(place, self.verb.start, {"FAULT_COUNT": str(counts)})
        assert done.returncode in (0, 1, 5), done.stderr
        self.exit_code = done.returncode
        self.answers = self.stored(place)
        self.syncs, self.writes, self.mallocs, self.bytes = map(int, counts.read_text().split())
        self.wall_s = None

    def place(self):
        self.number += 1
        place = self.folder / f"{self.verb.name}{self.number}"
        place.mkdir()
        for name, content in self.verb.files.items():
            (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def start(self, place, arguments, faults=None):
        environment = self.environment | ({"LD_PRELOAD": str(self.shim)} | faults if faults else {})
        return subprocess.Popen([str(self.infermeter), *arguments], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def call(self, place, arguments, faults=None):
        process = self.start(place, arguments, faults)
        output, errors = process.communicate(timeout=LIMIT_S)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def listed(self, place):
        done = self.call(place, ["runs", "--format", "json"])
        return json.loads(done.stdout) if done.returncode == 0 else []

    def stored(self, place, without_csv=0):
        """The answers of the stored runs, oldest first; each has its CSV, which says what `report` says. `without_csv`:
        that of so many could not be written, and this was said."""
        answers, missing = [], 0
        for run in self.listed(place):
            done = self.call(place, ["report", run["id"], "--format", "json"])
            assert done.returncode == 0, done.stderr
            answers.append(answer(json.loads(done.stdout)))
            csv = self.call(place, ["report", run["id"], "--format", "csv"]).stdout
            written = [file for file in (place / "results/raw").glob("*.csv") if run["id"] in file.read_text()]
            assert [file.read_text() for file in written] in ([csv], []), f"the CSV of {run['id']}: {written}"
            missing += not written
        assert missing <= without_csv, f"{missing} CSV files are missing, {without_csv} of them told"
        return answers

    def finish(self, place):
        """What is left, resumed to its end; the exit code of that, or None where nothing was left to do."""
        runs = self.listed(place)
        if not runs:
            return self.call(place, self.verb.start).returncode
        if self.verb.name in ("gate", "study"):  # of several runs the next may not have begun
            return self.resume(place)
        return None if all(run["finished"] for run in runs) else self.resume(place)

    def resume(self, place):
        done = self.call(place, self.verb.resume)
        if done.returncode == 2 and "nothing was interrupted" in done.stderr:
            return None
        assert done.returncode in (0, 1, 5), (done.returncode, done.stderr)
        return done.returncode

    def check(self, place, broken):
        """The one question of all of these tests: resumed, is it the unbroken run?"""
        code = broken.returncode
        assert code in (self.exit_code, 2, 4, -signal.SIGKILL), (code, broken.stderr)
        if code in (2, 4):  # one sentence at the end, or a list of them
            reported = [line for line in broken.stderr.splitlines() if not line.startswith("  - ")]
            assert reported and reported[-1].startswith("infermeter: "), broken.stderr
        assert "terminate called" not in broken.stderr and "Sanitizer" not in broken.stderr, broken.stderr
        self.tried += 1
        if code != self.exit_code:
            finished = self.finish(place)
            assert finished in (None, self.exit_code), f"exit code {finished} instead of {self.exit_code}"
        answers = self.stored(place, broken.stderr.count(".csv cannot be written"))
        assert answers == self.answers, difference(answers, self.answers)
        shutil.rmtree(place)

    def break_off(self, kind, **faults):
        """One fault of the shim's; whether it came to pass."""
        place = self.place()
        broken = self.call(place, self.verb.start, {f"FAULT_{key.upper()}": str(value) for key, value in faults.items()})
        self.reached[kind] = self.reached.get(kind, 0) + (broken.returncode != self.exit_code)
        try:
            self.check(place, broken)
        except AssertionError as error:
            raise AssertionError(f"{self.verb.name}, {kind} {faults} in {place}: {error}") from error

    def kill_after(self, seconds):
        place = self.place()
        process = self.start(place, self.verb.start)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        output, errors = process.communicate()
        self.check(place, subprocess.CompletedProcess([], process.returncode, output, errors))


def difference(got, wanted):
    def walk(one, other, path):
        if type(one) is not type(other):
            return f"{path}: {one!r} instead of {other!r}"
        if isinstance(one, dict) and one.keys() == other.keys():
            return next(filter(None, (walk(one[key], other[key], f"{path}.{key}") for key in one)), None)
        if isinstance(one, (list, tuple)) and len(one) == len(other):
            return next(filter(None, (walk(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(one, other)))), None)
        return None if one == other else f"{path}: {one!r} instead of {other!r}"
    return walk(got, wanted, "runs")


def spread(count, samples):
    """`samples` numbers from 1 to `count`, evenly: the same in every session."""
    if count <= samples:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (samples - 1)) for i in range(samples)}) if samples > 1 else [count // 2]


def is_long():
    return os.environ.get("FAULTS") == "long"
