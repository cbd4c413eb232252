"""The baselines, the style of a speaker, prompts, and a model that is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_server import JudgeServer
from persona_chats import RuleLabeller, ines, ines_choice
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.generation import Writer
from realtalk.persona.prompting import clean_message, context_text, messages, text_of
from realtalk.persona.simulators import EXAMPLES, Guide, Nearness, OwnTurns, describe_style
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import (
    ContextTurn,
    Learning,
    PersonaTask,
    TurnPrompt,
    make_simulator,
)
from refusals import refused
from text_tables import cases
from tiny_models import needs_torch, save_tiny_model


def the_task(**context: int) -> PersonaTask:
    return tasks_of(ines(), [ines_choice()], **context)[0]


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
    simulator = make_simulator("retrieve", {"by": way})
    simulator.prepare(task.learning)
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
    simulator = make_simulator("common", {"by": "words"})
    simulator.prepare(task.learning)
    texts = {each.value for each in simulator.solve(task.prompts)}
    assert len(texts) == 1 and texts <= {turn.text for turn in task.learning.turns}


def test_who_has_nothing_to_learn_from_is_refused() -> None:
    empty = Learning("Ines", the_task().learning.chat, ())
    for name in ("common", "retrieve"):
        with refused("no turn to learn from"):
            make_simulator(name, {"by": "words"}).prepare(empty)


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
    assert "boatx" not in text and "ovenx" in text
    assert guide.texts(task.prompts)[3] == text
    bare = Guide(task.learning, examples=0, by="words", labeller=RuleLabeller())
    assert bare.style and bare.texts([prompt]) == [bare.style]


def test_a_model_is_asked_once_a_turn_and_never_shown_what_came_later(tmp_path: Path) -> None:
    task = the_task()
    with JudgeServer(lambda _: "Ines: haha sure\nJuno: Very well.") as server:
        place = {"base_url": server.url, "cache": tmp_path, "connections": 1}
        simulator = make_simulator("llm", {"model": "openai-api/test/rule", **place})
        simulator.prepare(task.learning)
        found = simulator.solve(task.prompts[:3])
        asked = server.prompts()
    assert [each.value for each in found] == ["haha sure"] * 3 and found[0].cost.tokens_in > 0
    assert asked[0] == text_of(task.prompts[0])
    assert not [turn.text for turn in task.turns[2:] if turn.text in "".join(asked)]


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
        simulator = make_simulator("llm", {"model": "openai-api/test/rule", **place, **given})
        simulator.prepare(task.learning)
        simulator.solve(task.prompts[:1])
        asked = server.prompts()[0]
    assert ("Ines usually writes" in asked) is told and len(lines_of(asked)) == count
    assert simulator.settings["examples"] == count and simulator.settings["style"] is told
    about = {"solver": {"name": "llm", "settings": dict(simulator.settings)}}
    assert PersonaBenchmark.name_of(about) == f"llm openai-api/test/rule {name}"


# A speaker's own turns in the prompt


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_a_tested_turn_is_shown_turns_of_the_learned_chat_alone() -> None:
    task = the_task(context_sessions=1)
    for text in OwnTurns(task.learning, "words").texts(task.prompts, 3):
        lines = lines_of(text)
        assert len(lines) == 3
        said = [turn.text for turn in task.learning.turns]
        assert all(any(line.endswith(own) for own in said) for line in lines)


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
    from realtalk.persona.tuning import TuneSettings, training_set, tune

    torch.set_num_threads(1)
    task = the_task(context_sessions=1)
    texts = [text_of(turn.prompt) for turn in task.learning.turns]
    folder = save_tiny_model(tmp_path / "tiny", texts, window=4096)
    base = load(folder, device="cpu")
    shown, about = training_set(str(folder), base, task.learning, 2, "words")
    guide = Guide(task.learning, described=False, examples=2, by="words")
    prompts = [turn.prompt for turn in task.learning.turns]
    asked = [
        text_of(each, style) for each, style in zip(prompts, guide.texts(prompts), strict=True)
    ]
    writer = Writer(base.tokenizer)
    assert [each.prompt for each in shown] == [
        writer.prompt([{"role": "user", "content": text}]) for text in asked
    ]
    tune(base, shown, tmp_path / "ines", TuneSettings(epochs=1, rank=2), about=about)
    given = {"adapter": tmp_path / "ines", "device": "cpu", "max_tokens": 4}
    tuned = make_simulator("tuned", given)
    tuned.prepare(task.learning)
    found = tuned.solve(task.prompts[:2])
    longer = guide.texts(task.prompts[:2])
    assert [each.cost.tokens_in for each in found] == [
        len(writer.prompt([{"role": "user", "content": text_of(prompt, style)}]))
        for prompt, style in zip(task.prompts[:2], longer, strict=True)
    ]
    assert tuned.settings["examples"] == 2
    make_simulator("tuned", {**given, "examples": 2}).prepare(task.learning)
    with refused("trained with examples 2, not 5"):
        make_simulator("tuned", {**given, "examples": 5}).prepare(task.learning)
