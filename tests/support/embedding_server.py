"""An OpenAI-compatible server on loopback with embeddings by words and chat by rule.

with EmbeddingServer(lambda prompt: "{}") as server:
    server.url, server.texts, server.chats
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from judge_server import completion


class EmbeddingServer:
    """A text's embedding counts its words in places that their hashes choose."""

    dimensions = 64

    def __init__(self, rule: Callable[[str], str] = lambda _: "{}") -> None:
        self.rule = rule
        self.texts: list[str] = []
        self.chats: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                made = outer.embeddings(body) if "input" in body else outer.chat(body)
                raw = json.dumps(made).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        given = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.texts += given
        rows = []
        for at, text in enumerate(given):
            vector: Any = self.embedding(text)
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            rows.append({"object": "embedding", "index": at, "embedding": vector})
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": rows, "model": "tiny", "usage": usage}

    def embedding(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % self.dimensions] += 1.0
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / length for value in vector]

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        self.chats.append(prompt)
        return completion(self.rule(prompt))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
