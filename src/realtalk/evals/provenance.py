"""What a run's result depends on: what its corpus holds, and which versions computed it.

    corpus_record(corpus)    → {"name": "sample", "format": "realtalk", "sha256": "9f86d081…"}
    versions()               → {"realtalk": "0.2.0", "python": "3.12.4", "numpy": "2.1.0", …}

Runs are told apart by what a corpus holds, not by where it lies.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import orjson

from realtalk import __version__
from realtalk.chat import Corpus

_PACKAGES = """
    numpy polars scipy onnxruntime tokenizers bm25s rouge-score sacrebleu
    scikit-learn nltk inspect-ai openai xllamacpp
""".split()  # noqa: SIM905 - words read better than quotes


def versions() -> dict[str, str]:
    """What may change a result: this package, Python, and the libraries that are installed."""
    installed = {name: _find_version(name) for name in _PACKAGES}
    base = {"realtalk": __version__, "python": platform.python_version()}
    return base | {name: number for name, number in installed.items() if number is not None}


@cache
def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


class ContentHash:
    """What the rows depend on of a corpus, chat by chat: a corpus need not be in memory."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, corpus: Corpus) -> None:
        """The next chats."""
        for chat in corpus.chats:
            # Field by field: a chat also carries what was derived from it so far.
            self._digest.update(orjson.dumps([getattr(chat, field.name) for field in fields(chat)]))

    def __str__(self) -> str:
        return self._digest.hexdigest()[:16]


def content_hash(corpus: Corpus) -> str:
    """What the rows depend on of a corpus: its chats, events and questions."""
    digest = ContentHash()
    digest.add(corpus)
    return str(digest)


def corpus_record(corpus: Corpus) -> dict[str, str]:
    """A corpus among a run's settings."""
    return {"name": corpus.name, "format": corpus.format, "sha256": content_hash(corpus)}
