"""Chats → memories that rank messages by meaning, made in the background.

    indexes = Indexes()
    indexes.built(chats, wait=20)    → Ranked({chat: memory, …}) when all are encoded in time,
                                     → Ranked(None, "searched by words: …") until then

The encoder is loaded for the first question, and goes through some hundred messages a second
the first time a chat is asked about; vectors are then kept in the cache, as `probe` keeps them.
An assistant does not wait that long for an answer, so meanwhile it gets one by words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from realtalk.assistant.collection import ListedChat
from realtalk.errors import RealtalkError
from realtalk.memory.retrieved import BuiltRetrieved, Retrieved

WAIT = 20.0  # seconds; assistants give up after a minute
_MOST_MESSAGES = 50_000  # of a chat that is encoded: its vectors take memory, and some minutes


@dataclass(frozen=True)
class Ranked:
    """A memory per chat; None where not all of them are ready: scores of two kinds do not mix."""

    memories: Mapping[ListedChat, BuiltRetrieved] | None
    note: str = ""


class Indexes:
    """Memories of chats, each made once."""

    def __init__(self) -> None:
        self._meaning = Retrieved()
        self._by_meaning: dict[ListedChat, BuiltRetrieved] = {}
        self._failed: set[ListedChat] = set()
        self._waiting: list[ListedChat] = []
        self._changed = threading.Condition()
        self._at_work = False

    def built(self, chats: Sequence[ListedChat], wait: float = WAIT) -> Ranked:
        """Memories of the chats, where they are ready after `wait` seconds."""
        long = [chat for chat in chats if len(chat.shown.messages) > _MOST_MESSAGES]
        if not long and self._ready(chats, wait):
            return Ranked({chat: self._by_meaning[chat] for chat in chats})
        return Ranked(None, self._why(chats, long))

    def _ready(self, chats: Sequence[ListedChat], wait: float) -> bool:
        with self._changed:
            new = [chat for chat in chats if chat not in self._by_meaning]
            self._waiting = [*new, *(chat for chat in self._waiting if chat not in new)]
            if self._waiting and not self._at_work:
                self._at_work = True
                threading.Thread(target=self._work, daemon=True).start()
            self._changed.wait_for(
                lambda: all(chat in self._by_meaning or chat in self._failed for chat in chats),
                wait,
            )
            return all(chat in self._by_meaning for chat in chats)

    def _work(self) -> None:
        """Builds what waits, first what was asked for last."""
        while True:
            with self._changed:
                done = self._by_meaning.keys() | self._failed
                self._waiting = [chat for chat in self._waiting if chat not in done]
                if not self._waiting:
                    self._at_work = False
                    return
                chat = self._waiting[0]
            built = None
            try:
                built = self._meaning.build(chat.shown)
            except RealtalkError as error:
                logging.getLogger("realtalk.assistant").warning("%s", error.what)
            except Exception as error:
                # Its message may hold what somebody wrote.
                kind = type(error).__name__
                logging.getLogger("realtalk.assistant").warning("no vectors (%s)", kind)
            with self._changed:
                if built is None:
                    self._failed.add(chat)
                else:
                    self._by_meaning[chat] = built
                self._changed.notify_all()

    def _why(self, chats: Sequence[ListedChat], long: Sequence[ListedChat]) -> str:
        if long:
            return (
                f"searched by words: {long[0].id} has more than {_MOST_MESSAGES:,} messages; "
                "name another chat to search that by meaning"
            )
        if any(chat in self._failed for chat in chats):
            return "searched by words: the vectors of a chat could not be made"
        return "searched by words: vectors of the messages are being made, ask again in a minute"
