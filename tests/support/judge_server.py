"""An OpenAI-compatible server on loopback that answers by rule and misbehaves on demand.

    with JudgeServer(lambda call: "True") as server:
        server.url, server.prompts()

A rule gets each call and returns the model's text, or a `Reply` with status, headers, raw
body, delay, a body that comes drop by drop, or a connection that is cut. `model_faults.FAULTS`
names what a provider can do wrong.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from loopback import QuietHandler


@dataclass(frozen=True)
class Call:
    """A request: its place among all (from 0), its prompt, and how often that prompt came."""

    place: int
    prompt: str
    times: int
    body: dict[str, Any]

    @property
    def measure(self) -> str:
        marks = {
            "reflective, that is": "reflective",
            "a grounding act": "grounding",
            "how much empathy": "empathy",
            "name the sentiment": "sentiment",
            "name the one emotion": "emotion",
            "how intimate": "intimacy",
        }
        head = self.prompt[:200]
        return next(name for mark, name in marks.items() if mark in head)

    @property
    def turn(self) -> str:
        return self.prompt.split("<turn>\n")[1].split("\n</turn>")[0]


@dataclass(frozen=True)
class Reply:
    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay: float = 0.0
    content_type: str = "application/json"
    drip: float = 0.0  # seconds between two bytes of the body
    endless: bool = False  # the body's last byte comes again and again
    reset: bool = False  # the connection is cut before anything is sent


Rule = Callable[[Call], str | Reply]


class JudgeServer:
    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.answer(self, body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        with self._lock:
            times = sum(call.prompt == prompt for call in self.calls)
            call = Call(len(self.calls), prompt, times, body)
            self.calls.append(call)
        said = self.rule(call)
        reply = said if isinstance(said, Reply) else Reply(said)
        self._closing.wait(reply.delay)
        if reply.reset:
            # With nothing to linger for, closing sends a reset instead of an end.
            handler.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            handler.close_connection = True
            return
        raw = reply.raw
        if raw is None:
            raw = json.dumps(completion(reply.text) if reply.status == 200 else {}).encode()
        try:
            handler.send_response(reply.status)
            handler.send_header("Content-Type", reply.content_type)
            if not reply.endless:
                handler.send_header("Content-Length", str(len(raw)))
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            self._write(handler, raw, reply.drip)
            while reply.endless and not self._closing.is_set():
                handler.wfile.write(raw[-1:] * 65536)
        except OSError:
            pass  # the client gave up waiting, which is what some tests want

    def _write(self, handler: BaseHTTPRequestHandler, raw: bytes, drip: float) -> None:
        if not drip:
            handler.wfile.write(raw)
            return
        for byte in raw:
            if self._closing.wait(drip):
                return
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()

    def prompts(self) -> list[str]:
        return [call.prompt for call in self.calls]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def completion(text: str, **message: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": "stop",
    }
    return {
        "id": "1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "tiny",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
