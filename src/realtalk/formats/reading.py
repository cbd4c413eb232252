"""What a reader is given and what it gives back.

    reading = whatsapp.read(Source.open("chat.txt"), ReadOptions(gap=timedelta(hours=6)))
    reading.corpus   → Corpus of frozen values (built on first use)
    reading.tables   → the same as columns (what is stored, and what statistics use)
    reading.ledger   → 120 lines = 112 in messages + 6 system + 2 left over

A reader builds whichever of the two forms it can build fast; the other is derived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from realtalk.chat import Corpus
from realtalk.files.progress import Progress, silent
from realtalk.text.calendars import DateOrder

if TYPE_CHECKING:
    from pathlib import Path

    from realtalk.formats.source import Member, Source
    from realtalk.formats.tables import Tables


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read what the source does not say by itself."""

    gap: timedelta | Literal["day"] = timedelta(hours=6)  # a session ends at such a pause
    dates: DateOrder | None = None  # None: decided from the file
    timezone: str | None = None  # for exports that stamp in UTC; None keeps UTC
    columns: tuple[tuple[str, str], ...] = ()  # our name → theirs, for JSONL and CSV
    progress: Progress = field(default=silent, compare=False)

    def in_turn(self, members: Sequence[Member]) -> Iterator[Member]:
        """Files one after the other, with progress."""
        for done, member in enumerate(members):
            self.progress(done, len(members), member.name)
            yield member
        self.progress(len(members), len(members), "")


@dataclass(frozen=True, slots=True)
class Leftover:
    """Input that became neither a message nor a system line, and why. Never its text."""

    where: str  # "chat.txt:14" or "messages[3]"
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where every line or entry of the input went; it must add up."""

    unit: str  # "lines" or "entries"
    total: int
    in_messages: int
    system: int = 0
    leftovers: tuple[Leftover, ...] = ()

    def __post_init__(self) -> None:
        if self.total != self.in_messages + self.system + len(self.leftovers):
            raise ValueError(
                f"ledger does not add up: {self.total} {self.unit} = {self.in_messages} in "
                f"messages + {self.system} system + {len(self.leftovers)} left over"
            )

    @staticmethod
    def of(
        in_messages: int, leftovers: Sequence[Leftover], system: int = 0, unit: str = "entries"
    ) -> Ledger:
        """What is in messages, or left over, or the app's."""
        total = in_messages + len(leftovers) + system
        return Ledger(unit, total, in_messages, system, tuple(leftovers))

    @staticmethod
    def sum(parts: Sequence[Ledger], unit: str = "") -> Ledger:
        """All parts as one, in one go: to add a hundred thousand chats one by one takes hours."""
        unit = unit or (parts[0].unit if parts else "entries")
        return Ledger(
            unit if all(part.unit == unit for part in parts) else "entries",
            sum(part.total for part in parts),
            sum(part.in_messages for part in parts),
            sum(part.system for part in parts),
            tuple(leftover for part in parts for leftover in part.leftovers),
        )

    def to_json(self) -> dict[str, Any]:
        """The counts, without what was left over."""
        return {
            "unit": self.unit,
            "total": self.total,
            "in_messages": self.in_messages,
            "system": self.system,
            "left_over": len(self.leftovers),
        }

    def __str__(self) -> str:
        return (
            f"{self.total:,} {self.unit} = {self.in_messages:,} in messages "
            f"+ {self.system:,} system + {len(self.leftovers):,} left over"
        )


class ReadCorpus:
    """A corpus as read, with what happened on the way. Give either form, or both."""

    def __init__(
        self,
        *,
        corpus: Corpus | None = None,
        tables: Tables | None = None,
        ledger: Ledger,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._corpus = corpus
        self._tables = tables
        self.ledger = ledger
        self.notes = notes  # one line each, for the person who reads: assumptions, repairs

    @property
    def corpus(self) -> Corpus:
        if self._corpus is None:
            from realtalk.formats.tables import to_corpus

            self._corpus = to_corpus(self.tables)
        return self._corpus

    @property
    def tables(self) -> Tables:
        if self._tables is None:
            from realtalk.formats.tables import from_corpus

            assert self._corpus is not None
            self._tables = from_corpus(self._corpus)
        return self._tables


@dataclass(frozen=True, slots=True)
class Format:
    """One way that chats are written down.

    `sniff` looks at names and heads only and must not raise on foreign bytes.
    """

    title: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source, ReadOptions], ReadCorpus]
    write: Callable[[Corpus, Path], tuple[Path, ...]] | None = None
