"""A model on this machine's accelerator → a server in OpenAI's form, on loopback.

    with Served(load("qwen2.5-1.5b"), rows=16, length=12_288) as server:
        server.url                               → "http://127.0.0.1:40211/v1"

For systems that want an address of a model: mem0 in answers_mem0.py. Chat completions and
embeddings (of the shipped encoder), nothing else; requests that come at the same time are written
side by side (decoding.py). A JSON answer is asked for by the prompt alone: nothing forces it.
"""

from __future__ import annotations

import base64
import json
import queue
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from decoding import Request, Slots
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.persona.chat_tokens import Writer
from realtalk.persona.pretrained import Pretrained

MOST_NEW_TOKENS = 2000  # where the request names no number; mem0 asks for as many


class Served:
    """The server; `usage` counts what it read and wrote."""

    def __init__(self, base: Pretrained, *, rows: int, length: int) -> None:
        self._slots = Slots(base, rows, length)
        self._writer = Writer(base.tokenizer)
        self._encoder = SentenceEncoder()
        self._encoding = threading.Lock()
        self._waiting: queue.Queue[tuple[Request, threading.Event]] = queue.Queue()
        self._over = threading.Event()
        self.failure: BaseException | None = None
        self.usage = {"requests": 0, "tokens_in": 0, "tokens_out": 0, "cut": 0, "too_long": 0}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._threads = [
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True),
            threading.Thread(target=self._work, daemon=True),
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Served:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = self._writer.prompt(body["messages"])
        asked = body.get("max_completion_tokens") or body.get("max_tokens") or MOST_NEW_TOKENS
        room = self._slots.length - len(prompt)
        if room < 1:
            self.usage["too_long"] += 1
            raise ValueError("the prompt does not fit")
        request = Request(
            prompt,
            min(asked, room),
            self._writer.stops,
            float(body.get("temperature") or 0.0),
            float(body.get("top_p") or 1.0),
        )
        done = threading.Event()
        self._waiting.put((request, done))
        done.wait()
        if self.failure is not None:
            raise self.failure
        self.usage["requests"] += 1
        self.usage["tokens_in"] += len(prompt)
        self.usage["tokens_out"] += len(request.written)
        self.usage["cut"] += not request.ended
        text = self._writer.text(request.written)
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop" if request.ended else "length",
                }
            ],
            "usage": {
                "prompt_tokens": len(prompt),
                "completion_tokens": len(request.written),
                "total_tokens": len(prompt) + len(request.written),
            },
        }

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        with self._encoding:
            rows = [[float(value) for value in row] for row in self._encoder.embed(texts)]
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": at,
                "embedding": base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()
                if packed
                else row,
            }
            for at, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "data": data, "model": body.get("model", ""), "usage": usage}

    def _work(self) -> None:
        """The one thread that uses the model."""
        events: dict[Request, threading.Event] = {}
        try:
            while not self._over.is_set():
                while self._slots.free:
                    try:
                        request, done = self._waiting.get(timeout=0 if events else 0.05)
                    except queue.Empty:
                        break
                    events[request] = done
                    self._slots.begin(request)
                if events:
                    for request in self._slots.step():
                        events.pop(request).set()
        except BaseException as error:  # those who wait are told, or they would wait for ever
            self.failure = error
            for done in events.values():
                done.set()
            raise


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                made = served.embeddings(body) if "input" in body else served.chat(body)
                status = 200
            except ValueError as error:
                made, status = {"error": {"message": str(error), "type": "invalid_request"}}, 400
            raw = json.dumps(made).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None: ...

    return Handler
