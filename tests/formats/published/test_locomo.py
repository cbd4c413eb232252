"""LoCoMo samples to chats and back, without losing a value."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import opened_as
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.published.locomo import FORMAT
from realtalk.formats.questions import known_categories, name_of, number_of
from realtalk.formats.source import Source
from refusals import refused
from shown import check_chat
from text_tables import cases

SAMPLE: dict[str, Any] = json.loads("""{"qa": [
    {"question": "When?", "answer": 2022, "evidence": ["D1:1; D1:2"], "category": 2},
    {"question": "Why?", "answer": "rain", "evidence": ["D9:9"], "category": 1},
    {"question": "Who?", "evidence": ["D1:2"], "category": 5, "adversarial_answer": "Theo"}],
"conversation": {"speaker_a": "Mara", "speaker_b": "Theo",
    "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [
        {"speaker": "Theo", "dia_id": "D1:1", "text": "look at this"},
        {"speaker": "Mara", "dia_id": "D1:2", "text": "", "img_url": ["https://example.org/a.jpg"],
         "blip_caption": "a grey cat", "query": "cat", "re-download": true},
        {"speaker": "Mara", "dia_id": "D1:3", "text": "x", "img_url": "https://example.org/b"},
        {"speaker": "Mara", "dia_id": "D1:4", "text": "y", "blip_caption": "a boat"}],
    "session_2_date_time": "12:05 am on 1 June, 2023", "session_2": [],
    "session_3_date_time": "9:00 am on 2 June, 2023"},
"event_summary": {
    "events_session_1": {"Mara": ["Mara finds a cat."], "Theo": [], "date": "8 May, 2023"},
    "events_session_2": {"Mara": [], "Theo": [], "date": "another day"}},
"observation": {"session_1_observation": {"Theo": [["Theo looks.", "D1:1"]],
    "Mara": [["Mara has a cat.", "D1:2, D1:3"], ["Mara sails.", ["D1:3", "D1:4"]]]}},
"session_summary": {"session_1_summary": "They talk about a cat."},
"sample_id": "conv-1"}""")


def _saved(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return opened_as("locomo", _saved(tmp_path / "Chat_1_Mara_Theo.json", SAMPLE)).corpus.chats[0]


def test_ids_come_from_the_file_or_the_sample(tmp_path: Path) -> None:
    alone = opened_as("locomo", _saved(tmp_path / "Chat_1_Mara_Theo.json", SAMPLE)).corpus
    assert [c.id for c in alone.chats] == ["Chat_1_Mara_Theo"]
    listed = opened_as("locomo", _saved(tmp_path / "locomo2.json", [SAMPLE, SAMPLE])).corpus
    assert [c.id for c in listed.chats] == ["conv-1", "conv-1-2"]
    assert (listed.name, listed.format) == ("locomo2", "locomo")


def test_all_of_a_sample(chat: Chat) -> None:
    check_chat(
        chat,
        """
        Chat_1_Mara_Theo (Theo, Mara) {"conversation":{"session_3_date_time":"9:00 am on 2 June,
            2023","speaker_a":"Mara","speaker_b":"Theo"},"event_summary":{"events_session_2":{"M
            ara":[],"Theo":[],"date":"another day"}},"observation":{"absent":["session_2_observa
            tion"]},"sample":{"sample_id":"conv-1"}}
        session 1, 2023-05-08 13:56:00
        D1:1 None Theo: look at this
        D1:2 None Mara:
            image  https://example.org/a.jpg a grey cat
            {"query":"cat","re-download":true}
        D1:3 None Mara: x
            image  https://example.org/b
            {"img_url":"https://example.org/b"}
        D1:4 None Mara: y
            image   a boat
        session 2, 2023-06-01 00:05:00
        event 1 of Mara (8 May, 2023): Mara finds a cat.
        observation 1 of Theo: Theo looks. D1:1
        observation 1 of Mara: Mara has a cat. D1:2 D1:3 {"stated":"D1:2, D1:3"}
        observation 1 of Mara: Mara sails. D1:3 D1:4
        summary 1 of None: They talk about a cat.
        Q1 temporal: When? 2022
            D1:1, D1:2 |  | D1:1; D1:2 None {"answer":2022}
        Q2 multi_hop: Why? rain
             | D9:9 | D9:9 None
        Q3 adversarial: Who? None
            D1:2 |  | D1:2 None {"adversarial_answer":"Theo"}
        """,
    )


@pytest.mark.parametrize("value", [SAMPLE, [SAMPLE]])
def test_the_written_file_equals_the_one_read(tmp_path: Path, value: Any) -> None:
    path = _saved(tmp_path / "conv.json", value)
    corpus = opened_as("locomo", path).corpus
    target = tmp_path / "out" / "conv.json" if isinstance(value, list) else tmp_path / "out"
    (written,) = exported.written("locomo", corpus, target)
    assert json.loads(written.read_text(encoding="utf-8")) == value
    assert opened_as("locomo", written).corpus == corpus


def test_strange_entries_are_left_over_and_kept_for_the_way_back(tmp_path: Path) -> None:
    sample = json.loads(json.dumps(SAMPLE))
    sample["conversation"]["session_1"] += ["?", {"speaker": 5}]
    sample["qa"] += [17]
    sample["observation"]["session_1_observation"]["Mara"] += ["loose"]
    sample["unknown"] = {"kept": True}
    reading = opened_as("locomo", _saved(tmp_path / "odd.json", sample))
    assert reading.ledger.in_messages == 4
    assert len(reading.ledger.leftovers) == 4
    assert "session_1[4]" in reading.ledger.leftovers[0].where
    (written,) = exported.written("locomo", reading.corpus, tmp_path / "out")
    again = json.loads(written.read_text(encoding="utf-8"))
    assert again["unknown"] == {"kept": True}
    assert again["conversation"] == sample["conversation"]
    assert again["observation"] == sample["observation"]


@cases("""
    depth | fit
    190   | true
    300   | false
    1000  | false
""")
def test_deeply_nested_extras_are_refused_in_time(tmp_path: Path, depth: int, fit: bool) -> None:
    turn = f'{{"speaker":"a","dia_id":"D1:1","text":"x","odd":{"[" * depth + "]" * depth}}}'
    path = tmp_path / "x.json"
    path.write_text(f'{{"conversation":{{"session_1":[{turn}]}}}}')
    if not fit:
        with refused("nested too deeply"):
            opened_as("locomo", path)
        return
    corpus = opened_as("locomo", path).corpus
    (written,) = exported.written("locomo", corpus, tmp_path / "out")
    assert opened_as("locomo", written).corpus.chats == corpus.chats


def test_realtalk_chats_are_not_claimed(tmp_path: Path) -> None:
    other = {"name": {"speaker_1": "A"}, "session_1": [{"clean_text": "x", "dia_id": "D1:1"}]}
    assert not FORMAT.sniff(Source.open(_saved(tmp_path / "a.json", other)))
    assert FORMAT.sniff(Source.open(_saved(tmp_path / "b.json", SAMPLE)))
    assert FORMAT.sniff(Source.open(_saved(tmp_path / "c.json", [SAMPLE])))


def test_categories_by_format() -> None:
    names = [name_of("locomo", number) for number in (1, "5", 7, None, 3)]
    assert names == ["multi_hop", "adversarial", "7", "", "open_domain"]
    assert name_of("realtalk", 3) == "commonsense"
    assert name_of("longmemeval", "multi-session") == "multi_session"
    for format_ in ("realtalk", "locomo"):
        for name in known_categories(format_):
            assert name_of(format_, number_of(format_, name)) == name
    assert (number_of("locomo", "commonsense"), number_of("locomo", "7")) == (None, 7)
    assert "knowledge_update" in known_categories("longmemeval")
    assert known_categories("whatsapp") == frozenset()


def test_published_counts(data: Path) -> None:
    """Split files beside the official one count once."""
    reading = opened_as("locomo", data / "locomo")
    assert len(reading.notes) == 10
    corpus = reading.corpus
    assert [c.id.split("_")[1] for c in corpus.chats] == [str(n) for n in range(1, 11)]
    texts = [message.text for c in corpus.chats for message in c.messages]
    assert len(texts) / 10 == 588.2
    assert sum(len(c.sessions) for c in corpus.chats) / 10 == 27.2
    assert sum(len(text.split()) for text in texts) / 10 == 13377.2


@pytest.mark.slow
def test_the_official_file_is_written_back_equal(data: Path, tmp_path: Path) -> None:
    official = data / "locomo" / "locomo10.json"
    reading = opened_as("locomo", official)
    assert not reading.ledger.leftovers
    (written,) = exported.written("locomo", reading.corpus, tmp_path / "locomo10.json")
    assert json.loads(written.read_bytes()) == json.loads(official.read_bytes())
    assert opened_as("locomo", written).corpus == reading.corpus


def test_a_message_that_says_another_layouts_key_is_still_read(tmp_path: Path) -> None:
    said = Message("D1:1", "Ann", None, "speaker_1")
    chat = Chat("c", ("Ann",), (Session(1, None, (said,)),))
    exported.written("locomo", Corpus("x", "locomo", (chat, replace(chat, id="d"))), tmp_path)
    assert FORMAT.sniff(Source.open(tmp_path))
    assert [each.id for each in opened_as("locomo", tmp_path).corpus.chats] == ["c", "d"]
