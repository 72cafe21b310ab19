"""Profiles of operators as the engine would write them: their sums are exact, and nothing in them is random."""

import copy
import math

MS = 1e-3
MODEL_OPERATORS = 53  # convolutions of a ResNet-50


def times(mean_s, half_s=None, calls=1.0, wall_s=1.0):
    half_s = 0.01 * mean_s if half_s is None else half_s
    return {"mean_s": mean_s, "low_s": mean_s - half_s, "high_s": mean_s + half_s, "calls": calls, "helper_s": 0.0, "share": mean_s / wall_s}


def operator(op, name, kind, kernel, mean_s, nodes=(), rule="exact", flops=None, **more):
    return {"op": op, "name": name, "kind": kind, "kernel": kernel, "precision": "float32", "layout": "", "shapes": "(1, 64, 56, 56) -> (1, 64, 56, 56)",
            "provider": "CPUExecutionProvider", "nodes": list(nodes), "rule": rule, "flops": flops, "moved_bytes": 1.6e6, "activation_bytes": 802816 + 4096 * op,
            "parameter_bytes": 147456 * (1 + op % 9), "output_bytes": 802816, "arena_peak_bytes": 9_000_000 + 4096 * op, "arena_in_use_bytes": 6_000_000 + 802816 * (op % 3), "roofline": None} | times(mean_s) | more


def convolution_s(i):
    """Uneven, largest in the middle."""
    return (0.5 + 1.5 * math.sin(math.pi * (i + 1) / (MODEL_OPERATORS + 1)) ** 2) * MS


def blocked_operators():
    """58: convolutions with their activation in them, and reorders around them."""
    found = [operator(0, "reorder_in", "ReorderInput", "Reorder", 0.12 * MS, rule="none")]
    for i in range(MODEL_OPERATORS):
        found.append(operator(len(found), f"conv_{i}_nchwc", "Conv", "NchwcConv", convolution_s(i), [f"conv_{i}", f"relu_{i}"][:1 + (i < 33)], "tensor",
                              convolution_s(i) * 105e9, layout="NCHWc", moved_bytes=(1 + i % 9) * 4e5))
    for name, kind, mean in (("pool", "MaxPool", 0.3), ("average", "GlobalAveragePool", 0.08), ("reorder_out", "ReorderOutput", 0.05), ("fc", "Gemm", 0.5)):
        found.append(operator(len(found), name, kind, kind, mean * MS, [] if "eorder" in kind else [name], "none" if "eorder" in kind else "exact",
                              4.1e6 if kind == "Gemm" else None))
    return found


def plain_operators():
    """89: the same without blocked layout, 33 activations on their own."""
    found = []
    for i in range(MODEL_OPERATORS):
        found.append(operator(len(found), f"conv_{i}", "Conv", "MlasConv", convolution_s(i) * 1.2, [f"conv_{i}"], "exact", convolution_s(i) * 105e9, moved_bytes=(1 + i % 9) * 4e5))
        if i < 33:
            found.append(operator(len(found), f"relu_{i}", "Relu", "Relu", 0.04 * MS, [f"relu_{i}"]))
    for name, kind, mean in (("pool", "MaxPool", 0.31), ("average", "GlobalAveragePool", 0.08), ("fc", "Gemm", 0.5)):
        found.append(operator(len(found), name, kind, kind, mean * MS, [name], "exact", 4.1e6 if kind == "Gemm" else None))
    return found


def many_operators(count):
    """Of which a third is large enough to be drawn."""
    kinds = ["Conv", "MatMul", "Add", "Mul", "Softmax", "Transpose", "Reshape", "LayerNormalization"]
    return [operator(i, f"block_{i // 12}/operator_{i}", kinds[i % len(kinds)], f"kernel_{i % 5}", (0.1 if i % 3 == 0 else 0.002) * (1 + i % 7 / 7) * MS, [f"operator_{i}"])
            for i in range(count)]


def table(operators, rest_s=0.4 * MS, distorted=False, threads=1, peaks=True):
    wall_s = sum(each["mean_s"] for each in operators) + rest_s
    for each in operators:
        each["share"] = each["mean_s"] / wall_s
        if peaks and each["flops"]:
            achieved = each["flops"] / each["mean_s"]
            intensity = each["flops"] / each["moved_bytes"]
            each["roofline"] = {"flops": each["flops"], "bytes": each["moved_bytes"], "flops_per_s": achieved, "intensity": intensity,
                                "fraction": max(each["flops"] / 118e9, each["moved_bytes"] / 21e9) / each["mean_s"],
                                "bound": "compute" if intensity > 118 / 21 else "memory"}
    begin, at = [], 0.02 * MS
    for each in operators:
        begin.append(at)
        at += each["mean_s"]
    flops = sum(each["flops"] or 0 for each in operators)
    return {"wall_s": wall_s, "clean_p50_s": wall_s * (0.85 if distorted else 0.99), "profiled_p50_s": wall_s, "distorted": distorted,
            "sources": [{"name": "operators", "available": True, "detail": "ONNX Runtime's profile"},
                        {"name": "stacks", "available": False, "detail": "this machine lets nobody sample"}],
            "operators": sorted(operators, key=lambda each: -each["mean_s"]), "rest": times(rest_s, calls=0.0, wall_s=wall_s),
            "roofline": {"whole_fraction": flops / 118e9 / wall_s if peaks else None, "whole_flops": flops, "notes": [], "reason": "" if peaks else "peaks were not measured"},
            "graph": {"from": [], "to": [], "left_out": 0, "reason": "the runtime does not report which operator reads what another one makes"},
            "timeline": {"process": 0, "iteration": 4, "wall_s": wall_s, "op": [each["op"] for each in operators],
                         "thread": [i % threads for i in range(len(operators))], "begin_s": begin, "duration_s": [each["mean_s"] for each in operators]}}


def group(kind, nodes, in_baseline, in_subject, baseline_s, subject_s, separable, half_s, helper=False):
    difference = subject_s - baseline_s
    return {"kind": kind, "nodes": nodes, "in_baseline": in_baseline, "in_subject": in_subject, "is_helper": helper, "baseline_s": baseline_s,
            "subject_s": subject_s, "mean_s": difference, "low_s": difference - half_s, "high_s": difference + half_s, "p": 1e-6 if separable else 0.4,
            "separable": separable}


def groups_of(baseline, subject):
    """Common groups: operators that share a node; those without any by kind; the rest of both."""
    one, other = baseline["operators"], subject["operators"]
    by_node = {node: each for each in other for node in each["nodes"]}
    found = []
    for each in one:
        if not each["nodes"]:
            found.append(group(each["kind"], [], [each["op"]], [], each["mean_s"], 0.0, True, 0.005 * MS, helper=True))
            continue
        theirs = {by_node[node]["op"]: by_node[node] for node in each["nodes"] if node in by_node}.values()
        subject_s = sum(their["mean_s"] for their in theirs)
        found.append(group(each["kind"], each["nodes"], [each["op"]], [their["op"] for their in theirs], each["mean_s"], subject_s,
                           each["kind"] == "Conv", 0.02 * MS + 0.03 * each["mean_s"]))
    found.append(group("(rest)", [], [], [], baseline["rest"]["mean_s"], subject["rest"]["mean_s"], False, 0.05 * MS))
    return sorted(found, key=lambda each: -abs(each["mean_s"]))


def explanation(baseline, subject, tables):
    groups = groups_of(tables[baseline], tables[subject])
    difference = sum(each["mean_s"] for each in groups)
    conv = [i for i, each in enumerate(groups) if each["kind"] == "Conv"]
    reported = sum(groups[i]["mean_s"] for i in conv)
    return {"baseline": baseline, "subject": subject, "reason": "", "pairs": 8, "left_out": 0,
            "baseline_s": sum(each["baseline_s"] for each in groups), "subject_s": sum(each["subject_s"] for each in groups), "difference_s": difference, "low_s": difference - 0.4 * MS,
            "high_s": difference + 0.4 * MS, "clean_difference_s": 0.98 * difference, "clean_low_s": 0.93 * difference, "clean_high_s": 1.03 * difference,
            "consistent": True, "not_separable_s": difference - reported, "not_separable_half_width_s": 0.2 * MS,
            "clauses": [{"sentence": f"{len(conv)} Conv: NCHWc -> plain layout", "cause": "other_layout", "groups": conv, "mean_s": reported,
                         "low_s": reported - 0.3 * MS, "high_s": reported + 0.3 * MS, "share": reported / difference}],
            "groups": groups, "stacks": []}


def peaks():
    compute = [("float32", 118.2e9, "AVX-512 FMA"), ("bfloat16", 236.4e9, "AVX-512 BF16"), ("int8", 472.9e9, "AVX-512 VNNI")]
    bandwidth = [("L1", 209e9), ("L2", 118e9), ("L3", 100e9), ("DRAM", 21e9)]
    return {"threads": 1, "seconds": 2.4, "missing": [],
            "compute": [{"dtype": name, "ops_per_s": at, "low": 0.999 * at, "high": at, "instructions": how} for name, at, how in compute],
            "bandwidth": [{"level": level, "holds_bytes": 0, "bytes_per_s": at, "low": 0.97 * at, "high": at} for level, at in bandwidth]}


def profile(tables, explanations=(), with_peaks=True):
    """`tables`: per subject, or None."""
    return {"subjects": [{"subject": i, "asked": 8, "processes": 8 if each else 0, "left_out": 0, "table": each, "stacks": []} for i, each in enumerate(tables)],
            "explanations": [explanation(baseline, subject, tables) for baseline, subject in explanations], "peaks": peaks() if with_peaks else None}


def pair():
    """ResNet-50 with and without blocked layout."""
    return profile([table(blocked_operators()), table(plain_operators(), rest_s=0.45 * MS)], [(0, 1)])


def with_profile(document, content):
    document = copy.deepcopy(document)
    document["parts"][0]["run"]["profile"] = content
    return document
