"""What the data behind every chart have to be, from the part of the document: rows in base units. A text that is None is not looked at.
Of a set, every number has to be one of the document's."""

import base64
import math
import re


def ends(between):
    return [between["low"], between["high"]] if between else [None, None]


def labels(run):
    names = [subject["label"] for subject in run["subjects"]]
    return [f"{name} (subject {i + 1})" if names.count(name) > 1 or not name else name for i, name in enumerate(names)]


def of_model(part, number):
    """Subjects of one gallery: those of the n-th model; of all where there is one."""
    run = part["run"]
    models = [run["subjects"][subject["index"] if subject["baseline"] is None else subject["baseline"]]["model"] for subject in run["subjects"]]
    known = list(dict.fromkeys(models))
    return [i for i, model in enumerate(models) if number is None or model == known[number - 1]]


def effects(part, _, __):
    return [[each["label"], each["against"], each["group"], each["metric"], each["verdict"], each["change"], *ends(each["interval"]), (each["interval"] or {}).get("confidence")]
            for each in part["overview"]["effects"] if each["baseline"] is not None]


def settings(part, _, __):
    run = part["run"]
    order = ["best", "equal", "open", "worse", "halved", "bound", "outputs", "load", "failed", "not_raced"]
    rows = []
    objective = run["plan"]["tuning"]["objective"]
    lower = next(subject["metrics"][objective]["lower_is_better"] for subject in run["subjects"])
    change = lambda effect: None if effect is None else math.expm1(effect if lower else -effect)
    found = sorted(run["tuning"]["settings"], key=lambda each: (order.index(each["fate"]), math.inf if each["behind"] is None else each["behind"]))
    for each in found:
        between = each["behind_interval"] if each["fate"] != "best" else None
        ends_of = sorted(change(between[end]) for end in ("low", "high")) if between else [None, None]
        rows.append([None, None, "", objective, None, 0 if each["fate"] == "best" else change(each["behind"]), *ends_of, between and between["confidence"]])
    return rows


def bounds(part, _, __):
    verdicts = sorted(part["gate"]["verdicts"], key=lambda each: ("fail", "inconclusive", "pass").index(each["outcome"]))
    return [[each["expectation"], each["subject"], None, each["value"], each["threshold"], *ends(each["interval"]), each["unit"]]
            for each in verdicts if each["value"] is not None and (each["threshold"] or 0) > 0]


def why(part, _, __):
    found = next(each for each in part["run"]["profile"]["explanations"] if each["clauses"])
    clauses = sorted(found["clauses"], key=lambda each: -abs(each["mean_s"]))[:8]
    return [["whole difference", found["difference_s"], found["low_s"], found["high_s"]]] + [[each["sentence"], each["mean_s"], each["low_s"], each["high_s"]] for each in clauses]


def output_error(run, index):
    if any((subject["outputs"] or {}).get("reference") == index for subject in run["subjects"]):
        return 0
    found = (run["subjects"][index]["outputs"] or {"differences": []})["differences"]
    errors = [None if not each["comparable"] or each["non_finite_apart"] else each["relative_l2"] if each["relative_l2"] is not None else 0 if not each["max_absolute"] else None for each in found]
    return None if not errors or None in errors else max(errors)


def named_figure(run, index, title):
    """Value and interval of the column of that title."""
    name = re.sub(r"(, (s|bytes|items/s|share))?$", "", title)
    subject, model = run["subjects"][index], run["models"][index]
    exact = {"Model size": model["size_bytes"] or None, "Parameters": model["parameters"], "Output error (relative L2)": output_error(run, index)}
    if name in exact:
        return [exact[name], None, None]
    found = subject["accuracy"] if name == "Accuracy" else subject["metrics"].get(name.lower().replace(" ", "_"))
    return [None, None, None] if found is None else [found["value"], *ends(found["interval"])]


def figures(part, subjects, columns):
    run = part["run"]
    return [[labels(run)[i], *[value for title in columns[1::3] for value in named_figure(run, i, title)]] for i in subjects]


def pareto(part, subjects, columns):
    run = part["run"]
    return [[labels(run)[i], run["subjects"][i]["batch_size"], *[value for title in columns[2::3] if title != "Pareto" for value in named_figure(run, i, title)]] for i in subjects]


def counters(part, subjects, columns):
    run = part["run"]
    rows = []
    for i in subjects:
        own = {each["name"]: each for each in run["subjects"][i]["counters"]}
        cells = [own.get(re.sub(r", [^,]*$", "", title), own.get(title)) for title in columns[1::3]]
        rows.append([labels(run)[i], *[value for found in cells for value in ([None] * 3 if found is None else [found["value"], *ends(found["interval"])])]])
    return rows


def by_candidate(found):
    every = found["primary"] + found["exploratory"]
    candidates = list(dict.fromkeys(each["candidate"] for each in every))
    return sorted(every, key=lambda each: candidates.index(each["candidate"]))


def comparison(part, _, __):
    run = part["run"]
    names, found = labels(run), run["comparison"]
    return [[names[each["candidate"]], names[each["baseline"]], each["metric"], None, each["pairs"], each["estimate"], *ends(each["interval"]),
             (each["interval"] or {}).get("confidence"), each["p"], each["standard_deviation"], None] for each in by_candidate(found)]


def pairs(part, _, __):
    rows = []
    for each in part["run"]["comparison"]["primary"]:
        looks = {look["pairs"]: look for look in each["looks"]}
        for i, value in enumerate(each["differences"], 1):
            look = looks.get(i) or {"estimate": None, "interval": None, "p": None, "level": None}
            rows.append([labels(part["run"])[each["candidate"]], i, value, look["estimate"], *ends(look["interval"]), look["p"], look["level"], None])
    return rows


def distribution(part, subjects, _):
    found = [each for each in part["figures"]["distributions"] if each["subject"] in subjects]
    return [[labels(part["run"])[each["subject"]], each["n"], *each["quantiles_s"]] for each in found]


def ecdf(part, subjects, _):
    levels = part["figures"]["quantile_levels"]
    return [[labels(part["run"])[each["subject"]], level, value, each["n"]]
            for each in part["figures"]["distributions"] if each["subject"] in subjects for level, value in zip(levels, each["quantiles_s"], strict=True)]


def own_trials(part, subjects):
    return [trial for trial in part["run"]["trials"] if trial["subject"] in subjects]


def timeline(part, subjects, _):
    """Of the first subject that has iterations, those before they were timed first."""
    run = part["run"]
    trials = lambda i: sorted((trial for trial in run["trials"] if trial["subject"] == i), key=lambda trial: trial["process"])
    first = next(i for i in subjects if any(len(trial["samples"]["latency_s"]) > 1 for trial in trials(i)))
    return [[labels(run)[first], trial["process"] + 1, None, begin, latency, None] for trial in trials(first)
            for times in (trial.get("warmup_samples"), trial["samples"]) if times for begin, latency in zip(times["begin_s"], times["latency_s"], strict=True)]


def order(part, subjects, _):
    levels = part["figures"]["process_levels"]
    rows = [[process["position"] + 1, labels(part["run"])[each["subject"]], process["process"] + 1, process["quantiles_s"][levels.index(0.5)], process["n"], None]
            for each in part["figures"]["distributions"] if each["subject"] in subjects for process in each["processes"]]
    return sorted(rows)


def memory(part, subjects, _):
    phases = ("rss_before_load_bytes", "rss_peak_load_bytes", "rss_after_load_bytes", "pss_after_load_bytes", "rss_peak_inference_bytes", "pss_after_inference_bytes",
              "device_peak_bytes")
    return [[labels(part["run"])[trial["subject"]], trial["process"] + 1, *[trial["memory"][phase] for phase in phases]] for trial in own_trials(part, subjects)]


def leak(part, subjects, _):
    names = labels(part["run"])
    trials = [trial for trial in part["run"]["side_trials"] if trial["purpose"] == "leak" and trial["subject"] in subjects]
    return [[names[trial["subject"]], i, value] for trial in trials for i, value in enumerate(trial["memory_after_iteration_bytes"], 1)]


def load_rate(part, subjects, _):
    loads = [(labels(part["run"])[i], part["run"]["subjects"][i]["load"]["figures"]) for i in subjects]
    return [[name, found["achieved_rate"]["value"], found["response_p99"]["value"], "yes" if found["response_p99"]["holds"] else "no"]
            for name, found in loads if found["response_p99"]["value"] is not None]


def load_lines(part, subjects):
    """A process of each subject, the one with the median response: the page may choose, its numbers are the process's."""
    return {(each["process"], i): each for i in subjects for each in part["run"]["subjects"][i]["load"]["processes"]}


def load_tail(part, subjects, _):
    return {(None, share, response) for each in load_lines(part, subjects).values()
            for share, response in zip(each["percentiles"]["share"], each["percentiles"]["response_s"], strict=True)}


def load_timeline(part, subjects, _):
    return {(None, (i + 1) * line["bin_s"], *[line[each][i] for each in ("arrived", "completed", "failed", "in_flight", "slowest_s")])
            for line in [each["timeline"] for each in load_lines(part, subjects).values()] for i in range(len(line["in_flight"]))}


def generation(time):
    def rows(part, subjects, _):
        found = next(each for each in part["figures"]["generation"] if each["time"] == time)
        return [[labels(part["run"])[each["subject"]], found["edges_s"][i], found["edges_s"][i + 1], share] for each in found["subjects"] for i, share in enumerate(each["shares"])]
    return rows


def course(time):
    def rows(part, subjects, _):
        found = next(each for each in part["figures"]["courses"] if each["time"] == time)
        return [[labels(part["run"])[each["subject"]], point["first"], point["last"], point["tokens_mean"],
                 *[end for name in ("p50_s", "p90_s") for end in (point[name]["value"], *ends(point[name]["interval"]))], point["n"]]
                for each in found["subjects"] for point in each["points"]]
    return rows


def history(part, number, _):
    series = [each for each in part["history"]["series"] if each["values"]][number - 1]
    starts = {each["index"]: each["change"] for each in series["changes"]}
    levels, level, rows = {each["first_run"]: each["value"] for each in series["levels"]}, None, []
    for i, run in enumerate(series["values"]):
        level = levels.get(run["run"], level)
        rows.append([run["run"], run["at"], run["label"], run["value"], run["low"], run["high"], run["processes"], level, starts.get(i), None, None, None, None])
    return rows


def layers(part, _, __):
    return [[i, each["name"], None, each["error"], each["rounding_floor"], each["max_absolute"], each["mae"], each["cosine"], each["node"], each["operator"], each["dtype"],
             f"[{', '.join(map(str, each['shape']))}]", each["candidate_name"], each["matched_by"], each["non_finite_apart"], None] for i, each in enumerate(part["layers"]["tensors"])]


def outputs(part, _, __):
    return [[each["difference"]["name"], None, each["difference"]["max_absolute"], each["allowed"], each["floor"],
             *[each["difference"][name] for name in ("mae", "rmse", "relative_l2", "cosine", "psnr_db", "mismatched", "element_count")], None] for each in part["validation"]["outputs"]]


MEASURES = {"largest |difference|": "max_absolute", "mean |difference|": "mae", "root mean square": "rmse", "relative L2": "relative_l2", "relative, largest": "relative_max",
            "cosine": "cosine", "correlation": "pearson", "PSNR": "psnr_db", "PSNR, dB": "psnr_db", "SSIM": "ssim", "elements beyond tolerance": "mismatched",
            "elements": "element_count", "NaN or infinite in one": "non_finite_apart", "item": "item"}


def samples(part, _, columns):
    return [[each.get(MEASURES.get(title, "none")) for title in columns] for each in part["validation"]["samples"]]


def speed_up(part, _, __):
    content, rows = part["variants"], []
    base = content["variants"][0]["size_bytes"]
    for i, variant in enumerate(content["variants"]):
        measured = next((each for each in variant["measurements"] if each["batch_size"] == content["batch_sizes"][0]), None)
        if measured and variant["size_bytes"] and base and (i == 0 or measured["speed_up"]):
            found = measured["speed_up"] or {"value": None, "interval": None}
            rows.append([variant["label"], variant["size_bytes"], base / variant["size_bytes"], found["value"], *ends(found["interval"]), None])
    return rows


def first_table(part):
    return next((each["subject"], each["table"]) for each in part["run"]["profile"]["subjects"] if each["table"])


def arena(part, _, __):
    subject, table = first_table(part)
    return [[labels(part["run"])[subject], each["op"] + 1, each["name"], each["kind"], *[each[key] for key in ("activation_bytes", "parameter_bytes", "output_bytes",
             "arena_in_use_bytes", "arena_peak_bytes")]] for each in sorted(table["operators"], key=lambda each: each["op"])]


def flame(part, _, __):
    subject, table = first_table(part)
    name = labels(part["run"])[subject]
    rows = [[name, each["name"], *[None] * 7, each["calls"], each["share"], each["mean_s"], each["low_s"], each["high_s"], (each["roofline"] or {}).get("fraction"),
             each["flops"], each["moved_bytes"]] for each in table["operators"]]
    rest = table["rest"]
    return [*rows, [name, "(rest)", *[None] * 7, None, rest["share"], rest["mean_s"], rest["low_s"], rest["high_s"], None, None, None]]


def flame_difference(part, _, __):
    return [[each["kind"], None, *[each[key] for key in ("baseline_s", "subject_s", "mean_s", "low_s", "high_s", "p")], "yes" if each["separable"] else "no", *[None] * 5]
            for each in part["run"]["profile"]["explanations"][0]["groups"]]


def sandwich(part, _, __):
    profile = next(each for each in part["run"]["profile"]["subjects"] if any(stacks["functions"] for stacks in each["stacks"]))
    stacks = next(each for each in profile["stacks"] if each["functions"])
    times = () if stacks["distorted"] else ("self_s", "low_s", "high_s", "total_s", "helper_s")
    return [[labels(part["run"])[profile["subject"]], None, None, each["share"], *[each[key] for key in times], None] for each in stacks["functions"]]


def roofline(part, _, __):
    profile, rows = part["run"]["profile"], []
    rows += [["(roof)", peak["dtype"], peak["dtype"], "compute", None, None, None, peak["ops_per_s"], 1, None] for peak in profile["peaks"]["compute"]]
    rows += [["(roof)", f"{peak['level']}, bytes/s", "", "memory", None, None, None, peak["bytes_per_s"], 1, None] for peak in profile["peaks"]["bandwidth"]]
    for each in profile["subjects"]:
        for operator in (each["table"] or {"operators": []})["operators"]:
            if operator["roofline"] is not None:
                roof = operator["roofline"]
                rows.append([labels(part["run"])[each["subject"]], operator["name"], operator["precision"], roof["bound"],
                             *[roof[key] for key in ("flops", "bytes", "intensity", "flops_per_s", "fraction")], operator["share"]])
    return rows


def operator_timeline(part, _, __):
    found = first_table(part)[1]["timeline"]
    return {(None, None, None, *each, None) for each in zip(found["thread"], found["begin_s"], found["duration_s"], strict=True)}


def memory_timeline(part, subjects, _):
    return {(None, trial["process"] + 1, None, at, None, rss) for trial in part["run"]["trials"] + part["run"]["side_trials"]
            for at, rss in zip(trial["memory_timeline"]["at_s"], trial["memory_timeline"]["rss_bytes"], strict=True)}


def batch(metric):
    def rows(part, subjects, _):
        return {(None, part["run"]["subjects"][i]["batch_size"], found["value"], *ends(found["interval"]), found["n"], found["processes"])
                for i in subjects for found in [part["run"]["subjects"][i]["metrics"][metric]]}
    return rows


def planes(part, number, _):
    """Sizes and scales, and of each row the largest of its levels, as a value."""
    each = part["difference_pictures"][number - 1]
    content = base64.b64decode(each["difference"])
    half, columns = len(content) // 2, each["columns"]
    levels = [content[i] << 8 | content[half + i] for i in range(half)]
    largest = [each["largest"]["row"], each["largest"]["column"]]
    place = f"[{', '.join(map(str, each['plane'] + largest))}], row {largest[0]}, column {largest[1]}"
    rows = [[None, value] for value in (each["item"], each["full_rows"], each["full_columns"], each["rows"], columns, each["scale"]["low"], each["scale"]["high"],
                                        each["max_difference"], place)]
    for row in range(each["rows"]):
        most = max(levels[row * columns:(row + 1) * columns])
        rows.append([None, "finite in one only" if most > 65532 else float(f"{most / 65532 * each['max_difference']:.4g}")])
    return rows


BY_MODEL = {"figures": figures, "pareto": pareto, "counters": counters, "distribution": distribution, "ecdf": ecdf, "timeline": timeline, "order": order, "memory": memory,
            "leak": leak, "load-rate": load_rate, "load-tail": load_tail, "load-timeline": load_timeline, "memory-timeline": memory_timeline,
            "generation-ttft": generation("ttft"), "generation-itl": generation("itl"), "generation-tpot": generation("tpot"),
            "generation-itl-position": course("itl"), "generation-ttft-prompt": course("ttft"),
            "batch-latency_p50": batch("latency_p50"), "batch-throughput": batch("throughput")}
NUMBERED = {"difference": planes, "history": history}
OTHERS = {"effects": effects, "settings": settings, "bounds": bounds, "why": why, "comparison": comparison, "pairs": pairs, "layers": layers, "outputs": outputs, "samples": samples,
          "speed-up": speed_up, "arena": arena, "operators-by-memory": arena, "slowest": flame, "flame": flame, "flame-difference": flame_difference,
          "sandwich": sandwich, "roofline": roofline, "operator-timeline": operator_timeline}


def data_of(picture, part, columns):
    """Rows; a set of rows, some of which are shown; None: nobody says what that picture's data are."""
    name, number = (picture.rpartition("-")[0], int(picture.rpartition("-")[2])) if picture.rpartition("-")[2].isdigit() else (picture, None)
    if name in BY_MODEL:
        return BY_MODEL[name](part, of_model(part, number), columns)
    if name in NUMBERED:
        return NUMBERED[name](part, number, columns)
    return OTHERS[picture](part, None, columns) if picture in OTHERS else None
