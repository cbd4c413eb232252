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
    """Test how well a classifier tells two corpora apart.

    Two figures: by words and letters, and by EI labels and style. Each is an AUC with a 95 %
    interval by bootstrap over chats; .5 means that the corpora cannot be told apart. The classifier
    is tested on people whom it never saw, and a person is the same in both corpora ("Mara
    (simulated)" is Mara). With fewer than three chats on one side, or too few people to hold out,
    both are unscored.

    Args:
        first: Chat, corpus or sample name.
        second: The other.
        labels: Labels of both: saves labelling.

    Example:
        rt.ei.distinguishability("sample", "sample-simulated")
        rt.ei.distinguishability("mara", "mara-simulated")
        rt.ei.distinguishability("data/realtalk", "locomo10.json")
    """
    from realtalk.api.labels import label
    from realtalk.ei.protocols import rules_of
    from realtalk.ei.told_apart import WAYS, told_apart
    from realtalk.evals.tables import ResultTable, frame_of

    both = (as_corpus(first), as_corpus(second))
    first_labels, second_labels = labels or tuple(label(side, progress=progress) for side in both)
    frames, joins_messages = (
        (first_labels.frame, second_labels.frame),
        rules_of(first_labels.protocol).joined,
    )
    tests = told_apart(*both, frames, joined=joins_messages, progress=progress)
    rows = [
        {
            "score": way,
            "estimate": test.auc.value,
            "low": test.auc.low,
            "high": test.auc.high,
            "n": test.auc.n,
            "groups": sum(test.chats),
        }
        for way, test in tests.items()
    ]
    notes = tuple(
        f"{WAYS[way]}: unscored, {test.auc.unscored}"
        for way, test in tests.items()
        if test.auc.unscored
    )
    columns = ("score", "estimate", "low", "high", "n", "groups")
    details = {way: test.to_json() for way, test in tests.items()}
    title = f"told apart: {both[0].name} and {both[1].name}"
    return ResultTable(title, frame_of(columns, rows), notes, details)
