"""What the English EI encoder may learn from open text alone (terms.toml says what is open).

    examples(data)    → [Example("thank you so much", …, "goemotions"), …]; a narrower set stops it

GoEmotions, OffMyChest and question intimacy with labels of their own; with rubric labels Persuasion
For Good (silver_more.jsonl), our invented chats (silver_open.jsonl, and chats/ without every fourth)
and XPersona, whose labelled turns in other languages have an English twin. To copy teachers on:
Persuasion, XPersona and the rest of our invented chats. No tweet and no post of EPITOME is open, so
the heads `tweet_*` and `epitome_*` learn nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np

from research.training.chats import every_chat
from research.training.ei_data import HERE, Example, by_rubric, joined, public, silver, unlabelled
from research.training.languages_labels import TRAIN, turns_of
from research.training.languages_sources import lines
from research.training.memory_data import read_chat
from research.training.questions_chats import closed_up, personas
from research.training.terms import is_open, refuse_narrow


def examples(data: Path) -> list[Example]:
    """All of it; who adds a source that is not open is stopped here."""
    found = [
        *(each for each in (*public(data), *unlabelled(data, 0)) if is_open(each.set)),
        *silver(data, ("silver_open.jsonl", "silver_more.jsonl"), is_open),
        *(*own_chats(), *twins(data)),
        *(*invented(), *persona_talk(data)),
    ]
    refuse_narrow(source(each) for each in found)
    return found


def source(example: Example) -> str:
    """What the terms file is asked about: of rubric labels, the set that the turn is of."""
    return example.group.partition("|")[0] or example.set


def own_chats() -> Iterator[Example]:
    """Our chats with rubric labels, those in English; every fourth is for tests."""
    rng = np.random.default_rng(1)
    for number, chat in enumerate(every_chat()):
        if chat.lang == "en" and not chat.held:
            before, made = "", []
            for row, text in turns_of(chat.bubbles):
                made.append(
                    Example(
                        text, before, "silver_chats", group=f"chats|{number}", labels=by_rubric(row)
                    )
                )
                before = text
            yield from (*made, *joined(made, rng))


def twins(data: Path) -> Iterator[Example]:
    """Labelled turns of XPersona, in the English that they were translated from."""
    name = "parallel.xpersona.train"
    rows = list(lines(data, name))
    said = [closed_up(row["en"]) for row in rows]
    for row in map(json.loads, TRAIN.read_text("utf-8").splitlines()):
        if row["file"].startswith(name):
            text, place = said[row["line"]], row["before_line"]
            before = "" if place is None else said[place]
            group = f"xpersona|{rows[row['line']]['dlg']}"
            yield Example(
                text, before, "silver_twins", group=group, labels=by_rubric(row["labels"])
            )


def invented() -> Iterator[Example]:
    """Our invented chats of people, without labels: all turns of all sessions."""
    for path in sorted((HERE / "fiction").glob("[FH]*.txt")):
        session, before = 0, ""
        turns = groupby(read_chat(path)["messages"], lambda m: (m["session"], m["speaker"]))
        for (now, _), messages in turns:
            text = "\n".join(m["text"] for m in messages)
            yield Example(text, before if now == session else "", "fiction", "unlabelled")
            session, before = now, text


def persona_talk(data: Path) -> Iterator[Example]:
    for dialogue in personas(data / "multilingual"):
        before = ""
        for _, text in dialogue:
            yield Example(text, before, "xpersona", "unlabelled")
            before = text
