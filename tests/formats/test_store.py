"""Values, columns and the stored folder, whole or in parts, are one corpus."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_strategies import corpora
from engine_work import tree
from file_modes import open_to_others
from realtalk.api.choices import as_reading
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.files.writing import refuse_strangers
from realtalk.formats.opening import add, open_reading, stored_options
from realtalk.formats.reading import Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.store import (
    chats_in,
    cut_parts,
    is_collection,
    is_stored,
    load,
    message_files,
    open_stream,
    record,
    store,
)
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


# --- in parts ---


def talk(sizes: list[int]) -> Corpus:
    """Chats of so many messages each, in sessions of three."""
    chats = []
    for number, size in enumerate(sizes):
        sessions = tuple(
            Session(
                start // 3 + 1,
                None,
                tuple(
                    Message(f"D{start}:{at}", "Mara" if at % 2 else "Theo", None, f"line {at}")
                    for at in range(start, min(start + 3, size))
                ),
            )
            for start in range(0, size, 3)
        )
        chats.append(Chat(f"chat {number}", ("Mara", "Theo"), sessions))
    return Corpus("talk", "realtalk", tuple(chats))


def reading(corpus: Corpus) -> ReadCorpus:
    return as_reading(corpus)


def streamed(folder: Path) -> Corpus:
    """The corpus put together from its pieces, each after a journey to another process."""
    stream = open_stream(folder)
    assert stream is not None
    pieces = pickle.loads(pickle.dumps(stream.pieces))
    chats = [chat for piece in pieces for chat in to_corpus(piece.tables()).chats]
    return Corpus(stream.name, stream.format, tuple(chats))


@settings(max_examples=tries(60), deadline=None)
@given(sizes=st.lists(st.integers(0, 9), max_size=8), most=st.integers(1, 12))
def test_parts_are_bounded_and_chats_are_whole(sizes: list[int], most: int) -> None:
    tables = from_corpus(talk(sizes))
    spans = cut_parts(tables.messages, [row.id for row in tables.chats], most)
    assert all(span.messages <= most for span in spans)
    assert sum(span.messages for span in spans) == sum(sizes)
    start = 0
    for span in spans:
        held = tables.messages.slice(start, span.messages)["chat"].unique()
        start += span.messages
        torn = [chat for chat in held if sizes[int(chat.split()[1])] > most]
        whole = sum(sizes[int(chat.split()[1])] for chat in held if chat not in torn)
        assert (len(held) == 1) if torn else whole == span.messages
    # Two parts in a row would not fit into one, unless one of them is of a torn chat.
    for one, two in pairwise(spans):
        torn_chats = {one.first, two.first} & {i for i, size in enumerate(sizes) if size > most}
        assert torn_chats or one.messages + sizes[two.first] > most


@settings(max_examples=tries(40), deadline=None)
@given(corpus=corpora(), most=st.integers(1, 5))
def test_parts_hold_what_one_file_holds(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, most: int
) -> None:
    folder = store(reading(corpus), tmp_path_factory.mktemp("parts") / "c", most=most)
    assert load(folder).corpus == streamed(folder) == corpus


def test_the_layout_depends_on_the_number_alone(tmp_path: Path) -> None:
    corpus = talk([4, 0, 9, 2, 2])
    small = store(reading(corpus), tmp_path / "small", most=17)
    large = store(reading(corpus), tmp_path / "large", most=4)
    assert [path.name for path in message_files(small)] == ["messages.parquet"]
    assert "parts" not in record(small)
    names = [path.relative_to(large).as_posix() for path in message_files(large)]
    assert names == [f"messages/part-0000{number}.parquet" for number in range(5)]
    assert [part["messages"] for part in record(large)["parts"]] == [4, 3, 3, 3, 4]
    assert pl.read_parquet(large / "messages" / "*.parquet").height == 17
    assert is_stored(small)
    assert is_stored(large)
    assert open_to_others(large) == {}
    store(reading(corpus), tmp_path / "again", most=4)
    assert tree(tmp_path / "again") == tree(large)
    stream = open_stream(large)
    assert stream is not None
    assert [each.parts for each in stream.pieces] == [(0,), (1, 2, 3), (4,)]
    store(reading(corpus), large, most=17)  # the other layout takes its place
    assert tree(large) == tree(small)


def test_chats_that_lie_in_pieces_are_brought_together(tmp_path: Path) -> None:
    tables = from_corpus(talk([4, 4]))
    mixed = replace(tables, messages=tables.messages[[0, 4, 1, 5, 2, 6, 3, 7]])
    ledger = Ledger("messages", 8, 8)
    store(ReadCorpus(tables=mixed, ledger=ledger), tmp_path / "c", most=4)
    assert load(tmp_path / "c").corpus == to_corpus(mixed)
    assert streamed(tmp_path / "c") == to_corpus(mixed)


def test_a_part_that_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    folder = store(reading(talk([3, 3, 3])), tmp_path / "c", most=3)
    (folder / "messages" / "part-00001.parquet").write_bytes(b"PAR1")
    with refused(r"part-00001\.parquet: is not a readable Parquet file"):
        load(folder)
    (folder / "messages" / "part-00001.parquet").unlink()
    with refused(r"part-00001\.parquet: is missing"):
        open_stream(folder)


def test_a_corpus_in_parts_is_no_place_for_a_run(tmp_path: Path) -> None:
    folder = store(reading(talk([3, 3])), tmp_path / "c", most=3)
    with refused("holds a stored corpus"):
        refuse_strangers(folder, "a run", "run.json")
    (folder / "mine.txt").write_text("keep")
    with refused(r"holds mine\.txt beside its corpus"):
        store(reading(talk([1])), folder)


def test_exports_are_added_to_a_corpus_in_parts(tmp_path: Path) -> None:
    lines = [f"13/02/2024, 10:{n:02} - {'Mara' if n % 2 else 'Theo'}: walk {n}" for n in range(9)]
    export = tmp_path / "WhatsApp Chat with Mara.txt"
    export.write_text("\n".join(lines[:6]) + "\n", "utf-8")
    opened = open_reading(export)
    folder = store(opened.reading, tmp_path / "mara", opened.source, ReadOptions(), most=2)
    assert len(message_files(folder)) == 3
    export.write_text("\n".join(lines) + "\n", "utf-8")
    options = stored_options(folder, ReadOptions())
    added = add(folder, [open_reading(export, None, options)], options)
    assert (added.counts.new, added.written) == (3, True)
    assert [path.name for path in message_files(folder)] == ["messages.parquet"]
    assert [message.text for message in load(folder).corpus.chats[0].messages][-1] == "walk 8"


def test_a_folder_of_corpora_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "corpora"
    store(reading(talk([3, 2])), folder / "b", most=3)
    store(reading(talk([4])), folder / "a")
    assert is_collection(folder)
    found = open_reading(folder)
    assert (found.reading.corpus.name, found.format) == ("corpora", "realtalk")
    ids = [chat.id for chat in found.reading.corpus.chats]
    assert ids == ["a/chat 0", "b/chat 0", "b/chat 1"]
    assert streamed(folder) == found.reading.corpus
    rows = ('{"part": "a", "problem": null}', '{"part": "c", "problem": "x"}')
    (folder / "parts.jsonl").write_text("\n".join(rows) + "\n")
    stream = open_stream(folder)
    assert stream is not None
    assert stream.notes == ("1 of 2 files could not be read and are not among the chats",)
    (folder / "notes.txt").write_text("something else")
    assert not is_collection(folder)
    assert open_stream(folder) is None


@settings(max_examples=tries(20), deadline=None)
@given(corpora(), st.integers(1, 9))
def test_chats_come_from_columns_some_at_a_time(corpus: Corpus, at_once: int) -> None:
    tables = from_corpus(corpus)
    assert tuple(chats_in(tables, at_once)) == to_corpus(tables).chats


def test_chats_come_in_their_order_whatever_the_messages_order() -> None:
    tables = from_corpus(talk([4, 0, 7, 2]))
    mixed = replace(tables, messages=tables.messages.sort("id", maintain_order=True))
    assert [chat.id for chat in chats_in(mixed, 5)] == [row.id for row in tables.chats]
    assert tuple(chats_in(mixed, 5)) == to_corpus(mixed).chats
    with refused(r"which corpus\.json does not list"):
        list(chats_in(replace(tables, chats=tables.chats[:2]), 5))
