"""The tools that bench/verdicts asks, each as its users ask it: a function that measures a base and a candidate and
returns its readings, {"reading": "slower" | "faster" | "none" | …}, of the candidate, and whatever else it reported."""
import json
import os
import pathlib
import subprocess
import sys

COMPARE_PY = pathlib.Path("/usr/share/benchmark/compare.py")  # Debian's libbenchmark-tools
ALPHA = 0.05

# As few runs as a tool's users take who want a verdict in seconds; all else is the tool's default.
GOOGLE = ["--benchmark_repetitions=10", "--benchmark_min_time=0.1"]  # compare.py wants 9 at least
PYPERF = ["--fast", "--loops", "1"]                                  # 10 processes of 1 + 2 values, a run of the command each


def done(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        raise SystemExit(f"verdicts: {' '.join(map(str, command))} ended with {result.returncode}: "
                         f"{(result.stderr or result.stdout).strip()[-500:]}")
    return result.stdout


def direction(change):
    return "slower" if change > 0 else "faster"


def infermeter(workload, effect, folder, seed):
    """`infermeter compare`: its own verdict; "equivalent" and "unresolved" are no alarm."""
    record = json.loads(done(workload.program, "compare", workload.subject(0), workload.subject(effect), "--seed", seed,
                             "--max-pairs", workload.max_pairs, "--output-dir", folder, "--format", "json", "--quiet"))
    answer = record["comparison"]["primary"][0]
    return {"infermeter compare": answer["direction"]}, {
        "pairs": answer["pairs"], "estimate": answer["estimate"], "interval": answer["interval"], "p": answer["p"],
        "tool_wall_s": record["comparison"]["wall_s"]}


def hyperfine(workload, effect, folder, seed):
    """One measurement, read in two ways.
    Welch: hyperfine's scripts/welch_ttest.py calls it a difference if scipy's t test for unequal variances has p < 0.05.
    ±: the summary "1.02 ± 0.03 times faster than" of the faster one claims a difference if the ratio less its standard
    deviation, (mean/mean) · √((sd/mean)² + (sd/mean)²), is still above 1."""
    from scipy import stats
    file = folder / "hyperfine.json"
    done("hyperfine", "--shell=none", "--style=none", "--warmup", 3, "--runs", workload.runs, "--export-json", file,
         *(" ".join(map(str, workload.command(change))) for change in (0, effect)))
    base, candidate = json.loads(file.read_text())["results"]
    towards = direction(candidate["mean"] - base["mean"])
    p = float(stats.ttest_ind(base["times"], candidate["times"], equal_var=False).pvalue)
    fast, slow = sorted((base, candidate), key=lambda result: result["mean"])
    ratio = slow["mean"] / fast["mean"]
    deviation = ratio * sum((result["stddev"] / result["mean"]) ** 2 for result in (fast, slow)) ** 0.5
    return {"hyperfine, Welch's test": towards if p < ALPHA else "none",
            "hyperfine, its ±": towards if ratio - deviation > 1 else "none"}, {
        "change": candidate["mean"] / base["mean"] - 1, "p": p, "ratio": ratio, "ratio_deviation": deviation}


def google_benchmark(workload, effect, folder, seed):
    """compare.py's U test of the repetitions' times at its default alpha; the direction is that of the medians."""
    files = [folder / name for name in ("base.json", "candidate.json", "difference.json")]
    for change, file in zip((0, effect), files):
        done(*workload.google(change), *GOOGLE, f"--benchmark_out={file}", "--benchmark_out_format=json")
    done(sys.executable, COMPARE_PY, "--no-color", "--dump_to_json", files[2], "benchmarks", *files[:2])
    rows = {row["name"]: row for row in json.loads(files[2].read_text())}
    p = rows["inference"]["utest"]["time_pvalue"]
    change = rows["inference_median"]["measurements"][0]["time"]
    return {"google-benchmark, compare.py": direction(change) if p < ALPHA else "none"}, {"change": change, "p": p}


def pyperf(workload, effect, folder, seed):
    """`pyperf compare_to`: a difference unless it says that it is not significant."""
    files = [folder / name for name in ("base.json", "candidate.json")]
    for change, file in zip((0, effect), files):
        done(sys.executable, "-m", "pyperf", "command", "--quiet", "--name", "inference", *PYPERF, "--output", file, "--",
             *workload.command(change))
    said = done(sys.executable, "-m", "pyperf", "compare_to", *files)
    found = [word for word in ("slower", "faster") if f"x {word}" in said]
    if "not significant" in said.lower() or "no change" in said:
        found = ["none"]
    if len(found) != 1:
        raise SystemExit(f"verdicts: pyperf compare_to said neither of what is known: {said.strip()}")
    return {"pyperf compare_to": found[0]}, {"said": said.strip()}


TOOLS = {"infermeter": infermeter, "hyperfine": hyperfine, "google-benchmark": google_benchmark, "pyperf": pyperf}


def missing(names):
    """What these tools lack on this machine, in words."""
    lacks = []
    if "hyperfine" in names and not any(os.access(pathlib.Path(folder) / "hyperfine", os.X_OK)
                                        for folder in os.environ["PATH"].split(":")):
        lacks.append("hyperfine")
    if "google-benchmark" in names and not COMPARE_PY.exists():
        lacks.append(str(COMPARE_PY))
    if "pyperf" in names and subprocess.run([sys.executable, "-c", "import pyperf"], capture_output=True).returncode:
        lacks.append("pyperf")
    return lacks
