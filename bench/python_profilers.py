"""What profilers of Python code cost: the p50 of profile trials under each against that of profile trials under none, by
turns. Of a callable that calls Python functions all the time, and of one that calls ONNX Runtime.

usage: python_profilers.py   prints a line of JSON per figure
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")).resolve()
ROUNDS = 3
MODEL = "mobilenet_v3_small.onnx"
METHODS = ("cprofile", "pyinstrument", "py-spy")


def calls_much(items):
    """Some 60,000 calls of small functions."""

    def add(a, b):
        return a + b

    total = 0
    for number in range(items):
        total = add(total, add(number, 1))
    return total


def make_calls():
    def call(array):
        calls_much(30_000)
        return array

    return call


def make_onnxruntime():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(pathlib.Path(__file__).parent / MODEL, options)
    return lambda array: session.run(None, {"input": array})


def p50(record):
    return statistics.median(float(statistics.median(trial.latencies_s)) for trial in record.side_samples)


def measured(infermeter, subject, method, folder):
    record = infermeter.run(subject, profile=True, python_profiler=method, stacks="off", profile_processes=1,
                            profile_iterations=20, iterations=5, warmup=5, processes=1, allow_code=True,
                            threads=1, output_dir=folder)
    missing = [found for trial in record.side_samples for found in trial.diagnostics if found.id == "no_python_profile"]
    return None if missing else p50(record)


def compare(infermeter, what, subject, slowed, folder):
    times = {method: [] for method in ("off", *METHODS)}
    for _ in range(ROUNDS):
        for method, seen in times.items():
            seen.append(measured(infermeter, subject, method, folder / "results"))
    for method in METHODS:
        ours = [] if None in times[method] else times[method]
        print(json.dumps({"what": f"{what} under {method}; peer: under none", "unit": "ms", "ours": ours,
                          "peer": times["off"], "target": "0.95 … 1.05x" if method == "py-spy" else slowed}), flush=True)


def main():
    sys.path.insert(0, str(build / "python"))
    import infermeter

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Beside the model, which a worker may then read.
        file = shutil.copy(__file__, folder / "factories.py")
        subprocess.run([build / "bin/infermeter", "models", "build", "mobilenet_v3_small", folder / MODEL], check=True,
                       capture_output=True)
        compare(infermeter, "p50 of Python that calls much", f"{file}:make_calls@python,input_shape=1x1", "some 3x",
                folder)
        compare(infermeter, "p50 of MobileNetV3-Small on ONNX Runtime from Python",
                f"{file}:make_onnxruntime@python,input_shape=1x3x224x224", "0.95 … 1.05x", folder)


if __name__ == "__main__":
    main()
