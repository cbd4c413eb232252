"""What a run keeps beside its rows: times, preparations, and facts of whole stages.

timings = LateTable(folder, "timings", KEY)     # no file before the first row
facts = StageFacts.open(benchmark, folder)      # None where a benchmark tells none
facts.tell(stage, rows)                         → {"group": "Mara", "scored": 40, …}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from realtalk.evals.folder import RunFolder, Table
from realtalk.evals.values import Benchmark, Row, Stage

FACTS_KEY = ("group",)


class LateTable:
    """A table that is opened when its first row comes: most runs have none of its kind."""

    def __init__(self, folder: RunFolder, name: str, key: Sequence[str]) -> None:
        self._folder = folder
        self._name = name
        self._key = key
        self._table: Table | None = None
        self.stored = folder.rows(name, key)

    def add(self, row: Row) -> None:
        if self._table is None:
            self._table = self._folder.table(self._name, self._key)
        self._table.add(row)

    def finish(self, order: Sequence[tuple[str, ...]]) -> list[Row]:
        """Every row, in the order given, those not named last; a table of its own where new."""
        if self._table is None:
            return self.stored
        self._table.finish(order)
        return self._table.in_order(order)


class StageFacts:
    """The table `groups`: what a benchmark tells of its stages.

    A row that has its scores is never made again. So facts are up to date where they were made
    from as many scored rows as there are.
    """

    def __init__(self, tell: Callable[[Stage[Any, Any], Sequence[Row]], Row], table: Table) -> None:
        self._tell = tell
        self._table = table
        self._order: list[tuple[str]] = []

    @classmethod
    def open(cls, benchmark: Benchmark[Any, Any, Any], folder: RunFolder) -> StageFacts | None:
        tell = getattr(benchmark, "facts", None)
        return None if tell is None else cls(tell, folder.table("groups", FACTS_KEY))

    def tell(self, stage: Stage[Any, Any], rows: Sequence[Row]) -> None:
        self._order.append((stage.title,))
        scored = sum(row["unscored"] is None is row["untold"] for row in rows)
        known = self._table.get((stage.title,))
        if known is None or known["scored"] != scored:
            facts = self._tell(stage, rows)
            self._table.add({"group": stage.title, "scored": scored, **facts})

    def finish(self) -> list[Row]:
        self._table.finish(self._order)
        return self._table.in_order(self._order)
