"""Walks a corpus and puts the stand-ins in, wherever a name can be written.

    Rewriter(scanner, names_only, {"Mara": "Person1"}, keep).corpus(corpus)

Texts, captions, questions and events go through the scanner. What the user keeps (files, links,
`extra`) goes through `names_only`, which replaces speakers' names and nothing else. Ids stay as
they are unless a name is in them; then they change everywhere alike.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from realtalk.chat import Alias, Attachment, Chat, Corpus, Event, Message, Question
from realtalk.files.naming import UniqueNames
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

        def extra(old: Chat | Message | Event | Question) -> str:
            return self._extra(old.extra, chat.id)

        def message(old: Message) -> Message:
            return replace(
                old,
                id=new_id(old.id),
                speaker=self._persons[old.speaker],
                text=clean(old.text),
                attachments=tuple(self._attachment(file, chat.id) for file in old.attachments),
                reply_to=None if old.reply_to is None else new_id(old.reply_to),
                extra=extra(old),
            )

        def event(old: Event) -> Event:
            return replace(
                old,
                speaker=None if old.speaker is None else self._persons[old.speaker],
                text=clean(old.text),
                date=clean(old.date),
                evidence=tuple(map(new_id, old.evidence)),
                extra=extra(old),
            )

        def question(old: Question) -> Question:
            return replace(
                old,
                id=self._id(old.id, chat.id),
                text=clean(old.text),
                answer=None if old.answer is None else clean(old.answer),
                category=self._names_only(old.category, chat.id),
                evidence=tuple(map(new_id, old.evidence)),
                unresolved=tuple(map(clean, old.unresolved)),
                stated=tuple(map(clean, old.stated)),
                extra=extra(old),
            )

        def alias(old: Alias) -> Alias:
            person = self._persons[old.speaker]
            return Alias(person, person, clean(new_id(old.source)))

        return Chat(
            name,
            tuple(self._persons[speaker] for speaker in chat.speakers),
            tuple(
                replace(session, messages=tuple(map(message, session.messages)))
                for session in chat.sessions
            ),
            tuple(map(event, chat.events)),
            tuple(map(question, chat.questions)),
            tuple(map(alias, chat.aliases)),
            extra(chat),
        )

    def _attachment(self, old: Attachment, chat: str) -> Attachment:
        name, url = old.name, old.url
        if name and "files" in self._keep:
            name = self._names_only(name, chat, dense=True)
        elif name:
            ending = PurePosixPath(name).suffix
            is_extension = ending.isascii() and ending[1:].isalnum() and len(ending) < 6
            if not is_extension or self._names_only(ending, chat, dense=True) != ending:
                ending = ""
            if not STAND_IN.fullmatch(name.removesuffix(ending)):
                name = self._stand_ins.make("file", name, name) + ending.lower()
        if url and "links" in self._keep:
            url = self._names_only(url, chat, dense=True)
        elif url:
            url = self._stand_ins.make("link", url, url)
        return replace(old, name=name, url=url, caption=self._text(old.caption, chat))
