"""Lines chosen so that they fit a budget of tokens or words exactly.

    sheet = Lines(["Mara: hi", "Theo: hello"], ["[Monday 2 March 2026]"], [0, 0], [0, 0])
    sheet.fit([1, 0], Size(Budget(tokens=9)))   → [1]
    sheet.text([1])                             → "[Monday 2 March 2026]\nTheo: hello"

The tokens of a text are exactly the sum of its lines' (`encoders.tokens`): a budget is filled
without counting anything twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from realtalk.encoders.tokens import count_each, count_tokens, count_words
from realtalk.errors import RealtalkError
from realtalk.memory.values import Budget

_UNLIMITED = Budget()


class Size:
    """Tokens and words spent so far, against a budget."""

    __slots__ = ("_most_tokens", "_most_words", "tokens", "words")

    def __init__(self, budget: Budget = _UNLIMITED) -> None:
        for unit, most in (("tokens", budget.tokens), ("words", budget.words)):
            if most is not None and most < 0:
                raise RealtalkError(f"a budget must be 0 {unit} or more, not {most}")
        self.tokens = self.words = 0
        self._most_tokens = float("inf") if budget.tokens is None else budget.tokens
        self._most_words = float("inf") if budget.words is None else budget.words

    def add(self, tokens: int, words: int) -> bool:
        """Spends this much if it is there."""
        if self.tokens + tokens > self._most_tokens or self.words + words > self._most_words:
            return False
        self.tokens += tokens
        self.words += words
        return True

    def add_text(self, text: str) -> bool:
        """Spends what a text costs, line ends around it included, if that is there."""
        return self.add(count_tokens(text), count_words(text))


class Lines:
    """Lines in order, each under a head (a day) and in a block (a session), with their costs.

    A head is written once over the chosen lines that it stands for; an empty line parts two
    blocks. `counted=False` leaves the tokens out where only text is wanted.
    """

    def __init__(
        self,
        lines: Sequence[str],
        heads: Sequence[str],
        head_of: Sequence[int],
        block_of: Sequence[int],
        *,
        counted: bool = True,
    ) -> None:
        self.lines = tuple(lines)
        self.heads = tuple(heads)
        self.head_of = tuple(head_of)
        self.block_of = tuple(block_of)
        self.words: npt.NDArray[np.int64] = np.array([*map(count_words, lines)], np.int64)
        counts = count_each([*lines, *heads]) if counted else []
        self.tokens: npt.NDArray[np.int64] = np.array(counts[: len(lines)], np.int64)
        # One by one, numbers of Python cost a fifth of an array's.
        self._each = [*zip(counts[: len(lines)], self.words.tolist(), strict=False)]
        self._head_tokens = counts[len(lines) :]
        self._head_words = [count_words(head) for head in heads]

    def text(self, places: Collection[int]) -> str:
        """The lines at these places, in order, each once."""
        written: list[str] = []
        head = block = -1
        for at in sorted(set(places)):
            if self.head_of[at] != head:
                if written and self.block_of[at] != block:
                    written.append("")
                head, block = self.head_of[at], self.block_of[at]
                written.append(self.heads[head])
            written.append(self.lines[at])
        return "\n".join(written)

    def fit(self, places: Iterable[int], size: Size, *, skipping: bool = True) -> list[int]:
        """The places, best first, whose lines still fit; `size` grows by what they cost.

        A line that is too long is passed over; without `skipping` it is the end.
        """
        # As Filling does it, in one loop: this is the better part of recalling.
        taken: dict[int, None] = {}
        heads: set[int] = set()
        for at in places:
            if at in taken:
                continue
            tokens, words = self._each[at]
            head = self.head_of[at]
            if head not in heads:
                tokens += self._head_tokens[head]
                words += self._head_words[head]
            if size.add(tokens, words):
                taken[at] = None
                heads.add(head)
            elif not skipping:
                break
        return list(taken)

    def cost(self, at: int, *, with_head: bool) -> tuple[int, int]:
        """(tokens, words) of a line, its head included where that is not written yet."""
        tokens, words = self._each[at]
        if with_head:
            head = self.head_of[at]
            tokens += self._head_tokens[head]
            words += self._head_words[head]
        return tokens, words


class Filling:
    """Lines taken one by one while a budget lasts; several sheets can share one `size`."""

    def __init__(self, sheet: Lines, size: Size) -> None:
        self._sheet = sheet
        self._size = size
        self._taken: dict[int, None] = {}
        self._heads: set[int] = set()

    @property
    def taken(self) -> list[int]:
        """The places taken, in the order that they came."""
        return list(self._taken)

    def add(self, at: int) -> bool:
        """Takes the line at this place, unless it does not fit. One taken before costs nothing."""
        if at in self._taken:
            return True
        head = self._sheet.head_of[at]
        if not self._size.add(*self._sheet.cost(at, with_head=head not in self._heads)):
            return False
        self._taken[at] = None
        self._heads.add(head)
        return True
