"""What is kept of a simulated turn, and which scores there are.

    SCORES["empathy"]        → Score("empathy", "empathy difference", better=-1, family="EI", …)
    WHOLE["kappa_emotion"]   → Score("kappa_emotion", "emotion kappa", whole=True, …)
    columns()                → chat | session | truth | rouge_1 | … | emotion_simulated

A row is one turn: its sample is the turn, its group the speaker, its answer what was simulated.
SCORES are of single turns, WHOLE of all turns of a speaker together; in a comparison every
speaker counts the same. `better` is 0 where neither more nor less is: a length ratio is best at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from realtalk.evals.values import Row, Score, evenly, of_groups
from realtalk.metrics.distributions import jensen_shannon
from realtalk.metrics.statistics import Estimate, cohen_kappa

if TYPE_CHECKING:
    import polars as pl

Family: TypeAlias = Literal["content", "EI", "beyond"]

AGREEMENTS = ("reflective", "grounding", "sentiment", "emotion")
DIFFERENCES = ("intimacy", "empathy")
WORDLESS = "the person wrote no words"
_KAPPAS = {f"kappa_{name}": name for name in AGREEMENTS}
_DISTANCES = {f"js_{name}": name for name in ("emotion", "sentiment")}


def _turns(
    name: str, title: str, family: Family, better: Literal[-1, 0, 1] = 1, published: str = ""
) -> Score:
    return Score(name, title, better, evenly(name), family=family, published=published)


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
    parts = of_groups(lambda rows: label_score(name, rows).value, _labelled(measure))
    return Score(name, title, better, parts, whole=True, family="beyond")


WHOLE: Mapping[str, Score] = MappingProxyType(
    {name: _whole(name, measure, f"{measure} kappa", 1) for name, measure in _KAPPAS.items()}
    | {name: _whole(name, of, f"{of} JS (bits)", -1) for name, of in _DISTANCES.items()}
)


def columns() -> dict[str, pl.DataType | type[pl.DataType]]:
    """The columns of a turn beyond those of every run; null is unscored, `left_out` says why."""
    import polars as pl

    kinds: dict[str, pl.DataType | type[pl.DataType]] = {
        "chat": pl.String,
        "session": pl.Int32,
        "truth": pl.String,
        **dict.fromkeys(SCORES, pl.Float64),
        "looks_like": pl.Float64,  # what the judge of authorship gives, 0..1
    }
    for side in ("truth", "simulated"):
        kinds |= {f"{name}_{side}": pl.Boolean for name in ("reflective", "grounding")}
        kinds |= {f"{name}_{side}": pl.String for name in ("sentiment", "emotion")}
        kinds |= {f"{name}_{side}": pl.Float64 for name in DIFFERENCES}
    return kinds


def earlier_row(row: Row) -> Row:
    """A row of version 0.1.0 under the names of today."""
    if "sample" in row:
        return row
    names = {"speaker": "group", "id": "sample", "simulated": "answer"}
    found = {names.get(name, name): value for name, value in row.items()}
    wordless = found["unscored"] == WORDLESS
    told = {"unscored": None, "untold": WORDLESS} if wordless else {"untold": None}
    return {"variant": "", "calls": 0, **found, **told}
