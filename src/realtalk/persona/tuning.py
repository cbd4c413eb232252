"""A speaker's turns → an adapter (LoRA) that writes like them.

    examples = [Example("Chat_1#14", prompt=(1, 4093, …), reply=(2045, …, 2)), …]
    tune(load("smollm2"), examples, Path("mara"), TuneSettings(epochs=4), about={"speaker": "Mara"})
    → mara/adapter_model.safetensors, adapter_config.json (as `peft` reads them), settings.json

The loss is on the replies only, and logits are made at their positions only. A weight update
takes a fixed number of turns; how many go through the model at once is a question of memory
(`batch_tokens`) and does not change what is learned. The last turns are held out: the adapter
kept is the one of the epoch that predicts them best. A stopped training goes on from its last
checkpoint to the same weights.
"""

from __future__ import annotations

import math
import platform
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import private_folder, refuse_strangers, whole_folder
from realtalk.persona import checkpoints
from realtalk.persona.learner import Learner, TuneSettings, reply_loss
from realtalk.persona.pretrained import Pretrained, library, quiet
from realtalk.persona.tuning_data import Example, digest, held_out, micro_batches, updates

__all__ = ["ADAPTER", "SETTINGS", "Epoch", "TuneSettings", "Tuned", "tune"]

ADAPTER, SETTINGS = "adapter_model.safetensors", "settings.json"
_SAVE_AFTER = 60  # seconds: what a kill may cost, however slow an update is
_BATCH_TOKENS = {"cuda": 32_768, "cpu": 2_048}  # what is fast and fits: 139 GB, and 8 GB


@dataclass(frozen=True, slots=True)
class Epoch:
    """Mean loss a token of the replies, on what was learned from and on what was held out."""

    number: int
    loss: float
    held_out: float | None


@dataclass(frozen=True, slots=True)
class Tuned:
    """What training came to. `untuned` is the base's loss on the held-out turns."""

    folder: Path
    untuned: float | None
    epochs: tuple[Epoch, ...]
    kept: int  # the epoch whose adapter is kept
    tokens: int  # that went through the model in training, padding not counted
    seconds: float
    padding: float  # share of what went through the model

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class _State:
    """How far training is."""

    update: int = 0
    untuned: float | None = None
    epochs: list[Epoch] = field(default_factory=list)
    loss: float = 0.0  # sums over the epoch under way
    targets: int = 0
    tokens: int = 0
    padded: int = 0
    seconds: float = 0.0

    @property
    def kept(self) -> int:
        """The best epoch so far: the first of equals, the last where nothing is held out."""
        if not self.epochs:
            return 0
        if self.epochs[0].held_out is None:
            return self.epochs[-1].number
        return min(self.epochs, key=lambda each: (each.held_out, each.number)).number

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> _State:
        return cls(**{**given, "epochs": [Epoch(**each) for each in given["epochs"]]})


def tune(
    base: Pretrained,
    examples: Sequence[Example],
    out: Path,
    settings: TuneSettings | None = None,
    *,
    about: Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Tuned:
    """Learns from the examples, which are in time order, and saves the adapter in `out`.

    The base's model gets the adapter's layers: load it anew for another training. `about` goes
    into settings.json. A training that is finished is not repeated; `fresh` begins again.
    """
    settings = settings or TuneSettings()
    refuse_strangers(out, "an adapter", SETTINGS, ADAPTER, "adapter", "checkpoint-*")
    most = settings.batch_tokens or _BATCH_TOKENS[base.device]
    learned, kept_out = held_out(examples, settings.held_out)
    if not learned:
        raise RealtalkError("no turns to learn from", where=str(out))
    if long := next((e.id for e in examples if len(e) > base.window), None):
        raise RealtalkError(f"turn {long} is longer than the model's {base.window:,} tokens")
    wanted = {
        "about": dict(about or {}),
        "base": {"title": base.title, "sha256": base.sha256, "precision": base.precision},
        "tuning": {**asdict(settings), "batch_tokens": most},
        "examples": {
            "learned": len(learned),
            "held_out": len(kept_out),
            "sha256": digest(examples),
        },
    }
    if (done := _finished(out, wanted, fresh)) is not None:
        return done
    groups = math.ceil(len(learned) / settings.per_update)
    learner = Learner(base, settings, groups * settings.epochs)
    state = _begin(out, wanted, learner)
    model = learner.model
    saved = time.monotonic()
    try:
        if state.untuned is None and kept_out:
            state.untuned = _mean_loss(model, kept_out, most)
        while state.update < groups * settings.epochs and not _enough(state, settings):
            epoch, place = divmod(state.update, groups)
            group = updates(learned, settings.per_update, settings.seed, epoch + 1)[place]
            _update(learner, [learned[at] for at in group], most, state)
            if state.update % groups == 0:
                loss = state.loss / state.targets
                ahead = _mean_loss(model, kept_out, most) if kept_out else None
                state.epochs.append(Epoch(epoch + 1, loss, ahead))
                state.loss, state.targets = 0.0, 0
                if state.kept == epoch + 1:
                    learner.keep()
            late = time.monotonic() - saved > _SAVE_AFTER
            if late or state.update % settings.checkpoint_every == 0 or state.update % groups == 0:
                saved = time.monotonic()
                checkpoints.save(
                    out, state.update, learner.tensors(), {**wanted, "state": state.to_json()}
                )
            progress(state.update, groups * settings.epochs, _said(state))
    except library("torch").OutOfMemoryError as error:
        raise RealtalkError(
            f"{most:,} tokens at once do not fit into the device's memory",
            fix="pass a smaller --batch-tokens",
        ) from error
    learner.take_best()
    model.eval()
    return _save(out, wanted, learner, state)


def _update(learner: Learner, group: Sequence[Example], most: int, state: _State) -> None:
    """One step of the optimizer, over as many batches as memory asks for."""
    began = time.perf_counter()
    learner.model.train()
    targets = sum(len(example.reply) for example in group)
    total = 0.0
    for batch in _batches(group, most):
        loss = reply_loss(learner.model, batch)
        (loss / targets).backward()
        total += loss.detach()
    learner.step(state.update)
    state.loss += float(total)  # waits for the device, so that the seconds are true
    state.seconds += time.perf_counter() - began
    state.update += 1
    state.targets += targets
    state.tokens += sum(len(example) for example in group)
    state.padded += sum(len(batch) * max(map(len, batch)) for batch in _batches(group, most))


def _batches(examples: Sequence[Example], most: int) -> Iterator[list[Example]]:
    for places in micro_batches([len(example) for example in examples], most):
        yield [examples[place] for place in places]


def _mean_loss(model: Any, examples: Sequence[Example], most: int) -> float:
    model.eval()
    with library("torch").no_grad():
        total = sum(float(reply_loss(model, batch)) for batch in _batches(examples, most))
    return total / sum(len(example.reply) for example in examples)


def _enough(state: _State, settings: TuneSettings) -> bool:
    """Whether the held-out turns have not been foretold better for a while."""
    if not state.epochs or state.epochs[-1].held_out is None:
        return False
    return state.epochs[-1].number - state.kept >= settings.patience


def _said(state: _State) -> str:
    rate = state.tokens / state.seconds if state.seconds else 0.0
    if state.targets:
        loss = f"loss {state.loss / state.targets:.3f}"
    else:
        last = state.epochs[-1]
        ahead = "" if last.held_out is None else f", held out {last.held_out:.3f}"
        loss = f"loss {last.loss:.3f}{ahead}"
    return f"{loss}, {rate:,.0f} tokens/s"


def _begin(out: Path, wanted: Mapping[str, Any], learner: Learner) -> _State:
    """From the last checkpoint, or from nothing."""
    try:
        private_folder(out)
    except OSError as error:
        raise RealtalkError(
            f"cannot be an adapter's folder ({error.strerror})", where=str(out)
        ) from error
    found = checkpoints.latest(out)
    if found is None:
        return _State()
    _, tensors, kept = found
    state = kept.pop("state")
    _refuse_difference(out, kept, wanted)
    learner.restore(tensors)
    return _State.from_json(state)


def _refuse_difference(out: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    names = [name for name in wanted if known.get(name) != wanted[name]]
    if names:
        raise RealtalkError(
            f"an adapter was begun here with another {' and '.join(names)}",
            where=str(out),
            fix="name another folder, or start anew with --fresh",
        )


def _finished(out: Path, wanted: Mapping[str, Any], fresh: bool) -> Tuned | None:
    if fresh and out.is_dir():
        checkpoints.clear(out)
        for name in (ADAPTER, "adapter_config.json", SETTINGS):
            (out / name).unlink(missing_ok=True)
    if not (out / SETTINGS).is_file():
        return None
    known = checkpoints.read_json(out / SETTINGS)
    _refuse_difference(out, known, wanted)
    result = known["result"]
    return Tuned(out, epochs=tuple(Epoch(**e) for e in result.pop("epochs")), **result)


def _save(out: Path, wanted: Mapping[str, Any], learner: Learner, state: _State) -> Tuned:
    """The adapter in peft's own form; settings.json comes last and says that all is there."""
    tuned = Tuned(
        folder=out,
        untuned=state.untuned,
        epochs=tuple(state.epochs),
        kept=state.kept,
        tokens=state.tokens,
        seconds=round(state.seconds, 3),
        padding=1 - state.tokens / max(1, state.padded),
    )
    shutil.rmtree(out / "adapter", ignore_errors=True)
    with whole_folder(out / "adapter") as temporary, quiet():
        learner.wrapped.save_pretrained(str(temporary), save_embedding_layers=False)
    for name in (ADAPTER, "adapter_config.json"):
        (out / "adapter" / name).replace(out / name)
    shutil.rmtree(out / "adapter")
    used = {name: version(name) for name in ("torch", "transformers", "peft")}
    result = {name: value for name, value in asdict(tuned).items() if name != "folder"}
    checkpoints.write_json(
        out / SETTINGS,
        {
            **wanted,
            "result": result,
            "versions": {"realtalk": __version__, "python": platform.python_version(), **used},
        },
    )
    checkpoints.clear(out)
    return tuned
