"""A written text beside the true one → BLEU and METEOR, by the field's own libraries.

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
from functools import cache
from pathlib import PurePath
from typing import Any

_INSTALL = "WordNet is not installed (python -m nltk.downloader wordnet)"
_REFUSED = "nltk refuses WordNet's files: others may write to them, or own them (chmod go-w)"
_BROKEN = "WordNet's files cannot be used"
_PROBE = (["child"], ["children"], 0.5)  # not one stem: only WordNet tells that they are one word


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
    from nltk.translate.meteor_score import single_meteor_score

    truth, said, score = _PROBE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is reported below
        try:
            works = abs(single_meteor_score(truth, said) - score) < 1e-9
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

        from realtalk.text.words import words_and_emoji

        real = words_and_emoji(truth)
        if self.missing or not real:
            return None
        return float(single_meteor_score(real, words_and_emoji(prediction)))
