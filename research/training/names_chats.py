"""Our own chats with marked names, from three folders → messages for the name tagger.

    next(chats()) → {"t": "quedo con rubén", "s": [[10, 15, 0]], "u": [], "l": "es", "o": [],
                     "src": "chats", "dev": False, "chat": 0}

Of `chats/` (chats.py) and `names/chats/LANG-NN.txt` (`SPEAKER|text`) marks stand in the text, as
`[[PER:rubén]]`. Of the longer chats in `fiction/` they stand beside it, in names/fiction.tsv: after
a line `# CHAT LANG` the names that are said in that chat, `KIND<tab>name`, with the numbers of the
messages where only those are meant; `NOT` begins longer words that only contain a name. Every
fourth chat is held out. The 639 of `chats/` come first, so that their numbers stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from research.training.chats import MARK, every_chat

HERE = Path(__file__).parent
MARKED = HERE / "names" / "chats"
FICTION = HERE / "fiction"
LISTED = HERE / "names" / "fiction.tsv"
HELD = 4
OWN = ("chats", "named", "fiction")  # sources of what this module reads
OF_LABEL = {
    "PER": 0, "LOC": 1, "ORG": 2, "ADDRESS": 3, "DOB": 4, "ID": 5, "FAC": 1, "PATIENT_ID": 5,
}  # fmt: skip
SAID = re.compile(r"(\d+) ([^:]+): (.+)")
# Scripts in which a name has other letters at its sides.
JOINED = re.compile("[\u0590-\u06ff\u0900-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LETTER = r"[^\W\d_]"
Row = dict[str, Any]


class Said(NamedTuple):
    speaker: str
    text: str
    spans: list[list[int]]
    unsure: list[tuple[int, int]]  # what rules find before the tagger reads


class MarkedChat(NamedTuple):
    lang: str
    held: bool  # for choosing, not for learning
    source: str
    messages: list[Said]


class Name(NamedTuple):
    kind: str
    name: str
    numbers: frozenset[int]  # of the messages where it is one; none: all

    @property
    def pattern(self) -> str:
        own = re.escape(self.name)
        return own if JOINED.search(own) else f"(?<!{LETTER}){own}(?!{LETTER})"


def marked_chats() -> Iterator[MarkedChat]:
    """All of them: those of `chats/` first, then of `names/chats/`, then of `fiction/`."""
    for chat in every_chat():
        said = [Said(bubble.speaker, *marked(bubble.text)) for bubble in chat.bubbles]
        yield MarkedChat(chat.lang, chat.held, "chats", said)
    for number, path in enumerate(sorted(MARKED.glob("*.txt")), 1):
        rows = [line.split("|", 1) for line in path.read_text("utf-8").splitlines() if line]
        said = [Said(speaker, *marked(text)) for speaker, text in rows]
        yield MarkedChat(path.stem.rpartition("-")[0], number % HELD == 0, "named", said)
    for number, (chat, lang, names) in enumerate(listed(), 1):
        lines = (FICTION / f"{chat}.txt").read_text("utf-8").splitlines()
        rows = [match.groups() for match in map(SAID.match, lines) if match]
        said = [Said(speaker, text, found(text, int(at), names), []) for at, speaker, text in rows]
        yield MarkedChat(lang, number % HELD == 0, "fiction", said)


def listed() -> Iterator[tuple[str, str, list[Name]]]:
    """Chat, language and names of each part of names/fiction.tsv."""
    for part in LISTED.read_text("utf-8").split("# ")[1:]:
        first, *lines = part.splitlines()
        chat, lang = first.split()
        names = []
        for line in filter(None, lines):
            kind, name, *numbers = line.split("\t")
            names.append(
                Name(kind, name, frozenset(int(n) for n in ",".join(numbers).split(",") if n))
            )
        yield chat, lang, sorted(names, key=lambda each: -len(each.name))


def found(text: str, number: int, names: list[Name]) -> list[list[int]]:
    """Where the names of a chat are in one of its messages; longer ones go first."""
    taken: list[tuple[int, int, str]] = []
    for each in names:
        if each.numbers and number not in each.numbers:
            continue
        for match in re.finditer(each.pattern, text):
            start, end = match.span()
            if all(end <= first or last <= start for first, last, _ in taken):
                taken.append((start, end, each.kind))
    return [[start, end, OF_LABEL[kind]] for start, end, kind in sorted(taken) if kind != "NOT"]


def chats() -> Iterator[Row]:
    """The messages of all chats, as rows to learn from and to choose by."""
    for number, chat in enumerate(marked_chats()):
        for said in chat.messages:
            yield {
                **{"t": said.text, "s": said.spans, "u": said.unsure, "l": chat.lang, "o": []},
                **{"src": chat.source, "dev": chat.held, "chat": number},
            }


def marked(text: str) -> tuple[str, list[list[int]], list[tuple[int, int]]]:
    """A text without its marks, where names are, and what rules find before the tagger reads."""
    said, spans, unsure, at = "", [], [], 0
    for mark in MARK.finditer(text):
        said += text[at : mark.start()]
        start, at = len(said), mark.end()
        said += mark[2]
        if mark[1] in OF_LABEL:
            spans.append([start, len(said), OF_LABEL[mark[1]]])
        else:
            unsure.append((start, len(said)))
    return said + text[at:], spans, unsure
