"""Profiles of call stacks as the engine would write them, beside those of operators: their sums are exact."""

from . import operator_profiles as profile

MS = 1e-3


class Tree:
    """Nodes from nested (level, what, own seconds, children): a node's time is its own and its children's."""

    def __init__(self):
        self.nodes, self.functions = [], []

    def function(self, symbol, module):
        name = {"symbol": symbol, "module": module, "offset": "" if symbol else "0x1f40"}
        if name not in self.functions:
            self.functions.append(name)
        return self.functions.index(name)

    def add(self, level, what, own_s, children=(), parent=None):
        place = len(self.nodes)
        node = {"parent": parent, "level": level, "own": own_s}
        self.nodes.append(node)
        match level:
            case "kind":
                node["kind"] = what
            case "operator":
                node["op"] = what
            case "frame":
                node["function"] = self.function(*what)
            case "merged":
                node["merged"] = what
        node["whole"] = own_s + sum(self.add(*child, parent=place) for child in children)
        return node["whole"]


RUN, GEMM, POOL, PACK = ("OrtRun", "libort.so"), ("MlasSgemmKernel<float, 12>", "libort.so"), ("", "libort.so"), ("memcpy", "libc.so.6")


def frames(*stack):
    """(function, own), … from the outermost in, as nested frames."""
    (function, own_s), *inner = stack
    return ("frame", function, own_s, [frames(*inner)] if inner else [])


def kinds(gemm_s, copy_s):
    """Under the whole: what a run spends in convolutions, elsewhere, and not at all. Callers recur in several operators."""
    return [
        ("kind", "Conv", 0, [("operator", 1, 0, [frames((RUN, 0.1 * MS), (GEMM, gemm_s)), ("merged", 7, 0.02 * MS)]),
                             ("operator", 2, 0, [frames((RUN, 0.1 * MS), (GEMM, gemm_s / 2), (PACK, copy_s))])]),
        ("kind", "MaxPool", 0, [("operator", 54, 0, [frames((RUN, 0), (POOL, 3 * MS))])]),
        ("kind", "", 0, [frames((("main", "worker"), 0.2 * MS), (RUN, 0.3 * MS))]),
        ("rest", None, 1.5 * MS),
    ]


def functions_of(tree, wall_s):
    found = []
    for index, name in enumerate(tree.functions):
        nodes = [node for node in tree.nodes if node.get("function") == index]
        self_s = sum(node["own"] for node in nodes)
        found.append(name | {"self_s": self_s, "low_s": 0.98 * self_s, "high_s": 1.02 * self_s, "share": self_s / wall_s,
                             "total_s": sum(node["whole"] for node in nodes), "helper_s": 0.0,
                             "places": [{"kind": "Conv", "op": None, "operators": 2, "self_s": self_s}]})
    return found


def stacks(gemm_s=8 * MS, copy_s=1 * MS, method="perf_event", is_python=False, others=False, distorted=False, children=None):
    tree = Tree()
    wall_s = tree.add("whole", None, 0, kinds(gemm_s, copy_s) if children is None else children)
    if others:
        tree.add("other_threads", None, 0, [frames((("worker_main", "libpthread.so"), 0), (GEMM, 20 * MS))])
    functions = sorted(functions_of(tree, wall_s), key=lambda each: -each["self_s"])
    place = {(each["symbol"], each["module"]): index for index, each in enumerate(functions)}
    nodes = []
    for node in tree.nodes:
        if "function" in node:
            name = tree.functions[node["function"]]
            node["function"] = place[name["symbol"], name["module"]]
        one = {key: value for key, value in node.items() if key not in ("own", "whole")}
        nodes.append(one | {"mean_s": node["whole"], "self_s": node["own"], "low_s": 0.97 * node["whole"], "high_s": 1.03 * node["whole"]})
    return {"method": method, "detail": "499 samples a second of the processor's time, user code only", "is_python": is_python, "is_time": True,
            "samples": 16120, "left_out": 0, "tagged_share": 0.0 if is_python else 0.991, "unnamed_share": 0.0 if is_python else 0.2, "processes": 8,
            "wall_s": wall_s, "clean_p50_s": wall_s * (0.4 if distorted else 0.99), "profiled_p50_s": wall_s, "distorted": distorted,
            "functions": functions, "tree": nodes}


def python_stacks(distorted=False):
    module = "model.py"
    return stacks(method="cprofile", is_python=True, distorted=distorted,
                  children=[frames((("run", "_worker.py"), 1 * MS), (("infer", module), 2 * MS), (("Session.run", "onnxruntime.py"), 20 * MS)), ("rest", None, 0.5 * MS)])


def difference(baseline_s=8 * MS, subject_s=11 * MS):
    """Of two trees of one form; operators as groups of the explanation; a copy that the subject has alone."""
    one, other = Tree(), Tree()
    wholes = one.add("whole", None, 0, kinds(baseline_s, 0)), other.add("whole", None, 0, kinds(subject_s, 1 * MS))
    nodes = []
    for left, right in zip(one.nodes, other.nodes, strict=True):
        mean_s = right["whole"] - left["whole"]
        node = {key: value for key, value in left.items() if key not in ("own", "whole", "op")}
        if "op" in left:
            node["group"] = left["op"]
        nodes.append(node | {"baseline_s": left["whole"], "subject_s": right["whole"], "mean_s": mean_s, "low_s": mean_s - 0.1 * MS,
                             "high_s": mean_s + 0.1 * MS, "separable": abs(mean_s) > 0.1 * MS})
    return {"method": "perf_event", "detail": "499 samples a second", "is_python": False, "is_time": True, "samples": 12240, "left_out": 0,
            "tagged_share": 0.991, "unnamed_share": 0.2, "pairs": 8, "difference_s": wholes[1] - wholes[0], "functions": one.functions, "tree": nodes}


def many(count):
    """As wide a tree as can be, all of it large enough to be drawn but the last."""
    return stacks(children=[frames(((f"function_{i}", "libmany.so"), (1 if i % 2 else 0.5) * MS), ((f"inner_{i}", "libmany.so"), 1 * MS)) for i in range(count)])


def pair():
    """The pair of profiles with stacks of both, Python's of the first, and their difference."""
    content = profile.pair()
    first, second = content["subjects"]
    first["stacks"] = [stacks(others=True), python_stacks()]
    second["stacks"] = [stacks(gemm_s=11 * MS)]
    content["explanations"][0]["stacks"] = [difference()]
    return content
