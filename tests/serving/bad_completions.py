"""A server of OpenAI's protocol that does one thing wrong for each model that it has: the model's name says what. `good` and what
begins so does nothing wrong."""

import http.server
import json
import threading

ESCAPE = "\x1b[31mred\n"


def piece(text, finish_reason=None):
    return json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}]}, ensure_ascii=False)


def events(*texts, end="\n\n"):
    return b"".join(f"data: {text}{end}".encode() for text in texts)


LETTER = "é".encode()
WHOLE = [piece("a"), piece("b"), piece("", "stop"), "[DONE]"]
STREAMS = {
    "good": [events(*WHOLE)],
    "good_crlf": [events(*WHOLE, end="\r\n\r\n")],
    "good_cr": [events(*WHOLE, end="\r\r")],
    "good_comments": [b": ping\n\n" + events(WHOLE[0]) + b": ping\n\nretry: 3\nid: 1\nevent: message\n" + events(*WHOLE[1:])],
    "good_byte_by_byte": [bytes([byte]) for byte in events(*WHOLE)],
    "good_without_done": [events(*WHOLE[:-1])],
    "good_without_finish": [events(*WHOLE[:2], "[DONE]")],
    "good_without_blank_line": [events(*WHOLE)[:-2]],
    "good_usage_in_each": [events(json.dumps(json.loads(WHOLE[0]) | {"usage": None}), *WHOLE[1:])],
    "good_cut_letters": [events(piece("?")).replace(b"?", LETTER[:1]) + events(piece("?")).replace(b"?", LETTER[1:])
                         + events(*WHOLE[2:])],
    "good_no_content": [events(piece("", "stop"), "[DONE]")],
    "error_in_the_middle": [events(WHOLE[0], json.dumps({"error": {"message": "out of blocks " + ESCAPE, "type": "x"}}))],
    "vllm_error": [events(WHOLE[0], json.dumps({"object": "error", "message": "engine died", "code": 500}))],
    "ends_in_the_middle": [events(*WHOLE[:2])],
    "ends_in_an_event": [events(WHOLE[0]) + b'data: {"choices": [{"del'],
    "empty_stream": [b""],
    "only_comments": [b": nothing\n\n" * 3],
    "no_stream": [b"<html>" + ESCAPE.encode() + b"</html>"],
    "no_json": [events(WHOLE[0], "{" + ESCAPE.strip())],
    "deep": [events("[" * 100_000 + "]" * 100_000)],
    "choices_no_list": [events('{"choices": {"0": 1}}')],
    "content_no_text": [events('{"choices": [{"delta": {"content": 7}}]}')],
    "usage_no_number": [events(WHOLE[0], '{"choices": [], "usage": {"completion_tokens": -3}}')],
    "usage_too_large": [events(WHOLE[0], '{"choices": [], "usage": {"completion_tokens": 1e30}}')],
    "long_event": [b"data: " + b"x" * (2 << 20) + b"\n\n"],
}
ANSWERS = {
    "good": {"choices": [{"message": {"content": "ab"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 2}},
    "no_choices": {"choices": []},
    "error_with_200": {"error": {"message": "not today " + ESCAPE}},
}
STATUS = {"status400": (400, {"error": {"message": "max_tokens is too large " + ESCAPE + "y" * 5000}}),
          "status401": (401, {"error": {"message": "no key", "type": "invalid_request_error"}}),
          "status503": (503, {"detail": "loading"}), "status500": (500, {"error": "broken"})}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    has_streamed = False  # on this connection

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.server.models is None:
            self.whole({"error": "nothing is here"}, 404)
        else:
            self.whole({"data": [{"id": name, "owned_by": "bad"} for name in self.server.models]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests += 1
            number = self.server.requests
            self.server.tokens.add(self.headers.get("Authorization"))
        name = request["model"]
        if name == "closes" and self.has_streamed:  # a connection that it said it keeps
            self.close_connection = True
            return
        if name == "every_tenth_fails":
            name = "status503" if number % 10 == 0 else "good"
        if name in STATUS:
            self.whole(STATUS[name][1], STATUS[name][0])
        elif name == "endless":
            self.endless(events(WHOLE[0]) * 1000)
        elif name == "endless_comments":
            self.endless(b": ping\n\n" * 1000)
        elif name == "stalls":
            self.begin_stream()
            self.chunk(events(WHOLE[0]))
            self.server.ended.wait()
            self.close_connection = True
        elif name == "half":
            self.begin_stream()
            self.chunk(events(WHOLE[0]))
            self.close_connection = True
        elif request["stream"]:
            self.begin_stream()
            for part in STREAMS["good" if name == "closes" else name]:
                self.chunk(part)
            self.wfile.write(b"0\r\n\r\n")
            self.has_streamed = True
        else:
            self.whole(ANSWERS[name])

    def whole(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, part):
        if part:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def endless(self, part):
        self.begin_stream()
        try:
            while True:
                self.chunk(part)
        except OSError:
            self.close_connection = True


class BadCompletions(http.server.ThreadingHTTPServer):
    """`models`: those that it lists; None: it has no list."""

    daemon_threads = True

    def __init__(self, models=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.models, self.lock, self.ended = models, threading.Lock(), threading.Event()
        self.requests, self.tokens = 0, set()

    def handle_error(self, *_):
        pass  # clients that go away are what is tested

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.shutdown()
        self.server_close()
