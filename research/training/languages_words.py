"""The table of words beside the multilingual encoder: labels → rows of word_table.py.

    python -m research.training.languages_words --encoder build/languages/model --emotions e0.npy e1.npy
    → build/languages/words.npz: whole numbers, scales, and which column each output gets

It learns alone, from labels and from what language models say of emotions (languages_emotions.py):
beside an encoder that knows the train parts by heart there would be nothing left to learn. Which
share of it is added to each head is chosen on dev parts and on held-out chats. Four minutes on
two cores.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import cohen_kappa_score
from torch import Tensor, nn

from research.training.ei_export import built
from research.training.ei_heads import places
from research.training.languages_data import load
from research.training.languages_heads import HEADS, PLACES, WIDTH
from research.training.languages_labels import SET as RUBRIC
from research.training.languages_measures import cuts_by_language, f1_by_language
from research.training.languages_rows import LanguageData
from research.training.languages_train import of_emotions
from research.training.languages_vocab import OUT
from research.training.languages_weights import shipped, smallest_numbers
from research.training.word_table import WordTable

HEARD = {"sentiment": RUBRIC, "emotion": RUBRIC, "tweet_sentiment": "umsab", "brighter": "brighter"}
COLUMNS = places({name: HEADS[name] for name in HEARD})
SHARES = (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3)
TAUGHT = 0.5  # weight of what language models say beside a label
LESS = 1e-7  # weight of the squares: rare words stay near nothing
RATE = 0.02
ROWS = 1024  # of a step
NEAR = 0.0015  # of two shares that score alike the smaller one is taken
SAME_WRITER = 0.5  # held-out chats have the words of those that were learned: half is believed
HALVES = 5  # times that dev parts are halved: cuts from one half, scores from the other
Array = np.ndarray[Any, Any]


class Lesson:
    """Rows to learn from, and the loss of some of them."""

    def __init__(self, data: LanguageData, emotions: Array | None) -> None:
        train = data.split == "train"
        self.labels = {name: torch.from_numpy(data.labels[name]) for name in HEARD}
        self.taught = torch.full((len(train), HEADS["brighter"].size), torch.nan)
        if emotions is not None:
            self.taught = torch.from_numpy(emotions).float().sigmoid()
        known = ~self.taught.isnan().all(1)
        self.weights = {}
        for name, labels in self.labels.items():
            if HEADS[name].kind != "softmax":
                known |= ~labels.isnan().all(1)
                continue
            known |= labels >= 0
            counts = torch.bincount(labels[(labels >= 0) & torch.from_numpy(train)])
            self.weights[name] = (counts.sum() / counts / len(counts)).sqrt()
        self.rows = np.flatnonzero(train & known.numpy())

    def loss(self, said: Tensor, index: Tensor) -> Tensor:
        total = said.new_zeros(())
        for name, place in COLUMNS.items():
            guess, label = said[:, place], self.labels[name][index]
            if HEADS[name].kind == "softmax":
                total = total + nn.functional.cross_entropy(
                    guess, label, self.weights[name], ignore_index=-1, reduction="sum"
                )
                continue
            for aim, weight in ((label, 1.0), (self.taught[index], TAUGHT)):
                there = ~aim.isnan()
                each = nn.functional.binary_cross_entropy_with_logits(
                    guess, torch.where(there, aim, 0.0), reduction="none"
                )
                total = total + weight * (each * there).sum()
        return total / len(index)


def learn(words: WordTable, data: LanguageData, lesson: Lesson, epochs: int) -> None:
    for seed in range(epochs):
        rng = np.random.default_rng(seed)
        optimizer = torch.optim.Adam([words.table.weight], lr=RATE)
        order = rng.permutation(lesson.rows)
        order = order[np.argsort(data.lengths[order] // 16, kind="stable")]
        parts = [order[at : at + ROWS] for at in range(0, len(order), ROWS)]
        losses = []
        for at in rng.permutation(len(parts)):
            index = torch.from_numpy(parts[at])
            tokens, own, _ = data.batch(index, data.width(parts[at]))
            loss = lesson.loss(words.summed(tokens, own), index)
            optimizer.zero_grad()
            (loss + LESS * (words.table.weight**2).sum()).backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        print(f"epoch {seed + 1}: loss {np.mean(losses):.4f}", flush=True)


@torch.no_grad()
def said(
    model: nn.Module, words: WordTable, data: LanguageData, rows: Array
) -> tuple[Array, Array]:
    """Of each row what the encoder's heads say, and what its words do."""
    heads, sums = np.empty((len(rows), WIDTH), np.float32), []
    order = np.argsort(data.lengths[rows], kind="stable")
    for part in np.array_split(order, max(1, len(rows) // 32)):
        index = torch.from_numpy(rows[part])
        tokens, own, mask = data.batch(index, data.width(rows[part]))
        heads[part] = model(tokens, own, mask).numpy()
        sums.append(words.summed(tokens, own).numpy())
    beside = np.empty((len(rows), sums[0].shape[1]), np.float32)
    beside[order] = np.concatenate(sums)
    return heads, beside


def score(name: str, logits: Array, labels: Array, langs: Array) -> float:
    """The mean over languages: kappa, or F1 with cuts from the other half of the dev part."""
    if HEADS[name].kind == "softmax":
        answers = logits.argmax(1)
        by = [cohen_kappa_score(labels[langs == g], answers[langs == g]) for g in np.unique(langs)]
        return float(np.nanmean(by))
    found = []
    for seed in range(HALVES):
        half = np.random.default_rng(seed).random(len(langs)) < 0.5
        for one, other in ((half, ~half), (~half, half)):
            cuts = cuts_by_language(logits[one], labels[one], langs[one])
            found += f1_by_language(logits[other], labels[other], langs[other], cuts).values()
    return float(np.nanmean(found))


def choose(heads: Array, beside: Array, data: LanguageData, rows: Array) -> dict[str, float]:
    """Per head the share of the table that dev parts prefer."""
    shares = {}
    for name, where in HEARD.items():
        labels = data.labels[name][rows]
        known = labels >= 0 if labels.ndim == 1 else ~np.isnan(labels).all(1)
        known &= data.set[rows] == where
        langs = data.lang[rows][known]
        base, more = heads[known, PLACES[name]], beside[known, COLUMNS[name]]
        scores = [score(name, base + share * more, labels[known], langs) for share in SHARES]
        near = (s for s, v in zip(SHARES, scores, strict=True) if v > max(scores) - NEAR)
        shares[name] = next(near) * (SAME_WRITER if where == RUBRIC else 1)
        told = " ".join(f"{s}: {v:.4f}" for s, v in zip(SHARES, scores, strict=True))
        print(f"{name} ({known.sum():,} rows) {told}", flush=True)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=OUT / "data.npz.xz")
    add("--encoder", type=Path, default=OUT / "model", help="beside which shares are chosen")
    add("--config", type=Path, default=OUT / "config.json")
    add("--emotions", type=Path, nargs="+", help="what languages_emotions.py made")
    add("--epochs", type=int, default=3)
    add("--out", type=Path, default=OUT / "words.npz")
    options = parser.parse_args()
    data = LanguageData(load(options.data), torch.device("cpu"))
    emotions = of_emotions(options.emotions, len(data.lengths)) if options.emotions else None
    lesson = Lesson(data, emotions)
    print(f"{len(lesson.rows):,} rows to learn from", flush=True)
    words = WordTable(data.vocabulary, max(place.stop for place in COLUMNS.values()), WIDTH)
    learn(words, data, lesson, options.epochs)
    rows = np.flatnonzero((data.split == "dev") & np.isin(data.set, list(HEARD.values())))
    model = built(shipped(options.encoder), options.config).eval()
    shares = choose(*said(model, words, data, rows), data, rows)
    table = words.table.weight.detach().numpy()
    for name, place in COLUMNS.items():
        table[:, place] *= shares[name]
        words.place[PLACES[name]] = torch.arange(place.start, place.stop)
    whole, scale = smallest_numbers(table)
    np.savez_compressed(options.out, whole=whole, scale=scale, place=words.place.numpy())
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB, {shares}")


if __name__ == "__main__":
    main()
