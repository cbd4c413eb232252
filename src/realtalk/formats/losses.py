"""What a written format could not keep, found by reading it back.

    not_kept(corpus, "csv", paths)        → {"events": 12, "questions": 4}
    losses(corpus, read_back)             → {"replies": 2, "aliases": 1}, nothing else differs

Counted are messages (or events, questions, aliases) that are not as they were. A table of
what each format holds would be shorter, and wrong as soon as a writer changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus
from realtalk.formats.json_input import word_pairs
from realtalk.formats.reading import ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source

LOSSLESS = ("convokit", "jsonl", "locomo")  # proven by tests, so not read back

_FIELDS = word_pairs("""
    id          message ids
    speaker     speakers
    time        times
    text        texts
    attachments attachments
    reply_to    replies
    edited      edited marks
    deleted     deleted marks
    extra       further fields of messages
""")


def not_kept(corpus: Corpus, name: str, paths: tuple[Path, ...]) -> dict[str, int]:
    """What is not in the files just written; other files of their folder do not count."""
    if name in LOSSLESS:
        return {}
    members = tuple(member for path in paths for member in Source.open(path).members)
    source = Source(paths[0].parent, members)
    return losses(corpus, FORMATS[name].read(source, ReadOptions()).corpus)


def losses(before: Corpus, after: Corpus) -> dict[str, int]:
    """What differs and how often, in the order of the model; {} where nothing does."""
    counts: Counter[str] = Counter()
    for old, new in zip_longest(before.chats, after.chats):
        if old is None or new is None:
            counts["chats"] += 1
        else:
            _chat(old, new, counts)
    return {name: count for name, count in counts.items() if count}


def _chat(old: Chat, new: Chat, counts: Counter[str]) -> None:
    counts["chat names"] += old.id != new.id
    counts["sessions"] += abs(len(old.sessions) - len(new.sessions))
    for before, after in zip_longest(old.messages, new.messages):
        if before is None or after is None:
            counts["messages"] += 1
        elif before != after:
            for name, label in _FIELDS.items():
                if getattr(before, name) != getattr(after, name):
                    counts[label] += 1
    counts["events"] += _missing(old.events, new.events)
    counts["questions"] += _missing(old.questions, new.questions)
    counts["aliases"] += _missing(old.aliases, new.aliases)
    counts["further fields of chats"] += old.extra != new.extra


def _missing(before: Iterable[Any], after: Iterable[Any]) -> int:
    return (Counter(before) - Counter(after)).total()
