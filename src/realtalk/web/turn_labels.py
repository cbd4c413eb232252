"""The EI of every message for the strip beside it: read from labels, or made in the background.

    labels = TurnLabels.background(chat) starts on first use; kept in the cache
    labels.of("D1:2")                    → Label(sentiment="positive", emotion="joy", …) or None
    labels.progress                      → (done, total, "")
    labels.doubt                         → "Spanish in 412 turns, labelled by …", "" of English

A turn's label stands beside each of its messages. Labels come from the one
place that makes and keeps them (`ei.labelling`), from where somebody reads onwards.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from realtalk.chat import Chat, Corpus
from realtalk.ei.encoder_choice import MULTILINGUAL, encoder_for, is_shipped
from realtalk.ei.labels import Label, TurnInput, label_of, turn_inputs
from realtalk.ei.languages import Languages, chat_languages, language_notes
from realtalk.ei.results import read_labels
from realtalk.errors import RealtalkError, as_options
from realtalk.grouping import grouped
from realtalk.text.languages import turn_languages

_AT_ONCE = 64  # turns between two looks at what is done
_PATIENCE = 30.0  # seconds; the encoder is loaded, or goes through some turns, in one or two


class TurnLabels:
    """Strips of one chat by message id, growing while they are made."""

    def __init__(
        self, labels: Mapping[str, Label] | None = None, languages: Iterable[Languages] = ()
    ) -> None:
        self._found: dict[str, Label] = dict(labels or {})
        # Of this one chat, whose name stands above the page anyway.
        self.doubt = "; ".join(
            as_options(line.removeprefix(f"{language.chat}: "))
            for language in languages
            for line in language_notes([language])
        )
        self.done = self.total = len(self._found)
        self.note = ""  # what went wrong
        self._near = ""  # a message that is being read
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def of(self, message: str) -> Label | None:
        return self._found.get(message)

    def reading(self, message: str) -> None:
        """Turns from this message on are labelled next."""
        self._near = message

    @property
    def progress(self) -> tuple[int, int, str]:
        """Turns done, turns in all, and what went wrong."""
        return self.done, self.total, self.note

    @classmethod
    def background(cls, chat: Chat, cache: Path | None = None) -> TurnLabels:
        """Strips that fill by themselves, until they are whole or `stop` is called."""
        turns = turn_inputs(Corpus("", "", (chat,)))
        spoken = Counter(turn_languages((turn.chat, turn.speaker, turn.text) for turn in turns))
        # Said at once, before the encoder is loaded: which one it will be is known.
        is_other = encoder_for(spoken) == MULTILINGUAL and is_shipped(MULTILINGUAL)
        version = MULTILINGUAL if is_other else ""
        labels = cls(languages=[Languages(chat.id, "embedded", spoken, version)])
        labels.total = len(chat.turns)
        labels._thread = threading.Thread(target=labels._make, args=(turns, cache), daemon=True)
        labels._thread.start()
        return labels

    @staticmethod
    def stop(several: Collection[TurnLabels]) -> None:
        """Ends the making; a thread that is inside the encoder when Python ends would abort it."""
        for labels in several:
            labels._stopping.set()
        for labels in several:
            if labels._thread is not None:
                labels._thread.join(_PATIENCE)

    def _make(self, turns: list[TurnInput], cache: Path | None) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._label(turns, cache)
        except RealtalkError as error:
            self.note = error.what
        except Exception as error:
            self.note = f"labelling failed ({type(error).__name__})"
            logging.getLogger("realtalk.web").warning("%s", self.note)

    def _label(self, turns: list[TurnInput], cache: Path | None) -> None:
        from realtalk.ei.embedded import EmbeddedLabeller
        from realtalk.ei.labelling import CachedLabels

        if self._stopping.is_set():
            return
        _yield_to_readers()
        # One thread: the other cores are for the reader.
        labels = CachedLabels(turns, EmbeddedLabeller(threads=1), cache)
        while turns and not self._stopping.is_set():
            # From where somebody reads.
            at = next((at for at, turn in enumerate(turns) if self._near in turn.ids), 0)
            part = turns[at : at + _AT_ONCE]
            for turn, label in zip(part, labels.label(part), strict=True):
                self._found.update(dict.fromkeys(turn.ids, label))
            turns = turns[:at] + turns[at + _AT_ONCE :]
            self.done += len(part)


def _yield_to_readers() -> None:
    """This thread gives way to those that answer; only Linux has priorities of threads.

    A main thread could never take it back, and whoever labels in one waits for it anyway.
    """
    if sys.platform == "linux" and threading.current_thread() is not threading.main_thread():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


_ONE_AT_A_TIME = threading.Lock()  # the encoder takes every core it is given


def read_turn_labels(path: Path) -> dict[str, TurnLabels]:
    """The labels of every chat in a folder that `realtalk ei PATH --out` wrote, or in its file."""
    frame = read_labels(path)
    spoken = grouped((language.chat, language) for language in chat_languages(frame))
    labels: dict[str, dict[str, Label]] = {}
    for row in frame.iter_rows(named=True):
        own = labels.setdefault(row["chat"], {})
        own.update(dict.fromkeys(row["message_ids"], label_of(row)))
    return {chat: TurnLabels(own, spoken[chat]) for chat, own in labels.items()}
