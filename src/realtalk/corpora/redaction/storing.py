"""A redacted corpus → a stored one that tells nothing of the original.

store_redacted(corpus, Path("shared"))    → 412, its messages
"""

from __future__ import annotations

from pathlib import Path

from realtalk.chat import Corpus
from realtalk.corpora.reading import Ledger, Reading
from realtalk.corpora.store import store


def store_redacted(corpus: Corpus, folder: Path) -> int:
    """Stores it; how many messages it has."""
    total = sum(len(chat.messages) for chat in corpus.chats)
    # Notes and leftovers name files of the original: they stay behind.
    store(Reading(corpus=corpus, ledger=Ledger("entries", total, total)), folder)
    return total
