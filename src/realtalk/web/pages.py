"""Values as HTML: the templates, and the few words that they need in a reader's form.

    pages.render("messages.html", open_chat=open_chat, rows=rows, strips=strips) → "<article …>"

Everything that a template prints is escaped; the one exception is `marked`, which escapes
first and then puts marks around a hit.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from realtalk.ei.labels import Label
from realtalk.formats.questions import number_of
from realtalk.web.library import MARKS, PIECE, OpenChat
from realtalk.web.values import CORPUS, FINAL, StudioItem

_CATEGORIES = {
    "multi_hop": "Aggregation",
    "temporal": "Time",
    "commonsense": "Commonsense",
    "open_domain": "Open domain",
    "single_hop": "Single fact",
    "adversarial": "Not answerable",
}
_HUES = 8  # colours of speakers


def render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("realtalk.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clock": _clock,
        "day": day,
        "marked": _mark_hits,
        "level": _level,
        "percent": _percent,
        "link": _link,
        "figure": _figure,
        "who": _who,
        "people": _people,
        "apart": _apart,
    }
    environment.globals |= {
        "category_title": category_title,
        "strip_line": _strip_line,
        "CORPUS": CORPUS,
        "FINAL": FINAL,
        "PIECE": PIECE,
    }
    return environment


def context(open_chat: OpenChat) -> dict[str, Any]:
    """What the templates of one chat have in common."""
    two = len(open_chat.chat.speakers) == 2
    hues = {name: at % _HUES for at, name in enumerate(open_chat.chat.speakers)}
    right = open_chat.chat.speakers[1] if two else None
    return {"open_chat": open_chat, "chat": open_chat.chat, "hues": hues, "right": right}


def category_title(name: str) -> str:
    """How a category is shown: its number in the sheets, and a word."""
    number = number_of("realtalk", name) or number_of("locomo", name)
    title = _CATEGORIES.get(name, name.replace("_", " "))
    return f"{number} {title}" if number else title


def session_counts(open_chat: OpenChat, items: list[StudioItem]) -> dict[int, tuple[int, int]]:
    """Events and questions by session; a question belongs to the last session it rests on."""
    counts: Counter[tuple[str, int]] = Counter()
    for item in items:
        places = [open_chat.place.get(id_, -1) for id_ in item.body.get("evidence", ())]
        if item.kind == "event":
            counts["event", item.body["session"]] += 1
        elif (last := max(places, default=-1)) >= 0:
            counts["question", open_chat.session_at(last).number] += 1
    numbers = [session.number for session in open_chat.chat.sessions]
    return {number: (counts["event", number], counts["question", number]) for number in numbers}


def _clock(time: datetime | None) -> str:
    return "" if time is None else f"{time:%H:%M}"


def day(time: date | None) -> str:
    """A date as people write it: Mon 2 Mar 2026."""
    return "" if time is None else f"{time:%a} {time.day} {time:%b %Y}"


def _who(author: str) -> str:
    return {CORPUS: "from the file", FINAL: "agreed"}.get(author, author)


def _people(names: Sequence[str]) -> Markup:
    """Names beside each other, each drawn in its own direction."""
    return Markup(" · ").join(Markup("<bdi>{}</bdi>").format(name) for name in names)


def _apart(name: str) -> str:
    """A name where no markup can stand, kept from turning the numbers behind it around."""
    turned = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\u2068{name}\u2069" if turned else name


def _mark_hits(text: str) -> Markup:
    escaped = str(escape(text))
    return Markup(escaped.replace(MARKS[0], "<mark>").replace(MARKS[1], "</mark>"))  # noqa: S704


def _level(value: float | None, most: float = 1.0) -> int:
    """A bar's length in tenths."""
    return 0 if value is None else max(0, min(10, round(10 * value / most)))


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _link(url: str) -> str:
    """A web address that is safe to point at, else nothing."""
    try:
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _strip_line(strip: Label) -> str:
    """A strip in words, for those who hear the page."""
    words = [word for word in (strip.emotion, strip.sentiment) if word]
    words += [name for name in ("reflective", "grounding") if getattr(strip, name)]
    return "EI: " + (", ".join(words) or "unscored")
