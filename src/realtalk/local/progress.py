"""How long work says how far it is, without knowing who shows it.

    def read(path: Path, progress: Progress = silent) -> Corpus:
        progress(120, 4_000, "messages")

The command line hands in a bar, Python and tests nothing.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with (done, total, what) while long work goes on; total may be 0 for unknown."""

    def __call__(self, done: int, total: int, what: str) -> None: ...


def silent(done: int, total: int, what: str) -> None:
    """The progress of callers that show none."""
