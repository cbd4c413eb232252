"""Trains the multilingual EI encoder, alone or as the student of others.

    python -m research.training.languages_train --name t0 --part 0 --seconds 150 --logits
    python -m research.training.languages_train --name s --teachers t0,t1,t2 --seconds 250 --save $OUT

Three aims at once, all from the first step on: a row's pooled vector is that of its English twin
in the English encoder; its answers are those that the English encoder gives to the twin, or that
teachers gave; and its own labels. First only embeddings and heads learn, then the body too. The
time given decides how many steps there are, and the rate falls to nothing at its end (`--steps`
repeats a run). Dev parts choose which weights are kept. A checkpoint beside the results lets a
run that was cut off go on (`--resume`).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.training.ei_loss import Loss
from research.training.ei_model import EiModel
from research.training.ei_train import autocast
from research.training.languages_data import ENGLISH, load
from research.training.languages_heads import HEADS, PLACES, WIDTH
from research.training.languages_labels import SET as RUBRIC
from research.training.languages_measures import chosen_by
from research.training.languages_rows import PARTS, LanguageData
from research.training.languages_start import english_encoder, first_rows, multilingual, of_twins
from research.training.languages_weights import save, shipped
from research.training.stepping import Stepper

HERE = Path(__file__).parent
BUILD = HERE / "build" / "languages"
Array = np.ndarray[Any, Any]
LOOKED = 8  # times that dev parts are looked at
PACED = 25  # steps between two looks at the clock


class Aims:
    """The loss of a batch."""

    def __init__(
        self,
        model: EiModel,
        data: LanguageData,
        vectors: Tensor,
        taught: Tensor,
        options: argparse.Namespace,
    ) -> None:
        device = data.tokens.device
        self._model, self._data, self._options = model, data, options
        self._labels = Loss(data.labels, HEADS, device, taught=taught, copy=options.copy)
        self._vectors = vectors
        some = vectors[:: max(1, len(vectors) // 20_000)].float()
        self._mean, self._spread = some.mean(0), some.std(0).clamp(min=1e-3)

    def __call__(self, index: Tensor, width: int) -> Tensor:
        data, model = self._data, self._model
        tokens, types, mask = data.batch(index, width)
        if self._options.blank:
            drawn = torch.rand(tokens.shape, device=tokens.device) < self._options.blank
            words = (tokens != data.first) & (tokens != data.last) & (mask > 0)
            tokens = torch.where(drawn & words, data.unknown, tokens)
        # Without the cache: a recorded step would keep the first step's copies of the weights.
        with autocast(tokens.device, cache=False):
            pooled = model.pooled(tokens, types, mask)
            logits = model.heads(model.dropout(pooled))
        loss = self._labels(logits.float(), index)
        return loss + self._options.align * self._apart(pooled.float(), data.twin[index])

    def _apart(self, pooled: Tensor, twin: Tensor) -> Tensor:
        """How far from the twin's vector, every number of it weighing alike."""
        aim = self._vectors[twin.clamp(min=0)].float()
        apart = (((pooled - aim) / self._spread) ** 2).clamp(max=25.0).mean(1)
        return (apart * (twin >= 0)).sum() / len(twin)


@torch.no_grad()
def predict(model: EiModel, data: LanguageData, rows: Array, at_once: int = 1024) -> Array:
    """The outputs for these rows, in their order."""
    model.eval()
    order = np.argsort(data.lengths[rows], kind="stable")
    device = data.tokens.device
    made = torch.empty(len(rows), WIDTH, dtype=torch.float16, device=device)
    for start in range(0, len(order), at_once):
        here = order[start : start + at_once]
        with autocast(device):
            index = torch.from_numpy(rows[here]).to(device)
            found = model(*data.batch(index, data.width(rows[here])))
        made[torch.from_numpy(here).to(device)] = found.half()
    model.train()
    return np.asarray(made.cpu().numpy())


def by_head(outputs: Array) -> dict[str, Array]:
    return {name: outputs[:, place].astype(np.float32) for name, place in PLACES.items()}


class Dev:
    """The dev rows, and how well a model does on them."""

    def __init__(self, data: LanguageData, said: Tensor, most: int) -> None:
        rows = np.flatnonzero(data.split == "dev")
        self.rows = rows[:: max(1, len(rows) // most)] if most else rows
        self._data = data
        twin = data.twin[torch.from_numpy(self.rows).to(said.device)]
        answers = said[twin.clamp(min=0)].float().masked_fill((twin < 0)[:, None], torch.nan)
        self._twin = by_head(answers.cpu().numpy())

    def scores(self, model: EiModel) -> dict[str, float]:
        data, rows = self._data, self.rows
        labels = {name: values[rows] for name, values in data.labels.items()}
        out = by_head(predict(model, data, rows))
        return chosen_by(out, labels, data.set[rows], data.lang[rows], self._twin)


def taught_rows(
    model: EiModel, data: LanguageData, said: Tensor, options: argparse.Namespace
) -> Tensor:
    """Per row what teachers say of it: English of its twin, ours of the row itself.

    Of teachers by part only the one that has not seen a row's labels speaks about it. A model that
    goes on is its own teacher, but where there are rubric labels that it shall learn.
    """
    if options.start:
        own = torch.from_numpy(predict(model, data, np.arange(len(data.lengths)))).to(said.device)
        if not options.labels:
            own[torch.from_numpy(data.set == RUBRIC).to(said.device)] = torch.nan
        if options.emotions:
            emotions = torch.from_numpy(of_emotions(options.emotions, len(own))).to(own)
            place = PLACES["brighter"]
            own[:, place] = torch.where(emotions.isnan(), own[:, place], emotions)
        return own
    taught = said[data.twin.clamp(min=0)].clone()
    taught[data.twin < 0] = torch.nan
    if options.teachers:
        names = options.teachers.split(",")
        files = [np.load(options.out / f"{name}.npy") for name in names]
        mean = np.asarray(np.mean(np.stack(files), axis=0, dtype=np.float32))
        if options.by_part:
            for part, file in enumerate(files):
                mean[data.part == part] = file[data.part == part]
        ours = torch.from_numpy(mean.astype(np.float16)).to(taught.device)
        # Both where both speak; English of its twin has seen a better text, ours all sets.
        both = taught.isnan().logical_not()
        taught = torch.where(both, (taught + ours) / 2, ours)
    return taught


def of_emotions(paths: Sequence[Path], rows: int) -> Array:
    """The mean of what language models say of every row's emotions (languages_emotions.py)."""
    found = np.full((len(paths), rows, HEADS["brighter"].size), np.nan, np.float32)
    for place, path in enumerate(paths):
        values = np.load(path)
        found[place, : len(values)] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows of which none says anything
        return np.nanmean(found, axis=0)


def train(
    model: EiModel, data: LanguageData, aims: Aims, dev: Dev, options: argparse.Namespace
) -> dict[str, Any]:
    """Trains in the time given; the model ends with the weights that dev parts preferred."""
    device = data.tokens.device
    rng = np.random.default_rng(options.seed)
    table = model.encoder.embeddings.word_embeddings.weight
    body = [each for each in model.encoder.parameters() if each is not table]
    table.requires_grad_(bool(options.table_lr))
    tables = [{"params": [table], "lr": options.table_lr, "weight_decay": 0.0}]
    groups = [
        *(tables if options.table_lr else ()),
        {"params": body, "lr": options.lr, "starts": options.frozen},
        {"params": list(model.heads.parameters()), "lr": options.heads_lr},
    ]
    step = Stepper(aims, groups, options.steps or 10_000)
    kept = options.out / f"{options.name}.checkpoint"
    best: dict[str, Any] = {"mean": -1.0}
    weights: dict[str, Tensor] = {}
    log: list[dict[str, Any]] = []
    used = 0.0
    if options.resume and kept.exists():
        state = torch.load(kept, map_location=device, weights_only=False)
        model.load_state_dict(state["model"])
        step.resume(state["step"])
        best, weights, log, used = state["best"], state["weights"], state["log"], state["used"]
    began = time.time() - used
    epoch = looked = 0
    rows_done = 0

    def share() -> float:
        """Of the run that is done."""
        if options.steps:
            return float(step.done / options.steps)
        return float((time.time() - began) / options.seconds)

    def look() -> None:
        nonlocal best, weights
        scores = dev.scores(model)
        pace = rows_done / max(1e-9, time.time() - began - used)
        line = {"step": step.done, "epoch": epoch, "loss": round(step.mean(), 4), **scores}
        log.append(line)
        print(f"{options.name} {share():.0%} {pace:,.0f} rows/s {json.dumps(line)}", flush=True)
        if scores["mean"] > best["mean"]:
            best = {"step": step.done, **scores}
            weights = {n: v.detach().clone() for n, v in model.state_dict().items()}

    model.train()
    while share() < 1:
        epoch += 1
        for rows, width in data.batches(data.chosen(rng), options.budget, rng):
            step(torch.from_numpy(rows).to(device, non_blocking=True), width)
            rows_done += len(rows)
            if step.done % PACED == 0 and not options.steps:
                if device.type == "cuda":
                    torch.cuda.synchronize()
                step.total = max(step.done + 1, round(step.done / max(1e-6, share())))
            if share() >= 1:
                break
            if share() >= (looked + 1) / LOOKED:
                looked = int(share() * LOOKED)
                look()
                if options.checkpoint:
                    state = {"model": model.state_dict(), "step": step.state(), "best": best}
                    state |= {"weights": weights, "log": log, "used": time.time() - began}
                    torch.save(state, kept)
    look()
    model.load_state_dict(weights)
    seconds = round(time.time() - began, 1)
    return {"best": best, "log": log, "epochs": epoch, "rows": rows_done, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--name", required=True)
    add("--data", type=Path, default=BUILD / "data.npz.xz")
    add("--extra", type=Path, default=BUILD / "extra.npz", help="rows to begin with, if there")
    add("--english", type=Path, default=ENGLISH, help="the folder of the English encoder")
    add("--config", type=Path, default=BUILD / "config.json", help="of its body")
    add("--out", type=Path, default=BUILD / "runs")
    add("--save", type=Path, help="a folder for the weights, in files that can travel")
    add("--seconds", type=float, default=240)
    add("--steps", type=int, default=0, help="so many steps instead of a time")
    add("--seed", type=int, default=0)
    add("--budget", type=int, default=8192, help="tokens of a batch")
    add("--lr", type=float, default=3e-4)
    add("--table-lr", type=float, default=2e-3, help="0: embeddings stay as they are")
    add("--heads-lr", type=float, default=1e-3)
    add("--frozen", type=float, default=0.1, help="share of the run in which the body waits")
    add("--align", type=float, default=2.0, help="weight of the twins' vectors")
    add("--copy", type=float, default=1.0, help="weight of the teachers' answers")
    add("--blank", type=float, default=0.05, help="share of pieces that a row is read without")
    add("--part", type=int, help=f"leave this part of the labels out (0 to {PARTS - 1})")
    add("--teachers", default="", help="names of runs whose answers to copy")
    add("--by-part", action="store_true", help="they left a part out each, in order")
    add("--logits", action="store_true", help="keep answers for all rows")
    add("--emotions", type=Path, nargs="+", help="with --start: what languages_emotions.py made")
    add("--start", type=Path, help="the folder of an exported encoder to go on from")
    add("--labels", default="", help="with --start: heads that learn; others stay")
    add("--checkpoint", action="store_true")
    add("--resume", action="store_true")
    add("--dev", type=int, default=0, help="at most so many dev rows (a smoke test)")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    data = LanguageData(load(options.data), device)
    if options.part is not None:
        data.without(options.part)
    if options.labels:
        data.only_labels(options.labels.split(","))
    print(f"{options.name}: data after {time.time() - began:.0f} s", flush=True)
    teacher = english_encoder(options.english, options.config).to(device)
    vectors, said = of_twins(teacher, data, lambda: autocast(device))
    extra = dict(np.load(options.extra)) if options.extra.exists() else None
    model = multilingual(teacher, data.vocabulary).to(device)
    if options.start:
        model.load_state_dict(shipped(options.start))
    else:
        with torch.no_grad():
            table = model.encoder.embeddings.word_embeddings.weight
            table.copy_(first_rows(data, teacher, extra))
    del teacher
    dev = Dev(data, said, options.dev)
    print(f"{options.name}: began after {time.time() - began:.0f} s", flush=True)
    print(f"{options.name} 0% {json.dumps(dev.scores(model))}", flush=True)
    aims = Aims(model, data, vectors, taught_rows(model, data, said, options), options)
    result = train(model, data, aims, dev, options)
    result["options"] = {name: str(value) for name, value in vars(options).items()}
    if options.logits:
        everything = predict(model, data, np.arange(len(data.lengths)))
        np.save(options.out / f"{options.name}.npy", everything)
    (options.out / f"{options.name}.json").write_text(json.dumps(result, indent=1))
    if options.save:
        save(model.state_dict(), options.save, options.name)
        (options.save / f"{options.name}.json").write_text(json.dumps(result, indent=1))
    print(f"{options.name}: {json.dumps(result['best'])} {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
