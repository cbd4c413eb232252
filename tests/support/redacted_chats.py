"""Small chats to redact, and what redaction makes of their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.encoders.tag_spans import TaggedSpan
from realtalk.redaction.candidates import Mention
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


class Listed:
    """A source that knows some words, wherever they stand or only `once`."""

    def __init__(self, *known: tuple[str, str, float], once: bool = False) -> None:
        self._known, self._once = known, once

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for form, kind, score in self._known:
            for number, text in enumerate(texts):
                words = text.replace(".", " ").replace(",", " ").split()
                if form in words or (" " in form and form in text):
                    start = text.index(form)
                    yield Mention(number, start, start + len(form), kind, score, "listed")
                    if self._once:
                        break


class WordTagger:
    """Finds some words, everywhere or in texts that hold another, and says what lists say of them.

    WordTagger(("rose", "person", 0.9), only="garden", listed=True, common=8)
    """

    def __init__(
        self,
        *known: tuple[str, str, float],
        only: str = "",
        listed: bool = False,
        common: int = 0,
    ) -> None:
        self._known, self._only, self._lists = known, only, (listed, common)

    def tag(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        return [
            [
                TaggedSpan(at, at + len(form), kind, score, *self._lists)
                for form, kind, score in self._known
                if (at := text.find(form)) >= 0 and self._only in text
            ]
            for text in texts
        ]
