"""What every page has: its head and policy, its bar, safe text, and being written to a file.

    document("My chats", here="…", body=["<h1>…"], scripts=["runs.js"])   → "<!doctype html>…"
    alone("דנה (2)")             → "<bdi>דנה (2)</bdi>": somebody's own text
    within("2 turns of דנה, 1")  → "2 turns of <bdi>דנה</bdi>, 1": names inside our sentence
    json_text({"a": "</b>"})     → '{"a":"\\u003c/b\\u003e"}', which no parser of HTML can leave

A policy in the page's head lets exactly its own script and its own style run, by their hashes, and
lets nothing be loaded or sent. Whatever a name or a text holds, it stays text: everything is
escaped. Without `bdi` a number behind a Hebrew or Arabic name is drawn before it, and brackets
turn round; texts without such letters and marks stay as they are.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import orjson

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.files.writing import check_holder, write_text
from realtalk.formats.store import is_stored
from realtalk.pages.wording import Wording, asset

_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
# Marks that turn what follows them, too; they must not reach beyond the text they came in.
_TURNS = re.compile(f"{_LETTER}|[\u200f\u061c\u202a-\u202e\u2066-\u2069]")
# Words of one name or phrase: a comma or a Latin word between two names parts them.
_PHRASE = re.compile(rf"{_LETTER}(?:[ \-'’\"״׳־.\u200c-\u200f]*{_LETTER})*")
_MARK = re.compile("[\u202a-\u202e\u2066-\u2069]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# What could end the script element, or what JavaScript once took for the end of a line.
_UNSAFE = str.maketrans(
    {character: f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")}
)


def alone(text: str) -> str:
    """A text that is somebody's own as a whole: a name, a cell, a title."""
    return f"<bdi>{escape(text)}</bdi>" if _TURNS.search(text) else escape(text)


def within(text: str) -> str:
    """A sentence of ours that may hold other people's words."""
    parts, end = [], 0
    text = _MARK.sub("", text)
    for phrase in _PHRASE.finditer(text):
        parts += [escape(text[end : phrase.start()]), f"<bdi>{escape(phrase[0])}</bdi>"]
        end = phrase.end()
    return "".join((*parts, escape(text[end:])))


def json_text(value: Any) -> str:
    """JSON for a script element that holds data."""
    return orjson.dumps(value).decode().translate(_UNSAFE)


def document(
    title: str,
    *,
    kind: str,
    here: str,
    body: Iterable[str],
    made: Mapping[str, str],
    scripts: Sequence[str],
    data: Mapping[str, Any] | None = None,
    words: Wording | None = None,
) -> str:
    """The page. `here` is the middle of its bar, `made` what its foot says it was made with.

    Each of `data` is JSON for the scripts, by its id. `kind` is the class of the page's body.
    """
    words = words or Wording.load()
    said = {name: escape(words.say("frame", name)) for name in words.phrases["frame"]}
    style = asset("page.css")
    script = "\n".join(asset(name) for name in ("frame.js", *scripts))
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{_time_element(value)}</dd></div>"
        for name, value in made.items()
    )
    parts = (
        "<!doctype html>",
        f'<html lang="{words.language}" dir="{words.direction}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        f'<body class="{kind}">',
        f'<a class="skip" href="#main">{said["skip"]}</a>',
        f'<header class="bar"><span class="brand">realtalk</span>{here}<span class="acts">'
        f'<button type="button" id="theme" aria-label="{said["theme"]}">'
        '<span class="sun" aria-hidden="true"></span><span id="theme-name" '
        f'data-light="{said["light"]}" data-dark="{said["dark"]}">{said["dark"]}</span></button>'
        f'<button type="button" id="print">{said["print"]}</button></span></header>',
        '<div class="frame">',
        *body,
        f'<footer><dl class="made">{pairs}</dl></footer>',
        "</main></div>",
        *(
            f'<script type="application/json" id="{name}">{json_text(value)}</script>'
            for name, value in (data or {}).items()
        ),
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    )
    return "\n".join(parts)


def made_with(date: str = "date", **versions: str) -> dict[str, str]:
    """What the foot of a page made now says; `date` is the word for the day."""
    today = datetime.now(UTC).date().isoformat()
    return {"realtalk": __version__, "python": platform.python_version(), **versions, date: today}


def _time_element(value: str) -> str:
    return f'<time datetime="{value}">{value}</time>' if _DATE.fullmatch(value) else alone(value)


def _hash(text: str) -> str:
    """A script or a style as the page's policy names it."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def write_page(path: Path, text: str) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    check_page(path)
    return write_text(path, text)


def check_page(path: Path) -> None:
    """Raises where a page must not be written."""
    check_holder(path)
    where, fix = str(path), "name another file"
    if path.is_dir():
        raise RealtalkError("is a folder", where=where, fix="name a file: `out=report.html`")
    if is_stored(path.parent):
        what = "holds a stored corpus, which is not a place for a page"
        raise RealtalkError(what, where=str(path.parent), fix="name another folder")
    if path.is_file():
        with path.open("rb") as stream:
            head = stream.read(100).lstrip().lower()
        if head and not head.startswith(b"<!doctype"):
            raise RealtalkError("is a file, but not a page", where=where, fix=fix)
