"""What is kept of a simulated turn, and which scores there are.

    SCORES["empathy"]        → Score("empathy", "empathy difference", better=-1, family="EI", …)
    WHOLE["kappa_emotion"]   → Score("kappa_emotion", "emotion kappa", whole=True, …)
    COLUMNS                  → chat | session | truth | rouge_1 | … | emotion_simulated

A row is one turn: its sample is the turn, its group the speaker, its answer what was simulated.
SCORES are of single turns, WHOLE of all turns of a speaker together. The figure of a run is the
average of its speakers' own figures, as Table 2 of the paper is made from Table 8: everybody
counts the same however much they wrote. `better` is 0 where neither more nor less is: a length
ratio is best at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from realtalk.evals.values import Row, Score, evenly, of_groups
from realtalk.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    cohen_kappa,
    jensen_shannon,
    wilson,
)

Family: TypeAlias = Literal["content", "EI", "beyond"]

AGREEMENTS = ("reflective", "grounding", "sentiment", "emotion")
DIFFERENCES = ("intimacy", "empathy")
WORDLESS = "the person wrote no words"
_KAPPAS = {f"kappa_{name}": name for name in AGREEMENTS}
_DISTANCES = {f"js_{name}": name for name in ("emotion", "sentiment")}


_SKEWED = frozenset({"length_ratio"})  # one long answer to a short turn would outweigh all
_BINARY = frozenset({*AGREEMENTS, "taken_for"})
_BEYOND = "what raw agreement does not show"
_DIGITS = 2


def turn_score(name: str, rows: Sequence[Row]) -> Estimate:
    """The mean of one speaker's turns that have the score; of length ratios the median."""
    known = [row[name] for row in rows if row[name] is not None]
    left_out = len(rows) - len(known)
    if not known:
        return Estimate(None, left_out=left_out, unscored="no turn has this score")
    middle = np.median if name in _SKEWED else np.mean
    if name in _BINARY:
        low, high = wilson(known) or (None, None)
    else:
        low, high = bootstrap_interval((known,), middle) or (None, None)
    return Estimate(float(middle(known)), low, high, len(known), left_out)


def _turns(
    name: str, title: str, family: Family, better: Literal[-1, 0, 1] = 1, published: str = ""
) -> Score:
    return Score(
        name,
        title,
        better,
        evenly(name),
        alone=partial(turn_score, name),
        digits=_DIGITS,
        family=family,
        table=_BEYOND if family == "beyond" else "",
        published=published,
    )


_OF_TURNS = (
    _turns("rouge_1", "ROUGE-1", "content", published="lexical"),
    _turns("rouge_l", "ROUGE-L", "content"),
    _turns("semantic", "token matching F1", "content", published="semantic"),
    _turns("cosine", "cosine", "content"),
    *(_turns(name, name, "EI", published=name) for name in AGREEMENTS),
    *(_turns(name, f"{name} difference", "EI", -1, name) for name in DIFFERENCES),
    _turns("taken_for", "taken for the speaker", "beyond"),
    _turns("length_ratio", "length ratio", "beyond", 0),
)
SCORES: Mapping[str, Score] = MappingProxyType({score.name: score for score in _OF_TURNS})


def label_score(name: str, rows: Sequence[Row]) -> Estimate:
    """A figure of WHOLE over the turns that have both labels; the others are counted."""
    measure = _KAPPAS.get(name) or _DISTANCES[name]
    truth, said = ([row[f"{measure}_{side}"] for row in rows] for side in ("truth", "simulated"))
    if name in _KAPPAS:
        return cohen_kappa(truth, said)
    # Only turns that have both: the two sides are to differ by the writer alone.
    both = [pair for pair in zip(truth, said, strict=True) if None not in pair]
    found = jensen_shannon([one for one, _ in both], [other for _, other in both])
    return replace(found, n=len(both), left_out=len(rows) - len(both))


def _labelled(measure: str) -> Callable[[Row], bool]:
    return lambda row: all(row[f"{measure}_{side}"] is not None for side in ("truth", "simulated"))


def _whole(name: str, measure: str, title: str, better: Literal[-1, 1]) -> Score:
    return Score(
        name,
        title,
        better,
        of_groups(lambda rows: label_score(name, rows).value, _labelled(measure)),
        alone=partial(label_score, name),
        whole=True,
        digits=_DIGITS,
        family="beyond",
        table=_BEYOND,
    )


WHOLE: Mapping[str, Score] = MappingProxyType(
    {name: _whole(name, measure, f"{measure} kappa", 1) for name, measure in _KAPPAS.items()}
    | {name: _whole(name, of, f"{of} JS (bits)", -1) for name, of in _DISTANCES.items()}
)


_LABELS: Mapping[str, Any] = {
    **dict.fromkeys(("reflective", "grounding"), bool),
    **dict.fromkeys(("sentiment", "emotion"), str),
    **dict.fromkeys(DIFFERENCES, float),
}
# The columns of a turn beyond those of every run; null is unscored, `left_out` says why.
COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
        "chat": str,
        "session": int,
        "truth": str,
        **dict.fromkeys(SCORES, float),
        "looks_like": float,  # what the judge of authorship gives, 0..1
        **{f"{name}_truth": kind for name, kind in _LABELS.items()},
        **{f"{name}_simulated": kind for name, kind in _LABELS.items()},
    }
)
