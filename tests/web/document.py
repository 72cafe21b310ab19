"""The document in a page: JSON, deflated, base64."""

import base64
import copy
import json
import re
import zlib
from functools import cache
from pathlib import Path

ELEMENT = re.compile(r'(<script type="application/json" id="document"[^>]*>)([^<]*)(</script>)')


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def document_text(file: Path) -> str:
    found = ELEMENT.search(_text(file))
    assert found, "the page contains no document"
    return zlib.decompress(base64.b64decode(found[2])).decode()


def document_of(file: Path) -> dict:
    return json.loads(document_text(file))


def with_document(file: Path, document: dict) -> str:
    data = base64.b64encode(zlib.compress(json.dumps(document).encode())).decode()
    return ELEMENT.sub(lambda found: found[1] + data + found[3], _text(file), count=1)


def difference_picture() -> dict:
    """8 x 6 pixels of an output of 16 x 12, with the largest difference in pixel 19."""
    rows, columns = 6, 8
    pixels = range(rows * columns)
    plane = lambda value: base64.b64encode(bytes(value(i) >> 8 for i in pixels) + bytes(value(i) & 255 for i in pixels)).decode()
    return {"output": "mask", "item": 3, "name": "scan.npy", "where": "channel 0", "rows": rows, "columns": columns, "full_rows": 12,
            "full_columns": 16, "scale": {"low": -1.5, "high": 2.5}, "max_difference": 0.25, "plane": [0, 0],
            "largest": {"row": 5, "column": 7}, "reference": plane(lambda i: 1300 * i),
            "candidate": plane(lambda i: 65535 if i == 1 else 1300 * i), "difference": plane(lambda i: {1: 65534, 19: 65532}.get(i, 0))}


def layers() -> dict:
    """Twelve tensors that part at the seventh."""
    side = {"label": "a", "model": "model.onnx", "backend": "onnxruntime", "executed": {"dtype": "float32"}}
    tensors = []
    for i in range(12):
        error = 0 if i < 2 else 1e-7 if i < 6 else 0.1
        figures = dict.fromkeys(("error", "relative_l2", "relative_l1", "relative_max", "max_absolute", "mae", "rmse"), error)
        tensors.append({"name": f"tensor {i}", "candidate_name": f"tensor {i}", "matched_by": "name", "node": f"node {i}", "operator": "Conv",
                        "position": i, "dtype": "float32", "candidate_dtype": "float32", "shape": [1, 8], "reason": "", "elements": 8,
                        "rounding_floor": 1.5e-5, "max_absolute_index": 0, "cosine": 1.0, "non_finite_apart": 0} | figures)
    return {"reference": side, "candidate": side | {"label": "b"}, "item": "item 0", "sandbox": "auto", "note": "", "least_jump": 10, "first_difference": 2, "jump": 6,
            "worst": 6, "before_jump": 1e-7, "tensors": tensors, "graph": {"nodes": [], "from": [], "to": [], "left_out": 0},
            "reference_only": [], "candidate_only": []}


def with_subjects(document: dict, count: int) -> dict:
    """The same document with so many subjects: copies of the first, with labels of their own."""
    document = copy.deepcopy(document)
    run, figures = document["parts"][0]["run"], document["parts"][0]["figures"]
    first, planned, model = run["subjects"][0], run["plan"]["subjects"][0], run["models"][0]
    distribution = figures["distributions"][0]
    run["subjects"] = [copy.deepcopy(first) | {"index": i, "label": f"subject {i}", "baseline": 0 if i else None} for i in range(count)]
    run["plan"]["subjects"] = [planned | {"label": f"subject {i}"} for i in range(count)]
    run["models"] = [model] * count
    figures["distributions"] = [distribution | {"subject": i} for i in range(count)]
    figures["ratios"] = []
    run["trials"] = [trial | {"subject": i} for i in range(count) for trial in run["trials"] if trial["subject"] == 0]
    return document
