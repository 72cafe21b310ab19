"""A store of 100,000 runs and 10 million trials: how long `runs`, `history` of one subject and `report` of one run take.

usage: bench/large_store.py [--runs N] [--processes N] [--repeat N] [--filled] [PLACE]
PLACE: a new SQLite file (default), or an empty PostgreSQL database (postgresql://…). The runs are copies by SQL
(bench/many_runs.cpp) of ten that are measured here, of 2 subjects x 50 processes x 10 iterations each, over ten machines: 200 series of
one metric. Each figure is a median with the smallest and the largest, of a process that was started for it, with warm caches; and the
processor time of that process, which a busy machine does not lengthen (a server's is not in it).
10 million trials take 39 GB in an SQLite file; --processes 5 makes a tenth of that. INFERMETER_BUILD says which build is measured.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")).resolve()
infermeter = build / "bin/infermeter"
TEMPLATES, MACHINES = 10, 10


def timed(*command):
    begin = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return time.perf_counter() - begin, done.stdout


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured_once(folder, processes):
    """A store of the runs that are copied."""
    place = folder / "templates.db"
    for i in range(TEMPLATES):
        timed(infermeter, "run", *(f"{side}{i}=mlp@fake,latency=constant:{100 + 10 * i}us,batch={i + 1}" for side in "ab"), "--processes", processes,
              "--iterations", 10, "--warmup", 0, "--store", place, "--quiet")
    return place


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place", nargs="?")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--filled", action="store_true", help="PLACE is one that this program filled: measure only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.place or pathlib.Path(folder) / "large.db"
        if not options.filled:
            timed(infermeter, "store", "copy", measured_once(pathlib.Path(folder), options.processes), place)
            seconds, _ = timed(build / "bench/many_runs", place, options.runs, MACHINES)
            print(f"filled in {seconds:.0f} s", flush=True)
        store = ("--store", place)
        ids = [run["id"] for run in json.loads(timed(infermeter, "runs", "--format", "json", *store)[1])]
        old = ids[len(ids) // 2]
        for what, verb in (("runs", ("runs",)), ("runs --format json", ("runs", "--format", "json")), ("runs --last 20", ("runs", "--last", 20)),
                           ("history SERIES", ("history", "a3")), ("history", ("history",)), ("report latest", ("report", "latest")),
                           ("report ID", ("report", old)), ("report BEGINNING", ("report", old[:-1]))):
            before = processor_s()
            times = [timed(infermeter, *verb, *store)[0] for _ in range(options.repeat)]
            used = (processor_s() - before) / options.repeat
            print(f"{what}, {len(ids)} runs: {statistics.median(times):.3f} s ({min(times):.3f} … {max(times):.3f}), {used:.3f} s of a processor", flush=True)


main()
