"""A language model that is none: a server of OpenAI's protocol whose first token and whose time per token are known.

    python tests/serving/known_times_server.py --port 8123 --ttft 0.05 --gap 0.01

No token is sent before its time: `ttft` seconds after the request's first line was read, then `gap` seconds after the one before it was due.
The name of the model says how it sends: `steady` a token an event; `pairs` two tokens an event; `uncounted` without usage figures;
`tools` as a call of a function."""

import argparse
import http.server
import json
import threading
import time

MODELS = ("steady", "pairs", "uncounted", "tools")


def wait_until(moment):
    while (left := moment - time.monotonic()) > 0:
        time.sleep(left)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        models = [{"id": name, "object": "model", "owned_by": "known-times"} for name in MODELS]
        self.whole({"object": "list", "data": models} if self.path == "/v1/models" else {"error": {"message": "nothing is here"}},
                   200 if self.path == "/v1/models" else 404)

    def parse_request(self):
        self.begin = time.monotonic()
        return super().parse_request()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.chat = self.path.endswith("/chat/completions")
        prompt = request["messages"][0]["content"] if self.chat else request["prompt"]
        with self.server.lock:
            self.server.requests.append(request)
        tokens = request["max_tokens"]
        self.usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": tokens}
        due = [self.begin + self.server.ttft + self.server.gap * i for i in range(tokens)]
        if request["stream"]:
            self.stream(request, due)
        else:
            wait_until(due[-1])
            text = "".join(f" t{i}" for i in range(tokens))
            choice = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
            self.whole({"choices": [{"index": 0, "finish_reason": "length"} | choice], "usage": self.usage})

    def whole(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, **values):
        """Some clients read no event that does not say what it is."""
        self.event(json.dumps({"object": "chat.completion.chunk" if self.chat else "text_completion", **values}))

    def event(self, text):
        data = b"data: " + text.encode() + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def piece(self, model, text, finish_reason=None):
        if not self.chat:
            choice = {"text": text}
        elif model == "tools" and text:
            choice = {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}
        else:
            choice = {"delta": {"content": text} if text else {}}
        self.chunk(choices=[{"index": 0, "finish_reason": finish_reason} | choice])

    def stream(self, request, due):
        model, step = request["model"], 2 if request["model"] == "pairs" else 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.chat:  # no token: the client must not take it for one
            self.chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}}])
        for first in range(0, len(due), step):
            several = range(first, min(first + step, len(due)))
            wait_until(due[several[-1]])
            self.piece(model, "".join(f" t{i}" for i in several))
        self.piece(model, "", "length")
        if model != "uncounted" and request.get("stream_options", {}).get("include_usage"):
            self.chunk(choices=[], usage=self.usage)
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


class KnownTimesServer(http.server.ThreadingHTTPServer):
    """`ttft` and `gap` in seconds; `requests` has the bodies that came."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, ttft, gap, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.ttft, self.gap, self.lock, self.requests = ttft, gap, threading.Lock(), []

    def handle_error(self, *_):
        pass  # clients that go away

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def prompts(self):
        with self.lock:
            return [request["messages"][0]["content"] if "messages" in request else request["prompt"] for request in self.requests]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--port", type=int, default=8123)
    flags.add_argument("--ttft", type=float, default=0.05)
    flags.add_argument("--gap", type=float, default=0.01)
    asked = flags.parse_args()
    with KnownTimesServer(asked.ttft, asked.gap, asked.port) as server:
        print(server.url, flush=True)
        threading.Event().wait()
