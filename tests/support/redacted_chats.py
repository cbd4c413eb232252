"""Small chats to redact, and what redaction makes of their texts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.redaction.redact import redact

NOON = datetime(2026, 3, 2, 12, 0)


def corpus_of(*texts: str, speakers: tuple[str, ...] = ("Mara Lund", "Theo")) -> Corpus:
    said = tuple(
        Message(f"D1:{at}", speakers[at % len(speakers)], NOON, text)
        for at, text in enumerate(texts, 1)
    )
    return Corpus("toy", "realtalk", (Chat("Chat_1", speakers, (Session(1, NOON, said),)),))


def texts_of(corpus: Corpus, **options: Any) -> list[str]:
    return [message.text for message in redact(corpus, **options)[0].chats[0].messages]
