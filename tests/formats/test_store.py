"""Values, columns and the stored folder are one corpus."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from realtalk.chat import Alias, Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import Ledger, Leftover, ReadCorpus
from realtalk.formats.store import is_stored, load, store
from realtalk.formats.tables import from_corpus, message_frame, to_corpus
from tries import tries

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
times = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))
ids = st.lists(words, max_size=3).map(tuple)
attachments = st.lists(st.builds(Attachment, words, words, words, words), max_size=2).map(tuple)
messages = st.builds(
    Message, words, words, times, words, attachments, st.none() | words,
    st.booleans(), st.booleans(), words,
)  # fmt: skip
events = st.builds(
    Event, st.integers(1, 9), st.none() | words, words,
    st.sampled_from(["event", "observation", "summary"]), words, ids, words,
)  # fmt: skip
questions = st.builds(Question, words, words, st.none() | words, words, ids, ids, ids, times, words)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    chats = []
    for name in draw(st.lists(words, unique=True, max_size=3)):
        numbers = sorted(draw(st.lists(st.integers(1, 99), unique=True, max_size=4)))
        sessions = tuple(
            Session(number, draw(times), tuple(draw(st.lists(messages, max_size=3))))
            for number in numbers
        )
        chats.append(
            Chat(
                name,
                tuple(draw(st.lists(words, max_size=3))),
                sessions,
                tuple(draw(st.lists(events, max_size=3))),
                tuple(draw(st.lists(questions, max_size=3))),
                tuple(draw(st.lists(st.builds(Alias, words, words, words), max_size=2))),
                draw(words),
            )
        )
    return Corpus(draw(words), draw(words), tuple(chats))


@settings(max_examples=tries(60), deadline=None)
@given(corpus=corpora())
def test_values_columns_and_disk(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> None:
    assert to_corpus(from_corpus(corpus)) == corpus
    folder = tmp_path_factory.mktemp("store") / "c"
    ledger = Ledger("entries", 3, 1, 1, (Leftover("x", "y"),))
    store(ReadCorpus(corpus=corpus, ledger=ledger, notes=("n",)), folder)
    back = load(folder)
    assert back.corpus == corpus
    assert back.ledger == ledger
    assert back.notes == ("n",)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    corpus = Corpus(
        "c",
        "realtalk",
        (Chat("x", ("A",), (Session(1, None, (Message("D1:1", "A", None, "hi"),)),)),),
    )
    return store(ReadCorpus(corpus=corpus, ledger=Ledger("entries", 1, 1)), tmp_path / "out" / "c")


def test_opens_by_path(stored: Path) -> None:
    assert is_stored(stored)
    assert open_reading(stored).format == "realtalk"


def test_replaces_a_corpus_but_nothing_else(stored: Path, tmp_path: Path) -> None:
    reading = load(stored)
    store(reading, stored)
    assert load(stored).corpus == reading.corpus
    other = tmp_path / "photos"
    other.mkdir()
    (other / "keep.jpg").write_bytes(b"x")
    with pytest.raises(RealtalkError, match="not empty and holds no corpus"):
        store(reading, other)
    assert (other / "keep.jpg").exists()
    with pytest.raises(RealtalkError, match="is a file"):
        store(reading, other / "keep.jpg")
    assert [p.name for p in stored.parent.iterdir()] == ["c"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    reading = ReadCorpus(corpus=Corpus("c", "realtalk"), ledger=Ledger("entries", 0, 0))
    with pytest.raises(RealtalkError, match="No space left"):
        store(reading, tmp_path / "c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["layout", "json", "keys", "missing", "parquet", "columns"])
def test_damage_is_said(stored: Path, damage: str) -> None:
    about = stored / "corpus.json"
    if damage == "layout":
        about.write_text(json.dumps(json.loads(about.read_text()) | {"layout": 99}))
    elif damage == "json":
        about.write_text("{")
    elif damage == "keys":
        about.write_text('{"layout": 1}')
    elif damage == "missing":
        (stored / "events.parquet").unlink()
    elif damage == "parquet":
        (stored / "messages.parquet").write_bytes(b"PAR1")
    else:
        pl.DataFrame({"a": [1]}).write_parquet(stored / "questions.parquet")
    with pytest.raises(RealtalkError):
        load(stored)


def test_a_ledger_must_add_up() -> None:
    with pytest.raises(ValueError, match="does not add up"):
        Ledger("lines", 3, 1, 1)


def test_message_frame_fills_defaults() -> None:
    frame = message_frame({"chat": ["a"], "id": ["D1:1"], "speaker": ["A"], "text": ["hi"]})
    row = frame.row(0, named=True)
    assert row["attachments"] == [] and row["edited"] is False and row["extra"] == ""
    assert row["time"] is None
