"""Scores of messages: each feature says what it is for, and all together find the evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from realtalk.chat import Alias, Chat, Message, Question, Session
from realtalk.encoders.sentences import EncodedTexts, SentenceEncoder
from realtalk.memory.index import (
    FEATURES,
    FUSED,
    ChatIndex,
    SearchedQuestion,
    again,
    features,
    scores,
    weigh,
)
from short_chats import chat_of, said
from text_tables import cases


def chat() -> Chat:
    return chat_of(
        said(
            1,
            datetime(2026, 3, 2, 18, 3),
            "Mara: did you sleep at all?",
            "Theo Berg: barely. the neighbours drilled till midnight",
            "Mara: where did you buy that green bicycle?",
            "Theo Berg: at a flea market near the harbour",
            "Mara: my grandmother turns ninety on sunday, we bake her a plum cake",
        ),
        said(
            2,
            datetime(2026, 4, 11, 9, 30),
            "Theo Berg: i started a pottery course yesterday",
            "Mara: nice! what do you make?",
            "Theo Berg: ugly bowls mostly",
            "Mara: the dentist pulled two of my teeth, i can only eat soup",
        ),
        aliases=(Alias("Teddy", "Theo Berg", "D1:1"), Alias("Theo", "Theo Berg", "name")),
    )


def question(text: str, asked: datetime | None = None) -> Question:
    return Question("q", text, None, "multi_hop", asked=asked)


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(scope="module")
def index(encoder: SentenceEncoder, tmp_path_factory: pytest.TempPathFactory) -> ChatIndex:
    return ChatIndex.of(chat(), encoder, cache=tmp_path_factory.mktemp("index"))


@cases("""
    asked                                   | best
    Where did Teddy get his bike?           | D1:4
    How old will Mara's grandmother be?     | D1:5
    Which hobby did Theo take up in spring? | D2:1
    Why does Mara eat soup?                 | D2:4
""")
def test_the_evidence_comes_first(
    index: ChatIndex, encoder: SentenceEncoder, asked: str, best: str
) -> None:
    found = scores(index, SearchedQuestion.of(index.chat, question(asked)), encoder)
    assert index.ids[int(found.argmax())] == best


def test_other_names_become_the_chats_own_once() -> None:
    asked = SearchedQuestion.of(
        chat(), question("When did Teddy meet Theo's aunt, asks Theo Berg?")
    )
    assert asked.text == "When did Theo Berg meet Theo Berg's aunt, asks Theo Berg?"
    assert asked.speakers == ("Theo Berg",)
    plain = SearchedQuestion.of(chat(), question("When did Teddy go?"), aliases=False)
    assert (plain.text, plain.speakers) == ("When did Teddy go?", ())
    names = (Alias("Ted", "Theo Berg", "D1:1"), Alias("Ted Junior", "Theo Berg", "D1:2"))
    longer = SearchedQuestion.of(replace(chat(), aliases=names), question("Did Ted Junior call?"))
    assert longer.text == "Did Theo Berg call?"


def test_who_is_asked_about_counts_only_where_it_is_one(index: ChatIndex) -> None:
    one = features(index, SearchedQuestion("Mara?", ("Mara",), ()), None)["speaker"]
    assert one.tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    both = features(index, SearchedQuestion("both?", ("Mara", "Theo Berg"), ()), None)["speaker"]
    assert not both.any()


def test_days_that_a_question_names(index: ChatIndex) -> None:
    asked = SearchedQuestion.of(index.chat, question("What happened on 2 March 2026?"))
    assert asked.days == ((date(2026, 3, 2).toordinal(),) * 2,)
    assert features(index, asked, None)["day"].tolist() == [1.0] * 5 + [0.0] * 4
    assert SearchedQuestion.of(index.chat, question("On 2 March 2026?"), dates=False).days == ()
    # What is relative counts from the asking, else from the last message.
    for moment, day in ((datetime(2026, 3, 3, 12), date(2026, 3, 2)), (None, date(2026, 4, 10))):
        relative = SearchedQuestion.of(chat(), question("What did I say yesterday?", moment))
        assert relative.days == ((day.toordinal(),) * 2,)


def test_a_day_fades_over_a_week_after_it_and_twice_as_fast_before_it() -> None:
    first = datetime(2026, 3, 2, 9)
    steps = range(-4, 9)
    messages = tuple(
        Message(f"D1:{step}", "Mara", first + timedelta(days=step), "hm") for step in steps
    )
    days = ChatIndex.around(Chat("days", ("Mara",), (Session(1, None, messages),)), None)
    asked = SearchedQuestion("", (), ((first.toordinal(), first.toordinal() + 1),))
    found = dict(zip(steps, features(days, asked, None)["day"].tolist(), strict=True))
    assert found == pytest.approx(
        {-4: 0, -3: 1 / 7, -2: 3 / 7, -1: 5 / 7, 0: 1, 1: 1}
        | {1 + late: 1 - late / 7 for late in range(1, 8)}
    )


def test_the_day_decides_between_equal_messages(encoder: SentenceEncoder, tmp_path: Path) -> None:
    """The same sentence every other week: only the day that is asked for tells which."""
    days = [datetime(2026, 3, 2, 9) + timedelta(days=14 * week) for week in range(4)]
    weeks = chat_of(
        *(said(at, day, "Mara: we had pancakes at the lake") for at, day in enumerate(days, 1))
    )
    index = ChatIndex.of(weeks, encoder, cache=tmp_path)
    for at, day in enumerate(days):
        asked = question(f"What did Mara eat on {day.day} {day:%B} {day.year}?")
        found = scores(index, SearchedQuestion.of(index.chat, asked), encoder)
        assert int(found.argmax()) == at
        assert found[at] > np.delete(found, at).max() + 1  # and clearly so


def test_an_answer_takes_part_in_its_question(index: ChatIndex, encoder: SentenceEncoder) -> None:
    asked = encoder.encode(["Where did he buy the green bicycle?"])
    found = features(index, SearchedQuestion("", (), ()), asked)["answers"]
    assert index.ids[int(found.argmax())] == "D1:4"
    assert found[5] == 0


def test_the_first_of_a_session_answers_nothing() -> None:
    """Not the question that the session before ended with, nor the chat's last."""
    first, second = ("A: in Bergen", "A: really?"), ("A: in Oslo", "A: why?")
    two = chat_of(said(1, None, *first), said(2, None, *second))
    vectors = np.eye(4, dtype=np.float32)
    encoded = EncodedTexts(
        vectors, np.zeros((4, 1), np.int8), np.arange(5), np.empty(0, np.float32)
    )
    built = ChatIndex.around(two, encoded)
    tokens, weights = np.ones((1, 1), np.int8), np.ones(1, np.float32)
    for near in (1, 3):
        asked = EncodedTexts(vectors[near : near + 1], tokens, np.arange(2), weights)
        assert not features(built, SearchedQuestion("", (), ()), asked)["answers"].any()


def test_best_matches_by_hand() -> None:
    """The sum of each question token's best likeness to a token of the message."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 6, 9)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = rng.integers(-127, 128, (int(offsets[-1]), 4)).astype(np.int8)
    vectors = rng.normal(size=(9, 3)).astype(np.float32)
    built = ChatIndex.around(
        chat(), EncodedTexts(vectors, tokens, offsets, np.empty(0, np.float32))
    )
    asked_tokens = rng.integers(-127, 128, (3, 4)).astype(np.int8)
    weights = np.array([1.0, 2.0, 0.5], np.float32)
    asked = EncodedTexts(vectors[:1], asked_tokens, np.array([0, 3]), weights)
    likeness = asked_tokens.astype(int) @ tokens.astype(int).T
    plain = np.array(
        [weights @ likeness[:, first:end].max(axis=1) for first, end in pairwise(offsets)]
    )
    found = features(built, SearchedQuestion("", (), ()), asked)["tokens"]
    assert np.allclose(found, (plain - plain.mean()) / plain.std(), atol=1e-4)


def test_a_session_is_as_near_as_its_three_best_messages(
    index: ChatIndex, encoder: SentenceEncoder
) -> None:
    found = features(index, SearchedQuestion("", (), ()), encoder.encode(["What do they eat?"]))
    first, second = found["tokens"][:5], found["tokens"][5:]
    plain = np.repeat([np.sort(first)[-3:].mean(), np.sort(second)[-3:].mean()], [5, 4])
    assert np.allclose(found["session_tokens"], (plain - plain.mean()) / plain.std())
    short = ChatIndex.around(replace(chat(), sessions=chat().sessions[:1]), None)
    assert short.of_sessions(np.arange(5.0)).tolist() == [3.0] * 5
    two = replace(chat().sessions[0], messages=chat().sessions[0].messages[:2])
    fewer = ChatIndex.around(replace(chat(), sessions=(two,)), None)
    assert fewer.of_sessions(np.array([4.0, 2.0])).tolist() == [3.0, 3.0]


def test_every_likeness_and_prior_has_its_say() -> None:
    assert set(FUSED) == set(FEATURES)
    some = {"words": np.array([1.0, 0.0]), "length": np.array([0.0, 2.0])}
    assert weigh(some, {"words": 2, "length": 0.5, "vectors": 9}).tolist() == [2.0, 1.0]


def test_a_second_hop_raises_what_is_like_the_hits() -> None:
    vectors = np.eye(9, dtype=np.float32)
    vectors[7] = vectors[5]
    offsets = np.arange(10)
    tokens = np.zeros((9, 1), np.int8)
    built = ChatIndex.around(
        chat(), EncodedTexts(vectors, tokens, offsets, np.empty(0, np.float32))
    )
    found = np.zeros(9)
    found[5] = 8.0
    hopped = again(built, found)
    assert int(hopped.argmax()) == 5
    assert int(np.argsort(-hopped)[1]) == 7
    assert hopped[7] > hopped[8] == hopped[6]


def test_a_long_answer_is_found_by_what_its_last_lines_say(tmp_path: Path) -> None:
    filler = "Keep the receipts in one folder and write the month on each of them. " * 12
    long = f"{filler}Water the lemon tree only once a week in winter.\nThat is all for today."
    asks = "Mara: how often should the little tree on my balcony be given water?"
    plant = chat_of(f"Mara: {long}", f"Mara: {filler}", asks)
    encoder = SentenceEncoder()
    encoder.passage, shipped = 0, encoder.passage
    assert len(ChatIndex.of(plant, encoder, cache=tmp_path).encoded or ()) == 3  # no setting: whole
    encoder.passage = shipped
    index = ChatIndex.of(plant, encoder, cache=tmp_path)
    assert [len(cut) for cut in index.passages] == [3, 2, 1]
    assert " ".join(index.passages[0]) == long.replace("\n", " ")
    assert len(index.encoded or ()) == 6
    assert index.vectors.shape == (3, 384)
    asked = SearchedQuestion.of(plant, Question("", "When is the lemon tree watered?", None, ""))
    near = features(index, asked, encoder.encode([asked.text]))
    assert near["vectors"][0] > near["vectors"][1] + 1
    assert near["tokens"][0] > near["tokens"][1] + 1


def with_assistant(person: str, assistant: str) -> ChatIndex:
    """A chat of four messages in turn, of which two and two are the same."""
    return ChatIndex.around(chat_of(*[f"Ines: {person}", f"Helper: {assistant}"] * 2), None)


@cases("""
    asked                                            | meant
    What did I tell you about the oven?              | Ines
    Which list did you give me?                      | Helper
    Can you remind me where my oven stands?          | Ines
    Could you please tell me what you wrote on salt? | Helper
    Please show me our plan                          | Ines
    When was the oven bought?                        | ""
""")
def test_i_is_the_person_and_you_the_assistant(asked: str, meant: str) -> None:
    index = with_assistant("Where shall I put it?", "Put it in the corner. " * 30)
    assert index.assistant == "Helper"
    assert index.meant(asked) == tuple(meant.split())
    by_speaker = features(index, SearchedQuestion(asked, (), ()), None)["speaker"]
    assert by_speaker.tolist() == [float(who == meant) for who in index.speakers]
    # Who is named is meant, whatever else the question says.
    named = features(index, SearchedQuestion(asked, ("Helper",), ()), None)["speaker"]
    assert named.tolist() == [0, 1, 0, 1]


def test_two_people_have_no_assistant() -> None:
    long = "Put it in the corner. " * 30
    assert with_assistant("Where shall I put it?", "In the corner.").assistant is None  # short
    assert with_assistant(long, long + long[:200]).assistant is None  # both write at length
    german = with_assistant("Wohin soll ich es stellen?", "Stell es bitte in die Ecke. " * 30)
    assert german.meant("Where did I put it?") == ()
