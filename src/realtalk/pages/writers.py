"""Who wrote a corpus, people or models, and by what that is known.

    said = AuthorOverrides(simulated=("mine",))
    writer_of(("mine", "mine-labels"), "jsonl", said)  → WriterKind(True, "as you said")
    writer_of(("bench",), "locomo", said)  → WriterKind(True, "by its format, locomo")
    writer_of(("family",), "whatsapp", said)  → WriterKind(False, "by its format, whatsapp")
    writer_of(("sample-simulated",), "realtalk", said)  → WriterKind(True, "by its name")
    writer_of(("realtalk",), "realtalk", said)  → WriterKind(False, "nothing says otherwise")

What the user says comes first, then what the format knows. A name is a guess, and the last resort.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from realtalk.errors import RealtalkError
from realtalk.registry import suggest

# A published corpus of chats between models.
_BY_MODELS = frozenset({"locomo"})
# What a messenger wrote for the people who chatted in it.
_BY_PEOPLE = frozenset(
    """
    whatsapp whatsapp-database whatsapp-exporter telegram signal discord slack instagram messenger
    imessage line kakaotalk viber chatlab teams google-chat mbox
    """.split()  # noqa: SIM905 - words read better than quotes
)
# Words in a name that say that no person wrote the chats.
_WORDS = frozenset({"simulated", "locomo", "llm", "generated", "synthetic"})


@dataclass(frozen=True, slots=True)
class AuthorOverrides:
    """Names of corpora or runs that, as the user says, models wrote, or people."""

    simulated: tuple[str, ...] = ()
    human: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if both := sorted(set(self.simulated) & set(self.human)):
            raise RealtalkError(f"'{both[0]}' is named as simulated and as human", fix="choose one")

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raises where a name is unknown: a typing error would turn a comparison around."""
        names = list(dict.fromkeys(known))
        for name in (*self.simulated, *self.human):
            if not names:
                raise RealtalkError(f"there is no corpus and no labels to call '{name}'")
            if name not in names:
                raise suggest("corpus or run", name, names)


@dataclass(frozen=True, slots=True)
class WriterKind:
    """Whether models wrote it, and by what that is known."""

    is_simulated: bool
    reason: str

    def __str__(self) -> str:
        return f"written by {'models' if self.is_simulated else 'people'} ({self.reason})"


def says_simulated(name: str) -> bool:
    """Whether a name says that a model wrote both sides."""
    return not _WORDS.isdisjoint(re.split(r"[\W_]+", name.casefold()))


def writer_of(names: Sequence[str], format_: str | None, authors: AuthorOverrides) -> WriterKind:
    """Decides for a corpus, or for a run on it, by every name that it goes by."""
    for is_simulated, names_stated in ((True, authors.simulated), (False, authors.human)):
        if not set(names_stated).isdisjoint(names):
            return WriterKind(is_simulated, "as you said")
    if format_ in _BY_MODELS or format_ in _BY_PEOPLE:
        return WriterKind(format_ in _BY_MODELS, f"by its format, {format_}")
    if any(says_simulated(name) for name in names):
        return WriterKind(True, "by its name")
    return WriterKind(False, "nothing says otherwise")
