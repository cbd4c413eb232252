"""A redacted corpus → a stored one that tells nothing of the original; and back, by its key file.

store_redacted(corpus, Path("shared"))                          → 412, its messages
store_restored(redacted, Path("key.json"), Path("again"))       → 412
"""

from __future__ import annotations

import json
from pathlib import Path

from realtalk.chat import Corpus
from realtalk.corpora.reading import Ledger, Reading
from realtalk.corpora.store import store
from realtalk.errors import RealtalkError
from realtalk.redaction.restoring import restored


def store_redacted(corpus: Corpus, folder: Path) -> int:
    """Stores it; how many messages it has."""
    total = sum(len(chat.messages) for chat in corpus.chats)
    # Notes and leftovers name files of the original: they stay behind.
    store(Reading(corpus=corpus, ledger=Ledger("entries", total, total)), folder)
    return total


def store_restored(redacted: Corpus, key: Path, folder: Path) -> int:
    """Stores the corpus that it was before; how many messages it has."""
    if not key.exists():
        raise RealtalkError("there is no such key file", where=str(key))
    try:
        kept = json.loads(key.read_text("utf-8"))["restore"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError("is no key that restores", where=str(key)) from error
    corpus = restored(redacted, kept)
    total = sum(len(chat.messages) for chat in corpus.chats)
    store(Reading(corpus=corpus, ledger=Ledger("entries", total, total)), folder)
    return total
