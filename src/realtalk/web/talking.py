"""Talk: somebody writes in the browser, a simulator answers as one of the chat's speakers.

    room = TalkRoom("Mara", "Theo", begin)      # begin(answer) → Talk; it asks for consent
    room.open("")                               raises NoConsent where nobody said yes yet
    room.open("given")                          the model is loaded, the talk begins or goes on
    for line in room.say("are you up?"): …      → b'{"piece":"bare"}\\n', …, b'{"text":"barely"}\\n'

The talk is the terminal's: the same simulators, the same consent, the same corpus in which what
was simulated is marked. One message is answered at a time; whoever leaves the page while a reply is
written finds it there later.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from realtalk.chat import Session
from realtalk.errors import RealtalkError, as_options
from realtalk.persona.talking import Talk, question


class TalkRoom:
    """One talk, for all pages that show it."""

    def __init__(self, speaker: str, partner: str, begin: Callable[[str], Talk]) -> None:
        self.speaker, self.partner = speaker, partner
        self._begin = begin
        self._talk: Talk | None = None
        self._opening = threading.Lock()
        self._writing = threading.Lock()

    @property
    def question(self) -> str:
        """What somebody is asked before the first word, by name."""
        return question(self.speaker).strip()

    @property
    def sessions(self) -> tuple[Session, ...]:
        """What was said, here and earlier; nothing before it is opened."""
        return () if self._talk is None else self._talk.corpus.chats[0].sessions

    def open(self, answer: str) -> None:
        """Begins, or goes on; without a yes that is kept or given, nothing does."""
        with self._opening:
            if self._talk is None:
                self._talk = self._begin(answer)

    def say(self, text: str) -> Iterator[bytes]:
        """The reply as lines of JSON: pieces as they are written, then all of it, or an error."""
        talk = self._talk
        if talk is None:
            raise RealtalkError("the talk has not begun", fix="load the page again")
        if not self._writing.acquire(blocking=False):
            raise RealtalkError(f"{self.speaker} is still writing", fix="wait for the reply")
        pieces: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

        def work() -> None:
            try:
                reply = talk.say(text, lambda piece: pieces.put({"piece": piece}))
                pieces.put({"text": reply})
            except RealtalkError as error:
                pieces.put({"error": as_options(str(error))})
            except BaseException:
                pieces.put({"error": "something went wrong; the terminal says where"})
                raise
            finally:
                self._writing.release()
                pieces.put(None)

        # A thread of its own: the reply is kept even where nobody waits for it any more.
        threading.Thread(target=work, daemon=True).start()
        return (orjson.dumps(piece) + b"\n" for piece in iter(pieces.get, None))
