"""A corpus as columns → one row per message with everything that a portrait counts.

    message_lines(tables)
    → chat | speaker | date | hour | words | question | links | image | … | starts | ends | reply

`starts` and `ends` mark the first and the last message of a session, `turn` the first message of
a turn, and `reply` is the time in seconds since the other person's last message of the same
session. Dates and hours are the export's own clock; a message without a time has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from realtalk.chat import Message, calls_in
from realtalk.describe.counting import count_words, with_beginnings
from realtalk.formats.tables import Tables

Unit: TypeAlias = Literal["second", "minute"]

# Kinds of attachments, as the page names them; any other kind is a file.
MEDIA = ("image", "video", "audio", "sticker", "file")
_NO_MEDIA = ("call", "link")
# Latin, Greek, Arabic, Armenian, Ethiopic and full-width question marks.
_QUESTION = r"[?\u037e\u061f\u055e\u1367\uff1f]"
ADDRESS = r"(?i)\b(?:https?://|www\.)[^\s<>\"']+"
# Letters of scripts that do not part words by spaces.
SPACELESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_REACTIONS = pl.Struct(
    {
        "reactions": pl.List(
            pl.Struct({"emoji": pl.String, "by": pl.List(pl.String), "count": pl.Int64})
        )
    }
)


@dataclass(frozen=True)
class MessageLines:
    """What is counted of every message, in the order of the chats.

    `unit` is the resolution of the export's clock. `spaceless` says that the words of this
    language are not parted by spaces, so that counting them means little.
    """

    frame: pl.DataFrame
    reactions: pl.DataFrame  # chat | date | giver | receiver | count
    calls: pl.DataFrame  # chat | date | speaker | count: those that the app tells as notices
    unit: Unit
    spaceless: bool


def message_lines(tables: Tables) -> MessageLines:
    """One row per message. The column `text` stays, for what counts words."""
    frame = with_beginnings(
        tables.messages.select(
            "chat",
            "session",
            "id",
            "reply_to",
            "speaker",
            "time",
            "text",
            "attachments",
            "edited",
            "deleted",
            "extra",
        )
    )
    text = pl.col("text")
    time = pl.col("time")
    kinds = pl.col("attachments").list.eval(pl.element().struct.field("kind"))
    lines = frame.with_columns(
        time.dt.date().alias("date"),
        time.dt.hour().alias("hour"),
        count_words(text).alias("words"),
        text.str.len_chars().alias("characters"),
        text.str.contains(_QUESTION).alias("question"),
        (text.str.count_matches(ADDRESS) + _count(kinds, pl.element() == "link")).alias("links"),
        *(_count(kinds, pl.element() == kind).alias(kind) for kind in MEDIA if kind != "file"),
        _count(kinds, ~pl.element().is_in([*MEDIA[:-1], *_NO_MEDIA])).alias("file"),
        _count(kinds, pl.element() == "call").alias("calls"),
        pl.col("new_session").alias("starts"),
        pl.col("new_session").shift(-1, fill_value=True).alias("ends"),
        pl.col("new_turn").alias("turn"),
        pl.when(pl.col("new_turn") & ~pl.col("new_session") & (pl.col("gap") >= 0))
        .then(pl.col("gap") // 1_000_000)
        .alias("reply"),
    )
    return MessageLines(
        lines.drop("attachments", "extra", "gap", "new_session", "new_turn"),
        _reactions(lines),
        _calls(tables, lines),
        _unit(frame["time"]),
        _is_spaceless(frame["text"]),
    )


def _count(kinds: pl.Expr, condition: pl.Expr) -> pl.Expr:
    return kinds.list.eval(condition.cast(pl.Int64)).list.sum().fill_null(0)


def _reactions(lines: pl.DataFrame) -> pl.DataFrame:
    """One row per reaction: who gave it, where the app tells, and who got it."""
    marked = lines.filter(pl.col("extra").str.contains('"reactions"', literal=True))
    parsed = marked.select(
        "chat",
        "date",
        pl.col("speaker").alias("receiver"),
        pl.col("extra").map_elements(_marks, return_dtype=_REACTIONS).struct.field("reactions"),
    )
    marks = parsed.explode("reactions").drop_nulls("reactions").unnest("reactions")
    givers = marks.explode("by").rename({"by": "giver"})
    by_giver = givers.filter(pl.col("giver").is_not_null()).select(
        "chat", "date", "receiver", "giver", "emoji", pl.lit(1, pl.Int64).alias("count")
    )
    # What is counted beyond the names that the app gives came from somebody unnamed.
    unnamed = marks.select(
        "chat",
        "date",
        "receiver",
        pl.lit(None, pl.String).alias("giver"),
        "emoji",
        (pl.col("count") - pl.col("by").list.len()).alias("count"),
    ).filter(pl.col("count") > 0)
    return pl.concat([by_giver, unnamed])


def _calls(tables: Tables, lines: pl.DataFrame) -> pl.DataFrame:
    """Calls per chat, day and caller; one before the first or after the last message is theirs."""
    first, last = lines["date"].min(), lines["date"].max()
    rows = [
        {"chat": row.id, "date": call.time and call.time.date(), "speaker": call.speaker}
        for row in tables.chats
        for call in calls_in(row.extra)
        if call.speaker in row.speakers
    ]
    schema = {"chat": pl.String, "date": pl.Date, "speaker": pl.String}
    frame = pl.DataFrame(rows, schema=schema).with_columns(
        pl.col("date").clip(pl.lit(first, pl.Date), pl.lit(last, pl.Date))
    )
    return frame.group_by("chat", "date", "speaker").len("count")


def _marks(extra: str) -> dict[str, object]:
    """The reactions that a reader kept."""
    marks = Message("", "", None, "", extra=extra).reactions
    return {"reactions": [{"emoji": m.emoji, "by": list(m.by), "count": m.count} for m in marks]}


def _unit(times: pl.Series) -> Unit:
    """Minutes, where no message has a second of its own."""
    return "second" if (times.drop_nulls().dt.second() != 0).any() else "minute"


def _is_spaceless(texts: pl.Series) -> bool:
    some = texts.gather_every(max(1, len(texts) // 5000))
    letters = int(some.str.count_matches(r"\p{L}").sum())
    return letters > 0 and int(some.str.count_matches(SPACELESS).sum()) > 0.3 * letters
