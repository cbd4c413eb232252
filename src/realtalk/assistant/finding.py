"""Words or a thought → messages that hold them, best first, and what fits a budget as text.

    WordSearch(collection).find("red bicycle", chats, person="Mara", period=Period())
    → [ListedMessage(chat, session, message), …]
    memories = MeaningSearch().memories(chats)        → {chat: memory, …}, or why not
    nearest(memories, "what she rides to work", …)         → the same, whatever words were used
    recall(messages, Budget(tokens=1000))["text"]
    → "Chat_1_Mara_Theo
       [Monday 2 March 2026]
       (D1:2, 18:04) Mara: did you sleep at all"

Words are ranked by BM25 over all English chats together, and over all others, each read in its own
language; where none is found, the letters are looked for. Meaning is ranked by the memory
`retrieved`, chat by chat.

Corpora → the chats that an assistant may look into, by id, with their people.

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

import atexit
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from realtalk.assistant.answers import MOST_CHARACTERS, Period, encode
from realtalk.chat import Chat, Corpus, Message, Question, Session
from realtalk.ei.labels import TurnInput, turn_inputs
from realtalk.ei.results import is_labels, read_labels, stored_settings
from realtalk.encoders.lexical import Bm25, best_first
from realtalk.errors import RealtalkError
from realtalk.evals.folder import content_hash
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress
from realtalk.memory.index import document_text
from realtalk.memory.retrieved import BuiltRetrieved, Retrieved
from realtalk.memory.values import (
    Budget,
    Filling,
    MessageCosts,
    Size,
    day_line,
    label,
    message_line,
    parse_budgets,
)
from realtalk.text.terms import ReadWords, english_terms, reading
from realtalk.text.words import one_line

if TYPE_CHECKING:
    import polars as pl


_WAIT = 1.0  # seconds until whoever asked is told how far it is
T = TypeVar("T")

_NAMED = 20  # ids or people that an error lists
_MOST_FOLDERS = 500


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


_BY_CHANCE = 0.3  # of the best score: what has less shares a piece of a word, and not the word
_MOST_WAITED = 10.0  # seconds until the encoder has put down what it has in hand
_MOST_ENCODED = 50_000  # messages of a chat: its vectors take memory, and some minutes
_MOST_TOKENS, _MOST_WORDS = 5000, 4000
_ROOM = 1500  # characters for what stands around the text
_DAY = 40  # characters of a day's line
_MOST_MESSAGES = 1000  # that are tried; so many short ones fill the largest budget


class WordSearch:
    """Every message of every chat, by its words; the index is made for the first search."""

    def __init__(self, collection: Collection) -> None:
        self._chats = collection.chats

    @cached_property
    def _messages(self) -> list[ListedMessage]:
        return [message for chat in self._chats for message in chat.messages]

    @cached_property
    def _texts(self) -> list[str]:
        return [document_text(message.message) for message in self._messages]

    @cached_property
    def _indexes(self) -> list[tuple[list[int], Bm25]]:
        """Places of messages that are read alike, and their words."""
        english: list[int] = []
        groups: list[tuple[list[int], ReadWords]] = [(english, english_terms)]
        first = 0
        for chat in self._chats:
            places = list(range(first, first := first + len(chat.messages)))
            terms = reading([self._texts[at] for at in places])
            if terms is english_terms:
                english += places
            else:
                groups.append((places, terms))
        return [(at, Bm25([self._texts[n] for n in at], terms)) for at, terms in groups if at]

    def find(
        self, words: str, chats: Sequence[ListedChat], person: str, period: Period
    ) -> list[ListedMessage]:
        """The messages that hold one of the words, those with more and rarer ones first."""
        scores = np.zeros(len(self._texts))
        for at, index in self._indexes:
            own = index.scores(words)
            # Pieces of words are shared by chance, which words are not.
            least = 0.0 if index.reads_english else _BY_CHANCE * own.max(initial=0.0)
            scores[at] = np.where(own >= least, own, 0.0)
        places = [at for at in best_first(scores) if scores[at] > 0]
        if not places:
            phrase = words.strip().casefold()
            places = [at for at, text in enumerate(self._texts) if phrase in text.casefold()]
        searched = frozenset(chats)
        ranked = (self._messages[at] for at in places)
        return [
            message
            for message in ranked
            if message.chat in searched and _is_meant(message, person, period)
        ]


class MeaningSearch:
    """Memories of chats, each made once, in the background.

    The encoder is loaded for the first question, and goes through some hundred messages a second
    the first time a chat is asked about; vectors are then kept in the cache, as `probe` keeps them.
    Meanwhile whoever asks is told how far it is.
    """

    def __init__(self) -> None:
        self._memories: dict[ListedChat, Future[BuiltRetrieved]] = {}
        self._done: dict[ListedChat, float] = {}  # the share of its messages that has vectors
        self._waiting: dict[ListedChat, None] = {}  # what was asked for last comes first
        self._changed = threading.Condition()
        self._ends = False
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        # A thread that Python leaves inside the encoder aborts the whole process.
        atexit.register(self._end)

    def memories(
        self, chats: Sequence[ListedChat], seconds: float = _WAIT
    ) -> Mapping[ListedChat, BuiltRetrieved] | str:
        """The memory of every chat, or why there is none: scores of two kinds do not mix."""
        for chat in chats:
            if len(chat.display.messages) > _MOST_ENCODED:
                return (
                    f"searched by words: {chat.id} has more than {_MOST_ENCODED:,} messages; "
                    "name another chat to search that by meaning"
                )
        futures = {chat: self._memories.setdefault(chat, Future()) for chat in chats}
        with self._changed:
            asked = (chat for chat in chats if not futures[chat].done())
            self._waiting = dict.fromkeys((*asked, *self._waiting))
            self._changed.notify()
        if wait(futures.values(), seconds).not_done:
            sizes = {chat: len(chat.display.messages) for chat in chats}
            done = sum(
                size if futures[chat].done() else int(size * self._done.get(chat, 0))
                for chat, size in sizes.items()
            )
            raise StillPreparingError("vectors of the messages are", done, sum(sizes.values()))
        if any(future.exception() for future in futures.values()):
            return "searched by words: the vectors of a chat could not be made"
        return {chat: future.result() for chat, future in futures.items()}

    def _work(self) -> None:
        memory = Retrieved()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ends)
                if self._ends:
                    return
                chat = next(iter(self._waiting))
                del self._waiting[chat]
            future = self._memories[chat]
            if future.done():
                continue
            settle(future, partial(memory.build, chat.display, self._noting(chat)))
            if error := future.exception():
                # The message of any other error may hold what somebody wrote.
                reason = f"no vectors ({type(error).__name__})"
                if isinstance(error, RealtalkError):
                    reason = error.what
                logging.getLogger("realtalk.assistant").warning("%s", reason)

    def _noting(self, chat: ListedChat) -> Progress:
        def note(done: int, total: int, what: str) -> None:  # noqa: ARG001
            if self._ends:
                raise InterruptedError
            self._done[chat] = done / total if total else 0.0

        return note

    def _end(self) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._worker.join(_MOST_WAITED)


def nearest(
    memories: Mapping[ListedChat, BuiltRetrieved], text: str, person: str, period: Period
) -> list[ListedMessage]:
    """Every message of the chats, nearest to the text first."""
    question = question_of(text)
    scored: list[tuple[float, ListedMessage]] = []
    for chat, memory in memories.items():
        first: dict[str, ListedMessage] = {}  # of two with one id, as the index has them
        for message in chat.messages:
            first.setdefault(message.message.id, message)
        scored += zip(memory.scores(question).tolist(), first.values(), strict=True)
    scored.sort(key=lambda pair: -pair[0])
    return [message for _, message in scored if _is_meant(message, person, period)]


def question_of(text: str) -> Question:
    """A question of now: "last week" counts from today."""
    return Question("", text, None, "", asked=datetime.now())


def _is_meant(message: ListedMessage, person: str, period: Period) -> bool:
    return (not person or message.message.speaker == person) and period.holds(message.time)


def parse_budget(text: str) -> Budget:
    """One budget as it is written, 1000 (tokens) or 800w (words), within what an answer holds."""
    budget, *others = parse_budgets(text)
    fits = 0 < (budget.tokens or 0) <= _MOST_TOKENS or 0 < (budget.words or 0) <= _MOST_WORDS
    if others or not fits:
        raise RealtalkError(
            f"'budget' {label(budget)} is more than an answer holds",
            fix=f"ask for {_MOST_TOKENS} tokens or {_MOST_WORDS}w words at most",
        )
    return budget


def recall(ranked: Sequence[ListedMessage], budget: Budget) -> dict[str, Any]:
    """The messages that rank highest and fit the budget, in time order under their days.

    `ranked` are best first. The budget counts days, names and texts, as `realtalk probe` does; ids
    and clock times come on top. Several chats share one budget: the messages that rank highest are
    taken, whichever chat they are in.
    """
    ranked = ranked[:_MOST_MESSAGES]
    chats = dict.fromkeys(message.chat for message in ranked)
    costs = {chat: MessageCosts(_only(chat, ranked)) for chat in chats}
    size, room = Size(budget), MOST_CHARACTERS - _ROOM
    most = budget.tokens or budget.words or 0
    fillings = {chat: Filling(own, size) for chat, own in costs.items()}
    lines_by_chat: dict[ListedChat, dict[int, ListedMessage]] = {}
    headed: set[tuple[ListedChat, str]] = set()
    tried = 0
    for candidate in ranked:
        if tried > 2 * most:
            break  # as the memory does: behind that, only crumbs would fit
        own = costs[candidate.chat]
        at = own.at(candidate.message.id)
        spent = int((own.words if budget.tokens is None else own.tokens)[at])
        tried += spent if spent <= most else 0
        day = (candidate.chat, _day(candidate))
        length = len(encode({"": _line(candidate)})) + (0 if day in headed else _DAY)
        if length <= room and fillings[candidate.chat].add(at):
            lines_by_chat.setdefault(candidate.chat, {})[at] = candidate
            headed.add(day)
            room -= length
    lines: list[str] = []
    for chat, places in lines_by_chat.items():
        lines += ["", chat.id] if lines else [chat.id]
        for day_, messages in groupby((places[at] for at in sorted(places)), key=_day):
            lines += [day_, *map(_line, messages)]
    count = sum(map(len, lines_by_chat.values()))
    text = "\n".join(lines)
    return {"text": text, "messages": count, "tokens": size.tokens, "words": size.words}


def _only(chat: ListedChat, ranked: Sequence[ListedMessage]) -> Chat:
    """The chat with these messages alone: only what may be shown is counted."""
    ids = {message.message.id for message in ranked if message.chat is chat}
    sessions = []
    for session in chat.display.sessions:
        own = tuple(message for message in session.messages if message.id in ids)
        sessions.append(replace(session, messages=own))
    return replace(chat.display, sessions=tuple(sessions))


def _day(message: ListedMessage) -> str:
    return day_line(message.session, None if message.time is None else message.time.date())


def _line(message: ListedMessage) -> str:
    """A message as a line that can be cited and found again."""
    clock = "" if message.time is None else f", {message.time:%H:%M}"
    return f"({message.message.id}{clock}) {message_line(message.message)}"
