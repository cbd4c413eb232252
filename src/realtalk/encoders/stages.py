"""Work on a device → seconds per stage, for whoever measures; nobody else pays for it.

    stages = Stages("cuda")
    with stages.host("tokenizing"): ...
    with stages.device("compute"): ...          # between two events on the device's own clock
    stages.seconds()                             → {"tokenizing": 0.21, "compute": 0.35}

Stages overlap: on a thread of the host, and on the device. Their seconds are each stage's own,
and may add up to more than what passed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol


class StageClock(Protocol):
    """Told where a stage begins and ends, on the host or on the device."""

    def host(self, name: str, /) -> AbstractContextManager[None]: ...
    def device(self, name: str, /) -> AbstractContextManager[None]: ...


class Untimed:
    """The clock of those who do not measure."""

    def host(self, _name: str, /) -> AbstractContextManager[None]:
        return nullcontext()

    def device(self, _name: str, /) -> AbstractContextManager[None]:
        return nullcontext()


class Stages:
    """A clock that keeps what it is told."""

    def __init__(self, device: str) -> None:
        self._on_gpu = device.startswith("cuda")
        self._seconds: dict[str, float] = {}
        self._events: list[tuple[str, Any, Any]] = []

    @contextmanager
    def host(self, name: str, /) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self._seconds[name] = self._seconds.get(name, 0.0) + spent

    @contextmanager
    def device(self, name: str, /) -> Iterator[None]:
        if not self._on_gpu:
            with self.host(name):
                yield
            return
        import torch

        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        try:
            yield
        finally:
            last.record()
            self._events.append((name, first, last))

    def seconds(self) -> dict[str, float]:
        """Each stage's own seconds, once the device is done."""
        if self._on_gpu:
            import torch

            torch.cuda.synchronize()
        for name, first, last in self._events:
            spent = first.elapsed_time(last) / 1000
            self._seconds[name] = self._seconds.get(name, 0.0) + spent
        self._events.clear()
        return dict(self._seconds)
