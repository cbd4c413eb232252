"""Two simulators that run a model in this process: as it comes, and with a speaker's adapter.

    LocalSimulator(base="smollm2", style=True)     # no training, like `llm`
    TunedSimulator(adapter=Path("adapters"))       # adapters/mara, adapters/theo, …, or one adapter
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)                  → [Answer("lol no"), …]

Both write the prompt of persona/prompting.py, the same that adapters are trained with; where it
does not fit into the model the oldest turns of its context are left out. An adapter is refused
that learned from another chat than the one at hand, or with other prompts or contexts.
Need the extra `train`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost
from realtalk.local.progress import Progress, silent
from realtalk.persona.checkpoints import read_json
from realtalk.persona.generation import Asked, Sampling, generate
from realtalk.persona.pretrained import (
    Pretrained,
    find,
    folder_hash,
    load,
    settle,
    with_adapter,
)
from realtalk.persona.prompting import PROMPT_VERSION, cleaned, messages
from realtalk.persona.tuning import ADAPTER, SETTINGS
from realtalk.persona.tuning_data import Example, Writer
from realtalk.persona.values import Learning, Prompt, Settings

__all__ = [
    "LocalSimulator",
    "TunedSimulator",
    "about_learning",
    "adapters_in",
    "encoded",
    "examples_of",
]

_MOST_TOKENS = 160  # as for language models that are asked
_AT_ONCE = {"cuda": 1024, "cpu": 32}


class LocalSimulator:
    """A model as it comes, told who it is; with `style` also how they write."""

    name = "local"
    version = f"prompts {PROMPT_VERSION}"

    def __init__(
        self,
        *,
        base: str = "smollm2",
        style: bool = False,
        max_tokens: int = _MOST_TOKENS,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        repetition_penalty: float = 1.0,
        device: str = "auto",
        batch_tokens: int = 0,
        cache: Path | None = None,
    ) -> None:
        self._device, self._precision = settle(device)
        self._base, self._cache = base, cache
        self._style = style
        self._sampling = Sampling(max_tokens, temperature, top_p, seed, repetition_penalty)
        self._batch_tokens = batch_tokens
        self._loaded: Pretrained | None = None
        self._guide: Any = None
        self.at_once = _AT_ONCE[self._device]

    @property
    def settings(self) -> Settings:
        folder = find(self._base, self._cache)
        return {
            "base": folder.resolve().name,
            "base_sha256": folder_hash(folder),
            "style": self._style,
            **_sampling_settings(self._sampling),
            "precision": self._precision,
        }

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        if self._style:
            from realtalk.persona.styles import Guide

            self._guide = Guide(learning, progress=progress)
        if self._loaded is None:
            self._loaded = load(
                self._base, device=self._device, cache=self._cache, progress=progress
            )

    def solve(self, shown: Sequence[Prompt], progress: Progress = silent) -> list[Answer[str]]:
        if self._loaded is None:
            raise ValueError("prepare comes first")
        styles = self._guide.texts(shown) if self._style else [""] * len(shown)
        return _simulate(
            *(self._loaded, shown, styles, self._sampling, self._batch_tokens, progress)
        )


class TunedSimulator:
    """A model with the adapter that learned from the speaker's other chat.

    `adapter` is the folder of one, or a folder of such folders: the speaker's is found. `base`
    says where the model lies, where that is not the one named in training.
    """

    name = "tuned"
    version = f"prompts {PROMPT_VERSION}"

    def __init__(
        self,
        *,
        adapter: Path,
        base: str | None = None,
        max_tokens: int = _MOST_TOKENS,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        repetition_penalty: float = 1.0,
        device: str = "auto",
        batch_tokens: int = 0,
        cache: Path | None = None,
    ) -> None:
        self._device, self._precision = settle(device)
        self._adapters = adapters_in(Path(adapter))
        self._base, self._cache = base, cache
        self._sampling = Sampling(max_tokens, temperature, top_p, seed, repetition_penalty)
        self._batch_tokens = batch_tokens
        self._loaded: Pretrained | None = None
        self.at_once = _AT_ONCE[self._device]

    @property
    def settings(self) -> Settings:
        digest = hashlib.sha256()
        for folder in self._adapters:
            digest.update(hashlib.sha256((folder / ADAPTER).read_bytes()).digest())
        bases = {str(known["base"]["sha256"]) for known in self._adapters.values()}
        return {
            "adapters": len(self._adapters),
            "adapters_sha256": digest.hexdigest(),
            "base_sha256": " ".join(sorted(bases)),
            **_sampling_settings(self._sampling),
            "precision": self._precision,
        }

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        folder, known = self._of(learning)
        wanted = about_learning(learning)
        for what, value in wanted.items():
            if known["about"].get(what) != value:
                raise RealtalkError(
                    f"the adapter was trained with {what} {known['about'].get(what)}, not {value}",
                    where=str(folder),
                    fix="train one for this: realtalk persona tune",
                )
        name = self._base or str(known["about"]["base"])
        base = load(name, device=self._device, cache=self._cache, progress=progress)
        if base.sha256 != known["base"]["sha256"]:
            raise RealtalkError(
                "the adapter was trained on another model",
                where=str(folder),
                fix=f"name the right one as base; it was called {known['base']['title']}",
            )
        self._loaded = with_adapter(base, folder)

    def _of(self, learning: Learning) -> tuple[Path, dict[str, Any]]:
        for folder, known in self._adapters.items():
            if known["about"].get("speaker") == learning.speaker:
                return folder, known
        speakers = sorted(str(known["about"].get("speaker")) for known in self._adapters.values())
        raise RealtalkError(
            f"no adapter for {learning.speaker}",
            fix=f"there are some for {', '.join(speakers)}; train one: realtalk persona tune",
        )

    def solve(self, shown: Sequence[Prompt], progress: Progress = silent) -> list[Answer[str]]:
        if self._loaded is None:
            raise ValueError("prepare comes first")
        nothing = [""] * len(shown)
        return _simulate(
            *(self._loaded, shown, nothing, self._sampling, self._batch_tokens, progress)
        )


def about_learning(learning: Learning) -> dict[str, Any]:
    """What an adapter must have been trained with to be tested on the same terms."""
    return {
        "speaker": learning.speaker,
        "chat": learning.chat.id,
        "prompt_version": PROMPT_VERSION,
        **learning.settings,
    }


def adapters_in(folder: Path) -> dict[Path, dict[str, Any]]:
    """The finished adapters of a folder with their settings: itself, or those inside it."""
    places = [folder] if (folder / SETTINGS).is_file() else sorted(folder.glob("*/"))
    found = {
        place: read_json(place / SETTINGS)
        for place in places
        if (place / SETTINGS).is_file() and (place / ADAPTER).is_file()
    }
    if not found:
        raise RealtalkError(
            "no finished adapter here",
            where=str(folder),
            fix="make one: realtalk persona tune PATH --speaker NAME --base MODEL --out DIR",
        )
    return found


def encoded(writer: Writer, prompt: Prompt, room: int, style: str = "") -> tuple[int, ...]:
    """The prompt as token ids, without as many of its oldest turns as it takes to fit.

    Empty where not even the last turn fits.
    """
    while True:
        ids = writer.prompt(messages(prompt, style=style))
        if len(ids) <= room:
            return ids
        if len(prompt.context) <= 1:
            return ()
        # In proportion to what is too much, one turn at least: a few rounds instead of hundreds.
        excess = (len(ids) - room) / len(ids)
        drop = max(1, int(len(prompt.context) * excess / 2))
        prompt = replace(prompt, context=prompt.context[drop:])


def examples_of(writer: Writer, learning: Learning, window: int) -> list[Example]:
    """The turns to learn from, with the prompts of testing; those that do not fit are left out."""
    made = []
    for turn in learning.turns:
        reply = writer.reply(turn.text)
        if ids := encoded(writer, turn.prompt, window - len(reply)):
            made.append(Example(turn.id, ids, reply))
    return made


def _simulate(
    base: Pretrained,
    prompts: Sequence[Prompt],
    styles: Sequence[str],
    sampling: Sampling,
    batch_tokens: int,
    progress: Progress,
) -> list[Answer[str]]:
    writer = Writer(base.tokenizer)
    room = base.window - sampling.max_new_tokens
    asked: dict[str, Asked] = {}
    for prompt, style in zip(prompts, styles, strict=True):
        if ids := encoded(writer, prompt, room, style):
            asked[prompt.id] = Asked(prompt.id, ids)
    found = generate(
        *(base, list(asked.values()), writer.stops, sampling),
        batch_tokens=batch_tokens,
        progress=progress,
    )
    written = {each.id: each for each in found}
    made: list[Answer[str]] = []
    for prompt in prompts:
        if (each := written.get(prompt.id)) is None:
            made.append(Answer(None, "the prompt does not fit into the model"))
            continue
        text = cleaned(writer.text(each.ids), prompt)
        made.append(
            Answer(
                text or None,
                "" if text else "empty answer",
                Cost(tokens_in=len(asked[prompt.id].ids), tokens_out=len(each.ids)),
            )
        )
    return made


def _sampling_settings(sampling: Sampling) -> Settings:
    return {
        "max_tokens": sampling.max_new_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "repetition_penalty": sampling.repetition_penalty,
    }
