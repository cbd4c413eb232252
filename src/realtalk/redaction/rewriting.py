"""Puts the stand-ins into a corpus, wherever a name can be written, and takes them out by its key.

    Rewriter(scanner, names_only, {"Mara": "Person1"}, keep).corpus(corpus)
    fields = changed_fields(original, redacted)     what a key keeps, beside who is who
    restore(redacted, fields) == original
    store_redacted(corpus, Path("shared"))                          → 412, its messages
    store_restored(redacted, Path("key.json"), Path("again"))       → 412

Texts, captions, questions and events go through the scanner. What the user keeps (files, links,
`extra`) goes through `names_only`, which replaces speakers' names and nothing else. Ids stay as
they are unless a name is in them; then they change everywhere alike.

Of every field that redaction changed the original is kept, by its place in the corpus; speakers of
messages follow from the chat's list. A key fits one redacted corpus: another one, or one that was
edited, is refused. What is stored tells nothing of the original.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from realtalk.chat import Alias, Chat, Corpus
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.reading import Ledger, ReadCorpus
from realtalk.formats.store import store
from realtalk.redaction.standins import STAND_IN
from realtalk.redaction.text import Scanner


class Rewriter:
    """One corpus into another; `persons` are the speakers and their stand-ins."""

    def __init__(
        self, scanner: Scanner, names_only: Scanner, persons: dict[str, str], keep: frozenset[str]
    ) -> None:
        self._text = scanner.text
        self._names_only = names_only.text
        self._stand_ins = scanner.stand_ins
        self._persons = persons
        self._keep = keep

    def corpus(self, corpus: Corpus) -> Corpus:
        ids = UniqueNames("{}_{}")
        chats = [self._chat(chat, ids.free(self._id(chat.id, chat.id))) for chat in corpus.chats]
        name = corpus.name
        if len(corpus.chats) == 1:
            name = self._id(name, corpus.chats[0].id)
        return Corpus(self._id(name, ""), corpus.format, tuple(chats))

    def _id(self, name: str, chat: str) -> str:
        """An id is also a file's name: no brackets, and names count inside words too."""
        rewritten = self._text(name, chat, is_id=True)
        return rewritten if rewritten == name else rewritten.replace("<", "").replace(">", "")

    def _ids(self, chat: Chat) -> dict[str, str]:
        """What becomes of messages' ids; two that differ stay two."""
        old = dict.fromkeys(message.id for message in chat.messages)
        free = UniqueNames("{}_{}", taken=old)
        ids = {name: self._id(name, chat.id) for name in old}
        return {name: new if new == name else free.free(new) for name, new in ids.items()}

    def _extra(self, extra: str, chat: str) -> str:
        if not extra or "extra" not in self._keep:
            return ""

        def clean(value: Any) -> Any:
            if isinstance(value, dict):
                return {clean(key): clean(inner) for key, inner in value.items()}
            if isinstance(value, list):
                return [clean(inner) for inner in value]
            if isinstance(value, bool) or value is None:
                return value
            cleaned = self._names_only(str(value), chat, dense=True)
            return value if cleaned == str(value) else cleaned

        try:
            values = json.loads(extra)
        except ValueError:
            return self._names_only(extra, chat, dense=True)
        cleaned = clean(values)
        if cleaned == values:
            return extra
        return json.dumps(cleaned, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def _chat(self, chat: Chat, name: str) -> Chat:
        ids = self._ids(chat)

        def new_id(old: str) -> str:
            return ids[old] if old in ids else self._id(old, chat.id)

        def clean(text: str) -> str:
            return self._text(text, chat.id)

        def rules_for(names: str, rule: Callable[[str], str]) -> dict[str, Callable[[str], str]]:
            return dict.fromkeys(names.split(), rule)

        rules: dict[str, Callable[[str], str]] = {
            **rules_for("speaker speakers", self._persons.__getitem__),
            **rules_for("id reply_to evidence", new_id),
            **rules_for("text caption answer date unresolved stated", clean),
            "category": partial(self._names_only, chat=chat.id),
            "extra": partial(self._extra, chat=chat.id),
            "name": partial(self._file, chat=chat.id),
            "url": partial(self._link, chat=chat.id),
        }

        def rewrite(value: Any, field: str) -> Any:
            if isinstance(value, Alias):
                person = self._persons[value.speaker]
                return Alias(person, person, clean(new_id(value.source)))
            if is_dataclass(value) and not isinstance(value, type):
                return replace(value, **rewritten(value))
            if isinstance(value, tuple):
                return tuple(rewrite(inner, field) for inner in value)
            return rules[field](value) if field in rules and isinstance(value, str) else value

        def rewritten(value: Any, but: str = "") -> dict[str, Any]:
            names = (each.name for each in fields(value) if each.name != but)
            return {name: rewrite(getattr(value, name), name) for name in names}

        return replace(chat, id=name, **rewritten(chat, but="id"))

    def _file(self, name: str, chat: str) -> str:
        if not name or "files" in self._keep:
            return self._names_only(name, chat, dense=True)
        ending = PurePosixPath(name).suffix
        is_extension = ending.isascii() and ending[1:].isalnum() and len(ending) < 6
        if not is_extension or self._names_only(ending, chat, dense=True) != ending:
            ending = ""
        if STAND_IN.fullmatch(name.removesuffix(ending)):
            return name
        return self._stand_ins.make("file", name, name) + ending.lower()

    def _link(self, url: str, chat: str) -> str:
        if not url or "links" in self._keep:
            return self._names_only(url, chat, dense=True)
        return self._stand_ins.make("link", url, url)


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
