"""Turns in many languages with rubric labels: of public sets, and of chats of our own.

    in_sets(data, TEST)      languages/labels.jsonl: turns of dev and test files, by file and line
    in_chats(TEST_CHATS)     languages/chats/LANG-N.txt (`NAME|text`) and chats.jsonl
    in_marked(held=True)     chats/LANG-x.txt: every fourth chat of a file, or the others
    learned(data)            what the encoder learns from: train.jsonl, train_chats, marked chats
    examples(data)           the same as rows of its training, and held-out chats as dev rows

Bubbles of one person in a row are one turn of our chats; the unit of a public set is its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from research.training import ei_heads as english
from research.training.chats import Bubble, every_chat, unmarked
from research.training.languages_sources import Spoken, lines

HERE = Path(__file__).parent / "languages"
TEST, TRAIN = HERE / "labels.jsonl", HERE / "train.jsonl"
TEST_CHATS, TRAIN_CHATS = HERE / "chats", HERE / "train_chats"
SET = "rubric"
HEADS = ("reflective", "grounding", "sentiment", "emotion", "intimacy")
PARTS = ("emotional_reaction", "interpretation", "exploration")
NUMBERS = ("reflective", "grounding", *PARTS, "intimacy")
SENTIMENTS = {"neg": "negative", "neu": "neutral", "pos": "positive"}
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Labelled:
    """Turns with rubric labels, in the order of the file."""

    pairs: list[tuple[str, str]]  # what was said before, and the turn
    langs: Array
    in_context: Array
    answers: list[dict[str, Any]]

    def truth(self, head: str) -> Array:
        values = [answer[head] for answer in self.answers]
        if head == "intimacy":
            return (np.array(values, float) - 1) / 4
        names = {"sentiment": english.SENTIMENTS, "emotion": english.EMOTIONS}.get(head)
        return np.array([names.index(each) if names else int(each) for each in values])

    def only(self, rows: Array) -> Labelled:
        at = np.flatnonzero(rows)
        return Labelled(
            [self.pairs[each] for each in at],
            self.langs[at],
            self.in_context[at],
            [self.answers[each] for each in at],
        )


def joined(first: Labelled, second: Labelled) -> Labelled:
    return Labelled(
        first.pairs + second.pairs,
        np.concatenate([first.langs, second.langs]),
        np.concatenate([first.in_context, second.in_context]),
        first.answers + second.answers,
    )


def in_sets(data: Path, labels: Path) -> Labelled:
    wanted = [json.loads(line) for line in labels.open("r", encoding="utf-8")]
    texts: dict[str, list[str]] = {}
    pairs = []
    for each in wanted:
        if (name := each["file"]) not in texts:
            texts[name] = [row["text"] for row in lines(data, name.removesuffix(".jsonl.gz"))]
        before = each["before_line"]
        pairs.append(("" if before is None else texts[name][before], texts[name][each["line"]]))
    return Labelled(
        pairs,
        np.array([each["lang"] for each in wanted]),
        np.array([each["before_line"] is not None for each in wanted]),
        [each["labels"] for each in wanted],
    )


def turns(path: Path) -> Iterator[str]:
    said = (line.split("|", 1) for line in path.read_text("utf-8").splitlines() if "|" in line)
    for _, bubbles in groupby(said, key=lambda each: each[0]):
        yield "\n".join(text for _, text in bubbles)


def in_chats(folder: Path) -> Labelled:
    wanted = [json.loads(line) for line in folder.with_suffix(".jsonl").open("r", encoding="utf-8")]
    texts = {name: list(turns(folder / f"{name}.txt")) for name in {row["chat"] for row in wanted}}
    pairs = []
    for each in wanted:
        chat, at = texts[each["chat"]], each["turn"]
        pairs.append((chat[at - 1] if at else "", chat[at]))
    return Labelled(
        pairs,
        np.array([each["chat"].rsplit("-", 1)[0] for each in wanted]),
        np.array([each["turn"] > 0 for each in wanted]),
        [each["labels"] for each in wanted],
    )


def in_marked(held: bool) -> Labelled:
    """Turns of chats in which names are marked, too."""
    pairs, langs, answers = [], [], []
    for chat in every_chat():
        if chat.held != held:
            continue
        before = ""
        for labels, text in turns_of(chat.bubbles):
            pairs.append((before, text))
            langs.append(chat.lang)
            answers.append(labels)
            before = text
    in_context = np.array([bool(before) for before, _ in pairs])
    return Labelled(pairs, np.array(langs), in_context, answers)


def turns_of(chat: list[Bubble]) -> Iterator[tuple[dict[str, Any], str]]:
    """Labels and text of every turn, marks of names taken off."""
    said: list[list[Bubble]] = []
    for bubble in chat:
        if bubble.labels.strip() == "+" and said and said[-1][0].speaker == bubble.speaker:
            said[-1].append(bubble)
        else:
            said.append([bubble])
    for turn in said:
        labels = turn[0].labels.split()
        numbers = dict(zip(NUMBERS, map(int, [*labels[:5], labels[7]]), strict=True))
        words = {"sentiment": SENTIMENTS[labels[5]], "emotion": labels[6]}
        yield numbers | words, "\n".join(unmarked(each.text) for each in turn)


def learned(data: Path) -> Labelled:
    return joined(joined(in_sets(data, TRAIN), in_chats(TRAIN_CHATS)), in_marked(held=False))


def examples(data: Path) -> Iterator[Spoken]:
    """Labelled turns as the encoder's training reads them."""
    for split, some in (("train", learned(data)), ("dev", in_marked(held=True))):
        truth = {head: some.truth(head) for head in (*HEADS, *PARTS)}
        for at, (before, text) in enumerate(some.pairs):
            labels = {head: values[at].item() for head, values in truth.items()}
            labels |= {head: [float(labels[head])] for head in ("reflective", "grounding")}
            lang = str(some.langs[at])
            yield Spoken(text, before, SET, split, labels=labels, lang=lang)
