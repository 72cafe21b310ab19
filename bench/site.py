"""A site of 1,000 runs: how long `infermeter publish` takes, again with one new run, again with nothing, and how large it is.

usage: bench/site.py [RUNS [SUBJECTS]]. The runs are copies of one, of 2 subjects (or SUBJECTS) x 5 processes x 200 iterations.
INFERMETER_BUILD says which build is measured.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests"))
from copied_runs import WOBBLE, CopiedRuns  # noqa: E402

infermeter = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")) / "bin/infermeter"


def timed(*command):
    begin = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return time.perf_counter() - begin, done.stdout.strip()


def main(count=1000, subjects=2):
    with tempfile.TemporaryDirectory() as folder:
        results, site = pathlib.Path(folder) / "results", pathlib.Path(folder) / "site"
        timed(infermeter, "run", *(f"mlp@fake,latency=normal:{1000 + 400 * i}us:20us" for i in range(subjects)), "--processes", 5, "--iterations", 200,
              "--output-dir", results)
        runs = CopiedRuns(results / "infermeter.db")
        for i in range(count):
            runs.add(1e-3 * WOBBLE[i % len(WOBBLE)] * (1.1 if i > count * 0.9 else 1))
        publish = (infermeter, "publish", site, "--output-dir", results, "--runs", count + 1)
        print("all: {:.2f} s: {}".format(*timed(*publish)), flush=True)
        runs.add(1e-3)
        print("one more: {:.2f} s: {}".format(*timed(*publish)), flush=True)
        print("nothing new: {:.2f} s: {}".format(*timed(*publish)), flush=True)
        print(f"{sum(file.stat().st_size for file in site.rglob('*') if file.is_file()) / 1e6:.1f} MB")


main(*map(int, sys.argv[1:3]))
