"""Events chosen for a question and the messages put back around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_chats import ask, bakery
from realtalk.chat import Chat, Event
from realtalk.encoders.lexical import Bm25, best_first, with_aliases
from realtalk.encoders.tokens import count_tokens
from realtalk.memory.retrieved import Restored
from realtalk.memory.values import Budget, Context
from text_tables import cases

KITTEN = ask("Where did Ines get the kitten?")


def recalled(
    chat: Chat, question: str = KITTEN.text, budget: Budget | None = None, **given: Any
) -> Context:
    memory = Restored(**given)
    return memory.build(chat).recall(ask(question), budget or Budget())


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
    assert context.ranked is not None and context.ranked[0] == "D2:3"
    assert context.tokens == count_tokens(context.text)
    alone = recalled(bakery(), around=-1, top=1, others=False)
    assert (alone.message_ids, alone.text) == ((), context.text.split("\n\n")[0])
    assert alone.ranked  # what it would lead to is known all the same


@cases("""
    question | settings | ids
    Where did Ines get the kitten? | {"around": 1, "top": 1, "anchors": 1} | D2:2 D2:3 D2:4
    # Within the session.
    Where did Ines get the kitten? | {"around": 9, "top": 1, "anchors": 1} | D2:1 D2:2 D2:3 D2:4
    Where did Ines get the kitten? | {"sessions": 1, "around": -1} | D2:1 D2:2 D2:3 D2:4
    Did the oven break before the kitten? | {"sessions": 2, "around": -1} | D1:1 D1:2 D1:3 D1:4 D1:5 D2:1 D2:2 D2:3 D2:4
    # Named evidence wins over likeness.
    Who is told about the pet? | {"around": 0, "top": 1, "kinds": ["observation"]} | D2:3 D2:4
    # An alias finds what the annotator called her.
    What happened to Nessa's oven? | {"around": 0, "top": 1, "anchors": 1} | D1:3
""")  # noqa: E501
def test_what_an_event_leads_to(question: str, settings: dict[str, Any], ids: str) -> None:
    found = recalled(bakery(), question, **settings)
    assert found.message_ids == tuple(ids.split())


def test_evidence_or_a_session_that_does_not_exist_is_not_used() -> None:
    lost = Event(2, "Ines", "Ines adopts a kitten from the shelter.", "event", "", ("D7:7",))
    context = recalled(replace(bakery(), events=(lost,)), around=0, anchors=1)
    assert context.message_ids == ("D2:3",)
    nowhere = replace(bakery(), events=(Event(40, "Ines", "Ines buys a kitten."),))
    context = recalled(nowhere)
    assert context.text == "[session 40]\n- Ines: Ines buys a kitten."
    assert context.ranked == ()


def test_the_chosen_event_comes_first_then_messages_then_others() -> None:
    event = "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter."
    message = "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    for text in (event, f"{event}\n\n{message}"):
        budget = Budget(tokens=count_tokens(text))
        assert recalled(bakery(), budget=budget, around=0, anchors=1, top=1).text == text
    everything = recalled(bakery(), around=0, anchors=1, top=1)
    assert everything.text.count("\n- ") == 3


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
