"""Contexts hold what came before and no more; what a simulator learns from holds no tested turn."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from facet_labels import label_table, table
from persona_chats import ines, light_scorer, with_picture
from realtalk.chat import Corpus
from realtalk.ei.labels import Label, turn_inputs
from realtalk.ei.values import FACETS
from realtalk.encoders.tokens import count_tokens
from realtalk.evals import running
from realtalk.files.progress import Progress, silent
from realtalk.metrics.statistics import Estimate
from realtalk.persona import turns
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.choosing import (
    Choice,
    as_published,
    choice_rows,
    choose,
    difference,
    published_choice,
)
from realtalk.persona.prompting import context_text
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import choices_of, speaker_turns, tasks_of
from realtalk.persona.values import (
    BASELINES,
    Learning,
    PersonaTask,
    make_simulator,
)
from refusals import refused
from text_tables import cases


def labels_of(warm: str) -> pl.DataFrame:
    """Labels in which everybody feels more in the chat `warm`."""
    inputs = turn_inputs(ines())
    made = [
        Label(
            reflective=given.chat == warm and at // 2 % 2 == 0,
            grounding=given.chat == warm and at // 2 % 3 == 0,
            sentiment=("positive", "neutral")[at // 2 % 2],
            emotion=("joy", "trust")[at // 2 % 2],
            intimacy=0.5,
            empathy=(2.0 if given.chat == warm else 0.5) + at % 2 / 10,
        )
        for at, given in enumerate(inputs)
    ]
    return label_table(inputs, made, "test")


def the_choices(**settings: Any) -> list[Choice]:
    return choices_of(ines(), labels=labels_of("Oven"), **settings)


def the_task(**settings: int) -> PersonaTask:
    return tasks_of(ines(), the_choices(), **settings)[0]


def strings(value: Any) -> list[str]:
    """Every text that can be reached from a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in strings(each)]
    if isinstance(value, tuple | list | set | frozenset):
        return [text for each in value for text in strings(each)]
    found = []
    if dataclasses.is_dataclass(value):
        found += [getattr(value, field.name) for field in dataclasses.fields(value)]
    found += list(getattr(value, "__dict__", {}).values())  # what is derived and kept
    return [text for each in found for text in strings(each)]


class Spy(Constant):
    """Keeps whatever it is given."""

    name = "spy"

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self.learned = [learning, progress]


def test_nothing_that_is_learned_from_holds_a_tested_turn(tmp_path: Any) -> None:
    spy, task = Spy(), the_task()
    running.run(PersonaBenchmark(ines(), [task], light_scorer()), ines(), spy, tmp_path)
    reached = "\n".join(strings(spy.learned))
    tested = [message.text for message in task.test.messages if message.speaker == "Ines"]
    assert tested and all("boatx" in text for text in tested)
    assert "ovenx1x2" in reached  # the walk does find what is there
    assert "boatx" not in reached
    assert not [text for text in tested if text in reached]
    assert task.test.id not in reached


def test_a_prompt_holds_neither_its_turn_nor_anything_later() -> None:
    task = the_task(context_sessions=10, context_tokens=100_000)
    order = [turn.text for turn in task.test.turns]
    for turn in task.turns:
        at = order.index(turn.text)
        seen = "\n".join(strings(turn.prompt))
        assert not [text for text in order[at:] if text in seen]
        assert [each.text for each in turn.prompt.context] == order[:at]


@pytest.mark.parametrize("name", BASELINES)
def test_each_prompt_is_answered_from_itself_alone(name: str) -> None:
    """Later prompts hold earlier turns: a simulator that looked there would differ."""
    task = the_task()
    given = {"by": "words"} if name in {"common", "retrieve"} else {}
    simulator = make_simulator(name, given)
    simulator.prepare(task.learning)
    together = simulator.solve(task.prompts)
    alone = [simulator.solve([prompt])[0] for prompt in reversed(task.prompts)]
    assert together == alone[::-1]
    assert len(together) == len(task.prompts)


def test_the_first_turn_of_a_chat_is_left_out_and_every_other_is_there() -> None:
    turns = speaker_turns(ines().chats[0], "Tobias", 1, 1500)
    assert [turn.id for turn in turns][:2] == ["Oven#2", "Oven#4"]
    assert len(turns) == 3 * 4 - 1
    # A session's first turn sees the session before, whatever the number of sessions.
    first = next(turn for turn in turns if turn.id == "Oven#6")
    assert {each.session for each in first.prompt.context} == {1}
    assert first.prompt.previous == ""


@pytest.mark.parametrize("sessions", [1, 2, 3])
def test_only_the_last_sessions_are_shown(sessions: int) -> None:
    turns = speaker_turns(ines().chats[0], "Ines", sessions, 100_000)
    last = turns[-1]
    expected = set(range(4 - sessions + 1, 5))
    assert {each.session for each in last.prompt.context} == expected


@pytest.mark.parametrize("tokens", [20, 60, 150, 400])
def test_a_context_fits_its_budget_and_uses_it(tokens: int) -> None:
    turns = speaker_turns(ines(8).chats[1], "Ines", 10, tokens)
    sizes = [count_tokens(context_text(turn.prompt)) for turn in turns if turn.prompt.previous]
    assert max(sizes) <= tokens
    assert max(sizes) > tokens - 40
    assert all(turn.prompt.context for turn in turns)


def test_a_turn_longer_than_the_budget_keeps_its_end() -> None:
    turn = speaker_turns(ines().chats[1], "Ines", 3, 16)[0]
    text = turn.prompt.context[0].text
    assert text and "The boat needs".startswith(text[:3]) is False
    assert ines().chats[1].turns[0].text.endswith(text)


def test_captions_are_text_and_pictures_without_are_passed_over() -> None:
    turns = speaker_turns(with_picture(), "Ines", 3, 1500)
    assert [turn.text for turn in turns] == ["[a red boat]", "nice\nwhere is it?"]
    assert turns[1].message_ids == ("D1:4", "D1:5")
    assert [each.text for each in turns[1].prompt.context] == ["look", "[a red boat]"]
    assert [turn.text for turn in speaker_turns(with_picture(), "Juno", 3, 1500)] == [""]


def test_the_chat_with_less_feeling_is_tested() -> None:
    for warm, cold in (("Oven", "Boat"), ("Boat", "Oven")):
        found = choose(labels_of(warm))
        assert [each.speaker for each in found] == ["Ines"]
        assert (found[0].learn, found[0].test) == (warm, cold)
        assert found[0].overall[warm] > found[0].overall[cold]
        assert found[0].sure > 0.9
        assert set(found[0].leading) <= set(FACETS)
    task = the_task()
    assert (task.learning.chat.id, task.test.id) == ("Oven", "Boat")
    assert task.consistency == found[0].consistency.value
    # An account that is gone is nobody whose manner could be learned.
    left = labels_of("Oven").with_columns(pl.col("speaker").replace("Ines", "[deleted]"))
    with refused("no speaker has two chats"):
        choose(left)


def a_choice(learn: str, test: str) -> Choice:
    return Choice(
        *("Akib", learn, test, {learn: 0.1, test: -0.3}, {learn: 5, test: 6}, 0.8),
        *(("empathy",), Estimate(0.1)),
    )


def test_of_several_chats_the_one_with_most_turns_is_learned_from() -> None:
    def rows(chat: str, turns: int, empathy: float) -> list[dict[str, Any]]:
        return [
            {"chat": chat, "speaker": "Ines", "session": at // 8 + 1, "empathy": empathy + at % 3}
            for at in range(turns)
        ]

    short, long, cold = rows("short", 20, 3.0), rows("long", 40, 2.0), rows("cold", 30, 0.0)
    for order in ((short, long, cold), (long, short, cold), (cold, short, long)):
        (choice,) = choose(table([row for part in order for row in part]))
        assert (choice.learn, choice.test) == ("long", "cold")


def test_differences_from_table_8_are_told_with_their_reason() -> None:
    theirs = a_choice("Chat_9_Fahim_Akib", "Chat_8_Akib_Muhhamed")
    ours = a_choice("Chat_8_Akib_Muhhamed", "Chat_9_Fahim_Akib")
    assert difference(theirs) == ""
    line = difference(ours)
    assert "Table 8 tests on Chat_8_Akib_Muhhamed" in line
    assert "-0.30 against +0.10" in line and "80% of resamples" in line and "empathy" in line
    turned = as_published([ours])[0]
    assert (turned.learn, turned.test) == (theirs.learn, theirs.test)
    assert turned.sure == pytest.approx(0.2)
    assert as_published([theirs]) == [theirs]
    assert choice_rows([ours])[0]["Table 8 tests on"] == "Chat_8_Akib_Muhhamed"
    assert published_choice("Mara", ("Chat_1", "Chat_2")) is None


@cases("""
    make    | settings                | said
    choices | {"speaker": "Inez"}     | did you mean 'Ines'
    choices | {"speaker": "Juno"}     | has only one chat
    choices | {"choice": "eii"}       | did you mean 'ei'
    task    | {"context_sessions": 0} | 1 or more sessions
    task    | {"context_tokens": 0}   | 1 or more tokens
""")
def test_what_cannot_be_is_refused(make: str, settings: dict[str, Any], said: str) -> None:
    with refused(said):
        (the_task if make == "task" else the_choices)(**settings)


def test_labels_of_other_turns_are_refused() -> None:
    labels = labels_of("Oven")
    # Of other messages, of a part, of some twice: none of these are its turns.
    more = labels.with_columns(pl.concat_list("message_ids", pl.lit("D9:9")))
    for other in (more, labels[:-1], pl.concat([labels, labels[:1]])):
        with refused("of other turns than this corpus has"):
            choices_of(ines(), labels=other)
    with refused("not of this corpus"):
        choices_of(ines(), labels=labels.filter(pl.col("chat") == "Oven"))
    beside = labels.with_columns(chat=pl.lit("Elsewhere"))
    (choice,) = choices_of(ines(), labels=labels, speaker="ines")  # in any case
    assert choices_of(ines(), labels=pl.concat([labels, beside])) == [choice]


def test_nobody_with_two_chats_is_said_before_labelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "labels_for", lambda *_, **__: pytest.fail("labelled in vain"))
    alone = Corpus("alone", "", ines().chats[:1])
    with refused("no speaker has two chats; one is needed"):
        choices_of(alone)
