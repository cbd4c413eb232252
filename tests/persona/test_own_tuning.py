"""Tuning on one's own chats: one chat is enough, the time is told first, memory is kept small."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from persona_chats import ines
from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.persona.generation import TrainingExample
from realtalk.persona.pretrained import Pretrained, load
from realtalk.persona.prompting import messages
from realtalk.persona.tuning import ADAPTER, TuneSettings, read_settings, tune
from realtalk.persona.turns import own_learning
from tiny_models import save_tiny_model

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)
SETTINGS = TuneSettings(epochs=2, per_update=4, dropout=0.2, checkpoint_every=1)
EXAMPLES = [
    TrainingExample(f"Oven#{at}", tuple(range(3, 12 + at)), (50 + at % 3, 60, 2))
    for at in range(12)
]


def one_chat() -> Corpus:
    return replace(ines(), chats=ines().chats[:1])


# What needs no torch


def test_all_chats_are_learned_from_in_order_of_time() -> None:
    learning = own_learning(ines(), "Ines", context_sessions=1)
    assert learning.chat.id == "Oven + Boat"
    assert learning.chat.speakers == ("Tobias", "Ines", "Juno")
    assert [session.number for session in learning.chat.sessions] == list(range(1, 9))
    times = [turn.prompt.time for turn in learning.turns if turn.prompt.time is not None]
    assert times == sorted(times) and len(times) == 24
    assert {turn.prompt.chat for turn in learning.turns} == {"Oven", "Boat"}
    assert learning.settings == {"context_sessions": 1, "context_tokens": 1500}


def test_one_chat_is_learned_from_as_it_is() -> None:
    chats = one_chat()
    learning = own_learning(chats, "Tobias")
    assert learning.chat is chats.chats[0]
    assert len(learning.turns) == 11  # the first of a chat has no context
    with pytest.raises(RealtalkError, match="1 or more tokens"):
        own_learning(chats, "Tobias", context_tokens=0)


# With torch


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch").set_num_threads(1)
    turns = own_learning(ines(), "Ines").turns
    texts = [text for turn in turns for text in (turn.text, messages(turn.prompt)[0]["content"])]
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", texts, window=4096)


@pytest.fixture
def fresh(folder: Path) -> Callable[[], Pretrained]:
    return lambda: load(folder, device="cpu")


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / ADAPTER))


def gap(one: Path, two: Path) -> float:
    first, second = weights(one), weights(two)
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


@needs_torch
def test_the_time_is_told_first_and_changes_nothing(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    told: list[str] = []

    def advance(done: int, total: int, what: str) -> None:
        told.append(f"update {done}")

    tune(fresh(), EXAMPLES, tmp_path / "told", SETTINGS, say=told.append, progress=advance)
    assert told[0].startswith("about ") and told[1] == "update 0"
    assert "at most, for 2 epochs at " in told[0] and "tokens a second here" in told[0]
    tune(fresh(), EXAMPLES, tmp_path / "untold", SETTINGS)
    assert gap(tmp_path / "told", tmp_path / "untold") == 0


@needs_torch
def test_one_that_goes_on_tells_how_long_it_still_takes(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    def stop(done: int, total: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(fresh(), EXAMPLES, tmp_path / "halved", SETTINGS, progress=stop, say=str)
    told: list[str] = []
    tune(fresh(), EXAMPLES, tmp_path / "halved", SETTINGS, say=told.append)
    assert len(told) == 1 and told[0].startswith("going on after update 1 of 6: about ")
    tune(fresh(), EXAMPLES, tmp_path / "whole", SETTINGS)
    assert gap(tmp_path / "whole", tmp_path / "halved") == 0


@needs_torch
def test_a_large_model_keeps_less_and_learns_the_same(
    fresh: Callable[[], Pretrained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from realtalk.persona import trainer

    tune(fresh(), EXAMPLES, tmp_path / "plain", SETTINGS)
    monkeypatch.setattr(trainer, "_LARGE", 1000)
    base = fresh()
    assert not base.model.is_gradient_checkpointing
    tune(base, EXAMPLES, tmp_path / "large", SETTINGS, say=str)
    assert base.model.is_gradient_checkpointing
    assert gap(tmp_path / "plain", tmp_path / "large") < 1e-6

    def stop(done: int, total: int, what: str) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(fresh(), EXAMPLES, tmp_path / "halved", SETTINGS, progress=stop)
    tune(fresh(), EXAMPLES, tmp_path / "halved", SETTINGS)
    assert gap(tmp_path / "large", tmp_path / "halved") == 0


@needs_torch
def test_one_chat_is_enough_and_whole_takes_all(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "realtalk")
    made = rt.persona.tune(
        one_chat(),
        speaker="ines",
        base=str(folder),
        out=tmp_path / "one",
        epochs=1,
    )
    assert any(line.startswith("learning Ines from 12 turns of Oven") for line in caplog.messages)
    assert made.untuned is not None and made.kept == 1
    assert read_settings(tmp_path / "one")["about"]["chat"] == "Oven"
    rt.persona.tune(
        ines(), speaker="Ines", base=str(folder), out=tmp_path / "all", epochs=1, whole=True
    )
    about = read_settings(tmp_path / "all")["about"]
    assert about["chat"] == "Oven + Boat" and about["speaker"] == "Ines"
    # Nothing may be tested with it: it has seen every chat.
    with pytest.raises(RealtalkError, match="trained with chat Oven \\+ Boat"):
        rt.simulate(
            ines(),
            speaker="Ines",
            simulator="tuned",
            settings={"adapter": tmp_path / "all"},
            limit=1,
        )


@needs_torch
def test_the_command_finds_a_place_by_itself(run: Any, folder: Path, tmp_path: Path) -> None:
    words = ("persona", "tune", "sample", "--speaker", "Theo", "--base", str(folder), "--json")
    few = ("--epochs", "1", "--context-tokens", "40", "--device", "cpu", "--per-update", "64")
    status, out, err = run(*words, *few)
    assert status == 0, err
    assert json.loads(out)["folder"] == "adapters/theo"
    assert "tokens a second here" in err
    assert (tmp_path / "adapters" / "theo" / ADAPTER).is_file()
