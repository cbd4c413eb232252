"""Tables and charts as HTML: every word escaped, every number as people write it.

    table_html(view, 3, 4)    → '<div class="table" id="table-3">…<td class="num">17,109.8</td>…'
    json_text({"a": "</b>"})  → '{"a":"\\u003c/b\\u003e"}', which no parser of HTML can leave

A cell such as "0.53 [0.49, 0.57]" is set with its interval smaller. A float also carries its
exact value, for sorting and for the CSV.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import chain, count
from math import isfinite
from typing import Any

import orjson

from realtalk.cells import NOTHING, cell_text, is_nothing
from realtalk.report.direction import alone, within
from realtalk.report.values import Cell, ChartView, TableView

_NUMBER = r"[+\-−]?(?:\d[\d,]*)?\.?\d+"
_WITH_INTERVAL = re.compile(rf"({_NUMBER}%?(?: ± {_NUMBER})?) ([\[(][^\])]*[\])])")
_BEGINS_WITH_NUMBER = re.compile(rf"(?:[<>=] ?)?{_NUMBER}(?![\w-])")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# What could end the script element, or what JavaScript once took for the end of a line.
_UNSAFE = str.maketrans(
    {each: f"\\u{ord(each):04x}" for each in ("<", ">", "&", "\u2028", "\u2029")}
)
# The page has buttons of its own, and no use for an address.
_NOT_SHOWN = ("$schema", "usermeta")
_LONG, _LONG_NAME = 48, 30  # letters from which a cell may be broken into lines


def section_ids(names: Sequence[str]) -> list[str]:
    """Anchors that need no escaping and clash with no script, one for each section.

    Of names in another script than Latin nothing is left, so they are numbered.
    """
    ids: list[str] = []
    for name in names:
        plain = f"s-{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-') or 'part'}"
        tries = chain((plain,), (f"{plain}-{number}" for number in count(2)))
        ids.append(next(each for each in tries if each not in ids))
    return ids


def json_text(value: Any) -> str:
    """JSON for a script element that holds data."""
    return orjson.dumps(value).decode().translate(_UNSAFE)


def _spec_text(view: ChartView) -> str:
    """A specification without what the page does itself.

    Vega reads a name that is sorted by as part of an expression, where these two separators
    end a line and with it the chart. In a name they say nothing: a space stands for them.
    """
    spec = {name: each for name, each in view.spec.items() if name not in _NOT_SHOWN}
    plain = orjson.dumps(spec).decode().replace("\u2028", " ").replace("\u2029", " ")
    return plain.translate(_UNSAFE)


def table_html(view: TableView, number: int, level: int) -> str:
    """A table with its title, its CSV button and headings that sort."""
    numeric = [
        _is_numeric([row[place] for row in view.rows]) for place in range(len(view.headings))
    ]
    heads = "".join(
        f'<th scope="col"{_class(_head_names(name, is_number))} aria-sort="none">'
        f'<button type="button">{alone(name)}</button></th>'
        for name, is_number in zip(view.headings, numeric, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(value, at == 0, numeric[at]) for at, value in enumerate(row))}</tr>"
        for row in view.rows
    )
    note = f'<p class="note" data-local>{within(view.note)}</p>' if view.note else ""
    find = (
        '<span class="found" role="status"></span><input type="search" data-find'
        f' placeholder="Find" autocomplete="off" aria-label="Find in {escape(view.title)}">'
    )
    return (
        f'<div class="table" id="table-{number}"><div class="title">'
        f"<h{level}>{within(view.title)}</h{level}>"
        f'<span class="acts">{find if view.find else ""}'
        '<button type="button" data-save="csv">CSV</button></span></div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(view.title)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{note}</div>"
    )


def chart_html(view: ChartView, number: int, level: int) -> str:
    """A place for a chart, and its specification as data beside it."""
    note = f'<p class="note" data-local>{within(view.note)}</p>' if view.note else ""
    return (
        f'<figure class="chart" id="chart-{number}"><figcaption class="title">'
        f"<h{level}>{within(view.title)}</h{level}>"
        '<span class="acts"><button type="button" data-save="png">PNG</button>'
        '<button type="button" data-save="svg">SVG</button></span></figcaption>'
        f'<div class="plot" data-title="{escape(view.title)}">'
        "<noscript>Charts need scripts; the tables hold the same figures.</noscript></div>"
        f'{note}<script type="application/json">{_spec_text(view)}</script></figure>'
    )


def _is_numeric(values: Sequence[Cell]) -> bool:
    known = [value for value in values if not is_nothing(value) and value not in ("", NOTHING)]
    return bool(known) and all(
        not isinstance(value, bool)
        and (isinstance(value, int | float) or bool(_BEGINS_WITH_NUMBER.match(str(value))))
        and len(str(value)) < _LONG
        for value in known
    )


def _head_names(name: str, is_number: bool) -> str:
    # Over short cells a long heading would be broken into a tower of words.
    return " ".join(
        [*(["num"] if is_number else []), *(["wide"] if len(name) > _LONG_NAME else [])]
    )


def _cell(value: Cell, is_first: bool, is_number: bool) -> str:
    text = cell_text(value)
    names = ["num"] if is_number else []
    if is_nothing(value):
        names.append("none")
    elif len(text) >= (_LONG_NAME if is_first else _LONG):
        names.append("long")
    exact = f' data-v="{value!r}"' if isinstance(value, float) and isfinite(value) else ""
    match = _WITH_INTERVAL.fullmatch(text)
    inner = (
        alone(text)
        if match is None
        else f'{escape(match[1])} <span class="iv">{escape(match[2])}</span>'
    )
    tag, scope = ("th", ' scope="row"') if is_first else ("td", "")
    local = " data-local" if is_number or _DATE.fullmatch(text) else ""
    return f"<{tag}{scope}{_class(' '.join(names))}{exact}{local}>{inner}</{tag}>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""
