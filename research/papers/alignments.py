"""Labels of messages → Table 7's alignment by each way of pairing and dividing.

    alignment_rows(labels)
    → Grid(["a message is paired with", "divided by", "sentiment: mean", "r", ...], [...])

§4.3 divides what agrees by all messages of the speaker; the released code pairs a message with
the one directly before it, where that is the partner's, and divides by those pairs, and so does the
protocol *released*; *turns* pairs every turn with the partner's latest of the session. Table 7
shows which it is: the error stands beside the correlation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from realtalk.cells import Grid
from realtalk.ei.formulas import latest_of_others
from realtalk.metrics.statistics import Array
from research.papers.intimacy import concordance
from research.papers.published import TABLE_7, printed_column

_PAIRED = {
    "the partner's latest": False,
    "the message directly before, if the partner's": True,
}
_DIVIDED = ("pairs", "all messages of the speaker (§4.3)")
_MEASURES = ("sentiment", "emotion")


def alignment_rows(labels: pl.DataFrame) -> Grid | None:
    """One line per way, over all of Table 7's speakers; None where one of them is missing."""
    known = set(labels.select("chat", "speaker").unique().iter_rows())
    if not all(key in known for key in TABLE_7):
        return None
    headings = ["a message is paired with", "divided by"]
    headings += [
        f"{measure}: {name}" for measure in _MEASURES for name in ("mean", "concordance", "error")
    ]
    rows: list[list[Any]] = []
    for paired, direct in _PAIRED.items():
        shares = {measure: _shares(labels, measure, direct) for measure in _MEASURES}
        for place, divided in enumerate(_DIVIDED):
            cells: list[Any] = []
            for measure in _MEASURES:
                ours, printed = shares[measure][place], printed_column(f"{measure}_alignment")
                error = float(np.abs(ours - printed).mean())
                cells += [f"{ours.mean():.2f}", f"{concordance(printed, ours):.2f}", f"{error:.3f}"]
            rows.append([paired, divided, *cells])
    means = [f"{printed_column(f'{measure}_alignment').mean():.2f}" for measure in _MEASURES]
    rows.append(["Table 7", None, means[0], None, None, means[1], None, None])
    return Grid(headings, rows)


def _shares(labels: pl.DataFrame, measure: str, direct: bool) -> tuple[Array, Array]:
    """What agrees as a part of the pairs, and of all labelled messages, speaker by speaker."""
    shares: list[tuple[float, float]] = []
    for chat, speaker in TABLE_7:
        part = labels.filter(pl.col("chat") == chat).sort("turn", maintain_order=True)
        names = part["speaker"].to_list()
        people = {name: place for place, name in enumerate(dict.fromkeys(names))}
        who = np.array([people[name] for name in names], dtype=np.int64)
        before = latest_of_others(part["session"].to_numpy().astype(np.int64), who)
        if direct:
            before = np.where(before == np.arange(len(who)) - 1, before, -1)
        label = part[measure].to_list()
        own = [at for at in np.flatnonzero(who == people[speaker]) if label[at] is not None]
        pairs = [(at, before[at]) for at in own if before[at] >= 0]
        pairs = [(at, other) for at, other in pairs if label[other] is not None]
        alike = sum(label[at] == label[other] for at, other in pairs)
        shares.append((alike / max(len(pairs), 1), alike / max(len(own), 1)))
    both = np.array(shares)
    return both[:, 0], both[:, 1]
