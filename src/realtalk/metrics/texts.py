"""Two texts → how many words they share; many texts → how varied and how long they are.

    overlap("see you there", "see you at the bar")  → Overlap(rouge_1=0.5, rouge_l=0.5)
    distinct(["ok", "ok then"], 1)                  → 0.67
    length_ratio("ok", "ok see you")                → 0.33

ROUGE is the reference implementation's F1, without stemming, its default; short answers have
`rouge_l_stemmed` (metrics/answers.py). Its words are Latin letters and digits; `words_and_emoji`
counts other scripts and each emoji, too, since a chat has turns of those alone. What has nothing to
be counted has no score.

A written text beside the true one → BLEU and METEOR, by the field's own libraries.

    bleu("see you there", "see you at the bar")      → 0.28
    Meteor().score("see you there", "see you at the bar")   → 0.39, or None without WordNet
    meteor_missing()                                 → "WordNet is not installed (…)", or ""

BLEU is sacrebleu's for one sentence (its smoothing, n-grams as long as the text has them), from
0 to 1. METEOR is nltk's, which looks words up in WordNet: that is data of its own, which this
package neither ships nor downloads (docs/results/threads.md says how to get it). Without it
METEOR is unscored, never zero. WordNet counts as there when it finds a synonym: nltk refuses
files that others may write to, and stumbles over a folder that lacks some. Note that nltk looks
up what is left of a word after stemming: "automobile" is no synonym of "car" to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

from realtalk.text.words import words_and_emoji


class Overlap(NamedTuple):
    """ROUGE F1 of single words and of the longest common subsequence."""

    rouge_1: float
    rouge_l: float


def overlap(prediction: str, truth: str) -> Overlap | None:
    """ROUGE-1 and ROUGE-L; None where the truth has no word that ROUGE knows."""
    scorer = _rouge()
    if not scorer._tokenizer.tokenize(truth):
        return None
    scores = scorer.score(truth, prediction)
    return Overlap(float(scores["rouge1"].fmeasure), float(scores["rougeL"].fmeasure))


@cache
def _rouge() -> Any:
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=False)


def distinct(texts: Sequence[str], n: int) -> float | None:
    """Different n-grams as a part of all n-grams; None without any. Falls as texts grow longer."""
    grams = [
        tuple(words[at : at + n])
        for words in map(words_and_emoji, texts)
        for at in range(len(words) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else None


def length_ratio(prediction: str, truth: str) -> float | None:
    """Words of the prediction per word of the truth; None where the truth has none."""
    size = len(words_and_emoji(truth))
    return len(words_and_emoji(prediction)) / size if size else None


_INSTALL = "WordNet is not installed (python -m nltk.downloader wordnet)"
_REFUSED = "nltk refuses WordNet's files: others may write to them, or own them (chmod go-w)"
_BROKEN = "WordNet's files cannot be used"
_PROBE = (["child"], ["children"], 0.5)  # not one stem: only WordNet tells that they are one word


@cache
def _bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


def bleu(prediction: str, truth: str) -> float | None:
    """Sentence BLEU, 0 to 1; None where the truth has nothing to be matched."""
    if not truth.strip():
        return None
    return float(_bleu().sentence_score(prediction, [truth]).score) / 100


@cache
def meteor_missing() -> str:
    """Why METEOR cannot be computed on this machine, "" where it can."""
    from nltk.translate.meteor_score import single_meteor_score

    truth, prediction, score = _PROBE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is reported below
        try:
            works = abs(single_meteor_score(truth, prediction) - score) < 1e-9
        except LookupError as error:
            return _REFUSED if "Refused" in str(error) else _INSTALL
        except OSError as error:
            # The file's name, not its place: the reason goes into rows that are shared.
            lacking = PurePath(str(error).rpartition(": ")[2].strip("'\"")).name
            return f"{_BROKEN} ({lacking} is missing)" if lacking else _BROKEN
        except Exception:  # whatever nltk's reader stumbles over in wrong files
            return _BROKEN
    return "" if works else _BROKEN


class Meteor:
    """METEOR with exact words, stems and WordNet's synonyms."""

    def __init__(self) -> None:
        self.missing = meteor_missing()

    @property
    def version(self) -> str:
        """What it is made with; "none" without WordNet."""
        if self.missing:
            return "none"
        from nltk.corpus import wordnet

        return f"nltk, wordnet {wordnet.get_version()}"

    def score(self, prediction: str, truth: str) -> float | None:
        """0 to 1; None without WordNet, or where the truth has no word."""
        from nltk.translate.meteor_score import single_meteor_score

        real = words_and_emoji(truth)
        if self.missing or not real:
            return None
        return float(single_meteor_score(real, words_and_emoji(prediction)))
