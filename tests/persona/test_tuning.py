"""Learning a speaker: what is learned from, how it is batched, stopped, gone on with and kept."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

import realtalk as rt
from file_modes import open_to_others
from persona_chats import ines
from realtalk.chat import Corpus
from realtalk.errors import MissingExtraError
from realtalk.files.progress import Progress
from realtalk.persona import tuning
from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    Sampling,
    TrainingExample,
    Writer,
    generate,
    load,
    with_adapter,
)
from realtalk.persona.prompting import messages
from realtalk.persona.tuned import adapters_in, encode_prompt
from realtalk.persona.tuning import (
    ADAPTER,
    SETTINGS,
    TuneSettings,
    TuningResult,
    held_out,
    read_settings,
    tune,
)
from realtalk.persona.turns import own_learning, speaker_turns
from realtalk.persona.values import PersonaTurn
from refusals import refused
from samples import read_sample
from text_tables import cases
from tiny_models import needs_torch, save_tiny_model

PHRASE = "honestly though"
FAST = TuneSettings(epochs=3, learning_rate=1e-2, per_update=8, checkpoint_every=1)
OWN = TuneSettings(epochs=2, per_update=4, dropout=0.2, checkpoint_every=1)
TURNS = [
    TrainingExample(f"Oven#{at}", tuple(range(3, 12 + at)), (50 + at % 3, 60, 2))
    for at in range(12)
]


def some(*lengths: int, reply: int = 2) -> list[TrainingExample]:
    rng = random.Random(3)
    return [
        TrainingExample(
            f"Chat_1#{number}",
            tuple(rng.randrange(3, 260) for _ in range(length - reply)),
            tuple(rng.randrange(3, 260) for _ in range(reply)),
        )
        for number, length in enumerate(lengths)
    ]


def unlike_the_last() -> list[TrainingExample]:
    """What is learned makes the held-out turns worse."""
    replies = [(40, 41, 42)] * 27 + [(90, 91, 92)] * 3
    return [
        replace(example, reply=reply)
        for example, reply in zip(some(*[20] * 30), replies, strict=True)
    ]


def one_chat() -> Corpus:
    return replace(ines(), chats=ines().chats[:1])


# What needs no torch


@cases("""
    count | share | kept
    20    | 0.1   | 2
    4     | 0.1   | 1
    1     | 0.1   | 0
    20    | 0.0   | 0
""")
def test_the_last_turns_are_held_out(count: int, share: float, kept: int) -> None:
    examples = some(*[9] * count)
    learned, out = held_out(examples, share)
    assert [*learned, *out] == examples
    assert len(out) == kept


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"epochs": 0}, {"rank": 0}, {"learning_rate": 0.0}, {"batch_tokens": -1}):
        with refused():
            TuneSettings(**wrong)
    with refused():
        held_out(some(9), 1.0)


def test_an_adapter_that_makes_it_worse_is_told(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    epochs = (tuning.Epoch(1, 3.0, 11.3), tuning.Epoch(2, 2.0, 7.7))
    worse = TuningResult(tmp_path, 4.5, epochs, 2, 100, 1.0, 0.0)
    assert worse.helps is False
    assert replace(worse, untuned=8.0).helps is True
    assert replace(worse, untuned=None).helps is None
    loaded = SimpleNamespace(device="cpu", precision="float32")
    monkeypatch.setattr("realtalk.persona.generation.load", lambda *_, **__: loaded)
    monkeypatch.setattr("realtalk.persona.tuned.training_set", lambda *_: ([], {}))
    words = "persona tune sample --speaker Mara --whole"
    for made, is_told in ((worse, True), (replace(worse, untuned=8.0), False)):
        monkeypatch.setattr(tuning, "tune", lambda *_, made=made, **__: made)
        err = run(words).done.err
        assert ("less likely with this adapter" in err) is is_told
        assert run(f"{words} --json").told["folder"] == str(tmp_path)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="train"):
        load("smollm2")


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
    with refused("1 or more tokens"):
        own_learning(chats, "Tobias", context_tokens=0)


# With torch


@pytest.fixture(scope="session")
def turns() -> tuple[PersonaTurn, ...]:
    """Mara's turns in the sample's first chat, each with its catch-phrase."""
    chat = read_sample().chats[0]
    found = speaker_turns(chat, "Mara", context_sessions=1, context_tokens=20)[:48]
    return tuple(replace(turn, text=f"{PHRASE} {turn.text[:24]}") for turn in found)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, turns: tuple[PersonaTurn, ...]) -> Path:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # so small a model only waits for a second one
    texts = [text for turn in turns for text in (turn.text, messages(turn.prompt)[0]["content"])]
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", texts, window=4096)


Fresh: TypeAlias = Callable[[], PretrainedModel]
Learn: TypeAlias = Callable[..., TuningResult]


@pytest.fixture
def fresh(folder: Path) -> Fresh:
    return lambda: load(folder, device="cpu")


@pytest.fixture
def learn(fresh: Fresh, tmp_path: Path) -> Learn:
    """A new model's tuning with examples, into a folder of that name."""

    def done(
        examples: list[TrainingExample], name: str, settings: TuneSettings = FAST, **more: Any
    ) -> TuningResult:
        return tune(fresh(), examples, tmp_path / name, settings, **more)

    return done


def written(base: PretrainedModel, turns: tuple[PersonaTurn, ...]) -> list[TrainingExample]:
    writer = Writer(base.tokenizer)
    return [writer.example(turn.id, messages(turn.prompt), turn.text) for turn in turns]


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / ADAPTER))


def gap(one: Path, two: Path) -> float:
    """How far the weights of two adapters are apart."""
    first, second = weights(one), weights(two)
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def stop_at(update: int) -> Progress:
    def advance(done: int, total: int, what: str) -> None:
        if done == update:
            raise KeyboardInterrupt

    return advance


@needs_torch
def test_the_loss_is_on_the_reply_only(fresh: Fresh) -> None:
    import torch

    from realtalk.persona.trainer import collate

    model = fresh().model
    (example,) = some(30, reply=5)
    ids = torch.tensor([[*example.prompt, *example.reply]])
    labels = ids.clone()
    labels[:, : len(example.prompt)] = -100
    with torch.no_grad():
        found = model(**collate([example]))
        wanted = model(input_ids=ids, labels=labels)
        whole = model(**collate([example], whole=True))
    assert found.logits.shape == (1, 6, model.config.vocab_size)  # no logits elsewhere
    assert float(found.loss) == pytest.approx(float(wanted.loss), rel=1e-5)
    assert whole.logits.shape == wanted.logits.shape
    assert float(whole.loss) == pytest.approx(float(wanted.loss), rel=1e-5)


@needs_torch
def test_what_fits_into_memory_does_not_change_what_is_learned(
    learn: Learn, tmp_path: Path
) -> None:
    examples = some(*range(10, 30), reply=4)
    for most in (32, 4096):
        learn(examples, str(most), replace(FAST, epochs=2, batch_tokens=most))
    assert gap(tmp_path / "32", tmp_path / "4096") < 2e-4


@needs_torch
def test_a_catch_phrase_is_learned_and_kept(
    fresh: Fresh, turns: tuple[PersonaTurn, ...], tmp_path: Path
) -> None:
    import torch

    base = fresh()
    examples = written(base, turns)
    settings = replace(FAST, epochs=6, patience=6)
    tuned = tune(base, examples, tmp_path / "mara", settings, about={"speaker": "Mara"})
    assert tuned.untuned is not None
    assert tuned.epochs[-1].loss < tuned.epochs[0].loss < tuned.untuned
    held = [each.held_out or 0.0 for each in tuned.epochs]
    assert held[tuned.kept - 1] == min(held) < 0.8 * tuned.untuned
    names = {path.name for path in (tmp_path / "mara").iterdir()}
    assert names == {ADAPTER, "adapter_config.json", SETTINGS}
    known = read_settings(tmp_path / "mara")
    assert known["base"]["sha256"] == base.sha256
    assert known["examples"]["held_out"] == len(examples) // 10 + (len(examples) % 10 >= 5)
    assert set(known["versions"]) >= {"torch", "transformers", "peft", "realtalk"}

    # On turns of the other chat, which were never seen.
    other = read_sample().chats[1]
    unseen = speaker_turns(other, "Mara", context_sessions=1, context_tokens=20)[:16]
    writer = Writer(base.tokenizer)
    asked = [EncodedPrompt(turn.id, encode_prompt(writer, turn.prompt, 900)) for turn in unseen]
    plain = fresh()
    before = generate(plain, asked, writer.stops, Sampling(24))
    assert not any(PHRASE in writer.text(each.ids) for each in before)
    loaded = with_adapter(plain, tmp_path / "mara")
    after = generate(loaded, asked, writer.stops, Sampling(24))
    assert sum(writer.text(each.ids).startswith(PHRASE) for each in after) >= 12

    # What was trained and what was loaded say the same.
    assert generate(base, asked, writer.stops, Sampling(24)) == after
    ids = torch.tensor([examples[0].prompt])
    with torch.no_grad():
        gap = (base.model(ids).logits - loaded.model(ids).logits).abs().max()
    assert float(gap) < 1e-3


@needs_torch
def test_a_stopped_training_goes_on_to_the_same_weights(learn: Learn, tmp_path: Path) -> None:
    examples = some(*range(10, 40), reply=4)
    settings = replace(FAST, dropout=0.2, checkpoint_every=2)  # so that chance matters
    learn(examples, "whole", settings)

    for update in (3, 8, 11):  # the last after the last checkpoint but one
        with pytest.raises(KeyboardInterrupt):
            learn(examples, "halved", settings, progress=stop_at(update))
        assert len(list((tmp_path / "halved").glob("checkpoint-*"))) in (1, 2)  # last and best
        with refused("no finished adapter"):
            adapters_in(tmp_path / "halved")
    done = learn(examples, "halved", settings)
    assert gap(tmp_path / "whole", tmp_path / "halved") == 0
    whole = read_settings(tmp_path / "whole")["result"]
    assert [e["loss"] for e in whole["epochs"]] == [e.loss for e in done.epochs]

    # Finished: nothing is trained again, and nothing else is taken for it.
    again = learn(examples, "halved", settings, progress=stop_at(1))
    assert again == done
    with refused(r"another tuning.*`fresh=True`"):
        learn(examples, "halved", replace(settings, seed=5))
    with refused("another examples"):
        learn(examples[1:], "halved", settings)
    with pytest.raises(KeyboardInterrupt):
        learn(examples, "halved", settings, fresh=True, progress=stop_at(1))


@needs_torch
def test_training_stops_when_the_held_out_turns_get_worse(learn: Learn, tmp_path: Path) -> None:
    settings = replace(FAST, epochs=9, patience=2, learning_rate=3e-2)
    tuned = learn(unlike_the_last(), "out", settings)
    assert len(tuned.epochs) == tuned.kept + 2 < 9
    held = [each.held_out or 0.0 for each in tuned.epochs]
    assert held[-1] > held[tuned.kept - 1]


@needs_torch
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # CPUs without bf16 say so
def test_small_steps_survive_bf16(folder: Path, tmp_path: Path) -> None:
    """On a GPU the base computes in bf16; the adapter must not be rounded to it."""
    import torch

    base = load(folder, device="cpu")
    base = replace(base, model=base.model.to(torch.bfloat16), precision="bf16")
    tune(base, some(*[20] * 32), tmp_path / "out", replace(FAST, learning_rate=1e-6, epochs=1))
    found = weights(tmp_path / "out")
    assert all(value.dtype == torch.float32 for value in found.values())
    moved = [float(value.abs().max()) for name, value in found.items() if "lora_B" in name]
    assert all(0 < each < 1e-5 for each in moved)  # they begin at zero


@needs_torch
def test_a_checkpoint_that_is_half_written_counts_for_nothing(learn: Learn, tmp_path: Path) -> None:
    examples, out = some(*range(10, 40), reply=4), tmp_path / "out"
    opened: dict[str, str] = {}
    before = os.umask(0)

    def stop(done: int, total: int, what: str) -> None:
        opened.update({str(path): str(mode) for path, mode in open_to_others(out).items()})
        if done == 6:
            raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            learn(examples, "out", progress=stop)
    finally:
        os.umask(before)
    assert opened == {}  # checkpoints are their owner's alone
    last = max(out.glob("checkpoint-*"), key=lambda place: int(place.name.rpartition("-")[2]))
    state = last / tuning.STATE
    state.write_text(state.read_text("utf-8")[:40], "utf-8")
    learn(examples, "out")
    learn(examples, "whole")
    assert gap(tmp_path / "whole", out) == 0


@needs_torch
def test_one_that_was_killed_at_its_end_is_not_trained_further(
    learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = unlike_the_last()
    settings = replace(FAST, epochs=9, patience=1, learning_rate=3e-2)
    with monkeypatch.context() as killed, pytest.raises(ZeroDivisionError):
        killed.setattr(tuning, "_finish", lambda *_: 1 / 0)
        learn(examples, "out", settings)
    steps: list[tuple[Any, ...]] = []
    found = learn(examples, "out", settings, progress=lambda *step: steps.append(step))
    whole = learn(examples, "whole", settings)
    assert steps == []
    assert found.epochs == whole.epochs and found.kept == whole.kept
    assert gap(tmp_path / "out", tmp_path / "whole") == 0


@needs_torch
def test_a_turn_that_cannot_fit_is_named(learn: Learn) -> None:
    with refused("Chat_1#1 is longer"):
        learn(some(20, 5000), "out")
    with refused("no turns"):
        learn([], "out")


# On one's own chats


@needs_torch
def test_a_large_model_keeps_less_and_learns_the_same(
    fresh: Fresh, learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from realtalk.persona import trainer

    learn(TURNS, "plain", OWN)
    monkeypatch.setattr(trainer, "_LARGE", 1000)
    base = fresh()
    assert not base.model.is_activation_checkpointing
    tune(base, TURNS, tmp_path / "large", OWN, say=str)
    assert base.model.is_activation_checkpointing
    assert gap(tmp_path / "plain", tmp_path / "large") < 1e-6


@needs_torch
def test_one_chat_is_enough_and_whole_takes_all(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "realtalk")
    given: dict[str, Any] = {"base": str(folder), "epochs": 1}
    made = rt.persona.tune(one_chat(), speaker="ines", out=tmp_path / "one", **given)
    assert any(line.startswith("learning Ines from 12 turns of Oven") for line in caplog.messages)
    assert made.untuned is not None and made.kept == 1
    assert read_settings(tmp_path / "one")["about"]["chat"] == "Oven"
    rt.persona.tune(ines(), speaker="Ines", out=tmp_path / "all", whole=True, **given)
    about = read_settings(tmp_path / "all")["about"]
    assert about["chat"] == "Oven + Boat" and about["speaker"] == "Ines"
    # Nothing may be tested with it: it has seen every chat.
    with refused("trained with chat Oven \\+ Boat"):
        rt.simulate(
            ines(), speaker="Ines", simulator="tuned", settings={"adapter": tmp_path / "all"}
        )
