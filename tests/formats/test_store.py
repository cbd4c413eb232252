"""Values, columns and the stored folder are one corpus."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from corpus_strategies import corpora
from realtalk.api.options import as_reading
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.reading import Ledger, Leftover, ReadCorpus
from realtalk.formats.store import load, store
from realtalk.formats.tables import from_corpus, to_corpus
from refusals import refused
from tries import tries


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
    return store(as_reading(corpus), tmp_path / "out" / "c")


def test_replaces_a_corpus_but_nothing_else(stored: Path, tmp_path: Path) -> None:
    reading = load(stored)
    store(reading, stored)
    assert load(stored).corpus == reading.corpus
    other = tmp_path / "photos"
    other.mkdir()
    (other / "keep.jpg").write_bytes(b"x")
    with refused("not empty and holds no corpus"):
        store(reading, other)
    assert (other / "keep.jpg").exists()
    with refused("is a file"):
        store(reading, other / "keep.jpg")
    assert [p.name for p in stored.parent.iterdir()] == ["c"]


OTHER_COLUMNS = io.BytesIO()
pl.DataFrame({"a": [1]}).write_parquet(OTHER_COLUMNS)


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("corpus.json", b'{"layout": 99}', "was stored in layout 99"),
        ("corpus.json", b"{", "is not the record of a stored corpus"),
        ("corpus.json", b'{"layout": 1}', "is not the record of a stored corpus"),
        ("events.parquet", None, "is missing"),
        ("messages.parquet", b"PAR1", "is not a readable Parquet file"),
        ("questions.parquet", OTHER_COLUMNS.getvalue(), "has other columns"),
    ],
)
def test_damage_is_said(stored: Path, name: str, data: bytes | None, line: str) -> None:
    (stored / name).unlink()
    if data is not None:
        (stored / name).write_bytes(data)
    with refused(line):
        load(stored)


def test_a_ledger_must_add_up() -> None:
    with pytest.raises(ValueError, match="does not add up"):
        Ledger("lines", 3, 1, 1)
