"""Cutting at pauses: values and columns agree, and no message is lost."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.chat import Message
from realtalk.formats.sessions import Gap, cut_frame, cut_sessions, parse_gap, sorted_by_time
from refusals import refused
from text_tables import cases

START = datetime(2026, 3, 2, 18)


def messages(minutes: list[int]) -> list[Message]:
    return [
        Message(str(n), "A", START + timedelta(minutes=m), f"m{n}") for n, m in enumerate(minutes)
    ]


def test_a_pause_ends_a_session() -> None:
    sessions = cut_sessions(messages([0, 1, 359, 720, 2000]), timedelta(hours=6))
    assert [[m.id for m in s.messages] for s in sessions] == [
        ["D1:1", "D1:2", "D1:3"],
        ["D2:1"],
        ["D3:1"],
    ]
    assert sessions[1].time == START + timedelta(minutes=720)


def test_exactly_the_gap_is_no_pause() -> None:
    for minutes, sessions in (([0, 360], 1), ([0, 361], 2)):
        times = [message.time for message in messages(minutes)]
        assert len(cut_sessions(messages(minutes), timedelta(hours=6))) == sessions
        columns = cut_frame(pl.DataFrame({"time": times}), timedelta(hours=6))
        assert columns["session"].n_unique() == sessions


def test_days() -> None:
    assert len(cut_sessions(messages([0, 300, 400]), "day")) == 2  # midnight is 360 minutes away


def test_replies_follow_the_first_message_of_their_id() -> None:
    first, second = messages([0, 1])
    twin = Message("0", "B", second.time, "again")
    reply = Message("x", "B", second.time, "yes", reply_to="0")
    stray = Message("y", "B", second.time, "no", reply_to="gone")
    (session,) = cut_sessions([first, twin, second, reply, stray], timedelta(hours=1))
    assert [m.reply_to for m in session.messages] == [None, None, None, "D1:1", None]


def test_messages_without_time_stay_where_they_are() -> None:
    later, earlier = messages([10, 0])
    untimed = Message("u", "B", None, "hm")
    assert [m.id for m in sorted_by_time([later, untimed, earlier])] == ["1", "0", "u"]
    assert len(cut_sessions([earlier, untimed, later], timedelta(minutes=1))) == 2


@given(
    st.lists(st.integers(0, 20_000), min_size=1, max_size=40).map(sorted),
    st.sampled_from([timedelta(hours=6), timedelta(minutes=30), "day"]),
)
def test_values_and_columns_agree(minutes: list[int], gap: Gap) -> None:
    values = [
        (s.number, s.time, m.id, m.text)
        for s in cut_sessions(messages(minutes), gap)
        for m in s.messages
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
