"""Two corpora → how well a classifier tells their turns apart, by words and by what is felt.

distinguishability("mychats", "simulated").frame   one row per classifier: an AUC
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from realtalk.api.sources import Readable, as_corpus
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.ei.results import Labels
    from realtalk.ei.told_apart import ToldApart
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
    from realtalk.ei.told_apart import WAYS
    from realtalk.evals.tables import ResultTable, frame_of

    both = (as_corpus(first), as_corpus(second))
    known = labels or (label(both[0], progress=progress), label(both[1], progress=progress))
    names = (both[0].name, both[1].name)
    found = tell_apart((known[0], both[0]), (known[1], both[1]), names, progress=progress)
    rows = [
        {
            "score": each.way,
            "estimate": each.auc.value,
            "low": each.auc.low,
            "high": each.auc.high,
            "n": each.auc.n,
            "groups": sum(each.chats),
        }
        for each in found.ways
    ]
    notes = tuple(
        f"{WAYS[each.way]}: unscored, {each.auc.unscored}"
        for each in found.ways
        if each.auc.unscored
    )
    columns = ("score", "estimate", "low", "high", "n", "groups")
    title = f"told apart: {names[0]} and {names[1]}"
    return ResultTable(title, frame_of(columns, rows), notes, found.to_json())


def tell_apart(
    first: tuple[Labels, Corpus | None],
    second: tuple[Labels, Corpus | None],
    names: tuple[str, str],
    *,
    progress: Progress = silent,
) -> ToldApart:
    """The same of labels with their corpora; unscored where a corpus is not there."""
    from realtalk.ei.protocols import rules_of
    from realtalk.ei.told_apart import NO_TEXT, unscored
    from realtalk.ei.told_apart import told_apart as measure

    (one, people), (two, others) = first, second
    if people is None or others is None:
        return unscored(names, NO_TEXT)
    frames = (one.frame, two.frame)
    joined = rules_of(one.protocol).joined
    return measure(people, others, frames, names, joined=joined, progress=progress)
