"""Clients of language models beside each other, against a server whose times are known: 50 ms to the first token, 10 ms to each other.

usage: bench/generation.py [--streams N…] [--rounds N] [--tokens N] [--aiperf PROGRAM] [--guidellm PROGRAM]
bench/token_server.cpp sends each token at its time, in one thread that spins over the last 80 µs, and shows how late it was. infermeter, AIPerf
and guidellm measure it by turns, as many requests at once as --streams says; a client that is not there is left out. AIPerf and guidellm are
to be had from PyPI, each in an environment of its own. Their "inter token latency" is the mean over one answer, which is TPOT here. The row
of the server has its lateness while infermeter measured. INFERMETER_BUILD says which build is measured.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("INFERMETER_BUILD", root / "build/release")).resolve()
TTFT_S, GAP_S, PROMPT = 0.05, 0.01, 16
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}  # AIPerf then takes no folder for a tokenizer


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quiet(*command, folder, **environment):
    done = subprocess.run([str(part) for part in command], cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}")
    return done.stdout


class Server:
    """With the lateness of its tokens, once it has ended."""

    def __enter__(self):
        self.process = subprocess.Popen([build / "bench/token_server", str(TTFT_S), str(GAP_S)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        return self

    def __exit__(self, *_):
        out, _ = self.process.communicate()
        words = out.split()
        self.late_s = dict(zip(("median", "p99", "max"), map(float, words[1:]))) if words else {}


def of_infermeter(url, streams, options, folder):
    text = quiet(build / "bin/infermeter", "load", f"steady@openai,url={url}/v1,prompt_tokens={PROMPT},output_tokens={options.tokens}", "--concurrency", streams,
                 "--requests", requests_of(streams, options), "--warmup", 4, "--processes", 1, "--format", "json", "--quiet", folder=folder)
    report = json.loads(text)
    figures, trial = report["subjects"][0]["load"]["figures"], report["trials"][0]
    tokens = requests_of(streams, options) * options.tokens
    names = {f"{name} {rank}": f"{name}_{rank}".lower() for name in ("TTFT", "TPOT", "ITL") for rank in ("p50", "p90", "p99")}
    found = {name: figures[key]["value"] for name, key in names.items() if key in figures and figures[key]["holds"]}
    found["worker's processor time per token"] = trial["noise"]["own_cpu"] * trial["generation"]["duration_s"] / tokens
    return found


def of_aiperf(url, streams, options, folder):
    quiet(options.aiperf, "profile", "-m", "steady", "--url", url, "--endpoint-type", "chat", "--streaming", "--isl", PROMPT, "--osl", options.tokens,
          "--extra-inputs", f"max_tokens:{options.tokens}", "--tokenizer", folder / "tokenizer", "--use-server-token-count", "--ui", "none",
          "--concurrency", streams, "--request-count", requests_of(streams, options), "--artifact-dir", folder / "aiperf", folder=folder)
    found = json.loads((folder / "aiperf/profile_export_aiperf.json").read_text())
    ttft, tpot = found["time_to_first_token"], found["inter_token_latency"]
    return {"TTFT p50": ttft["p50"] / 1e3, "TTFT p99": ttft["p99"] / 1e3, "TPOT p50": tpot["p50"] / 1e3, "TPOT p99": tpot["p99"] / 1e3}


def of_guidellm(url, streams, options, folder):
    file = folder / "guidellm.json"
    quiet(options.guidellm, "run", "--backend", json.dumps({"kind": "openai_http", "target": url, "model": "steady", "validate_backend": False}),
          "--profile", f"kind=concurrent,streams={streams}", "--constraint", f"kind=max_requests,count={requests_of(streams, options)}",
          "--tokenizer", json.dumps({"kind": "hf_auto", "model": str(folder / "tokenizer")}),
          "--data", f"kind=synthetic_text,prompt_tokens={PROMPT},output_tokens={options.tokens}",
          "--output", f"kind=json,path={file}", "--disable-console", folder=folder, **OFFLINE)
    metrics = json.loads(file.read_text())["benchmarks"][0]["metrics"]
    ttft, tpot = (metrics[name]["successful"] for name in ("time_to_first_token_ms", "inter_token_latency_ms"))
    return {"TTFT p50": ttft["median"] / 1e3, "TTFT p99": ttft["percentiles"]["p99"] / 1e3, "TPOT p50": tpot["median"] / 1e3,
            "TPOT p99": tpot["percentiles"]["p99"] / 1e3}


def requests_of(streams, options):
    return min(options.requests, 64 * streams)


CLIENTS = {"infermeter": of_infermeter, "aiperf": of_aiperf, "guidellm": of_guidellm}


def measure(name, streams, options, found):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        os.symlink(options.tokenizer, folder / "tokenizer")
        with Server() as server:
            begin, used = time.perf_counter(), processor_s()
            for figure, value in CLIENTS[name](server.url, streams, options, folder).items():
                found[streams, name, figure].append(value)
            found[streams, name, "whole command"].append(time.perf_counter() - begin)
            found[streams, name, "its processor time"].append(processor_s() - used)
        if name == "infermeter":
            for figure, value in server.late_s.items():
                found[streams, "server", f"late, {figure}"].append(value)
    print(f"  {streams} at once: {name} has measured", file=sys.stderr)


def show(found):
    known = {"TTFT": TTFT_S, "TPOT": GAP_S, "ITL ": GAP_S}
    print("| requests at once | client | figure | measured | off by |\n|--:|---|---|--:|--:|")
    for (streams, name, figure), values in found.items():
        low, middle, high = (1e3 * f(values) for f in (min, statistics.median, max))
        off = known.get(figure[:4])
        off = f"{middle - 1e3 * off:+.3f} ms" if off else ""
        print(f"| {streams} | {name} | {figure} | {middle:.4g} ms ({low:.4g} … {high:.4g}) | {off} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--requests", type=int, default=700, help="no more than 64 for each stream; infermeter needs 662 for a p99")
    parser.add_argument("--aiperf", default=shutil.which("aiperf"))
    parser.add_argument("--guidellm", default=shutil.which("guidellm"))
    options = parser.parse_args()
    clients = [name for name in CLIENTS if name == "infermeter" or getattr(options, name)]
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        quiet(build / "bin/infermeter", "models", "build", "tiny_llama", "model", folder=folder)
        options.tokenizer = pathlib.Path(folder) / "model"
        for _ in range(options.rounds):
            for streams in options.streams:
                for name in clients:
                    measure(name, streams, options, found)
    show(found)


if __name__ == "__main__":
    main()
