"""Trains the name tagger over an open table of pieces, in the time given.

    python -m research.training.names_train --data rows.npz --table table.safetensors \
        --body layers.safetensors --config config.json --seconds 400 --save FOLDER

`--data` is what names_rows.py packed; `--table` has `rows` [65536, R] and `projection` [R, 384];
`--body` is a BERT in safetensors, `--config` its shape. Batches are filled by pieces. Where a
source does not mark a kind, a word without a mark may be of it: the loss is of all tags that are
possible. A part of the rows is read as if it were in small letters, some pieces as unknown ones.
What is saved is the mean of weights over the last steps: names.safetensors in 16 bits, the numbers
of pieces that are its own in 8 bits (pieces.safetensors), and names.json: F1 of whole spans on the
dev part, by language and source, and how many rows of each set were learned from.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.training.languages_vocab import FIRST, LAST
from research.training.languages_weights import smallest_numbers
from research.training.names_chats import OWN
from research.training.names_data import BUILD, KINDS
from research.training.names_model import TAGS, NameTagger

LOOKED = 3  # times that the dev part is looked at
SMALL = 0.25  # of rows that are read in small letters
KEPT = 0.999  # of the mean of weights in a step
UNKNOWN = 1  # the piece for what has none


def table_of(path: Path) -> tuple[Tensor, Tensor]:
    """Rows as their 8 bits say, and the projection."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            found = {name: torch.from_numpy(file[name]) for name in file.files}
    else:
        from safetensors.torch import load_file

        found = load_file(str(path))
    rows = found["rows"]
    if rows.dtype == torch.int8:
        rows = rows.float() * found["scales"].float()[:, None]
    else:
        whole, scales = smallest_numbers(rows.float().numpy())
        rows = torch.from_numpy(whole.astype(np.float32) * scales.reshape(-1, 1))
    return rows, found["projection"].float()


def body_of(path: Path, config_path: Path, attention: str = "sdpa") -> Any:
    """A BERT without its table of words."""
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    file = path / "model.safetensors" if path.is_dir() else path
    config = BertConfig.from_json_file(str(config_path))
    # Many small products are slow on CPUs: the fused ones drop nothing.
    config.vocab_size, config._attn_implementation = 16, attention
    config.attention_probs_dropout_prob = 0.0
    weights = {
        name.removeprefix("model.").removeprefix("bert."): value.float()
        for name, value in load_file(str(file)).items()
    }
    if any(name.startswith("encoder.encoder.") for name in weights):
        weights = {name.removeprefix("encoder."): value for name, value in weights.items()}
    config.num_hidden_layers = 1 + max(
        int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")
    )
    body = BertModel(config, add_pooling_layer=False)
    own = {name: value for name, value in weights.items() if "word_embeddings" not in name}
    missing, _ = body.load_state_dict(own, strict=False)
    lost = [name for name in missing if "word_embeddings" not in name and "_ids" not in name]
    if lost:
        raise SystemExit(f"{file} lacks {lost[:3]}")
    return body


class Packed:
    """The packed rows on a device, in batches of like length."""

    def __init__(self, data: dict[str, Any], first: int, last: int, device: torch.device) -> None:
        self.sizes, self.dev, self.lang = data["sizes"].astype(int) + 2, data["dev"], data["lang"]
        self.source = data["src"]
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
            of = data.source[row] if data.source[row] in (*OWN, "generated") else "others"
            for key in (f"lang {data.lang[row]}", f"of {of}", f"{of} {data.lang[row]}", "all"):
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


def drawn(tokens: Tensor, case: Tensor, mask: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Some rows in small letters, some pieces unknown."""
    device = tokens.device
    small = (torch.rand(len(case), 1, device=device) < SMALL) & (case > 1) & (case < 5)
    unseen = (torch.rand(tokens.shape, device=device) < share) & mask
    unseen[:, 0] = False
    return tokens.masked_fill(unseen, UNKNOWN), case.masked_fill(small, 1)


def train(model: NameTagger, data: Packed, options: argparse.Namespace) -> dict[str, Any]:
    device = data.tokens.device
    rng = np.random.default_rng(options.seed)
    dev, of_chats = np.flatnonzero(data.dev), np.isin(data.source, OWN)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(
        learned, lr=options.lr, weight_decay=0.01, fused=device.type == "cuda"
    )
    mean = [each.detach().clone() for each in learned]
    began, looked, steps = time.time(), 0, 0
    scores: dict[str, float] = {}

    def share() -> float:
        return (time.time() - began) / options.seconds

    def look() -> None:
        """The mean of weights on the dev part."""
        nonlocal scores
        now = [each.detach().clone() for each in learned]
        _put(learned, mean)
        scores = score(model, data, dev, options.budget)
        _put(learned, now)
        brief = {k: round(v, 3) for k, v in scores.items() if k in KINDS or k.startswith("of ")}
        print(f"{share():.0%} step {steps} {json.dumps(brief)}", flush=True)

    model.train()
    while share() < 1:
        # Messages of chats come many times, with other names: all of them would be learned by heart.
        read = ~data.dev & (~of_chats | (rng.random(len(of_chats)) < options.chats))
        rows = rng.permutation(np.flatnonzero(read))
        for part in data.batches(rows, options.budget, rng):
            rate = min(1.0, (steps + 1) / 300) * max(0.0, 1 - share())
            for group in optimizer.param_groups:
                group["lr"] = options.lr * rate
            tokens, case, mask, tags, opened = data.batch(part)
            on_gpu = device.type == "cuda"  # a CPU may have no fast 16 bits
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=on_gpu):
                logits = model(*drawn(tokens, case, mask, options.unseen), mask)
            loss = loss_of(logits, tags, opened)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            steps += 1
            kept = min(KEPT, (1 + steps) / (10 + steps))
            with torch.no_grad():
                torch._foreach_lerp_(mean, learned, 1 - kept)
            if share() >= 1 or steps == options.steps:
                break
            if share() >= (looked + 1) / LOOKED:
                looked = int(share() * LOOKED)
                look()
        if steps == options.steps:
            break
    look()
    _put(learned, mean)
    return {"scores": scores, "steps": steps, "seconds": round(time.time() - began, 1)}


@torch.no_grad()
def _put(parameters: list[Any], values: list[Tensor]) -> None:
    for each, value in zip(parameters, values, strict=True):
        each.copy_(value)


def saved(model: NameTagger, folder: Path) -> None:
    """Everything but the table; the numbers of pieces that are its own by themselves."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.half().cpu().contiguous()
        for name, value in model.state_dict().items()
        if name not in ("rows", "own.weight")
    }
    save_file(weights, str(folder / "names.safetensors"))
    whole, scales = smallest_numbers(model.own.weight.detach().float().cpu().numpy())
    pieces = {
        "rows": torch.from_numpy(whole),
        "scales": torch.from_numpy(scales.astype(np.float32)),
    }
    save_file(pieces, str(folder / "pieces.safetensors"))


def restored(model: NameTagger, folder: Path) -> None:
    """The weights that `saved` wrote."""
    from safetensors.torch import load_file

    weights = {n: v.float() for n, v in load_file(str(folder / "names.safetensors")).items()}
    pieces = load_file(str(folder / "pieces.safetensors"))
    weights["own.weight"] = pieces["rows"].float() * pieces["scales"].reshape(-1, 1)
    model.load_state_dict(weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=BUILD / "rows.npz")
    add("--table", type=Path, required=True)
    add("--body", type=Path, required=True)
    add("--config", type=Path, required=True)
    add("--branch", type=Path, help="a folder with a trained tagger to go on from")
    add("--layers", type=int, default=3, help="so many of the body's layers, from below")
    add("--own", type=int, default=16, help="numbers of a piece that are the tagger's own")
    add("--seconds", type=float, default=400)
    add("--steps", type=int, default=0, help="at most so many")
    add("--budget", type=int, default=16_384, help="pieces of a batch")
    add("--lr", type=float, default=1e-3)
    add("--chats", type=float, default=1.0, help="part of the chats' rows that an epoch reads")
    add("--unseen", type=float, default=0.04, help="part of the pieces that is read as unknown")
    add("--seed", type=int, default=0)
    add("--limit", type=int, default=0, help="so many rows only")
    add("--save", type=Path, default=BUILD)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.time()
    with np.load(options.data) as file:
        packed = {name: file[name][: options.limit or None] for name in file.files}
    data = Packed(packed, FIRST, LAST, device)
    rows, projection = table_of(options.table)
    model = NameTagger(
        rows, projection, body_of(options.body, options.config), options.layers, options.own
    )
    if options.branch:
        restored(model, options.branch)
    model = model.to(device)
    print(f"{len(data.sizes):,} rows after {time.time() - began:.0f} s", flush=True)
    result = train(model, data, options)
    result["sets"] = dict(Counter(map(str, data.source[~data.dev])))
    result["options"] = {name: str(value) for name, value in vars(options).items()}
    saved(model, options.save)
    (options.save / "names.json").write_text(json.dumps(result, indent=1))
    print(f"saved after {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
