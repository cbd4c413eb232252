"""Sections → a page of tables and charts: every word escaped, every number as people write it.

    render("My chats", [Section("ei", "Speaker EI", …)], made={"realtalk": "0.2.0"})
    → "<!doctype html>…": style, script and drawn charts inside, nothing fetched

A cell such as "0.53 [0.49, 0.57]" is set with its interval smaller. A float also carries its
exact value, for sorting and for the CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain, count
from math import isfinite
from urllib.parse import quote

from realtalk.cells import NOTHING, Cell, cell_text, is_nothing
from realtalk.errors import as_options
from realtalk.pages.frame import alone, document, within
from realtalk.pages.runs import svg_text
from realtalk.pages.values import ChartView, KeyFigure, Section, TableView

_NUMBER = r"[+\-−]?(?:\d[\d,]*)?\.?\d+"
_WITH_INTERVAL = re.compile(rf"({_NUMBER}%?(?: ± {_NUMBER})?) ([\[(][^\])]*[\])])")
_BEGINS_WITH_NUMBER = re.compile(rf"(?:[<>=] ?)?{_NUMBER}(?![\w-])")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LONG, _LONG_NAME = 48, 30  # letters from which a cell may be broken into lines


def render(
    title: str,
    sections: Sequence[Section],
    *,
    made: Mapping[str, str],
    lead: str = "",
    key_figures: Sequence[KeyFigure] = (),
) -> str:
    """The page. `made` is shown at its foot: {"realtalk": "0.2.0", "date": "2026-11-15", …}."""
    ids = [section.id for section in sections]
    anchors = section_ids(ids)
    contents = "".join(
        f'<li class="depth-{min(section.depth, 1)}">'
        f'<a href="#{anchor}">{within(section.title)}</a></li>'
        for section, anchor in zip(sections, anchors, strict=True)
    )
    first_of = dict(zip(ids[::-1], anchors[::-1], strict=True))
    cards = "".join(_card(figure, first_of.get(figure.section, "")) for figure in key_figures)
    opening = (
        f"<h1>{alone(title)}</h1>",
        f'<p class="lead">{_escape_sentence(lead)}</p>' if lead else "",
        f'<ul class="keys" aria-label="What matters">{cards}</ul>' if cards else "",
    )
    body = (
        '<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ol>{contents}</ol></details></nav>",
        f'<main id="main"><div class="opening">{"".join(opening)}</div>',
        *(
            part
            for section, anchor in zip(sections, anchors, strict=True)
            for part in _section(section, anchor)
        ),
    )
    here = f'<span class="here">{alone(title)}</span>'
    return document(title, kind="runs", here=here, body=body, made=made, scripts=["runs.js"])


def section_ids(names: Sequence[str]) -> list[str]:
    """Anchors that need no escaping and clash with no script, one for each section.

    Of names in another script than Latin nothing is left, so they are numbered.
    """
    ids: list[str] = []
    for name in names:
        plain = f"s-{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-') or 'part'}"
        tries = chain((plain,), (f"{plain}-{number}" for number in count(2)))
        ids.append(next(candidate for candidate in tries if candidate not in ids))
    return ids


def _card(key: KeyFigure, anchor: str) -> str:
    topic = f'<span class="topic">{within(key.topic)}</span>' if key.topic else ""
    extent = f'<span class="range" data-local>{within(key.range)}</span>' if key.range else ""
    more = f'<a class="more" href="#{anchor}">See the tables</a>' if anchor else ""
    return (
        f'<li>{topic}<span class="figure" data-local>{within(key.figure)}</span>{extent}'
        f"<p data-local>{within(key.says)}</p>{more}</li>"
    )


def _section(section: Section, anchor: str) -> Iterator[str]:
    level = 3 if section.depth else 2
    yield (
        f'<section id="{anchor}" class="depth-{min(section.depth, 1)}">'
        f"<h{level}>{within(section.title)}</h{level}>"
    )
    if section.lead:
        yield f'<p class="lead" data-local>{_escape_sentence(section.lead)}</p>'
    for number, chart in enumerate(section.charts, 1):
        yield chart_html(chart, level + 1, f"{anchor}-{number}")
    yield from (table_html(table, level + 1) for table in section.tables)
    if section.notes:
        lines = "".join(f"<li data-local>{_escape_sentence(note)}</li>" for note in section.notes)
        yield f'<ul class="notes">{lines}</ul>'
    yield "</section>"


def table_html(view: TableView, level: int) -> str:
    """A table with its title, its CSV button and headings that sort."""
    numeric = [
        _is_numeric([row[place] for row in view.rows]) for place in range(len(view.headings))
    ]
    heads = "".join(
        # Over short cells a long heading would be broken into a tower of words.
        f'<th scope="col"{_class(num=is_number, wide=len(name) > _LONG_NAME)} aria-sort="none">'
        f'<button type="button">{alone(name)}</button></th>'
        for name, is_number in zip(view.headings, numeric, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(value, link, at == 0, numeric[at]) for at, value in enumerate(row))}"
        "</tr>"
        for row, link in zip(view.rows, view.links or [""] * len(view.rows), strict=True)
    )
    find = (
        '<span class="found" role="status"></span><input type="search" data-find'
        f' placeholder="Find" autocomplete="off" aria-label="Find in {escape(view.title)}">'
    )
    return (
        f'<div class="table"><div class="title"><h{level}>{within(view.title)}</h{level}>'
        f'<span class="acts">{find if view.find else ""}'
        '<button type="button" data-save="csv">CSV</button></span></div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(view.title)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{_note(view.note)}</div>"
    )


def chart_html(view: ChartView, level: int, id_: str) -> str:
    """A chart, drawn, with buttons that save it."""
    return (
        f'<figure class="chart"><figcaption class="title"><h{level}>{within(view.title)}</h{level}>'
        '<span class="acts"><button type="button" data-save="png">PNG</button>'
        '<button type="button" data-save="svg">SVG</button></span></figcaption>'
        f'<div class="plot" tabindex="0" role="region" aria-label="{escape(view.title)}">'
        f"{svg_text(view, id_)}</div>{_note(view.note)}</figure>"
    )


def _escape_sentence(text: str) -> str:
    """A sentence of ours; where it advises a parameter, the reader has the command's option."""
    return within(as_options(text))


def _note(text: str) -> str:
    return f'<p class="note" data-local>{_escape_sentence(text)}</p>' if text else ""


def _is_numeric(values: Sequence[Cell]) -> bool:
    cells = [value for value in values if not is_nothing(value) and value not in ("", NOTHING)]
    return bool(cells) and all(
        not isinstance(value, bool)
        and (isinstance(value, int | float) or bool(_BEGINS_WITH_NUMBER.match(str(value))))
        and len(str(value)) < _LONG
        for value in cells
    )


def _cell(value: Cell, link: str, is_first: bool, is_number: bool) -> str:
    text, nothing = cell_text(value), is_nothing(value)
    is_long = not nothing and len(text) >= (_LONG_NAME if is_first else _LONG)
    exact = f' data-v="{value!r}"' if isinstance(value, float) and isfinite(value) else ""
    match = _WITH_INTERVAL.fullmatch(text)
    inner = (
        alone(text)
        if match is None
        else f'{escape(match[1])} <span class="iv">{escape(match[2])}</span>'
    )
    if link and is_first:
        inner = f'<a href="{quote(link)}">{inner}</a>'
    tag, scope = ("th", ' scope="row"') if is_first else ("td", "")
    local = " data-local" if is_number or _DATE.fullmatch(text) else ""
    names = _class(num=is_number, none=nothing, long=is_long)
    return f"<{tag}{scope}{names}{exact}{local}>{inner}</{tag}>"


def _class(**names: bool) -> str:
    class_names = " ".join(name for name, applies in names.items() if applies)
    return f' class="{class_names}"' if class_names else ""
