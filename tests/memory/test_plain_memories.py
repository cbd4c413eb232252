"""Text, counts and budgets of the memories that do not look at the question; events chosen for a
question and the messages put back around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_strategies import chats
from memory_chats import ask, bakery
from realtalk.chat import Attachment, Chat, Event, Message, Session
from realtalk.encoders.lexical import Bm25, best_first, with_aliases
from realtalk.encoders.tokens import count_each, count_tokens, count_words
from realtalk.memory.plain import Events, Nothing, Recent, Whole
from realtalk.memory.registry import make_memory
from realtalk.memory.retrieved import Restored
from realtalk.memory.values import Budget, Context, Memory, MessageCosts, message_line, session_text
from refusals import refused
from short_chats import said
from text_tables import cases
from tries import tries

budgets = st.builds(Budget, st.none() | st.integers(0, 200), st.none() | st.integers(0, 150))


def within(tokens: int, count: int, budget: Budget) -> bool:
    return (budget.tokens is None or tokens <= budget.tokens) and (
        budget.words is None or count <= budget.words
    )


def recalled(memory: Memory, budget: Budget | None = None) -> Context:
    return memory.build(bakery()).recall(ask("?"), budget or Budget())


@cases(r"""
    text   | shared                                    | line
    "a\nb" | ["image", "x.jpg", "", "a red\nbicycle"]  | M: a b [shares an image: a red bicycle]
    ""     | ["image", "7.jpg"]                        | M: [shares an image]
    ""     | ["file", "a.pdf"]                         | M: [shares a file: a.pdf]
    ""     | null                                      | M: [deletes a message]
""")
def test_a_message_is_one_line_with_what_it_shares(
    text: str, shared: list[str] | None, line: str
) -> None:
    attachments = (Attachment(*shared),) if shared else ()
    message = Message("1", "M", None, text, attachments, deleted=shared is None)
    assert message_line(message) == line


def test_messages_stand_under_the_day_they_were_sent() -> None:
    chat = bakery()
    costs = MessageCosts(chat)
    assert costs.context(["D2:3", "D1:1", "D2:2", "D1:1"]).text == (
        "[Monday 4 May 2026]\nInes: good morning\n\n"
        "[Friday 8 May 2026]\nInes: [shares an image: a grey kitten]\n"
        "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    )
    second = [message.id for message in chat.sessions[1].messages]
    assert session_text(chat.sessions[1]) == costs.context(second).text
    for moment, head in ((None, "session 4"), (datetime(2026, 1, 1), "Thursday 1 January 2026")):
        assert session_text(said(4, moment, "Ines: hm")) == f"[{head}]\nInes: hm"
    with refused("Chat_9_Ines_Tobias: no message 'D9:9'"):
        costs.context(["D9:9"])


def test_tokens_are_word_pieces_without_marks() -> None:
    assert count_tokens("did you sleep at all") == 5
    assert count_tokens("") == 0
    assert count_tokens("word " * 2000) == 2000  # nothing is cut
    assert count_each(["a", "", "a b c"]) == [1, 0, 3]
    assert count_words("two  words\n") == 2


@given(chats("c"), st.randoms(use_true_random=False), budgets, st.booleans())
@settings(max_examples=tries(20), suppress_health_check=[HealthCheck.too_slow])
def test_what_fits_is_counted_exactly_and_never_over(
    chat: Chat, random: Any, budget: Budget, skipping: bool
) -> None:
    costs = MessageCosts(chat)
    wanted = random.sample(costs.ids, k=random.randint(0, len(costs.ids)))
    ids = costs.fit(wanted, budget, skipping=skipping)
    assert set(ids) <= set(wanted)
    context = costs.context(ids, before=random.choice(["", "- a note\n- another"]))
    assert context.tokens == count_tokens(context.text)
    assert context.words == count_words(context.text)
    bare = costs.context(ids)
    assert within(bare.tokens, bare.words, budget)
    # One more of those that were left out would not fit: nothing is wasted.
    if skipping:
        for id_ in set(wanted) - set(ids):
            more = costs.context([*ids, id_])
            assert not within(more.tokens, more.words, budget)


def test_of_two_messages_with_one_id_the_first_counts() -> None:
    twice = Session(1, None, (Message("1", "A", None, "x"), Message("1", "B", None, "y")))
    context = MessageCosts(Chat("c", ("A", "B"), (twice,))).context(["1"])
    assert (context.message_ids, context.text) == (("1",), "[session 1]\nA: x")


def test_whole_shows_every_message_once_oldest_first_and_is_never_cut() -> None:
    chat = bakery()
    context = recalled(Whole())
    assert context.message_ids == tuple(message.id for message in chat.messages)
    assert context.text == "\n\n".join(map(session_text, chat.sessions))
    assert context.ranked is None
    with refused(r"has \d+ tokens, \d+ words, more than the budget"):
        recalled(Whole(), Budget(tokens=20))
    assert recalled(Whole(), Budget(tokens=500)) == context
    doubled = recalled(make_memory("whole", {"protocol": "released"}))
    blocks = [session_text(chat.sessions[at]) for at in (2, 2, 1, 1, 0, 0)]
    assert doubled.text.split("\n\n") == blocks
    assert doubled.tokens == 2 * context.tokens == count_tokens(doubled.text)
    assert doubled.message_ids == context.message_ids


def test_recent_is_an_unbroken_end() -> None:
    ids = tuple(bakery().by_id)
    for tokens in range(0, 200, 21):
        context = recalled(Recent(), Budget(tokens=tokens))
        assert context.message_ids == ids[len(ids) - len(context.message_ids) :]
        assert context.tokens == count_tokens(context.text) <= tokens
    assert context.message_ids == ids == (context.ranked or ())[::-1]


def test_recent_sessions_come_whole() -> None:
    memory = make_memory("recent", {"unit": "sessions"})
    _, middle, last = map(session_text, bakery().sessions)
    cost = count_tokens(last)
    assert recalled(memory, Budget(tokens=cost - 1)).text == ""
    assert recalled(memory, Budget(tokens=cost + 20)).text == last
    both = recalled(memory, Budget(tokens=cost + count_tokens(middle)))
    assert both.text == f"{middle}\n\n{last}"
    assert recalled(memory).message_ids == tuple(bakery().by_id)


def test_none_is_empty() -> None:
    assert recalled(Nothing(), Budget(tokens=10)) == Context("", (), 0, 0)


def test_events_stand_under_their_days_by_speaker() -> None:
    context = recalled(Events())
    assert context.text == (
        "[Monday 4 May 2026]\n- Ines: Nessa's oven breaks and she waits for a mechanic.\n\n"
        "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter.\n\n"
        "[Wednesday 20 May 2026]\n- Tobias: Tobias signs up for a marathon in Porto."
    )
    assert (context.message_ids, context.ranked) == ((), None)
    memory = make_memory("events", {"kinds": "summary, observation"})
    assert memory.settings == {"kinds": "observation,summary"}
    assert recalled(memory).text == (
        "[Friday 8 May 2026]\n- Tobias: Tobias is told about the pet.\n"
        "- summary: They talk about a pet at night."
    )
    newest = recalled(Events(), Budget(words=14))  # the newest that fit
    assert newest.text.startswith("[Wednesday 20 May 2026]")
    chat = Chat("c", ("A",), (), (Event(4, "A", "A moves.", "event", "8 May, 2023"),))
    assert Events().build(chat).recall(ask("?"), Budget()).text == "[8 May, 2023]\n- A: A moves."
    with refused("c: no event noted in the chat"):
        Events().build(Chat("c", ("A",), ()))


@given(chats("c"), budgets)
@settings(max_examples=tries(40), suppress_health_check=[HealthCheck.too_slow])
def test_no_memory_goes_over_a_budget(chat: Chat, budget: Budget) -> None:
    memories: list[Memory] = [Recent(), Recent(unit="sessions"), Nothing()]
    if chat.events:
        kinds = ("event", "observation", "summary")
        memories += [Events(kinds=kinds), Restored(kinds=kinds), Restored(sessions=1, kinds=kinds)]
    for memory in memories:
        context = memory.build(chat).recall(ask("x a"), budget)
        assert context.tokens == count_tokens(context.text)
        assert context.words == count_words(context.text)
        assert within(context.tokens, context.words, budget), memory.name
        shown_ids = set(context.message_ids)
        assert context.message_ids == tuple(id_ for id_ in chat.by_id if id_ in shown_ids)


def test_settings_are_read_by_their_type() -> None:
    with refused("0 tokens or more, not -1"):
        recalled(Recent(), Budget(tokens=-1))
    memory = make_memory("restored", {"around": "3", "others": "no", "kinds": "event,summary"})
    assert isinstance(memory, Restored)
    assert (memory.around, memory.others, memory.kinds) == (3, False, ("event", "summary"))
    assert make_memory("restored", {"around": 4}).settings["around"] == 4


@cases("""
    name     | given_settings | said
    restord  | {} | unknown memory 'restord'; did you mean 'restored'?
    restored | {"arround": "3"} | unknown setting of the memory 'restored' 'arround'; did
    restored | {"around": "many"} | restored, setting around: 'many' is no whole number
    restored | {"ranking": "Bm25"} | unknown setting of the memory 'restored' 'ranking'
    restored | {"others": "maybe"} | 'maybe' is neither true nor false
    restored | {"around": "-2"} | around must be -1 or more, not -2
    restored | {"kinds": "events"} | unknown kind of event 'events'; did you mean 'event'?
    whole    | {"protocol": "new"} | unknown protocol 'new'; known: paper, released
    recent   | {"unit": "message"} | unknown unit 'message'; did you mean 'messages'?
    none     | {"x": "1"} | the memory 'none' has no setting 'x'; it has none
    retrieved | {"way": "fuzed"} | unknown way 'fuzed'; did you mean 'fused'?
    retrieved | {"window": "-1"} | window must be 0 or more
    retrieved | {"way": "bm25", "hops": "1"} | hops need vectors
    notes    | {} | the memory 'notes' needs the setting 'model'; give it as model=VALUE
    notes    | {"model": "a/b", "hops": "0"} | hops must be 1 or more, not 0
    notes    | {"model": "tiny"} | no provider in the name of the model
""")
def test_wrong_settings_are_refused_by_name(
    name: str, given_settings: dict[str, str], said: str
) -> None:
    with refused(said):
        make_memory(name, given_settings)


# --- events chosen for a question, and the messages around them ---


KITTEN = ask("Where did Ines get the kitten?")


def restored(
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
    context = restored(bakery(), around=0, top=1, anchors=1, others=False)
    assert context.text == (
        "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter.\n\n"
        "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    )
    assert context.message_ids == ("D2:3",)
    assert context.ranked is not None and context.ranked[0] == "D2:3"
    assert context.tokens == count_tokens(context.text)
    alone = restored(bakery(), around=-1, top=1, others=False)
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
    found = restored(bakery(), question, **settings)
    assert found.message_ids == tuple(ids.split())


def test_evidence_or_a_session_that_does_not_exist_is_not_used() -> None:
    lost = Event(2, "Ines", "Ines adopts a kitten from the shelter.", "event", "", ("D7:7",))
    context = restored(replace(bakery(), events=(lost,)), around=0, anchors=1)
    assert context.message_ids == ("D2:3",)
    nowhere = replace(bakery(), events=(Event(40, "Ines", "Ines buys a kitten."),))
    context = restored(nowhere)
    assert context.text == "[session 40]\n- Ines: Ines buys a kitten."
    assert context.ranked == ()


def test_the_chosen_event_comes_first_then_messages_then_others() -> None:
    event = "[Friday 8 May 2026]\n- Ines: Nessa adopts a kitten from the shelter."
    message = "[Saturday 9 May 2026]\nInes: adopted her from the shelter, she is called Pepper"
    for text in (event, f"{event}\n\n{message}"):
        budget = Budget(tokens=count_tokens(text))
        assert restored(bakery(), budget=budget, around=0, anchors=1, top=1).text == text
    everything = restored(bakery(), around=0, anchors=1, top=1)
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
