"""What every published format promises: a corpus survives it, and another file is refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from corpus_strategies import corpora
from exported import opened_as, written
from realtalk.chat import Corpus
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source
from refusals import refused
from text_tables import cases, rows
from tries import tries


@cases("""
    name     | target
    convokit | out
    jsonl    | out.jsonl
    locomo   | out
    locomo   | out.json
""")
@settings(max_examples=tries(80), deadline=None)
@given(corpus=corpora())
def test_any_corpus_survives(name: str, target: str, corpus: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written(name, corpus, Path(folder) / target)
        assert FORMATS[name].sniff(Source.open(Path(folder) / target))
        again = opened_as(name, Path(folder) / target).corpus
    assert {chat.id: chat for chat in again.chats} == {chat.id: chat for chat in corpus.chats}
    assert again == corpus or name == "locomo"  # whose files hold no more than chats


NOTHING = """
    longmemeval | []
    longmemeval | {}
    longmemeval | [1]
    longmemeval | [{"question_id":
    locomo      | []
    locomo      | [1]
    locomo      | {}
    locomo      | {"conversation": {"session_1": 3}}
    locomo      | nul
    reddit      | []
    reddit      | {}
    reddit      | [1]
    reddit      | [{"title":
    reddit      | [1e999]
    reddit      | {"a":{"b":[]}}
    realtalk    | {"name": {"speaker_1": "A"}, "session_1": {"dia_id": 1}}
    realtalk    | {"name": ["speaker_1"], "session_1": [], "dia_id": 1, "speaker_1": 1}
    realtalk    | {"name": {"speaker_1": "A"}, "session_1": [], "x": [{"dia_id": 1}]}
    realtalk    | {"name": {"speaker_1": "A"}, "session_1": [{"dia_id": "D1:1",
"""


@pytest.mark.parametrize(("name", "text"), rows(NOTHING))
def test_nothing_to_read_is_one_line(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with refused(r"x\.json"):
        opened_as(name, path)
