"""A target → what its user wrote elsewhere before, and what a stranger had written by then.

    histories = Histories(forest, CLEAN, "sentiment")
    histories.own(31, talk=True)        → [2, 7, 19]     rows of the user, oldest first
    histories.strange(31, talk=True)    → [4, 11, 23]    as many, of somebody else
    histories.show(31, own=True, talk=True)    → History, a sequence of ShownEntry, chosen when read

The stranger is fixed by the target: of the people who had reached the same number of writings
last before the cutoff, the one whose texts come nearest in length. Nobody who speaks in the
conversation is taken. History is chosen by recency, or by nearness of the shipped encoder to what
the sample shows anyway: the target's text, or where that is to be written the parent's text; with
neither (next_text without conversation) by recency.

Nearness costs an encoder, so nothing is chosen before somebody reads it: who only asks whose
history it is, or whether there is any, pays nothing. Where all there is may be shown, nothing has
to be chosen. A text is encoded once, for all settings and runs (vectors.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import cosines
from realtalk.threads.forest import Forest
from realtalk.threads.values import Protocol, Setting, ShownEntry, Task
from realtalk.threads.vectors import Vectors

_POOL = 50  # latest writings that nearness chooses from
_ASKED = 64  # people who are looked at to find a stranger
_FIT = 6  # of them, so many with enough history are compared by length


class Histories:
    """Rows of history for targets of one task."""

    def __init__(self, forest: Forest, rules: Protocol, task: Task) -> None:
        self._forest = forest
        self._rules = rules
        self._task = task
        self._any_time = "later-history" in rules.leaks
        self._own_thread = "own-thread-only" in rules.leaks
        self._near = rules.chosen == "near"
        self._by_number: dict[int, list[tuple[int, int]]] = {}
        self._strangers: dict[int, int | None] = {}
        self._vectors = Vectors()

    def own(self, row: int, talk: bool) -> list[int]:
        """The user's; `talk` says whether the conversation is shown."""
        plain, most = self._forest.plain, self._rules.history
        author, thread = plain.author[row], plain.thread[row]
        if not most:
            return []
        if not self._own_thread:
            return self._choose(row, self._elsewhere(author, row, self._pool), talk, most)
        if talk:
            cutoff = None if "later-comments" in self._rules.leaks else plain.time[row]
            rows = self._forest.written_in(author, thread, cutoff, most + 1)
            return [candidate for candidate in rows if candidate != row][-most:]
        if self._task != "next_text":
            return []
        # As the released code does there: other posts, at any time where that leak is on.
        rows = self._elsewhere(author, row, len(self._forest))
        return [candidate for candidate in rows if plain.parent[candidate] < 0][-most:]

    def number(self, row: int, talk: bool) -> int:
        """How many the user's are. None of them is chosen for that."""
        if self._own_thread:
            return len(self.own(row, talk))
        return len(self._elsewhere(self._forest.plain.author[row], row, self._rules.history))

    def show(
        self, row: int, *, own: bool, talk: bool, ready: Callable[[], None] = lambda: None
    ) -> History:
        """What a sample shows. `ready` is called before the first choice."""
        forest, scored = self._forest, self._rules.shows_scores

        def person() -> str | None:
            if not self.number(row, talk):
                return None
            if own:
                return forest.name(row)
            ready()
            stranger = self.stranger(row)
            return None if stranger is None else forest.names[stranger]

        def entries() -> tuple[ShownEntry, ...]:
            ready()
            rows = (self.own if own else self.strange)(row, talk)
            return tuple(forest.shown_entry(entry, scored) for entry in rows)

        return History(person, entries)

    def strange(self, row: int, talk: bool) -> list[int]:
        """A stranger's, as many as the user has."""
        count = self.number(row, talk)
        stranger = self.stranger(row) if count else None
        if stranger is None:
            return []
        pool = self._elsewhere(stranger, row, self._pool)
        return self._choose(row, pool, talk, count)

    def stranger(self, row: int) -> int | None:
        """The author whose history stands in for the user's; None where nobody has any yet.

        The same with and without conversation, whichever is asked for first.
        """
        if row not in self._strangers:
            own = self.own(row, talk=True) or self.own(row, talk=False)
            self._strangers[row] = self._alike(row, own) if own else None
        return self._strangers[row]

    def prepare(self, rows: Sequence[int], setting: Setting, progress: Progress = silent) -> None:
        """Encodes at once all texts that nearness will need for these targets."""
        self._vectors.add(self.near_texts(rows, setting), progress)
        if self._near and setting.startswith("np"):
            others = [self.stranger(row) for row in rows]
            talk = setting.endswith("-conv")
            self._vectors.add(self._texts_to_compare(rows, others, talk), progress)

    def near_texts(self, rows: Sequence[int], setting: Setting) -> list[str]:
        """The texts that nearness will compare for these targets' own users.

        With strangers the choice with conversation: it decides who the stranger is.
        """
        if not self._near or self._own_thread:
            return []
        users = [self._forest.plain.author[row] for row in rows]
        talk = setting.endswith("-conv") or setting.startswith("np")
        return self._texts_to_compare(rows, users, talk)

    def _texts_to_compare(
        self, rows: Sequence[int], authors: Sequence[int | None], talk: bool
    ) -> list[str]:
        """The texts that are compared where more was written than may be shown, in order."""
        needed: set[int] = set()
        for row, author in zip(rows, authors, strict=True):
            query = self._query(row, talk)
            pool = [] if author is None else self._elsewhere(author, row, self._pool)
            if query is not None and len(pool) > self.number(row, talk) > 0:
                needed |= {query, *pool}
        return [self._forest.text(number) for number in sorted(needed)]

    @property
    def _pool(self) -> int:
        return max(_POOL, self._rules.history) if self._near else self._rules.history

    def _elsewhere(self, author: int, row: int, most: int) -> list[int]:
        plain = self._forest.plain
        cutoff = None if self._any_time else plain.time[row]
        return self._forest.rows_by(author, cutoff, plain.thread[row], most)

    def _query(self, row: int, talk: bool) -> int | None:
        """The row to be near to; None where nothing is shown that has words."""
        if self._task != "next_text":
            return row
        parent = self._forest.plain.parent[row] if talk else -1
        return parent if parent >= 0 and self._forest.text(parent).strip() else None

    def _choose(self, row: int, pool: Sequence[int], talk: bool, most: int) -> list[int]:
        query = self._query(row, talk) if self._near else None
        if query is None or len(pool) <= most:
            return list(pool[-most:])
        # The query with the pool: what is not known yet is encoded together.
        vectors = self._vectors.of([self._forest.text(candidate) for candidate in (query, *pool)])
        best = np.argsort(-cosines(vectors[1:], vectors[0]), kind="stable")[:most]
        return [pool[place] for place in sorted(best.tolist())]

    def _alike(self, row: int, own: Sequence[int]) -> int | None:
        """Who had written as much by then, in texts as long."""
        plain, count = self._forest.plain, len(own)
        if count not in self._by_number:
            self._by_number[count] = self._forest.times_of(count)
        reached = self._by_number[count]
        stop = len(reached) if self._any_time else bisect_left(reached, (plain.time[row],))
        path = self._forest.path(row, self._rules.conversation)
        present = {plain.author[ancestor] for ancestor in (*path, row)}
        ranks: list[tuple[int, int, int, int]] = []  # short by, length apart, place, author
        for at in range(max(0, stop - _ASKED), stop)[::-1]:
            author = reached[at][1]
            rows = [] if author in present else self._elsewhere(author, row, count)
            if rows:
                apart = abs(self._length(rows) - self._length(own))
                ranks.append((count - len(rows), apart, at, author))
            if sum(short == 0 for short, *_ in ranks) == _FIT:
                break
        return min(ranks)[3] if ranks else None

    def _length(self, rows: Sequence[int]) -> int:
        return sum(len(self._forest.text(row)) for row in rows)


class History(Sequence[ShownEntry]):
    """What somebody wrote, oldest first, chosen when it is first read. Equal to a tuple of it."""

    def __init__(
        self, person: Callable[[], str | None], entries: Callable[[], tuple[ShownEntry, ...]]
    ) -> None:
        self._find_person = person
        self._find_entries = entries

    @cached_property
    def person(self) -> str | None:
        """Who wrote it; None where there is nothing."""
        return self._find_person()

    @cached_property
    def entries(self) -> tuple[ShownEntry, ...]:
        return self._find_entries()

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> ShownEntry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ShownEntry, ...]: ...
    def __getitem__(self, index: int | slice) -> ShownEntry | tuple[ShownEntry, ...]:
        return self.entries[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.entries == tuple(other)

    def __hash__(self) -> int:
        return hash(self.entries)
