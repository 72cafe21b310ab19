"""What every table of a part has to show, from its document: rows of cells, by the columns' ids."""

import math
from dataclasses import dataclass

from .rounding import (
    MISSING,
    count,
    digits_of,
    figure,
    in_unit,
    interval,
    percent,
    plain,
    probability,
    quantity_of,
    signed,
    unit_of,
    unit_of_all,
    when,
    whole,
    with_unit,
)


@dataclass
class Number:
    value: float | None
    quantity: str = "plain"
    between: dict | None = None
    sub: str | None = None  # beneath it, where there is no interval
    instead: str | None = None
    signed: bool = False
    unit: str | None = None  # of plain numbers
    show: object = None

    def texts(self, unit):
        if self.instead is not None:
            return self.instead, self.sub or ""
        if self.value is None:
            return MISSING, self.sub or ""
        too_few = self.between and not self.signed and self.value != 0 and not self.between["high"] - self.between["low"] <= 100 * abs(self.value)
        digits = digits_of(self.between["low"], self.between["high"], unit) if self.between and not too_few else 3
        own = lambda value: signed(value / unit[1], digits) if self.signed else in_unit(value, unit, digits)
        if self.between and self.signed:
            below = f"[{own(self.between['low'])}, {own(self.between['high'])}]"
        else:
            below = interval(self.between["low"], self.between["high"], unit) if self.between else self.sub or ""
        below = "[too few to tell]" if too_few else below
        if self.show is not None:
            return self.show(self.value), below
        return (whole(self.value) if self.quantity == "count" and float(self.value).is_integer() else own(self.value)), below


def column_unit(cells):
    """One for a column: as given, or that of the median of what it shows."""
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    if not numbers:
        return "", 1.0
    if numbers[0].unit is not None:
        return numbers[0].unit, 1.0
    return unit_of_all(numbers[0].quantity, [cell.value for cell in numbers])


def labels(run):
    names = [subject["label"] for subject in run["subjects"]]
    return [f"{name} (no. {i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def words(name):
    return name.replace("_", " ")


def estimate(found, quantity, **more):
    found = found or {"value": None, "interval": None}
    return Number(found["value"], quantity, found["interval"] if found["value"] is not None else None, **more)


def executed(run, subject):
    return next((trial["executed"] for trial in run["trials"] + run["side_trials"] if trial["subject"] == subject and trial["executed"]), {})


def worst(subject, name, largest=True):
    found = (subject["outputs"] or {"differences": []})["differences"]
    values = [each[name] for each in found if each[name] is not None]
    if not values or any(not each["comparable"] or each["non_finite_apart"] > 0 for each in found):
        return None
    return max(values) if largest else min(values)


def subject_row(run, index, label):
    subject = run["subjects"][index]
    model, metrics = run["models"][index], subject["metrics"]
    p50, outliers, accuracy = metrics.get("latency_p50", {"n": 0}), subject["outliers"], subject["accuracy"]
    trials = [(subject["trials_ok"], "ok"), (subject["trials_partial"], "partial"), (subject["trials_failed"], "failed")]
    removed = f", {outliers['removed']} removed" if outliers["removed"] else ""
    row = {
        "subject": label,
        "trials": ", ".join(f"{number} {word}" for number, word in trials if number) or "none",
        "n": Number(p50["n"] or None, "count", sub=f"in {count(p50['processes'], 'process', 'processes')}" if p50["n"] else ""),
        "model": subject["model"], "backend": subject["backend"], "threads": executed(run, index).get("threads", ""),
        "batch": Number(subject["batch_size"], "count"),
        "size": Number(model["size_bytes"] or None, "bytes"), "parameters": Number(model["parameters"], "count"),
        "nonzero": Number(model["nonzero_parameters"], "count"),
        "speed_up": Number(None, "ratio", instead="baseline") if subject["baseline"] is None else estimate(subject["ratios"].get("latency_p50"), "ratio"),
        "accuracy": Number(accuracy and accuracy["value"], "share", accuracy and accuracy["interval"]),
        "accuracy_change": estimate((accuracy or {}).get("change"), "share", signed=True),
        "perplexity": Number((accuracy or {}).get("perplexity", {}).get("value")),
        "perplexity_increase": Number((accuracy or {}).get("perplexity", {}).get("increase"), "share", (accuracy or {}).get("perplexity", {}).get("interval"), signed=True),
        "output_max": Number(worst(subject, "max_absolute")), "relative_l2": Number(worst(subject, "relative_l2")),
        "psnr": Number(worst(subject, "psnr_db", False), unit="dB"), "ssim": Number(worst(subject, "ssim", False)),
        "outliers": f"{outliers['mild']} mild, {outliers['severe']} severe{removed} of {outliers['total']}" if outliers["total"] else MISSING,
    }
    for name, metric in metrics.items():
        row[name] = estimate(metric, quantity_of(metric["unit"]))
    for counter in subject["counters"]:
        known = counter["unit"] in ("s", "bytes", "items/s")
        row[f"counter {counter['name']}"] = estimate(counter, quantity_of(counter["unit"]) if known else "plain", unit=None if known or counter["unit"] in ("", "1") else counter["unit"])
    if all("load" in each for each in run["subjects"]):  # requests overlap: they have no latency of one inference after the other
        row = {name: cell for name, cell in row.items() if not name.startswith("latency_") and name not in ("n", "speed_up", "outliers")}
    return row


def subjects(run):
    return [subject_row(run, i, label) for i, label in enumerate(labels(run))], lambda row: row["model"]


def change(effect, lower):
    return None if effect is None else math.expm1(effect if lower else -effect)


def changes(effect, between, lower, **more):
    ends = None if between is None else sorted(change(between[end], lower) for end in ("low", "high"))
    return Number(change(effect, lower), "share", ends and dict(zip(("low", "high"), ends, strict=True)), signed=True, **more)


def comparison(run):
    rows, names, paired = [], labels(run), run["comparison"]["paired"]
    for each in run["comparison"]["primary"] + run["comparison"]["exploratory"]:
        n = each["pairs"] or min(each["baseline_processes"], each["candidate_processes"])
        left = [f"{each[key]} {key}" for key in ("incomplete", "dropped") if each[key]]
        against = [] if paired else [f"against {each['baseline_processes']}"]
        rows.append({
            "candidate": names[each["candidate"]], "metric": words(each["metric"]),
            "change": changes(each["estimate"], each["interval"], each["lower_is_better"]),
            "p": Number(each["p"] if n else None, show=probability),
            "pairs": Number(each["pairs"] if paired else each["candidate_processes"], "count", sub=", ".join(against + left)),
            "detectable": Number(None if each["minimum_effect"] is None else math.expm1(each["minimum_effect"]), "share",
                                 sub="" if each["more_pairs"] is None else f"{count(each['more_pairs'], 'more pair', 'more pairs')} would settle it"),
        })
    return rows, None


SIGNALS = {2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 24: "SIGXCPU", 31: "SIGSYS"}
NOISE = {"foreign_cpu": "share", "steal": "share", "pressure_cpu": "share", "own_cpu": "share", "throttled_s": "s"}


def trials(part):
    run, figures, names = part["run"], part["figures"], labels(part["run"])
    middle = figures["process_levels"].index(0.5) if 0.5 in figures["process_levels"] else None
    p50 = {(each["subject"], process["process"]): process["quantiles_s"][middle] for each in figures["distributions"] for process in each["processes"]}
    rows = []
    for trial in run["trials"] + run["side_trials"]:
        signal, memory = trial["signal"], trial["memory"]
        row = {
            "subject": names[trial["subject"]], "phase": words(trial["phase"]), "purpose": trial["purpose"],
            "end": "timed out" if trial["end"] == "timeout" else words(trial["end"]),
            "signal": "" if signal is None else f"{signal} ({SIGNALS[signal]})" if signal in SIGNALS else str(signal),
            "position": Number(trial["position"] + 1, "count"), "process": Number(trial["process"] + 1, "count"),
            "iterations": Number(trial["iterations"], "count"),
            "p50": Number(p50.get((trial["subject"], trial["process"])) if trial["purpose"] == "timed" else None, "s"),
            "load": Number(trial["load_s"], "s"), "compile": Number(trial["compile_s"], "s"), "first": Number(trial["first_inference_s"], "s"),
            "wall": Number(trial["wall_s"], "s"), "memory": Number(memory["rss_peak_inference_bytes"], "bytes"),
            "device_memory": Number(memory["device_peak_bytes"], "bytes"),
            "started": when(trial["started_at"]) if trial["wall_s"] > 0 or trial["end"] == "ok" else MISSING,
            "input": trial["input_digest"], "output": trial["output_digest"], "clock": trial["clock"]["name"],
        }
        rows.append(row | {f"noise {key}": Number(value, NOISE.get(key, "count")) for key, value in trial["noise"].items()})
    ended = [trial["end"] == "ok" for trial in run["trials"] + run["side_trials"]]
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: ended[i])], None


def models(run):
    files = {}
    for name, model in zip(labels(run), run["models"], strict=True):
        files.setdefault((model["path"], model["sha256"]), (model, []))[1].append(name)
    return [{"model": model["name"], "size": Number(model["size_bytes"] or None, "bytes"), "parameters": Number(model["parameters"], "count"),
             "nonzero": Number(model["nonzero_parameters"], "count"), "sha": model["sha256"], "path": model["path"],
             "users": ", ".join(users) if len(users) <= 3 else f"{', '.join(users[:2])} and {len(users) - 2} more"}
            for model, users in files.values()], None


LOAD_UNITS = {"in_flight_mean": "plain", "failed": "plain", "output_tokens_rate": "plain"}


def load_figure(figures, name):
    found = figures.get(name)
    holds = found is not None and found.get("holds", True)
    return estimate(found if holds else None, LOAD_UNITS.get(name) or quantity_of(found["unit"] if found else "s"))


def asked(load):
    return ", ".join(value if key in ("scenario", "arrivals") else f"{key} {value}" for key, value in load["asked"].items())


def under_load(run):
    return [{"subject": subject["label"], "asked": asked(subject["load"])} | {name: load_figure(subject["load"]["figures"], name) for name in subject["load"]["figures"]}
            for subject in run["subjects"] if "load" in subject], None


def failed_requests(run):
    loads = [(subject["label"], {each["kind"]: each["count"] for each in subject["load"]["error_kinds"]}) for subject in run["subjects"] if "load" in subject]
    known = [kind for _, kinds in loads for kind in kinds]
    return [{"subject": label} | {kind: Number(kinds.get(kind, 0), "count") for kind in known} for label, kinds in loads if kinds], None


def generation(run):
    rows = []
    for subject in run["subjects"]:
        own = {each["name"]: each for each in subject["counters"]} | subject.get("load", {"figures": {}})["figures"]
        names = [name for name in own if name.split("_")[0] in ("ttft", "tpot", "itl") or "tokens" in name]
        if names:
            kept = subject.get("kv_cache")
            memory = {"kv_cache": Number(kept["bytes"], "bytes", sub=f"{kept['bytes_per_token']} B per token, {kept['context']} tokens")} if kept else {}
            rows.append({"subject": subject["label"]} | {name: load_figure(own, name) for name in names} | memory)
    return rows, None


FATES = ["best", "equal", "open", "worse", "halved", "bound", "outputs", "load", "failed", "not_raced"]


def tuning(run):
    names, objective = labels(run), run["plan"]["tuning"]["objective"]
    lower = next(subject["metrics"][objective]["lower_is_better"] for subject in run["subjects"])
    settings = sorted(run["tuning"]["settings"], key=lambda each: (FATES.index(each["fate"]), math.inf if each["behind"] is None else each["behind"]))
    rows = []
    for each in settings:
        metrics = run["subjects"][each["subject"]]["metrics"]
        rows.append({
            "setting": names[each["subject"]],
            "behind": Number(None, "share", instead="best") if each["fate"] == "best" else changes(each["behind"], each["behind_interval"], lower),
            "latency": estimate(metrics.get("latency_p50"), "s"), "throughput": estimate(metrics.get("throughput"), "items/s"),
            "memory": estimate(metrics.get("memory_peak"), "bytes"), "blocks": Number(each["blocks"], "count"), "standing": ("*", each["reason"]),
        })
    return rows, None


def variants(content):
    rows = []
    for place, variant in enumerate(content["variants"]):
        for measured in variant["measurements"] or [None]:
            of = lambda name: estimate((measured or {}).get(name), {"latency_p50_s": "s", "speed_up": "ratio", "throughput_ips": "items/s", "ttft_p50_s": "s", "tpot_p50_s": "s"}.get(name, "bytes"))  # noqa: B023
            texts = variant.get("texts", {})
            increase = Number(texts.get("increase"), "share", texts.get("interval"), signed=True)
            text, between = increase.texts(("%", 0.01))
            increased = "" if increase.value is None else f"{text} % {between}".rstrip()
            speed_up = of("speed_up")
            if place == 0 and measured is not None and measured["speed_up"] is None:
                speed_up = Number(None, "ratio", instead="baseline")
            model = variant["model"] or {"parameters": None, "nonzero_parameters": None, "made": ""}
            rows.append({
                "variant": variant["label"], "batch": Number(measured and measured["batch_size"] if len(content["batch_sizes"]) > 1 else None, "count"), "size": Number(variant["size_bytes"], "bytes"),
                "latency": of("latency_p50_s"), "speed_up": speed_up, "throughput": of("throughput_ips"), "memory": of("memory_peak_bytes"),
                "device_memory": of("device_memory_peak_bytes"), "error": Number(variant["output_error"]), "accuracy": Number(variant["accuracy"], "share"),
                "ttft": of("ttft_p50_s"), "tpot": of("tpot_p50_s"), "perplexity": Number(texts.get("perplexity"), sub=increased),
                "increase": increase, "divergence": Number(texts.get("kl_divergence")),
                "top1": Number(texts.get("top1_agreement"), "share"),
                "parameters": Number(model["parameters"], "count"), "nonzero": Number(model["nonzero_parameters"], "count"),
                "remarks": "; ".join(variant["remarks"]), "made": model["made"],
            })
    return rows, None


def distances(found):
    row = {"max": Number(found["max_absolute"], sub=f"at {found['max_absolute_place']}" if found["max_absolute"] else ""),
           "mismatched": f"{found['mismatched'] or 'none'} of {found['element_count']}", "non_finite": Number(found["non_finite_apart"] or None, "count")}
    for name in ("mae", "rmse", "relative_l2", "relative_max", "cosine", "pearson", "ssim"):
        row[name] = Number(found[name])
    return row | {"psnr_db": Number(found["psnr_db"], unit="dB"), "agreed_prefix": Number(found["agreed_prefix"], "share")}


def outputs(validation):
    return [distances(each["difference"]) | {
        "output": (each["difference"]["name"], f"{each['difference']['dtype']} [{', '.join(map(str, each['difference']['shape']))}]"),
        "allowed": Number(each["allowed"]), "floor": Number(each["floor"]), "top1_agreement": Number(each["difference"]["top1_agreement"], "share"),
        "top5_agreement": Number(each["difference"]["top5_agreement"], "share"),
        "kl_divergence": Number(each["difference"]["kl_divergence"])} for each in validation["outputs"]], None


def samples(validation):
    def name(each):
        item = f"item {each['item']}"
        return (item, "") if each["name"] in ("", item) else (each["name"], item)

    return [distances(each) | {"sample": name(each), "output": each["output"]} for each in validation["samples"]], None


def layers(content):
    number = {"error": "error", "floor": "rounding_floor", "relative_l2": "relative_l2", "relative_l1": "relative_l1", "relative_max": "relative_max",
              "max": "max_absolute", "mae": "mae", "rmse": "rmse", "cosine": "cosine"}
    return [{"tensor": (tensor["name"], "" if tensor["candidate_name"] == tensor["name"] else f"with {tensor['candidate_name']}"),
             "position": Number(tensor["position"], "count"), "operator": (tensor["operator"], "" if tensor["node"] == tensor["name"] else tensor["node"]),
             "shape": f"[{', '.join(map(str, tensor['shape']))}]" if tensor["shape"] else "", "non_finite": Number(tensor["non_finite_apart"] or None, "count"),
             "dtype": tensor["dtype"] if tensor["dtype"] == tensor["candidate_dtype"] else f"{tensor['dtype']}, {tensor['candidate_dtype']}"}
            | {column: Number(tensor[key]) for column, key in number.items()} for tensor in content["tensors"]], None


def history_series(history):
    rows, quantity = [], quantity_of(history["unit"])
    for each in history["series"]:
        last = (each["values"] or [None])[-1]
        known = last is not None and last["value"] == each["last_value"] and last["low"] is not None
        rows.append({"series": each["series"], "runs": Number(each["runs"], "count", sub=f"{each['left_out']} left out" if each["left_out"] else ""),
                     "first": when(each["first_at"] or ""), "last": when(each["last_at"] or ""),
                     "value": Number(each["last_value"], quantity, {key: last[key] for key in ("low", "high")} if known else None),
                     "changes": Number(len(each["changes"]), "count")})
    return rows, None


def history_changes(history):
    def context(each):
        off = each["runs_off"]
        later = "" if off == 0 else f" ({abs(off)} {'later' if off > 0 else 'earlier'})"
        return f"{words(each['what'])}: {each['before'][:12]} → {each['after'][:12]}{later}"

    return [{"series": series["series"], "since": when(each["at"]), "run": each["run"], "change": Number(each["change"], "share", signed=True),
             "p": Number(each["p"] if each["by_e_divisive"] else None, show=probability), "t": Number(each["statistic"] if each["by_scan"] else None),
             "context": "; ".join(map(context, each["context"]))} for series in history["series"] for each in series["changes"]], None


def history_levels(history):
    return [{"series": series["series"], "from": level["first_run"], "to": level["last_run"], "runs": Number(level["runs"], "count"),
             "value": Number(level["value"], quantity_of(history["unit"])), "spread": Number(level["sd_log"], "share")}
            for series in history["series"] for level in series["levels"]], None


def gate_texts(judged):
    """Value, its interval and the bound: in one unit, that of the value."""
    quantity = {"s": "s", "bytes": "bytes", "items/s": "items/s", "x": "ratio", "share": "share", "": "plain"}.get(judged["unit"])
    first = judged["value"] if judged["value"] is not None else judged["threshold"] or 0
    unit = unit_of(quantity or "plain", first) if quantity else (judged["unit"], 1.0)
    text = lambda value: MISSING if value is None else percent(value) if quantity == "share" else figure(quantity, value) if quantity else with_unit(plain(value), unit)
    between = judged["interval"]
    n = count(judged["n"], judged["n_of"].removesuffix("s") if judged["n_of"] != "processes" else "process", judged["n_of"])
    below = [with_unit(interval(between["low"], between["high"], unit), unit)] if between else []
    below += [f"n = {n}"] if judged["n"] else ["exact"] if judged["exact"] else []
    relation = {"<=": "≤ ", ">=": "≥ ", None: ""}.get(judged["relation"], f"{judged['relation']} ")
    return text(judged["value"]), ", ".join(below), MISSING if judged["threshold"] is None else relation + text(judged["threshold"])


def gate(content):
    rows = []
    for judged in sorted(content["verdicts"], key=lambda each: ("fail", "inconclusive", "pass").index(each["outcome"])):
        value, below, bound = gate_texts(judged)
        rows.append({"expectation": judged["expectation"], "subject": judged["subject"], "value": (value, below), "threshold": bound,
                     "reason": "; ".join([judged["reason"], *judged["notes"]])})
    return rows, None


def operators(table):
    rows = []
    for each in [*table["operators"], None]:
        time = each or table["rest"]
        roof = (each or {}).get("roofline") or {"fraction": None, "bound": ""}
        own = each or {}
        between = None if time["low_s"] is None else {"low": time["low_s"], "high": time["high_s"]}
        nodes = own.get("nodes", [])
        rows.append({
            "name": own.get("name"), "time": Number(time["mean_s"], "s", between), "share": Number(time["share"], "share"),
            "roof": Number(roof["fraction"], "share", sub=roof["bound"]), "shapes": own.get("shapes", ""), "kernel": own.get("kernel", ""),
            "calls": Number(each and time["calls"], "count", show=lambda value: whole(value) if float(value).is_integer() else plain(value)),
            "helpers": Number(time["helper_s"] or None, "s"), "flops": Number(own.get("flops")), "precision": own.get("precision", ""), "kind": own.get("kind", ""),
            "nodes": ", ".join(nodes) if len(nodes) <= 4 else f"{', '.join(nodes[:4])}, and {len(nodes) - 4} more"})
        for column in ("moved_bytes", "activation_bytes", "parameter_bytes", "output_bytes", "arena_in_use_bytes", "arena_peak_bytes"):
            rows[-1][column] = Number(own.get(column), "bytes")
    return rows, None


def tables(part):
    """By caption: rows, and what they are grouped by at first."""
    run, found = part["run"], {}
    if run is not None:
        found["Subjects and their figures"] = subjects(run)
        found["All trials, those that failed first"] = trials(part)
        found["Models by file"] = models(run)
        if run["comparison"] is not None:
            base = {labels(run)[each["baseline"]] for each in run["comparison"]["primary"]}
            found[f"Comparisons with {base.pop()}, pair by pair" if len(base) == 1 else "Comparisons, pair by pair"] = comparison(run)
        if run["tuning"] is not None:
            found[f"Settings, by {words(run['plan']['tuning']['objective'])}"] = tuning(run)
        found["Subjects under load: response times count from when a request should have started"] = under_load(run)
        found["Failed requests by class, all processes together"] = failed_requests(run)
        found["Answers token by token"] = generation(run)
        for profile in (run["profile"] or {"subjects": []})["subjects"]:
            if profile["table"] is not None:
                found[f"Operators of {labels(run)[profile['subject']]}"] = operators(profile["table"])
    if part["validation"] is not None:
        sides = part["validation"]
        found[f"Outputs of {sides['candidate']['label']} against {sides['baseline']['label']}"] = outputs(sides)
        found["Samples that are furthest apart"] = samples(sides)
    if part["layers"] is not None:
        found[f"Tensors of {part['layers']['candidate']['label']} against {part['layers']['reference']['label']}"] = layers(part["layers"])
    if part["variants"] is not None:
        found[f"Variants of {part['variants']['model']}"] = variants(part["variants"])
    if part["history"] is not None:
        found[f"Series of {words(part['history']['metric'])}"] = history_series(part["history"])
        found["Changes"] = history_changes(part["history"])
        found["Levels between changes"] = history_levels(part["history"])
    if part["gate"] is not None:
        content = part["gate"]
        found[f"Expectations of {content['gate']}: {content['passed']} passed, {content['failed']} failed, {content['inconclusive']} inconclusive"] = gate(content)
    return {caption: expected for caption, expected in found.items() if expected[0]}
