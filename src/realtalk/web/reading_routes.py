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

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.text.dates import PartialDate, days_of, typed_date
from realtalk.web import pages
from realtalk.web.asking import Asked, Opened
from realtalk.web.exchange import LAYOUTS
from realtalk.web.library import PIECE, DayHit, OpenChat
from realtalk.web.pages import day


@dataclass(frozen=True, slots=True)
class DayHits:
    """The days that are meant; `exact` is False where nobody wrote then: the nearest is shown."""

    days: tuple[DayHit, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Jump:
    """Where to go; None where nothing is found. `number` of `total` places."""

    place: int | None = None
    number: int = 0
    total: int = 0
    day: str = ""
    exact: bool = True


def day_hits(open_chat: OpenChat, query: str) -> DayHits | None:
    """The days that a query means; None where it is no date, or no message has a time."""
    told = typed_date(query)
    if told is None or told.month is None or (told.year is None and told.day is None):
        return None
    days = open_chat.days
    if not days:
        return None
    found = tuple(hit for hit in days if _is_meant(hit.day, told))
    if found:
        return DayHits(found)
    meant = days_of(told)
    if meant is None:
        return None
    first, last = meant

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
    at = _next(places, after, back)
    if hits is None:
        return Jump(places[at], at + 1, len(places))
    return Jump(places[at], at + 1, len(places), day(hits.days[at].day), hits.exact)


def _next(places: Sequence[int], after: int | None, back: bool) -> int:
    """Which place comes next; around the ends."""
    if after is None:
        return len(places) - 1 if back else 0
    if back:
        return (bisect_left(places, after) - 1) % len(places)
    return bisect_right(places, after) % len(places)


def _is_meant(when: date, told: PartialDate) -> bool:
    return (
        told.year in (None, when.year) and told.month == when.month and told.day in (None, when.day)
    )


_MOST_STRIPS = 400
_MOST_BOOKS = 120


router = APIRouter()


@router.get("/")
def library(visit: Asked, q: str = "") -> HTMLResponse:
    wanted = q.casefold().strip()
    matches = [
        open_chat
        for open_chat in visit.studio.library.open_chats
        if wanted in " ".join((open_chat.chat.id, *open_chat.chat.speakers)).casefold()
    ]
    open_chats = matches[:_MOST_BOOKS]
    counts = {open_chat.number: visit.store.authors(open_chat.chat.id) for open_chat in open_chats}
    return visit.page(
        "library.html",
        counts=counts,
        open_chats=open_chats,
        total=len(matches),
        q=q,
    )


@router.get("/csrf")
def csrf(visit: Asked) -> JSONResponse:
    # A page that outlived its server asks for the new token; other sites cannot read it.
    return JSONResponse({"csrf": visit.keys.csrf})


@router.get("/chat/{number}")
def chat(visit: Asked, open_chat: Opened, at: int = 0, who: str = "") -> HTMLResponse:
    at = max(0, min(at, len(open_chat.messages) - 1))
    shown = visit.studio.shown(open_chat, visit.me, who)
    items = visit.items(open_chat, shown)
    return visit.page(
        "chat.html",
        open_chat,
        at=at,
        who=shown,
        annotators=visit.studio.annotators(open_chat, visit.me),
        counts=pages.session_counts(open_chat, items),
        first_piece=at // PIECE,
        rows=open_chat.piece(at // PIECE),
        strips=visit.studio.turn_labels(open_chat),
        layouts=LAYOUTS,
        starts=[(start, each.number, pages.day(each.time)) for start, each in open_chat.starts],
    )


@router.get("/chat/{number}/messages/{piece}")
def messages(visit: Asked, open_chat: Opened, piece: int) -> HTMLResponse:
    rows = open_chat.piece(max(0, piece))
    return visit.page(
        "messages.html",
        open_chat,
        rows=rows,
        strips=visit.studio.turn_labels(open_chat),
    )


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
    return JSONResponse(asdict(jump(open_chat, q, after, back=back)))


@router.get("/chat/{number}/strips")
def strips(visit: Asked, open_chat: Opened, places: str = "") -> JSONResponse:
    chat_strips = visit.studio.turn_labels(open_chat)
    parts = [part for part in places.split(",") if part]
    if not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        raise RealtalkError("places are numbers of messages, with commas between them")
    wanted = [int(part) for part in parts]
    lacking = [at for at in wanted if at < len(open_chat.messages)]
    if lacking:
        chat_strips.reading(open_chat.messages[lacking[0]].id)
    shown = {}
    for place in wanted[:_MOST_STRIPS]:
        if place < len(open_chat.messages) and (
            strip := chat_strips.of(open_chat.messages[place].id)
        ):
            # A turn's later messages show its label small.
            same = place > 0 and chat_strips.of(open_chat.messages[place - 1].id) is strip
            shown[place] = pages.render("strip.html", strip=strip, strips=chat_strips, same=same)
    done, total, note = chat_strips.progress
    return JSONResponse({"done": done, "total": total, "note": note, "strips": shown})
