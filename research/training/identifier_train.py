"""Texts of many languages → the small table by which `text.languages` tells them apart.

    python -m research.training.identifier_train --data ../shared/data
    → src/realtalk_models/languages/identifier.npz
    → src/realtalk_models/languages/card.md: the tables between its marks, from test parts

A linear classifier over hashed parts of words, trained on whole texts, on short spans of them and
on spans typed without accents, as people do in chats. Some minutes on two cores. --only-score
leaves the table as it is and measures again.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.text.languages import LanguageIdentifier, parts_of
from realtalk.text.words import amount, language_words, script_of
from research.training.card_tables import put_between
from research.training.identifier_data import learned, spans, tested

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "realtalk_models" / "languages" / "identifier.npz"
CARD = ROOT / "src" / "realtalk_models" / "languages" / "card.md"
BUCKETS = 1 << 15
BATCH = 1024
EVEN = 4000  # texts of a small language are repeated up to so many
STEPS = 24  # of a weight, to either side: few, so that the file is small
SHARE = 0.01  # of a language's texts in a script below which it is not written in it
LENGTHS = ((1, 2), (3, 5), (6, 11), (12, 10_000))
Array = np.ndarray[Any, Any]


class Places:
    """The parts of texts; each word's are looked up once."""

    def __init__(self) -> None:
        self._known: dict[str, Array] = {}

    def of(self, text: str) -> Array:
        found = []
        for word in language_words(text)[:80]:
            if word not in self._known:
                self._known[word] = parts_of(word, BUCKETS).astype(np.int32)
            found.append(self._known[word])
        return np.concatenate(found) if found else np.empty(0, np.int32)


def train(texts: list[Array], codes: Array, count: int, epochs: int) -> tuple[Array, Array]:
    import torch
    from torch import nn

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    table = nn.EmbeddingBag(BUCKETS, count, mode="sum")
    bias = nn.Parameter(torch.zeros(count))
    nn.init.zeros_(table.weight)
    optimizer = torch.optim.Adam([table.weight, bias], lr=0.02)
    steps = epochs * (len(texts) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: max(0.0, 1 - at / steps))
    for epoch in range(epochs):
        lost = 0.0
        order = rng.permutation(len(texts))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            sizes = np.array([len(texts[at]) for at in some])
            flat = torch.from_numpy(np.concatenate([texts[at] for at in some]).astype(np.int64))
            offsets = torch.from_numpy(np.cumsum(sizes) - sizes)
            scale = torch.from_numpy(1 / np.sqrt(sizes)).float()[:, None]
            logits = table(flat, offsets) * scale + bias
            loss = nn.functional.cross_entropy(
                logits, torch.from_numpy(codes[some]), label_smoothing=0.02
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            lost += float(loss.detach())
        print(f"epoch {epoch + 1}: {lost / max(1, len(order) // BATCH):.4f}", flush=True)
    return table.weight.detach().numpy(), bias.detach().numpy()


def written_in(texts: dict[str, list[str]]) -> tuple[list[str], Array]:
    """Scripts, and for each which languages are written in it."""
    shares: dict[str, Array] = {}
    for at, some in enumerate(texts.values()):
        scripts = [script for text in some if (script := script_of(language_words(text)))]
        for script in scripts:
            shares.setdefault(script, np.zeros(len(texts)))[at] += 1 / len(scripts)
    found = {script: share >= SHARE for script, share in sorted(shares.items())}
    found = {script: some for script, some in found.items() if some.any()}
    return list(found), np.array(list(found.values()))


def save(weights: Array, bias: Array, texts: dict[str, list[str]], path: Path) -> None:
    # A few large weights would make all steps coarse.
    scale = float(np.quantile(np.abs(weights[weights != 0]), 0.9995)) / STEPS
    whole = np.clip(np.rint(weights / scale), -STEPS, STEPS).astype(np.int8)
    scripts, written = written_in(texts)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        weights=whole,
        scale=np.float32(scale),
        bias=bias.astype(np.float32),
        languages=np.array(list(texts)),
        scripts=np.array(scripts),
        written=written,
    )
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {np.mean(whole == 0):.0%} zeros")


def scores(identifier: LanguageIdentifier, data: Path) -> str:
    """Tables of a card: by language, by kind of text, by length, and what is taken for what."""
    by_language: dict[str, list[bool]] = defaultdict(list)
    by_kind: dict[str, list[bool]] = defaultdict(list)
    by_length: dict[str, list[bool]] = defaultdict(list)
    wrong: dict[tuple[str, str], int] = defaultdict(int)
    for kind, texts in tested(data).items():
        for code in (code for code in texts if code in identifier.languages):
            for text in texts[code]:
                guess = identifier.guess(text)
                if guess is None:
                    continue
                right = guess.language == code
                by_language[code].append(right)
                by_kind[kind].append(right)
                size = sum(map(amount, language_words(text)))
                low, high = next(each for each in LENGTHS if each[0] <= size <= each[1])
                by_length[f"{low} to {high} words" if high < 99 else f"{low} words or more"].append(
                    right
                )
                if not right:
                    wrong[code, guess.language] += 1
    errors = sorted(wrong.items(), key=lambda each: -each[1])[:15]
    taken = ", ".join(f"{one} for {other} {n:,}" for (one, other), n in errors)
    mean = np.mean([np.mean(some) for some in by_language.values()])
    return "\n\n".join(
        (
            f"Mean over {len(by_language)} languages: {mean:.3f}.",
            _table("length of the text", _in_order(by_length)),
            _table("kind of text", by_kind.items()),
            _table("language", sorted(by_language.items())),
            f"Most often wrong (what it is for what it was taken for): {taken}.",
        )
    )


def _in_order(by_length: dict[str, list[bool]]) -> list[tuple[str, list[bool]]]:
    return sorted(by_length.items(), key=lambda each: int(each[0].split()[0]))


def _table(head: str, rows: Iterable[tuple[str, list[bool]]]) -> str:
    lines = [f"| {name} | {np.mean(some):.3f} | {len(some):,} |" for name, some in rows]
    return "\n".join((f"| {head} | right | n |", "|---|---|---|", *lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--only-score", action="store_true")
    options = parser.parse_args()
    if not options.only_score:
        rng = np.random.default_rng(0)
        found = learned(options.data)
        places, texts, codes = Places(), [], []
        for at, some in enumerate(found.values()):
            for text in some * max(1, round(EVEN / len(some))):
                for span in spans(text, rng):
                    parts = places.of(span)
                    if len(parts):
                        texts.append(parts)
                        codes.append(at)
        print(f"{len(texts):,} texts, {len(found)} languages", flush=True)
        weights, bias = train(texts, np.array(codes), len(found), options.epochs)
        save(weights, bias, found, options.out)
    told = scores(LanguageIdentifier(options.out), options.data)
    print(told)
    if options.out == TARGET:
        put_between(CARD, "scores", told)


if __name__ == "__main__":
    main()
