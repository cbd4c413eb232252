"""CSV and TSV with named columns."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exported
from realtalk.chat import (
    Attachment,
    Chat,
    Corpus,
    Message,
    Reaction,
    Session,
    pack_extra,
    unpack_extra,
)
from realtalk.formats.published.row_files import CSV as FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from refusals import refused
from shown import check
from text_tables import cases
from tries import tries

PLAIN = 'From,Date,Message,Mood\nMara,2026-03-02 18:03,"hey, ""you""\nup?",\nTheo,,no,tired\n'


def _read(path: Path, **options: Any) -> ReadCorpus:
    return FORMAT.read(Source.open(path), ReadOptions(**options))


def _saved(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def written(path: Path, *sessions: Session) -> tuple[Path, ...]:
    people = tuple(dict.fromkeys(m.speaker for session in sessions for m in session.messages))
    return exported.written("csv", Corpus("x", "csv", (Chat("c", people, sessions),)), path)


def test_quoted_cells_over_several_lines(tmp_path: Path) -> None:
    check(
        _read(_saved(tmp_path / "x.csv", PLAIN)),
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
    (chat,) = _read(path).corpus.chats
    first = chat.by_id["D1:1"]
    assert (first.speaker, first.text) == ("Zoë", "a ; b , c")
    assert first.time == datetime(2026, 3, 2, 18, 3)


def test_windows_text_is_noted(tmp_path: Path) -> None:
    reading = _read(_saved(tmp_path / "x.csv", "name,text\nZoë,café\n", "cp1252"))
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
    reading = _read(_saved(tmp_path / "x.csv", f"sender,date,body\n{rows}"), dates=dates)
    times = [str(m.time) for m in reading.corpus.chats[0].messages]
    assert expected in times
    assert "None" not in times
    assert bool(reading.notes) is noted


def test_date_and_time_in_two_columns(tmp_path: Path) -> None:
    text = "date,time,user,message\n2026-03-02,18:03,Mara,hey\n"
    (chat,) = _read(_saved(tmp_path / "x.csv", text)).corpus.chats
    assert chat.by_id["D1:1"].time == datetime(2026, 3, 2, 18, 3)


def test_rows_without_speaker_and_ragged_rows(tmp_path: Path) -> None:
    text = 'user,text\n,"two\nlines"\nMara\n\nTheo,b,more\n'
    check(
        _read(_saved(tmp_path / "x.csv", text)),
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
        _read(path)
    reading = _read(path, columns=(("speaker", "Mara"), ("text", long)))
    assert reading.corpus.chats[0].speakers == ("Theo",)
    for line, listed in (("Wer,,Was Ist", "Wer, column 2, Was Ist"), ("s drilled, ok", "2 names")):
        with refused(f"found: {listed}"):
            _read(_saved(tmp_path / "y.csv", f"{line}\nMara,x,y\n"))


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_messages_survive_writing(tmp_path: Path, ending: str) -> None:
    messages = (
        Message("D1:1", "Mara", datetime(2026, 3, 2, 18, 3, 1), 'a\r\n"b"\t;', edited=True),
        Message("D1:2", "Theo", None, "", (Attachment("image", "a.jpg"),), "D1:1", deleted=True),
    )
    later = (Message("D5:1", "Mara", datetime(2026, 3, 2, 18, 4), "=1+1"),)
    sessions = (Session(1, messages[0].time, messages), Session(5, later[0].time, later))
    (path,) = written(tmp_path / f"x{ending}", *sessions)
    named = replace(messages[1], attachments=(), extra='{"attachments":"a.jpg"}')
    expected = (replace(sessions[0], messages=(messages[0], named)), sessions[1])
    assert _read(path).corpus.chats == (Chat("c", ("Mara", "Theo"), expected),)


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_spreadsheet_takes_no_text_for_a_formula(tmp_path: Path, ending: str) -> None:
    formulas = ["=1+1", "+49 170", "-5", "@all", "\t=1", "\r=1", "'=1", "''@x", "＝1"]
    texts = [*formulas, "hey", "'tis fine"]
    said = tuple(
        Message(f"D1:{n}", "=Mara" if n % 2 else "Theo", None, text)
        for n, text in enumerate(texts, 1)
    )
    corpus = Corpus("x", "csv", (Chat("@c", ("=Mara", "Theo"), (Session(1, None, said),)),))
    (path,) = exported.written("csv", corpus, tmp_path / f"x{ending}")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="," if ending == ".csv" else "\t"))
    assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@\t\r\n＝"))]
    assert _read(path).corpus == corpus
    (calm,) = written(tmp_path, Session(1, None, said[9:10]))
    assert b"apostrophe" not in calm.read_bytes()


def test_apostrophes_of_other_tables_stay(tmp_path: Path) -> None:
    path = _saved(tmp_path / "x.csv", "speaker,text\nMara,'=1\n")
    assert _read(path).corpus.chats[0].messages[0].text == "'=1"
    path = _saved(tmp_path / "y.csv", "speaker,text,apostrophe_before\nMara,'=1,no idea\n")
    (one,) = _read(path).corpus.chats[0].messages
    assert (one.text, unpack_extra(one.extra)) == ("'=1", {"apostrophe_before": "no idea"})


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_survives_writing(texts: list[str]) -> None:
    messages = tuple(Message(f"D1:{n}", "Mara", None, text) for n, text in enumerate(texts, 1))
    with tempfile.TemporaryDirectory() as folder:
        (path,) = written(Path(folder) / "x.csv", Session(1, None, messages))
        assert _read(path).corpus.chats[0].sessions == (Session(1, None, messages),)


def test_reactions_come_back(tmp_path: Path) -> None:
    marks = {"reactions": [{"emoji": "❤", "count": 3, "by": ["Theo", 'Ann "A"']}]}
    said = (
        Message("D1:1", "Mara", None, "hi", extra=pack_extra(marks)),
        Message("D1:2", "Theo", None, "yes"),
    )
    (path,) = written(tmp_path, Session(1, None, said))
    back = _read(path).corpus.chats[0].messages
    assert back == said
    assert back[0].reactions == (Reaction("❤", ("Theo", 'Ann "A"'), 3),)
    (plain,) = written(tmp_path, Session(1, None, said[1:]))
    assert b"reactions" not in plain.read_bytes()


def test_a_column_of_reactions_that_is_not_ours_stays_text(tmp_path: Path) -> None:
    cells = ["12", "[1, 2]", "[{", '[{"emoji":"x"}, 3]']
    rows = [f'Mara,hi,"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells]
    path = _saved(tmp_path / "x.csv", "\n".join(["speaker,text,reactions", *rows]))
    messages = _read(path).corpus.chats[0].messages
    assert [unpack_extra(one.extra)["reactions"] for one in messages] == cells
    assert not any(one.reactions for one in messages)
    ours = _saved(tmp_path / "y.csv", 'speaker,reactions\nMara,"[{""emoji"":""x""}]"')
    (one,) = _read(ours, columns=(("text", "reactions"),)).corpus.chats[0].messages
    assert one.text == '[{"emoji":"x"}]'
