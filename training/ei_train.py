"""Trains the EI encoder, alone or as the student of others, on a CPU or an accelerator.

    python training/ei_train.py --name more-A --fold A
    python training/ei_train.py --name student --teachers t0,t1,t2 --save

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
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ei_heads import HEADS, PLACES, WIDTH
from ei_model import CLS, SEP, EiModel, load_base
from ei_score import public_scores, silver_scores, yes_scores

HERE = Path(__file__).parent
HELD_OUT = {"A": "realtalk/Chat_6_Vanessa_Nicolas", "B": "realtalk/Chat_2_Kevin_Elise"}
PARTS = 4  # a teacher that is one of these has not seen its part of the silver labels
REPEAT = {"epitome": 3, "mint": 3, "semeval2018_ec": 2, "question_intimacy": 1}


class Data:
    """The built file as tensors on one device, with a row a padded example."""

    def __init__(self, path: Path, device: torch.device) -> None:
        file = np.load(path)
        sizes = file["sizes"].astype(np.int64)
        self.set, self.split, self.group = file["set"], file["split"], file["group"]
        self.lengths = sizes.sum(1) + 3
        width = int(self.lengths.max())
        tokens = np.zeros((len(sizes), width), np.int16)
        borders = sizes[:, 0] + 2  # [CLS] previous [SEP] turn [SEP]
        flat = file["tokens"].astype(np.int16)
        at = np.concatenate([[0], np.cumsum(sizes.sum(1))])
        for row, (first, second) in enumerate(sizes):
            start = at[row]
            tokens[row, 0] = CLS
            tokens[row, 1 : 1 + first] = flat[start : start + first]
            tokens[row, 1 + first] = SEP
            tokens[row, 2 + first : 2 + first + second] = flat[
                start + first : start + first + second
            ]
            tokens[row, 2 + first + second] = SEP
        self.tokens = torch.from_numpy(tokens).to(device)
        self.borders = torch.from_numpy(borders.astype(np.int32)).to(device)
        self.ends = torch.from_numpy(self.lengths.astype(np.int32)).to(device)
        self.labels: dict[str, np.ndarray[Any, Any]] = {}
        for name, head in HEADS.items():
            where, values = file[f"at_{name}"], file[f"is_{name}"]
            if head.kind == "softmax":
                dense = np.full(len(sizes), -1, np.int64)
            else:
                dense = np.full((len(sizes), head.size), np.nan, np.float32)
                values = values.reshape(-1, head.size)
            dense[where] = values
            self.labels[name] = dense

    def batch(self, rows: np.ndarray[Any, Any], device: torch.device) -> tuple[Tensor, ...]:
        width = int(self.lengths[rows].max())
        index = torch.from_numpy(rows).to(device, non_blocking=True)
        tokens = self.tokens[index, :width].int() & 0xFFFF
        place = torch.arange(width, device=device)
        mask = (place < self.ends[index, None]).int()
        types = (place >= self.borders[index, None]).int() * mask
        return index, tokens, types, mask


def batches(
    rows: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], size: int, rng: np.random.Generator
) -> Iterator[np.ndarray[Any, Any]]:
    """Shuffled batches of like length: shuffle, sort within pools, shuffle the batches."""
    rows = rng.permutation(rows)
    found = []
    for start in range(0, len(rows), size * 64):
        pool = rows[start : start + size * 64]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        found += [pool[i : i + size] for i in range(0, len(pool), size)]
    for at in rng.permutation(len(found)):
        yield found[at]


class Loss:
    """All heads' losses in a few operations: small heads one by one would starve the device.

    Softmax heads are laid side by side, padded to the widest; sigmoid and value heads are
    columns with a weight each. Rows without a label count nothing.
    """

    def __init__(self, data: Data, options: argparse.Namespace, device: torch.device) -> None:
        self._copy = options.copy

        def of(kind: str) -> list[str]:
            return [name for name, head in HEADS.items() if head.kind == kind]

        def tensor(values: Any, **more: Any) -> Tensor:
            return torch.as_tensor(values, device=device, **more)

        soft = of("softmax")
        widest = max(HEADS[name].size for name in soft)
        at = np.zeros((len(soft), widest), np.int64)
        there = np.zeros((len(soft), widest), bool)
        for row, name in enumerate(soft):
            size = HEADS[name].size
            at[row, :size] = np.arange(PLACES[name].start, PLACES[name].stop)
            there[row, :size] = True
        self._soft_at, self._soft_there = tensor(at), tensor(there)
        self._soft_weight = tensor([HEADS[name].weight for name in soft])
        self._soft = tensor(np.stack([data.labels[name] for name in soft], 1))
        self._columns, self._column_weight, self._known = {}, {}, {}
        for kind in ("sigmoid", "value"):
            names = of(kind)
            labels = np.concatenate([data.labels[name] for name in names], 1)
            self._columns[kind] = tensor(
                np.concatenate([np.arange(PLACES[n].start, PLACES[n].stop) for n in names])
            )
            scale = {n: 4.0 if kind == "value" else 1 / math.sqrt(HEADS[n].size) for n in names}
            weights = [[HEADS[n].weight * scale[n]] * HEADS[n].size for n in names]
            self._column_weight[kind] = tensor(np.concatenate(weights), dtype=torch.float32)
            self._known[kind] = tensor(labels)
        shipped = [name for name, head in HEADS.items() if head.shipped]
        kept = np.zeros(WIDTH, np.float32)
        for name in shipped:
            kept[PLACES[name]] = 1
        self._shipped = tensor(kept)
        self._shipped_soft = tensor([float(HEADS[name].shipped) for name in soft])
        self._taught = _taught(data, options, device)

    def __call__(self, logits: Tensor, index: Tensor) -> Tensor:
        spread = self._side_by_side(logits).log_softmax(-1)
        label = self._soft[index]
        right = spread.gather(-1, label.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        total = -(right * (label >= 0) * self._soft_weight).sum()
        for kind in ("sigmoid", "value"):
            total = total + self._by_column(kind, logits, self._known[kind][index])
        if self._taught is not None:
            total = total + self._copy * self._copied(logits, spread, self._taught[index].float())
        return total / len(index)

    def _side_by_side(self, logits: Tensor) -> Tensor:
        picked = logits.index_select(1, self._soft_at.flatten())
        shaped = picked.view(len(logits), *self._soft_at.shape)
        return shaped.masked_fill(~self._soft_there, -1e4)

    def _by_column(self, kind: str, logits: Tensor, label: Tensor, soft: bool = False) -> Tensor:
        guess = logits.index_select(1, self._columns[kind])
        known = ~label.isnan()
        filled = torch.where(known, label, 0.0)
        if kind == "sigmoid":
            loss = nn.functional.binary_cross_entropy_with_logits(guess, filled, reduction="none")
        else:
            loss = (guess - filled) ** 2
        weight = self._column_weight[kind]
        if soft:
            weight = weight * self._shipped[self._columns[kind]]
        return (loss * known * weight).sum()

    def _copied(self, logits: Tensor, spread: Tensor, taught: Tensor) -> Tensor:
        """How far a student is from its teachers' mean, on every row, for the shipped heads."""
        aim = self._side_by_side(taught).softmax(-1)
        total = -((aim * spread).sum(-1) * self._soft_weight * self._shipped_soft).sum()
        belief = taught[:, self._columns["sigmoid"]].sigmoid()
        total = total + self._by_column("sigmoid", logits, belief, soft=True)
        values = taught[:, self._columns["value"]]
        return total + self._by_column("value", logits, values, soft=True)


def is_silver(data: Data) -> np.ndarray[Any, Any]:
    return np.char.startswith(data.set, "silver")


def parts(groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which part a conversation belongs to: stable, and whole conversations together."""
    names, place = np.unique(groups, return_inverse=True)
    return np.array([zlib.crc32(name.encode()) % PARTS for name in names])[place]


def chosen(data: Data, options: argparse.Namespace) -> np.ndarray[Any, Any]:
    """The rows of one epoch, repeats included."""
    use = data.split == "train"
    if options.teachers:
        use |= data.split == "unlabelled"
    if options.fold:
        use &= ~np.char.startswith(data.group, HELD_OUT[options.fold])
    if options.part is not None:
        use &= ~(is_silver(data) & (parts(data.group) == options.part))
    if options.no_more:
        use &= data.set != "silver_more"
    if options.no_joined:
        use &= ~np.isin(data.set, ["silver_joined", "semeval2017_joined"])
    if options.rest < 1:
        rest = ~np.isin(
            data.set,
            ["silver", "silver_more", "silver_joined", "epitome", "mint", "semeval2018_ec"],
        )
        rng = np.random.default_rng(options.seed)
        use &= ~rest | (rng.random(len(use)) < options.rest)
    rows = [np.flatnonzero(use)]
    repeat = REPEAT | ({"epitome": options.epitome} if options.epitome else {})
    for name, times in repeat.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    silver = {
        "silver": options.silver,
        "silver_more": options.silver_more,
        "silver_joined": options.silver_joined,
    }
    for name, times in silver.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    return np.concatenate(rows)


def train(model: EiModel, data: Data, options: argparse.Namespace, device: torch.device) -> None:
    rng = np.random.default_rng(options.seed)
    criterion = Loss(data, options, device)
    encoder = list(model.encoder.parameters())
    heads = list(model.heads.parameters())
    groups = [{"params": encoder, "lr": options.lr}, {"params": heads, "lr": options.heads_lr}]
    fused = device.type == "cuda"
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=fused)
    epochs = [chosen(data, options) for _ in range(options.epochs)]
    steps = sum(math.ceil(len(rows) / options.batch) + 1 for rows in epochs)
    warm = max(1, int(0.06 * steps))

    def rate(step: int) -> float:
        if step < warm:
            return step / warm
        return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1, steps - warm))))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    began, done = time.time(), 0
    model.train()
    for epoch, rows in enumerate(epochs):
        total = torch.zeros((), device=device)
        for part in batches(rows, data.lengths, options.batch, rng):
            index, tokens, types, mask = data.batch(part, device)
            with torch.autocast(device.type, torch.bfloat16, enabled=fused):
                logits = model(tokens, types, mask)
            loss = criterion(logits.float(), index)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.detach()
            done += 1
            if options.limit and done >= options.limit:
                return
        rate_now = done * options.batch / (time.time() - began)
        print(
            f"{options.name} epoch {epoch + 1}: loss {total.item() / done * (epoch + 1):.3f} "
            f"({rate_now:,.0f} examples/s)",
            flush=True,
        )


def _taught(data: Data, options: argparse.Namespace, device: torch.device) -> Tensor | None:
    """The teachers' logits, averaged.

    Of teachers by part (x0, x1, x2, x3) only the one that has not seen a silver label speaks
    about its turn: the others would repeat the label, noise and all.
    """
    if not options.teachers:
        return None
    names = options.teachers.split(",")
    files = [np.load(options.out / f"{name}.npy") for name in names]
    mean = np.mean([file.astype(np.float32) for file in files], axis=0)
    if options.by_part:
        part, silver = parts(data.group), is_silver(data)
        for at, file in enumerate(files):
            rows = silver & (part == at)
            mean[rows] = file[rows]
    return torch.from_numpy(mean.astype(np.float16)).to(device)


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
        _, tokens, types, mask = data.batch(part, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            found.append(model(tokens, types, mask).float())
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
    add("--start", type=Path, help="weights of an earlier run to go on from")
    add("--epitome", type=int, help="times an epoch repeats EPITOME")
    add("--heads-lr", type=float, default=1e-3)
    add("--fold", choices=["A", "B"], help="hold out REALTALK chat 6 (A) or 2 (B)")
    add("--seed", type=int, default=0)
    add("--epochs", type=int, default=3)
    add("--batch", type=int, default=128)
    add("--lr", type=float, default=2e-4)
    add("--silver", type=int, default=4, help="times an epoch repeats the first silver file")
    add("--silver-more", type=int, default=3)
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

        model.load_state_dict({k: v.float() for k, v in load_file(options.start).items()})
    model.to(device)
    train(model, data, options, device)
    result: dict[str, Any] = {"options": {k: str(v) for k, v in vars(options).items()}}
    scored = np.flatnonzero(np.isin(data.split, ["dev", "test"]))
    if options.limit:
        scored = scored[:: max(1, len(scored) // 500)]
    found = by_head(predict(model, data, scored, device))
    labels = {name: values[scored] for name, values in data.labels.items()}
    result["public"] = public_scores(found, labels, data.set[scored], data.split[scored])
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
