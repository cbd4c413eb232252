"""The baselines, the style of a speaker, prompts, and a model that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_server import Call, JudgeServer, Reply
from persona_chats import RuleLabeller, ines, ines_choice
from realtalk.errors import RealtalkError
from realtalk.persona.prompting import cleaned, messages, shown, text_of
from realtalk.persona.simulators import Nearness
from realtalk.persona.styles import Guide, describe_style
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import (
    SIMULATORS,
    ContextTurn,
    Learning,
    PersonaTask,
    TurnPrompt,
    make_simulator,
)

# The engine that asks models leaves streams to the garbage collector: not ours to mend.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def the_task() -> PersonaTask:
    choice = ines_choice()
    return tasks_of(ines(), [choice])[0]


def a_prompt(*said: tuple[str, str], session: int = 1) -> TurnPrompt:
    context = tuple(ContextTurn(1, None, who, text) for who, text in said)
    return TurnPrompt("C#9", "C", session, "Ines", None, context)


def test_copy_repeats_the_others_and_not_oneself() -> None:
    copy = make_simulator("copy")
    found = copy.solve([a_prompt(("Juno", "hey"), ("Ines", "me")), a_prompt(("Ines", "me"))])
    assert (found[0].value, found[1].value) == ("hey", None)
    assert found[1].unscored == "nobody else speaks in the context"


def test_constant_says_what_it_is_told() -> None:
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
def test_the_central_text_is_like_the_others(way: str) -> None:
    texts = ["the ferry leaves at nine", "haha ok see you", "haha ok", "haha ok, see you there"]
    assert Nearness(way).central(texts) in {1, 2, 3}


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
        with pytest.raises(RealtalkError, match="no turn to learn from"):
            make_simulator(name, {"by": "words"}).prepare(empty)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("retrive", {}, "did you mean 'retrieve'"),
        ("retrieve", {"buy": "words"}, "did you mean 'by'"),
        ("copy", {"by": "words"}, "has no setting"),
        ("retrieve", {"by": "word"}, "did you mean 'words'"),
        ("llm", {}, "needs the setting 'model'"),
        ("llm", {"model": "a/b", "style": "perhaps"}, "neither true nor false"),
        ("llm", {"model": "a/b", "seed": "x"}, "no whole number"),
        ("constant", {"says": " "}, "needs words"),
    ],
)
def test_mistakes_are_named(name: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(RealtalkError, match=said):
        make_simulator(name, settings)


def test_every_name_is_there() -> None:
    assert [*SIMULATORS][:5] == ["copy", "constant", "common", "retrieve", "llm"]


def test_a_prompt_shows_sessions_with_dates_and_no_more() -> None:
    turn = the_task().turns[4]
    text = shown(turn.prompt)
    assert text.count("[Tuesday 5 May 2026]") == 1 and text.count("[Wednesday 6 May 2026]") == 1
    assert text.endswith(turn.prompt.previous)
    whole = messages(turn.prompt)[0]["content"]
    assert text in whole and "You are Ines" in whole and "chatting with Juno" in whole
    assert turn.text not in whole
    assert "{" not in whole.replace(text, "")


def test_a_chat_about_placeholders_stays_as_it_is() -> None:
    prompt = a_prompt(("Juno", "put {style} and {context} there"))
    assert "put {style} and {context} there" in text_of(prompt, "short words")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("haha no", "haha no"),
        ("Ines: haha no", "haha no"),
        ('"haha no"', "haha no"),
        ("**Ines:** haha\nwhy", "haha\nwhy"),
        ("haha\nJuno: I see.\nInes: ok", "haha"),
        ("haha\n[Monday 4 May 2026]\nInes: ok", "haha"),
        ('"a" or "b"', '"a" or "b"'),
        ("note: bring tea", "note: bring tea"),
        ("Juno: I see.", "I see."),
        ("Juno: I see.\nJuno: well", "I see."),
        ("[a red boat]", "[a red boat]"),
    ],
)
def test_only_the_message_is_kept(answer: str, message: str) -> None:
    assert cleaned(answer, a_prompt(("Juno", "hey"))) == message


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
    text = guide.text(prompt)
    assert guide.style and text.startswith(guide.style) and text.count("\n- ") == 2
    assert "boatx" not in text and "ovenx" in text
    assert guide.texts(task.prompts)[3] == text
    bare = Guide(task.learning, examples=0, by="words", labeller=RuleLabeller())
    assert bare.style and bare.text(prompt) == bare.style


def test_emoji_are_counted() -> None:
    task = the_task()
    turns = tuple(
        type(turn)(turn.prompt, turn.message_ids, "so good 😂😂") for turn in task.learning.turns
    )
    style = describe_style(Learning("Ines", task.learning.chat, turns), RuleLabeller())
    assert "Ines nearly always uses emoji, most of all 😂." in style


def test_a_model_is_asked_once_a_turn_and_failures_have_reasons(tmp_path: Path) -> None:
    task = the_task()

    def rule(call: Call) -> str | Reply:
        if "boatx1x3" in call.prompt and "boatx1x5" not in call.prompt:
            return Reply(status=400)
        return "Ines: haha sure\nJuno: Very well."

    with JudgeServer(rule) as server:
        simulator = make_simulator(
            "llm",
            {
                "model": "openai-api/test/rule",
                "base_url": server.url,
                "cache": tmp_path,
                "connections": 1,
            },
        )
        simulator.prepare(task.learning)
        found = simulator.solve(task.prompts[:3])
        asked = server.prompts()
    assert [each.value for each in found] == ["haha sure", None, "haha sure"]
    assert found[1].unscored == "provider error (400)" and found[0].cost.tokens_in > 0
    assert asked[0] == text_of(task.prompts[0])
    truths = [turn.text for turn in task.turns]
    assert not [text for text in truths[2:] if text in "".join(asked)]


def test_a_styled_prompt_tells_how_the_speaker_writes(tmp_path: Path) -> None:
    task = the_task()
    with JudgeServer(lambda _: "haha") as server:
        simulator = make_simulator(
            "llm",
            {
                "model": "openai-api/test/rule",
                "base_url": server.url,
                "cache": tmp_path,
                "style": True,
                "by": "words",
            },
        )
        simulator.prepare(task.learning)
        simulator.solve(task.prompts[:1])
        asked = server.prompts()[0]
    assert "Ines usually writes" in asked and "Messages that Ines wrote to somebody else" in asked
    assert simulator.settings["style"] is True
