"""ResNet-50 under load on OpenVINO, against OpenVINO's own benchmark_app on the same file, by turns: as many requests in
flight as OpenVINO wants, and four.

usage: openvino_load.py [ROUNDS] [SECONDS]    (default: 5 rounds of 10 s)
Prints a line of JSON per figure: seconds per inference of each round. On standard error: throughput of both, their ratio
with the smallest and the largest of the rounds, and what both executed; if that differs it ends. INFERMETER_BUILD says
which build is measured.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
infermeter = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")) / "bin/infermeter"
benchmark_app = root / ".venv/bin/benchmark_app"
CASES = {"as many requests in flight as OpenVINO wants": (("--scenario", "offline"), ()),
         "4 requests in flight": (("--concurrency", 4), ("-nireq", 4))}


def quiet(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def ours(model, seconds, flags, folder):
    text = quiet(infermeter, "load", f"{model}@openvino,performance_hint=throughput", *flags, "--duration", f"{seconds}s",
                 "--processes", 1, "--format", "json", "--quiet", "--output-dir", pathlib.Path(folder) / "results")
    trial = json.loads(text)["trials"][0]
    record = trial["load"]
    executed = trial["executed"]
    return record["completed"] / record["duration_s"], {
        "requests": str(record["clients"]), **{key: executed[key] for key in ("streams", "threads", "dtype", "cpu_pinning")}}


def peer(model, seconds, flags, folder):
    # Its client of telemetry stays off where this file says so.
    home = pathlib.Path(folder) / "home"
    (home / "intel").mkdir(parents=True, exist_ok=True)
    (home / "intel/openvino_telemetry").write_text("0")
    # As ours: a batch of 1, and float32, not what the processor has that is faster and less exact.
    text = quiet(benchmark_app, "-m", model, "-shape", "[1,3,224,224]", "-d", "CPU", "-hint", "throughput", "-infer_precision", "f32",
                 "-t", seconds, *flags, env=os.environ | {"HOME": str(home)}, cwd=folder)
    settings = dict(re.findall(r"^\[ INFO \]\s+(\w+): +(.+)$", text, re.MULTILINE))
    return float(re.search(r"Throughput:\s+([\d.]+) FPS", text)[1]), {
        "requests": re.search(r"(\d+) inference requests", text)[1], "streams": settings["NUM_STREAMS"],
        "threads": settings["INFERENCE_NUM_THREADS"], "dtype": settings["INFERENCE_PRECISION_HINT"].split("'")[1],
        "cpu_pinning": {"True": "yes", "False": "no"}[settings["ENABLE_CPU_PINNING"]]}


def main():
    rounds, seconds = (int(value) for value in (*sys.argv[1:], *("5", "10")[len(sys.argv) - 1:]))
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "resnet50.onnx"
        quiet(infermeter, "models", "build", "resnet50", model)
        for what, (our_flags, peer_flags) in CASES.items():
            both = []
            for turn in range(rounds):
                order = (ours, peer) if turn % 2 == 0 else (peer, ours)
                found = {who: who(model, seconds, our_flags if who is ours else peer_flags, folder) for who in order}
                if found[ours][1] != found[peer][1]:
                    sys.exit(f"bench: infermeter executed {found[ours][1]}, benchmark_app {found[peer][1]}: not the same work")
                both.append((found[ours][0], found[peer][0]))
            ratios = [one / other for one, other in both]
            rates = [statistics.median(values) for values in zip(*both)]
            print(f"{what}: infermeter {rates[0]:.2f}/s, benchmark_app {rates[1]:.2f}/s, ratio {statistics.median(ratios):.3f} "
                  f"({min(ratios):.3f} … {max(ratios):.3f}); both executed {found[ours][1]}",
                  file=sys.stderr)
            print(json.dumps({"what": f"an inference of ResNet-50 on OpenVINO, {what}; peer: benchmark_app", "unit": "ms",
                              "ours": [1 / one for one, _ in both], "peer": [1 / other for _, other in both],
                              "target": "at most 1.03x"}), flush=True)


main()
