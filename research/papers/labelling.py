"""Chats → EI labels of messages and of joined turns, chat by chat, kept as they come.

    labels = label_corpus("realtalk", corpus, folder, EmbeddedLabeller())
    labels["messages"], labels["turns"]      → tables as of `realtalk ei`
    folder/realtalk-messages/labels.parquet  the same, for `realtalk runs compare`, `report` …

A chat's messages and turns are labelled together: what is said and what it answers is often the
same in both, and is then read once. A run that was stopped goes on with the next chat, and its
labels are equal to the byte, since a label does not depend on what else is labelled with it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

from realtalk.chat import Chat, Corpus
from realtalk.ei.labels import Labeller, TurnInput, label_frame, turn_inputs
from realtalk.ei.results import read_labels
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import file_stem, write_parquet

UNITS = {"messages": False, "turns": True}  # name: joined
_PARTS = "parts"
_WHOLE = "labels.parquet"


def label_corpus(
    name: str,
    corpus: Corpus,
    folder: Path,
    labeller: Labeller,
    progress: Progress = silent,
) -> dict[str, pl.DataFrame]:
    """Labels by unit; those that the folder holds are not made again."""
    places = {unit: folder / f"{name}-{unit}" for unit in UNITS}
    if all((place / _WHOLE).is_file() for place in places.values()):
        return {unit: read_labels(place) for unit, place in places.items()}
    for done, chat in enumerate(corpus.chats):
        parts = {unit: _part(place, chat) for unit, place in places.items()}
        progress(done, len(corpus.chats), f"labelling {chat.id}")
        if not all(part.is_file() for part in parts.values()):
            for unit, frame in _label(chat, corpus, labeller).items():
                write_parquet(parts[unit], frame)
    progress(len(corpus.chats), len(corpus.chats), f"{name} is labelled")
    frames = {}
    for unit, place in places.items():
        frames[unit] = pl.concat([read_labels(_part(place, chat)) for chat in corpus.chats])
        write_parquet(place / _WHOLE, frames[unit])
    for place in places.values():
        shutil.rmtree(place / _PARTS, ignore_errors=True)
    return frames


def _part(place: Path, chat: Chat) -> Path:
    return place / _PARTS / f"{file_stem(chat.id)}.parquet"


def _label(chat: Chat, corpus: Corpus, labeller: Labeller) -> dict[str, pl.DataFrame]:
    alone = Corpus(corpus.name, corpus.format, (chat,))
    inputs = {unit: turn_inputs(alone, joined) for unit, joined in UNITS.items()}
    once: dict[tuple[str, str], TurnInput] = {}
    for given in (each for side in inputs.values() for each in side):
        once.setdefault((given.previous, given.text), given)
    labels = dict(zip(once, labeller.label(list(once.values())), strict=True))
    return {
        unit: label_frame(side, [labels[given.previous, given.text] for given in side], labeller)
        for unit, side in inputs.items()
    }
