"""What is kept of a simulated turn, and which scores there are.

    SCORES["empathy"]    → ScoreKind("empathy", "EI", better=-1, published="empathy")
    row_schema()         → speaker | id | … | truth | simulated | rouge_1 | … | unscored

`better` is +1 where more is better, -1 where less is, 0 where neither: a length ratio is best
at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "AGREEMENTS",
    "DIFFERENCES",
    "KEY",
    "SCORES",
    "SIMULATED_KEY",
    "SPEAKER_KEY",
    "Family",
    "Row",
    "ScoreKind",
    "row_schema",
    "simulated_schema",
]

Row: TypeAlias = dict[str, Any]
Family: TypeAlias = Literal["content", "EI", "beyond"]

KEY = ("speaker", "id")
SIMULATED_KEY = ("speaker", "id")
SPEAKER_KEY = ("speaker",)
AGREEMENTS = ("reflective", "grounding", "sentiment", "emotion")
DIFFERENCES = ("intimacy", "empathy")


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """One score of a turn. `published` is its column in the paper's tables."""

    name: str
    title: str
    family: Family
    better: Literal[-1, 0, 1]
    published: str = ""


_TABLE = (
    ScoreKind("rouge_1", "ROUGE-1", "content", 1, "lexical"),
    ScoreKind("rouge_l", "ROUGE-L", "content", 1),
    ScoreKind("semantic", "token matching F1", "content", 1, "semantic"),
    ScoreKind("cosine", "cosine", "content", 1),
    *(ScoreKind(name, name, "EI", 1, name) for name in AGREEMENTS),
    *(ScoreKind(name, f"{name} difference", "EI", -1, name) for name in DIFFERENCES),
    ScoreKind("taken_for", "taken for the speaker", "beyond", 1),
    ScoreKind("length_ratio", "length ratio", "beyond", 0),
)
SCORES: Mapping[str, ScoreKind] = MappingProxyType({kind.name: kind for kind in _TABLE})


def simulated_schema() -> pl.Schema:
    """What a simulator gave back."""
    import polars as pl

    return pl.Schema(
        {
            "speaker": pl.String,
            "id": pl.String,
            "text": pl.String,
            "unscored": pl.String,
            "tokens_in": pl.Int64,
            "tokens_out": pl.Int64,
        }
    )


def row_schema() -> pl.Schema:
    """A turn with its scores; null is unscored, with its reason in `left_out`."""
    import polars as pl

    kinds: dict[str, pl.DataType | type[pl.DataType]] = {
        "speaker": pl.String,
        "id": pl.String,
        "chat": pl.String,
        "session": pl.Int32,
        "truth": pl.String,
        "simulated": pl.String,
        **dict.fromkeys(SCORES, pl.Float64),
        "looks_like": pl.Float64,  # what the judge of authorship gives, 0..1
    }
    for side in ("truth", "simulated"):
        kinds |= {f"{name}_{side}": pl.Boolean for name in ("reflective", "grounding")}
        kinds |= {f"{name}_{side}": pl.String for name in ("sentiment", "emotion")}
        kinds |= {f"{name}_{side}": pl.Float64 for name in DIFFERENCES}
    kinds |= {
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
        "unscored": pl.String,  # why the whole turn has no score
        "left_out": pl.List(pl.String),  # "semantic: no token", for single scores
    }
    return pl.Schema(kinds)
