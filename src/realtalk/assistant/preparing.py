"""Work that takes its time → begun at once, waited for only where somebody needs it.

    chats = Prepared(lambda: Collection.of(corpora, redact=True))
    chats.get()     → the collection; RealtalkError where it is not made after some seconds

To redact a large archive takes minutes, and an assistant does not wait that long for a server to
greet it: the greeting needs no chats, and the first question may be asked again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from realtalk.errors import RealtalkError

T = TypeVar("T")

WAIT = 40.0  # seconds; assistants give up after a minute


class Prepared(Generic[T]):
    """The value of a function that runs in a thread of its own."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value: T | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._make()
        except BaseException as error:
            self._error = error

    def get(self, wait: float | None = None) -> T:
        """The value, as soon as it is there."""
        self._thread.join(WAIT if wait is None else wait)
        if self._thread.is_alive():
            raise RealtalkError("the chats are still being prepared", fix="ask again in a minute")
        if self._error is not None:
            raise self._error
        assert self._value is not None
        return self._value
