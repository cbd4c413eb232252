"""A corpus as columns → one row per message with everything that a portrait counts.

    message_lines(tables)
    → chat | speaker | date | hour | words | question | links | image | … | starts | ends | reply

`starts` and `ends` mark the first and the last message of a session, `turn` the first message of
a turn, and `reply` is the time in seconds since the other person's last message of the same
session. Dates and hours are the export's own clock; a message without a time has none.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

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
_MARKS = pl.List(pl.Struct({"emoji": pl.String, "by": pl.List(pl.String), "count": pl.Int64}))


class MessageLines(NamedTuple):
    """What is counted of every message, in the order of the chats.

    `unit` is the resolution of the export's clock. `spaceless` says that the words of this
    language are not parted by spaces, so that counting them means little.
    """

    frame: pl.DataFrame
    reactions: pl.DataFrame  # chat | date | giver | receiver | count
    calls: pl.DataFrame  # chat | date | speaker | count: those that the app tells as notices
    unit: Unit
    spaceless: bool

    @property
    def unit_seconds(self) -> int:
        return 60 if self.unit == "minute" else 1


def message_lines(tables: Tables) -> MessageLines:
    """One row per message. The column `text` stays, for what counts words."""
    frame = with_beginnings(tables.messages)
    text, kinds = pl.col("text"), pl.col("attachments").list.eval(pl.element().struct.field("kind"))
    frame = frame.select(
        "chat",
        "session",
        "id",
        "reply_to",
        "speaker",
        "time",
        "text",
        "edited",
        "deleted",
        date=pl.col("time").dt.date(),
        hour=pl.col("time").dt.hour(),
        words=count_words(text),
        characters=text.str.len_chars(),
        question=text.str.contains(_QUESTION),
        links=text.str.count_matches(ADDRESS) + _count(kinds, pl.element() == "link"),
        **{kind: _count(kinds, pl.element() == kind) for kind in MEDIA if kind != "file"},
        file=_count(kinds, ~pl.element().is_in([*MEDIA[:-1], *_NO_MEDIA])),
        calls=_count(kinds, pl.element() == "call"),
        starts="new_session",
        ends=pl.col("new_session").shift(-1, fill_value=True),
        turn="new_turn",
        reply=pl.when(pl.col("new_turn") & ~pl.col("new_session") & (pl.col("gap") >= 0)).then(
            pl.col("gap") // 1_000_000
        ),
        extra="extra",
    )
    return MessageLines(
        frame.drop("extra"),
        _reactions(frame),
        _calls(tables, frame),
        _unit(frame["time"]),
        _is_spaceless(frame["text"]),
    )


def _count(kinds: pl.Expr, condition: pl.Expr) -> pl.Expr:
    return kinds.list.eval(condition.cast(pl.Int64)).list.sum().fill_null(0)


def _reactions(lines: pl.DataFrame) -> pl.DataFrame:
    """One row per reaction: who gave it, where the app tells, and who got it."""
    marked = lines.filter(pl.col("extra").str.contains('"reactions"', literal=True))
    marks = (
        marked.select(
            "chat", "date", pl.col("extra").map_elements(_marks, _MARKS), receiver="speaker"
        )
        .explode("extra")
        .drop_nulls("extra")
        .unnest("extra")
    )
    columns = ("chat", "date", "receiver", "giver", "emoji")
    givers = marks.explode("by").rename({"by": "giver"}).drop_nulls("giver")
    # What is counted beyond the names that the app gives came from somebody unnamed.
    unnamed = marks.with_columns(pl.col("count") - pl.col("by").list.len()).filter(
        pl.col("count") > 0
    )
    return pl.concat(
        [
            givers.select(*columns, count=pl.lit(1, pl.Int64)),
            unnamed.with_columns(giver=pl.lit(None, pl.String)).select(*columns, "count"),
        ]
    )


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


def _marks(extra: str) -> list[dict[str, object]]:
    """The reactions that a reader kept."""
    marks = Message("", "", None, "", extra=extra).reactions
    return [{"emoji": mark.emoji, "by": list(mark.by), "count": mark.count} for mark in marks]


def _unit(times: pl.Series) -> Unit:
    """Minutes, where no message has a second of its own."""
    return "second" if (times.drop_nulls().dt.second() != 0).any() else "minute"


def _is_spaceless(texts: pl.Series) -> bool:
    some = texts.gather_every(max(1, len(texts) // 5000))
    letters = int(some.str.count_matches(r"\p{L}").sum())
    return letters > 0 and int(some.str.count_matches(SPACELESS).sum()) > 0.3 * letters
