"""Scores of the EI heads: logits and labels in, the field's figures out.

silver_scores(logits, labels) → {"reflective": kappa, ..., "empathy": Pearson, ...}
public_scores(logits, labels, sets, splits) → {"tweeteval_sentiment": macro recall, ...}
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, recall_score

from research.training.ei_heads import EMOTIONS

Arrays = dict[str, np.ndarray[Any, Any]]
COMPONENTS = ("emotional_reaction", "interpretation", "exploration")


def softmax(logits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def expected(logits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The expected level 0..2 of a component."""
    return np.asarray(softmax(logits) @ np.arange(logits.shape[-1]))


def pearson(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def yes_scores(logits: Arrays, labels: Arrays) -> dict[str, float]:
    """Kappa of the two yes-or-no measures, and how many more or fewer yes than there are."""
    found: dict[str, float] = {"n": float(len(labels["sentiment"]))}
    for name in ("reflective", "grounding"):
        truth, guess = labels[name][:, 0] > 0.5, logits[name][:, 0] > 0
        found[name] = cohen_kappa_score(truth, guess)
        found[f"{name}_excess"] = float(guess.mean() - truth.mean())
    return {name: round(float(value), 4) for name, value in found.items()}


def silver_scores(logits: Arrays, labels: Arrays) -> dict[str, float]:
    """Agreement with the rubric's labels: kappa, Pearson for empathy and intimacy."""
    found: dict[str, float] = {"n": float(len(labels["sentiment"]))}
    for name in ("reflective", "grounding"):
        truth = labels[name][:, 0] > 0.5
        found[name] = cohen_kappa_score(truth, logits[name][:, 0] > 0)
        levels = np.quantile(logits[name][:, 0], np.linspace(0.5, 0.98, 49))
        kappas = [cohen_kappa_score(truth, logits[name][:, 0] > level) for level in levels]
        found[f"{name}_best"] = max(kappas)
        found[f"{name}_at"] = float(levels[int(np.argmax(kappas))])
    for name in ("sentiment", "emotion"):
        found[name] = cohen_kappa_score(labels[name], logits[name].argmax(-1))
    truth = sum(labels[name] for name in COMPONENTS)
    found["empathy"] = pearson(np.asarray(truth), sum(expected(logits[n]) for n in COMPONENTS))
    found["intimacy"] = pearson(labels["intimacy"][:, 0], logits["intimacy"][:, 0])
    return {name: round(float(value), 4) for name, value in found.items()}


def public_scores(
    logits: Arrays, labels: Arrays, sets: np.ndarray[Any, Any], splits: np.ndarray[Any, Any]
) -> dict[str, float]:
    """The usual figure of each public set on its test part; thresholds come from dev."""
    found: dict[str, float] = {}

    def part(name: str, split: str) -> np.ndarray[Any, Any]:
        return np.asarray((sets == name) & (splits == split))

    for split in ("dev", "test"):
        at = part("tweeteval_sentiment", split)
        found[f"sentiment_recall_{split}"] = recall_score(
            labels["tweet_sentiment"][at],
            logits["tweet_sentiment"][at].argmax(-1),
            average="macro",
        )
    dev, test = part("semeval2018_ec", "dev"), part("semeval2018_ec", "test")
    cuts = thresholds(logits["tweet_emotion"][dev], labels["tweet_emotion"][dev])
    for name, at in (("dev", dev), ("test", test)):
        found[f"emotion_f1_{name}"] = f1_score(
            labels["tweet_emotion"][at], logits["tweet_emotion"][at] > cuts, average="macro"
        )
    at = part("mint", "test")
    found["mint_pearson"] = pearson(
        labels["tweet_intimacy"][at][:, 0], logits["tweet_intimacy"][at][:, 0]
    )
    for split, end in (("dev", "_dev"), ("test", "")):
        at = part("epitome", split)
        for name in ("reaction", "interpretation", "exploration"):
            truth = labels[f"epitome_{name}"][at]
            guess = logits[f"epitome_{name}"][at].argmax(-1)
            found[f"epitome_{name}_accuracy{end}"] = accuracy_score(truth, guess)
            found[f"epitome_{name}_f1{end}"] = f1_score(truth, guess, average="macro")
    return {name: round(float(value), 4) for name, value in found.items()}


def thresholds(logits: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Per emotion the cut that gives the best F1."""
    cuts = np.zeros(logits.shape[1])
    for column in range(len(EMOTIONS)):
        levels = np.linspace(-3, 2, 51)
        scores = [
            f1_score(labels[:, column], logits[:, column] > level, zero_division=0)
            for level in levels
        ]
        cuts[column] = levels[int(np.argmax(scores))]
    return cuts
