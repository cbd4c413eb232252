"""Retrieval as a memory: contexts in time order within budgets, an index that is kept, and chats
that are not in English, which are ranked by meaning and pieces."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import realtalk_models
from realtalk.chat import Attachment, Chat, Event, Message, Question, Session
from realtalk.encoders.sentences import OTHER_LANGUAGES, SentenceEncoder
from realtalk.files.caches import LIMIT
from realtalk.memory.index import (
    FUSED,
    ChatIndex,
    SearchedQuestion,
    content_key,
    document_text,
    scores,
)
from realtalk.memory.retrieved import Restored, Retrieved
from realtalk.memory.values import Budget
from realtalk.metrics.retrieval import score_ranking
from realtalk.text.terms import english_terms
from refusals import refused
from samples import read_sample
from short_chats import chat_of
from text_tables import cases


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


# --- other languages ---


STORIES = Path(__file__).parent / "stories"
SESSIONS = (1, 7, 13, 19, 26, 33, 39, 45)  # the first message of each
EVIDENCE = "1 | 6 | 7 | 15 | 18 19 | 21 | 25 | 29 | 32 | 35 | 43 | 47"  # of each question


def read_story(language: str) -> Chat:
    """A chat and its questions: "# Clara · Ben", "A text", "B text", "? question"."""
    head, *lines = (STORIES / f"{language}.txt").read_text("utf-8").splitlines()
    names = tuple(head.removeprefix("# ").split(" · "))
    said = [(names["AB".index(line[0])], line[2:]) for line in lines if line[0] in "AB"]
    sessions = []
    for number, (first, end) in enumerate(pairwise((*SESSIONS, len(said) + 1)), 1):
        time = datetime(2026, 3, 3, 18) + timedelta(days=9 * number)
        messages = tuple(
            Message(str(at), said[at - 1][0], time, said[at - 1][1]) for at in range(first, end)
        )
        sessions.append(Session(number, time, messages))
    asked = [line[2:] for line in lines if line[0] == "?"]
    questions = tuple(
        Question(
            f"Q{number}", text, None, "", evidence=tuple(EVIDENCE.split("|")[number - 1].split())
        )
        for number, text in enumerate(asked, 1)
    )
    return Chat(language, names, tuple(sessions), questions=questions)


@pytest.fixture(scope="module")
def multilingual() -> SentenceEncoder:
    return SentenceEncoder(realtalk_models.path(OTHER_LANGUAGES))


LANGUAGES = sorted(path.stem for path in STORIES.glob("*.txt"))


class NoEncoder(SentenceEncoder):
    """Fails where it is asked: what is not for it must not reach it."""

    def encode(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
        raise AssertionError("an encoder was asked about texts that are not for it")


def mean_rank(language: str, memory: Retrieved, asked: str = "") -> float:
    """The mean reciprocal rank of a story's questions, asked in its language or another."""
    built = memory.build(read_story(language))
    ranks = []
    for question in read_story(asked or language).questions:
        order = built.rank(question)
        ranks.append(min(1 + order.index(id_) for id_ in question.evidence))
    return float(np.mean(1 / np.array(ranks)))


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(each, marks=() if each in ("de", "hi-Latn", "ja") else pytest.mark.slow)
        for each in LANGUAGES
        if each != "en"
    ],
)
def test_questions_find_their_messages(
    multilingual: SentenceEncoder, language: str, tmp_path: Path
) -> None:
    """In a ranking by chance the mean is .09."""
    memory = Retrieved(encoder=NoEncoder(), multilingual=multilingual, cache=tmp_path)
    assert mean_rank(language, memory) > 0.4
    assert len(list(tmp_path.iterdir())) == 1


@cases("""
    language | asked
    de       | en
    zh       | es
    ru       | ko
""")
def test_a_question_finds_messages_of_another_language(
    multilingual: SentenceEncoder, language: str, asked: str, tmp_path: Path
) -> None:
    by_meaning = Retrieved(multilingual=multilingual, cache=tmp_path)
    found = mean_rank(language, by_meaning, asked)
    assert found > max(0.25, mean_rank(language, Retrieved(way="bm25"), asked))


def test_a_chat_of_several_languages_has_one_index(
    multilingual: SentenceEncoder, tmp_path: Path
) -> None:
    english, other = read_story("en"), read_story("it")
    later = tuple(
        replace(each, messages=tuple(replace(m, id=f"it{m.id}") for m in each.messages))
        for each in other.sessions[:4]
    )
    memory = Retrieved(encoder=NoEncoder(), multilingual=multilingual, cache=tmp_path)
    built = memory.build(replace(english, sessions=(*english.sessions, *later)))
    assert not built.index.is_english
    question = other.questions[0]
    evidence = question.evidence[0]
    assert {evidence, f"it{evidence}"} & set(built.rank(question)[:5])


def test_a_chat_that_changes_its_language_is_encoded_anew(
    encoder: SentenceEncoder, multilingual: SentenceEncoder, tmp_path: Path
) -> None:
    english, other = read_story("en"), read_story("it")
    both = replace(english, sessions=(*english.sessions[:1], *other.sessions[1:]))
    memory = Retrieved(encoder=encoder, multilingual=multilingual, cache=tmp_path)
    memory.build(english)
    grown = memory.build(both).index
    assert (grown.vectors == ChatIndex.of(both, multilingual, cache=tmp_path / "new").vectors).all()


def test_a_message_is_long_and_asks_in_any_script() -> None:
    texts = ("洗濯機がまた壊れてしまったので修理を頼んだ", "面接はいつ？", "うん") * 4
    index = ChatIndex.around(chat_of(*(f"健太: {text}" for text in texts)), None)
    assert np.allclose(np.expm1(index.lengths[:3]), [21, 6, 2])
    assert index.asking[:3].tolist() == [False, True, False]
    english = ChatIndex.around(chat_of("健太: the machine has broken down again"), None)
    assert np.allclose(np.expm1(english.lengths), 6)


def test_english_is_ranked_exactly_as_ever(encoder: SentenceEncoder, tmp_path: Path) -> None:
    for chat in read_sample().chats[:1]:
        memory = Retrieved(encoder=encoder, multilingual=NoEncoder(), cache=tmp_path)
        built = memory.build(chat)
        index = ChatIndex.of(chat, encoder, cache=tmp_path)
        assert index.is_english
        vars(index)["read"] = english_terms
        for question in chat.questions[:5]:
            asked = SearchedQuestion.of(chat, question)
            assert (built.scores(question) == scores(index, asked, encoder, FUSED)).all()


def test_whoever_asks_for_the_encoder_has_it(tmp_path: Path) -> None:
    chat = read_story("es")
    Retrieved(way="encoder", cache=tmp_path).build(chat).rank(chat.questions[0])
    Retrieved(hops=1, cache=tmp_path).build(chat).rank(chat.questions[0])
    assert len(list(tmp_path.iterdir())) == 1


def test_events_are_found_in_other_languages_too() -> None:
    chat = read_story("ja")
    told = (
        "洗濯機が壊れた",
        "図書館の面接に行く",
        "誕生日の会を計画している",
        "膝が痛くて走れない",
    )
    events = tuple(
        Event(session, chat.speakers[0], text)
        for session, text in zip((1, 2, 5, 7), told, strict=True)
    )
    built = Restored(top=1).build(replace(chat, events=events))
    assert "面接" in built.recall(chat.questions[2], Budget(words=40)).text


# --- indexes on disk: within the limit, the one used longest ago goes first ---


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "memory"


def chat(number: int) -> Chat:
    return chat_of(*(f"Wren: the ferry {number} was late for the {n}th time" for n in range(4)))


def made(number: int, encoder: SentenceEncoder, kept: Path) -> Path:
    ChatIndex.of(chat(number), encoder)
    return kept / f"{content_key(chat(number), encoder.version)}.npz"


def test_the_oldest_by_use_go_and_come_again(
    encoder: SentenceEncoder, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [made(number, encoder, kept) for number in range(3)]
    for hours, path in zip((9, 5, 7), paths, strict=True):
        os.utime(path, (time.time() - hours * 3600,) * 2)
    ChatIndex.of(chat(0), encoder)  # read: no longer the oldest
    monkeypatch.setenv(LIMIT, f"{sum(path.stat().st_size for path in paths)}B")
    newest = made(3, encoder, kept)
    assert [path.exists() for path in (*paths, newest)] == [True, True, False, True]
    monkeypatch.setenv(LIMIT, "1B")
    assert made(2, encoder, kept).exists()  # just written, though it is too much
    assert [path.exists() for path in (*paths, newest)] == [False, False, True, False]


def test_a_wrong_limit_is_said_before_the_slow_part(
    encoder: SentenceEncoder, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "lots")
    with refused("'lots' is not a size"):
        made(0, encoder, kept)
    assert not kept.exists()
