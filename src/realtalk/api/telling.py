"""Two corpora → how well a classifier tells their turns apart, by words and by what is felt.

distinguishability("mychats", "simulated").frame   one row per classifier: an AUC
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from realtalk.api.sources import Readable, as_corpus
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from realtalk.ei.results import Labels
    from realtalk.evals.tables import ResultTable


def distinguishability(
    first: Readable,
    second: Readable,
    *,
    labels: tuple[Labels, Labels] | None = None,
    progress: Progress = silent,
) -> ResultTable:
    """Measure how well turns of two corpora are told apart by a classifier that knows nobody.

    Two figures, each an AUC with an interval that draws whole chats (.5: cannot be told): by words
    and letters, and by EI labels and style. A person is one over both corpora ("Mara (simulated)"
    is Mara), and nobody stands both in what is learned from and in what is asked. Of fewer than
    three chats on one side, and where people are too few to be held out, both are unscored.

    Args:
        first: Chat, corpus or sample name.
        second: The other.
        labels: Labels of both: saves labelling.

    Example:
        rt.ei.distinguishability("mychats", "simulated")
    """
    from realtalk.api.labels import label
    from realtalk.ei.protocols import rules_of
    from realtalk.ei.told_apart import WAYS, told_apart
    from realtalk.evals.tables import ResultTable, frame_of

    both = (as_corpus(first), as_corpus(second))
    one, other = labels or tuple(label(side, progress=progress) for side in both)
    frames, joined = (one.frame, other.frame), rules_of(one.protocol).joined
    found = told_apart(*both, frames, joined=joined, progress=progress)
    rows = [
        {
            "score": way,
            "estimate": each.auc.value,
            "low": each.auc.low,
            "high": each.auc.high,
            "n": each.auc.n,
            "groups": sum(each.chats),
        }
        for way, each in found.items()
    ]
    notes = tuple(
        f"{WAYS[way]}: unscored, {each.auc.unscored}"
        for way, each in found.items()
        if each.auc.unscored
    )
    columns = ("score", "estimate", "low", "high", "n", "groups")
    details = {way: each.to_json() for way, each in found.items()}
    title = f"told apart: {both[0].name} and {both[1].name}"
    return ResultTable(title, frame_of(columns, rows), notes, details)
