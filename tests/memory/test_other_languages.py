"""Retrieval in chats that are not in English: by their own words, without the English encoder."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from realtalk.chat import Chat, Event, Message, Question, Session
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.formats.opening import open_reading
from realtalk.memory.index import FUSED, ChatIndex, SearchedQuestion, scores
from realtalk.memory.restored import Restored
from realtalk.memory.retrieved import Retrieved
from realtalk.memory.values import Budget
from realtalk.text.terms import english_terms

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


LATIN = {"de", "es", "fr", "hi-Latn", "id", "it", "pt", "tr", "vi"}
LANGUAGES = sorted(path.stem for path in STORIES.glob("*.txt"))


def test_the_stories_are_alike() -> None:
    assert len(LANGUAGES) >= 11 and {"ja", "zh", "ko", "th", "ar", "hi", "hi-Latn"} < set(LANGUAGES)
    for language in LANGUAGES:
        chat = read_story(language)
        assert (len(chat.messages), len(chat.questions), len(chat.sessions)) == (48, 12, 8)
        assert len({message.text for message in chat.messages}) == 48


class NoEncoder(SentenceEncoder):
    """Fails where it is asked: what is not for it must not reach it."""

    def encode(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
        raise AssertionError("the English encoder was asked about another language")


def mean_rank(language: str, memory: Retrieved) -> float:
    """The mean reciprocal rank of a story's questions."""
    chat = read_story(language)
    built = memory.build(chat)
    ranks = []
    for question in chat.questions:
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
    encoder: SentenceEncoder, language: str, tmp_path: Path
) -> None:
    """In a ranking by chance the mean is .09; the fewest found here are of Japanese."""
    latin = language in LATIN
    memory = Retrieved(encoder=encoder if latin else NoEncoder(), cache=tmp_path)
    assert mean_rank(language, memory) > 0.4
    assert len(list(tmp_path.iterdir())) == latin  # no vectors, so none are kept


def test_a_context_is_made_of_them() -> None:
    chat = read_story("ko")
    asked = chat.questions[1]
    context = Retrieved(encoder=NoEncoder()).build(chat).recall(asked, Budget(words=60))
    assert "6" in context.message_ids


def test_a_message_is_long_and_asks_in_any_script() -> None:
    texts = ("洗濯機がまた壊れてしまったので修理を頼んだ", "面接はいつ？", "うん") * 4
    messages = tuple(Message(str(at), "健太", None, text) for at, text in enumerate(texts))
    index = ChatIndex.around(Chat("ja", ("健太",), (Session(1, None, messages),)), None)
    assert np.allclose(np.expm1(index.lengths[:3]), [21, 6, 2])
    assert index.asking[:3].tolist() == [False, True, False]
    spaced = tuple(replace(each, text="la lavatrice si è rotta ancora") for each in messages)
    latin = ChatIndex.around(Chat("it", ("健太",), (Session(1, None, spaced),)), None)
    assert np.allclose(np.expm1(latin.lengths), 6)


def test_english_is_ranked_exactly_as_ever(encoder: SentenceEncoder, tmp_path: Path) -> None:
    for chat in open_reading("sample").reading.corpus.chats[:1]:
        built = Retrieved(encoder=encoder, cache=tmp_path).build(chat)
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
