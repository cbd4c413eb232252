"""A word or a day that somebody typed → the place to jump to, and the next after it.

    jump(book, "kettle", after=None)         → Jump(place=4, number=1, total=2)
    jump(book, "kettle", after=4)            → Jump(place=5, number=2, total=2)
    jump(book, "2 March 2026", after=None)   → Jump(171, 1, 1, day="Mon 2 Mar 2026")
    jump(book, "March 2026", after=171)      → the first message of the next day in that month
    jump(book, "3 March 2026", after=None)   → nobody wrote: the nearest day, `exact` is False

Behind the last place comes the first again. A date without its year is meant in every year; a
bare year, or the name of a month alone, is a word.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from realtalk.metrics.typed_days import days_of, typed_date
from realtalk.metrics.written_dates import PartialDate
from realtalk.studio.pages import day
from realtalk.studio.shelf import Book, DayHit


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def day_hits(book: Book, query: str) -> DayHits | None:
    """The days that a query means; None where it is no date, or no message has a time."""
    told = typed_date(query)
    if told is None or told.month is None or (told.year is None and told.day is None):
        return None
    days = book.days
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


def jump(book: Book, query: str, after: int | None = None, *, back: bool = False) -> Jump:
    """The first place of a query, or the one after (or before) a place."""
    hits = day_hits(book, query)
    places = [hit.place for hit in hits.days] if hits else book.places(query)
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
