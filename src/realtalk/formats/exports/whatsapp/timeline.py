"""Header lines to dated messages: which header shapes of a file are real.

    a chat of "12/07/2017, 22:35 - " lines in which somebody pasted
    "[03.02.11, 10:00:00] Old Friend: ..."   → the pasted line is text, not a message

The shape of the first line rules. Another shape counts where its times fit between
those of the lines around it (a phone whose clock or language was changed), or where people of the
chat speak in it behind everything else (two exports put together). What somebody pasted lies in
the past of the message that it stands in, or is by people who never speak in the chat. Lines of a
shape that counts nowhere are text, and a note says how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

import polars as pl

from realtalk.errors import RealtalkError
from realtalk.text.calendars import Calendar, DateOrder, calendar_of, ordinal

# Which number of a header's date is the day, decided from the whole file.
#
#     numbers 03/04/21, 04/04/21, 05/04/21 ... → dmy: three days in a row, not three months
#
# An order is judged by, in turn: dates that do not exist under it, dates before WhatsApp
# or after today, dates inside the names of attached media, steps back in time, and how
# long the chat would have taken. What stays open takes the documented default: day first,
# but month first where a 12-hour clock meets slashes; the reader then says so.

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
    # The dates as they follow each other, each stretch of equal ones once.
    dates = heads.select("a", "b", "c").drop_nulls()
    changed = pl.any_horizontal(pl.all() != pl.all().shift(1)).fill_null(True)
    runs = dates.filter(changed).rows()
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


_SLACK = timedelta(hours=1)  # messages arrive late
_DAY = timedelta(days=1)
_MOST_FAMILIES = 12
_TURNED = "|turned"  # ends the family of headers whose day and month have changed places
_FEW = 3


@dataclass(frozen=True, slots=True)
class Timeline:
    """The real headers with their `time`, in file order, and what had to be assumed.

    `part` is 1 where a second export stands in the file, and 0 elsewhere.
    """

    heads: pl.DataFrame
    notes: tuple[str, ...]
    order: Order = "dmy"
    open: bool = False  # the file itself did not tell the order
    shape: str = ""  # of the headers: one phone writes them all alike


def timeline(heads: pl.DataFrame, dates: DateOrder | None, where: str) -> Timeline:
    """Decide every date of one file; `dates` overrules the evidence."""
    counts = heads["family"].value_counts().sort(["count", "family"], descending=[True, False])
    if not counts.height:
        empty = heads.with_columns(time=pl.lit(None, dtype=pl.Datetime("us")), part=pl.lit(0))
        return Timeline(empty, ())
    most, first = str(counts["family"][0]), str(heads["family"][0])
    count = int(counts.filter(pl.col("family") == first)["count"][0])
    share = count / heads.height
    main = first if share >= 0.1 or (count >= 3 and share >= 0.01) else most
    others = [name for name in counts["family"].to_list() if name != main][:_MOST_FAMILIES]
    if dates is None:
        heads, turned = _turned(heads, main)
        others = [*turned, *others]
    rows = heads.filter(pl.col("family") == main) if others else heads
    decision = _decide(rows, dates, where)
    accepted = rows.with_columns(times(rows, decision.order, decision.calendar))
    if decision.ground == "told":
        _check_stated(accepted, dates, where)
    accepted = accepted.filter(pl.col("time").is_not_null())
    accepted = accepted.with_columns(part=pl.lit(0))
    for name in others:
        if _is_copied(name) and not _is_copied(main):
            continue
        rows = heads.filter(pl.col("family") == name)
        if _is_strangers(accepted, rows) or _twins(accepted, rows) == rows.height:
            continue
        known = _is_known(accepted, rows)
        fitting = _fitting(accepted, rows, decision.order, dates, known=known)
        same_kind = name[:1] == main[:1]
        enough = known or rows.height >= max(_FEW, heads.height // 20)
        fits = fitting.height >= 0.9 * rows.height
        if not fits and accepted.height and _is_second_export(accepted, rows):
            second = _dated(rows, decision.order, dates, where).with_columns(part=pl.lit(1))
            if not _is_of_another_chat(accepted, second):
                accepted = pl.concat([accepted, second]).sort("row")
        elif same_kind or (enough and fits):
            accepted = pl.concat([accepted, fitting.with_columns(part=pl.lit(0))]).sort("row")
    return Timeline(
        accepted,
        (*_notes(decision), *_unread(heads, accepted), *_turns(heads)),
        decision.order,
        decision.ground == "default",
        main,
    )


def _turned(heads: pl.DataFrame, main: str) -> tuple[pl.DataFrame, list[str]]:
    """With a family of its own for what people of the chat wrote after day and month had changed
    places."""
    own = pl.col("family") == main
    rows = heads.filter(own)
    if str(rows["wide"][0]) == "a" or (turn := turning_row(rows)) is None:
        return heads, []
    later = pl.col("row") >= turn
    if not _is_known(rows.filter(~later), rows.filter(later)):
        return heads, []
    name = main + _TURNED
    family = pl.when(own & later).then(pl.lit(name)).otherwise("family").alias("family")
    return heads.with_columns(family), [name]


def _decide(rows: pl.DataFrame, dates: DateOrder | None, where: str) -> Decision:
    wide = str(rows["wide"][0])
    orders = candidates(wide)
    if dates is not None:
        if dates not in orders:
            raise RealtalkError(
                f"the date does not fit the order {dates}",
                where=f"{where}, line {int(rows['row'][0]) + 1}",
                fix=f"leave `dates=` out or pass `dates={orders[0]}`",
            )
        stated: tuple[Order, ...] = (dates,)
        decision = decide(rows, stated, half=False, slashes=False)
        return Decision(dates, decision.calendar, "told")
    half, slashes = bool(rows["half"][0]), "/" in str(rows["family"][0])
    return decide(rows, orders, half=half, slashes=slashes)


def _check_stated(dated: pl.DataFrame, dates: DateOrder | None, where: str) -> None:
    """Refuse an order under which a date does not exist that exists under another."""
    wrong = dated.filter(pl.col("time").is_null())
    for order in candidates(str(dated["wide"][0])) if wrong.height else ():
        decision = decide(wrong, (order,), half=False, slashes=False)
        real = wrong.filter(times(wrong, order, decision.calendar).is_not_null())
        if real.height:
            raise RealtalkError(
                f"the date does not fit the order {dates}",
                where=f"{where}, line {int(real['row'][0]) + 1}",
                fix="leave `dates=` out or pass another order: dmy, mdy or ymd",
            )


def _fitting(
    accepted: pl.DataFrame,
    rows: pl.DataFrame,
    like: Order,
    dates: DateOrder | None,
    *,
    known: bool,
) -> pl.DataFrame:
    """Rows of another family whose times lie between those of their accepted neighbours.

    `known` says that people of the chat speak in them.
    """
    orders: Sequence[Order] = candidates(str(rows["wide"][0]))
    # Equal fits go to the main family's order, so it is tried first.
    orders = sorted(orders, key=lambda order: order != like)
    if dates in orders:
        orders = (dates,)
    around = accepted.select("row", "time").sort("row")
    best: pl.DataFrame | None = None
    nearest = 0.0
    for order in orders:
        decision = decide(rows, (order,), half=False, slashes=False)
        dated = rows.with_columns(times(rows, order, decision.calendar))
        here = dated.select("row")
        before = here.join_asof(around, on="row", strategy="backward")["time"]
        after = here.join_asof(around, on="row", strategy="forward")["time"]
        fits = dated.with_columns(last=after.is_null()).filter(
            (pl.col("time") >= before - _SLACK).fill_null(True)
            & (pl.col("time") <= after + _SLACK).fill_null(True)
            & pl.col("time").is_not_null()
        )
        # Past the last sure header anything later fits: a timetable that somebody pasted.
        if fits["last"].all() and fits.height < _FEW and not known:
            fits = fits.head(0)
        away = _days_away(dated["time"], before, after)
        # Another order needs more fits, or far nearer ones.
        if (
            best is None
            or fits.height > best.height
            or (fits.height == best.height and away * CLEARLY < nearest)
        ):
            best, nearest = fits.drop("last"), away
    assert best is not None
    return best


def _days_away(times: pl.Series, before: pl.Series, after: pl.Series) -> float:
    """How far from the nearer of their neighbours times lie, in days and at least one."""
    gaps = pl.DataFrame({"at": times, "before": before, "after": after}).select(
        pl.min_horizontal(
            (pl.col("at") - name).abs() for name in (pl.col("before"), pl.col("after"))
        )
    )
    longest = gaps.to_series().max()
    return 1.0 + (longest / _DAY if isinstance(longest, timedelta) else 0.0)


def _is_known(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether most of these rows are by people of the chat."""
    senders = rows["sender"].drop_nulls()
    known = senders.is_in(accepted["sender"].drop_nulls().unique().implode())
    return len(senders) > 0 and int(known.sum()) * 3 >= len(senders) * 2


def _twins(accepted: pl.DataFrame, rows: pl.DataFrame) -> int:
    """How many rows say what the same person says elsewhere: all of them do where it is quoted."""
    said = accepted.select("sender", "text").drop_nulls().unique()
    return rows.join(said, on=["sender", "text"], how="semi").height


def _is_of_another_chat(accepted: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether rows of the time of this chat share nothing with it, as its own export would."""
    start, end = accepted["time"].min(), accepted["time"].max()
    inside = second.filter(pl.col("time").is_between(start, end))
    return inside.height >= _FEW and not _twins(accepted, inside)


def _is_strangers(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether rows are an extract of another chat: in one piece, nobody in it speaks elsewhere."""
    senders = rows["sender"].drop_nulls()
    if len(senders) < _FEW or not accepted.height:
        return False
    known = senders.is_in(accepted["sender"].drop_nulls().unique().implode())
    first, last = int(rows["row"][0]), int(rows["row"][-1])
    between = accepted.filter(pl.col("row").is_between(first, last)).height
    followed = int(accepted["row"][-1]) > last
    return followed and not between and not known.any()


def _is_copied(family: str) -> bool:
    """Messages copied from a chat stand in brackets without the seconds that exports have there."""
    return family.startswith("[") and family.endswith("|False")


def _is_second_export(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether people of the chat speak in these rows, all behind or all before the others."""
    if rows.height < _FEW:
        return False
    place = pl.col("row")
    first, last = accepted.select(place.min().alias("first"), place.max().alias("last")).row(0)
    apart = rows.filter(place > last).height or rows.filter(place < first).height
    return apart == rows.height and _is_known(accepted, rows)


def _dated(rows: pl.DataFrame, like: Order, dates: DateOrder | None, where: str) -> pl.DataFrame:
    """Rows of a second export with their times; in the order of the first where theirs is open."""
    orders = candidates(str(rows["wide"][0]))
    decision = _decide(rows, dates if dates in orders else None, where)
    order = like if decision.ground == "default" and like in orders else decision.order
    dated = rows.with_columns(times(rows, order, decision.calendar))
    return dated.filter(pl.col("time").is_not_null())


def _unread(heads: pl.DataFrame, accepted: pl.DataFrame) -> list[str]:
    """What was found and not taken for a message, for the person who reads."""
    notes = []
    if second := int((accepted["part"] == 1).sum()):
        notes.append(f"a second export stands in the file, with headers of its own: {second:,}")
    left = heads.filter(~pl.col("row").is_in(accepted["row"].implode()))
    if left.height:
        notes.append(
            "lines that begin like a message of another export and were taken for text: "
            f"{left.height:,} (the first is line {int(left['row'][0]) + 1:,})"
        )
    return notes


def _turns(heads: pl.DataFrame) -> list[str]:
    """A note where day and month change places."""
    later = heads.filter(pl.col("family").str.ends_with(_TURNED))
    at = [f"{int(row) + 1:,}" for row in later["row"].head(1)]
    return [f"day and month change places in the dates from line {line} on" for line in at]


def _notes(decision: Decision) -> list[str]:
    notes = []
    spelled = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
    name = spelled.get(decision.order, "year/day/month")
    grounds = {
        "default": f"the dates do not tell their order; {name} was assumed",
        "span": f"the dates were read as {name} because the chat is then far shorter",
    }
    if ground := grounds.get(decision.ground):
        notes.append(f"{ground}: pass `dates=dmy`, mdy or ymd if that is wrong")
    if decision.calendar == "islamic":
        notes.append("dates of the Islamic calendar were converted by rule and may be a day off")
    elif decision.calendar != "gregorian":
        notes.append(f"dates of the {decision.calendar.capitalize()} calendar were converted")
    return notes
