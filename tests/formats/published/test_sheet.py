"""The annotation sheet: equal to the published JSON, and a way back for any chat."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exported import written
from realtalk.chat import Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.formats.published import realtalk
from realtalk.formats.published.sheet import FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.registry import detect
from realtalk.formats.source import Source
from refusals import refused
from shown import check
from tries import tries


def read(path: Path) -> ReadCorpus:
    return FORMAT.read(Source.open(path), ReadOptions())


def core(chat: Chat) -> list[Any]:
    return [
        (session.number, session.time, m.id, m.speaker, m.time, m.text)
        for session in chat.sessions
        for m in session.messages
    ]


# Every difference between the three sheets and the published JSON, all of them photos:
# rows whose photo the publication dropped (message that would carry it), and one photo that
# the JSON has and the sheet has no row for.
DROPPED = {
    "Chat_3_Kevin_Paola": {"D10:14", "D1:18", "D6:12", "D8:11", "D8:14"},
    "Chat_4_Emi_Paola": {"D2:10", "D2:5"},
    "Chat_10_Fahim_Muhhamed": set(),
}
ADDED = {"Chat_10_Fahim_Muhhamed": {"D20:109"}}


@pytest.mark.slow
def test_equal_to_the_published_json(data: Path) -> None:
    published = realtalk.FORMAT.read(Source.open(data / "realtalk"), ReadOptions()).corpus
    theirs = {chat.id: chat for chat in published.chats}
    reading = read(data / "realtalk" / "raw")
    assert len(reading.corpus.chats) == 3 and not reading.ledger.leftovers
    for ours in reading.corpus.chats:
        chat = theirs[ours.id]
        assert ours.speakers == chat.speakers
        assert core(ours) == core(chat)
        assert ours.events == chat.events
        assert ours.questions == chat.questions
        assert ours.aliases == chat.aliases
        photos = {m.id for m in ours.messages if m.attachments}
        published_photos = {m.id for m in chat.messages if m.attachments}
        assert photos - published_photos == DROPPED[ours.id]
        assert published_photos - photos == ADDED.get(ours.id, set())


@pytest.mark.slow
def test_whole_published_corpus_through_sheets(data: Path, tmp_path: Path) -> None:
    corpus = realtalk.FORMAT.read(Source.open(data / "realtalk"), ReadOptions()).corpus
    written("sheet", corpus, tmp_path)
    ours = {chat.id: chat for chat in read(tmp_path).corpus.chats}
    for chat in corpus.chats:
        assert core(ours[chat.id]) == core(chat)
        assert [m.attachments for m in ours[chat.id].messages] == [
            m.attachments for m in chat.messages
        ]
        assert ours[chat.id].events == chat.events
        assert ours[chat.id].questions == chat.questions


def sheet(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


HEAD = [None, "Noor", None, "Bo", "Date, Time", None, None, "Question", "Answer", "Evidence"]


def test_photo_rows_continuations_and_cells(tmp_path: Path) -> None:
    path = sheet(
        tmp_path / "a.xlsx",
        [
            [*HEAD, "Category"],
            [None, "Session 1", None, "02.03.2026, 18:00:00"],
            ["Events", "E: Noor bakes.\nloose line", None, None],
            ["D1:1", "hi", None, None, "02.03.2026, 18:00:00", None, None, "When?",
             datetime(2026, 3, 2), "D1:1,D1:3\nD1:4 ", 2.0],
            ["D1:2", None, None, None, "02.03.2026, 18:00:10"],
            [None, None, "D1:3", "ok", "02.03.2026, 18:05:00"],
            ["done"],
            [None, "Session 1.1", None, "02.03.2026, 18:00:00"],
            ["D1:4", "later", None, None, "03.03.2026, 08:00:00"],
            ["?", "stray", None, None, None],
        ],
    )  # fmt: skip
    assert detect(Source.open(path)) == "sheet"
    check(
        read(path),
        """
        a (Noor, Bo)
        session 1, 2026-03-02 18:00:00
        D1:1 2026-03-02 18:00:00 Noor: hi
            image
            {"photo_rows":["D1:2"]}
        D1:3 2026-03-02 18:05:00 Bo: ok
        session 2, 2026-03-03 08:00:00
        D1:4 2026-03-03 08:00:00 Noor: later
        event 1 of Noor: Noor bakes.
        event 1 of Noor: loose line {"id":"loose line"}
        Q1 temporal: When? 2 March, 2026
            D1:1, D1:3, D1:4 |  | D1:1, D1:3, D1:4 None
        9 entries = 4 in messages + 4 system + 1 left over
        a.xlsx: row 10: is not a message, session or events row
        """,
    )


def test_a_formula_stays_text(tmp_path: Path) -> None:
    when = datetime(2026, 1, 1, 9)
    text = "=HYPERLINK(1)\x07 _x0041_"
    session = Session(1, when, (Message("D1:1", "A", when, text),))
    (path,) = written(
        "sheet", Corpus("c", "realtalk", (Chat("x", ("A", "B"), (session,)),)), tmp_path
    )
    cell = openpyxl.load_workbook(path).worksheets[0]["B7"]
    assert cell.data_type == "s"
    assert next(iter(read(path).corpus.chats[0].messages)).text == text


def test_too_long_for_a_cell_is_said(tmp_path: Path) -> None:
    session = Session(1, None, (Message("D1:1", "A", None, "x" * 40_000),))
    with refused("does not fit a cell"):
        written("sheet", Corpus("c", "realtalk", (Chat("x", ("A", "B"), (session,)),)), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04broken", b"no zip at all", b"PK\x05\x06" + b"\0" * 18]
)
def test_broken_workbooks(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with refused():
        read(path)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
times = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)).map(
    lambda time: time.replace(microsecond=0)
)


@st.composite
def chats(draw: st.DrawFn) -> Chat:
    speakers = ("Ana", "Bo Li", "Cy")[: draw(st.integers(2, 3))]
    stamps = sorted(draw(st.lists(times, min_size=1, max_size=8)))
    messages = tuple(
        Message(
            f"D1:{number}",
            draw(st.sampled_from(speakers)),
            stamp,
            draw(texts),
            draw(st.sampled_from([(), (Attachment("image", "a.jpg", "", "a dog"),)])),
        )
        for number, stamp in enumerate(stamps, 1)
    )
    events = (Event(1, "Ana", "Ana sings: loudly."),) if draw(st.booleans()) else ()
    question = Question("Q1", "Who?", "Ana", "multi_hop", ("D1:1",), (), ("D1:1",))
    return Chat("chat", speakers, (Session(1, stamps[0], messages),), events, (question,))


@settings(max_examples=tries(40), deadline=None)
@given(chat=chats())
def test_any_chat_survives_a_sheet(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> None:
    folder = tmp_path_factory.mktemp("sheet")
    written("sheet", Corpus("c", "realtalk", (chat,)), folder)
    (ours,) = read(folder).corpus.chats
    assert replace(ours, aliases=()) == chat
