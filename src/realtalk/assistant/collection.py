"""Corpora → the chats that an assistant may look into, by id, with their people.

    chats = Collection.of([corpus, other])
    chats.chat("Chat_1_Mara_Theo").shown      → the chat as answers show it
    chats.chosen(chat="", person="Mara")      → the chats in which Mara speaks
    Collection.of([corpus], redact=True)      → "Chat_1_Person1_Person2"; Mara is unknown

Several corpora may hold chats of one id: the later ones get a number. Redacted, every answer is
made from a corpus that never held a name, and nothing that was asked for is repeated in errors.
The chats as they were are kept for what gives no text away: which emotion a turn shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from realtalk.assistant.labels_beside import LabelsOf
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames

_NAMED = 20  # ids or people that an error lists


@dataclass(frozen=True, eq=False)
class ListedChat:
    """One chat: as answers show it, and as it was read."""

    shown: Chat
    source: Chat
    labels: LabelsOf  # of the corpus that it came from

    @property
    def id(self) -> str:
        return self.shown.id

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Whoever speaks or is named as a speaker, in order."""
        names = (*self.shown.speakers, *(each.speaker for each in self.shown.messages))
        return tuple(name for name in dict.fromkeys(names) if name)

    @cached_property
    def stand_ins(self) -> Mapping[str, str]:
        """Speakers as they are called in the source, and as answers call them."""
        pairs = zip(self.source.messages, self.shown.messages, strict=True)
        return {was.speaker: now.speaker for was, now in pairs}

    def spoken(self) -> Iterator[tuple[Session, Message]]:
        """Every message with its session, oldest first."""
        for session in self.shown.sessions:
            for message in session.messages:
                yield session, message


class Collection:
    """Every chat that was opened."""

    def __init__(self, chats: Sequence[ListedChat]) -> None:
        self.chats = tuple(chats)
        self._by_id = {chat.id: chat for chat in chats}

    @classmethod
    def of(
        cls,
        corpora: Sequence[Corpus],
        labels: Sequence[LabelsOf] | None = None,
        *,
        redact: bool = False,
    ) -> Collection:
        """The chats of corpora, with the labels that were found for each."""
        found = labels or [LabelsOf()] * len(corpora)
        names = UniqueNames()
        sources, renamed, stored = [], [], []
        for corpus, its_labels in zip(corpora, found, strict=True):
            for chat in corpus.chats:
                sources.append(chat)
                renamed.append(replace(chat, id=names.free(chat.id)))
                stored.append(its_labels)
        if redact:
            # All at once: a person has one stand-in everywhere, and two never share one.
            from realtalk.redaction.redact import redact as rewrite
            from realtalk.redaction.sources import name_sources

            made, _ = rewrite(Corpus("", "", tuple(renamed)), sources=name_sources())
            renamed = list(made.chats)
        rows = zip(renamed, sources, stored, strict=True)
        return cls([ListedChat(*row) for row in rows])

    def chat(self, chat_id: str) -> ListedChat:
        """The chat of an id."""
        if chat_id not in self._by_id:
            raise RealtalkError("no chat has this id", fix=f"chats: {_some(self._by_id)}")
        return self._by_id[chat_id]

    def only(self, chat_id: str) -> ListedChat:
        """The chat of an id, which may be left out where there is one chat."""
        if chat_id or len(self.chats) == 1:
            return self.chat(chat_id) if chat_id else self.chats[0]
        raise RealtalkError("there are several chats", fix=f"name one: {_some(self._by_id)}")

    def chosen(self, chat: str = "", person: str = "") -> tuple[ListedChat, ...]:
        """One chat or all of them; with a person, those in which they speak."""
        chats = (self.chat(chat),) if chat else self.chats
        if not person:
            return chats
        found = tuple(each for each in chats if person in each.people)
        if not found:
            people = dict.fromkeys(name for each in chats for name in each.people)
            raise RealtalkError("nobody has this name", fix=f"people: {_some(people)}")
        return found


def _some(names: Iterable[str]) -> str:
    found = [*names]
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more
