"""A speaker's turns → an adapter (LoRA) that writes like them.

    examples = [TrainingExample("Chat_1#14", prompt=(1, 4093, …), reply=(2045, …, 2)), …]
    tune(load("smollm2"), examples, Path("mara"), TuneSettings(epochs=4), about={"speaker": "Mara"})
    → mara/adapter_model.safetensors, adapter_config.json (as `peft` reads them), settings.json

The loss is on the replies only. A weight update takes a fixed number of turns; how many go
through the model at once is a question of memory (`batch_tokens`) and does not change what is
learned. The last turns are held out: the adapter kept is the one of the epoch that predicts them
best. A stopped training goes on from its last checkpoint to the same weights (trainer.py).
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.files.offline import no_hub
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import private_folder, refuse_strangers, write_bytes, write_text
from realtalk.persona.generation import PretrainedModel, TrainingExample, library, quiet
from realtalk.registry import at_least

ADAPTER, CONFIG = "adapter_model.safetensors", "adapter_config.json"  # peft's names
SETTINGS, STATE = "settings.json", "trainer_state.json"
Say: TypeAlias = Callable[[str], Any]  # is told a line for people
_FOLDERS = "checkpoint-*"
_BATCH_TOKENS = {"cuda": 32_768, "cpu": 2_048}  # what is fast and fits: 139 GB, and 8 GB


@dataclass(frozen=True, slots=True)
class TuneSettings:
    """How to learn. `batch_tokens` 0 is what suits the device; `patience` is in epochs."""

    epochs: int = 4
    learning_rate: float = 5e-4
    per_update: int = 16  # turns
    warmup: float = 0.1  # of all updates
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    held_out: float = 0.1
    patience: int = 2
    seed: int = 0
    batch_tokens: int = 0
    checkpoint_every: int = 20  # updates

    def __post_init__(self) -> None:
        counts = ("epochs", "per_update", "rank", "alpha", "patience", "checkpoint_every")
        at_least(1, **{name: getattr(self, name) for name in counts})
        at_least(0, batch_tokens=self.batch_tokens)
        if not self.learning_rate > 0:
            raise RealtalkError(f"learning_rate must be above 0, not {self.learning_rate}")


@dataclass(frozen=True, slots=True)
class Epoch:
    """Mean loss per token of the replies: of its updates, and on what was held out after it."""

    number: int
    loss: float
    held_out: float | None


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The outcome of a training. `untuned` is the base's loss on the held-out turns."""

    folder: Path
    untuned: float | None
    epochs: tuple[Epoch, ...]
    kept: int  # the epoch whose adapter is kept
    tokens: int  # that went through the model in training, padding not counted
    seconds: float
    padding: float  # share of what went through the model

    @property
    def helps(self) -> bool | None:
        """Whether the kept adapter has a lower loss on held-out turns than the base."""
        loss = next((epoch.held_out for epoch in self.epochs if epoch.number == self.kept), None)
        return None if loss is None or self.untuned is None else loss < self.untuned

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder)}

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def tune(
    base: PretrainedModel,
    examples: Sequence[TrainingExample],
    out: Path,
    settings: TuneSettings | None = None,
    *,
    about: Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
    say: Say | None = None,
) -> TuningResult:
    """Learns from the examples, which are in time order, and saves the adapter in `out`.

    The base's model gets the adapter's layers: load it anew for another training. `about` goes
    into settings.json. A training that is finished is not repeated; `fresh` begins again. `say` is
    told how long it will take, which is measured first and changes nothing of what is learned.
    """
    settings = settings or TuneSettings()
    settings = replace(settings, batch_tokens=settings.batch_tokens or _BATCH_TOKENS[base.device])
    refuse_strangers(out, "an adapter", SETTINGS, ADAPTER, "adapter", _FOLDERS)
    learned, kept_out = held_out(examples, settings.held_out)
    if not learned:
        raise RealtalkError("no turns to learn from", where=str(out))
    if long := next((e.id for e in examples if len(e) > base.window), None):
        raise RealtalkError(f"turn {long} is longer than the model's {base.window:,} tokens")
    digest = hashlib.sha256()
    for example in examples:
        digest.update(f"{example.id}\t{example.prompt}\t{example.reply}\n".encode())
    record = {
        "about": dict(about or {}),
        "base": {"title": base.title, "sha256": base.sha256, "precision": base.precision},
        "tuning": asdict(settings),
        "examples": {
            "learned": len(learned),
            "held_out": len(kept_out),
            "sha256": digest.hexdigest(),
        },
    }
    result = _begin(out, record, fresh)
    if result is None:
        library("peft")
        from realtalk.persona.trainer import train

        last = _last_checkpoint(out)
        try:
            with quiet(), no_hub():
                state = train(base, learned, kept_out, out, settings, last, progress, say)
        except library("torch").OutOfMemoryError as error:
            raise RealtalkError(
                f"{settings.batch_tokens:,} tokens at once do not fit into the device's memory",
                fix="pass a smaller `batch_tokens=`",
            ) from error
        result = _finish(out, record, state, sum(map(len, learned)))
    return TuningResult(
        out, **{**result, "epochs": tuple(Epoch(**epoch) for epoch in result["epochs"])}
    )


def held_out(
    examples: Sequence[TrainingExample], share: float
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """(to learn from, held out): the last turns are held out, at least one where there are two."""
    if not 0 <= share < 1:
        raise RealtalkError(f"the held-out share must be from 0 to below 1, not {share}")
    count = round(len(examples) * share)
    if share and len(examples) > 1:
        count = max(1, count)
    split = len(examples) - count
    return list(examples[:split]), list(examples[split:])


def read_settings(folder: Path) -> dict[str, Any]:
    """An adapter's settings.json. One that is finished has a `result`."""
    try:
        return dict(json.loads((folder / SETTINGS).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise RealtalkError("not readable JSON", where=str(folder / SETTINGS)) from error


def _begin(out: Path, wanted: Mapping[str, Any], fresh: bool) -> dict[str, Any] | None:
    """The result of a finished training; else settings.json says what is begun here."""
    if fresh:
        _clear(out, SETTINGS, ADAPTER, CONFIG)
    record = read_settings(out) if (out / SETTINGS).is_file() else wanted
    names = [name for name in wanted if record.get(name) != wanted[name]]
    if names:
        raise RealtalkError(
            f"an adapter was begun here with another {' and '.join(names)}",
            where=str(out),
            fix="name another folder, or start anew with `fresh=True`",
        )
    try:
        private_folder(out)
    except OSError as error:
        raise RealtalkError(
            f"cannot be an adapter's folder ({error.strerror})", where=str(out)
        ) from error
    if "result" not in record:
        _write_settings(out, wanted)
    return record.get("result")


def _last_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint that is whole: the Trainer's state is written last."""
    for place in sorted(out.glob(_FOLDERS), key=lambda each: -int(each.name.rpartition("-")[2])):
        try:
            json.loads((place / STATE).read_text("utf-8"))
        except (OSError, ValueError):  # killed while it was written
            shutil.rmtree(place, ignore_errors=True)
        else:
            return place
    return None


def _finish(out: Path, wanted: Mapping[str, Any], state: Any, tokens: int) -> dict[str, Any]:
    """The kept epoch's adapter; settings.json comes last and says that all is there."""
    best = state.best_global_step or state.global_step
    for name in (ADAPTER, CONFIG):
        write_bytes(out / name, (out / f"checkpoint-{best}" / name).read_bytes())
    log, done = state.log_history, round(state.epoch)
    ahead = {
        round(entry["epoch"] or 0): entry["eval_loss"] for entry in log if "eval_loss" in entry
    }
    epochs = []
    for number in range(1, done + 1):
        own = [e["loss"] for e in log if "loss" in e and number - 1 < e["epoch"] <= number]
        epochs.append(asdict(Epoch(number, fmean(own), ahead.get(number))))
    result = {
        "untuned": ahead.get(0),
        "epochs": epochs,
        "kept": round(best * done / state.global_step),
        "tokens": tokens * done,
        "seconds": round(sum(entry.get("seconds", 0.0) for entry in log), 3),
        "padding": 1 - tokens * done / state.num_input_tokens_seen,
    }
    used = {name: version(name) for name in ("torch", "transformers", "peft")}
    versions = {"realtalk": __version__, "python": platform.python_version(), **used}
    _write_settings(out, {**wanted, "result": result, "versions": versions})
    _clear(out)
    return result


def _write_settings(out: Path, value: Mapping[str, Any]) -> None:
    # Python's own writer: a loss may be a number that the faster one refuses.
    write_text(out / SETTINGS, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _clear(out: Path, *names: str) -> None:
    """Removes every checkpoint, also those that were never finished, and these files."""
    for place in (*out.glob(_FOLDERS), *out.glob(f".{_FOLDERS}")):
        shutil.rmtree(place, ignore_errors=True)
    for name in names:
        (out / name).unlink(missing_ok=True)
