"""A server of the Open Inference Protocol that does one thing wrong for each model that it has: the model's name says what.
`good` and what begins so does nothing wrong. Model: y = 2 x, of any number of rows of 3."""

import http.server
import json
import socket
import ssl
import struct
import threading

import numpy as np

ENDLESS = b"[" + b"1," * 30_000
COLUMNS = 3


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_GET(self):
        self.seen()
        parts = self.path.strip("/").split("/")
        if parts == ["v2"]:
            extensions = ["binary_tensor_data"] if self.server.binary else []
            self.answer({"name": "bad-server", "version": "7", "extensions": extensions})
        elif parts[:2] == ["v2", "models"]:
            self.metadata(parts[2])
        else:
            self.answer({"error": "nothing is here"}, 404)

    def do_POST(self):
        self.seen()
        size = int(self.headers["Content-Length"])
        body = self.rfile.read(size)
        name = self.path.strip("/").split("/")[2]
        with self.server.lock:
            self.server.requests += 1
        act = getattr(self, "infer_" + name, None)
        x = self.input_of(body)
        if act is None:
            self.tensors({"y": 2 * x})
        else:
            act(x)

    def seen(self):
        with self.server.lock:
            self.server.tokens.add(self.headers.get("Authorization"))

    # --- what is right

    def input_of(self, body):
        length = self.headers.get("Inference-Header-Content-Length")
        request = json.loads(body[:int(length)] if length else body)
        tensor = request["inputs"][0]
        if tensor["datatype"] == "BYTES":
            return tensor.get("data")
        if length:
            return np.frombuffer(body[int(length):], np.float32).reshape(tensor["shape"])
        return np.array(tensor["data"], np.float32).reshape(tensor["shape"])

    def answer(self, value, status=200, headers=()):
        self.send(value if isinstance(value, bytes) else json.dumps(value).encode(), status, headers)

    def send(self, body, status=200, headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def tensors(self, outputs, **changes):
        binary = self.headers.get("Inference-Header-Content-Length") is not None
        described, tail = [], b""
        for name, value in outputs.items():
            tensor = {"name": name, "shape": list(value.shape), "datatype": "FP32"}
            if binary:
                bytes_of = value.astype(np.float32).tobytes()
                tensor["parameters"] = {"binary_data_size": len(bytes_of)}
                tail += bytes_of
            else:
                tensor["data"] = value.flatten().tolist()
            described.append(tensor | changes)
        head = json.dumps({"model_name": "m", "outputs": described}).encode()
        self.send(head + tail, headers=[("Inference-Header-Content-Length", str(len(head)))] if binary else ())

    # --- what is not

    def metadata(self, name):
        x = {"name": "x", "datatype": "FP32", "shape": [-1, COLUMNS]}
        y = {"name": "y", "datatype": "FP32", "shape": [-1, COLUMNS]}
        model = {"name": name, "versions": ["3"], "platform": "numpy", "inputs": [x], "outputs": [y]}
        with self.server.lock:
            self.server.loads += 1
        if name == "replaced":
            model["versions"] = ["3" if self.server.loads < 3 else "4"]
        elif name == "replatformed":
            model["platform"] = "numpy" if self.server.loads < 3 else "other"
        if name == "good_undeclared":
            del model["outputs"]
        elif name == "good_text":
            model["inputs"][0] |= {"datatype": "BYTES"}
            model["outputs"][0] |= {"datatype": "BYTES"}
        elif name == "unknown":
            return self.answer({"error": "no such model \x1b[31m" + "x" * 5000}, 404)
        elif name == "no_inputs":
            del model["inputs"]
        elif name == "strange_type":
            x["datatype"] = "FP8"
        elif name == "strange_shape":
            x["shape"] = [-1, "\x1b]0;title\x07"]
        elif name == "huge_shape":
            x["shape"] = [2**31 - 1, 2**31 - 1, 2**31 - 1, 2**31 - 1]
        elif name == "negative_shape":
            x["shape"] = [-7]
        elif name == "deep_metadata":
            return self.answer(b'{"inputs":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
        elif name == "metadata_no_json":
            return self.answer(b"<html>\x1b[2J</html>")
        self.answer(model)

    def infer_good_tripled(self, x):
        self.tensors({"y": 3 * x})

    def infer_good_text(self, x):
        self.answer({"outputs": [{"name": "y", "datatype": "BYTES", "shape": [1, COLUMNS], "data": ["a", "", "ä\0b"]}]})

    def infer_error500(self, _):
        self.answer({"error": "broken \x1b[31mred\n" + "y" * 5000}, 500)

    def infer_error400(self, _):
        self.answer({"error": "batch too large"}, 400)

    def infer_replaced_meanwhile(self, x):
        with self.server.lock:
            version = "3" if self.server.requests < 5 else "4"
        self.answer({"model_name": "m", "model_version": version, "outputs": [
            {"name": "y", "shape": list(x.shape), "datatype": "FP32", "data": (2 * x).flatten().tolist()}]})

    def infer_every_tenth_fails(self, x):
        with self.server.lock:
            fails = self.server.requests % 10 == 0
        if fails:
            self.answer({"error": "busy"}, 503)
        else:
            self.tensors({"y": 2 * x})

    def infer_every_tenth_is_none(self, x):
        with self.server.lock:
            is_none = self.server.requests % 10 == 0
        if is_none:
            self.answer({})
        else:
            self.tensors({"y": 2 * x})

    def infer_redirect(self, _):
        self.answer(b"", 302, [("Location", "http://127.0.0.1:9/elsewhere")])

    def infer_bad_json(self, _):
        self.answer(b'{"outputs": [{"name": "y", "data": [1, 2,')

    def infer_no_outputs(self, _):
        self.answer({"outputs_": []})

    def infer_deep(self, _):
        self.answer(b'{"outputs":' + b"[" * 100_000 + b"]" * 100_000 + b"}")

    def infer_wrong_size(self, x):
        self.tensors({"y": np.zeros((1, COLUMNS))}, shape=[1, COLUMNS], **(
            {"parameters": {"binary_data_size": 4}} if self.server.binary else {"data": [1.0]}))

    def infer_size_beyond(self, x):
        self.tensors({"y": np.zeros((1, COLUMNS))}, parameters={"binary_data_size": 2**63})

    def infer_wrong_shape(self, x):
        self.tensors({"y": np.zeros((1, COLUMNS + 1))})

    def infer_huge_infer_shape(self, x):
        self.tensors({"y": np.zeros((1, COLUMNS))}, shape=[2**62, 2**62])

    def infer_wrong_type(self, x):
        self.tensors({"y": np.zeros((1, COLUMNS))}, datatype="INT32")

    def infer_missing_output(self, x):
        self.tensors({"z": np.zeros((1, COLUMNS))})

    def infer_shape_changes(self, x):
        with self.server.lock:
            rows = 1 if self.server.requests < 5 else 2
        self.tensors({"y": np.zeros((rows, COLUMNS))})

    def infer_endless(self, _):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(ENDLESS), ENDLESS))
        except OSError:
            self.close_connection = True

    def infer_huge_length(self, _):
        self.send_response(200)
        self.send_header("Content-Length", str(10**15))
        self.end_headers()
        self.close_connection = True

    def infer_endless_headers(self, _):
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.wfile.write(b"X-More: " + b"h" * 1000 + b"\r\n")
        except OSError:
            self.close_connection = True

    def infer_half(self, _):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"{")
        self.close_connection = True

    def infer_closes(self, _):
        self.close_connection = True

    def infer_resets(self, _):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def infer_no_http(self, _):
        self.wfile.write(b"\x00\x01garbage\r\n\r\n")
        self.close_connection = True

    def infer_stalls(self, _):
        self.server.ended.wait()
        self.close_connection = True


class BadServer(http.server.ThreadingHTTPServer):
    """With `binary` it says that it takes binary tensors, with `certificate` (file, key) it speaks TLS."""

    daemon_threads = True

    def __init__(self, binary=False, certificate=None, host="127.0.0.1"):
        super().__init__((host, 0), Handler)
        self.binary, self.lock, self.ended = binary, threading.Lock(), threading.Event()
        self.connections, self.requests, self.loads, self.tokens = 0, 0, 0, set()
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_):
        pass  # clients that go away are what is tested

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.shutdown()
        self.server_close()
