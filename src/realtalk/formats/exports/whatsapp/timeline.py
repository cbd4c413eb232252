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

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

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


class Decision(NamedTuple):
    """The order taken, and how it was found."""

    order: Order
    ground: Literal["evidence", "span", "default", "told"]


def candidates(heads: pl.DataFrame) -> tuple[Order, ...]:
    """The orders that fit where the four-digit year stands ("a" first, "c" last, "" none)."""
    if heads["wide"][0] == "a":
        return ("ymd", "ydm")
    return ("dmy", "mdy") if heads["wide"][0] == "c" else ("dmy", "mdy", "ymd", "ydm")


def decide(heads: pl.DataFrame, dates: DateOrder | None, where: str) -> Decision:
    """The order of one family of headers (in file order); `dates` overrules the evidence."""
    orders = list(candidates(heads))
    if dates is not None:
        if dates not in orders:
            raise RealtalkError(
                f"the date does not fit the order {dates}",
                where=f"{where}, line {int(heads['row'][0]) + 1}",
                fix=f"leave `dates=` out or pass `dates={orders[0]}`",
            )
        return Decision(dates, "told")
    runs = _runs(heads)
    latest = (date.today() + timedelta(days=2)).toordinal()
    days_by_order = {order: _days(runs, order) for order in orders}
    rules: tuple[Callable[[Order], int], ...] = (
        lambda order: sum(day is None for day in days_by_order[order]),
        lambda order: sum(
            day is not None and not _WHATSAPP_BEGAN <= day <= latest for day in days_by_order[order]
        ),
        lambda order: _wrong_media(heads, order),
        lambda order: sum(step < 0 for step in _steps(days_by_order[order])),
    )
    for rule in rules:
        if len(orders) > 1:
            costs = {order: rule(order) for order in orders}
            orders = [order for order in orders if costs[order] == min(costs.values())]
    if len(orders) == 1:
        return Decision(orders[0], "evidence")
    if {*orders} <= {"ymd", "ydm"}:
        return Decision("ymd", "evidence")  # no phone writes year, day, month
    spans = sorted((1 + sum(map(abs, _steps(days_by_order[order]))), order) for order in orders)
    month_first = heads["half"][0] and "/" in heads["family"][0]
    usual = ("mdy" if month_first else "dmy", "dmy", "mdy", "ymd", "ydm")
    if len({tuple(days_by_order[order]) for order in orders}) == 1:
        return Decision(min(orders, key=usual.index), "evidence")
    # The same reading may be shared by two orders; only a clear lead over all others counts.
    if spans[0][0] * CLEARLY < spans[1][0]:
        return Decision(spans[0][1], "span")
    near = [order for span, order in spans if span <= spans[0][0] * CLEARLY]
    return Decision(min(near, key=usual.index), "default")


def _runs(heads: pl.DataFrame) -> list[Triple]:
    """The dates as they follow each other, each stretch of equal ones once."""
    return _first_of_runs(heads.select("a", "b", "c")).rows()


def _first_of_runs(dates: pl.DataFrame) -> pl.DataFrame:
    triple = pl.col("a", "b", "c")
    changed = pl.any_horizontal(triple != triple.shift(1)).fill_null(True)
    return dates.drop_nulls().filter(changed)


def turning_row(heads: pl.DataFrame) -> int | None:
    """The row from which day and month stand the other way round, where dates prove both ways.

    A phone whose region is changed goes on with headers of the same shape: 28/02/2021, 03/01/2021.
    """
    dates = _first_of_runs(heads.select("row", "a", "b", "c"))
    runs = dates.select("a", "b", "c").rows()
    day_first, month_first = _days(runs, "dmy"), _days(runs, "mdy")
    for before, after in ((day_first, month_first), (month_first, day_first)):
        place = _turning_point(list(zip(before, after, strict=True)))
        if place is not None:
            return int(dates["row"][place])
    return None


def _turning_point(days: list[tuple[int | None, int | None]]) -> int | None:
    """Where the second reading of the dates takes over from the first, with the shortest way."""
    first = [at for at, (old, new) in enumerate(days) if old is not None and new is None]
    second = [at for at, (old, new) in enumerate(days) if old is None and new is not None]
    if not first or not second or first[-1] > second[0]:
        return None
    places = range(first[-1] + 1, second[0] + 1)
    before = [old for at in places if (old := days[at - 1][0]) is not None]
    after = [new for at in places if (new := days[at][1]) is not None]
    if not len(before) == len(after) == len(places):
        return None  # a day that is none in either reading
    # How far the one reading has come, and how far the other need not go.
    gone, saved = (
        accumulate((abs(b - a) for a, b in pairwise(side)), initial=0) for side in (before, after)
    )
    ways = zip(places, before, after, gone, saved, strict=True)
    turns = [(new - old + way - rest, at) for at, old, new, way, rest in ways if new >= old]
    if not turns:
        return None
    _, best = min(turns)
    later = [new for _, new in days[best:]]
    steady = all(
        day is not None and next_day is not None and next_day >= day - 1
        for day, next_day in pairwise(later)
    )
    return best if steady else None


def times(heads: pl.DataFrame, order: Order) -> pl.Series:
    """The wall clock of each header; null where there is no such day or time."""
    triple = ["a", "b", "c"]
    calendar = _calendar(_runs(heads), order)
    unique = heads.select(triple).unique()
    days = [_day(numbers, order, calendar) for numbers in unique.iter_rows()]
    unique = unique.with_columns(pl.Series("day", days, dtype=pl.Int64))
    day = heads.select(triple).join(unique, on=triple, how="left", maintain_order="left")["day"]
    clock = heads.select(
        pl.when((pl.col.hour < 24) & (pl.col.minute < 60) & (pl.col.second < 61)).then(
            pl.col.hour.cast(pl.Int64) * 3600 + pl.col.minute * 60 + pl.col.second
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


def _calendar(runs: Iterable[Triple], order: Order) -> Calendar:
    place = order.index("y")
    return calendar_of([triple[place] for triple in runs], date.today().year)


def _days(runs: Sequence[Triple], order: Order) -> list[int | None]:
    calendar = _calendar(runs, order)
    return [_day(triple, order, calendar) for triple in runs]


def _steps(days: Iterable[int | None]) -> Iterator[int]:
    """From each day to the next, days that are none left out."""
    return (after - before for before, after in pairwise(day for day in days if day is not None))


def _wrong_media(heads: pl.DataFrame, order: Order) -> int:
    """How many media names state another day than their message."""
    calendar = _calendar(_runs(heads), order)
    rows = heads.head(_MEDIA_ROWS).select(
        "a", "b", "c", name=pl.col.text.str.extract_groups(_MEDIA_DATE)
    )
    wrong = 0
    for a, b, c, year, month, day in rows.unnest("name").drop_nulls().iter_rows():
        in_name = ordinal(int(year), int(month), int(day), "gregorian")
        stamped = _day((a, b, c), order, calendar)
        wrong += in_name is not None and (stamped is None or abs(in_name - stamped) > 1)
    return wrong


_SLACK = timedelta(hours=1)  # messages arrive late
_DAY = timedelta(days=1)
_MOST_FAMILIES = 12
_TURNED = "|turned"  # ends the family of headers whose day and month have changed places
_FEW = 3
_STRATEGIES: dict[str, Literal["backward", "forward"]] = {"before": "backward", "after": "forward"}


class Timeline(NamedTuple):
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
    if not heads.height:
        return Timeline(heads, ())
    counts = heads["family"].value_counts().sort(["count", "family"], descending=[True, False])
    sizes = dict(counts.iter_rows())
    main = str(heads["family"][0])
    share = sizes[main] / heads.height
    if share < 0.1 and (sizes[main] < 3 or share < 0.01):
        main = next(iter(sizes))
    others = [name for name in sizes if name != main][:_MOST_FAMILIES]
    if dates is None:
        heads, turned = _mark_turned_dates(heads, main)
        others = [*turned, *others]
    rows = heads.filter(pl.col.family == main)
    decision = decide(rows, dates, where)
    calendar = _calendar(_runs(rows), decision.order)
    accepted = rows.with_columns(times(rows, decision.order), part=pl.lit(0))
    if decision.ground == "told":
        _check_stated(accepted, decision.order, where)
    accepted = accepted.filter(pl.col.time.is_not_null())
    for name in others:
        if _is_copied(name) and not _is_copied(main):
            continue
        rows = heads.filter(pl.col.family == name)
        if _is_strangers(accepted, rows) or _twins(accepted, rows) == rows.height:
            continue
        is_known = _is_known(accepted, rows)
        fitting = _fitting(accepted, rows, decision.order, dates, is_known=is_known)
        enough = is_known or rows.height >= max(_FEW, heads.height // 20)
        fits = fitting.height >= 0.9 * rows.height
        if not fits and accepted.height and _is_second_export(accepted, rows):
            second = _add_times(rows, decision.order, dates, where)
            if not _is_of_another_chat(accepted, second):
                accepted = pl.concat([accepted, second]).sort("row")
        elif name[:1] == main[:1] or (enough and fits):
            accepted = pl.concat([accepted, fitting]).sort("row")
    return Timeline(
        accepted,
        tuple(_notes(decision, calendar, heads, accepted)),
        decision.order,
        decision.ground == "default",
        main,
    )


def _mark_turned_dates(heads: pl.DataFrame, main: str) -> tuple[pl.DataFrame, list[str]]:
    """With a family of its own for what people of the chat wrote after day and month had changed
    places."""
    own = pl.col.family == main
    rows = heads.filter(own)
    if rows["wide"][0] == "a" or (turn := turning_row(rows)) is None:
        return heads, []
    later = pl.col.row >= turn
    if not _is_known(rows.filter(~later), rows.filter(later)):
        return heads, []
    name = main + _TURNED
    family = pl.when(own & later).then(pl.lit(name)).otherwise("family")
    return heads.with_columns(family=family), [name]


def _check_stated(dated: pl.DataFrame, stated: Order, where: str) -> None:
    """Refuse an order under which a date does not exist that exists under another."""
    wrong = dated.filter(pl.col.time.is_null())
    for order in candidates(dated) if wrong.height else ():
        real = wrong.filter(times(wrong, order).is_not_null())
        if real.height:
            raise RealtalkError(
                f"the date does not fit the order {stated}",
                where=f"{where}, line {int(real['row'][0]) + 1}",
                fix="leave `dates=` out or pass another order: dmy, mdy or ymd",
            )


def _fitting(
    accepted: pl.DataFrame,
    rows: pl.DataFrame,
    like: Order,
    dates: DateOrder | None,
    *,
    is_known: bool,
) -> pl.DataFrame:
    """Rows of another family whose times lie between those of their accepted neighbours.

    `is_known` says that people of the chat speak in them.
    """
    # Equal fits go to the main family's order, so it is tried first.
    orders: Sequence[Order] = sorted(candidates(rows), key=lambda order: order != like)
    if dates is not None and dates in orders:
        orders = (dates,)
    around = accepted.select("row", "time").sort("row")
    neighbours = {
        name: rows.select("row").join_asof(around, on="row", strategy=strategy)["time"]
        for name, strategy in _STRATEGIES.items()
    }
    time, before, after = pl.col.time, pl.col.before, pl.col.after
    nearer = pl.min_horizontal((time - before).abs(), (time - after).abs())
    best = rows.head(0)
    nearest = 0.0
    for order in orders:
        dated = rows.with_columns(times(rows, order), part=pl.lit(0), **neighbours)
        fits = dated.filter(
            (time >= before - _SLACK).fill_null(True),
            (time <= after + _SLACK).fill_null(True),
            time.is_not_null(),
        )
        # Past the last sure header anything later fits: a timetable that somebody pasted.
        if fits["after"].is_null().all() and fits.height < _FEW and not is_known:
            fits = fits.head(0)
        farthest = dated.select(nearer.max()).item()
        away = 1.0 + (farthest / _DAY if farthest else 0.0)
        # Another order needs more fits, or far nearer ones.
        if (
            order == orders[0]
            or fits.height > best.height
            or (fits.height == best.height and away * CLEARLY < nearest)
        ):
            best, nearest = fits.drop(*neighbours), away
    return best


def _are_known(accepted: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Whether each of these rows that have a sender is by somebody of the chat."""
    return rows["sender"].drop_nulls().is_in(accepted["sender"].drop_nulls().unique().implode())


def _is_known(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether most of these rows are by people of the chat."""
    flags = _are_known(accepted, rows)
    return len(flags) > 0 and int(flags.sum()) * 3 >= len(flags) * 2


def _twins(accepted: pl.DataFrame, rows: pl.DataFrame) -> int:
    """How many rows say what the same person says elsewhere: all of them do where it is quoted."""
    messages = accepted.select("sender", "text").drop_nulls().unique()
    return rows.join(messages, on=["sender", "text"], how="semi").height


def _is_of_another_chat(accepted: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether rows of the time of this chat share nothing with it, as its own export would."""
    start, end = accepted["time"].min(), accepted["time"].max()
    inside = second.filter(pl.col.time.is_between(start, end))
    return inside.height >= _FEW and not _twins(accepted, inside)


def _is_strangers(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether rows are an extract of another chat: in one piece, nobody in it speaks elsewhere."""
    flags = _are_known(accepted, rows)
    if len(flags) < _FEW or not accepted.height:
        return False
    first, last = rows["row"][0], rows["row"][-1]
    between = accepted["row"].is_between(first, last).any()
    return bool(accepted["row"][-1] > last and not between and not flags.any())


def _is_copied(family: str) -> bool:
    """Messages copied from a chat stand in brackets without the seconds that exports have there."""
    return family.startswith("[") and family.endswith("|False")


def _is_second_export(accepted: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether people of the chat speak in these rows, all behind or all before the others."""
    if rows.height < _FEW:
        return False
    behind = rows["row"][0] > accepted["row"][-1]
    return bool(behind or rows["row"][-1] < accepted["row"][0]) and _is_known(accepted, rows)


def _add_times(
    rows: pl.DataFrame, like: Order, dates: DateOrder | None, where: str
) -> pl.DataFrame:
    """Rows of a second export with their times; in the order of the first where theirs is open."""
    orders = candidates(rows)
    order, ground = decide(rows, dates if dates in orders else None, where)
    order = like if ground == "default" and like in orders else order
    dated = rows.with_columns(times(rows, order), part=pl.lit(1))
    return dated.filter(pl.col.time.is_not_null())


def _notes(
    decision: Decision, calendar: Calendar, heads: pl.DataFrame, accepted: pl.DataFrame
) -> Iterator[str]:
    """What was assumed, and what was found and not taken for a message."""
    spelled = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
    name = spelled.get(decision.order, "year/day/month")
    grounds = {
        "default": f"the dates do not tell their order; {name} was assumed",
        "span": f"the dates were read as {name} because the chat is then far shorter",
    }
    if ground := grounds.get(decision.ground):
        yield f"{ground}: pass `dates=dmy`, mdy or ymd if that is wrong"
    if calendar == "islamic":
        yield "dates of the Islamic calendar were converted by rule and may be a day off"
    elif calendar != "gregorian":
        yield f"dates of the {calendar.capitalize()} calendar were converted"
    if second := int((accepted["part"] == 1).sum()):
        yield f"a second export stands in the file, with headers of its own: {second:,}"
    rest = heads.filter(~pl.col.row.is_in(accepted["row"].implode()))
    if rest.height:
        yield (
            "lines that begin like a message of another export and were taken for text: "
            f"{rest.height:,} (the first is line {int(rest['row'][0]) + 1:,})"
        )
    for row in heads.filter(pl.col.family.str.ends_with(_TURNED))["row"].head(1):
        yield f"day and month change places in the dates from line {row + 1:,} on"
