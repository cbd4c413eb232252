"""The pages that only read: chats, messages, search, labels; and where a typed word or day is.

GET /chat/0/messages/3 → fifty messages as HTML

    jump(open_chat, "kettle", after=None)         → Jump(place=4, number=1, total=2)
    jump(open_chat, "kettle", after=4)            → Jump(place=5, number=2, total=2)
    jump(open_chat, "2 March 2026", after=None)   → Jump(171, 1, 1, day="Mon 2 Mar 2026")
    jump(open_chat, "March 2026", after=171)      → the first message of the next day in that month
    jump(open_chat, "3 March 2026", after=None)   → nobody wrote: the nearest day, `exact` is False

Behind the last place comes the first again. A date without its year is meant in every year; a
bare year, or the name of a month alone, is a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.text.dates import days_of, typed_date
from realtalk.web import pages
from realtalk.web.asking import Asked, Opened
from realtalk.web.library import PIECE, DayHit, OpenChat
from realtalk.web.reviews import LAYOUTS


class DayHits(NamedTuple):
    """The days that are meant; `exact` is False where nobody wrote then: the nearest is shown."""

    days: tuple[DayHit, ...]
    exact: bool = True


class Jump(NamedTuple):
    """Where to go; None where nothing is found. `number` of `total` places."""

    place: int | None = None
    number: int = 0
    total: int = 0
    day: str = ""
    exact: bool = True


def day_hits(open_chat: OpenChat, query: str) -> DayHits | None:
    """The days that a query means; None where it is no date, or no message has a time."""
    typed, days = typed_date(query), open_chat.days
    if not days or not typed or not typed.month or not (typed.year or typed.day):
        return None
    hits = tuple(
        hit
        for hit in days
        if typed.month == hit.day.month
        and typed.year in (None, hit.day.year)
        and typed.day in (None, hit.day.day)
    )
    if hits or (span := days_of(typed)) is None:
        return DayHits(hits) if hits else None
    first, last = span

    def away(hit: DayHit) -> tuple[int, bool]:
        """How many days off, and of equals the later one first."""
        return max((first - hit.day).days, (hit.day - last).days), hit.day < first

    return DayHits((min(days, key=away),), exact=False)


def jump(open_chat: OpenChat, query: str, after: int | None = None, *, back: bool = False) -> Jump:
    """The first place of a query, or the one after (or before) a place."""
    hits = day_hits(open_chat, query)
    places = [hit.place for hit in hits.days] if hits else open_chat.places(query)
    if not places:
        return Jump()
    # Behind the last place comes the first, before the first the last.
    if back:
        at = (bisect_left(places, after or 0) - 1) % len(places)
    else:
        at = 0 if after is None else bisect_right(places, after) % len(places)
    if hits is None:
        return Jump(places[at], at + 1, len(places))
    return Jump(places[at], at + 1, len(places), pages.day(hits.days[at].day), hits.exact)


_MOST_STRIPS = 400
_MOST_BOOKS = 120


router = APIRouter()


@router.get("/")
def library(visit: Asked, q: str = "") -> HTMLResponse:
    query = q.casefold().strip()
    matches = [
        open_chat
        for open_chat in visit.studio.library.open_chats
        if query in " ".join((open_chat.chat.id, *open_chat.chat.speakers)).casefold()
    ]
    open_chats = matches[:_MOST_BOOKS]
    counts = {open_chat.number: visit.store.authors(open_chat.chat.id) for open_chat in open_chats}
    total = len(matches)
    return visit.page("library.html", counts=counts, open_chats=open_chats, total=total, q=q)


@router.get("/csrf")
def csrf(visit: Asked) -> JSONResponse:
    # A page that outlived its server asks for the new token; other sites cannot read it.
    return JSONResponse({"csrf": visit.keys.csrf})


@router.get("/chat/{number}")
def chat(visit: Asked, open_chat: Opened, at: int = 0, who: str = "") -> HTMLResponse:
    at = max(0, min(at, len(open_chat.messages) - 1))
    author, items = visit.items_to_show(open_chat, who)
    return visit.page(
        "chat.html",
        open_chat,
        at=at,
        who=author,
        annotators=visit.studio.annotators(open_chat, visit.me),
        counts=pages.session_counts(open_chat, items),
        first_piece=at // PIECE,
        rows=open_chat.piece(at // PIECE),
        strips=visit.studio.turn_labels(open_chat),
        layouts=LAYOUTS,
        starts=[
            (start, session.number, pages.day(session.time)) for start, session in open_chat.starts
        ],
    )


@router.get("/chat/{number}/messages/{piece}")
def messages(visit: Asked, open_chat: Opened, piece: int) -> HTMLResponse:
    rows, strips = open_chat.piece(max(0, piece)), visit.studio.turn_labels(open_chat)
    return visit.page("messages.html", open_chat, rows=rows, strips=strips)


@router.get("/chat/{number}/search")
def search(visit: Asked, open_chat: Opened, q: str = "") -> HTMLResponse:
    hits, days = open_chat.search(q), day_hits(open_chat, q)
    return visit.page("hits.html", open_chat, hits=hits, days=days)


@router.get("/chat/{number}/glance")
def glance(visit: Asked, open_chat: Opened) -> HTMLResponse:
    return visit.page("glance.html", sentences=open_chat.glance)


@router.get("/chat/{number}/jump")
def jump_to(
    open_chat: Opened, q: str = "", after: int | None = None, back: bool = False
) -> JSONResponse:
    return JSONResponse(jump(open_chat, q, after, back=back)._asdict())


@router.get("/chat/{number}/strips")
def strips(visit: Asked, open_chat: Opened, places: str = "") -> JSONResponse:
    labels, messages = visit.studio.turn_labels(open_chat), open_chat.messages
    if not re.fullmatch(r"(?:[0-9]{0,15},)*[0-9]{0,15}", places):
        raise RealtalkError("places are numbers of messages, with commas between them")
    numbers = [int(part) for part in places.split(",") if part]
    visible = [place for place in numbers if place < len(messages)]
    if visible:
        labels.reading(messages[visible[0]].id)
    strips_html = {}
    for place in visible[:_MOST_STRIPS]:
        if strip := labels.of(messages[place].id):
            # A turn's later messages show its label small.
            same = place > 0 and labels.of(messages[place - 1].id) is strip
            strips_html[place] = pages.render("strip.html", strip=strip, strips=labels, same=same)
    progress = dict(zip(("done", "total", "note"), labels.progress, strict=True))
    return JSONResponse(progress | {"strips": strips_html})
