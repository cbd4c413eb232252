"""A written text beside the true one → BLEU and METEOR, by the field's own libraries.

    bleu("see you there", "see you at the bar")      → 0.21
    Meteor().score("see you there", "see you at the bar")   → 0.35, or None without WordNet
    meteor_missing()                                 → "nltk's wordnet is not installed", or ""

BLEU is sacrebleu's for one sentence (its smoothing, n-grams as long as the text has them), from
0 to 1. METEOR is nltk's, which looks words up in WordNet: that is data of its own, which this
package neither ships nor downloads. Without it METEOR is unscored, never zero.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["Meteor", "bleu", "meteor_missing"]

_INSTALL = "nltk's wordnet is not installed (python -m nltk.downloader wordnet)"


@cache
def _scorer() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


def bleu(prediction: str, truth: str) -> float | None:
    """Sentence BLEU, 0 to 1; None where the truth has nothing to be matched."""
    if not truth.strip():
        return None
    return float(_scorer().sentence_score(prediction, [truth]).score) / 100


@cache
def meteor_missing() -> str:
    """Why METEOR cannot be computed on this machine, "" where it can."""
    import nltk

    for place in ("corpora/wordnet", "corpora/wordnet.zip"):
        try:
            nltk.data.find(place)
        except LookupError:
            continue
        return ""
    return _INSTALL


class Meteor:
    """METEOR with exact words, stems and WordNet's synonyms."""

    def __init__(self) -> None:
        self.missing = meteor_missing()

    def score(self, prediction: str, truth: str) -> float | None:
        """0 to 1; None without WordNet, or where the truth has no word."""
        from nltk.translate.meteor_score import single_meteor_score

        from realtalk.metrics.overlap import words

        real = words(truth)
        if self.missing or not real:
            return None
        return float(single_meteor_score(real, words(prediction)))
