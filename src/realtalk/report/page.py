"""Sections → one self-contained HTML page (text).

    render("My chats", [Section("ei", "Speaker EI", …)], made={"realtalk": "0.1.0"})
    → "<!doctype html>…": style, script and chart library inside, nothing fetched

A policy in the page's head lets exactly its own two scripts and its own style run, by their
hashes, and lets nothing be loaded or sent. Charts are drawn without `eval`. Whatever a name
or a text holds, it stays text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from realtalk.report.direction import alone, within
from realtalk.report.markup import chart_html, section_ids, table_html
from realtalk.report.values import KeyFigure, Section

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def render(
    title: str,
    sections: Sequence[Section],
    *,
    made: Mapping[str, str],
    lead: str = "",
    key_figures: Sequence[KeyFigure] = (),
) -> str:
    """The page. `made` is shown at its foot: {"realtalk": "0.1.0", "date": "2026-11-15", …}."""
    style = _asset("page.css")
    script = f"{locale_script()}\n{_asset('page.js')}"
    ids = [section.id for section in sections]
    anchors = section_ids(ids)
    drawn = any(section.charts for section in sections)
    library = chart_library() if drawn else ""
    parts = [
        *document_head(title, style, [each for each in (library, script) if each]),
        "<body>",
        '<a class="skip" href="#main">To the content</a>',
        _bar(title),
        '<div class="frame">',
        _contents(sections, anchors),
        '<main id="main">',
        _opening(title, lead, key_figures, dict(zip(ids[::-1], anchors[::-1], strict=True))),
        *_sections(sections, anchors),
        _foot(made),
        "</main>",
        "</div>",
        # As data: the page's script runs it when the first chart comes into view, not before.
        f'<script type="text/plain" id="library">{library}</script>' if drawn else "",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def locale_script() -> str:
    """What writes dates and numbers as the reader's browser does."""
    return _asset("locale.js")


def document_head(title: str, style: str, scripts: Sequence[str]) -> tuple[str, ...]:
    """The lines of a page up to its body, with a policy that lets its own parts run alone."""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(_script_hash(each) for each in scripts)}",
            f"style-src {_script_hash(style)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
    )


def _bar(title: str) -> str:
    return (
        '<header class="bar"><span class="brand">realtalk</span>'
        f'<span class="here">{alone(title)}</span>'
        '<span class="acts">'
        '<button type="button" id="theme" aria-label="Light or dark">'
        '<span class="sun" aria-hidden="true"></span><span id="theme-name">Dark</span></button>'
        '<button type="button" id="print">Print</button></span></header>'
    )


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> str:
    lines = [
        f'<li class="depth-{min(section.depth, 1)}">'
        f'<a href="#{anchor}">{within(section.title)}</a></li>'
        for section, anchor in zip(sections, anchors, strict=True)
    ]
    return (
        '<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ol>{''.join(lines)}</ol></details></nav>"
    )


def _opening(
    title: str, lead: str, key_figures: Sequence[KeyFigure], anchors: Mapping[str, str]
) -> str:
    parts = [f"<h1>{alone(title)}</h1>"]
    if lead:
        parts.append(f'<p class="lead">{within(lead)}</p>')
    if key_figures:
        cards = "".join(_card(each, anchors.get(each.section, "")) for each in key_figures)
        parts.append(f'<ul class="keys" aria-label="What matters">{cards}</ul>')
    return f'<div class="opening">{"".join(parts)}</div>'


def _card(key: KeyFigure, anchor: str) -> str:
    topic = f'<span class="topic">{within(key.topic)}</span>' if key.topic else ""
    extent = f'<span class="range" data-local>{within(key.range)}</span>' if key.range else ""
    more = f'<a class="more" href="#{anchor}">See the tables</a>' if anchor else ""
    return (
        f'<li>{topic}<span class="figure" data-local>{within(key.figure)}</span>{extent}'
        f"<p data-local>{within(key.says)}</p>{more}</li>"
    )


def _sections(sections: Sequence[Section], anchors: Sequence[str]) -> list[str]:
    parts: list[str] = []
    tables = charts = 0
    for section, anchor in zip(sections, anchors, strict=True):
        level = 3 if section.depth else 2
        parts.append(
            f'<section id="{anchor}" class="depth-{min(section.depth, 1)}">'
            f"<h{level}>{within(section.title)}</h{level}>"
        )
        if section.lead:
            parts.append(f'<p class="lead" data-local>{within(section.lead)}</p>')
        for chart in section.charts:
            charts += 1
            parts.append(chart_html(chart, charts, level + 1))
        for table in section.tables:
            tables += 1
            parts.append(table_html(table, tables, level + 1))
        if section.notes:
            lines = "".join(f"<li data-local>{within(note)}</li>" for note in section.notes)
            parts.append(f'<ul class="notes">{lines}</ul>')
        parts.append("</section>")
    return parts


def _foot(made: Mapping[str, str]) -> str:
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{_dated(value)}</dd></div>"
        for name, value in made.items()
    )
    return f'<footer><dl class="made">{pairs}</dl></footer>'


def _dated(value: str) -> str:
    return f'<time datetime="{value}">{value}</time>' if _DATE.fullmatch(value) else alone(value)


@cache
def _asset(name: str) -> str:
    return (files("realtalk.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def chart_library() -> str:
    """Vega, Vega-Lite and their loader as one script; the slow part of a page, so kept."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    # A browser hashes a script after it made its line ends plain, and ends it at the first
    # closing tag wherever that stands. Inside JavaScript's literals the backslash says nothing.
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"<(?=/script|!--)", r"<\\", code, flags=re.IGNORECASE)


def _script_hash(text: str) -> str:
    """A script or a style as the page's policy names it."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
