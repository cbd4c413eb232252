"""Two texts → how many words they share; many texts → how varied and how long they are.

    overlap("see you there", "see you at the bar")  → Overlap(rouge_1=0.5, rouge_l=0.5)
    distinct(["ok", "ok then"], 1)                  → 0.67
    length_ratio("ok", "ok see you")                → 0.33

ROUGE is the reference implementation's F1, without stemming, its default; short answers have
`rouge_l_stemmed` (metrics/answers.py). Its words are Latin letters and digits; `words_and_emoji`
counts other scripts and each emoji, too, since a chat has turns of those alone. What has nothing to
be counted has no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from realtalk.text.words import words_and_emoji


@dataclass(frozen=True, slots=True)
class Overlap:
    """ROUGE F1 of single words and of the longest common subsequence."""

    rouge_1: float
    rouge_l: float


def overlap(prediction: str, truth: str) -> Overlap | None:
    """ROUGE-1 and ROUGE-L; None where the truth has no word that ROUGE knows."""
    scorer = _scorer()
    if not scorer._tokenizer.tokenize(truth):
        return None
    scores = scorer.score(truth, prediction)
    return Overlap(float(scores["rouge1"].fmeasure), float(scores["rougeL"].fmeasure))


@cache
def _scorer() -> Any:
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=False)


def distinct(texts: Sequence[str], n: int) -> float | None:
    """Different n-grams as a part of all n-grams; None without any. Falls as texts grow longer."""
    grams = [
        tuple(said[at : at + n])
        for said in map(words_and_emoji, texts)
        for at in range(len(said) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else None


def length_ratio(prediction: str, truth: str) -> float | None:
    """Words of the prediction per word of the truth; None where the truth has none."""
    size = len(words_and_emoji(truth))
    return len(words_and_emoji(prediction)) / size if size else None
