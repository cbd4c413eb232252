"""An OpenAI-compatible server on loopback with embeddings by words, which knows no chat model.

with embedding_server() as (url, asked):
    asked    # the paths that were asked for, "/v1/embeddings"
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loopback import QuietHandler, serving

DIMENSIONS = 64


@contextmanager
def embedding_server() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Embedding(QuietHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            raw = json.dumps(_embeddings(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    with serving(Embedding) as url:
        yield f"{url}/v1", asked


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = []
    for at, text in enumerate(texts):
        vector: Any = _embedding(text)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        rows.append({"object": "embedding", "index": at, "embedding": vector})
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": rows, "model": "tiny", "usage": usage}


def _embedding(text: str) -> list[float]:
    """It counts the words in places that their hashes choose."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / length for value in vector]
