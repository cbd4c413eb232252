"""Errands one after the other in this process: the engine that the others are measured by.

Inline().results(make, errands)   → one PartResult per errand, in their order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from realtalk.engine.jobs import Errand, PartResult, Work
from realtalk.engine.working import carry_out


@dataclass(frozen=True)
class Inline:
    """No other process: what kills a worker kills the whole."""

    threads: None = None

    def results(self, make: Callable[[], Work], errands: Sequence[Errand]) -> Iterator[PartResult]:
        work = make()
        for errand in errands:
            yield carry_out(work, errand)
