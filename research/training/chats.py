"""Chats of our own to learn from: who says what, rubric labels per turn, names marked.

    next(every_chat()) → OwnChat("es", False, [Bubble("Nerea", "0 0 0 0 0 neu joy 1", "…"), …])
    unmarked("quedo con [[PER:rubén]]") → "quedo con rubén"

chats/LANG-x.txt holds several chats, each begun by `# chat N`; a line is `NAME|labels|text`, and
`+` in the place of labels says that a turn goes on. Labels are, in this order, reflective,
grounding, emotional reaction, interpretation, exploration, sentiment, emotion, intimacy
(RUBRIC.md). Marks are `[[PER:…]]` and the other kinds of bench/names. languages_labels.py reads
the labels, names_data.py the marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHATS = Path(__file__).parent / "chats"
HELD_CHATS = 4
MARK = re.compile(r"\[\[([A-Z]+):(.*?)\]\]")


class Bubble(NamedTuple):
    speaker: str
    labels: str
    text: str


class OwnChat(NamedTuple):
    lang: str
    held: bool  # every so many-th chat of a file is for choosing, not for learning
    bubbles: list[Bubble]


def every_chat(folder: Path = CHATS) -> Iterator[OwnChat]:
    for path in sorted(folder.glob("*.txt")):
        for number, chat in enumerate(read_chats(path), 1):
            yield OwnChat(path.stem.rsplit("-", 1)[0], number % HELD_CHATS == 0, chat)


def unmarked(text: str) -> str:
    return MARK.sub(r"\2", text)


def read_chats(path: Path) -> Iterator[list[Bubble]]:
    chat: list[Bubble] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            if chat:
                yield chat
            chat = []
        elif line.strip():
            chat.append(Bubble(*line.split("|", 2)))
    if chat:
        yield chat
