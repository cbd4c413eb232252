"""The parts of the assistant's room: pages, periods, what is chosen, indexes that wait."""

from __future__ import annotations

import json
import re
import threading
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realtalk as rt
from realtalk.assistant.answers import MOST_CHARACTERS, encoded, page
from realtalk.assistant.collection import Collection
from realtalk.assistant.finding import asked, nearest
from realtalk.assistant.indexes import Indexes
from realtalk.assistant.labels_beside import labels_beside
from realtalk.assistant.periods import Period
from realtalk.assistant.preparing import Prepared
from realtalk.assistant.recalling import recall
from realtalk.errors import RealtalkError
from realtalk.memory.retrieved import Retrieved
from realtalk.memory.values import Budget


@given(
    st.lists(st.text(st.characters(), max_size=40_000), max_size=6),
    st.integers(1, 200),
)
def test_a_page_is_never_too_long_and_never_empty(texts: list[str], limit: int) -> None:
    rows = [{"id": str(at), "text": text} for at, text in enumerate(texts)]
    shown: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = page(
            {"chat": "c"}, "rows", rows[offset:], total=len(rows), offset=offset, limit=limit
        )
        written = encoded(part)
        assert len(written) <= MOST_CHARACTERS
        json.loads(written)
        assert len(part["rows"]) <= limit
        shown += [row["id"] for row in part["rows"]]
        offset = part.get("next_offset")
    assert shown == [row["id"] for row in rows]


def test_half_a_character_can_be_told() -> None:
    assert json.loads(encoded({"text": "a\ud83db"})) == {"text": "a?b"}


def test_a_period_holds_its_first_and_last_day() -> None:
    period = Period.of("2026-02", "2 March 2026")
    assert (period.first, period.last) == (date(2026, 2, 1), date(2026, 3, 2))
    assert period.holds(datetime(2026, 3, 2, 23, 59)) and not period.holds(datetime(2026, 3, 3))
    assert not period.holds(None) and Period.of().holds(None)
    with pytest.raises(RealtalkError, match="'until' is no date"):
        Period.of("", "soon")


def test_until_vectors_are_made_words_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path))
    chats = Collection.of([rt.read("sample")]).chats[:1]
    indexes = Indexes()
    first = indexes.built(chats, wait=0)
    assert first.memories is None and "being made" in first.note
    later = indexes.built(chats, wait=300)
    assert later.memories is not None and later.note == ""


@pytest.mark.parametrize("budget", [Budget(tokens=60), Budget(tokens=900), Budget(words=300)])
def test_one_chat_is_recalled_as_the_memory_does_it(
    budget: Budget, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(shared_cache))
    (chat,) = Collection.of([rt.read("sample")]).chats[:1]
    memory = Retrieved().build(chat.shown)
    for text in ("Who broke the bicycle?", "What does Theo repair on Saturdays?"):
        context = memory.recall(asked(text), budget)
        told = recall(nearest({chat: memory}, text, "", Period()), budget)
        assert tuple(re.findall(r"^\((D\d+:\d+),", told.text, re.MULTILINE)) == context.message_ids
        assert (told.tokens, told.words) == (context.tokens, context.words)


def test_what_takes_its_time_is_asked_for_again() -> None:
    go = threading.Event()
    slow = Prepared(lambda: go.wait() and "made")
    with pytest.raises(RealtalkError, match="still being prepared; ask again in a minute"):
        slow.get(wait=0)
    go.set()
    assert slow.get() == "made"

    def fail() -> str:
        raise RealtalkError("no such luck")

    with pytest.raises(RealtalkError, match="no such luck"):
        Prepared(fail).get()


@pytest.mark.slow
def test_labels_of_another_corpus_are_not_taken(tmp_path: Path) -> None:
    sample = rt.read("sample", out=tmp_path / "chats")
    labels = rt.label(sample)
    labels.save(tmp_path / "labels")
    (tmp_path / "no labels").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "labels.jsonl").write_text("{")
    (tmp_path / "broken" / "run.json").write_text("{")
    assert labels_beside(str(tmp_path / "chats"), sample).folder == tmp_path / "labels"
    assert labels_beside(str(tmp_path / "chats"), rt.read("sample-simulated")).folder is None
    assert labels_beside("sample", sample).folder is None
