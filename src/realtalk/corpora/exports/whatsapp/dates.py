"""Which number of a header's date is the day, decided from the whole file.

    numbers 03/04/21, 04/04/21, 05/04/21 ... → dmy: three days in a row, not three months

An order is judged by, in turn: dates that do not exist under it, dates before WhatsApp
or after today, dates inside the names of attached media, steps back in time, and how
long the chat would have taken. What stays open takes the documented default: day first,
but month first where a 12-hour clock meets slashes; the reader then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

import polars as pl

from realtalk.corpora.exports.whatsapp.calendars import Calendar, calendar_of, ordinal

Order = Literal["dmy", "mdy", "ymd", "ydm"]
_WHATSAPP_BEGAN = date(2009, 1, 1).toordinal()
_EPOCH = date(1970, 1, 1).toordinal()
# "IMG-20190620-WA0001.jpg", "00000012-PHOTO-2023-12-29-01-06-59.jpg"
_MEDIA_DATE = (
    r"(?:IMG|VID|PTT|AUD|STK|DOC|PHOTO|VIDEO|AUDIO|STICKER|GIF)-"
    r"(20[0-9]{2})-?([01][0-9])-?([0-3][0-9])"
)
_MEDIA_ROWS = 200_000  # evidence enough; a file this long has decided long before
CLEARLY = 8  # a chat that would be this many times shorter is the likelier reading

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Decision:
    """The order taken, the calendar, and how it was found."""

    order: Order
    calendar: Calendar
    ground: Literal["evidence", "span", "default", "told"]


def candidates(wide: str) -> tuple[Order, ...]:
    """The orders that fit where the four-digit year stands ("a" first, "c" last, "" none)."""
    if wide == "a":
        return ("ymd", "ydm")
    return ("dmy", "mdy") if wide == "c" else ("dmy", "mdy", "ymd", "ydm")


def default(orders: Sequence[Order], *, half: bool, slashes: bool) -> Order:
    """The documented order of a date that its file leaves open."""
    liking: tuple[Order, ...] = ("dmy", "mdy", "ymd", "ydm")
    if half and slashes:
        liking = ("mdy", "dmy", "ymd", "ydm")
    return next(order for order in liking if order in orders)


def decide(heads: pl.DataFrame, orders: Sequence[Order], *, half: bool, slashes: bool) -> Decision:
    """The order of one family of headers (columns a, b, c, text, in file order)."""
    runs = _runs(heads)
    today = date.today()
    left = {order: _days(runs, order, today.year) for order in orders}
    calendars = {order: _calendar(runs, order, today.year) for order in orders}

    def keep(cost: Callable[[Order], float]) -> None:
        costs = {order: cost(order) for order in left}
        best = min(costs.values())
        for order, value in costs.items():
            if value > best:
                del left[order]

    def chosen(order: Order, ground: Literal["evidence", "span", "default"]) -> Decision:
        return Decision(order, calendars[order], ground)

    latest = (today + timedelta(days=2)).toordinal()
    rules: tuple[Callable[[Order], float], ...] = (
        lambda order: sum(day is None for day in left[order]),
        lambda order: sum(
            day is not None and not _WHATSAPP_BEGAN <= day <= latest for day in left[order]
        ),
        _media_cost(heads, calendars),
        lambda order: _steps_back(left[order]),
    )
    for rule in rules:
        if len(left) > 1:
            keep(rule)
    if len(left) == 1:
        return chosen(next(iter(left)), "evidence")
    if left.keys() <= {"ymd", "ydm"}:
        return chosen("ymd", "evidence")  # no phone writes year, day, month
    spans = sorted((_span(days), order) for order, days in left.items())
    if len({tuple(days) for days in left.values()}) == 1:
        return chosen(default(list(left), half=half, slashes=slashes), "evidence")
    # The same reading may be shared by two orders; only a clear lead over all others counts.
    if spans[0][0] * CLEARLY < spans[1][0]:
        return chosen(spans[0][1], "span")
    near = [order for span, order in spans if span <= spans[0][0] * CLEARLY]
    return chosen(default(near, half=half, slashes=slashes), "default")


def turning_row(heads: pl.DataFrame) -> int | None:
    """The row from which day and month stand the other way round, where dates prove both ways.

    A phone whose region is changed goes on with headers of the same shape: 28/02/2021, 03/01/2021.
    """
    dates = heads.select("row", "a", "b", "c").drop_nulls()
    triple = pl.col("a", "b", "c")
    changed = pl.any_horizontal(triple != triple.shift(1)).fill_null(True)
    rows, *numbers = dates.filter(changed).get_columns()
    runs: list[Triple] = list(zip(*(column.to_list() for column in numbers), strict=True))
    orders: tuple[Order, Order] = ("dmy", "mdy")
    for before, after in (orders, orders[::-1]):
        year = date.today().year
        days = list(zip(_days(runs, before, year), _days(runs, after, year), strict=True))
        place = _turning_point(days)
        if place is not None:
            return int(rows[place])
    return None


def _turning_point(days: list[tuple[int | None, int | None]]) -> int | None:
    """Where the second reading of the dates takes over from the first, with the shortest way."""
    first = [at for at, (old, new) in enumerate(days) if old is not None and new is None]
    second = [at for at, (old, new) in enumerate(days) if old is None and new is not None]
    if not first or not second or first[-1] > second[0]:
        return None
    best: tuple[int, int] | None = None
    way = 0  # relative: what one step further adds to the first reading and takes from the second
    for at in range(first[-1] + 1, second[0] + 1):
        (old, _), (_, new) = days[at - 1], days[at]
        if old is None or new is None:
            return None  # a day that is none in either reading
        if new >= old and (best is None or way + new - old < best[0]):
            best = way + new - old, at
        further_old, further_new = days[at][0], days[at + 1][1] if at + 1 < len(days) else None
        if further_old is not None and further_new is not None:
            way += abs(further_old - old) - abs(further_new - new)
    if best is None:
        return None
    rest = [new for _, new in days[best[1] :]]
    steady = all(
        one is not None and other is not None and other >= one - 1 for one, other in pairwise(rest)
    )
    return best[1] if steady else None


def times(heads: pl.DataFrame, order: Order, calendar: Calendar) -> pl.Series:
    """The wall clock of each header; null where there is no such day or time."""
    unique = heads.select("a", "b", "c").unique()
    days = [_day(triple, order, calendar) for triple in unique.iter_rows()]
    known = unique.with_columns(pl.Series("day", days, dtype=pl.Int64))
    day = heads.select("a", "b", "c").join(
        known, on=["a", "b", "c"], how="left", maintain_order="left"
    )["day"]
    clock = heads.select(
        pl.when((pl.col("hour") < 24) & (pl.col("minute") < 60) & (pl.col("second") < 61)).then(
            pl.col("hour").cast(pl.Int64) * 3600 + pl.col("minute") * 60 + pl.col("second")
        )
    ).to_series()
    micros = ((day - _EPOCH) * 86_400 + clock) * 1_000_000
    return micros.cast(pl.Datetime("us")).alias("time")


def _day(triple: Iterable[int | None], order: Order, calendar: Calendar) -> int | None:
    numbers = dict(zip(order, triple, strict=True))
    year, month, day = numbers["y"], numbers["m"], numbers["d"]
    if year is None or month is None or day is None:
        return None
    return ordinal(year, month, day, calendar)


def _runs(heads: pl.DataFrame) -> list[Triple]:
    """The dates as they follow each other, each stretch of equal ones once."""
    dates = heads.select("a", "b", "c").drop_nulls()
    changed = pl.any_horizontal(pl.all() != pl.all().shift(1)).fill_null(True)
    return dates.filter(changed).rows()


def _calendar(runs: list[Triple], order: Order, year: int) -> Calendar:
    place = order.index("y")
    return calendar_of([triple[place] for triple in runs], year)


def _days(runs: list[Triple], order: Order, year: int) -> list[int | None]:
    calendar = _calendar(runs, order, year)
    return [_day(triple, order, calendar) for triple in runs]


def _steps_back(days: Iterable[int | None]) -> int:
    known = [day for day in days if day is not None]
    return sum(after < before for before, after in pairwise(known))


def _span(days: Iterable[int | None]) -> int:
    known = [day for day in days if day is not None]
    return 1 + sum(abs(after - before) for before, after in pairwise(known))


def _media_cost(heads: pl.DataFrame, calendars: dict[Order, Calendar]) -> Callable[[Order], float]:
    """How many media names state another day than their message; counted only when needed."""

    def cost(order: Order) -> float:
        rows = heads.head(_MEDIA_ROWS).select(
            "a", "b", "c", pl.col("text").str.extract_groups(_MEDIA_DATE).alias("name")
        )
        named = rows.unnest("name").drop_nulls()
        wrong = 0
        for a, b, c, year, month, day in named.iter_rows():
            in_name = ordinal(int(year), int(month), int(day), "gregorian")
            stamped = _day((a, b, c), order, calendars[order])
            if in_name is not None and (stamped is None or abs(in_name - stamped) > 1):
                wrong += 1
        return wrong

    return cost
