"""A run: what was asked for, with which versions, and the rows that came of it.

`folder` keeps any benchmark's rows so that a kill at any moment loses nothing that was there;
the other modules carry out one benchmark each in such a folder.
"""

from realtalk.evals.folder import (
    RunFolder,
    Table,
    refuse_difference,
    refuse_other_folder,
    refuse_other_runs,
    versions,
)

__all__ = [
    "RunFolder",
    "Table",
    "refuse_difference",
    "refuse_other_folder",
    "refuse_other_runs",
    "versions",
]
