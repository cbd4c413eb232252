"""What is kept of a guess, and which scores there are.

    guess_row(lineup, 2)      → {"truth": "A", "answer": "C", "picked": "simulated", …}
    GUESS_SCORES[0]           → Score("accuracy", "accuracy", proportion=True, …)
    GUESS_COLUMNS             → chat | session | replies | origins | … | accuracy | judge | knows

A row is one guess: its sample is the turn, its group the speaker, its variant who judges, where
people do. `took_partner`, `took_other` and `took_simulated` say whether such a reply was taken for
the real one; they are None where none stood there. Every speaker counts the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from realtalk.evals.values import Parts, Row, Score, evenly
from realtalk.metrics.statistics import Array
from realtalk.persona.lineups import LETTERS, TurnLineup

_TAKEN = ("partner", "other", "simulated")


def _strictly(name: str) -> Parts:
    """What is unscored is wrong."""
    plain = evenly(name)

    def parts(rows: Sequence[Row]) -> Array:
        return plain([row | {name: 0.0} if row["unscored"] is not None else row for row in rows])

    return parts


def _score(name: str, title: str, better: Literal[-1, 0, 1]) -> Score:
    strict = _strictly(name) if name == "accuracy" else None
    return Score(name, title, better, evenly(name), strict=strict, proportion=True)


GUESS_SCORES: tuple[Score, ...] = (
    _score("accuracy", "accuracy", 1),
    *(_score(f"took_{name}", f"took {name}", 0) for name in _TAKEN),
)


# The columns of a guess beyond those of every run; null is unscored.
GUESS_COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
        "chat": str,
        "session": int,
        **dict.fromkeys(("replies", "origins", "writers"), list[str]),
        **dict.fromkeys(("truth", "picked", "writer"), str),
        "chance": float,
        **{score.name: float for score in GUESS_SCORES},
        "judge": str,
        "knows": bool,  # whether a person who judges knows the chat
        "at": str,
    }
)
READING = (
    "Accuracy is how often the real reply is found, with 95 % intervals that draw whole speakers "
    "(of fewer than five their turns); strict: an answer that cannot be read is wrong. Took "
    "partner, other, simulated: how often such a reply is picked instead, where one stands there."
)


def guess_row(lineup: TurnLineup, place: int | None) -> Row:
    """The columns of a guess; `place` is the reply that was taken for real, if any was."""
    prompt, replies = lineup.turn.prompt, lineup.replies
    picked = None if place is None else replies[place]
    row: Row = {
        "chat": prompt.chat,
        "session": prompt.session,
        "replies": [reply.text for reply in replies],
        "origins": [reply.origin for reply in replies],
        "writers": [reply.writer for reply in replies],
        "truth": LETTERS[lineup.place],
        "answer": None if place is None else LETTERS[place],
        "picked": None if picked is None else picked.origin,
        "writer": None if picked is None else picked.writer,
        "chance": 1 / len(replies),
        "accuracy": None if picked is None else float(picked.origin == "real"),
        "judge": None,
        "knows": None,
        "at": None,
    }
    there = set(row["origins"])
    for name in _TAKEN:
        known = picked is not None and name in there
        row[f"took_{name}"] = float(picked.origin == name) if picked and known else None
    return row
