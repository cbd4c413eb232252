"""Learning a speaker: what is learned from, how it is batched, stopped, gone on with and kept."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import realtalk
from file_modes import open_to_others
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.progress import Progress
from realtalk.files.writing import whole_folder
from realtalk.formats.opening import open_reading
from realtalk.persona import tuning
from realtalk.persona.generation import EncodedPrompt, Sampling, TrainingExample, Writer, generate
from realtalk.persona.pretrained import Pretrained, load, with_adapter
from realtalk.persona.prompting import messages
from realtalk.persona.tuned import adapters_in, encoded
from realtalk.persona.tuning import ADAPTER, SETTINGS, TuneSettings, held_out, read_settings, tune
from realtalk.persona.turns import speaker_turns
from realtalk.persona.values import PersonaTurn
from tiny_models import save_tiny_model

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)
PHRASE = "honestly though"
FAST = TuneSettings(epochs=3, learning_rate=1e-2, per_update=8, checkpoint_every=1)


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


# What needs no torch


@pytest.mark.parametrize(
    ("count", "share", "kept"), [(20, 0.1, 2), (4, 0.1, 1), (1, 0.1, 0), (20, 0.0, 0)]
)
def test_the_last_turns_are_held_out(count: int, share: float, kept: int) -> None:
    examples = some(*[9] * count)
    learned, out = held_out(examples, share)
    assert [*learned, *out] == examples
    assert len(out) == kept


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"epochs": 0}, {"rank": 0}, {"learning_rate": 0.0}, {"batch_tokens": -1}):
        with pytest.raises(RealtalkError):
            TuneSettings(**wrong)
    with pytest.raises(RealtalkError):
        held_out(some(9), 1.0)


def test_an_adapter_that_makes_it_worse_is_told(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    epochs = (tuning.Epoch(1, 3.0, 11.3), tuning.Epoch(2, 2.0, 7.7))
    worse = tuning.Tuned(tmp_path, 4.5, epochs, 2, 100, 1.0, 0.0)
    assert worse.helps is False
    assert replace(worse, untuned=8.0).helps is True
    assert replace(worse, untuned=None).helps is None
    loaded = SimpleNamespace(device="cpu", precision="float32")
    monkeypatch.setattr("realtalk.persona.pretrained.load", lambda *_, **__: loaded)
    monkeypatch.setattr("realtalk.persona.tuned.training_set", lambda *_: ([], {}))
    for made, is_told in ((worse, True), (replace(worse, untuned=8.0), False)):
        monkeypatch.setattr(tuning, "tune", lambda *_, made=made, **__: made)
        status, _, err = run("persona", "tune", "sample", "--speaker", "Mara", "--whole")
        assert status == 0, err
        assert ("less likely with this adapter" in err) is is_told


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="train"):
        load("smollm2")


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "made") as folder:
        (folder / "half.txt").write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


# With torch


@pytest.fixture(scope="session")
def turns() -> tuple[PersonaTurn, ...]:
    """Mara's turns in the sample's first chat, each with its catch-phrase."""
    chat = open_reading("sample").reading.corpus.chats[0]
    found = speaker_turns(chat, "Mara", context_sessions=1, context_tokens=20)[:48]
    return tuple(replace(turn, text=f"{PHRASE} {turn.text[:24]}") for turn in found)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, turns: tuple[PersonaTurn, ...]) -> Path:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # so small a model only waits for a second one
    texts = [text for turn in turns for text in (turn.text, messages(turn.prompt)[0]["content"])]
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", texts)


@pytest.fixture
def fresh(folder: Path) -> Callable[[], Pretrained]:
    return lambda: load(folder, device="cpu")


def written(base: Pretrained, turns: tuple[PersonaTurn, ...]) -> list[TrainingExample]:
    writer = Writer(base.tokenizer)
    return [writer.example(turn.id, messages(turn.prompt), turn.text) for turn in turns]


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / ADAPTER))


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(bool((one[n] == two[n]).all()) for n in one)


@needs_torch
def test_every_turn_comes_once_in_an_order_that_comes_again() -> None:
    from realtalk.persona.trainer import Order

    lengths = random.Random(1).choices(range(5, 500), k=70)

    def of(epoch: int, seed: int = 0) -> list[int]:
        order = Order(lengths, 16, seed)
        order.set_epoch(epoch)
        assert len(order) == 70
        return list(order)

    def waste(places: list[int]) -> float:
        groups = [[lengths[at] for at in places[n : n + 16]] for n in range(0, 70, 16)]
        return 1 - sum(lengths) / sum(len(group) * max(group) for group in groups)

    assert sorted(of(1)) == list(range(70))
    assert of(1) == of(1) != of(2)
    assert of(1) != of(1, seed=1)
    by_chance = random.Random(0).sample(range(70), 70)
    assert waste(of(1)) < waste(by_chance) / 2


@needs_torch
def test_the_loss_is_on_the_reply_only(fresh: Callable[[], Pretrained]) -> None:
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
def test_a_batch_gives_the_loss_of_its_members(fresh: Callable[[], Pretrained]) -> None:
    import torch

    from realtalk.persona.trainer import collate

    model = fresh().model
    examples = [*some(12, 40, 33, reply=4), *some(21, 8, reply=7)]
    with torch.no_grad():
        together = float(model(**collate(examples)).loss) * 26
        alone = sum(float(model(**collate([e])).loss) * len(e.reply) for e in examples)
    assert together == pytest.approx(alone, rel=1e-5)


@needs_torch
def test_what_fits_into_memory_does_not_change_what_is_learned(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    import torch

    examples = some(*range(10, 30), reply=4)
    made = []
    for most in (32, 4096):
        out = tmp_path / str(most)
        tune(fresh(), examples, out, replace(FAST, epochs=2, batch_tokens=most))
        made.append(weights(out))
    for name, value in made[0].items():
        assert torch.allclose(value, made[1][name], atol=2e-4), name


@needs_torch
def test_a_catch_phrase_is_learned_and_kept(
    fresh: Callable[[], Pretrained], turns: tuple[PersonaTurn, ...], tmp_path: Path
) -> None:
    import torch

    base = fresh()
    examples = written(base, turns)
    said: list[str] = []
    tuned = tune(
        base,
        examples,
        tmp_path / "mara",
        replace(FAST, epochs=6, patience=6),
        about={"speaker": "Mara"},
        progress=lambda done, total, what: said.append(what),
    )
    assert tuned.untuned is not None
    assert tuned.epochs[-1].loss < tuned.epochs[0].loss < tuned.untuned
    held = [each.held_out for each in tuned.epochs]
    assert min(h for h in held if h is not None) < 0.8 * tuned.untuned
    assert held[tuned.kept - 1] == min(h for h in held if h is not None)
    assert said[0].startswith("held-out loss")
    assert "loss" in said[1] and "tokens/s" in said[1]
    assert sorted(path.name for path in (tmp_path / "mara").iterdir()) == sorted(
        [ADAPTER, "adapter_config.json", SETTINGS]
    )
    known = read_settings(tmp_path / "mara")
    assert known["base"]["sha256"] == base.sha256
    assert known["examples"]["held_out"] == len(examples) // 10 + (len(examples) % 10 >= 5)
    assert set(known["versions"]) >= {"torch", "transformers", "peft", "realtalk"}

    # On turns of the other chat, which were never seen.
    other = open_reading("sample").reading.corpus.chats[1]
    unseen = speaker_turns(other, "Mara", context_sessions=1, context_tokens=20)[:16]
    writer = Writer(base.tokenizer)
    asked = [EncodedPrompt(turn.id, encoded(writer, turn.prompt, 900)) for turn in unseen]
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
def test_a_stopped_training_goes_on_to_the_same_weights(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    examples = some(*range(10, 40), reply=4)
    settings = replace(FAST, dropout=0.2, checkpoint_every=2)  # so that chance matters
    tune(fresh(), examples, tmp_path / "whole", settings)

    def stop_at(update: int) -> Progress:
        def advance(done: int, total: int, what: str) -> None:
            if done == update:
                raise KeyboardInterrupt

        return advance

    for update in (3, 8, 11):  # the last after the last checkpoint but one
        with pytest.raises(KeyboardInterrupt):
            tune(fresh(), examples, tmp_path / "halved", settings, progress=stop_at(update))
        assert len(list((tmp_path / "halved").glob("checkpoint-*"))) in (1, 2)  # last and best
        with pytest.raises(RealtalkError, match="no finished adapter"):
            adapters_in(tmp_path / "halved")
    done = tune(fresh(), examples, tmp_path / "halved", settings)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "halved"))
    whole = read_settings(tmp_path / "whole")["result"]
    assert [e["loss"] for e in whole["epochs"]] == [e.loss for e in done.epochs]

    # Finished: nothing is trained again, and nothing else is taken for it.
    again = tune(fresh(), examples, tmp_path / "halved", settings, progress=stop_at(1))
    assert again == done
    with pytest.raises(RealtalkError, match=r"another tuning.*--fresh"):
        tune(fresh(), examples, tmp_path / "halved", replace(settings, seed=5))
    with pytest.raises(RealtalkError, match="another examples"):
        tune(fresh(), examples[1:], tmp_path / "halved", settings)
    with pytest.raises(KeyboardInterrupt):
        tune(fresh(), examples, tmp_path / "halved", settings, fresh=True, progress=stop_at(1))


_CHILD = """
import os, signal, sys
from pathlib import Path
from realtalk.persona.pretrained import load
from realtalk.persona.tuning import tune
from test_tuning import FAST, some
def advance(done, total, what):
    if done == 7:
        os.kill(os.getpid(), signal.SIGKILL)
tune(load(sys.argv[1], device="cpu"), some(*range(10, 40), reply=4), Path(sys.argv[2]), FAST,
     progress=advance)
"""


@needs_torch
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_killed_training_goes_on_to_the_same_weights(
    fresh: Callable[[], Pretrained], folder: Path, tmp_path: Path
) -> None:
    here = Path(__file__).parent
    paths = (here, here.parent / "support", Path(realtalk.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(folder), str(tmp_path / "killed")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr.decode()
    assert "result" not in read_settings(tmp_path / "killed")
    examples = some(*range(10, 40), reply=4)
    tune(fresh(), examples, tmp_path / "killed", FAST)
    tune(fresh(), examples, tmp_path / "whole", FAST)
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "killed"))


@needs_torch
def test_training_stops_when_the_held_out_turns_get_worse(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    learned = [replace(example, reply=(40, 41, 42)) for example in some(*[20] * 27)]
    other = [replace(example, reply=(90, 91, 92)) for example in some(*[20] * 3)]
    settings = replace(FAST, epochs=9, patience=2, learning_rate=3e-2)
    tuned = tune(fresh(), [*learned, *other], tmp_path / "out", settings)
    assert len(tuned.epochs) == tuned.kept + 2 < 9
    last, best = tuned.epochs[-1].held_out, tuned.epochs[tuned.kept - 1].held_out
    assert last is not None
    assert best is not None
    assert last > best


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
def test_a_checkpoint_that_is_half_written_counts_for_nothing(
    fresh: Callable[[], Pretrained], tmp_path: Path
) -> None:
    examples, out = some(*range(10, 40), reply=4), tmp_path / "out"
    opened: dict[str, str] = {}
    before = os.umask(0)

    def stop(done: int, total: int, what: str) -> None:
        opened.update({str(path): str(mode) for path, mode in open_to_others(out).items()})
        if done == 6:
            raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            tune(fresh(), examples, out, FAST, progress=stop)
    finally:
        os.umask(before)
    assert opened == {}  # checkpoints are their owner's alone
    last = max(out.glob("checkpoint-*"), key=lambda place: int(place.name.rpartition("-")[2]))
    state = last / tuning.STATE
    state.write_text(state.read_text("utf-8")[:40], "utf-8")
    tune(fresh(), examples, out, FAST)
    tune(fresh(), examples, tmp_path / "whole", FAST)
    assert same(weights(tmp_path / "whole"), weights(out))


@needs_torch
def test_one_that_was_killed_at_its_end_is_not_trained_further(
    fresh: Callable[[], Pretrained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = [replace(example, reply=(40, 41, 42)) for example in some(*[20] * 27)]
    examples = [*learned, *(replace(each, reply=(90, 91, 92)) for each in some(*[20] * 3))]
    settings = replace(FAST, epochs=9, patience=1, learning_rate=3e-2)
    finish = tuning._finish

    def killed(*_: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_finish", killed)
    with pytest.raises(KeyboardInterrupt):
        tune(fresh(), examples, tmp_path / "out", settings)
    monkeypatch.setattr(tuning, "_finish", finish)
    steps: list[int] = []
    found = tune(
        fresh(),
        examples,
        tmp_path / "out",
        settings,
        progress=lambda done, total, what: steps.append(done),
    )
    whole = tune(fresh(), examples, tmp_path / "whole", settings)
    assert steps == []
    assert found.epochs == whole.epochs and found.kept == whole.kept
    assert same(weights(tmp_path / "out"), weights(tmp_path / "whole"))


@needs_torch
def test_a_turn_that_cannot_fit_is_named(fresh: Callable[[], Pretrained], tmp_path: Path) -> None:
    with pytest.raises(RealtalkError, match="Chat_1#1 is longer"):
        tune(fresh(), some(20, 2000), tmp_path / "out", FAST)
    with pytest.raises(RealtalkError, match="no turns"):
        tune(fresh(), [], tmp_path / "out", FAST)
