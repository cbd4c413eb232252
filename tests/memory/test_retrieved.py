"""Retrieval as a memory: contexts in time order within budgets, and an index that is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from realtalk.chat import Attachment, Chat, Message, Question, Session
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.formats.opening import open_reading
from realtalk.memory.index import ChatIndex, content_key, document_text
from realtalk.memory.registry import make_memory
from realtalk.memory.retrieved import Retrieved
from realtalk.memory.values import Budget
from realtalk.metrics.retrieval import score_ranking
from samples import read_sample
from short_chats import chat_of


class Counting(SentenceEncoder):
    """The encoder, with a count of the chats that it encoded."""

    chats = 0

    def encode(self, texts, groups=None, progress=lambda done, total, what: None):  # type: ignore[no-untyped-def]
        self.chats += groups is not None
        return super().encode(texts, groups, progress)


@pytest.fixture(scope="module")
def sample() -> Chat:
    return read_sample().chats[0]


@pytest.fixture(scope="module")
def encoder() -> Counting:
    return Counting()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("way", ["fused", "encoder", "bm25"])
def test_a_context_is_in_time_order_and_fits(
    sample: Chat, encoder: Counting, cache: Path, way: str
) -> None:
    built = Retrieved(way=way, encoder=encoder, cache=cache).build(sample)  # type: ignore[arg-type]
    places = {id_: at for at, id_ in enumerate(sample.by_id)}
    for question in sample.questions:
        context = built.recall(question, Budget(tokens=200))
        order = [places[id_] for id_ in context.message_ids]
        assert 0 < context.tokens <= 200
        assert all(first < second for first, second in pairwise(order))
        assert context.ranked is not None
        assert sorted(context.ranked) == sorted(sample.by_id)
        assert context.ranked[0] in context.message_ids


def test_fused_finds_more_than_words(sample: Chat, encoder: Counting, cache: Path) -> None:
    def recall(memory: Retrieved) -> float:
        built = memory.build(sample)
        found = [
            score_ranking(built.rank(question), question.evidence)
            for question in sample.questions
            if question.evidence
        ]
        return float(np.mean([score["recall@10"] for score in found]))

    fused = recall(Retrieved(encoder=encoder, cache=cache))
    assert fused > recall(Retrieved(way="bm25")) + 0.15
    assert fused > 0.7


@pytest.mark.slow
def test_an_index_is_stored_and_used_again(sample: Chat, tmp_path: Path) -> None:
    encoder = Counting()
    question = sample.questions[0]
    first = Retrieved(encoder=encoder, cache=tmp_path).build(sample).rank(question)
    again = Retrieved(encoder=encoder, cache=tmp_path).build(sample).rank(question)
    assert encoder.chats == 1
    assert first == again
    stored = list(tmp_path.iterdir())
    assert [path.suffix for path in stored] == [".npz"]
    stored[0].write_bytes(stored[0].read_bytes()[:100])  # a torn file is made anew
    assert Retrieved(encoder=encoder, cache=tmp_path).build(sample).rank(question) == first
    assert encoder.chats == 2


def test_a_changed_message_or_encoder_has_another_key(sample: Chat) -> None:
    first = sample.sessions[0]
    edited = replace(first.messages[0], text="really")
    session = replace(first, messages=(edited, *first.messages[1:]))
    other = replace(sample, sessions=(session, *sample.sessions[1:]))
    assert content_key(sample, "1") == content_key(sample, "1")
    assert content_key(sample, "1") != content_key(other, "1")
    assert content_key(sample, "1") != content_key(sample, "2")


def test_a_message_that_is_too_long_is_passed_over() -> None:
    texts = ["tram tram tram " * 40, "the tram is late", *["ok"] * 60]
    chat = chat_of(*(f"A: {text}" for text in texts))
    built = Retrieved(way="bm25").build(chat)
    question = Question("q", "Which tram?", None, "temporal")
    assert built.rank(question)[:2] == ("D1:1", "D1:2")
    context = built.recall(question, Budget(words=30))
    assert context.words <= 30
    assert context.message_ids[0] == "D1:2"
    assert len(built.recall(question, Budget()).message_ids) == len(texts)


def test_a_window_shows_what_stands_around(sample: Chat, encoder: Counting, cache: Path) -> None:
    question = sample.questions[0]
    alone = Retrieved(top=1, encoder=encoder, cache=cache).build(sample)
    wide = Retrieved(top=1, window=1, encoder=encoder, cache=cache).build(sample)
    hit = alone.recall(question, Budget()).message_ids
    around = wide.recall(question, Budget()).message_ids
    assert len(hit) == 1
    assert set(hit) < set(around)
    assert len(around) in (2, 3)


def test_settings_are_read_and_checked() -> None:
    memory = make_memory("retrieved", {"way": "bm25", "window": "2", "aliases": "no"})
    assert memory.settings == {
        "way": "bm25",
        "window": 2,
        "hops": 0,
        "top": 0,
        "aliases": False,
        "dates": True,
    }


def test_a_chat_of_nothing_recalls_nothing(encoder: Counting, tmp_path: Path) -> None:
    empty = Chat("Chat_0", ("A", "B"), (Session(1, None, ()),))
    question = Question("q", "Who?", None, "temporal")
    for way in ("fused", "bm25"):
        built = Retrieved(way=way, encoder=encoder, cache=tmp_path).build(empty)
        context = built.recall(question, Budget(words=10))
        assert (context.text, context.message_ids, context.ranked) == ("", (), ())


def test_what_is_searched_of_a_message() -> None:
    picture = Attachment("image", caption="a red kite over dunes")
    message = Message("D1:1", "Mara", datetime(2026, 3, 2), "look", (picture,))
    assert document_text(message) == "look [a red kite over dunes]"
    twice = Session(1, message.time, (message, Message("D1:1", "B", None, "coffee")))
    index = ChatIndex.around(Chat("Chat_2", ("Mara", "B"), (twice,)), None)
    assert (index.ids, index.texts) == (("D1:1",), ("look [a red kite over dunes]",))


@pytest.mark.slow
def test_promises_on_the_published_chats(data: Path, encoder: Counting, tmp_path: Path) -> None:
    rows = []
    memory = Retrieved(encoder=encoder, cache=tmp_path)
    for chat in open_reading(data / "realtalk").reading.corpus.chats:
        built = memory.build(chat)
        for question in chat.questions:
            found = score_ranking(built.rank(question), question.evidence)
            if found:
                rows.append(found)
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    assert means["any@5"] >= 0.76
    assert means["ndcg@10"] >= 0.58
    assert means["recall@20"] >= 0.75
