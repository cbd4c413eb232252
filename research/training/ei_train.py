"""Trains the EI encoder, alone or as the student of others, on a CPU or an accelerator.

    python -m research.training.ei_train --name more-A --fold A
    python -m research.training.ei_train --name student --teachers t0,t1,t2 --save

Everything sits on the device once: token ids, labels, teachers' logits. A fold holds whole
REALTALK conversations of the silver labels out (A: chat 6, B: chat 2) and is scored on them;
public sets are scored on their dev or test parts. Results go to build/runs/<name>.json, logits
for all examples to <name>.npy where asked.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.training.ei_heads import HEADS, PLACES, WIDTH
from research.training.ei_loss import Loss, teachers_mean
from research.training.ei_model import EiModel, load_base
from research.training.ei_rows import HELD_OUT, Data, batches, chosen, is_silver, parts
from research.training.ei_score import public_scores, silver_scores, yes_scores
from research.training.stepping import Stepper

HERE = Path(__file__).parent


def train(model: EiModel, data: Data, options: argparse.Namespace, device: torch.device) -> None:
    rng = np.random.default_rng(options.seed)
    taught = teachers_mean(data, options, device)
    # A teacher that was told nothing about a head has nothing to say about it.
    told = [name for name, head in HEADS.items() if head.shipped and is_told(data.labels[name])]
    criterion = Loss(data.labels, HEADS, device, taught=taught, copy=options.copy, copied=told)
    groups = [
        {"params": list(model.encoder.parameters()), "lr": options.lr},
        {"params": list(model.heads.parameters()), "lr": options.heads_lr},
    ]
    epochs = [chosen(data, options) for _ in range(options.epochs)]
    total = sum(math.ceil(len(rows) / options.batch) + 1 for rows in epochs)

    def loss_of(index: Tensor, width: int) -> Tensor:
        # Without the cache: a recorded step would keep the first step's copies of the weights.
        with autocast(device, cache=False):
            logits = model(*data.batch(index, width))
        return criterion(logits.float(), index)

    step = Stepper(loss_of, groups, total)
    began = time.time()
    model.train()
    for epoch, rows in enumerate(epochs):
        for part in batches(rows, data.lengths, options.batch, rng):
            step(torch.from_numpy(part).to(device, non_blocking=True), data.width(part))
            if options.limit and step.done >= options.limit:
                return
        pace = step.done * options.batch / (time.time() - began)
        print(
            f"{options.name} epoch {epoch + 1}: loss {step.mean():.3f} ({pace:,.0f} examples/s)",
            flush=True,
        )


def is_told(labels: np.ndarray[Any, Any]) -> bool:
    """Whether any row has a label of this head."""
    return bool((labels >= 0).any())  # neither -1 nor not a number


def autocast(device: torch.device, cache: bool = True) -> torch.autocast:
    return torch.autocast(
        device.type, torch.bfloat16, enabled=device.type == "cuda", cache_enabled=cache
    )


@torch.no_grad()
def predict(
    model: EiModel, data: Data, rows: np.ndarray[Any, Any], device: torch.device
) -> np.ndarray[Any, Any]:
    """The outputs for these rows, in their order."""
    model.eval()
    order = np.argsort(data.lengths[rows], kind="stable")
    found = []
    for start in range(0, len(order), 1024):
        part = rows[order[start : start + 1024]]
        with autocast(device):
            index = torch.from_numpy(part).to(device)
            found.append(model(*data.batch(index, data.width(part))).float())
    made = np.empty((len(rows), WIDTH), np.float32)
    made[order] = torch.cat(found).cpu().numpy()
    return made


def by_head(outputs: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: outputs[:, place] for name, place in PLACES.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--name", required=True)
    add("--data", type=Path, default=HERE / "build" / "ei.npz")
    add("--base", type=Path, default=HERE / "build" / "minilm")
    add("--out", type=Path, default=HERE / "build" / "runs")
    add("--start", type=Path, nargs="+", help="weights of earlier runs: their mean goes on")
    add("--epitome", type=int, help="times an epoch repeats EPITOME")
    add("--heads-lr", type=float, default=1e-3)
    add("--fold", choices=["A", "B"], help="hold out REALTALK chat 6 (A) or 2 (B)")
    add("--seed", type=int, default=0)
    add("--epochs", type=int, default=3)
    add("--batch", type=int, default=128)
    add("--lr", type=float, default=2e-4)
    add("--silver", type=int, default=4, help="times an epoch repeats the first silver file")
    add("--silver-more", type=int, default=3, help="and the others")
    add("--silver-joined", type=int, default=2)
    add("--part", type=int, help="leave this part of the silver labels out (0 to 3)")
    add("--by-part", action="store_true", help="the four teachers left a part out each")
    add("--no-more", action="store_true", help="without the second silver file")
    add("--no-joined", action="store_true", help="without long turns made of short ones")
    add("--rest", type=float, default=1.0, help="share of the large public sets an epoch uses")
    add("--teachers", default="", help="names of runs whose logits to copy")
    add("--copy", type=float, default=1.0, help="weight of copying")
    add("--logits", action="store_true", help="keep logits for all examples")
    add("--save", action="store_true", help="keep the weights")
    add("--limit", type=int, default=0, help="stop after so many steps (a smoke test)")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    data = Data(options.data, device)
    model = load_base(options.base)
    if options.start:
        from safetensors.torch import load_file

        runs = [load_file(path) for path in options.start]
        model.load_state_dict({k: sum(run[k].float() for run in runs) / len(runs) for k in runs[0]})
    model.to(device)
    train(model, data, options, device)
    result: dict[str, Any] = {"options": {k: str(v) for k, v in vars(options).items()}}
    scored = np.flatnonzero(np.isin(data.split, ["dev", "test"]))
    if options.limit:
        scored = scored[:: max(1, len(scored) // 500)]
    if len(scored):  # none in open text
        found = by_head(predict(model, data, scored, device))
        labels = {name: values[scored] for name, values in data.labels.items()}
        result["public"] = public_scores(found, labels, data.set[scored], data.split[scored])
    if options.part is not None and not options.fold:
        unseen = is_silver(data) & (data.set != "silver_joined")
        held = np.flatnonzero(unseen & (parts(data.group) == options.part))
        labels = {name: values[held] for name, values in data.labels.items()}
        result["silver"] = silver_scores(by_head(predict(model, data, held, device)), labels)
    if options.fold:
        of = np.char.startswith(data.group, HELD_OUT[options.fold])
        held = np.flatnonzero(of & (data.set == "silver"))
        outputs = predict(model, data, held, device)
        labels = {name: values[held] for name, values in data.labels.items()}
        result["silver"] = silver_scores(by_head(outputs), labels)
        long = np.flatnonzero(of & (data.set == "silver_joined"))
        labels = {name: values[long] for name, values in data.labels.items()}
        result["joined"] = yes_scores(by_head(predict(model, data, long, device)), labels)
        np.savez_compressed(options.out / f"{options.name}-held.npz", rows=held, outputs=outputs)
    if options.logits:
        everything = predict(model, data, np.arange(len(data.lengths)), device)
        np.save(options.out / f"{options.name}.npy", everything.astype(np.float16))
    if options.save:
        from safetensors.torch import save_file

        weights = {k: v.half().cpu().contiguous() for k, v in model.state_dict().items()}
        save_file(weights, options.out / f"{options.name}.safetensors")
    result["seconds"] = round(time.time() - began, 1)
    (options.out / f"{options.name}.json").write_text(json.dumps(result, indent=1))
    print(
        options.name,
        json.dumps({k: result[k] for k in ("silver", "joined", "public") if k in result}),
    )


if __name__ == "__main__":
    main()
