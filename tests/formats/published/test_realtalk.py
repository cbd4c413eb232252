"""The published REALTALK layout: its quirks, the way back, and the published figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import opened_as
from realtalk.formats.registry import detect
from realtalk.formats.source import Source
from refusals import refused
from shown import check_chat

# A chat with every quirk of the published files.
PUBLISHED = """{"name": {"speaker_1": "Noor", "speaker_2": "Sam Quill"},
"session_1": [
    {"clean_text": "hi! what's your name?", "speaker": "Noor", "date_time": "02.03.2026, 18:03:12",
     "img_file": [], "img_url": [], "dia_id": "D1:1"},
    {"clean_text": "I'm Bram. you?", "speaker": "Sam Quill", "date_time": "02.03.2026, 18:04:00",
     "img_file": [], "img_url": [], "dia_id": "D1:2"},
    {"clean_text": "the river  today", "speaker": "Noor", "date_time": "02.03.2026, 18:05:20",
     "img_file": ["7-PHOTO-2026_opt.jpg", "7-PHOTO-2026.jpg"], "img_url": [], "dia_id": "D1:4",
     "blip_caption": "a river with boats"}],
"events_session_1": {
    "agent_a": [{"sub-event": "Noor walks.", "date": "", "id": "E", "caused_by": []}],
    "agent_b": [{"sub-event": "", "date": "", "id": "Е", "caused_by": []}]},
"session_2": [
    {"clean_text": "ok", "speaker": "Sam Quill", "date_time": "03.03.2026, 09:00:00",
     "img_file": [], "img_url": [], "dia_id": "D1:9"}],
"events_session_2": {"agent_a": [], "agent_b": []},
"session_1_date_time": "02.03.2026, 18:03:12", "session_2_date_time": "03.03.2026, 09:00:00",
"qa": [
    {"question": "When did Nour see boats?", "answer": "02.03.2026", "evidence": ["D1:4."],
     "category": 2},
    {"question": "Who is Bram?", "answer": "Sam", "evidence": ["D1:2;D1:3"], "category": 1},
    {"question": "Why?", "answer": "Because.", "evidence": [], "category": 9}]}"""


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The folder with a chat in which something else stands."""
    data = json.loads(PUBLISHED)
    change(data)
    (folder / "Chat_2_Noor_Sam.json").write_text(json.dumps(data), "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Chat_2_Noor_Sam.json").write_text(PUBLISHED, "utf-8")
    return tmp_path


def test_quirks(folder: Path) -> None:
    assert detect(Source.open(folder)) == "realtalk"
    check_chat(
        opened_as("realtalk", folder).corpus.chats[0],
        """
        Chat_2_Noor_Sam (Noor, Sam Quill)
        session 1, 2026-03-02 18:03:12
        D1:1 2026-03-02 18:03:12 Noor: hi! what's your name?
        D1:2 2026-03-02 18:04:00 Sam Quill: I'm Bram. you?
        D1:4 2026-03-02 18:05:20 Noor: the river  today
            image 7-PHOTO-2026.jpg  a river with boats
            {"img_file":["7-PHOTO-2026_opt.jpg","7-PHOTO-2026.jpg"]}
        session 2, 2026-03-03 09:00:00
        D1:9 2026-03-03 09:00:00 Sam Quill: ok
        event 1 of Noor: Noor walks.
        event 1 of Sam Quill:  {"id":"Е"}
        Q1 temporal: When did Nour see boats? 02.03.2026
            D1:4 |  | D1:4. None
        Q2 multi_hop: Who is Bram? Sam
            D1:2 | D1:3 | D1:2;D1:3 None
        Q3 9: Why? Because.
             |  |  None
        Bram is Sam Quill by D1:2
        Sam is Sam Quill by name
        Nour is Noor by questions
        """,
    )


def test_way_back_is_equal_as_data(folder: Path, tmp_path: Path) -> None:
    reading = opened_as("realtalk", folder)
    out = tmp_path / "out"
    (path,) = exported.written("realtalk", reading.corpus, out)
    written = json.loads(path.read_text("utf-8"))
    assert written == json.loads(PUBLISHED)
    assert opened_as("realtalk", out).corpus.chats == reading.corpus.chats


def test_entries_that_are_no_messages_are_left_over(folder: Path) -> None:
    odd = [7, {"clean_text": "x"}, {"speaker": "Noor", "dia_id": "D1:5"}]
    ledger = opened_as(
        "realtalk", changed(folder, lambda data: data["session_1"].extend(odd))
    ).ledger
    assert (ledger.total, ledger.in_messages, len(ledger.leftovers)) == (7, 4, 3)
    assert ledger.leftovers[0].where == "Chat_2_Noor_Sam.json: session_1[3]"


def test_three_speakers_do_not_fit(folder: Path, tmp_path: Path) -> None:
    third = {"clean_text": "hm", "speaker": "Eve", "date_time": "", "dia_id": "D2:2"}
    corpus = opened_as(
        "realtalk", changed(folder, lambda data: data["session_2"].append(third))
    ).corpus
    assert corpus.chats[0].speakers == ("Noor", "Sam Quill", "Eve")
    with refused("two"):
        exported.written("realtalk", corpus, tmp_path / "out")


def test_published_corpus(data: Path, tmp_path: Path) -> None:
    """All ten chats: read, the way back equal as data, the known oddities counted."""
    reading = opened_as("realtalk", data / "realtalk")
    corpus = reading.corpus
    assert [chat.id.split("_")[1] for chat in corpus.chats] == [str(n) for n in range(1, 11)]
    assert reading.ledger.total == 8944 and not reading.ledger.leftovers
    assert sum(len(chat.turns) for chat in corpus.chats) == 3874
    for path in exported.written("realtalk", corpus, tmp_path):
        ours = json.loads(path.read_text("utf-8"))
        theirs = json.loads((data / "realtalk" / path.name).read_text("utf-8"))
        assert ours == theirs, path.name
    questions = [q for chat in corpus.chats for q in chat.questions]
    mistyped = 0
    for chat in corpus.chats:
        mistyped += sum(any(p not in chat.by_id for p in q.stated) for q in chat.questions)
    assert (len(questions), mistyped) == (728, 102)
    assert sum(bool(q.evidence) for q in questions) == 706
    assert sum(bool(q.unresolved) for q in questions) == 61
    names = {(a.name, a.speaker) for chat in corpus.chats for a in chat.aliases}
    assert {("Kate", "Emi"), ("Muhammad", "Muhhamed"), ("Fahim", "Fahim Khan")} <= names
