"""Events chosen for a question and the messages put back around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from memory_chats import ask, bakery
from realtalk.chat import Chat, Event
from realtalk.encoders.lexical import Bm25, best_first, with_aliases
from realtalk.encoders.tokens import count_tokens
from realtalk.memory.restored import Restored
from realtalk.memory.values import Budget, Context
from realtalk.text.terms import english_terms

KITTEN = ask("Where did Ines get the kitten?")


def recalled(
    chat: Chat, question: str = KITTEN.text, budget: Budget | None = None, **given: object
) -> Context:
    memory = Restored(**given)  # type: ignore[arg-type]
    return memory.build(chat).recall(ask(question), budget or Budget())


def test_words_lose_endings_and_small_talk() -> None:
    assert english_terms("The adopted kittens were playing") == english_terms("adopt kitten play")
    assert english_terms("studies runs baking calls") == english_terms("study running bake called")
    assert english_terms("who is she") == []


def test_bm25_finds_and_survives_nothing() -> None:
    ranking = Bm25(["a red bicycle", "the radio is repaired", "radio radio"])
    scores = ranking.scores("who repairs radios?")
    assert best_first(scores)[:2] == [1, 2]
    assert scores[0] == 0
    assert ranking.scores("zebra").tolist() == [0, 0, 0]
    assert Bm25([]).scores("x").tolist() == []
    assert Bm25(["", "the"]).scores("x").tolist() == [0, 0]


def test_equal_scores_keep_their_order() -> None:
    assert best_first(np.array([1.0, 2.0, 2.0, 1.0])) == [1, 2, 0, 3]


def test_other_names_of_a_speaker_are_searched_too() -> None:
    chat = bakery()
    assert with_aliases(chat, "What broke at Ines's?") == "What broke at Ines's? Nessa"
    assert with_aliases(chat, "what broke at nessa's?") == "what broke at nessa's? Ines"
    assert with_aliases(chat, "What broke?") == "What broke?"


def test_an_event_brings_its_messages_back() -> None:
    context = recalled(bakery(), around=0, top=1, anchors=1, others=False)
    assert context.text == (
        "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter.\n\n"
        "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    )
    assert context.message_ids == ("D2:3",)
    assert context.ranked is not None
    assert context.ranked[0] == "D2:3"
    assert context.tokens == count_tokens(context.text)


def test_surroundings_stay_within_the_session() -> None:
    chat = bakery()
    near = recalled(chat, around=1, top=1, anchors=1)
    assert near.message_ids == ("D2:2", "D2:3", "D2:4")
    far = recalled(chat, around=9, top=1, anchors=1)
    assert far.message_ids == ("D2:1", "D2:2", "D2:3", "D2:4")


def test_no_messages_below_zero() -> None:
    context = recalled(bakery(), around=-1, top=1, others=False)
    assert context.message_ids == ()
    assert context.text == "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter."
    assert context.ranked  # what it would lead to is known all the same


def test_sessions_come_back_whole_best_first() -> None:
    chat = bakery()
    one = recalled(chat, sessions=1, around=-1)
    assert one.message_ids == ("D2:1", "D2:2", "D2:3", "D2:4")
    two = recalled(
        chat, "Did the mechanic repair the oven before the kitten?", sessions=2, around=-1
    )
    assert {id_.split(":")[0] for id_ in two.message_ids} == {"D1", "D2"}
    assert len(two.message_ids) == 9


def test_named_evidence_wins_over_likeness() -> None:
    context = recalled(
        bakery(), "Who is told about the pet?", around=0, top=1, kinds=("observation",)
    )
    assert context.message_ids == ("D2:3", "D2:4")


def test_evidence_that_does_not_exist_is_not_used() -> None:
    chat = bakery()
    lost = Event(2, "Ines", "Ines adopts a kitten from the shelter.", "event", "", ("D7:7",))
    context = recalled(replace(chat, events=(lost,)), around=0, anchors=1)
    assert context.message_ids == ("D2:3",)


def test_an_event_of_a_missing_session_is_shown_alone() -> None:
    chat = replace(bakery(), events=(Event(40, "Ines", "Ines buys a kitten."),))
    context = recalled(chat)
    assert context.text == "[session 40]\n- Ines: Ines buys a kitten."
    assert context.ranked == ()


def test_the_chosen_event_comes_first_then_messages_then_others() -> None:
    chat = bakery()
    event = "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter."
    message = "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    tight = Budget(tokens=count_tokens(event))
    assert recalled(chat, budget=tight, around=0, anchors=1, top=1).text == event
    room = Budget(tokens=count_tokens(event) + count_tokens(message))
    assert recalled(chat, budget=room, around=0, anchors=1, top=1).text == f"{event}\n\n{message}"
    everything = recalled(chat, around=0, anchors=1, top=1)
    assert everything.text.count("\n- ") == 3


def test_an_alias_finds_what_the_annotator_called_her() -> None:
    chat = bakery()
    plain = replace(chat, events=tuple(e for e in chat.events if e.kind == "event"))
    context = recalled(plain, "What happened to Nessa's oven?", around=0, top=1, anchors=1)
    assert context.message_ids == ("D1:3",)


class _Last:
    """A ranking that always prefers what comes last."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        return np.arange(1, self._count + 1, dtype=np.float64)


def test_the_ranking_can_be_replaced() -> None:
    memory = Restored(ranking=_Last, around=0, top=1, anchors=1)
    context = memory.build(bakery()).recall(KITTEN, Budget())
    assert context.message_ids == ("D3:3",)
    assert memory.settings["ranking"] == "_last"


@pytest.mark.parametrize("around", [0, 2])
def test_more_surroundings_hold_what_fewer_held(around: int) -> None:
    chat = bakery()
    fewer = recalled(chat, around=around)
    more = recalled(chat, around=around + 1)
    assert set(fewer.message_ids) <= set(more.message_ids)
