"""Cutting at pauses: values and columns agree, and no message is lost."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exported import messages as read_messages
from exported import read
from realtalk.chat import Message
from realtalk.formats.sessions import Gap, cut_at_pauses, cut_frame, parse_gap, sorted_by_time
from refusals import refused
from text_tables import cases

START = datetime(2026, 3, 2, 18)


def messages(minutes: list[int]) -> list[Message]:
    return [
        Message(str(n), "A", START + timedelta(minutes=m), f"m{n}") for n, m in enumerate(minutes)
    ]


def test_a_pause_ends_a_session() -> None:
    sessions = cut_at_pauses(messages([0, 1, 359, 720, 2000]), timedelta(hours=6))
    assert [[m.id for m in session] for session in sessions] == [["0", "1", "2"], ["3"], ["4"]]


def test_exactly_the_gap_is_no_pause() -> None:
    for minutes, sessions in (([0, 360], 1), ([0, 361], 2)):
        times = [message.time for message in messages(minutes)]
        assert len(cut_at_pauses(messages(minutes), timedelta(hours=6))) == sessions
        columns = cut_frame(pl.DataFrame({"time": times}), timedelta(hours=6))
        assert columns["session"].n_unique() == sessions


def test_days() -> None:
    assert len(cut_at_pauses(messages([0, 300, 400]), "day")) == 2  # midnight is 360 minutes away


def test_replies_follow_the_first_message_of_their_id(tmp_path: Path) -> None:
    said = [(7, "hi", None), (7, "again", None), (8, "yes", 7), (9, "no", 6)]
    items = [
        {"id": id_, "type": "message", "from": "Ann", "from_id": "user1", "text": text}
        | {"date": "2024-05-01T09:30:00", "reply_to_message_id": answered}
        for id_, text, answered in said
    ]
    reading = read(tmp_path, {"result.json": {"name": "Ann", "messages": items}}, "telegram")
    assert [m.reply_to for m in read_messages(reading)] == [None, None, "D1:1", None]


def test_messages_without_time_stay_where_they_are() -> None:
    later, earlier = messages([10, 0])
    untimed = Message("u", "B", None, "hm")
    assert [m.id for m in sorted_by_time([later, untimed, earlier])] == ["1", "0", "u"]
    assert len(cut_at_pauses([earlier, untimed, later], timedelta(minutes=1))) == 2


@given(
    st.lists(st.integers(0, 20_000), min_size=1, max_size=40).map(sorted),
    st.sampled_from([timedelta(hours=6), timedelta(minutes=30), "day"]),
)
def test_values_and_columns_agree(minutes: list[int], gap: Gap) -> None:
    values = [
        (number, session[0].time, f"D{number}:{place}", m.text)
        for number, session in enumerate(cut_at_pauses(messages(minutes), gap), 1)
        for place, m in enumerate(session, 1)
    ]
    frame = pl.DataFrame(
        {"time": [m.time for m in messages(minutes)], "text": [m.text for m in messages(minutes)]}
    )
    columns = cut_frame(frame, gap).select("session", "session_time", "id", "text").rows()
    assert columns == values


@cases("""
    text    | hours
    6h      | 6
    " 90M " | 1.5
    1.5d    | 36
""")
def test_gap(text: str, hours: float) -> None:
    assert parse_gap(text) == timedelta(hours=hours)
    assert parse_gap("day") == "day"


@pytest.mark.parametrize("text", ["", "h", "-1h", "0m", "6", "six hours", "nanh", "1e99d"])
def test_no_gap(text: str) -> None:
    with refused("`gap=6h`"):
        parse_gap(text)
