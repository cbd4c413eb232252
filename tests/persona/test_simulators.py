"""The baselines, the style of a speaker, prompts, and a model that is asked; contexts hold what
came before and no more, and what a simulator learns from holds no tested turn."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from facet_labels import label_table, table
from judge_server import JudgeServer
from persona_chats import RuleLabeller, ines, ines_choice, light_scorer, with_picture
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
from realtalk.persona.generation import Writer
from realtalk.persona.prompting import clean_message, context_text, messages, text_of
from realtalk.persona.simulators import (
    EXAMPLES,
    Constant,
    Guide,
    Nearness,
    OwnTurns,
    describe_style,
)
from realtalk.persona.turns import choices_of, speaker_turns, tasks_of
from realtalk.persona.values import (
    BASELINES,
    ContextTurn,
    Learning,
    PersonaTask,
    Simulator,
    TurnPrompt,
    make_simulator,
)
from refusals import refused
from text_tables import cases
from tiny_models import needs_torch, save_tiny_model


def the_task(**context: int) -> PersonaTask:
    return tasks_of(ines(), [ines_choice()], **context)[0]


def prepared(name: str, task: PersonaTask, **settings: Any) -> Simulator:
    simulator = make_simulator(name, settings)
    simulator.prepare(task.learning)
    return simulator


def a_prompt(*said: tuple[str, str], session: int = 1) -> TurnPrompt:
    context = tuple(ContextTurn(1, None, who, text) for who, text in said)
    return TurnPrompt("C#9", "C", session, "Ines", None, context)


def test_copy_repeats_the_others_and_a_constant_says_what_it_is_told() -> None:
    copy = make_simulator("copy")
    found = copy.solve([a_prompt(("Juno", "hey"), ("Ines", "me")), a_prompt(("Ines", "me"))])
    assert (found[0].value, found[1].value) == ("hey", None)
    assert found[1].unscored == "nobody else speaks in the context"
    assert make_simulator("constant").solve([a_prompt()])[0].value == "ok"
    told = make_simulator("constant", {"says": "fine"})
    assert told.solve([a_prompt()])[0].value == "fine" and told.settings == {"says": "fine"}


@pytest.mark.parametrize("way", ["words", "encoder"])
def test_retrieve_gives_the_turn_of_the_nearest_context(way: str) -> None:
    task = the_task()
    simulator = prepared("retrieve", task, by=way)
    asked = a_prompt(("Tobias", "did you phone the mechanic about it?"))
    text = simulator.solve([asked])[0].value
    assert text is not None and text.startswith("haha yes, he comes on monday")


@pytest.mark.parametrize("way", ["words", "encoder"])
def test_a_long_text_is_not_central_for_its_length_and_equals_keep_their_order(way: str) -> None:
    long = "haha ok, tomorrow at the old harbour with everybody, the dog and a basket of plums"
    texts = [long, "haha ok", "haha ok", "haha ok"]
    assert Nearness(way).central(texts) == 1
    assert Nearness(way).index(texts)(["haha ok", "ok haha"]) == [[1, 2, 3, 0]] * 2


def test_common_always_gives_one_turn_of_the_learned_chat() -> None:
    task = the_task()
    simulator = prepared("common", task, by="words")
    texts = {each.value for each in simulator.solve(task.prompts)}
    assert len(texts) == 1 and texts <= {turn.text for turn in task.learning.turns}


def test_who_has_nothing_to_learn_from_is_refused() -> None:
    task = the_task()
    empty = replace(task, learning=replace(task.learning, turns=()))
    for name in ("common", "retrieve"):
        with refused("no turn to learn from"):
            prepared(name, empty, by="words")


@cases("""
    name     | settings       | said
    retrieve | {"by": "word"} | did you mean 'words'
    llm      | {}             | needs the setting 'model'
    constant | {"says": " "}  | needs words
    llm      | {"model": "a/b", "examples": "-1"} | examples must be 0 or more, not -1
""")
def test_mistakes_are_named(name: str, settings: dict[str, str], said: str) -> None:
    with refused(said):
        make_simulator(name, settings)


def test_a_prompt_shows_sessions_with_dates_and_no_more() -> None:
    turn = the_task().turns[4]
    text = context_text(turn.prompt)
    assert text.count("[Tuesday 5 May 2026]") == 1 and text.count("[Wednesday 6 May 2026]") == 1
    assert text.endswith(turn.prompt.previous)
    whole = messages(turn.prompt)[0]["content"]
    assert text in whole and "You are Ines" in whole and "chatting with Juno" in whole
    assert turn.text not in whole
    assert "{" not in whole.replace(text, "")
    braces = "put {style} and {context} there"
    assert braces in text_of(a_prompt(("Juno", braces)), "short words")


@cases(r"""
    answer                                     | message
    haha no                                    | haha no
    "Ines: haha no"                            | haha no
    "\"haha no\""                              | haha no
    "**Ines:** haha\nwhy"                      | "haha\nwhy"
    "haha\nJuno: I see.\nInes: ok"             | haha
    "haha\n[Monday 4 May 2026]\nInes: ok"      | haha
    "\"a\" or \"b\""                           | "\"a\" or \"b\""
    note: bring tea                            | note: bring tea
    Juno: I see.                               | I see.
    "Juno: I see.\nJuno: well"                 | I see.
    [a red boat]                               | [a red boat]
""")
def test_only_the_message_is_kept(answer: str, message: str) -> None:
    assert clean_message(answer, a_prompt(("Juno", "hey"))) == message


def test_a_style_is_counted_from_the_learned_chat_alone() -> None:
    task = the_task()
    style = describe_style(task.learning, RuleLabeller())
    assert "in one message." in style and "Ines never asks a question" in style
    assert "nearly always checks or shows that they have understood" in style
    assert '"haha"' in style
    assert "nearly always begins without a capital letter" in style
    assert "never uses emoji" in style


def test_a_guide_shows_turns_from_places_like_this() -> None:
    task = the_task()
    guide = Guide(task.learning, examples=2, by="words", labeller=RuleLabeller())
    prompt = task.turns[3].prompt
    (text,) = guide.texts([prompt])
    assert guide.style and text.startswith(guide.style) and text.count("\n- ") == 2
    assert "ovenx" in text
    every = guide.texts(task.prompts)
    assert every[3] == text and not any("boatx" in each for each in every)
    bare = Guide(task.learning, examples=0, by="words", labeller=RuleLabeller())
    assert bare.style and bare.texts([prompt]) == [bare.style]


def test_a_model_is_asked_once_a_turn_with_its_prompt_alone(tmp_path: Path) -> None:
    task = the_task()
    with JudgeServer(lambda _: "Ines: haha sure\nJuno: Very well.") as server:
        place = {"base_url": server.url, "cache": tmp_path, "connections": 1}
        simulator = prepared("llm", task, model="openai-api/test/rule", **place)
        found = simulator.solve(task.prompts[:3])
        asked = server.prompts()
    assert [each.value for each in found] == ["haha sure"] * 3 and found[0].cost.tokens_in > 0
    assert asked == list(map(text_of, task.prompts[:3]))


@pytest.mark.parametrize(
    ("given", "told", "count", "name"),
    [
        ({"style": True}, True, EXAMPLES, "styled"),
        ({"examples": "3"}, False, 3, "retrieved"),
    ],
)
def test_a_model_is_told_how_the_speaker_writes_or_shown_it(
    tmp_path: Path, given: dict[str, Any], told: bool, count: int, name: str
) -> None:
    task = the_task(context_sessions=1)
    with JudgeServer(lambda _: "haha") as server:
        place = {"base_url": server.url, "cache": tmp_path, "by": "words"}
        simulator = prepared("llm", task, model="openai-api/test/rule", **place, **given)
        simulator.solve(task.prompts[:1])
        asked = server.prompts()[0]
    assert ("Ines usually writes" in asked) is told and len(lines_of(asked)) == count
    assert simulator.settings["examples"] == count and simulator.settings["style"] is told
    about = {"solver": {"name": "llm", "settings": dict(simulator.settings)}}
    assert PersonaBenchmark.name_of(about) == f"llm openai-api/test/rule {name}"


# A speaker's own turns in the prompt


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_a_learned_turn_is_never_shown_what_its_prompt_shows() -> None:
    task = the_task(context_sessions=1)
    prompts = [turn.prompt for turn in task.learning.turns]
    texts = OwnTurns(task.learning, "words").texts(prompts, 50)
    for turn, text in zip(task.learning.turns, texts, strict=True):
        seen = {turn.prompt.session, *(each.session for each in turn.prompt.context)}
        open_to_it = [each for each in task.learning.turns if each.prompt.session not in seen]
        assert len(lines_of(text)) == len(open_to_it)
        assert turn.text not in text or any(turn.text in each.text for each in open_to_it)
    assert any(lines_of(text) for text in texts)


def test_whoever_may_be_shown_nothing_gets_the_plain_prompt() -> None:
    task = the_task(context_sessions=1)
    everything = {turn.prompt.session for turn in task.learning.turns}
    prompt = task.learning.turns[0].prompt
    shown = tuple(replace(prompt.context[0], session=number) for number in everything)
    prompt = replace(prompt, context=shown)
    guide = Guide(task.learning, described=False, examples=4, by="words")
    assert guide.style == "" and guide.texts([prompt]) == [""]


@needs_torch
def test_an_adapter_writes_with_the_prompts_it_learned_with(tmp_path: Path) -> None:
    import torch

    from realtalk.persona.generation import load
    from realtalk.persona.tuned import training_set
    from realtalk.persona.tuning import TuneSettings, tune

    torch.set_num_threads(1)
    task = the_task(context_sessions=1)
    texts = [text_of(turn.prompt) for turn in task.learning.turns]
    folder = save_tiny_model(tmp_path / "tiny", texts, window=4096)
    base = load(folder, device="cpu")
    shown, about = training_set(str(folder), base, task.learning, 2, "words")
    guide = Guide(task.learning, described=False, examples=2, by="words")
    prompts = [turn.prompt for turn in task.learning.turns]
    writer = Writer(base.tokenizer)

    def asked(prompts: Sequence[TurnPrompt]) -> list[Any]:
        styled = map(text_of, prompts, guide.texts(prompts))
        return [writer.prompt([{"role": "user", "content": text}]) for text in styled]

    assert [each.prompt for each in shown] == asked(prompts)
    tune(base, shown, tmp_path / "ines", TuneSettings(epochs=1, rank=2), about=about)
    given: dict[str, Any] = {"adapter": tmp_path / "ines", "device": "cpu", "max_tokens": 4}
    tuned = prepared("tuned", task, **given)
    found = tuned.solve(task.prompts[:2])
    assert [each.cost.tokens_in for each in found] == list(map(len, asked(task.prompts[:2])))
    assert tuned.settings["examples"] == 2
    prepared("tuned", task, **given, examples=2)
    with refused("trained with examples 2, not 5"):
        prepared("tuned", task, **given, examples=5)


# --- what is shown of a chat, and what is learned from ---


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


def chosen_task(**settings: int) -> PersonaTask:
    return tasks_of(ines(), the_choices(), **settings)[0]


class Spy(Constant):
    """Keeps whatever it is given."""

    name = "spy"

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self.learned = [learning, progress]


def test_nothing_that_is_learned_from_holds_a_tested_turn(tmp_path: Any) -> None:
    spy, task = Spy(), chosen_task()
    running.run(PersonaBenchmark(ines(), [task], light_scorer()), ines(), spy, tmp_path)
    reached = pickle.dumps(spy.learned)  # all that can be reached, with what is derived and kept
    tested = [message.text for message in task.test.messages if message.speaker == "Ines"]
    assert tested and all("boatx" in text for text in tested)
    assert b"ovenx1x2" in reached
    assert b"boatx" not in reached and task.test.id.encode() not in reached


def test_a_prompt_holds_neither_its_turn_nor_anything_later() -> None:
    task = chosen_task(context_sessions=10, context_tokens=100_000)
    order = [turn.text for turn in task.test.turns]
    for turn in task.turns:
        at = order.index(turn.text)
        seen = pickle.dumps(turn.prompt)
        assert not [text for text in order[at:] if text.encode() in seen]
        assert [each.text for each in turn.prompt.context] == order[:at]


@pytest.mark.parametrize("name", BASELINES)
def test_each_prompt_is_answered_from_itself_alone(name: str) -> None:
    """Later prompts hold earlier turns: a simulator that looked there would differ."""
    task = chosen_task()
    simulator = prepared(name, task, **{"by": "words"} if name in {"common", "retrieve"} else {})
    together = simulator.solve(task.prompts)
    alone = [simulator.solve([prompt])[0] for prompt in reversed(task.prompts)]
    assert together == alone[::-1]


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
    last = speaker_turns(ines().chats[0], "Ines", sessions, 100_000)[-1]
    assert {each.session for each in last.prompt.context} == set(range(5 - sessions, 5))


@pytest.mark.parametrize("tokens", [20, 60, 150, 400])
def test_a_context_fits_its_budget_and_uses_it(tokens: int) -> None:
    turns = speaker_turns(ines(8).chats[1], "Ines", 10, tokens)
    sizes = [count_tokens(context_text(turn.prompt)) for turn in turns if turn.prompt.previous]
    assert tokens - 40 < max(sizes) <= tokens
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
    task = chosen_task()
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
        (chosen_task if make == "task" else the_choices)(**settings)


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
