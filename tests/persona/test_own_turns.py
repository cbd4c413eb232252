"""A speaker's own turns in the prompt: which are shown, to whom, and with which adapters."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from judge_server import JudgeServer
from persona_chats import ines, ines_choice
from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.choosing import published_choice
from realtalk.persona.generation import Writer
from realtalk.persona.prompting import text_of
from realtalk.persona.styles import EXAMPLES, Guide, OwnTurns, example_count
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, make_simulator
from tiny_models import save_tiny_model

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)
# The engine that asks models leaves streams to the garbage collector: not ours to mend.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def the_task() -> PersonaTask:
    return tasks_of(ines(), [ines_choice()], context_sessions=1)[0]


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_a_tested_turn_is_shown_turns_of_the_learned_chat_alone() -> None:
    task = the_task()
    for text in OwnTurns(task.learning, 3, by="words").texts(task.prompts):
        lines = lines_of(text)
        assert len(lines) == 3
        said = [turn.text for turn in task.learning.turns]
        assert all(any(line.endswith(own) for own in said) for line in lines)


def test_the_nearest_context_comes_first() -> None:
    task = the_task()
    learned = task.learning.turns[5]
    asked = replace(learned.prompt, chat="elsewhere")  # the same words in another chat
    (text,) = OwnTurns(task.learning, 2, by="words").texts([asked])
    assert lines_of(text)[0].endswith(learned.text)


def test_a_learned_turn_is_never_shown_what_its_prompt_shows() -> None:
    task = the_task()
    own = OwnTurns(task.learning, 50, by="words")
    texts = own.texts([turn.prompt for turn in task.learning.turns])
    for turn, text in zip(task.learning.turns, texts, strict=True):
        seen = {turn.prompt.session, *(each.session for each in turn.prompt.context)}
        open_to_it = [each for each in task.learning.turns if each.prompt.session not in seen]
        assert len(lines_of(text)) == len(open_to_it)
        assert turn.text not in text or any(turn.text in each.text for each in open_to_it)
    assert any(lines_of(text) for text in texts)


def test_whoever_may_be_shown_nothing_gets_the_plain_prompt() -> None:
    task = the_task()
    everything = {turn.prompt.session for turn in task.learning.turns}
    prompt = task.learning.turns[0].prompt
    shown = tuple(replace(prompt.context[0], session=number) for number in everything)
    prompt = replace(prompt, context=shown)
    guide = Guide(task.learning, described=False, examples=4, by="words")
    assert guide.style == "" and guide.text(prompt) == ""
    assert text_of(prompt, guide.text(prompt)) == text_of(prompt)


def test_how_many_are_shown_where_no_number_is_given() -> None:
    assert (example_count(True, None), example_count(False, None)) == (EXAMPLES, 0)
    assert (example_count(True, 0), example_count(False, 8)) == (0, 8)
    with pytest.raises(RealtalkError, match="examples must be 0 or more, not -1"):
        make_simulator("llm", {"model": "a/b", "examples": "-1"})


def test_a_model_is_asked_with_own_turns_and_no_description(tmp_path: Path) -> None:
    task = the_task()
    with JudgeServer(lambda _: "haha") as server:
        simulator = make_simulator(
            "llm",
            {
                "model": "openai-api/test/rule",
                "base_url": server.url,
                "cache": tmp_path,
                "examples": "3",
                "by": "words",
            },
        )
        simulator.prepare(task.learning)
        simulator.solve(task.prompts[:1])
        asked = server.prompts()[0]
    assert "Ines usually writes" not in asked and len(lines_of(asked)) == 3
    assert simulator.settings["examples"] == 3 and simulator.settings["style"] is False
    about = {"solver": {"name": "llm", "settings": dict(simulator.settings)}}
    assert PersonaBenchmark.name_of(about) == "llm openai-api/test/rule retrieved"


@needs_torch
def test_an_adapter_writes_with_the_prompts_it_learned_with(tmp_path: Path) -> None:
    import torch

    from realtalk.persona.pretrained import load
    from realtalk.persona.tuned import training_set
    from realtalk.persona.tuning import TuneSettings, tune

    torch.set_num_threads(1)
    task = the_task()
    texts = [text_of(turn.prompt) for turn in task.learning.turns]
    folder = save_tiny_model(tmp_path / "tiny", texts, window=4096)
    base = load(folder, device="cpu")
    plain, _ = training_set(str(folder), base, task.learning)
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
    assert [each.reply for each in shown] == [each.reply for each in plain]
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
    with pytest.raises(RealtalkError, match="trained with examples 2, not 5"):
        make_simulator("tuned", {**given, "examples": 5}).prepare(task.learning)


def test_most_of_what_is_learned_on_realtalk_is_later_than_the_tested_turn(data: Path) -> None:
    """Table 8's chats ran side by side: what the page says of time."""
    corpus = open_reading(str(data / "realtalk")).reading.corpus
    chats = {chat.id: chat for chat in corpus.chats}
    later = {}
    for who in corpus.speakers:
        chosen = published_choice(who, [chat.id for chat in corpus.chats if who in chat.speakers])
        assert chosen is not None
        learned = [m.time for m in chats[chosen[0]].messages if m.speaker == who and m.time]
        tested = [turn.messages[0].time for turn in chats[chosen[1]].turns if turn.speaker == who]
        pairs = [(one, other) for one in tested for other in learned if one is not None]
        later[who] = sum(other > one for one, other in pairs) / len(pairs)
    assert 0.55 < sum(later.values()) / len(later) < 0.65
    assert round(later["Kevin"], 2) == 0.86 and round(later["Emi"], 2) == 0.82
