"""The EI of every message for the strip beside it: read from labels, or made in the background.

    strips = Strips.background(chat)     starts on first use; kept in the cache
    strips.of("D1:2")                    → Label(sentiment="positive", emotion="joy", …) or None
    strips.progress                      → (done, total, "")
    strips.doubt                         → "Spanish in 412 turns, labelled by …", "" of English

A turn's label stands beside each of its messages. Labels that are made here are kept as a run
in the user's cache, ids and labels only, so the next opening of the same chat finds them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus
from realtalk.ei.encoder_choice import MULTILINGUAL, encoder_for, is_shipped
from realtalk.ei.label_files import read_labels, with_languages
from realtalk.ei.labels import Label, TurnInput, turn_inputs, versions_of
from realtalk.ei.languages import Languages, chat_languages, language_notes
from realtalk.errors import RealtalkError
from realtalk.local.download import cache_folder
from realtalk.text.languages import turn_languages

_LAYOUT = 2  # of the rows kept: labels of an earlier version lack columns
_AT_ONCE = 64  # turns between two looks at what is done
_KEY = ("turn",)


_NAMES = tuple(field.name for field in fields(Label) if field.name != "unscored")


class Strips:
    """Strips of one chat by message id, growing while they are made."""

    def __init__(
        self, found: Mapping[str, Label] | None = None, languages: Iterable[Languages] = ()
    ) -> None:
        self._found: dict[str, Label] = dict(found or {})
        # Of this one chat, whose name stands above the page anyway.
        self.doubt = "; ".join(
            line.removeprefix(f"{each.chat}: ")
            for each in languages
            for line in language_notes([each])
        )
        self.done, self.total, self.note = len(self._found), len(self._found), ""
        self._near = ""  # a message that is being read

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
    def background(cls, chat: Chat, cache: Path | None = None) -> Strips:
        """Strips that fill by themselves; the thread ends with the program."""
        turns = turn_inputs(Corpus("", "", (chat,)))
        languages = turn_languages((each.chat, each.speaker, each.text) for each in turns)
        spoken = Counter(languages)
        # Said at once, before the encoder is loaded: which one it will be is known.
        version = MULTILINGUAL if encoder_for(spoken) == MULTILINGUAL else ""
        version = version if is_shipped(MULTILINGUAL) else ""
        strips = cls(languages=[Languages(chat.id, "embedded", spoken, version)])
        strips.total = len(chat.turns)
        threading.Thread(target=strips._make, args=(chat, cache), daemon=True).start()
        return strips

    def _make(self, chat: Chat, cache: Path | None) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._label(chat, cache_folder(cache) / "studio")
        except RealtalkError as error:
            self.note = error.what
        except Exception as error:
            self.note = f"labelling failed ({type(error).__name__})"
            logging.getLogger("realtalk.studio").warning("%s", self.note)

    def _label(self, chat: Chat, folder: Path) -> None:
        from realtalk.ei.embedded import EmbeddedLabeller
        from realtalk.evals.folder import RunFolder

        _yield_to_readers()
        inputs = turn_inputs(Corpus("", "", (chat,)))
        labeller = EmbeddedLabeller(threads=1)  # the other cores are for the reader
        version = versions_of(labeller, {given.encoder for given in inputs})
        settings = {"measure": labeller.name, "version": version}
        place = folder / f"{_fingerprint(chat)}-{version.replace(' ', '-')}-{_LAYOUT}"
        with RunFolder.open(place, "studio labels", settings) as run:
            rows = run.table("labels", _KEY)
            for row in rows.rows:
                self._take(row["ids"], row)
            self.done = len(rows)
            left = [given for given in inputs if rows.get((given.turn,)) is None]
            while left:
                part, left = self._next(left)
                for given, label in zip(part, labeller.label(part), strict=True):
                    row = {name: getattr(label, name) for name in _NAMES}
                    row |= {"turn": given.turn, "ids": list(given.ids)}
                    row["unscored"] = dict(label.unscored)
                    rows.add(row)
                    self._take(given.ids, row)
                self.done += len(part)

    def _next(self, left: list[TurnInput]) -> tuple[list[TurnInput], list[TurnInput]]:
        """The next turns to label, from where somebody reads, and what is left after them."""
        near = self._near
        at = next((at for at, given in enumerate(left) if near in given.ids), 0) if near else 0
        return left[at : at + _AT_ONCE], left[:at] + left[at + _AT_ONCE :]

    def _take(self, ids: Iterable[str], row: Mapping[str, Any]) -> None:
        strip = Label(**{name: row[name] for name in _NAMES}, unscored=row["unscored"])
        for id_ in ids:
            self._found[id_] = strip


def _yield_to_readers() -> None:
    """This thread gives way to those that answer; only Linux has priorities of threads.

    A main thread could never take it back, and whoever labels in one waits for it anyway.
    """
    if sys.platform == "linux" and threading.current_thread() is not threading.main_thread():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


_ONE_AT_A_TIME = threading.Lock()  # the encoder takes every core it is given


def _fingerprint(chat: Chat) -> str:
    digest = hashlib.sha256(chat.id.encode())
    for message in chat.messages:
        digest.update(f"\0{message.id}\0{message.speaker}\0{message.text}".encode())
    return digest.hexdigest()[:24]


def read_strips(path: Path, corpus: Corpus | None = None) -> dict[str, Strips]:
    """The strips of every chat in a folder that `realtalk ei PATH --out` wrote, or in its file.

    Labels of an earlier version do not know languages; those of the corpus are then looked at.
    """
    frame = read_labels(path) if corpus is None else with_languages(read_labels(path), corpus)
    spoken: dict[str, list[Languages]] = {}
    for each in chat_languages(frame):
        spoken.setdefault(each.chat, []).append(each)
    labels: dict[str, dict[str, Label]] = {}
    for row in frame.iter_rows(named=True):
        reasons = {each["measure"]: each["reason"] for each in row["unscored"] or ()}
        strip = Label(**{name: row[name] for name in _NAMES}, unscored=reasons)
        for id_ in row["message_ids"]:
            labels.setdefault(row["chat"], {})[id_] = strip
    return {chat: Strips(strips, spoken[chat]) for chat, strips in labels.items()}
