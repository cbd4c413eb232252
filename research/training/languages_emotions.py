"""A language model as teacher of BRIGHTER's six emotions: texts → what it says of every row.

    python -m research.training.languages_data --texts build/languages/texts.jsonl.xz
    python -m research.training.languages_emotions --base QWEN-1.5B --part 0 --out build/languages
    → emotions0.npy    rows × 6, logits; not a number where it says nothing

    {"row": 812, "lang": "pt-BR", "split": "train", "part": 1, "text": "…", "labels": [1, 0, …]}

The encoder learns two thousand Brazilian posts by heart and finds a third of the rare emotions in
others. A model that has read the language needs fewer. With an adapter it learns the labelled
rows but those of its `--part`; then it reads these, and all rows without labels. So of two
teachers, each says of a labelled row only what it did not learn (`languages_train.py --emotions`).
Needs torch, transformers and peft, and `src` on the path.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from realtalk.persona.generation import PretrainedModel, library, load
from research.training.languages_measures import cuts_by_language, f1_by_language

BUILD = Path(__file__).parent / "build" / "languages"
LONGEST = 128  # tokens of a text
ASKED = "\nEmotions of who wrote this:"  # the last token's vector is read
EMOTIONS = 6
Row = dict[str, Any]
Array = np.ndarray[Any, Any]


class Teacher(nn.Module):
    """A language model's body with an adapter, and a linear layer over the last token."""

    def __init__(self, base: PretrainedModel, rank: int) -> None:
        super().__init__()
        peft = library("peft")
        config = peft.LoraConfig(
            r=rank, lora_alpha=2 * rank, lora_dropout=0.05, target_modules="all-linear"
        )
        self.body = peft.get_peft_model(base.model.model, config)
        self.head = nn.Linear(base.model.config.hidden_size, EMOTIONS)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        hidden = self.body(input_ids=tokens, attention_mask=mask).last_hidden_state[:, -1]
        return self.head(hidden.float())  # type: ignore[no-any-return]


class Texts:
    """Rows as tokens, padded on the left, so that the last place is always read."""

    def __init__(self, rows: Sequence[Row], base: PretrainedModel, budget: int) -> None:
        tokenizer = base.tokenizer
        end = tokenizer(ASKED, add_special_tokens=False)["input_ids"]
        encoded = tokenizer([row["text"] for row in rows], add_special_tokens=False)["input_ids"]
        self.ids = [each[:LONGEST] + end for each in encoded]
        self.rows, self._budget, self._device = rows, budget, base.device
        blank = [float("nan")] * EMOTIONS
        told = [row["labels"] or blank for row in rows]
        self.labels = np.array([[np.nan if x is None else x for x in each] for each in told])

    def batches(self, which: Sequence[int], rng: random.Random | None) -> Iterator[list[int]]:
        """Rows of about one length; in random order where they are to be learned."""
        order = list(which)
        if rng:
            rng.shuffle(order)
        order.sort(key=lambda at: len(self.ids[at]) // (8 if rng else 1))
        found: list[list[int]] = [[]]
        for at in order:
            if (len(found[-1]) + 1) * len(self.ids[at]) > self._budget:
                found.append([])
            found[-1].append(at)
        if rng:
            rng.shuffle(found)
        yield from filter(None, found)

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        width = max(len(self.ids[at]) for at in batch)
        tokens = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(tokens)
        for place, at in enumerate(batch):
            tokens[place, width - len(self.ids[at]) :] = self.ids[at]
            mask[place, width - len(self.ids[at]) :] = 1
        return tuple(torch.from_numpy(each).to(self._device) for each in (tokens, mask))  # type: ignore[return-value]


def learn(teacher: Teacher, texts: Texts, rows: Sequence[int], given: argparse.Namespace) -> None:
    rng = random.Random(given.part)
    plan = [batch for _ in range(given.epochs) for batch in texts.batches(rows, rng)]
    learned = [each for each in teacher.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=given.learning_rate, weight_decay=0.01)
    warm = max(1, len(plan) // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min((at + 1) / warm, (len(plan) - at) / max(1, len(plan) - warm))
    )
    began, tokens_read = time.perf_counter(), 0
    teacher.train()
    for at, batch in enumerate(plan):
        tokens, mask = texts.tensors(batch)
        labels = torch.from_numpy(texts.labels[batch]).to(tokens.device)
        with torch.autocast(tokens.device.type, torch.bfloat16):
            logits = teacher(tokens, mask)
        known = ~labels.isnan()
        loss = nn.functional.binary_cross_entropy_with_logits(
            logits.float()[known], labels[known].float()
        )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        schedule.step()
        tokens_read += tokens.numel()
        if at % 50 == 0:
            pace = tokens_read / (time.perf_counter() - began)
            say(f"{at} of {len(plan)} steps, loss {loss.item():.3f}, {pace:,.0f} tokens/s")


@torch.no_grad()
def said(teacher: Teacher, texts: Texts, rows: Sequence[int]) -> Array:
    """Logits for these rows; not a number for the others."""
    found = np.full((len(texts.rows), EMOTIONS), np.nan, np.float32)
    teacher.eval()
    for batch in texts.batches(rows, None):
        tokens, mask = texts.tensors(batch)
        with torch.autocast(tokens.device.type, torch.bfloat16):
            found[batch] = teacher(tokens, mask).float().cpu().numpy()
    return found


def tell_dev(texts: Texts, logits: Array) -> None:
    """F1 of dev parts by language, at their own best cuts: too good, for comparing teachers."""
    dev = [at for at, row in enumerate(texts.rows) if row["split"] == "dev"]
    langs = np.array([texts.rows[at]["lang"] for at in dev])
    labels, values = texts.labels[dev], logits[dev]
    scores = f1_by_language(values, labels, langs, cuts_by_language(values, labels, langs))
    say("dev " + " ".join(f"{lang} {score:.3f}" for lang, score in sorted(scores.items())))


def read(path: Path) -> list[Row]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--texts", type=Path, default=BUILD / "texts.jsonl.xz")
    parser.add_argument("--base", type=Path, required=True, help="a model's folder")
    parser.add_argument("--part", type=int, required=True, help="labelled rows it does not learn")
    parser.add_argument("--out", type=Path, default=BUILD)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--budget", type=int, default=8192, help="tokens of a batch")
    parser.add_argument("--limit", type=int, help="rows per set and language, to try it out")
    given = parser.parse_args()
    torch.manual_seed(given.part)
    rows = read(given.texts)
    size = 1 + max(row["row"] for row in rows)
    if given.limit:
        seen: dict[tuple[str, bool, str], int] = defaultdict(int)
        some = []
        for row in rows:
            kind = (row["lang"], row["labels"] is None, row["split"])
            seen[kind] += 1
            if seen[kind] <= given.limit:
                some.append(row)
        rows = some
    base = load(given.base)
    texts = Texts(rows, base, given.budget)
    say(f"{len(rows):,} texts, {sum(map(len, texts.ids)):,} tokens, {base.title} on {base.device}")
    learned = [
        at
        for at, row in enumerate(rows)
        if row["labels"] and row["split"] == "train" and row["part"] != given.part
    ]
    teacher = Teacher(base, given.rank).to(base.device)
    learn(teacher, texts, learned, given)
    known = set(learned)
    logits = said(teacher, texts, [at for at in range(len(rows)) if at not in known])
    tell_dev(texts, logits)
    found = np.full((size, EMOTIONS), np.nan, np.float16)
    found[[row["row"] for row in rows]] = logits.astype(np.float16)
    given.out.mkdir(parents=True, exist_ok=True)
    np.save(given.out / f"emotions{given.part}.npy", found)


if __name__ == "__main__":
    main()
