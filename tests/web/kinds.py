"""A page of each kind: of commands that take a second or two on the fake back end, of golden reports, and contrived."""

import json

from . import operator_profiles, stack_profiles
from .document import difference_picture, document_of, layers, with_document

KINDS = ("run", "compare", "gate", "validate", "layers", "variants", "history", "study", "profile", "load", "tune", "failed")

FAST = "fast=mlp@fake,latency=normal:300us:6us,seed=1"
SLOW = "slow=mlp@fake,latency=normal:330us:8us,seed=2"
NEAR = "near=mlp@fake,latency=normal:302us:8us,seed=3,threads=1"
LOOP = ("--warmup", "3", "--iterations", "60")

GATE = """
expect = ["speedup >= 1.5", "latency_p50_ms <= 2", "latency_p90_ms <= 0.31", "peak_memory_mb < 2048", "throughput >= 100", "outputs agree",
          "load_time_ms <= 200", "latency_p50 <= 331us"]
[plan]
subjects   = ["SUBJECTS"]
processes  = 3
warmup     = 3
iterations = 60
""".replace("SUBJECTS", '", "'.join((FAST, SLOW, NEAR)))

STUDY = """
title = "Does the faster kernel pay?"
[plan]
warmup     = 3
iterations = 60
processes  = 2
[[part]]
name   = "kernels"
title  = "Two kernels"
expect = ["outputs agree", "latency_p50_ms <= 2", "speedup >= 1.05"]
plan   = { subjects = ["SUBJECTS"] }
[[part]]
name   = "batches"
title  = "Two batch sizes"
expect = ["peak_memory_mb < 2048"]
plan   = { subjects = ["one=mlp@fake,latency=normal:300us:6us,seed=1", "four=mlp@fake,latency=normal:700us:9us,seed=1,batch=4"] }
""".replace("SUBJECTS", '", "'.join((FAST, SLOW)))


def tune(written):
    return written("tune", "mlp@fake,latency=normal:300us:4us", "--over", "compute=0,40000", "threads=1,2", "--budget", "5s", "--warmup", "2", "--iterations", "20")


def failed(written):
    ends = ("ok=mlp@fake,latency=normal:300us:5us", "segv=mlp@fake,crash=run:20", "hang=mlp@fake,hang=run:5", "nan=mlp@fake,outputs=nan",
            "leak=mlp@fake,memory_per_run=100kB,latency=normal:250us:5us", "off=mlp@fake,output_error=0.1,latency=normal:280us:5us",
            "noload=mlp@fake,fail=load,stderr=2000")
    return written("run", *ends, "--processes", "2", *LOOP, "--leak-iterations", "200", "--run-timeout", "700ms", codes=(4,))


def load(written):
    at = ("a=mlp@fake,latency=normal:400us:40us,load.rate=500", "b=mlp@fake,latency=normal:500us:40us,load.rate=500",
          "busy=mlp@fake,latency=normal:2500us:40us,load.rate=600")
    return written("load", *at, "--requests", "150", "--processes", "2", codes=(0, 1, 5))


def stored(document, kind, content):
    """A page of a golden report, or of a contrived one."""
    answers = content.get("answers", [])
    grave = max(answers, key=lambda answer: ["good", "plain", "faint", "warning", "bad"].index(answer["tone"]), default=None)
    headline = {key: grave[key] for key in ("verdict", "tone", "text")} if grave else {"verdict": "", "tone": "plain", "text": "contrived"}
    part = document["parts"][0] | {
        "kind": kind, "title": f"A stored report: {kind}", kind: content, "answers": answers, "checks": content.get("checks", []), "run": None,
        "figures": None, "notices": [], "recommendations": [], "overview": {"headline": headline, "margin": 0, "effects": [], "since_last": None}}
    return document | {"parts": [part]}


def generation(document, source_dir):
    """A stored load whose answers come token by token."""
    def seconds(value):
        return {"unit": "s", "lower_is_better": True, "holds": True, "value": value, "interval": None, "n": 4, "processes": 2, "method": "", "note": ""}

    part = document["parts"][0]
    run = json.loads((source_dir / "tests/golden/report/load.json").read_text())
    run["subjects"][0]["load"]["figures"] |= {"ttft_p50": seconds(0.05), "itl_p50": seconds(0.01), "goodput": seconds(90)}
    run["subjects"][1]["counters"].append({"name": "ttft_p50"} | seconds(0.07))
    times = {"edges_s": [0.01, 0.1, 1], "subjects": [{"subject": 0, "n": 8, "shares": [0.25, 0.75]}, {"subject": 1, "n": 4, "shares": [1, 0]}]}
    def time(value):
        return {"value": value, "interval": {"low": 0.9 * value, "high": 1.2 * value, "confidence": 0.95}, "processes": 2}

    nobody = {"value": None, "interval": None, "processes": 0}
    line = {"growth_s": time(2e-5), "points": [
        {"first": tokens, "last": tokens, "tokens_mean": tokens, "n": 12, "p50_s": time(0.01 + 2e-5 * tokens), "p90_s": time(0.02 + 2e-5 * tokens) if tokens < 4 else nobody}
        for tokens in (1, 2, 3, 4, 200)]}
    courses = [{"time": each, "subjects": [{"subject": subject} | line for subject in (0, 1)]} for each in ("itl", "ttft")]
    parting = {"item": 0, "position": 40, "length": 64, "before": [17, 99, 5], "reference": [7, 8, 9], "candidate": [12, 8, 31]}
    tokens = json.loads((source_dir / "tests/golden/report/comparison.json").read_text())["subjects"][1]["outputs"]
    texts = {"item": 1, "before_text": "the cat", "reference_text": " sat\n", "candidate_text": " \u202eran"}
    tokens["differences"][0] |= {"name": "tokens", "dtype": "int64", "shape": [64], "within_tolerance": False, "agreed_prefix": 0.625,
                                 "partings": [parting, parting | texts]}
    run["subjects"][0]["kv_cache"] = {"bytes_per_token": 6144, "context": 2048, "bytes": 6144 * 2048}
    run["subjects"][1]["outputs"] = tokens | {"reference": 0}
    return document | {"parts": [part | {"run": run, "figures": part["figures"] | {
        "distributions": [], "ratios": [], "fronts": [], "generation": [{"time": "ttft", "log": True} | times, {"time": "itl", "log": False} | times], "courses": courses}}]}


def language(golden):
    """The stored variants, as those of a language model that answers token by token and reads texts."""
    for place, variant in enumerate(golden["variants"]):
        if variant["measurements"] == []:
            continue
        variant["texts"] = {"perplexity": 259.25 + place, "increase": None, "interval": None, "kl_divergence": 0.0012 * place, "top1_agreement": 1 - 0.03 * place}
        if place:
            variant["texts"] |= {"increase": 0.00432 * place, "interval": {"low": 0.001 * place, "high": 0.0081 * place, "confidence": 0.95}}
        for measured in variant["measurements"]:
            p50 = measured["latency_p50_s"]
            scaled = lambda part, p50=p50: p50 and {"value": part * p50["value"], "interval": {"low": part * p50["interval"]["low"], "high": part * p50["interval"]["high"], "confidence": 0.95}}
            measured |= {"ttft_p50_s": scaled(0.2), "tpot_p50_s": scaled(0.025)}
    return golden


def profile(document):
    """Three subjects are left of it where the profile has two."""
    return operator_profiles.with_profile(document, stack_profiles.pair())


def page_file(kind, written, run_page, source_dir, folder):
    """The file of a page of that kind."""
    file = folder / f"{kind}.html"
    commands = {
        "compare": lambda: written("compare", FAST, SLOW, NEAR, "--max-pairs", "8", "--all-pairs", *LOOP, codes=(0, 1, 5)),
        "load": lambda: load(written),
        "tune": lambda: tune(written),
        "failed": lambda: failed(written),
        "run": lambda: run_page,
    }
    if kind in commands:
        return commands[kind]()
    if kind in ("gate", "study"):
        plan = folder / f"{kind}.toml"
        plan.write_text(GATE if kind == "gate" else STUDY)
        if kind == "gate":
            return written("gate", plan, codes=(1,))
        return written("study", plan, "--reports", folder / "reports", codes=(0, 1, 5), page=folder / "reports/report.html")
    if kind == "validate":
        found = written("validate", "mlp@fake", "mlp@fake,output_error=0.1", "--perturb", "6", codes=(0, 1))
        document = document_of(found)
        document["parts"][0]["difference_pictures"] = [difference_picture()]
        file.write_text(with_document(found, document), encoding="utf-8")
        return file
    document = document_of(run_page)
    golden = {"variants": "variants/variants.json", "language": "variants/variants.json", "history": "history/history.json"}
    if kind == "profile":
        changed = profile(document)
    elif kind == "generation":
        changed = generation(document, source_dir)
    elif kind == "layers":
        changed = stored(document, kind, layers())
    else:
        content = json.loads((source_dir / "tests/golden" / golden[kind]).read_text())
        changed = stored(document, "variants", language(content)) if kind == "language" else stored(document, kind, content)
    file.write_text(with_document(run_page, changed | {"title": f"A page of kind {kind}"}), encoding="utf-8")
    return file
