"""Sampling of call stacks in profile trials of ResNet-50: what it costs, how many samples have an operator, and how much of
OpenVINO's generated code has a name. Prints a line of JSON per figure, for bench/run."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")).resolve()
ROUNDS = 3
WINDOWS, ITERATIONS = 80, 6


def sampled_over_unsampled(model, how):
    """The p50 of each window in which stacks are sampled, as a share of that of its neighbour in which they are not."""
    packages = next((root / ".venv/lib").glob("python3*/site-packages"))
    command = [build / "bench/sampling", build / "lib/infermeter/backends/infermeter_backend_onnxruntime.so", model, packages, how,
               WINDOWS, ITERATIONS]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: sampling: {done.stderr.strip()[-500:]}")
    found = json.loads(done.stdout)
    return [on / off for on, off in zip(found["on"], found["off"])]


def profile(subject, how):
    """The stacks of one profile trial of one subject, or None."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin/infermeter", "profile", subject, "--stacks", how, "--processes", 1, "--iterations", 1,
                   "--warmup", 5, "--profile-processes", 1, "--profile-iterations", 30, "--threads", 1, "--quiet",
                   "--output-dir", folder, "--format", "json"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {subject}: {done.stderr.strip()[-500:]}")
        with sqlite3.connect(pathlib.Path(folder) / "infermeter.db") as database:
            rows = database.execute("SELECT stacks FROM stacks").fetchall()
    return json.loads(rows[0][0])["stacks"] if rows else None


def share_with_operator(stacks):
    return sum(one.get("op") is not None for one in stacks["samples"]) / max(len(stacks["samples"]), 1)


def share_of_generated_code_named(stacks):
    innermost = [stacks["frames"][one["frames"][-1]] for one in stacks["samples"] if one["frames"]]
    generated = [frame for frame in innermost if frame.get("module") == "[jit]"]
    return sum(bool(frame.get("symbol")) for frame in generated) / max(len(generated), 1)


def tell(what, unit, ours, peer, target):
    print(json.dumps({"what": what, "unit": unit, "ours": ours, "peer": peer, "target": target}))


def main():
    with_operator, openvino_with_operator, named = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "resnet50.onnx"
        subprocess.run([build / "bin/infermeter", "models", "build", "resnet50", model], check=True, capture_output=True)
        for how, target in (("auto", "at most 1.015x"), ("dwarf", None)):
            tell(f"p50 of ResNet-50 on onnxruntime with stacks sampled ({how}), by turns in one process; peer: without", "%",
                 sampled_over_unsampled(model, how), [1.0], target)
    for _ in range(ROUNDS):
        if stacks := profile("resnet50@onnxruntime", "auto"):
            with_operator.append(share_with_operator(stacks))
        if stacks := profile("resnet50@openvino", "auto"):
            openvino_with_operator.append(share_with_operator(stacks))
            named.append(share_of_generated_code_named(stacks))
    tell("samples within an operator, onnxruntime; peer: all of them", "%", with_operator, [1.0], "at least 0.95x")
    tell("samples within an operator, openvino; peer: all of them", "%", openvino_with_operator, [1.0], "at least 0.95x")
    tell("samples in openvino's generated code that have a name; peer: all of them", "%", named, [1.0], "at least 0.8x")


if __name__ == "__main__":
    main()
