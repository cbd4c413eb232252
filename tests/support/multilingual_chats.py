"""Chats of our own writing in fifteen languages, and whether their encoder is here to label them.

corpus_of(CHATS)             → one chat per language, two speakers each
corpus_of({"es": LINES})     → a chat of given lines
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.ei.encoder_choice import MULTILINGUAL, is_shipped

needs_multilingual = pytest.mark.skipif(
    not is_shipped(MULTILINGUAL), reason="the multilingual encoder's weights are not in this tree"
)

CHATS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ENGLISH = CHATS.pop("en")


def corpus_of(chats: Mapping[str, Sequence[str]], times: int = 3) -> Corpus:
    """Each chat's lines so many times over, said by two people in turn, a session each time."""
    made = []
    for name, lines in chats.items():
        sessions = []
        for round_ in range(times):
            start = datetime(2026, 3, 1 + round_, 18, 30)
            messages = tuple(
                Message(
                    f"{name}:{round_}:{at}",
                    ("Ana", "Bo")[at % 2],
                    start + timedelta(minutes=at),
                    line,
                )
                for at, line in enumerate(lines)
            )
            sessions.append(Session(round_ + 1, start, messages))
        made.append(Chat(name, ("Ana", "Bo"), tuple(sessions)))
    return Corpus("many", "csv", tuple(made))
