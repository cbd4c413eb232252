"""A corpus → what a run's settings say of it.

    corpus_record(corpus)    → {"name": "sample", "format": "realtalk", "sha256": "9f86d081…"}

Runs are told apart by what a corpus holds, not by where it lies.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields

import orjson

from realtalk.chat import Corpus


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
