"""Labels in a file → whole chats of them at a time, and what is said of them all.

    for frame in chat_frames(Path("labels")): ...       # some chats' labels, each chat once
    reasons_in(chat_frames(Path("labels")))             → [("emotion", "timeout", 3), …]

Facets, languages and reasons belong to a chat, so nobody needs all labels at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from realtalk.ei.label_files import LABEL_FILE, unscored_reasons
from realtalk.ei.labels import LABELS
from realtalk.errors import RealtalkError

_AT_ONCE = 65_536


def chat_frames(folder: Path) -> Iterator[pl.DataFrame]:
    """The labels of a finished run in their order; every frame has whole chats."""
    file = folder / LABEL_FILE
    waiting: list[pl.DataFrame] = []
    try:
        with pq.ParquetFile(file) as stored:
            for batch in stored.iter_batches(_AT_ONCE, columns=LABELS.names()):
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                last = frame["chat"] == frame["chat"][-1]
                begun = int(last.arg_max() or 0)  # where the last chat of the batch begins
                if begun or (waiting and waiting[-1]["chat"][-1] != frame["chat"][0]):
                    whole = pl.concat([*waiting, frame[:begun]])
                    waiting = []
                    if whole.height:
                        yield whole.cast(LABELS)
                waiting.append(frame[begun:])
    except (OSError, ValueError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file)) from error
    if waiting:
        yield pl.concat(waiting).cast(LABELS)


def turn_count(folder: Path) -> int | None:
    """How many labels a finished run has; None where it is not finished."""
    try:
        return int(pq.read_metadata(folder / LABEL_FILE).num_rows)
    except (OSError, ValueError):
        return None


def reasons_in(frames: Iterable[pl.DataFrame]) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    counts: Counter[tuple[str, str]] = Counter()
    for frame in frames:
        for measure, reason, count in unscored_reasons(frame):
            counts[measure, reason] += count
    return [(measure, reason, count) for (measure, reason), count in sorted(counts.items())]
