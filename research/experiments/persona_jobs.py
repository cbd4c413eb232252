"""One speaker in one way of one set → an adapter where there is none, and what the model writes.

    hands = Jobs(run)                              # loads the base once
    hands.do("k3", "tuned+retrieved", "Mara")      → parts/k3-tuned+retrieved-greedy/Mara.jsonl, …

The base stays as it was loaded: an adapter is trained on a copy, and added to a copy. A training
that does not fit into the card's memory, which other processes may hold, is begun again with half
as many tokens at once; what is learned is the same.
"""

from __future__ import annotations

import copy
import gc
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    TrainingExample,
    Writer,
    generate,
    library,
    load,
    with_adapter,
)
from realtalk.persona.tuning import (
    SETTINGS,
    TuneSettings,
    TuningResult,
    held_out,
    read_settings,
    tune,
)
from research.experiments.persona_plan import inner_parameters, matrix_rate
from research.experiments.persona_prompts import SWAPPED, WAYS, Row

if TYPE_CHECKING:
    from research.experiments.persona_run import Run

_SMALLEST = 1024  # tokens at once, below which nothing is gained by halving


class Jobs:
    """What one process does, with the base in its memory."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._base = load(run.base_folder(), device=run.given.device)
        self._writer = Writer(self._base.tokenizer)

    def machine(self) -> dict[str, Any]:
        """The card, what it does in a matrix product, and the model's size."""
        base, torch = self._base, library("torch")
        return {
            "name": torch.cuda.get_device_name() if base.device == "cuda" else "cpu",
            "precision": base.precision,
            "matrix_tflops": matrix_rate(base) / 1e12,
            "parameters": sum(each.numel() for each in base.model.parameters()),
            "inner_parameters": inner_parameters(base.model),
        }

    def do(self, name: str, how: str, speaker: str) -> None:
        """Writes what a job still waits for."""
        run, way = self._run, WAYS[how]
        model = self._base
        if way.tuned:
            model = with_adapter(self._copy(), self._adapter(name, how, speaker))
        titles = run.waiting(name, how, speaker)
        for place in dict.fromkeys(title.split("-")[0] for title in titles):
            held = place != name
            rows = (
                self.held(name, how, speaker) if held else run.prompts.rows(name, "test", speaker)
            )
            ways = [title.split("-")[2] for title in titles if title.split("-")[0] == place]
            self._write(model, f"{place}-{how}", ways, rows, way.field)
        del model
        self._clear()

    def _adapter(self, name: str, how: str, speaker: str) -> Path:
        """The speaker's own adapter, or another's that is there already."""
        if how != SWAPPED:
            return self.trained(name, how, speaker).folder
        other = self._run.prompts.other(name, speaker)
        folder = self._run.out / "adapters" / f"{name}-tuned" / other
        if not (folder / SETTINGS).is_file() or not read_settings(folder).get("result"):
            raise RealtalkError(f"{other} is not learned yet", fix="start it again, it goes on")
        return folder

    def _copy(self) -> PretrainedModel:
        return replace(self._base, model=copy.deepcopy(self._base.model))

    def _clear(self) -> None:
        """Gives memory back that another process may want."""
        gc.collect()
        if self._base.device == "cuda":
            library("torch").cuda.empty_cache()

    def _examples(self, rows: Sequence[Row], field: str) -> list[TrainingExample]:
        made = (self._writer.example(row["id"], [user(row[field])], row["reply"]) for row in rows)
        return [example for example in made if len(example) <= self._base.window]

    def held(self, name: str, how: str, speaker: str) -> list[Row]:
        """The turns of the chat that is learned from which training has held out."""
        rows = self._run.prompts.rows(name, "learn", speaker)
        fitting = self._examples(rows, WAYS[how].field)
        kept = {each.id for each in held_out(fitting, self._run.tuning.held_out)[1]}
        return [row for row in rows if row["id"] in kept]

    def trial_folder(self, rate: float, name: str, how: str, speaker: str) -> Path:
        return self._run.out / "trials" / f"rate-{rate}" / f"{name}-{how}" / speaker

    def tried(self, rate: float, name: str, how: str, speaker: str) -> float:
        """The held-out loss of a trial that is finished; 0 where it is not."""
        folder = self.trial_folder(rate, name, how, speaker)
        result = read_settings(folder).get("result") if (folder / SETTINGS).is_file() else None
        return 0.0 if result is None else result["epochs"][result["kept"] - 1]["held_out"] or 1e-9

    def trained(
        self, name: str, how: str, speaker: str, *, trial: float | None = None
    ) -> TuningResult:
        """A speaker's adapter; a trial's is kept apart, and copied if its rate is chosen."""
        run = self._run
        rows = run.prompts.rows(name, "learn", speaker)
        fitting = self._examples(rows, WAYS[how].field)
        learned, tested = run.prompts.head["sets"][name]["chats"][speaker]
        about = {
            **{"speaker": speaker, "chat": learned, "base": str(run.given.base)},
            **{"prompt_version": run.prompts.head["prompt_version"]},
            **run.prompts.head["sets"][name]["context"],
        }
        if WAYS[how].field == "retrieved":
            about |= {"examples": run.prompts.head["examples"], "by": "encoder"}
        settings = self._settings(len(fitting), trial)
        folder = run.out / "adapters" / f"{name}-{how}" / speaker
        tried = self.trial_folder(settings.learning_rate, name, how, speaker)
        if trial is not None:
            folder = tried
        elif tried.is_dir() and not folder.is_dir():
            shutil.copytree(tried, folder)
        began, new = time.time(), not (folder / SETTINGS).is_file()
        made = self._fitted(fitting, folder, settings, about)
        key = f"{name} {speaker}" if how == "tuned" else f"{name}-{how} {speaker}"
        key = key if trial is None else f"trial {trial} {key}"
        last = made.epochs[made.kept - 1]
        run.report["trained"][key] = {
            **{name: value for name, value in asdict(made).items() if name != "folder"},
            **{"turns": len(fitting), "left_out": len(rows) - len(fitting), "tested": tested},
            **{"tokens_per_second": round(made.tokens_per_second), "rate": settings.learning_rate},
            **{"base_sha256": self._base.sha256, "precision": self._base.precision},
            # Only of what was trained just now: when, so that processes can be laid side by side.
            **({"began": began, "ended": time.time()} if new else {}),
        }
        run.save_report()
        run.say(
            f"{key}: held out {made.untuned} → {last.held_out}, epoch {made.kept} of "
            f"{len(made.epochs)}, {made.tokens_per_second:,.0f} tokens/s"
        )
        return made

    def _settings(self, turns: int, trial: float | None) -> TuneSettings:
        """Of few turns an epoch has few updates: more epochs, of which the best is kept."""
        settings, least = self._run.tuning, self._run.given.least_updates
        an_epoch = math.ceil(max(1, turns * (1 - settings.held_out)) / settings.per_update)
        epochs = max(settings.epochs, math.ceil(least / an_epoch))
        rate = settings.learning_rate if trial is None else trial
        return replace(settings, epochs=epochs, learning_rate=rate)

    def _fitted(
        self,
        examples: Sequence[TrainingExample],
        folder: Path,
        settings: TuneSettings,
        about: dict[str, Any],
    ) -> TuningResult:
        if (folder / SETTINGS).is_file():  # begun with fewer tokens at once, perhaps
            there = read_settings(folder)["tuning"]["batch_tokens"]
            settings = replace(settings, batch_tokens=there)
        fresh = False
        while True:
            try:
                return tune(self._copy(), examples, folder, settings, about=about, fresh=fresh)
            except RealtalkError as error:
                self._clear()
                at_once = read_settings(folder)["tuning"]["batch_tokens"] // 2
                if "memory" not in str(error) or at_once < _SMALLEST:
                    raise
                settings, fresh = replace(settings, batch_tokens=at_once), True
            finally:
                self._clear()

    def _write(
        self,
        base: PretrainedModel,
        title: str,
        ways: Sequence[str],
        rows: Sequence[Row],
        field: str,
    ) -> None:
        """Writes every row's reply in these ways; a file for each, joined at the end."""
        run = self._run
        samplings = {way: run.samplings[way] for way in ways}
        room = base.window - max(each.max_new_tokens for each in samplings.values())
        encode = self._writer.prompt
        asked = [EncodedPrompt(row["id"], encode([user(row[field])])) for row in rows]
        fitting = [each for each in asked if len(each.ids) <= room]
        lengths = {each.id: len(each.ids) for each in asked}
        began = time.perf_counter()
        found = {
            way: generate(
                base, fitting, self._writer.stops, each, batch_tokens=run.given.write_tokens
            )
            for way, each in samplings.items()
        }
        seconds = (time.perf_counter() - began) / len(ways)
        for way, written in found.items():
            texts = {each.id: each for each in written}
            speaker = rows[0]["speaker"]
            run.save_part(
                f"{title}-{way}",
                speaker,
                [
                    {
                        **{"speaker": speaker, "id": row["id"]},
                        **{"text": self._writer.text(each.ids), "ended": each.ended},
                        **{"tokens_in": lengths[row["id"]], "tokens_out": len(each.ids)},
                    }
                    for row in rows
                    if (each := texts.get(row["id"])) is not None
                ],
            )
            new = sum(len(each.ids) for each in written)
            run.report["written"][f"{title}-{way} {speaker}"] = {
                **{"turns": len(written), "left_out": len(asked) - len(fitting)},
                **{"tokens_in": sum(len(each.ids) for each in fitting), "tokens_out": new},
                **{"seconds": round(seconds, 3), "new_tokens_per_second": round(new / seconds)},
            }
            said = f"{len(written)} turns, {new / seconds:,.0f} new tokens/s"
            run.say(f"{title}-{way} {speaker}: {said}")
        run.save_report()


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
