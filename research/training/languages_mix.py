"""Labels in many languages → the last linear map of the multilingual encoder, and figures.

    python -m research.training.languages_mix --model FOLDER --json rubric.json
    → FOLDER/mix.npz      the rubric's heads and the tweets' as sums of all shipped outputs
      rubric.json         agreement by language: with turns of public sets, and of chats of our own

The English cuts do not fit: they were set on chats where every fourth turn grounds, and in other
languages an output is lower where the encoder is less sure. What a rubric head says here is its own
output times a factor, plus a little of every other output, plus a constant. `PULL` keeps the sums
small. It is fitted to labels that the encoder has not learned from: held-out chats (chats/) and the
turns of languages/labels.jsonl; figures with the latter come from maps that saw none of those of
the language. The chats of languages/chats are never learned from. Tweets' heads are fitted to dev
parts (UMSAB; every tenth train row of MINT, which has none). languages_export.py folds it into the
heads, so nothing of it is left at run time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.metrics import cohen_kappa_score

from realtalk.encoders.pairs import PairEncoder, answer_columns
from research.training.ei_score import pearson
from research.training.languages_heads import MIXED_ANSWERS
from research.training.languages_labels import (
    PARTS,
    TEST,
    TEST_CHATS,
    Labelled,
    in_chats,
    in_marked,
    in_sets,
    joined,
)
from research.training.languages_score import Row, figure, floors, mean_of
from research.training.languages_sources import labelled as labelled_sets

HERE = Path(__file__).parent
PULL = 0.003  # towards no sums: by languages left out of the labels that are learned from
TWEETS_PULL = 0.1
HELD = 0.01  # the factor's, towards one
TWEETS = ("tweet_sentiment", "tweet_intimacy")
HEADS = ("reflective", "grounding", "sentiment", "emotion", "intimacy", *PARTS)
Array = np.ndarray[Any, Any]


def tweets(data: Path, head: str) -> tuple[list[tuple[str, str]], Array]:
    """Dev rows of a public set, and what they are labelled with."""
    name = {"tweet_sentiment": "umsab", "tweet_intimacy": "mint"}[head]
    rows = [each for each in labelled_sets(data, "dev") if each.set == name]
    return [("", each.text) for each in rows], np.array([each.labels[head] for each in rows])


def own(outputs: Array, head: str, settings: dict[str, Any]) -> Array:
    """A head's output as the English encoder's settings join it with the tweets' head."""
    places, shares = settings["places"], settings["answers"]
    found = outputs[:, slice(*places[head])].astype(float)
    if head in ("sentiment", "emotion", "intimacy"):
        mine, tweets = shares[head]
        found = mine * found + tweets * outputs[:, slice(*places[f"tweet_{head}"])]
        return np.asarray(found / (mine + tweets if head == "intimacy" else 1))
    return found


@dataclass(frozen=True)
class Mix:
    """A head as factor × its own output + outputs @ weights + constant."""

    factor: float
    weights: Array
    constant: Array

    def __call__(self, mine: Array, outputs: Array) -> Array:
        return np.asarray(self.factor * mine + outputs @ self.weights + self.constant)


def fitted(mine: Array, outputs: Array, truth: Array, head: str, pull: float = PULL) -> Mix:
    """The map that explains these labels best without being large."""
    mean, spread = outputs.mean(0), outputs.std(0).clip(1e-3)
    scaled = (outputs - mean) / spread
    width, size = mine.shape[1], scaled.shape[1]
    is_level = head.endswith("intimacy")
    one_hot = truth[:, None] if is_level else np.eye(max(width, 2))[truth]

    def parts(x: Array) -> tuple[float, Array, Array]:
        return x[0], x[1 : 1 + width], x[1 + width :].reshape(size, width)

    def loss(x: Array) -> tuple[float, Array]:
        log_factor, constant, weights = parts(x)
        factor = np.exp(log_factor)
        out = factor * mine + scaled @ weights + constant
        if is_level:
            apart = out - one_hot
            value, slope = 10 * np.mean(apart**2), 20 * apart / len(out)
        else:
            both = np.hstack([np.zeros_like(out), out]) if width == 1 else out
            value = -np.mean((one_hot * log_softmax(both, axis=1)).sum(1))
            slope = (softmax(both, axis=1) - one_hot)[:, -width:] / len(out)
        value += pull * np.sum(weights**2) + HELD * log_factor**2
        by_factor = np.sum(slope * mine) * factor + 2 * HELD * log_factor
        by_weights = scaled.T @ slope + 2 * pull * weights
        return float(value), np.concatenate([[by_factor], slope.sum(0), by_weights.ravel()])

    start = np.zeros(1 + width + size * width)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    log_factor, constant, weights = parts(found.x)
    weights = weights / spread[:, None]
    return Mix(float(np.exp(log_factor)), weights, constant - mean @ weights)


def mapped(given: Labelled, outputs: Array, settings: dict[str, Any]) -> dict[str, Mix]:
    """A map for every rubric head, from these labels and outputs of their turns."""
    return {
        head: fitted(own(outputs, head, settings), outputs, given.truth(head), head)
        for head in HEADS
    }


def applied(maps: dict[str, Mix], outputs: Array, settings: dict[str, Any]) -> Array:
    """The outputs with the rubric's heads as the maps say them."""
    mixed = outputs.astype(float)
    for head, mix in maps.items():
        mixed[:, slice(*settings["places"][head])] = mix(own(outputs, head, settings), outputs)
    return mixed.astype(np.float32)


def left_out(
    outputs: Array, given: Labelled, base: Labelled, by: Array, settings: dict[str, Any]
) -> Array:
    """The outputs with every language's rubric heads from a map that saw none of its turns here."""
    mixed = np.empty_like(outputs, np.float32)
    for lang in np.unique(given.langs):
        there = given.langs == lang
        seen = joined(base, given.only(~there))
        maps = mapped(seen, np.concatenate([by, outputs[~there]]), settings)
        mixed[there] = applied(maps, outputs[there], settings)
    return mixed


def kappa(truth: Array, said: Array) -> float:
    """Cohen's; 0 where truth and answers are all one class, which says nothing."""
    if len(np.union1d(truth, said)) < 2:
        return 0.0
    return float(cohen_kappa_score(truth, said))


def figures(
    mixed: Array, given: Labelled, settings: dict[str, Any], kind: str = "rubric"
) -> Iterator[Row]:
    """Kappa, or Pearson of empathy and intimacy: by language, in dialogue, of single lines."""
    said = answer_columns(mixed, {**settings, "answers": MIXED_ANSWERS})
    truth = {name: given.truth(name) for name in HEADS}
    truth["empathy"] = np.sum([truth[name] for name in PARTS], axis=0)
    for name in ("sentiment", "emotion", "grounding", "reflective", "empathy", "intimacy"):

        def score(at: Array, name: str = name) -> float:
            if name in ("empathy", "intimacy"):
                return pearson(truth[name][at].astype(float), said[name][at].astype(float))
            return kappa(truth[name][at], said[name][at].astype(int))

        task = f"{kind} {name}"
        by = [
            figure(task, str(lang), np.flatnonzero(given.langs == lang), score)
            for lang in np.unique(given.langs)
        ]
        yield from (*by, mean_of(task, by, lambda _: True))
        for title, at in (("in dialogue", given.in_context), ("single lines", ~given.in_context)):
            yield figure(task, title, np.flatnonzero(at), score)


def tell(found: list[Row]) -> None:
    for each in found:
        score = f"{each['score']:.3f} | {each['low']:.3f}-{each['high']:.3f}"
        print(f"| {each['task']} | {each['lang']} | {each['n']:,} | {score} |")


def as_matrix(mix: Mix, head: str, width: int, settings: dict[str, Any]) -> dict[str, Array]:
    """A head as one matrix over the shipped outputs, and its constant."""
    # Of each output alone: its share in what the head says by itself.
    alone = own(np.eye(width), head, settings)
    return {head: mix.factor * alone + mix.weights, f"{head}_constant": mix.constant}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True, help="exported without a map")
    parser.add_argument("--heads", help="only these, where the others are read as they are")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encoder = PairEncoder(options.model)
    settings = encoder.settings
    wanted = options.heads.split(",") if options.heads else [*HEADS, *TWEETS]
    kept: dict[str, Array] = {}
    if set(wanted) & set(HEADS):
        kept = rubric(encoder, options)
    for head in TWEETS:
        if head in wanted:
            pairs, truth = tweets(options.data, head)
            dev = encoder.outputs(pairs)
            mix = fitted(own(dev, head, settings), dev, truth, head, TWEETS_PULL)
            kept |= as_matrix(mix, head, dev.shape[1], settings)
    np.savez(options.model / "mix.npz", **kept)


def rubric(encoder: PairEncoder, options: argparse.Namespace) -> dict[str, Array]:
    """The maps of the rubric's heads, and what they are worth."""
    settings = encoder.settings
    base, given = in_marked(held=True), in_sets(options.data, TEST)
    chats = in_chats(TEST_CHATS)
    by, outputs, said = (encoder.outputs(each.pairs) for each in (base, given, chats))
    maps = mapped(joined(base, given), np.concatenate([by, outputs]), settings)
    found = list(figures(left_out(outputs, given, base, by, settings), given, settings))
    found += figures(applied(maps, said, settings), chats, settings, "chats")
    tell(found)
    floors(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    kept = {}
    for head, mix in maps.items():
        kept |= as_matrix(mix, head, outputs.shape[1], settings)
    return kept


if __name__ == "__main__":
    main()
