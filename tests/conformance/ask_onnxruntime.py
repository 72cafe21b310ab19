"""Asks ONNX Runtime's Python API which of ONNX's own node tests it runs and matches, and prints their names as JSON.

usage: ask_onnxruntime.py FOLDER…   (each with model.onnx and test_data_set_*)
The criterion is that of ONNX's own runner: numpy.testing.assert_allclose with rtol 1e-3, atol 1e-7.
"""
import json
import os
import pathlib
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

PROTOS = {"tensor_type": (onnx.TensorProto, numpy_helper.to_array),
          "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
          "optional_type": (onnx.OptionalProto, numpy_helper.to_optional)}


def read(file, value_info):
    proto, convert = PROTOS[value_info.type.WhichOneof("value")]
    message = proto()
    message.ParseFromString(file.read_bytes())
    return convert(message)


def read_all(folder, kind, infos):
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda file: int(file.stem.split("_")[1]))
    return [read(file, info) for file, info in zip(files, infos)]


def same(got, wanted):
    if wanted is None or got is None:
        return got is None and wanted is None
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(same(*pair) for pair in zip(got, wanted))
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    if got.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "OUS":
        return numpy.array_equal(got.astype(str), wanted.astype(str))
    return numpy.allclose(got.astype(numpy.float64), wanted.astype(numpy.float64), rtol=1e-3, atol=1e-7, equal_nan=True)


def matches(folder):
    model = onnx.load(folder / "model.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    for data in sorted(folder.glob("test_data_set_*")):
        inputs = read_all(data, "input", model.graph.input)
        names = [info.name for info in session.get_inputs()]
        got = session.run(None, dict(zip(names, inputs)))
        wanted = read_all(data, "output", model.graph.output)
        if not all(same(*pair) for pair in zip(got, wanted)):
            return False
    return True


def main():
    onnxruntime.set_default_logger_severity(4)
    good = []
    for name in sys.argv[1:]:
        try:
            if matches(pathlib.Path(name)):
                good.append(name)
        except Exception:  # not run, or not matched: not part of the contract
            pass
    print(json.dumps(good))


main()
