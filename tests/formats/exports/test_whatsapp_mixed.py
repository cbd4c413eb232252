"""Files with headers of two shapes: all messages are read, and what was pasted stays text."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from text_tables import cases

START = datetime(2021, 3, 13, 9, 15)
STEP = timedelta(hours=7)
SHAPES = {
    "24 hours": "%d/%m/%Y, %H:%M - ",
    "12 hours": "%d/%m/%Y, %I:%M %p - ",
    "month first": "%m/%d/%y, %I:%M %p - ",
    "points": "%d.%m.%y, %H:%M - ",
    "iPhone": "[%d.%m.%y, %H:%M:%S] ",
    "iPhone, month first": "[%m/%d/%y, %I:%M:%S %p] ",
    "year first": "[%Y-%m-%d, %H:%M:%S] ",
}
PEOPLE = ("Mara", "Theo")


def lines(
    shape: str,
    count: int,
    start: datetime = START,
    people: tuple[str, ...] = PEOPLE,
    step: timedelta = STEP,
) -> list[str]:
    return [
        f"{start + step * at:{shape}}{people[at % len(people)]}: {start + step * at:%j %H}"
        for at in range(count)
    ]


def read(folder: Path, text: list[str]) -> ReadCorpus:
    path = folder / "WhatsApp Chat with Theo.txt"
    path.write_text("\n".join(text) + "\n", "utf-8")
    return open_reading(path).reading


def check(reading: ReadCorpus, count: int) -> None:
    """All are messages of their own, at their time, and every line is accounted for."""
    messages = reading.tables.messages
    assert messages["time"].to_list() == [START + STEP * at for at in range(count)]
    assert messages["text"].to_list() == [f"{START + STEP * at:%j %H}" for at in range(count)]
    assert set(messages["speaker"]) == set(PEOPLE)
    assert (reading.ledger.total, reading.ledger.in_messages) == (count, count)


@cases("""
    first | second
    60    | 40
    200   | 8
    30    | 2
    2     | 30
""")
def test_a_phone_that_was_changed(first: int, second: int, tmp_path: Path) -> None:
    shapes = list(SHAPES.values())
    for before, after in pairwise([*shapes, shapes[0]]):
        text = lines(before, first) + lines(after, second, START + STEP * first)
        check(read(tmp_path, text), first + second)


def test_there_and_back_again(tmp_path: Path) -> None:
    shapes = ["24 hours", "iPhone", "24 hours", "month first"]
    text = [
        line
        for place, name in enumerate(shapes)
        for line in lines(SHAPES[name], 25, START + STEP * 25 * place)
    ]
    check(read(tmp_path, text), 100)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%d/%m/%Y, %H:%M - ", "%m/%d/%Y, %H:%M - "),
        ("[%m/%d/%y, %H:%M:%S] ", "[%d/%m/%y, %H:%M:%S] "),
    ],
)
@cases("""
    first | second
    60    | 70
    200   | 60
    20    | 200
""")
def test_day_and_month_change_places(
    before: str, after: str, first: int, second: int, tmp_path: Path
) -> None:
    """The shape is the same: only the dates tell."""
    reading = read(tmp_path, lines(before, first) + lines(after, second, START + STEP * first))
    check(reading, first + second)
    [note] = [note for note in reading.notes if "change places" in note]
    assert note.endswith(f"from line {first + 1} on")


# --- what was pasted ----------------------------------------------------------------------

MAIN = SHAPES["24 hours"]
LATER = START + STEP * 20
PASTED = {
    "older words of the same people": lines(SHAPES["iPhone"], 12, START - timedelta(days=400)),
    "older words of strangers": lines(
        SHAPES["iPhone"], 12, START - timedelta(days=400), ("Old Friend", "Aunt")
    ),
    "words of strangers just now": lines(
        SHAPES["iPhone"],
        12,
        LATER - timedelta(minutes=20),
        ("Old Friend", "Aunt"),
        timedelta(minutes=1),
    ),
    "the same, in a like shape": lines(
        SHAPES["12 hours"], 12, LATER - timedelta(minutes=20), ("Old Friend",), timedelta(minutes=1)
    ),
    "words of this chat": lines(SHAPES["iPhone"], 2, LATER - STEP),
    "one line of this chat": lines(SHAPES["points"], 1, LATER - STEP),
}


@pytest.mark.parametrize("name", PASTED)
def test_an_extract_inside_a_message(name: str, tmp_path: Path) -> None:
    text = lines(MAIN, 40)
    text[20:21] = [text[20], *PASTED[name]]
    reading = read(tmp_path, text)
    messages = reading.tables.messages
    assert messages.height == 40
    assert set(messages["speaker"]) == set(PEOPLE)
    assert messages["text"][20].splitlines()[1:] == PASTED[name]
    assert reading.ledger.in_messages == len(text)


@pytest.mark.parametrize(
    "name", ["older words of strangers", "words of this chat", "one line of this chat"]
)
def test_an_extract_in_the_last_message(name: str, tmp_path: Path) -> None:
    reading = read(tmp_path, lines(MAIN, 21) + PASTED[name])
    assert reading.tables.messages.height == 21
    assert reading.tables.messages["text"][20].splitlines()[1:] == PASTED[name]


def test_an_extract_of_another_chat_of_the_same_people(tmp_path: Path) -> None:
    """It lies in the time of this chat and shares no message with it."""
    other = [f"{line} (in the group)" for line in lines(SHAPES["iPhone"], 9, START + STEP * 3)]
    reading = read(tmp_path, lines(MAIN, 40) + other)
    assert reading.tables.messages.height == 40
    assert any("taken for text: 9" in note for note in reading.notes)
