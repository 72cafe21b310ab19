#!/usr/bin/env python3
"""Makes a replay from a store: the times of the first iterations of each process of a run, in the order in which they ran.

usage: make_replay.py STORE RUN TICK_NS ITERATIONS >NAME.csv    (TICK_NS: what one unit in the file stands for)
"""
import json
import re
import sqlite3
import sys
from array import array

store, run, tick_ns, iterations = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
(environment,) = database.execute("SELECT environment FROM runs WHERE id = ?", [run]).fetchone()
facts = json.loads(environment)
command = re.sub(r"^\S*/|( --output-dir \S+| --quiet)", "", facts["command"])
print(f"# One program, never changed, with other work on the machine: `{command}`.")
print(f"# {facts['processor']}, {facts['cores']} processors, {facts['virtualization']}; infermeter {facts['infermeter_version']}.")
print(f"# A line is a worker process, in the order in which they ran: the durations of its first {iterations} timed iterations.")
print(f"# tick_ns {tick_ns:g}")
trials = database.execute("SELECT begin_s, end_s FROM trials WHERE run = ? ORDER BY position", [run])
for begin, end in trials:
    times = [b - a for a, b in zip(array("d", begin), array("d", end))]
    print(",".join(str(round(time * 1e9 / tick_ns)) for time in times[:iterations]))
