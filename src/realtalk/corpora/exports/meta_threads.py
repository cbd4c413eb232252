"""Conversations of Messenger or Instagram while they are read, until their notices are known.

    thread = OpenThread(Draft("Ann"))
    thread.candidates.append(Candidate(entry, second=1714548600))
    settle([thread])     → notes; thread.draft holds messages, and counts what the app wrote

What may be the app's own can only be decided when every conversation is read (`meta_notices`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry
from realtalk.corpora.exports.meta_notices import judge
from realtalk.corpora.exports.meta_repeats import Line, MetaThread

_NEAR = 10  # entries between a message and the notice that somebody liked it
_FIXED = "messages whose characters were put right"
_REPEATED = "counted as notices because they repeat with nothing but an emoji changing"
_UNCERTAIN = "messages that begin with their sender's own name and may be notices of the app"


@dataclass(slots=True)
class Candidate:
    """An entry that is a message, or a notice of the app."""

    entry: Entry
    second: int  # when it was sent
    is_repaired: bool = False


@dataclass(slots=True)
class OpenThread:
    """One conversation: its draft, and what will be in it."""

    draft: Draft
    candidates: list[Candidate] = field(default_factory=list)
    reacted: set[tuple[str, int]] = field(default_factory=set)  # who gave a reaction when

    def evidence(self) -> MetaThread:
        """What distinguishes the notices of a conversation from its messages."""
        entries = [candidate.entry for candidate in self.candidates]
        given = [
            [
                (name, mark["emoji"])
                for mark in entry.extra.get("reactions", ())
                for name in mark["by"]
            ]
            for entry in entries
        ]
        lines = [
            Line(
                entry.name,
                entry.text,
                bool(entry.attachments),
                (entry.name, candidate.second) in self.reacted,
                frozenset(
                    emoji
                    for marks in given[max(0, at - _NEAR) : at + _NEAR + 1]
                    for name, emoji in marks
                    if name == entry.name
                ),
                entry.time.toordinal() if entry.time else 0,
            )
            for at, (entry, candidate) in enumerate(zip(entries, self.candidates, strict=True))
        ]
        return MetaThread(tuple(self.draft.extra.get("participants", ())), lines)


def settle(threads: Sequence[OpenThread]) -> list[str]:
    """Gives every entry its place: a message, or a notice of the app; what to say about it."""
    judged = judge([thread.evidence() for thread in threads])
    fixed = 0
    for thread, sorts in zip(threads, judged.sorts, strict=True):
        for candidate, sort in zip(thread.candidates, sorts, strict=True):
            entry = candidate.entry
            if sort == "notice":
                thread.draft.notice()
                continue
            if sort is not None:  # the app's words for what the sender sent or took back
                entry.extra["notice"], entry.text = entry.text, ""
                entry.deleted = entry.deleted or sort == "unsent"
                if sort == "sent" and not entry.attachments:
                    entry.attachments = (Attachment("media"),)
            fixed += sort is None and candidate.is_repaired
            thread.draft.add(entry)
    counts = {_FIXED: fixed, _UNCERTAIN: judged.uncertain, _REPEATED: judged.repeated}
    return [f"{what}: {count:,}" for what, count in counts.items() if count]
