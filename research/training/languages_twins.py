"""Sentences and their English twins → how far two encoders say the same of both, by language.

    twins(EmbeddedLabeller(folder), data)
    → [{"task": "twins sentiment", "lang": "pl", "n": 200, "score": 0.63, …}, …]

The multilingual encoder reads the sentence, the shipped English one its translation: what people
would say is not asked, so this bounds nothing from above, but it exists for languages that nobody
labelled. Test parts only: film lines, Tatoeba's, and turns of XPersona with the turn before.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import Label, TurnInput
from research.training.ei_score import pearson
from research.training.identifier_data import SAME
from research.training.languages_measures import Array, interval
from research.training.languages_sources import DROPPED, Spoken, in_dialogues, lines, told

MOST, FEWEST = 200, 80  # pairs of a language
SETS = ("parallel.xpersona.test", "parallel.xed.test", "parallel.tatoeba_laser.test")
NUMBERS = ("empathy", "intimacy")
MEASURES = ("sentiment", "emotion", "grounding", "reflective", *NUMBERS)


def pairs(data: Path) -> dict[str, list[Spoken]]:
    """At most MOST pairs of a language, an equal part of every set that has it."""
    by_set: dict[str, dict[str, list[Spoken]]] = defaultdict(dict)
    for name in SETS:
        made: dict[str, list[Spoken]] = defaultdict(list)
        rows = lines(data, name)
        spoken = (
            (each for _, each in in_dialogues(rows, name))
            if "xpersona" in name
            else (told(row, name) for row in rows)
        )
        for each in spoken:
            if each.en and each.lang not in DROPPED and each.lang != "en":
                made[SAME.get(each.lang, each.lang)].append(each)
        for lang, some in made.items():
            by_set[lang][name] = some
    found = {}
    for lang, sets in sorted(by_set.items()):
        share = -(-MOST // len(sets))
        drawn = [each for some in sets.values() for each in some[:: -(-len(some) // share)]]
        if len(drawn) >= FEWEST:
            found[lang] = drawn[:MOST]
    # English is its own twin: what the multilingual encoder says where the English one could.
    own = [Spoken(each.en, each.en_previous, lang="en", en=each.en) for each in found["es"]]
    for each, twin in zip(own, found["es"], strict=True):
        each.en_previous = twin.en_previous
    return {"en": own, **found}


def twins(labeller: EmbeddedLabeller, data: Path) -> list[dict[str, Any]]:
    english = EmbeddedLabeller(encoder="english")
    found = []
    for lang, some in pairs(data).items():
        said = labeller.label([_input(each.text, each.previous) for each in some])
        meant = english.label([_input(each.en, each.en_previous) for each in some])
        both = [(a, b) for a, b in zip(said, meant, strict=True) if not (a.unscored or b.unscored)]
        for name in MEASURES:
            with warnings.catch_warnings():  # of a measure that nothing in a language has
                warnings.simplefilter("ignore")
                value, low, high = interval(_score(name, both), len(both))
            if not np.isfinite([value, low, high]).all():
                continue
            figure = {"n": len(both), "score": value, "low": low, "high": high}
            found.append({"task": f"twins {name}", "lang": lang, **figure})
    return found


def _score(name: str, both: list[tuple[Label, Label]]) -> Any:
    first, second = (np.array([getattr(pair[side], name) for pair in both]) for side in (0, 1))

    def score(at: Array) -> float:
        if name in NUMBERS:
            return pearson(first[at].astype(float), second[at].astype(float))
        return float(cohen_kappa_score(first[at], second[at]))

    return score


def _input(text: str, previous: str) -> TurnInput:
    return TurnInput("", 0, 0, "", (), None, text, previous)
