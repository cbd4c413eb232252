"""Retrieval in chats that are not in English: by meaning and pieces, not by the English encoder."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import realtalk_models
from realtalk.chat import Chat, Event, Message, Question, Session
from realtalk.encoders.sentences import OTHER_LANGUAGES, SentenceEncoder
from realtalk.memory.index import FUSED, ChatIndex, SearchedQuestion, scores
from realtalk.memory.retrieved import Restored, Retrieved
from realtalk.memory.values import Budget
from realtalk.text.terms import english_terms
from samples import read_sample
from short_chats import chat_of
from text_tables import cases

STORIES = Path(__file__).parent / "stories"
SESSIONS = (1, 7, 13, 19, 26, 33, 39, 45)  # the first message of each
EVIDENCE = (1,), (6,), (7,), (15,), (18, 19), (21,), (25,), (29,), (32,), (35,), (43,), (47,)


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
        Question(f"Q{number}", text, None, "", evidence=tuple(map(str, EVIDENCE[number - 1])))
        for number, text in enumerate(asked, 1)
    )
    return Chat(language, names, tuple(sessions), questions=questions)


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


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
