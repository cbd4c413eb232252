"""CSV and TSV with named columns; the annotation sheet: equal to the published JSON, and a way back
for any chat."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exported import opened_as, written
from realtalk.chat import (
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Reaction,
    Session,
    pack_extra,
    unpack_extra,
)
from realtalk.formats.published.row_files import CSV as FORMAT
from realtalk.formats.registry import detect
from realtalk.formats.source import Source
from refusals import refused
from shown import check
from text_tables import cases
from tries import tries

PLAIN = 'From,Date,Message,Mood\nMara,2026-03-02 18:03,"hey, ""you""\nup?",\nTheo,,no,tired\n'


def _saved(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def saved_as(path: Path, *sessions: Session) -> tuple[Path, ...]:
    people = tuple(dict.fromkeys(m.speaker for session in sessions for m in session.messages))
    return written("csv", Corpus("x", "csv", (Chat("c", people, sessions),)), path)


def test_quoted_cells_over_several_lines(tmp_path: Path) -> None:
    check(
        opened_as("csv", _saved(tmp_path / "x.csv", PLAIN)),
        """
        x (Mara, Theo)
        session 1, 2026-03-02 18:03:00
        D1:1 2026-03-02 18:03:00 Mara: hey, "you"⏎up?
        D1:2 None Theo: no
            {"Mood":"tired"}
        4 lines = 3 in messages + 1 system + 0 left over
        """,
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiters_and_byte_order_marks(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = [("author", "timestamp", "content"), ("Zoë", "1772474580", "a ; b , c"), ("Q", "", "x")]
    text = "\r\n".join(
        delimiter.join(f'"{cell}"' if set(cell) & set(",;") else cell for cell in row)
        for row in rows
    )
    path = _saved(tmp_path / "x.csv", text, encoding)
    assert FORMAT.sniff(Source.open(path))
    (chat,) = opened_as("csv", path).corpus.chats
    first = chat.by_id["D1:1"]
    assert (first.speaker, first.text) == ("Zoë", "a ; b , c")
    assert first.time == datetime(2026, 3, 2, 18, 3)


def test_windows_text_is_noted(tmp_path: Path) -> None:
    reading = opened_as("csv", _saved(tmp_path / "x.csv", "name,text\nZoë,café\n", "cp1252"))
    assert reading.corpus.chats[0].messages[0].text == "café"
    assert "Windows-1252" in reading.notes[0]


@cases("""
    stamps                                       | dates | expected            | noted
    ["13/02/2026 18:03", "01/02/2026 18:03"]     | null  | 2026-02-01 18:03:00 | false
    ["02/13/2026 6:03 pm", "01/02/2026 6:03 PM"] | null  | 2026-01-02 18:03:00 | false
    ["01/02/2026 18:03", "02/02/2026"]           | null  | 2026-02-01 18:03:00 | true
    ["01/02/26, 18:03", "02/02/26"]              | mdy   | 2026-01-02 18:03:00 | false
    ["2026/01/02 18:03", "2026.1.3"]             | null  | 2026-01-02 18:03:00 | false
""")
def test_dates_with_numbers(
    tmp_path: Path, stamps: list[str], dates: Any, expected: str, noted: bool
) -> None:
    rows = "".join(f'Mara,"{stamp}",x\n' for stamp in stamps)
    reading = opened_as("csv", _saved(tmp_path / "x.csv", f"sender,date,body\n{rows}"), dates=dates)
    times = [str(m.time) for m in reading.corpus.chats[0].messages]
    assert expected in times
    assert "None" not in times
    assert bool(reading.notes) is noted


def test_date_and_time_in_two_columns(tmp_path: Path) -> None:
    text = "date,time,user,message\n2026-03-02,18:03,Mara,hey\n"
    (chat,) = opened_as("csv", _saved(tmp_path / "x.csv", text)).corpus.chats
    assert chat.by_id["D1:1"].time == datetime(2026, 3, 2, 18, 3)


def test_rows_without_speaker_and_ragged_rows(tmp_path: Path) -> None:
    text = 'user,text\n,"two\nlines"\nMara\n\nTheo,b,more\n'
    check(
        opened_as("csv", _saved(tmp_path / "x.csv", text)),
        """
        x (Mara, Theo)
        session 1, None
        D1:1 None Mara:
        D1:2 None Theo: b
            {"(more)":"more"}
        6 lines = 2 in messages + 2 system + 2 left over
        x.csv:2: has no speaker
        x.csv:3: has no speaker
        """,
    )


def test_columns_that_cannot_be_mapped_are_listed(tmp_path: Path) -> None:
    long = "a first message in a file that has no header line"
    path = _saved(tmp_path / "x.csv", f"Mara;{long}\nTheo;x\n")
    with refused("found: 2 names, not shown"):
        opened_as("csv", path)
    reading = opened_as("csv", path, columns=(("speaker", "Mara"), ("text", long)))
    assert reading.corpus.chats[0].speakers == ("Theo",)
    for line, listed in (("Wer,,Was Ist", "Wer, column 2, Was Ist"), ("s drilled, ok", "2 names")):
        with refused(f"found: {listed}"):
            opened_as("csv", _saved(tmp_path / "y.csv", f"{line}\nMara,x,y\n"))


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_messages_survive_writing(tmp_path: Path, ending: str) -> None:
    messages = (
        Message("D1:1", "Mara", datetime(2026, 3, 2, 18, 3, 1), 'a\r\n"b"\t;', edited=True),
        Message("D1:2", "Theo", None, "", (Attachment("image", "a.jpg"),), "D1:1", deleted=True),
    )
    later = (Message("D5:1", "Mara", datetime(2026, 3, 2, 18, 4), "=1+1"),)
    sessions = (Session(1, messages[0].time, messages), Session(5, later[0].time, later))
    (path,) = saved_as(tmp_path / f"x{ending}", *sessions)
    named = replace(messages[1], attachments=(), extra='{"attachments":"a.jpg"}')
    expected = (replace(sessions[0], messages=(messages[0], named)), sessions[1])
    assert opened_as("csv", path).corpus.chats == (Chat("c", ("Mara", "Theo"), expected),)


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_spreadsheet_takes_no_text_for_a_formula(tmp_path: Path, ending: str) -> None:
    formulas = ["=1+1", "+49 170", "-5", "@all", "\t=1", "\r=1", "'=1", "''@x", "＝1"]
    texts = [*formulas, "hey", "'tis fine"]
    said = tuple(
        Message(f"D1:{n}", "=Mara" if n % 2 else "Theo", None, text)
        for n, text in enumerate(texts, 1)
    )
    corpus = Corpus("x", "csv", (Chat("@c", ("=Mara", "Theo"), (Session(1, None, said),)),))
    (path,) = written("csv", corpus, tmp_path / f"x{ending}")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="," if ending == ".csv" else "\t"))
    assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@\t\r\n＝"))]
    assert opened_as("csv", path).corpus == corpus
    (calm,) = saved_as(tmp_path, Session(1, None, said[9:10]))
    assert b"apostrophe" not in calm.read_bytes()


def test_apostrophes_of_other_tables_stay(tmp_path: Path) -> None:
    path = _saved(tmp_path / "x.csv", "speaker,text\nMara,'=1\n")
    assert opened_as("csv", path).corpus.chats[0].messages[0].text == "'=1"
    path = _saved(tmp_path / "y.csv", "speaker,text,apostrophe_before\nMara,'=1,no idea\n")
    (one,) = opened_as("csv", path).corpus.chats[0].messages
    assert (one.text, unpack_extra(one.extra)) == ("'=1", {"apostrophe_before": "no idea"})


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_survives_writing(texts: list[str]) -> None:
    messages = tuple(Message(f"D1:{n}", "Mara", None, text) for n, text in enumerate(texts, 1))
    with tempfile.TemporaryDirectory() as folder:
        (path,) = saved_as(Path(folder) / "x.csv", Session(1, None, messages))
        assert opened_as("csv", path).corpus.chats[0].sessions == (Session(1, None, messages),)


def test_reactions_come_back(tmp_path: Path) -> None:
    marks = {"reactions": [{"emoji": "❤", "count": 3, "by": ["Theo", 'Ann "A"']}]}
    said = (
        Message("D1:1", "Mara", None, "hi", extra=pack_extra(marks)),
        Message("D1:2", "Theo", None, "yes"),
    )
    (path,) = saved_as(tmp_path, Session(1, None, said))
    back = opened_as("csv", path).corpus.chats[0].messages
    assert back == said
    assert back[0].reactions == (Reaction("❤", ("Theo", 'Ann "A"'), 3),)
    (plain,) = saved_as(tmp_path, Session(1, None, said[1:]))
    assert b"reactions" not in plain.read_bytes()


def test_a_column_of_reactions_that_is_not_ours_stays_text(tmp_path: Path) -> None:
    cells = ["12", "[1, 2]", "[{", '[{"emoji":"x"}, 3]']
    rows = [f'Mara,hi,"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells]
    path = _saved(tmp_path / "x.csv", "\n".join(["speaker,text,reactions", *rows]))
    messages = opened_as("csv", path).corpus.chats[0].messages
    assert [unpack_extra(one.extra)["reactions"] for one in messages] == cells
    assert not any(one.reactions for one in messages)
    ours = _saved(tmp_path / "y.csv", 'speaker,reactions\nMara,"[{""emoji"":""x""}]"')
    (one,) = opened_as("csv", ours, columns=(("text", "reactions"),)).corpus.chats[0].messages
    assert one.text == '[{"emoji":"x"}]'


# --- the annotation sheet ---


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
    published = opened_as("realtalk", data / "realtalk").corpus
    theirs = {chat.id: chat for chat in published.chats}
    reading = opened_as("sheet", data / "realtalk" / "raw")
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
        opened_as("sheet", path),
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
    assert next(iter(opened_as("sheet", path).corpus.chats[0].messages)).text == text


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
        opened_as("sheet", path)


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
    (ours,) = opened_as("sheet", folder).corpus.chats
    assert replace(ours, aliases=()) == chat
