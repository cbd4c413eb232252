"""A reading of somebody's chats → the page about them; and the same figures without it.

    portrait = make_portrait(reading, PortraitOptions(quick=True))
    portrait.sentences[0]          → Sentence("messages", "12,034", "messages, …")
    portrait.notes                 → ("1,600 of 12,034 turns were labelled, …", …)
    write_portrait(portrait, Path("report.html"))

The page holds daily aggregates as JSON and filters them in the browser; its scripts build elements
and never parse HTML. What it holds is said at its head. Labels come from the one place that makes
and keeps them (`ei.labelling`), so that the next page is made at once. It speaks the language of
the chat where it can (`wording`).

    write_chats(reading, Path("pages"), PortraitOptions())
    → pages/index.html, pages/Mara.html, pages/Theo.html: one page for each chat, and a list

Nothing is added up over chats: the list says of each who is in it, how much was written and when.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from realtalk.chat import Corpus
from realtalk.describe.counting import describe
from realtalk.ei.labels import Labeller
from realtalk.ei.languages import NAMED_CHATS, chat_languages, language_remarks
from realtalk.errors import RealtalkError, as_options
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import file_stem
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.tables import Tables, to_corpus
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.frame import check_page, document, made_with, write_page
from realtalk.pages.glance import LIMITS, Sentence, glance
from realtalk.pages.sections import render as render_sections
from realtalk.pages.values import Section, TableView
from realtalk.pages.wording import Wording, asset, page_language
from realtalk.registry import known_name
from realtalk.text.languages import ENGLISH

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
    people's names. `language` is that of the page; None is that of the chat.
    """

    labels: bool = True
    quick: bool = False
    words: bool = True
    anonymous: bool = False
    chat: str | None = None
    title: str = ""
    language: str | None = None


@dataclass(frozen=True)
class Portrait:
    """Everything of the page before it is written."""

    aggregates: Aggregates
    options: PortraitOptions = PortraitOptions()
    notes: tuple[str, ...] = ()  # what has to be said beside feelings
    claims: bool = True  # whether labels are good enough for a sentence about feelings
    words: Wording = field(default_factory=Wording.load)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The glance of the whole chat."""
        return tuple(glance(self.aggregates, claims=self.claims, words=self.words))

    def to_json(self) -> dict[str, Any]:
        """The glance, and the figures of every person."""
        return {
            "glance": [
                {"id": sentence.id, "figure": sentence.figure, "text": sentence.text}
                for sentence in self.sentences
            ],
            "people": self.aggregates.by_person.to_dicts(),
            "cautions": list(self.notes),
        }


def make_portrait(
    reading: ReadCorpus,
    options: PortraitOptions | None = None,
    *,
    cache: Path | None = None,
    labeller: Labeller | None = None,
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
    words = Wording.load(page_language(tables.messages["text"].to_list(), options.language))
    frame, claims = None, True
    notes: tuple[str, ...] = ()
    if options.labels:
        from realtalk.ei.encoder_choice import is_usable
        from realtalk.ei.labelling import labels_for

        corpus = reading.corpus if options.chat is None else to_corpus(tables)
        advance, most = _announcing(progress, say), QUICK if options.quick else None
        frame = labels_for(corpus, labeller, cache, most=most, progress=advance).frame
        claims = all(is_usable(language.grade("sentiment")) for language in chat_languages(frame))
        notes = tuple(dict.fromkeys(_cautions(words, frame, corpus, named=not options.anonymous)))
    progress(0, 0, "counting")
    aggregates = Aggregates.build(tables, frame, words=options.words)
    return Portrait(aggregates, options, notes, claims, words)


def _cautions(words: Wording, frame: pl.DataFrame, corpus: Corpus, *, named: bool) -> Iterator[str]:
    """What has to be said beside feelings; without names, as ids of chats may be made of them."""
    from realtalk.ei.labelling import learned_chats

    say, number = partial(words.say, "cautions"), words.number
    comma, semicolon = (words.say("labels", name) for name in ("comma", "semicolon"))

    def about(chats: Sequence[str], text: str) -> str:
        names, more = comma.join(chats[:NAMED_CHATS]), len(chats) - NAMED_CHATS
        names = say("and_more", names=names, count=number(more)) if more > 0 else names
        return say("about", chats=names, text=text) if named else text

    total = sum(len(chat.turns) for chat in corpus.chats)
    if frame.height < total:
        yield say("sampled", some=number(frame.height), total=number(total))
    for remark in language_remarks(chat_languages(frame)):
        gaps = {name: number(count) for name, count in remark.counts.items()}
        if remark.kind == "partly":
            share = remark.counts["others"] / remark.counts["total"]
            gaps["share"] = words.percent(share)
        if remark.languages:
            gaps["languages"] = words.joined(
                [words.language_name(code) for code in remark.languages]
            )
            grades = semicolon.join(
                say(
                    "grade_of",
                    measures=comma.join(words.say("measures", name) for name in measures),
                    grade=words.say("grades", grade),
                )
                for grade, measures in remark.apart.items()
            )
            gaps["apart"] = say("apart", grades=grades) if grades else ""
        yield about(remark.chats, say(remark.kind, **gaps))
    for chat, name in learned_chats(corpus):
        yield about([chat], say("learned", name=name))


def _announcing(progress: Progress, say: Callable[[str], None]) -> Progress:
    """Progress that says once how long labelling takes, from the time that a few turns take."""
    start: tuple[int, float] | None = None
    is_said = False

    def advance(done: int, total: int, what: str) -> None:
        nonlocal start, is_said
        progress(done, total, what)
        now = time.perf_counter()
        first, begun = start = start or (done, now)  # the model is loaded by now
        if is_said or done - first < _TRIED or total <= 10 * _TRIED:
            return
        is_said = True
        seconds = (now - begun) / (done - first) * (total - first)
        if seconds > _WORTH_SAYING:
            hours = (
                f"{round(seconds / 60)} minutes"
                if seconds < 5400
                else f"{seconds / 3600:.1f} hours"
            )
            span = hours if seconds >= 90 else f"{max(10, round(seconds / 10) * 10)} seconds"
            hint = f"; `quick=True` labels {QUICK:,} of them" if total > QUICK else ""
            say(
                f"labelling {total:,} turns takes about {span}; they are kept, so "
                f"the next page is made at once{hint}"
            )

    return advance


def _one_chat(tables: Tables, name: str) -> Tables:
    known_name("chat", name, [chat.id for chat in tables.chats])
    kept = {
        part: getattr(tables, part).filter(pl.col("chat") == name)
        for part in ("messages", "events", "questions")
    }
    return replace(tables, chats=tuple(chat for chat in tables.chats if chat.id == name), **kept)


def write_portrait(portrait: Portrait, path: Path) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    return write_page(path, render(portrait))


def render(portrait: Portrait) -> str:
    """The page as text."""
    aggregates, options, words = portrait.aggregates, portrait.options, portrait.words
    data = aggregates.to_json() | {
        "title": options.title,
        "anonymous": options.anonymous,
        "claims": portrait.claims,
    }
    if options.anonymous:
        numbers = (words.number(at) for at, _ in enumerate(data["chats"], 1))
        data |= {
            "people": [
                words.say("labels", "person", letter=letter)
                for letter in ascii_uppercase[: len(data["people"])]
            ],
            "chats": [words.say("labels", "chat_number", number=number) for number in numbers],
            "title": "",
        }
    left_out = {"words"} if aggregates.words is None else set()
    left_out |= {"feelings"} if aggregates.feelings is None else set()
    titles = {name: escape(words.say("titles", name)) for name in words.phrases["titles"]}
    said = {name: escape(words.say("page", name)) for name in words.phrases["page"]}
    links = "".join(
        f'<a href="#{name}">{title}</a>' for name, title in titles.items() if name not in left_out
    )
    counting = "".join(
        f'<div id="method-{name}"><dt>{title}</dt>'
        f"<dd>{escape(words.say('methods', name))}</dd></div>"
        for name, title in titles.items()
    )
    # Scripts write the numbers of English again, as the reader does.
    local = " data-local" if words.language == ENGLISH else ""
    body = (
        f'<main id="main"><div class="opening"><h1 id="heading">{said["title"]}</h1>',
        f'<p class="holds"{local}>{escape(holds(data, words))}</p>',
        asset("filters.html").format(**said),
        *(part for name in titles for part in _section(name, portrait, name in left_out)),
        f'<section id="methods"><h2>{said["counting"]}</h2>'
        f'<dl class="methods">{counting}</dl></section>',
    )
    return document(
        words.say("page", "title"),
        kind="chat",
        here=f'<nav class="sections" aria-label="{said["sections"]}">{links}</nav>',
        body=body,
        made=made_with(words.say("frame", "date")),
        scripts=_SCRIPTS,
        data={"wording": {**LIMITS, **words.phrases}, "data": data},
        words=words,
    )


def holds(data: Mapping[str, Any], words: Wording) -> str:
    """What is in the page, so that whoever passes it on knows."""
    say = partial(words.say, "holds")
    parts = [say("nameless" if data["anonymous"] else "named")]
    if "words" in data:
        kept = (data["words"], data["openings"], data["lookup"])
        count = len({item for part in kept for item in part["items"]})
        contents = [say("frequent", count)] if count else []
        contents += [say(name) for name in ("laughter", "emoji", "domains") if data[name]["items"]]
        parts += [words.say("labels", "comma").join(contents)] if contents else []
    if "emotions" in data:
        parts.append(say("feelings"))
    return say("whole", parts=words.say("labels", "semicolon").join(parts))


def _section(name: str, portrait: Portrait, is_hidden: bool) -> Iterator[str]:
    words = portrait.words
    said = {key: escape(words.say("page", key)) for key in words.phrases["page"]}
    yield (
        f'<section id="{name}"{" hidden" if is_hidden else ""}>'
        f"<h2>{escape(words.say('titles', name))}</h2>"
        f'<details class="what"><summary>{said["what"]}</summary>'
        f"<p>{escape(words.say('what', name))} "
        f'<a href="#method-{name}">{said["counting"]}</a></p></details>'
    )
    if name == "feelings":
        notes = map(as_options, portrait.notes)
        yield "".join(f'<p class="caution">{escape(note)}</p>' for note in notes)
    if name == "glance":
        yield '<ul id="glance-items" class="glance"></ul>'
    elif name == "cards":
        yield asset("card.html").format(**said)
    else:
        yield f'<div id="{name}-body"></div>'
    yield "</section>"


INDEX = "index.html"


@dataclass(frozen=True)
class ChatFolder:
    """The list that was written, and a row of figures for each page."""

    index: Path
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"pages": list(self.rows)}


def write_chats(
    reading: ReadCorpus,
    folder: Path,
    options: PortraitOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> ChatFolder:
    """The fullest chat comes first; a chat without messages has no page."""
    check_page(folder / INDEX)
    chats = [chat for chat in describe(reading.tables).per_chat if chat.messages]
    if not chats:
        raise RealtalkError("holds no message, so there is nothing to show")
    labeller = None
    if options.labels:
        from realtalk.ei.embedded import EmbeddedLabeller

        labeller = EmbeddedLabeller()  # one for all: it takes its time to load
    names = UniqueNames("{}-{}", ["index"], is_file=True)
    rows: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    for number, chat in enumerate(sorted(chats, key=lambda chat: (-chat.messages, chat.id)), 1):
        own = replace(options, chat=chat.id)
        portrait = make_portrait(reading, own, labeller=labeller, say=say, progress=progress)
        shown = f"Chat {number}" if options.anonymous else chat.id
        file = f"{names.free(file_stem(shown))}.html"
        write_portrait(portrait, folder / file)
        notes |= dict.fromkeys(portrait.notes)
        rows.append(
            {
                "chat": shown,
                "page": file,
                "people": len([who for who in chat.speakers if who.messages]),
                "messages": chat.messages,
                "first": chat.first and chat.first.date().isoformat(),
                "last": chat.last and chat.last.date().isoformat(),
            }
        )
    words = Wording.load(options.language or ENGLISH)
    heads = {"messages": words.say("columns", "messages")} | {
        name: words.say("labels", name) for name in ("chat", "people", "first", "last")
    }
    shown_columns = [name for name in rows[0] if name != "page"]
    heading = words.say("titles", "chats")
    table = TableView(
        heading,
        tuple(heads[name] for name in shown_columns),
        tuple(tuple(row[name] for name in shown_columns) for row in rows),
        find=len(rows) > 12,
        links=tuple(row["page"] for row in rows),
    )
    sections = [Section("chats", heading, words.say("what", "chats"), (table,))]
    title = options.title or words.counted(len(rows), "chat")
    index = write_page(folder / INDEX, render_sections(title, sections, made=made_with()))
    return ChatFolder(index, tuple(rows), tuple(notes))
