"""A speaker's turns → an adapter (LoRA) that writes like them.

    examples = [TrainingExample("Chat_1#14", prompt=(1, 4093, …), reply=(2045, …, 2)), …]
    tune(load("smollm2"), examples, Path("mara"), TuneSettings(epochs=4), about={"speaker": "Mara"})
    → mara/adapter_model.safetensors, adapter_config.json (as `peft` reads them), settings.json

The loss is on the replies only. A weight update takes a fixed number of turns; how many go
through the model at once is a question of memory (`batch_tokens`) and does not change what is
learned. The last turns are held out: the adapter kept is the one of the epoch that predicts them
best. A stopped training goes on from its last checkpoint to the same weights (trainer.py).

Two simulators that run a model in this process: as it comes, and with a speaker's adapter.

    LocalSimulator(base="smollm2", style=True)     # no training, like `llm`
    TunedSimulator(adapter=Path("adapters"))       # adapters/mara, adapters/theo, …, or one adapter
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)                  → [Answer("lol no"), …]

Both write the prompt of persona/prompting.py, the same that adapters are trained with; `examples`
shows so many of the speaker's own turns in it, an adapter's as many as it learned with. Where it
does not fit into the model the oldest turns of its context are left out. An adapter is refused
that learned from another chat than the one at hand, or with other prompts or contexts.
Need the extra `train`.
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
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost, Settings
from realtalk.files.offline import no_hub
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import private_folder, refuse_strangers, write_bytes, write_text
from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    Sampling,
    TrainingExample,
    Writer,
    find,
    folder_hash,
    generate,
    library,
    load,
    quiet,
    settle,
    with_adapter,
)
from realtalk.persona.prompting import PROMPT_VERSION, clean_message, messages, read_message
from realtalk.persona.values import Learning, TurnPrompt
from realtalk.registry import at_least

if TYPE_CHECKING:
    from realtalk.persona.simulators import Guide


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


_AT_ONCE = {"cuda": 1024, "cpu": 32}


@dataclass(kw_only=True)
class _InProcess:
    """How a model in this process writes."""

    version: ClassVar[str] = f"prompts {PROMPT_VERSION}"
    max_tokens: int = 160  # as for language models that are asked
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    repetition_penalty: float = 1.0
    device: str = "auto"
    batch_tokens: int = 0
    cache: Path | None = None

    def __post_init__(self) -> None:
        self.device, self._precision = settle(self.device)
        self.at_once = _AT_ONCE[self.device]
        self._sampling = Sampling(
            self.max_tokens, self.temperature, self.top_p, self.seed, self.repetition_penalty
        )
        self._loaded: PretrainedModel | None = None
        self._guide: Guide | None = None

    def _writing(self) -> Settings:
        chances = asdict(self._sampling)
        size = chances.pop("max_new_tokens")
        return {"max_tokens": size, **chances, "precision": self._precision}

    def stream(self, prompt: TurnPrompt, show: Callable[[str], Any]) -> Answer[str]:
        """As `solve`, one prompt; `show` is handed the message piece by piece as it is written."""
        written = ""
        longest = max(len(turn.speaker) for turn in prompt.context) + 2

        def advance(text: str) -> None:
            nonlocal written
            message = clean_message(text, prompt)
            # A name before the message, or half a letter, is not shown; so a little is held back.
            is_whole = len(text) > longest and not message.endswith("\ufffd")
            if is_whole and message.startswith(written):
                show(message[len(written) :])
                written = message

        (answer,) = self.solve([prompt], advance=advance)
        if answer.value is not None and answer.value.startswith(written):
            show(answer.value[len(written) :])
        return answer

    def solve(
        self,
        shown: Sequence[TurnPrompt],
        progress: Progress = silent,
        advance: Callable[[str], None] | None = None,
    ) -> list[Answer[str]]:
        """One answer per prompt; `advance` is handed what is written of a single one so far."""
        base = self._loaded
        assert base is not None, "prepare comes first"
        styles = self._guide.texts(shown) if self._guide else [""] * len(shown)
        writer = Writer(base.tokenizer)
        room = base.window - self.max_tokens
        prompts = [
            EncodedPrompt(prompt.id, encode_prompt(writer, prompt, room, style))
            for prompt, style in zip(shown, styles, strict=True)
        ]
        replies = generate(
            base,
            [prompt for prompt in prompts if prompt.ids],
            writer.stops,
            self._sampling,
            batch_tokens=self.batch_tokens,
            progress=progress,
            show=None if advance is None else lambda ids: advance(writer.text(ids)),
        )
        waiting = iter(replies)
        answers: list[Answer[str]] = []
        for prompt, encoded in zip(shown, prompts, strict=True):
            if not encoded.ids:
                answers.append(Answer(None, "the prompt does not fit into the model"))
                continue
            reply = next(waiting).ids
            cost = Cost(tokens_in=len(encoded.ids), tokens_out=len(reply))
            answers.append(replace(read_message(writer.text(reply), prompt), cost=cost))
        return answers


@dataclass(kw_only=True)
class LocalSimulator(_InProcess):
    """A model as it comes, told who it is; `style` and `examples` tell how they write."""

    name: ClassVar[str] = "local"
    base: str = "smollm2"
    style: bool = False
    examples: int | None = None  # None: five beside a style, else none
    by: str = "encoder"

    @property
    def settings(self) -> Settings:
        folder = find(self.base, self.cache)
        shown: Settings = {"base": folder.resolve().name, "base_sha256": folder_hash(folder)}
        shown["style"] = self.style
        if self.examples is not None:
            shown |= {"examples": self.examples, "by": self.by}
        return {**shown, **self._writing()}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self._guide = _guide(learning, self.examples, self.by, progress, style=self.style)
        if self._loaded is None:
            self._loaded = load(self.base, device=self.device, cache=self.cache, progress=progress)


@dataclass(kw_only=True)
class TunedSimulator(_InProcess):
    """A model with the adapter that learned from the speaker's other chat.

    `adapter` is the folder of one, or a folder of such folders: the speaker's is found. `base`
    says where the model lies, where that is not the one named in training; `examples` refuses an
    adapter that learned with another number of the speaker's own turns in its prompts.
    """

    name: ClassVar[str] = "tuned"
    adapter: Path
    base: str | None = None
    examples: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._adapters = adapters_in(Path(self.adapter))

    @property
    def settings(self) -> Settings:
        digest = hashlib.sha256()
        for folder in self._adapters:
            digest.update(hashlib.sha256((folder / ADAPTER).read_bytes()).digest())
        bases = {str(adapter["base"]["sha256"]) for adapter in self._adapters.values()}
        examples = max(_examples(adapter["about"]) for adapter in self._adapters.values())
        return {
            **({"examples": examples} if examples else {}),
            "adapters": len(self._adapters),
            "adapters_sha256": digest.hexdigest(),
            "base_sha256": " ".join(sorted(bases)),
            **self._writing(),
        }

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        speakers = {str(record["about"].get("speaker")): f for f, record in self._adapters.items()}
        if (folder := speakers.get(learning.speaker)) is None:
            raise RealtalkError(
                f"no adapter for {learning.speaker}",
                fix=f"there are some for {', '.join(sorted(speakers))}; train one: "
                "realtalk persona tune",
            )
        about, trained_on = (self._adapters[folder][part] for part in ("about", "base"))
        requirements = about_learning(learning)
        if self.examples is not None:
            requirements["examples"] = self.examples
        for what, value in requirements.items():
            if ({"examples": 0} | about).get(what) != value:
                raise RealtalkError(
                    f"the adapter was trained with {what} {about.get(what)}, not {value}",
                    where=str(folder),
                    fix="train one for this: realtalk persona tune",
                )
        name = self.base or str(about["base"])
        base = load(name, device=self.device, cache=self.cache, progress=progress)
        if base.sha256 != trained_on["sha256"]:
            raise RealtalkError(
                "the adapter was trained on another model",
                where=str(folder),
                fix=f"name the right one as base; it was called {trained_on['title']}",
            )
        self._guide = _guide(learning, _examples(about), str(about.get("by", "encoder")), progress)
        self._loaded = with_adapter(base, folder)


def _examples(about: Mapping[str, Any]) -> int:
    """How many of the speaker's own turns an adapter's prompts have."""
    return int(about.get("examples", 0))


def _guide(
    learning: Learning, examples: int | None, by: str, progress: Progress, *, style: bool = False
) -> Guide | None:
    """Imported late: a machine that only writes prompts made elsewhere has no encoder."""
    if not style and not examples:
        return None
    from realtalk.persona.simulators import Guide, example_count

    count = example_count(style, examples)
    return Guide(learning, described=style, examples=count, by=by, progress=progress)


def about_learning(learning: Learning) -> dict[str, Any]:
    """What an adapter must have been trained with to be tested on the same terms."""
    about = {"speaker": learning.speaker, "chat": learning.chat.id}
    return {**about, "prompt_version": PROMPT_VERSION, **learning.settings}


def adapters_in(folder: Path) -> dict[Path, dict[str, Any]]:
    """The finished adapters of a folder with their settings: itself, or those inside it."""
    places = [folder] if (folder / SETTINGS).is_file() else sorted(folder.glob("*/"))
    finished = {
        place: settings
        for place in places
        if (place / SETTINGS).is_file()
        and (place / ADAPTER).is_file()
        and "result" in (settings := read_settings(place))
    }
    if not finished:
        raise RealtalkError(
            "no finished adapter here",
            where=str(folder),
            fix="make one: realtalk persona tune PATH `speaker=NAME` `base=MODEL` `out=DIR`",
        )
    return finished


def encode_prompt(
    writer: Writer, prompt: TurnPrompt, room: int, style: str = ""
) -> tuple[int, ...]:
    """The prompt as token ids, without as many of its oldest turns as it takes to fit.

    Empty where not even the last turn fits.
    """
    while len(ids := writer.prompt(messages(prompt, style=style))) > room:
        if len(prompt.context) <= 1:
            return ()
        # In proportion to what is too much, one turn at least: a few rounds instead of hundreds.
        excess = (len(ids) - room) / len(ids)
        drop = max(1, int(len(prompt.context) * excess / 2))
        prompt = replace(prompt, context=prompt.context[drop:])
    return ids


def training_set(
    base: str, loaded: PretrainedModel, learning: Learning, examples: int = 0, by: str = "encoder"
) -> tuple[list[TrainingExample], dict[str, Any]]:
    """What an adapter is trained on, and what is written down of it; `base` as it was named.

    The prompts are those of testing, `examples` of the speaker's other turns in each; turns that
    do not fit are left out.
    """
    writer = Writer(loaded.tokenizer)
    about = {**about_learning(learning), "base": base, "template": writer.way}
    if examples:
        about |= {"examples": examples, "by": by}
    guide = _guide(learning, examples, by, silent)
    prompts = [turn.prompt for turn in learning.turns]
    styles = guide.texts(prompts) if guide else [""] * len(prompts)
    learned = []
    for turn, style in zip(learning.turns, styles, strict=True):
        reply = writer.reply(turn.text)
        if ids := encode_prompt(writer, turn.prompt, loaded.window - len(reply), style):
            learned.append(TrainingExample(turn.id, ids, reply))
    return learned, about
