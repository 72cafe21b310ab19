"""A gRPC server of the Open Inference Protocol that does one thing wrong for each model that it has: the model's name says what.
`good` and what begins so does nothing wrong. Model: y = 2 x, of any number of rows of 3. Runs in MLServer's environment, whose messages
it reads requests with; writes its port to the file named first. After that: a certificate and its key, to speak TLS."""

import collections
import sys
import threading
import time
from concurrent import futures
from pathlib import Path

import grpc
import numpy as np
from mlserver.grpc import dataplane_pb2 as pb

COLUMNS = 3
SERVICE = "inference.GRPCInferenceService"
lock, requests = threading.Lock(), collections.Counter()  # of each model


def ports(name):
    x = {"name": "x", "datatype": "FP32", "shape": [-1, COLUMNS]}
    y = {"name": "y", "datatype": "FP32", "shape": [-1, COLUMNS]}
    changes = {"strange_type": {"datatype": "FP8"}, "negative_shape": {"shape": [-7]}, "nameless": {"name": ""},
               "huge_shape": {"shape": [2**31 - 1] * 4}, "huge_dimension": {"shape": [2**40]}, "many_dimensions": {"shape": [1] * 100}}
    if name == "good_text":
        x["datatype"] = y["datatype"] = "BYTES"
    return x | changes.get(name, {}), y


def metadata(request, context):
    name = pb.ModelMetadataRequest.FromString(request).name
    x, y = ports(name)
    tensor = pb.ModelMetadataResponse.TensorMetadata
    model = pb.ModelMetadataResponse(name=name, versions=["3"], platform="numpy", inputs=[tensor(**x)], outputs=[tensor(**y)])
    if name == "unknown":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such model \x1b[31m" + "x" * 5000)
    if name == "no_inputs":
        del model.inputs[:]
    if name == "good_undeclared":
        del model.outputs[:]
    if name == "twins":
        model.inputs.append(model.inputs[0])
    if name == "metadata_garbage":
        return b"\xff" * 40
    if name == "metadata_wire_type":
        return b"\x20\x01"  # field 4, the inputs, as a number
    return model.SerializeToString()


def infer(data, context):
    request = pb.ModelInferRequest.FromString(data)
    name = request.model_name
    with lock:
        requests[name] += 1
    assert len(request.inputs) == len(request.raw_input_contents) == 1 and not request.inputs[0].HasField("contents")
    given = request.inputs[0]
    if name == "wants_token" and ("authorization", "Bearer s3cr3t") not in context.invocation_metadata():
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
    refusals = {"invalid": grpc.StatusCode.INVALID_ARGUMENT, "internal": grpc.StatusCode.INTERNAL,
                "unavailable": grpc.StatusCode.UNAVAILABLE, "late": grpc.StatusCode.DEADLINE_EXCEEDED,
                "exhausted": grpc.StatusCode.RESOURCE_EXHAUSTED}
    if name in refusals or (name == "every_tenth_fails" and requests[name] % 10 == 0):
        context.abort(refusals.get(name, grpc.StatusCode.UNAVAILABLE), "broken \x1b[31mred\n100 % ä" + "y" * 5000)
    if name == "stalls":
        time.sleep(600)  # the client gives up before
    if name == "good_text":
        strings = [b"a", b"", "ä\0b".encode()]
        raw = b"".join(len(each).to_bytes(4, "little") + each for each in strings)
        return pb.ModelInferResponse(outputs=[{"name": "y", "datatype": "BYTES", "shape": [1, COLUMNS]}],
                                     raw_output_contents=[raw]).SerializeToString()
    x = np.frombuffer(request.raw_input_contents[0], "<f4").reshape(list(given.shape))
    y = (3 if name == "good_tripled" else 2) * x
    return answer(name, y)


def answer(name, y):
    output = {"name": "y", "datatype": "FP32", "shape": list(y.shape)}
    raw = [y.astype("<f4").tobytes()]
    if name == "garbage":
        return b"\x0a\xff\xff\xff\xff\x7f"
    if name == "wire_type":
        return b"\x2d\x00\x00\x00\x00"  # field 5, the outputs, as four bytes
    if name == "number_wire_type":
        return pb.ModelInferResponse(outputs=[output]).SerializeToString() + b"\x2a\x06\x2a\x04\x30\x01\x30\x02"  # floats as varints
    if name == "no_outputs":
        return b""
    if name == "good_typed":
        output["contents"], raw = {"fp32_contents": y.flatten().tolist()}, []
    if name == "typed_too_few":
        output["contents"], raw = {"fp32_contents": [1.0]}, []
    if name == "typed_otherwise":
        output["contents"], raw = {"bytes_contents": [b"a"] * y.size}, []
    changes = {"wrong_shape": {"shape": [1, COLUMNS + 1]}, "negative_infer_shape": {"shape": [-1, COLUMNS]},
               "huge_infer_shape": {"shape": [2**62, 2**62]}, "missing_output": {"name": "z"}, "many_infer_dimensions": {"shape": [1] * 99},
               "strange_infer_type": {"datatype": "FP8"}}
    output |= changes.get(name, {})
    if name == "wrong_shape":
        raw = [b"\0" * 4 * (COLUMNS + 1)]
    if name == "wrong_type":
        output["datatype"] = "INT32"
    if name == "wrong_size":
        raw = [raw[0][:4]]
    if name == "two_contents":
        raw *= 2
    if name == "endless":
        raw = [b"\0" * (300 << 20)]
    version = "3" if name != "replaced_meanwhile" or requests[name] < 5 else "4"
    return pb.ModelInferResponse(model_name=name, model_version=version, outputs=[output], raw_output_contents=raw).SerializeToString()


def server(_, __):
    return pb.ServerMetadataResponse(name="bad-server", version="7").SerializeToString()


def main(file, *certificate):
    methods = {"ServerMetadata": server, "ModelMetadata": metadata, "ModelInfer": infer}
    # Neither serializers nor deserializers: bytes as they are.
    handlers = {name: grpc.unary_unary_rpc_method_handler(act) for name, act in methods.items()}
    unlimited = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    serving = grpc.server(futures.ThreadPoolExecutor(8), handlers=[grpc.method_handlers_generic_handler(SERVICE, handlers)], options=unlimited)
    address = "127.0.0.1:0"
    if certificate:
        chain, key = (Path(each).read_bytes() for each in certificate)
        port = serving.add_secure_port(address, grpc.ssl_server_credentials([(key, chain)]))
    else:
        port = serving.add_insecure_port(address)
    serving.start()
    partial = Path(file).with_suffix(".partial")
    partial.write_text(str(port))
    partial.rename(file)
    serving.wait_for_termination()


main(*sys.argv[1:])
