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

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from realtalk.corpora.exports.whatsapp.dates import (
    CLEARLY,
    Decision,
    Order,
    candidates,
    decide,
    times,
    turning_row,
)
from realtalk.corpora.reading import DateOrder
from realtalk.errors import RealtalkError

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
    main = _main_family(heads, counts)
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


def _main_family(heads: pl.DataFrame, counts: pl.DataFrame) -> str:
    most, first = str(counts["family"][0]), str(heads["family"][0])
    count = int(counts.filter(pl.col("family") == first)["count"][0])
    share = count / heads.height
    return first if share >= 0.1 or (count >= 3 and share >= 0.01) else most


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
                fix=f"leave --dates out or pass --dates {orders[0]}",
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
                fix="leave --dates out or pass another order: dmy, mdy or ymd",
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
        notes.append(f"{ground}: pass --dates dmy, mdy or ymd if that is wrong")
    if decision.calendar == "islamic":
        notes.append("dates of the Islamic calendar were converted by rule and may be a day off")
    elif decision.calendar != "gregorian":
        notes.append(f"dates of the {decision.calendar.capitalize()} calendar were converted")
    return notes
