"""A reading of somebody's chats → the page of them, written; and the same figures without it.

made = make_portrait(reading, PortraitOptions(quick=True))
made.sentences[0]                        → Sentence("messages", "12,034", "messages, …")
write_portrait(made, Path("report.html"))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import write_text
from realtalk.formats.reading import Reading
from realtalk.formats.tables import Tables, to_corpus
from realtalk.portrait.aggregates import COUNTED, MARKED, Aggregates
from realtalk.portrait.glance import Sentence, glance
from realtalk.portrait.page import PageOptions, render
from realtalk.registry import suggest
from realtalk.report.build import check_page


@dataclass(frozen=True)
class PortraitOptions:
    """What goes into a portrait.

    `labels` says whether feelings are estimated, `quick` that an even sample of turns is enough,
    `words` whether words and emoji are shown, `anonymous` that people are called by letters.
    `chat` names one chat of several.
    """

    labels: bool = True
    quick: bool = False
    words: bool = True
    anonymous: bool = False
    chat: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Portrait:
    """Everything of the page before it is written."""

    aggregates: Aggregates
    options: PageOptions
    sentences: tuple[Sentence, ...]

    def to_json(self) -> dict[str, Any]:
        """The glance, and the figures of every person."""
        return {
            "glance": [
                {"id": each.id, "figure": each.figure, "text": each.text} for each in self.sentences
            ],
            "people": people_frame(self.aggregates).to_dicts(),
            "cautions": [line for line in (self.options.sampled, *self.options.cautions) if line],
        }


def make_portrait(
    reading: Reading,
    options: PortraitOptions | None = None,
    *,
    cache: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Portrait:
    """Counts everything, and labels the turns unless `options` leave that out."""
    options = options or PortraitOptions()
    tables = reading.tables if options.chat is None else _one_chat(reading.tables, options.chat)
    if not tables.messages.height:
        raise RealtalkError("holds no message, so there is nothing to show", where=tables.name)
    page = PageOptions(options.title, options.anonymous)
    labels = None
    if options.labels:
        from realtalk.portrait.labelling import PortraitLabels

        corpus = reading.corpus if options.chat is None else to_corpus(tables)
        made = PortraitLabels.make(
            corpus, quick=options.quick, cache=cache, say=say, progress=progress
        )
        labels = made.frame
        page = replace(
            page,
            cautions=_cautions(made.cautions, options),
            sampled=made.sampled,
            claims=made.claims,
        )
    progress(0, 0, "counting")
    aggregates = Aggregates.build(tables, labels, words=options.words)
    return Portrait(aggregates, page, tuple(glance(aggregates, claims=page.claims)))


def write_portrait(portrait: Portrait, path: Path) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    check_page(path)
    return write_text(path, render(portrait.aggregates, portrait.options))


def people_frame(aggregates: Aggregates) -> pl.DataFrame:
    """One row per person: what the page's table of people shows, for a whole chat."""
    frame = aggregates.lines.frame
    called = aggregates.lines.calls.group_by("speaker").agg(
        pl.col("count").cast(pl.Int64).sum().alias("called")
    )
    size = 60 if aggregates.lines.unit == "minute" else 1
    return (
        frame.group_by("speaker")
        .agg(
            pl.len().alias("messages"),
            *(pl.col(name).cast(pl.Int64).sum() for name in (*COUNTED, *MARKED)),
            pl.col("reply").count().alias("replies"),
            (pl.col("reply") // size * size).median().alias("reply_seconds"),
            (pl.col("hour") < 5).sum().alias("night"),
            pl.col("hour").is_between(5, 9).sum().alias("morning"),
        )
        .join(called, on="speaker", how="left")
        .with_columns(pl.col("calls") + pl.col("called").fill_null(0))
        .drop("called")
        .sort("messages", "speaker", descending=[True, False])
    )


def _one_chat(tables: Tables, name: str) -> Tables:
    if name not in {chat.id for chat in tables.chats}:
        raise suggest("chat", name, [chat.id for chat in tables.chats])
    chosen = pl.col("chat") == name
    return replace(
        tables,
        chats=tuple(chat for chat in tables.chats if chat.id == name),
        messages=tables.messages.filter(chosen),
        events=tables.events.filter(chosen),
        questions=tables.questions.filter(chosen),
    )


def _cautions(lines: tuple[str, ...], options: PortraitOptions) -> tuple[str, ...]:
    """Lines begin with the chat's id, which may be made of names."""
    if not options.anonymous:
        return lines
    return tuple(dict.fromkeys(line.partition(": ")[2] for line in lines))
