"""Corpora → the chats that an assistant may look into, by id, with their people.

    chats = Collection.of([corpus, other])
    chats.chat("Chat_1_Mara_Theo").display    → the chat as answers show it
    chats.choose(chat="", person="Mara")      → the chats in which Mara speaks
    Collection.of([corpus], redact=True)      → "Chat_1_Person1_Person2"; Mara is unknown
    BackgroundValue(lambda: Collection.of(corpora))  made in the background; `get` waits
    labels_beside("mara.zip", corpus)         → Path("mara-labels"), or None

Several corpora may hold chats of one id: the later ones get a number. Redacted, every answer is
made from a corpus that never held a name, and nothing that was asked for is repeated in errors.
The chats as they were are kept for what gives no text away: which emotion a turn shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.ei.label_files import is_labels, read_labels, stored_settings
from realtalk.ei.labels import TurnInput, turn_inputs
from realtalk.errors import RealtalkError
from realtalk.evals.provenance import content_hash
from realtalk.files.naming import UniqueNames
from realtalk.memory.showing import message_line
from realtalk.text.words import one_line

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

_NAMED = 20  # ids or people that an error lists
_MOST_FOLDERS = 500
_WAIT = 1.0  # seconds until whoever asked is told how far it is


@dataclass(frozen=True, eq=False)
class ListedChat:
    """One chat: as answers show it, and as it was read."""

    display: Chat
    source: Chat
    labels: Path | None  # a folder of labels of the corpus that it came from

    @property
    def id(self) -> str:
        return self.display.id

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Whoever speaks or is named as a speaker, in order."""
        names = (*self.display.speakers, *(message.speaker for message in self.display.messages))
        return tuple(name for name in dict.fromkeys(names) if name)

    @cached_property
    def stand_ins(self) -> Mapping[str, str]:
        """Speakers as they are called in the source, and as answers call them."""
        pairs = zip(self.source.messages, self.display.messages, strict=True)
        return {was.speaker: now.speaker for was, now in pairs}

    @cached_property
    def session_times(self) -> Mapping[int, datetime | None]:
        return {session.number: session.time for session in self.source.sessions}

    @cached_property
    def turns(self) -> list[TurnInput]:
        """The turns as they are labelled."""
        return turn_inputs(Corpus("", "", (self.source,)))

    @cached_property
    def stored_labels(self) -> pl.DataFrame | None:
        """Labels of the source, one row per turn; None where there are none."""
        import polars as pl

        if self.labels is None:
            return None
        own = read_labels(self.labels).filter(pl.col("chat") == self.source.id)
        return own if own.height else None

    @cached_property
    def messages(self) -> tuple[ListedMessage, ...]:
        """Every message in its place, oldest first."""
        return tuple(
            ListedMessage(self, session, message)
            for session in self.display.sessions
            for message in session.messages
        )


class ListedMessage(NamedTuple):
    """A message, and where it stands."""

    chat: ListedChat
    session: Session
    message: Message

    @property
    def time(self) -> datetime | None:
        return self.message.time or self.session.time

    def row(self, most: int | None = None) -> dict[str, Any]:
        """The message as answers show it; `most` cuts its text."""
        message, session = self.message, self.session
        text = message_line(message).removeprefix(f"{one_line(message.speaker)}:").strip()
        row = {
            "id": message.id,
            "session": session.number,
            "time": None if message.time is None else message.time.isoformat(" ", "minutes"),
            "person": message.speaker,
            "text": text,
        }
        if message.reply_to is not None:
            row["reply_to"] = message.reply_to
        if most is not None and len(text) > most:
            row |= {"text": f"{text[: most - 1]}…", "cut": True}
        return row


class Collection:
    """Every chat that was opened."""

    def __init__(self, chats: Sequence[ListedChat]) -> None:
        self.chats = tuple(chats)
        self._by_id = {chat.id: chat for chat in chats}

    @classmethod
    def of(
        cls,
        corpora: Sequence[Corpus],
        labels: Sequence[Path | None] | None = None,
        *,
        redact: bool = False,
    ) -> Collection:
        """The chats of corpora, with the folder of labels that was found for each corpus."""
        names = UniqueNames()
        sources = [
            (chat, folder)
            for corpus, folder in zip(corpora, labels or [None] * len(corpora), strict=True)
            for chat in corpus.chats
        ]
        renamed = [replace(chat, id=names.free(chat.id)) for chat, _ in sources]
        if redact:
            # All at once: a person has one stand-in everywhere, and two never share one.
            from realtalk.redaction.redact import redact as rewrite
            from realtalk.redaction.sources import name_sources

            renamed = [*rewrite(Corpus("", "", tuple(renamed)), sources=name_sources())[0].chats]
        rows = zip(renamed, sources, strict=True)
        return cls([ListedChat(chat, *source) for chat, source in rows])

    def chat(self, chat_id: str) -> ListedChat:
        """The chat of an id."""
        if chat_id not in self._by_id:
            raise RealtalkError("no chat has this id", fix=f"chats: {_some(self._by_id)}")
        return self._by_id[chat_id]

    def only(self, chat_id: str) -> ListedChat:
        """The chat of an id, which may be left out where there is one chat."""
        if not chat_id and len(self.chats) != 1:
            raise RealtalkError("there are several chats", fix=f"name one: {_some(self._by_id)}")
        return self.chat(chat_id) if chat_id else self.chats[0]

    def choose(self, chat: str = "", person: str = "") -> tuple[ListedChat, ...]:
        """One chat or all of them; with a person, those in which they speak."""
        chats = (self.chat(chat),) if chat else self.chats
        matches = tuple(listed for listed in chats if not person or person in listed.people)
        if person and not matches:
            people = dict.fromkeys(name for listed in chats for name in listed.people)
            raise RealtalkError("nobody has this name", fix=f"people: {_some(people)}")
        return matches


def _some(names: Iterable[str]) -> str:
    listed = [*names]
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more


class StillPreparingError(RealtalkError):
    """What an answer is made from is being made: `done` of `total` messages, 0 where unknown."""

    def __init__(self, what: str, done: int = 0, total: int = 0) -> None:
        self.done, self.total = done, total
        so_far = f": {done:,} of {total:,} messages" if total else ""
        super().__init__(f"{what} still being prepared{so_far}", fix="ask again in a minute")


class BackgroundValue(Generic[T]):
    """The value of a function that runs in a thread of its own.

    To redact a large archive takes minutes, and an assistant does not wait that long for a server
    to greet it: the greeting needs no chats, and whoever asks for them is told how far they are.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._value: Future[T] = Future()
        threading.Thread(target=settle, args=(self._value, make), daemon=True).start()

    def get(self, wait: float = _WAIT) -> T:
        """The value, as soon as it is there."""
        try:
            return self._value.result(wait)
        except TimeoutError:
            raise StillPreparingError("the chats are") from None


def settle(future: Future[T], make: Callable[[], T]) -> None:
    """Makes what is waited for; an error is raised to whoever asks for it."""
    try:
        future.set_result(make())
    except BaseException as error:
        future.set_exception(error)


def labels_beside(path: str, corpus: Corpus) -> Path | None:
    """The folder of EI labels of a corpus that lies beside it or inside its folder.

    Labels belong to a corpus that holds the same to the letter: their run notes a hash of it.
    """
    corpus_hash: str | None = None
    for folder in _folders(Path(path)):
        try:
            settings = stored_settings(folder) if is_labels(folder) else None
        except RealtalkError:  # somebody's half-made folder is none of ours
            continue
        if settings is not None:
            corpus_hash = corpus_hash or content_hash(corpus)
            if settings["corpus"].get("sha256") == corpus_hash:
                return folder
    return None


def _folders(place: Path) -> Iterator[Path]:
    """Folders inside the path and beside it; none of a sample's name."""
    homes = (place, place.absolute().parent) if place.exists() else ()
    for home in homes:
        try:
            inside = islice(home.iterdir(), _MOST_FOLDERS)
            yield from sorted(entry for entry in inside if entry.is_dir())
        except OSError:  # no folder, or one that may not be read
            continue
