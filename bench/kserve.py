"""How many requests per second the client of the Open Inference Protocol can send, and what it costs: infermeter and wrk
(where it is installed), by turns, against a server that does nothing (bench/null_server.cpp) on a processor of its own.

usage: kserve.py [ROUNDS] [SECONDS]    (default: 5 rounds of 5 s)
Bodies have 4 KB each way. Prints a line of JSON per figure: seconds per request of each round, and processor seconds of the
client per request; on standard error requests per second. INFERMETER_BUILD says which build is measured.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")).resolve()
CONNECTIONS = (1, 16, 64)
SCRIPT = """
local head = '{"inputs":[{"name":"x","shape":[1,1024],"datatype":"FP32","parameters":{"binary_data_size":4096}}],"parameters":{"binary_data_output":true}}'
wrk.method = "POST"
wrk.body = head .. string.rep("\\0", 4096)
wrk.headers["Content-Type"] = "application/octet-stream"
wrk.headers["Inference-Header-Content-Length"] = tostring(#head)
"""


def timed(*command, **options):
    """What it prints, and the processor seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(url, seconds, connections, folder):
    text, _ = timed(build / "bin/infermeter", "load", f"null@kserve,url={url}", "--concurrency", connections, "--duration", f"{seconds}s", "--processes", 1,
                    "--warmup", 100, "--format", "json", "--quiet", "--no-samples", "--output-dir", pathlib.Path(folder) / "results")
    record = json.loads(text)
    found = {counter["name"]: counter["value"] for counter in record["subjects"][0]["counters"]}
    if found["failed"] != 0:
        sys.exit(f"bench: {found['failed']} requests of {connections} connections failed")
    # Of the worker, which is the client; the program that started it sleeps meanwhile.
    return 1 / found["achieved_rate"], record["trials"][0]["noise"]["own_cpu"] / found["achieved_rate"]


def peer(url, seconds, connections, folder):
    script = pathlib.Path(folder) / "post.lua"
    script.write_text(SCRIPT)
    text, cpu = timed("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"{url}/v2/models/null/infer")
    count = int(re.search(r"(\d+) requests in", text)[1])
    assert "Non-2xx" not in text, text
    return float(re.search(r"requests in ([\d.]+)s", text)[1]) / count, cpu / count


def main():
    rounds, seconds = (int(value) for value in (*sys.argv[1:], *("5", "5")[len(sys.argv) - 1:]))
    clients = {"infermeter": ours} | ({"wrk": peer} if shutil.which("wrk") else {})
    processors = sorted(os.sched_getaffinity(0))
    server = subprocess.Popen([build / "bench/null_server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    os.sched_setaffinity(server.pid, processors[:1])
    if len(processors) > 1:
        os.sched_setaffinity(0, processors[1:])
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    with tempfile.TemporaryDirectory() as folder:
        for connections in CONNECTIONS:
            found = {name: [] for name in clients}
            for _ in range(rounds):
                for name, client in clients.items():
                    found[name].append(client(url, seconds, connections, folder))
            for part, what in enumerate(("a request over HTTP, 4 KB each way", "processor time of the client per request")):
                print(json.dumps({"what": f"{what}, {connections} connections; peer: wrk", "unit": "us", "target": None,
                                  "ours": [value[part] for value in found["infermeter"]],
                                  "peer": [value[part] for value in found.get("wrk", [])]}), flush=True)
            for name, values in found.items():
                rates = [1 / value[0] for value in values]
                print(f"  {connections} connections, {name}: {statistics.median(rates):,.0f} requests/s ({min(rates):,.0f} … {max(rates):,.0f}), "
                      f"{1e6 * statistics.median(value[1] for value in values):.1f} µs of processor time each", file=sys.stderr)
    server.stdin.close()
    server.wait()


if __name__ == "__main__":
    main()
