"""A path that was read → the EI labels that lie beside it, if somebody made them.

    labels_beside("mara.zip", corpus)    → LabelsOf(Path("mara-labels")), or LabelsOf()
    LabelsOf(folder).frame()             → one row per turn, as `realtalk ei` wrote them

Looked at are the folders in the path's own folder and those inside it. Labels belong to a corpus
that holds the same to the letter: their run notes a hash of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

_MOST_FOLDERS = 500


@dataclass(frozen=True, slots=True)
class LabelsOf:
    """Where the labels of a corpus lie; None where nowhere."""

    folder: Path | None = None

    def frame(self) -> pl.DataFrame | None:
        """The labels, one row per turn."""
        from realtalk.ei.label_files import read_labels

        return None if self.folder is None else read_labels(self.folder)


def named_labels(folder: Path) -> LabelsOf:
    """Labels that somebody names: read once now, so that what is wrong is said at the start."""
    labels = LabelsOf(folder)
    labels.frame()
    return labels


def labels_beside(path: str, corpus: Corpus) -> LabelsOf:
    """The labels of a corpus that lie beside it or inside its folder."""
    from realtalk.ei.label_files import is_labels
    from realtalk.ei.labelling import stored_settings
    from realtalk.evals.corpus_records import content_hash

    known: str | None = None
    for folder in _folders(Path(path)):
        try:
            settings = stored_settings(folder) if is_labels(folder) else None
        except RealtalkError:  # somebody's half-made folder is none of ours
            continue
        if settings is None:
            continue
        known = known or content_hash(corpus)
        if settings["corpus"].get("sha256") == known:
            return LabelsOf(folder)
    return LabelsOf()


def _folders(place: Path) -> Iterator[Path]:
    """Folders inside the path and beside it."""
    if not place.exists():  # the name of a sample
        return
    homes = [place, place.absolute().parent] if place.is_dir() else [place.absolute().parent]
    for home in homes:
        try:
            yield from sorted(
                each for each in islice(home.iterdir(), _MOST_FOLDERS) if each.is_dir()
            )
        except OSError:
            continue
