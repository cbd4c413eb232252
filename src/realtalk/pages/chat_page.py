"""A reading of somebody's chats → the page about them; and the same figures without it.

    portrait = make_portrait(reading, PortraitOptions(quick=True))
    portrait.sentences[0]          → Sentence("messages", "12,034", "messages, …")
    portrait.notes                 → ("1,600 of 12,034 turns were labelled, …", …)
    write_portrait(portrait, Path("report.html"))

The page holds daily aggregates as JSON and filters them in the browser; its scripts build elements
and never parse HTML. What it holds is said at its head. Labels come from the one place that makes
and keeps them (`ei.labelling`), so that the next page is made at once.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from realtalk import __version__
from realtalk.errors import RealtalkError, as_options
from realtalk.files.progress import Progress, silent
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.tables import Tables, to_corpus
from realtalk.pages.aggregates import COUNTED, MARKED, Aggregates
from realtalk.pages.frame import asset, document, write_page
from realtalk.pages.glance import Sentence, glance, wording
from realtalk.registry import suggest

QUICK = 1600  # turns: half a minute on a slow machine
_TRIED = 48  # turns whose time tells how long all will take
_WORTH_SAYING = 8.0  # seconds
_SCRIPTS = ("data.js", "charts.js", "glance.js", "view.js")


@dataclass(frozen=True)
class PortraitOptions:
    """What goes into a portrait.

    `labels` says whether feelings are estimated, `quick` that an even sample of turns is enough,
    `words` whether words and emoji are shown, `anonymous` that people are called by letters.
    `chat` names one chat of several. `title` is shown in place of
    people's names.
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
    options: PortraitOptions = PortraitOptions()
    notes: tuple[str, ...] = ()  # what has to be said beside feelings
    claims: bool = True  # whether labels are good enough for a sentence about feelings

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The glance of the whole chat."""
        return tuple(glance(self.aggregates, claims=self.claims))

    def to_json(self) -> dict[str, Any]:
        """The glance, and the figures of every person."""
        return {
            "glance": [
                {"id": sentence.id, "figure": sentence.figure, "text": sentence.text}
                for sentence in self.sentences
            ],
            "people": people_frame(self.aggregates).to_dicts(),
            "cautions": list(self.notes),
        }


def make_portrait(
    reading: ReadCorpus,
    options: PortraitOptions | None = None,
    *,
    cache: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Portrait:
    """Counts everything, and labels the turns unless `options` leave that out.

    `say` is told how long labelling will take.
    """
    options = options or PortraitOptions()
    tables = reading.tables if options.chat is None else _one_chat(reading.tables, options.chat)
    if not tables.messages.height:
        raise RealtalkError("holds no message, so there is nothing to show", where=tables.name)
    frame, notes, claims = None, [], True
    if options.labels:
        from realtalk.ei.grades import is_usable
        from realtalk.ei.labelling import label_cautions, labels_for
        from realtalk.ei.languages import chat_languages

        corpus = reading.corpus if options.chat is None else to_corpus(tables)
        advance, most = _announcing(progress, say), QUICK if options.quick else None
        frame = labels_for(corpus, None, cache, most=most, progress=advance).frame
        total = sum(len(chat.turns) for chat in corpus.chats)
        claims = all(is_usable(language.grade("sentiment")) for language in chat_languages(frame))
        if frame.height < total:
            some = f"{frame.height:,} of {total:,} turns were labelled"
            notes.append(f"{some}, spread evenly over time.")
        cautions = label_cautions(frame, corpus)
        if options.anonymous:  # lines begin with the chat's id, which may be made of names
            cautions = tuple(dict.fromkeys(line.partition(": ")[2] for line in cautions))
        notes += cautions
    progress(0, 0, "counting")
    aggregates = Aggregates.build(tables, frame, words=options.words)
    return Portrait(aggregates, options, tuple(notes), claims)


def _announcing(progress: Progress, say: Callable[[str], None]) -> Progress:
    """Progress that says once how long labelling takes, from the time that a few turns take."""
    start: tuple[int, float] | None = None
    is_said = False

    def advance(done: int, total: int, what: str) -> None:
        nonlocal start, is_said
        progress(done, total, what)
        if start is None:  # the model is loaded by now
            start = done, time.perf_counter()
        elif not is_said and done - start[0] >= _TRIED and total > 10 * _TRIED:
            is_said = True
            seconds = (time.perf_counter() - start[1]) / (done - start[0]) * (total - start[0])
            if seconds > _WORTH_SAYING:
                span = f"{max(10, round(seconds / 10) * 10)} seconds"
                if seconds >= 90:
                    minutes = f"{round(seconds / 60)} minutes"
                    span = minutes if seconds < 5400 else f"{seconds / 3600:.1f} hours"
                hint = f"; `quick=True` labels {QUICK:,} of them" if total > QUICK else ""
                say(
                    f"labelling {total:,} turns takes about {span}; they are kept, so "
                    f"the next page is made at once{hint}"
                )

    return advance


def people_frame(aggregates: Aggregates) -> pl.DataFrame:
    """One row per person: what the page's table of people shows, for a whole chat."""
    frame = aggregates.lines.frame
    calls = aggregates.lines.calls.group_by("speaker").agg(
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
        .join(calls, on="speaker", how="left")
        .with_columns(pl.col("calls") + pl.col("called").fill_null(0))
        .drop("called")
        .sort("messages", "speaker", descending=[True, False])
    )


def _one_chat(tables: Tables, name: str) -> Tables:
    if name not in {chat.id for chat in tables.chats}:
        raise suggest("chat", name, [chat.id for chat in tables.chats])
    is_chosen = pl.col("chat") == name
    return replace(
        tables,
        chats=tuple(chat for chat in tables.chats if chat.id == name),
        messages=tables.messages.filter(is_chosen),
        events=tables.events.filter(is_chosen),
        questions=tables.questions.filter(is_chosen),
    )


def write_portrait(portrait: Portrait, path: Path) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    return write_page(path, render(portrait))


def render(portrait: Portrait) -> str:
    """The page as text."""
    aggregates, options = portrait.aggregates, portrait.options
    data = aggregates.to_json() | {
        "title": options.title,
        "anonymous": options.anonymous,
        "claims": portrait.claims,
    }
    if options.anonymous:
        data |= {
            "people": [f"Person {letter}" for letter in ascii_uppercase[: len(data["people"])]],
            "chats": [f"Chat {number + 1}" for number in range(len(data["chats"]))],
            "title": "",
        }
    lines = (line for line in asset("methods.txt").splitlines() if line and line[0] != "#")
    methods = [[part.strip() for part in line.split(" | ")] for line in lines]
    left_out = {"words"} if aggregates.words is None else set()
    left_out |= {"feelings"} if aggregates.feelings is None else set()
    links = "".join(
        f'<a href="#{name}">{escape(title)}</a>'
        for name, title, _, _ in methods
        if name not in left_out
    )
    counting = "".join(
        f'<div id="method-{name}"><dt>{escape(title)}</dt><dd>{escape(method)}</dd></div>'
        for name, title, _, method in methods
    )
    body = (
        '<main id="main"><div class="opening"><h1 id="heading">A chat, measured</h1>',
        f'<p class="holds" data-local>{escape(holds(data))}</p>',
        asset("filters.html"),
        *(
            part
            for name, title, what, _ in methods
            for part in _section(name, title, what, name in left_out, portrait.notes)
        ),
        '<section id="methods"><h2>How it is counted</h2>'
        f'<dl class="methods">{counting}</dl></section>',
    )
    return document(
        "A chat, measured",
        kind="chat",
        here=f'<nav class="sections" aria-label="Sections">{links}</nav>',
        body=body,
        made={
            "realtalk": __version__,
            "python": platform.python_version(),
            "date": datetime.now(UTC).date().isoformat(),
        },
        scripts=_SCRIPTS,
        data={"wording": wording(), "data": data},
    )


def holds(data: Mapping[str, Any]) -> str:
    """What is in the page, so that whoever passes it on knows."""
    people = "people without their names" if data["anonymous"] else "people's names"
    parts = [f"counts per day and person, with {people}"]
    if "words" in data:
        kept = (data["words"], data["openings"], data["lookup"])
        words = len({item for part in kept for item in part["items"]})
        often = "word or phrase used often" if words == 1 else "words and phrases used often"
        contents = [f"{words:,} {often}"] if words else []
        for name, title in (
            ("laughter", "ways of laughing"),
            ("emoji", "emoji"),
            ("domains", "domains of links"),
        ):
            contents += [title] if data[name]["items"] else []
        parts += [", ".join(contents)] if contents else []
    if "emotions" in data:
        parts.append("a model's estimates of feelings")
    return f"This page holds {'; '.join(parts)}. It holds no message, and nothing leaves it."


def _section(
    name: str, title: str, what: str, is_hidden: bool, notes: Sequence[str]
) -> Iterator[str]:
    yield (
        f'<section id="{name}"{" hidden" if is_hidden else ""}><h2>{escape(title)}</h2>'
        f'<details class="what"><summary>What is this?</summary><p>{escape(what)} '
        f'<a href="#method-{name}">How it is counted</a></p></details>'
    )
    if name == "feelings":
        yield "".join(f'<p class="caution">{escape(as_options(note))}</p>' for note in notes)
    if name == "glance":
        yield '<ul id="glance-items" class="glance"></ul>'
    elif name == "cards":
        yield asset("card.html")
    else:
        yield f'<div id="{name}-body"></div>'
    yield "</section>"
