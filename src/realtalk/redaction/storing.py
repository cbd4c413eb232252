"""A redacted corpus → a stored one that tells nothing of the original; and back, by its key.

    fields = changed_fields(original, redacted)     what a key keeps, beside who is who
    restore(redacted, fields) == original
    store_redacted(corpus, Path("shared"))                          → 412, its messages
    store_restored(redacted, Path("key.json"), Path("again"))       → 412

Of every field that redaction changed the original is kept, by its place in the corpus; speakers of
messages follow from the chat's list. A key fits one redacted corpus: another one, or one that was
edited, is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus
from realtalk.errors import RealtalkError
from realtalk.formats.reading import Ledger, ReadCorpus
from realtalk.formats.store import store

_SPEAKER = "speaker"


def changed_fields(original: Corpus, redacted: Corpus) -> dict[str, Any]:
    """The originals of all fields that differ, by place, and a seal of the redacted corpus."""
    changed: dict[str, Any] = {}
    for at, (old, new) in enumerate(zip(original.chats, redacted.chats, strict=True)):
        speakers = dict(zip(new.speakers, old.speakers, strict=True))
        for path, before, after in _differences(old, new, f"chats.{at}"):
            is_speaker = path.rpartition(".")[2] == _SPEAKER
            if not (is_speaker and speakers.get(after) == before):
                changed[path] = before
    if original.name != redacted.name:
        changed["name"] = original.name
    return {"seal": _seal(redacted), "fields": changed}


def restore(redacted: Corpus, originals: Mapping[str, Any]) -> Corpus:
    """The corpus before redaction."""
    if originals.get("seal") != _seal(redacted):
        raise RealtalkError(
            "is not the corpus that the key belongs to, or was changed since",
            fix="restore the folder that was written together with the key",
        )
    changed = originals["fields"]
    chats = [_restore(chat, f"chats.{at}", changed, {}) for at, chat in enumerate(redacted.chats)]
    return Corpus(changed.get("name", redacted.name), redacted.format, tuple(chats))


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if old == new:
        return
    if is_dataclass(old):
        for column in fields(old):
            inside = f"{path}.{column.name}"
            yield from _differences(getattr(old, column.name), getattr(new, column.name), inside)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for at, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, after, f"{path}.{at}")
    else:
        yield path, old, new


def _restore(value: Any, path: str, changed: Mapping[str, Any], speakers: Mapping[str, str]) -> Any:
    if path in changed:
        return changed[path]
    if isinstance(value, Chat):
        speakers = {
            speaker: changed.get(f"{path}.speakers.{at}", speaker)
            for at, speaker in enumerate(value.speakers)
        }

    def inside(inner: Any, name: Any) -> Any:
        return _restore(inner, f"{path}.{name}", changed, speakers)

    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return replace(value, **{name: inside(getattr(value, name), name) for name in names})
    if isinstance(value, tuple):
        return tuple(inside(inner, at) for at, inner in enumerate(value))
    if path.rpartition(".")[2] == _SPEAKER and isinstance(value, str):
        return speakers.get(value, value)
    return value


def _seal(corpus: Corpus) -> str:
    """A digest of what the chats hold; a corpus that was stored and read again has the same."""
    digest = hashlib.sha256()
    for chat in corpus.chats:
        record = json.dumps(asdict(chat), default=str, ensure_ascii=True, sort_keys=True)
        digest.update(record.encode())
    return digest.hexdigest()


def store_redacted(corpus: Corpus, folder: Path) -> int:
    """Stores it; how many messages it has."""
    total = sum(len(chat.messages) for chat in corpus.chats)
    # Notes and leftovers name files of the original: they stay behind.
    store(ReadCorpus(corpus=corpus, ledger=Ledger("entries", total, total)), folder)
    return total


def store_restored(redacted: Corpus, key: Path, folder: Path) -> int:
    """Stores the corpus that it was before; how many messages it has."""
    if not key.exists():
        raise RealtalkError("there is no such key file", where=str(key))
    try:
        originals = json.loads(key.read_text("utf-8"))["restore"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError("is no key that restores", where=str(key)) from error
    return store_redacted(restore(redacted, originals), folder)
