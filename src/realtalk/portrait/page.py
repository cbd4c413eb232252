"""Daily aggregates → one self-contained page that filters them in the browser.

    render(aggregates, holds=…, cautions=…)    → "<!doctype html>…"

The page holds its data as JSON, its style and its scripts; a policy in its head lets exactly these
run, by their hashes, and lets nothing be loaded or sent. Names and words stay text: the scripts
build elements and never parse HTML. What it holds is said at its head.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from string import ascii_uppercase
from typing import Any

from realtalk import __version__
from realtalk.portrait.aggregates import Aggregates
from realtalk.report.markup import json_text
from realtalk.report.page import document_head, locale_script

_SCRIPTS = ("data.js", "charts.js", "glance.js", "view.js")


@dataclass(frozen=True)
class PageOptions:
    """What a page says beside its figures. `title` is shown in place of people's names."""

    title: str = ""
    anonymous: bool = False
    cautions: Sequence[str] = ()
    sampled: str = ""  # how many turns of how many were labelled, where not all were
    claims: bool = True  # whether labels are good enough for a sentence about feelings


def render(aggregates: Aggregates, options: PageOptions) -> str:
    """The page as text."""
    data = aggregates.to_json() | {
        "title": options.title,
        "anonymous": options.anonymous,
        "claims": options.claims,
    }
    if options.anonymous:
        data |= {
            "people": [f"Person {letter}" for letter in ascii_uppercase[: len(data["people"])]],
            "chats": [f"Chat {number + 1}" for number in range(len(data["chats"]))],
            "title": "",
        }
    style = _asset("page.css")
    script = "\n".join((locale_script(), *(_asset(name) for name in _SCRIPTS)))
    return "\n".join(
        (
            *document_head("A chat, measured", style, [script]),
            "<body>",
            '<a class="skip" href="#main">To the content</a>',
            _bar(aggregates),
            '<main id="main">',
            *_head(aggregates, options, data),
            *_sections(aggregates, options),
            *_foot(),
            "</main>",
            f'<script type="application/json" id="wording">{_wording()}</script>',
            f'<script type="application/json" id="data">{json_text(data)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        )
    )


def _bar(aggregates: Aggregates) -> str:
    links = "".join(
        f'<a href="#{name}">{escape(title)}</a>'
        for name, title, _, _ in _methods()
        if _applies(name, aggregates)
    )
    return (
        '<header class="bar"><span class="brand">realtalk</span>'
        f'<nav class="sections" aria-label="Sections">{links}</nav>'
        '<span class="acts"><button type="button" id="theme">Light or dark</button>'
        '<button type="button" id="print">Print</button></span></header>'
    )


def _head(aggregates: Aggregates, options: PageOptions, data: dict[str, Any]) -> Iterator[str]:
    yield '<div class="opening"><h1 id="heading">A chat, measured</h1>'
    yield f'<p class="holds" data-local>{escape(holds(aggregates, options, data))}</p>'
    yield (
        '<p class="holds" id="names-held" hidden>Names are hidden from view only: the file still '
        "holds them. Called anonymously, the report has none.</p></div>"
    )
    yield (
        '<div class="filters" role="search" aria-label="Filters">'
        '<div id="filter-people-group" class="group"><span class="label" id="people-label">People'
        '</span><div id="filter-people" class="chips-row" role="group" '
        'aria-labelledby="people-label"></div></div>'
        '<div class="line"><div id="filter-chat-group" class="group">'
        '<label class="label" for="filter-chat">Chat</label>'
        '<select id="filter-chat"></select></div>'
        '<div id="filter-time-group" class="group"><label class="label" for="filter-period">Time'
        '</label><select id="filter-period"></select>'
        '<label class="label" for="filter-from">from</label><input type="date" id="filter-from">'
        '<label class="label" for="filter-to">to</label><input type="date" id="filter-to"></div>'
        '<div id="hide-names-group" class="group"><label class="switch">'
        '<input type="checkbox" id="hide-names"> Hide names</label></div></div>'
        '<p id="selection" role="status" aria-live="polite"></p></div>'
    )


def holds(aggregates: Aggregates, options: PageOptions, data: dict[str, Any]) -> str:
    """What is in the page, so that whoever passes it on knows."""
    people = "people without their names" if options.anonymous else "people's names"
    parts = [f"counts per day and person, with {people}"]
    if aggregates.words is not None:
        words = len({*data["words"]["items"], *data["openings"]["items"]})
        often = "word that was used often" if words == 1 else "words that were used often"
        said = [f"{words:,} {often}"] if words else []
        for name, title in (
            ("laughter", "ways of laughing"),
            ("emoji", "emoji"),
            ("domains", "domains of links"),
        ):
            said += [title] if data[name]["items"] else []
        parts += [", ".join(said)] if said else []
    if aggregates.feelings is not None:
        parts.append("a model's estimates of feelings")
    return f"This page holds {'; '.join(parts)}. It holds no message, and nothing leaves it."


def _applies(name: str, aggregates: Aggregates) -> bool:
    if name == "words":
        return aggregates.words is not None
    return name != "feelings" or aggregates.feelings is not None


def _sections(aggregates: Aggregates, options: PageOptions) -> Iterator[str]:
    for name, title, what, _ in _methods():
        hidden = "" if _applies(name, aggregates) else " hidden"
        yield (
            f'<section id="{name}"{hidden}><h2>{escape(title)}</h2>'
            f'<details class="what"><summary>What is this?</summary><p>{escape(what)} '
            f'<a href="#method-{name}">How it is counted</a></p></details>'
        )
        if name == "feelings":
            notes = [*([options.sampled] if options.sampled else []), *options.cautions]
            yield "".join(f'<p class="caution">{escape(note)}</p>' for note in notes)
        if name == "glance":
            yield '<ul id="glance-items" class="glance"></ul>'
        elif name == "cards":
            yield (
                '<p class="row"><label id="card-names-group" class="switch">'
                '<input type="checkbox" id="card-names"> '
                'Show names on the card</label></p><p class="row">'
                '<button type="button" id="card-png">Save as PNG</button> '
                '<button type="button" id="card-svg">Save as SVG</button></p>'
            )
        else:
            yield f'<div id="{name}-body"></div>'
        yield "</section>"


def _foot() -> Iterator[str]:
    yield '<section id="methods"><h2>How it is counted</h2><dl class="methods">'
    for name, title, _, method in _methods():
        yield f'<div id="method-{name}"><dt>{escape(title)}</dt><dd>{escape(method)}</dd></div>'
    day = datetime.now(UTC).date().isoformat()
    made = escape(f"realtalk {__version__}, Python {platform.python_version()}, ")
    dated = f'<time datetime="{day}">{day}</time>'
    yield f"</dl></section><footer>{made}{dated}</footer>"


@cache
def _asset(name: str) -> str:
    return (files("realtalk.portrait") / "assets" / name).read_text(encoding="utf-8")


def _wording() -> str:
    return _asset("wording.json").replace("<", "\\u003c")


@cache
def _methods() -> tuple[tuple[str, str, str, str], ...]:
    lines = (line for line in _asset("methods.txt").splitlines() if line and line[0] != "#")
    rows = (tuple(part.strip() for part in line.split(" | ")) for line in lines)
    return tuple((name, title, what, method) for name, title, what, method in rows)
