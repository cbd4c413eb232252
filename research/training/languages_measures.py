"""Scores in many languages: outputs and labels in, figures by language out.

f1_by_language(logits, labels, langs, cuts) → {"es": 0.61, "de": 0.47, …}
cuts_by_language(logits, labels, langs)     → where yes begins, per language and emotion
chosen_by(outputs, …)                       → the figures of dev parts, and their mean
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score, f1_score

from research.training.ei_heads import ANSWERS
from research.training.ei_score import COMPONENTS, expected, pearson

Array = np.ndarray[Any, Any]
LEVELS = np.linspace(-4, 3, 57)
BORROWED = 60.0  # rows of all languages that count beside a language's own: rare emotions are few


def counts_at(scores: Array, truth: Array) -> Array:
    """Per level: how many are found, said, and there."""
    said = scores[:, None] > LEVELS
    yes = truth[:, None] > 0.5
    return np.stack([(said & yes).sum(0), said.sum(0), np.full(len(LEVELS), yes.sum())])


def best_level(counts: Array) -> float:
    found, said, there = counts
    scores = 2 * found / np.maximum(said + there, 1e-9)
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, "valid")
    return float(LEVELS[int(np.argmax(smooth))])


def cuts_by_language(logits: Array, labels: Array, langs: Array) -> dict[str, Array]:
    """Per language and column the level of the best F1; "" holds those of all together."""
    width = logits.shape[1]
    whole, sizes = [], []
    for column in range(width):
        known = ~np.isnan(labels[:, column])
        whole.append(counts_at(logits[known, column], labels[known, column]))
        sizes.append(max(1, known.sum()))
    found = {"": np.array([best_level(counts) for counts in whole])}
    for lang in np.unique(langs):
        cuts = found[""].copy()
        for column in range(width):
            at = (langs == lang) & ~np.isnan(labels[:, column])
            if at.any():
                own = counts_at(logits[at, column], labels[at, column])
                cuts[column] = best_level(own + whole[column] * BORROWED / sizes[column])
        found[str(lang)] = cuts
    return found


def macro_f1(labels: Array, said: Array) -> float:
    """Over the columns that a language has labels for, and where there is any yes."""
    scores = []
    for column in range(labels.shape[1]):
        known = ~np.isnan(labels[:, column])
        if known.any() and (labels[known, column] > 0.5).any():
            truth, guess = labels[known, column] > 0.5, said[known, column]
            scores.append(2 * (truth & guess).sum() / max(1, truth.sum() + guess.sum()))
    return float(np.mean(scores)) if scores else float("nan")


def f1_by_language(
    logits: Array, labels: Array, langs: Array, cuts: Mapping[str, Array]
) -> dict[str, float]:
    found = {}
    for lang in np.unique(langs):
        at = langs == lang
        said = logits[at] > cuts.get(str(lang), cuts[""])
        found[str(lang)] = macro_f1(labels[at], said)
    return found


def classes_by_language(logits: Array, labels: Array, langs: Array) -> dict[str, float]:
    """Macro F1 of one class per row."""
    return {
        str(lang): float(
            f1_score(labels[langs == lang], logits[langs == lang].argmax(-1), average="macro")
        )
        for lang in np.unique(langs)
    }


def correlations(values: Array, labels: Array, langs: Array) -> dict[str, float]:
    return {
        str(lang): pearson(labels[langs == lang], values[langs == lang])
        for lang in np.unique(langs)
        if (langs == lang).sum() > 2
    }


def interval(score: Callable[[Array], float], count: int, times: int = 200) -> tuple[float, ...]:
    """A score of rows given by number, and its 95 % bootstrap interval over rows."""
    rng = np.random.default_rng(0)
    drawn = [score(rng.integers(0, count, count)) for _ in range(times)]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return score(np.arange(count)), float(low), float(high)


def mixed(out: Mapping[str, Array], name: str) -> Array:
    own, tweets = ANSWERS[name]
    return np.asarray(own * out[name] + tweets * out[f"tweet_{name}"])


def agreement(out: Mapping[str, Array], twin: Mapping[str, Array]) -> dict[str, float]:
    """How far the answers are those that the English encoder gives to the same in English."""
    found = {}
    for name in ("sentiment", "emotion"):
        found[name] = cohen_kappa_score(mixed(out, name).argmax(-1), mixed(twin, name).argmax(-1))
    for name in ("reflective", "grounding"):
        cut = ANSWERS[f"{name}_cut"]
        found[name] = cohen_kappa_score(out[name][:, 0] > cut, twin[name][:, 0] > cut)
    found["intimacy"] = pearson(mixed(out, "intimacy")[:, 0], mixed(twin, "intimacy")[:, 0])
    first, second = (sum(expected(each[n]) for n in COMPONENTS) for each in (out, twin))
    found["empathy"] = pearson(np.asarray(first), np.asarray(second))
    return {name: float(value) for name, value in found.items()}


def rubric(out: Mapping[str, Array], labels: Mapping[str, Array]) -> dict[str, float]:
    """Agreement with rubric labels of chats, all languages together."""
    found = {}
    for name in ("sentiment", "emotion"):
        found[name] = cohen_kappa_score(labels[name], out[name].argmax(-1))
    for name in ("reflective", "grounding"):
        found[name] = cohen_kappa_score(labels[name][:, 0] > 0.5, out[name][:, 0] > 0)
    found["intimacy"] = pearson(labels["intimacy"][:, 0], out["intimacy"][:, 0])
    empathy = sum(labels[n].astype(float) for n in COMPONENTS)
    found["empathy"] = pearson(
        np.asarray(empathy), np.asarray(sum(expected(out[n]) for n in COMPONENTS))
    )
    return {f"rubric_{name}": float(value) for name, value in found.items()}


def chosen_by(
    out: Mapping[str, Array],
    labels: Mapping[str, Array],
    sets: Array,
    langs: Array,
    twin: Mapping[str, Array],
) -> dict[str, float]:
    """Figures of the dev parts, each a mean over languages, and `mean` of them all.

    `twin` has what the English encoder says of a row's twin, not a number where there is none.
    """
    warnings.simplefilter("ignore")  # of classes that a small dev part lacks
    found: dict[str, float] = {}

    def mean(values: Mapping[str, float]) -> float:
        return float(np.nanmean(list(values.values()))) if values else float("nan")

    for name in ("brighter", "xed"):
        at = sets == name
        if at.any():
            cuts = cuts_by_language(out[name][at], labels[name][at], langs[at])
            cuts = {"": cuts[""]}  # of its own it would be too well suited
            found[name] = mean(f1_by_language(out[name][at], labels[name][at], langs[at], cuts))
    for name, head in (("umsab", "tweet_sentiment"), ("afrisenti", "tweet_sentiment")):
        at = (sets == name) & (labels[head] >= 0)
        if at.any():
            found[name] = mean(classes_by_language(out[head][at], labels[head][at], langs[at]))
    for head in ("spoken_mood", "spoken_sentiment"):
        at = (sets == "meld") & (labels[head] >= 0)
        if at.any():
            found[head] = mean(classes_by_language(out[head][at], labels[head][at], langs[at]))
    at = sets == "mint"
    if at.sum() > 2:
        truth, guess = labels["tweet_intimacy"][at, 0], out["tweet_intimacy"][at, 0]
        found["mint"] = mean(correlations(guess, truth, langs[at]))
    at = sets == "rubric"
    if at.any():
        found |= rubric({n: v[at] for n, v in out.items()}, {n: v[at] for n, v in labels.items()})
    at = ~np.isnan(twin["sentiment"][:, 0])
    if at.sum() > 2:
        pair = ({n: v[at] for n, v in each.items()} for each in (out, twin))
        found |= {f"twin_{name}": value for name, value in agreement(*pair).items()}
    found["mean"] = float(np.nanmean(list(found.values())))
    return {name: round(value, 4) for name, value in found.items()}
