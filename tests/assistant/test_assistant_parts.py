"""The parts of the assistant's room: pages, periods, words in any language, what takes its time."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realtalk as rt
from realtalk.assistant import querying
from realtalk.assistant.answers import MOST_CHARACTERS, Period, encode, page
from realtalk.assistant.finding import (
    BackgroundValue,
    Collection,
    MeaningSearch,
    WordSearch,
    labels_beside,
    nearest,
    question_of,
    recall,
)
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.errors import RealtalkError
from realtalk.formats.tables import from_corpus
from realtalk.memory.retrieved import Retrieved
from realtalk.memory.values import Budget
from realtalk.pages.lines import message_lines
from refusals import refused


@given(
    st.lists(st.text(st.characters(), max_size=40_000), max_size=6),
    st.integers(1, 200),
)
def test_a_page_is_never_too_long_and_never_empty(texts: list[str], limit: int) -> None:
    rows = [{"id": str(at), "text": text} for at, text in enumerate(texts)]
    shown: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = page({"chat": "c"}, "rows", rows, dict, offset, limit)
        written = encode(part)
        assert len(written) <= MOST_CHARACTERS
        json.loads(written)
        assert len(part["rows"]) <= limit
        shown += [row["id"] for row in part["rows"]]
        offset = part.get("next_offset")
    assert shown == [row["id"] for row in rows]


def test_half_a_character_can_be_told() -> None:
    assert json.loads(encode({"text": "a\ud83db"})) == {"text": "a?b"}


def test_a_period_holds_its_first_and_last_day() -> None:
    period = Period.of("2026-02", "2 March 2026")
    assert (period.first, period.last) == (date(2026, 2, 1), date(2026, 3, 2))
    assert period.holds(datetime(2026, 3, 2, 23, 59)) and not period.holds(datetime(2026, 3, 3))
    assert not period.holds(None) and Period.of().holds(None)
    with refused("'until' is no date"):
        Period.of("", "soon")


def test_until_vectors_are_made_it_is_told_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path))
    chats = Collection.of([rt.read("sample")]).chats[:1]
    search = MeaningSearch()
    with refused("still being prepared: 0 of 348 messages; ask again in a minute"):
        search.memories(chats, 0)
    assert [*search.memories(chats, 300)] == [*chats]


@pytest.mark.parametrize("budget", [Budget(tokens=60), Budget(tokens=900), Budget(words=300)])
def test_one_chat_is_recalled_as_the_memory_does_it(
    budget: Budget, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(shared_cache))
    (chat,) = Collection.of([rt.read("sample")]).chats[:1]
    memory = Retrieved().build(chat.display)
    for text in ("Who broke the bicycle?", "What does Theo repair on Saturdays?"):
        context = memory.recall(question_of(text), budget)
        answer = recall(nearest({chat: memory}, text, "", Period()), budget)
        ids = re.findall(r"^\((D\d+:\d+),", answer["text"], re.MULTILINE)
        assert tuple(ids) == context.message_ids
        assert (answer["tokens"], answer["words"]) == (context.tokens, context.words)


def test_what_takes_its_time_is_asked_for_again() -> None:
    go = threading.Event()
    slow = BackgroundValue(lambda: go.wait() and "made")
    with refused("still being prepared; ask again in a minute"):
        slow.get(wait=0)
    go.set()
    assert slow.get() == "made"

    def fail() -> str:
        raise RealtalkError("no such luck")

    with refused("no such luck"):
        BackgroundValue(fail).get()


def test_queries_have_an_end_and_texts_only_where_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="the extra mcp is not whole")
    lines = message_lines(from_corpus(rt.read("sample")))
    tables = querying.QueryTables(lines, texts=True)
    (row,) = tables.rows("SELECT text FROM messages WHERE id = 'D6:19' LIMIT 1")
    assert row["text"].startswith("Ugh.")
    monkeypatch.setattr(querying, "SECONDS", 0.2)
    with refused("the query took longer than 0 seconds; ask for less"):
        tables.rows("SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a < b")
    assert tables.rows("SELECT count(*) AS n FROM messages") == [{"n": 649}]  # and it goes on


@pytest.mark.slow
def test_labels_of_another_corpus_are_not_taken(tmp_path: Path) -> None:
    sample = rt.read("sample", out=tmp_path / "chats")
    labels = rt.label(sample)
    labels.save(tmp_path / "labels")
    (tmp_path / "no labels").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "labels.jsonl").write_text("{")
    (tmp_path / "broken" / "run.json").write_text("{")
    assert labels_beside(str(tmp_path / "chats"), sample) == tmp_path / "labels"
    assert labels_beside(str(tmp_path / "chats"), rt.read("sample-simulated")) is None
    assert labels_beside("sample", sample) is None


SAID = {
    "ja": ("明日は市立図書館で面接があります", "洗濯機が壊れて困っています", "猫の手術は来週です"),
    "ar": ("أنا رايح المكتبة بكرة عشان أذاكر", "الغسالة عطلانة من الصبح", "القطة عندها عملية"),
    "tr": (
        "yarın kütüphanede olacağım ama geç",
        "çamaşır makinesi bozuldu yine",
        "kedinin dişi çürük",
    ),
}


def talk(name: str, texts: Sequence[str]) -> Chat:
    time = datetime(2026, 3, 2)
    said = tuple(Message(f"{name}:{at}", "Uma", time, text) for at, text in enumerate(texts))
    return Chat(name, ("Uma", "Odo"), (Session(1, time, said),))


def found(search: WordSearch, chats: Collection, words: str) -> list[str]:
    return [each.message.id for each in search.find(words, chats.chats, "", Period())]


def test_every_chat_is_searched_in_its_language() -> None:
    own = Corpus("own", "made", tuple(talk(name, texts) for name, texts in SAID.items()))
    chats = Collection.of([rt.read("sample"), own])
    search = WordSearch(chats)
    for words, id_ in (
        ("図書館", "ja:0"),
        ("洗濯機", "ja:1"),
        ("مكتبة", "ar:0"),
        ("غسالة", "ar:1"),
        ("kütüphane", "tr:0"),
        ("makine", "tr:1"),
    ):
        assert found(search, chats, words)[0] == id_
    # What is English is found as it is alone.
    alone = Collection.of([rt.read("sample")])
    before, now = WordSearch(alone), WordSearch(chats)
    for words in ("bicycle wheel", "radio", "exam next week"):
        english = [id_ for id_ in found(now, chats, words) if id_.startswith("D")]
        assert english == found(before, alone, words)
