"""Trains the name tagger's branch over a frozen multilingual encoder, in the time given.

    python -m research.training.names_train --seconds 300 --save $OUT
    python -m research.training.names_train --branch names.safetensors --frozen 3 --budget 1024     (a CPU)

Batches are filled by pieces. Where a source does not mark a kind, a word without a mark may be of
it: the loss is of all tags that are possible. The dev part (3 %, by hash) chooses the weights: F1
of whole spans, the mean over languages. The branch is saved in 16 bits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from realtalk.encoders.weights import read_weights
from research.training.names_data import BUILD, KINDS, RESTRICTED, load, pack
from research.training.names_model import TAGS, NameTagger

HERE = Path(__file__).parent
LANGUAGES = HERE / "build" / "languages"
ENCODER = HERE.parents[1] / "src" / "realtalk_models" / "ei_multilingual"
LOOKED = 6  # times that the dev part is looked at


def model_of(options: argparse.Namespace) -> NameTagger:
    """A tagger over the encoder's embeddings: it begins as the encoder, or as a trained branch."""
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    config = BertConfig.from_json_file(str(options.config))
    stored = {
        name.removeprefix("encoder."): torch.from_numpy(values.copy())
        for name, values in read_weights(options.encoder / "model.onnx").items()
        if name.startswith("encoder.")
    }
    config.vocab_size = len(stored["embeddings.word_embeddings.weight"])
    # Many small products are slow on CPUs: the fused ones drop nothing.
    config._attn_implementation, config.attention_probs_dropout_prob = "sdpa", 0.0
    encoder = BertModel(config, add_pooling_layer=False)
    encoder.load_state_dict(stored)
    model = NameTagger(encoder, layers=options.layers)
    if options.branch:
        trained = {name: value.float() for name, value in load_file(str(options.branch)).items()}
        model.load_state_dict(trained, strict=False)
    for part in (*model.upper[: options.frozen], *([model.case] if options.frozen else ())):
        part.requires_grad_(False)
    return model


class Packed:
    """The packed rows on a device, in batches of like length."""

    def __init__(self, data: dict[str, Any], first: int, last: int, device: torch.device) -> None:
        self.sizes, self.dev, self.lang = data["sizes"].astype(int) + 2, data["dev"], data["lang"]
        tokens = data["tokens"].astype(np.int64)
        tokens[:, 0] = first
        tokens[np.arange(len(tokens)), self.sizes - 1] = last
        self.tokens = torch.from_numpy(tokens).to(device)
        self.tags = torch.from_numpy(data["tags"].astype(np.int64)).to(device)
        self.case = torch.from_numpy(data["case"].astype(np.int64)).to(device)
        self.open = torch.from_numpy(data["open"]).to(device)
        self.lengths = torch.from_numpy(self.sizes).to(device)

    def batches(self, rows: Any, budget: int, rng: Any) -> list[Any]:
        order = rows[np.argsort(self.sizes[rows] + rng.random(len(rows)), kind="stable")]
        made, start = [], 0
        while start < len(order):
            size = max(1, budget // int(self.sizes[order[min(start + 64, len(order) - 1)]]))
            made.append(order[start : start + size])
            start += size
        return [made[at] for at in rng.permutation(len(made))]

    def batch(self, rows: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        width = int(self.sizes[rows].max())
        index = torch.from_numpy(rows).to(self.tokens.device)
        mask = torch.arange(width, device=index.device)[None] < self.lengths[index][:, None]
        return (
            self.tokens[index, :width], self.case[index, :width], mask,
            self.tags[index, :width], self.open[index],
        )  # fmt: skip


def loss_of(logits: Tensor, tags: Tensor, opened: Tensor) -> Tensor:
    """Minus the log of the chance of all tags that are possible."""
    logs = logits.float().log_softmax(-1)
    possible = torch.nn.functional.one_hot(tags.clamp(min=0), TAGS).bool()
    wide = torch.cat([opened.new_zeros(len(opened), 1), opened.repeat_interleave(2, 1)], 1)
    possible |= (tags == 0)[..., None] & wide[:, None, :]
    each = -logs.masked_fill(~possible, -1e4).logsumexp(-1)
    marked = tags >= 0
    # Pieces of names are few: they weigh twice.
    weight = marked * (1.0 + (tags > 0))
    return (each * weight).sum() / weight.sum().clamp(min=1)


def spans(tags: Any) -> set[tuple[int, int, int]]:
    found, start, kind = set(), -1, -1
    for at, tag in enumerate([*tags, 0]):
        here, begins = (int(tag) - 1) // 2, int(tag) % 2 == 1
        goes_on = tag > 0 and not begins and here == kind
        if start >= 0 and not goes_on:
            found.add((start, at, kind))
            start, kind = -1, -1
        if tag > 0 and start < 0:
            start, kind = at, here
    return found


@torch.no_grad()
def score(model: NameTagger, data: Packed, rows: Any, budget: int) -> dict[str, float]:
    """F1 of whole spans by language and kind; kinds that a row leaves open do not count."""
    model.eval()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for part in data.batches(rows, budget, np.random.default_rng(0)):
        tokens, case, mask, tags, opened = data.batch(part)
        found = model(tokens, case, mask).argmax(-1).cpu().numpy()
        true, skipped = tags.cpu().numpy(), opened.cpu().numpy()
        for at, row in enumerate(part):
            size = int(data.sizes[row]) - 1
            marks = true[at, 1:size]
            said = {
                s
                for s in spans(found[at, 1:size])
                if not skipped[at, s[2]] and (marks[s[0] : s[1]] >= 0).all()
            }
            gold = spans(marks)
            for key in (f"lang {data.lang[row]}", "all"):
                for place, count in enumerate((len(said & gold), len(said), len(gold))):
                    counts[key][place] += count
            for kind, name in enumerate(KINDS):
                ours, theirs = ({s for s in some if s[2] == kind} for some in (said, gold))
                for place, count in enumerate((len(ours & theirs), len(ours), len(theirs))):
                    counts[name][place] += count
    model.train()
    f1 = {key: 2 * a / max(1, b + c) for key, (a, b, c) in counts.items()}
    langs = [value for key, value in f1.items() if key.startswith("lang ")]
    return {"mean": sum(langs) / max(1, len(langs)), **f1}


def train(model: NameTagger, data: Packed, options: argparse.Namespace) -> dict[str, Any]:
    device = data.tokens.device
    rng = np.random.default_rng(options.seed)
    rows, dev = np.flatnonzero(~data.dev), np.flatnonzero(data.dev)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=options.lr, weight_decay=0.01)
    began, looked, steps = time.time(), 0, 0
    best: dict[str, Any] = {"mean": -1.0}
    weights: dict[str, Tensor] = {}

    def share() -> float:
        return (time.time() - began) / options.seconds

    def look() -> None:
        nonlocal best, weights
        scores = score(model, data, dev, options.budget)
        brief = {k: round(v, 3) for k, v in scores.items() if not k.startswith("lang ")}
        print(f"{share():.0%} step {steps} {json.dumps(brief)}", flush=True)
        if scores["mean"] > best["mean"]:
            best = scores
            weights = {name: value.detach().clone() for name, value in model.branch().items()}

    model.train()
    while share() < 1:
        for part in data.batches(rng.permutation(rows), options.budget, rng):
            rate = min(1.0, (steps + 1) / 100) * max(0.0, 1 - share())
            for group in optimizer.param_groups:
                group["lr"] = options.lr * rate
            tokens, case, mask, tags, opened = data.batch(part)
            on_gpu = device.type == "cuda"  # a CPU may have no fast 16 bits
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=on_gpu):
                logits = model(tokens, case, mask)
            loss = loss_of(logits, tags, opened)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            steps += 1
            if share() >= 1:
                break
            if share() >= (looked + 1) / LOOKED:
                looked = int(share() * LOOKED)
                look()
    look()
    model.load_state_dict(weights, strict=False)
    return {"best": best, "steps": steps, "seconds": round(time.time() - began, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=BUILD / "rows.jsonl.xz")
    add("--encoder", type=Path, default=ENCODER, help="a folder with model.onnx, tokenizer.json")
    add("--config", type=Path, default=LANGUAGES / "config.json", help="of the encoder's body")
    add("--branch", type=Path, help="a trained tagger to go on from")
    add("--layers", type=int, help="so many of the encoder's layers, from below")
    add("--frozen", type=int, default=0, help="lower layers that stay as they are")
    add("--seconds", type=float, default=220)
    add("--budget", type=int, default=16_384, help="pieces of a batch")
    add("--lr", type=float, default=1e-3)
    add("--seed", type=int, default=0)
    add(
        "--open", action="store_true", help="without sets of narrower terms (names_data.RESTRICTED)"
    )
    add("--limit", type=int, default=0, help="so many rows only")
    add("--save", type=Path, default=BUILD)
    options = parser.parse_args()
    from safetensors.torch import save_file
    from tokenizers import Tokenizer

    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.time()
    tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
    rows = load(options.data)
    if options.open:
        rows = [row for row in rows if row.get("src") not in RESTRICTED]
    packed = pack(rows[: options.limit] if options.limit else rows, tokenizer)
    first, last = (tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
    data = Packed(packed, first, last, device)
    model = model_of(options).to(device)
    print(f"{len(data.sizes):,} rows packed after {time.time() - began:.0f} s", flush=True)
    result = train(model, data, options)
    result["options"] = {name: str(value) for name, value in vars(options).items()}
    options.save.mkdir(parents=True, exist_ok=True)
    branch = {name: value.half().cpu().contiguous() for name, value in model.branch().items()}
    save_file(branch, str(options.save / "names.safetensors"))
    (options.save / "names.json").write_text(json.dumps(result, indent=1))
    size = (options.save / "names.safetensors").stat().st_size / 1e6
    print(f"names.safetensors {size:.1f} MB, {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
