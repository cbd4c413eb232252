"""The EI of every message for the strip beside it: read from labels, or made in the background.

    strips = Strips.background(chat)     starts when first asked for; kept in the cache
    strips.of("D1:2")                    → Strip(sentiment="positive", emotion="joy", …) or None
    strips.progress                      → (done, total, "")

A turn's label stands beside each of its messages. Labels that are made here are kept as a run
in the user's cache, ids and labels only, so the next opening of the same chat finds them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Chat, Corpus
from realtalk.corpora.download import cache_folder
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from realtalk.measures.labels import TurnInput

__all__ = ["Strip", "Strips", "read_labels"]

_AT_ONCE = 64  # turns between two looks at what is done
_KEY = ("turn",)


@dataclass(frozen=True, slots=True)
class Strip:
    """What was measured of one turn; None is unscored."""

    reflective: bool | None = None
    reflective_p: float | None = None
    grounding: bool | None = None
    grounding_p: float | None = None
    sentiment: str | None = None
    sentiment_p: float | None = None
    emotion: str | None = None
    emotion_p: float | None = None
    intimacy: float | None = None
    emotional_reaction: int | None = None
    interpretation: int | None = None
    exploration: int | None = None
    empathy: float | None = None
    why: str = ""  # why something is unscored


_NAMES = tuple(field.name for field in fields(Strip) if field.name != "why")


class Strips:
    """Strips of one chat by message id, growing while they are made."""

    def __init__(self, found: Mapping[str, Strip] | None = None) -> None:
        self._found: dict[str, Strip] = dict(found or {})
        self.done, self.total, self.note = len(self._found), len(self._found), ""
        self._near = ""  # a message that is being read

    def of(self, message: str) -> Strip | None:
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
        strips = cls()
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
        from realtalk.measures.embedded import EmbeddedLabeller
        from realtalk.measures.labels import turn_inputs
        from realtalk.runs.folder import Run

        _yield_to_readers()
        inputs = turn_inputs(Corpus("", "", (chat,)))
        labeller = EmbeddedLabeller(threads=1)  # the other cores are for the reader
        settings = {"measure": labeller.name, "version": labeller.version}
        place = folder / f"{_fingerprint(chat)}-{labeller.version}"
        with Run.open(place, "studio labels", settings) as run:
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
                    row["why"] = "; ".join(sorted(set(label.unscored.values())))
                    rows.add(row)
                    self._take(given.ids, row)
                self.done += len(part)

    def _next(self, left: list[TurnInput]) -> tuple[list[TurnInput], list[TurnInput]]:
        """The next turns to label, from where somebody reads, and what is left after them."""
        near = self._near
        at = next((at for at, given in enumerate(left) if near in given.ids), 0) if near else 0
        return left[at : at + _AT_ONCE], left[:at] + left[at + _AT_ONCE :]

    def _take(self, ids: Iterable[str], row: Mapping[str, Any]) -> None:
        strip = Strip(**{name: row.get(name) for name in _NAMES}, why=row.get("why") or "")
        for id_ in ids:
            self._found[id_] = strip


def _yield_to_readers() -> None:
    """This thread gives way to those that answer; only Linux has priorities of threads."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


_ONE_AT_A_TIME = threading.Lock()  # the encoder takes every core it is given


def _fingerprint(chat: Chat) -> str:
    digest = hashlib.sha256(chat.id.encode())
    for message in chat.messages:
        digest.update(f"\0{message.id}\0{message.speaker}\0{message.text}".encode())
    return digest.hexdigest()[:24]


def read_labels(path: Path) -> dict[str, Strips]:
    """The strips of every chat in a folder that `realtalk ei --out` wrote, or in its file."""
    import polars as pl

    from realtalk.measures.labels import LABELS

    file = path / "labels.parquet" if path.is_dir() else path
    fix = "make them with: realtalk ei PATH --out DIR"
    if not file.is_file():
        raise RealtalkError("no labels here", where=str(file), fix=fix)
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file), fix=fix) from error
    if frame.schema != LABELS:
        raise RealtalkError("has other columns than labels", where=str(file), fix=fix)
    found: dict[str, dict[str, Strip]] = {}
    for row in frame.iter_rows(named=True):
        reasons = {each["reason"] for each in row["unscored"] or ()}
        strip = Strip(**{name: row[name] for name in _NAMES}, why="; ".join(sorted(reasons)))
        for id_ in row["message_ids"]:
            found.setdefault(row["chat"], {})[id_] = strip
    return {chat: Strips(strips) for chat, strips in found.items()}
