"""Chats of a few invented words, as columns, for the tests of joining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl
from hypothesis import strategies as st

from realtalk.formats.sessions import cut_frame
from realtalk.formats.tables import EVENTS, QUESTIONS, ChatRow, Tables, message_frame

GAP = timedelta(hours=6)
START = datetime(2024, 5, 1, 7, 30)


@dataclass(frozen=True, slots=True)
class Bubble:
    """A message, `seconds` after the start."""

    who: str
    seconds: int
    text: str
    edited: bool = False
    deleted: bool = False
    extra: str = ""
    reply: str | None = None

    @property
    def time(self) -> datetime:
        return START + timedelta(seconds=self.seconds)


def frame(said: Sequence[Bubble], chat: str = "c") -> pl.DataFrame:
    """Messages of one chat in sessions, as a reader of exports gives them."""
    columns = {
        "speaker": pl.Series([one.who for one in said], dtype=pl.String),
        "time": pl.Series([one.time for one in said], dtype=pl.Datetime("us")),
        "text": pl.Series([one.text for one in said], dtype=pl.String),
        "reply_to": pl.Series([one.reply for one in said], dtype=pl.String),
        "edited": pl.Series([one.edited for one in said], dtype=pl.Boolean),
        "deleted": pl.Series([one.deleted for one in said], dtype=pl.Boolean),
        "extra": pl.Series([one.extra for one in said], dtype=pl.String),
    }
    cut = cut_frame(pl.DataFrame(columns), GAP).with_columns(chat=pl.lit(chat))
    return message_frame(cut.to_dict(as_series=True))


def tables(*chats: tuple[str, Sequence[Bubble]], format_name: str = "whatsapp") -> Tables:
    """A corpus of chats with their names."""
    rows = [ChatRow(name, tuple(dict.fromkeys(one.who for one in said))) for name, said in chats]
    return Tables(
        "small",
        format_name,
        tuple(rows),
        pl.concat([frame(said, name) for name, said in chats]),
        pl.DataFrame(schema=EVENTS),
        pl.DataFrame(schema=QUESTIONS),
    )


@st.composite
def wholes(draw: st.DrawFn, least: int = 1, most: int = 25) -> list[Bubble]:
    """A chat in minutes, in which people often say the same in one minute."""
    steps = st.sampled_from((0, 0, 0, 2, 3, 200, 361, 5000))
    seconds = 0
    said: list[Bubble] = []
    for _ in range(draw(st.integers(least, most))):
        seconds += 60 * draw(steps)
        text = draw(st.sampled_from(("ok", "haha", "", "see you", "a walk by the river later")))
        said.append(Bubble(draw(st.sampled_from(("Mara", "Theo"))), seconds, text))
    return said
