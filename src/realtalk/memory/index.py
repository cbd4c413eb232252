"""A chat → what is searched of it: vectors of its messages, word counts, who, when.

    index = ChatIndex.of(chat, encoder)        # made once, kept in the cache, then read from it
    index.ids[3], index.vectors[3]             → "D1:4", float32 [384]
    index.encoded.tokens                       → the small vectors of all tokens, int8

Encoding is the slow part, so that is what is stored, under a hash of the messages and of the
encoder's version: a chat that changed is encoded again, one that did not never is while it is
kept. Only the owner reads the files, and those used longest ago go when they take too much room.
Word counts are made anew, which takes milliseconds.

A question and a chat's index → a score for every message.

    asked = SearchedQuestion.of(chat, question)    → "When did Emi see it?", whom others call Kate
    features(index, asked, encoder.encode([asked.text]))["vectors"]    → how near each message is
    scores(index, asked, encoder)       → float64 [messages], higher is better

Likeness is measured in several ways (vectors, best matches of tokens, words; of the message, its
window, its session), each brought to mean 0 and deviation 1 over the chat's messages; priors say
who is asked about, and which messages tell rather than ask. The weights were fitted on chats of our
own training set that the encoder had not seen; no text of a benchmark had a part in them, though
which features there are came from work on LoCoMo. A chat that is not all in English has an encoder
of its own (`memory.retrieved`), beside which words are compared by pieces (`text.terms`).
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, Message, Question
from realtalk.encoders.lexical import Bm25
from realtalk.encoders.sentences import EncodedTexts, TextEncoder, passages
from realtalk.files.caches import INDEXES, cache_limit, keep_within
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path
from realtalk.metrics.similarity import Rows
from realtalk.metrics.statistics import Array, Truth, Whole
from realtalk.text.relative_dates import resolve
from realtalk.text.terms import ReadWords, english_terms, is_named, reading
from realtalk.text.wordlists import data_text

_LAYOUT = "1"  # of the stored file
_ASKING = ("?", "？", "؟")
_NEIGHBOURS = 1  # messages before and after, in a window
_BEST = 3  # messages that speak for their session
_LONG = 450  # letters: what an assistant writes is mostly longer
# "Can you remind me …" means nobody yet.
_POLITE = re.compile(
    r"(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?(?:(?:tell|give|remind|show)\s+me\b)?",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\b(I|my|mine|me|myself|we|our|ours|us)\b|\b(?:you|your|yours)\b", re.IGNORECASE
)


def document_text(message: Message) -> str:
    """What is searched of a message: its text and what its pictures show."""
    captions = [attachment.caption for attachment in message.attachments if attachment.caption]
    return " ".join([message.text, *(f"[{caption}]" for caption in captions)]).strip()


def content_key(chat: Chat, version: str) -> str:
    """A hash of everything that the stored part depends on."""
    digest = hashlib.sha256(f"{_LAYOUT}\0{version}\0".encode())
    for session in chat.sessions:
        for message in session.messages:
            text = f"{message.speaker}: {document_text(message)}"
            line = f"{session.number}\0{message.id}\0{text}\0"
            digest.update(line.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


@dataclass(frozen=True)
class ChatIndex:
    """One chat, ready to be searched. Arrays run over messages in time order, each id once."""

    chat: Chat
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    sessions: Whole  # the place of each one's session in the chat
    days: Whole  # days since the year 1, 0 for unknown
    encoded: EncodedTexts | None
    passage: int = 0  # letters of a message that are encoded at once; 0: all

    @classmethod
    def of(
        cls,
        chat: Chat,
        encoder: TextEncoder | None,
        *,
        cache: Path | None = None,
        known: dict[str, EncodedTexts] | None = None,
        progress: Progress = silent,
    ) -> ChatIndex:
        """The index of a chat: from the cache where it is there, else made and put there.

        Without an encoder only words are searched, and nothing is stored. `known` are sessions of
        the chat before, which may be this one at an earlier moment: they are not encoded again,
        and then hold those of this chat. A chat that was mostly known is not stored once more.
        """
        plain = cls.around(chat, None)
        if encoder is None:
            return plain
        plain = replace(plain, passage=encoder.passage)
        path = (cache or cache_folder() / "memory") / f"{content_key(chat, encoder.version)}.npz"
        encoded = _load(path, len(plain.owners))
        if encoded is None:
            limit = cache_limit()  # before the slow part: what is set wrong is said at once
            encoded, new = _encode(plain, encoder, known or {}, progress)
            if not known or 2 * new > len(plain.owners):
                _save(path, encoded)
                keep_within(INDEXES, path.parent, limit, path)
        if known is not None:
            shown, version = plain.shown, encoder.version
            own = {
                _texts_key(shown[a:b], version): encoded.part(a, b) for a, b in plain.shown_bounds
            }
            known.clear()
            known |= own
        return replace(plain, encoded=encoded)

    @classmethod
    def around(cls, chat: Chat, encoded: EncodedTexts | None) -> ChatIndex:
        """The index of a chat whose messages are encoded already, or not at all."""
        rows: dict[str, tuple[str, str, int, int]] = {}
        for place, session in enumerate(chat.sessions):
            for message in session.messages:
                moment = message.time or session.time
                day = moment.toordinal() if moment is not None else 0
                rows.setdefault(message.id, (document_text(message), message.speaker, place, day))
        texts, speakers, places, days = zip(*rows.values(), strict=True) if rows else ((),) * 4
        sessions, dates = np.array(places, np.int64), np.array(days, np.int64)
        return cls(chat, tuple(rows), texts, speakers, sessions, dates, encoded)

    @cached_property
    def read(self) -> ReadWords:
        """How the chat's words are read, by its language."""
        return reading(self.texts)

    @property
    def is_english(self) -> bool:
        """Whether no other language has more than a quotation in it, or it is too short to tell."""
        return self.read is english_terms

    @cached_property
    def words(self) -> tuple[Bm25, Bm25, Bm25]:
        """BM25 over messages, over windows of three, and over sessions."""
        lines = [f"{who}: {text}" for who, text in zip(self.speakers, self.texts, strict=True)]
        windows = [" ".join(lines[a:b]) for a, b in self.windows]
        sessions = [" ".join(lines[a:b]) for a, b in self.session_bounds]
        reader = self.read
        return Bm25(lines, reader), Bm25(windows, reader), Bm25(sessions, reader)

    def prepare(self, *, with_words: bool) -> None:
        """Makes now what the first question would otherwise wait for."""
        _ = (self.who, self.asking, self.lengths, self.session_of, self.windows)
        if with_words:
            _ = self.words
        if self.encoded is not None:
            _ = (self.window_vectors, self.token_vectors)

    @cached_property
    def session_bounds(self) -> list[tuple[int, int]]:
        """First and one past the last message of every session that has any."""
        starts = np.flatnonzero(np.diff(self.sessions, prepend=-1)).tolist()
        return list(pairwise([*starts, len(self.ids)]))

    @cached_property
    def session_of(self) -> Whole:
        """The place of each message's session among those that have messages."""
        return np.cumsum(np.diff(self.sessions, prepend=-1) != 0) - 1

    @cached_property
    def windows(self) -> list[tuple[int, int]]:
        """A message with its neighbours of the same session, for each."""
        bounds = []
        for first, end in self.session_bounds:
            for at in range(first, end):
                bounds.append((max(first, at - _NEIGHBOURS), min(end, at + _NEIGHBOURS + 1)))
        return bounds

    @cached_property
    def passages(self) -> list[tuple[str, ...]]:
        """What is encoded of each message: its text, or the passages of a long one."""
        return [passages(text, self.passage) for text in self.texts]

    @cached_property
    def owners(self) -> Whole:
        """The place of the message that each passage is of."""
        return np.repeat(np.arange(len(self.ids)), list(map(len, self.passages)))

    @cached_property
    def shown(self) -> list[str]:
        """What the encoder reads, passage after passage, each with its speaker in front."""
        lines = zip(self.speakers, self.passages, strict=True)
        return [f"{speaker}: {passage}" for speaker, cut in lines for passage in cut]

    @property
    def shown_bounds(self) -> list[tuple[int, int]]:
        """First and one past the last passage of every session."""
        ends = np.searchsorted(self.owners, self.session_bounds).tolist()
        return [(first, end) for first, end in ends]

    def of_messages(self, values: Array | Rows) -> Array:
        """The best of each message's passages."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=-1))
        return np.asarray(np.maximum.reduceat(values, starts), np.float64)

    def of_sessions(self, values: Array) -> Array:
        """The mean of the three best messages of each one's session."""
        session = self.session_of
        place = np.arange(len(values)) - np.searchsorted(session, session)
        best = np.lexsort((-values, session))[place < _BEST]
        sums = np.bincount(session[best], values[best])
        return np.asarray((sums / np.bincount(session[best]))[session], np.float64)

    @cached_property
    def vectors(self) -> Rows:
        """One per message: the direction of its passages together."""
        assert self.encoded is not None
        if len(self.owners) == len(self.ids):
            return self.encoded.vectors
        rows = np.zeros((len(self.ids), self.encoded.vectors.shape[1]), np.float32)
        np.add.at(rows, self.owners, self.encoded.vectors)
        return _of_one_length(rows)

    @cached_property
    def window_vectors(self) -> Rows:
        """The direction of a message and its neighbours together."""
        if not self.ids:
            return np.empty((0, 0), np.float32)
        rows = np.stack([self.vectors[a:b].sum(axis=0) for a, b in self.windows])
        return _of_one_length(rows)

    @cached_property
    def token_vectors(self) -> Rows:
        """The small token vectors as floats, one column per token, message after message."""
        assert self.encoded is not None
        return np.ascontiguousarray(self.encoded.tokens.T, np.float32) / np.float32(127)

    @cached_property
    def who(self) -> npt.NDArray[np.str_]:
        """The speakers as an array."""
        return np.array(self.speakers, np.str_)

    @cached_property
    def assistant(self) -> str | None:
        """Of two who write, the one whose messages are mostly long, and twice the other's."""
        if len({*self.speakers}) != 2:
            return None
        sizes = np.array([len(text) for text in self.texts])
        middle = {name: np.median(sizes[self.who == name]) for name in {*self.speakers}}
        short, long = sorted(middle, key=middle.__getitem__)
        return long if middle[long] > max(_LONG, 2 * middle[short]) else None

    def meant(self, question: str) -> tuple[str, ...]:
        """Who is asked about where nobody is named: "I" is the person, "you" the assistant."""
        if self.assistant is None or not self.is_english:
            return ()
        start = _POLITE.match(question)
        found = _MEANT.search(question, start.end() if start else 0)
        if found is None:
            return ()
        return tuple(
            name for name in {*self.speakers} if (name != self.assistant) == bool(found[1])
        )

    @cached_property
    def asking(self) -> Truth:
        """Which messages end in a question mark."""
        return np.array([text.rstrip(" !.)").endswith(_ASKING) for text in self.texts], bool)

    @cached_property
    def lengths(self) -> Rows:
        """The logarithm of each message's words, and one; of its signs in other languages."""
        sizes = [len(text.split() if self.is_english else text) for text in self.texts]
        return np.log1p(sizes).astype(np.float32)


def _of_one_length(rows: Rows) -> Rows:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _texts_key(texts: Sequence[str], version: str) -> str:
    text = "\0".join([version, *texts])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _encode(
    plain: ChatIndex,
    encoder: TextEncoder,
    known: Mapping[str, EncodedTexts],
    progress: Progress,
) -> tuple[EncodedTexts, int]:
    """The passages encoded, and how many of them just now.

    They are seen with those of their session alone: one that is known stays as it is.
    """
    texts, bounds = plain.shown, plain.shown_bounds
    parts = [known.get(_texts_key(texts[a:b], encoder.version)) for a, b in bounds]
    places = [
        at for (a, b), part in zip(bounds, parts, strict=True) if not part for at in range(a, b)
    ]
    new = [texts[at] for at in places]
    encoded = encoder.encode(new, plain.sessions[plain.owners[places]].tolist(), progress)
    if len(new) == len(texts):
        return encoded, len(new)
    start = 0
    for at, (a, b) in enumerate(bounds):
        if parts[at] is None:
            parts[at] = encoded.part(start, start + b - a)
            start += b - a
    return EncodedTexts.joined([part for part in parts if part is not None]), len(new)


def _save(path: Path, encoded: EncodedTexts) -> None:
    # Vectors tell something of a private text.
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(
            stream,
            vectors=encoded.vectors,
            tokens=encoded.tokens,
            offsets=encoded.offsets,
        )


def _load(path: Path, messages: int) -> EncodedTexts | None:
    """What is stored; None where nothing is, or nothing that can be used."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            vectors, tokens, offsets = (stored[n] for n in ("vectors", "tokens", "offsets"))
            with suppress(OSError):  # a cache that may only be read is one
                os.utime(path)  # its last use: not every disk notes that a file was read
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if len(vectors) != messages or len(offsets) != messages + 1 or offsets[-1] != len(tokens):
        return None
    return EncodedTexts(vectors, tokens, offsets, np.empty(0, np.float32))


# Ways of likeness, then priors; sums are made in this order.
_LIKENESS = ("vectors", "tokens", "window", "answers", "words", "window_words", "session_words")
FEATURES = (*_LIKENESS, "session_tokens", "speaker", "asking", "length", "day")
Weights: TypeAlias = Mapping[str, float]  # how much each of them counts

_FITTED = tomllib.loads(data_text("realtalk.memory", "weights.toml"))
FUSED: Weights = _FITTED["fused"]
MULTILINGUAL: Weights = _FITTED["multilingual"]
ENCODER: Weights = {"vectors": 1.0}
BM25: Weights = {"words": 1.0}


class SearchedQuestion(NamedTuple):
    """A question as it is searched: with the chat's own names, who is meant, and which days."""

    text: str
    speakers: tuple[str, ...]
    days: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls,
        chat: Chat,
        question: Question,
        *,
        aliases: bool = True,
        dates: bool = True,
        is_english: bool = True,
    ) -> SearchedQuestion:
        """The question with aliases replaced by the speakers' names and dates resolved.

        What is relative ("last week") counts from when it is asked, else from the last message.
        Other languages than English glue endings and particles to a name.
        """
        text = _own_names(chat, question.text) if aliases else question.text
        names = _has_name if is_english else is_named
        speakers = tuple(name for name in chat.speakers if names(name, text))
        days: tuple[tuple[int, int], ...] = ()
        moment = question.asked or _last(chat)
        if dates and moment is not None:
            periods = resolve(question.text, moment)
            days = tuple((period.first.toordinal(), period.last.toordinal()) for period in periods)
        return cls(text, speakers, days)


def _has_name(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _own_names(chat: Chat, text: str) -> str:
    """Aliases replaced by the names that the messages stand under, longest first."""
    names = {alias.name: alias.speaker for alias in chat.aliases}
    names = {name: who for name, who in names.items() if name not in chat.speakers}
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    # A full name holds its own first part: "Fahim" of "Fahim Khan" must not become it twice.
    whole = sorted(chat.speakers, key=len, reverse=True)
    pattern = "|".join(map(re.escape, [*whole, *longest]))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: names.get(found[0], found[0]), text)


def _last(chat: Chat) -> datetime | None:
    for session in reversed(chat.sessions):
        for message in reversed(session.messages):
            if moment := message.time or session.time:
                return moment
    return None


def features(
    index: ChatIndex, asked: SearchedQuestion, question: EncodedTexts | None
) -> dict[str, Array]:
    """Every feature that the index can give, one number per message.

    `question` is the encoded question; without it only words and priors are there.
    """
    columns: dict[str, Array] = {}
    if question is not None:
        vector = question.vectors[0]
        assert index.encoded is not None
        columns["vectors"] = scale(index.of_messages(index.encoded.vectors @ vector))
        columns["tokens"] = scale(_best_matches(index, question))
        columns["session_tokens"] = scale(index.of_sessions(columns["tokens"]))
        columns["window"] = scale(index.window_vectors @ vector)
        # A message that follows a question takes part in how near the question is.
        follows = np.roll(index.asking, 1) & (np.diff(index.session_of, prepend=-1) == 0)
        before = np.maximum(np.roll(columns["vectors"], 1), 0.0)
        columns["answers"] = np.where(follows, before, 0.0)
    messages, windows, sessions = index.words
    columns["words"] = scale(messages.scores(asked.text))
    columns["window_words"] = scale(windows.scores(asked.text))
    columns["session_words"] = scale(sessions.scores(asked.text)[index.session_of])
    named = asked.speakers or index.meant(asked.text)
    # Both named, or nobody: no telling who is meant.
    by_speaker = index.who == named[0] if len(named) == 1 else np.zeros(len(index.ids))
    columns["speaker"] = np.asarray(by_speaker, np.float64)
    columns["asking"] = index.asking.astype(np.float64)
    columns["length"] = index.lengths.astype(np.float64)
    columns["day"] = _on_days(index, asked)
    return columns


def scores(
    index: ChatIndex,
    asked: SearchedQuestion,
    encoder: TextEncoder | None,
    weights: Weights = FUSED,
) -> Array:
    """The weighted sum of the features."""
    if not index.ids:
        return np.zeros(0)
    question = encoder.encode([asked.text]) if encoder is not None else None
    return weigh(features(index, asked, question), weights)


def again(index: ChatIndex, found: Array, hits: int = 5, share: float = 0.3) -> Array:
    """Scores after a second hop: what is like the best hits so far counts more."""
    if not len(found):
        return found
    best = np.argsort(-found, kind="stable")[:hits]
    raised = np.exp(found[best] - found[best[0]])
    alike = (index.vectors[best] @ index.vectors.T).T @ (raised / raised.sum())
    return found + share * scale(alike)


def weigh(found: Mapping[str, Array], weights: Weights) -> Array:
    total = np.zeros(len(found["words"]))
    for name in FEATURES:
        share = weights.get(name, 0.0)
        if share and name in found:
            total += share * found[name]
    return total


def scale(values: npt.NDArray[np.floating]) -> Array:
    """Mean 0 and deviation 1; all 0 where there is no difference."""
    wide = np.asarray(values, np.float64)
    spread = float(wide.std()) if len(wide) else 0.0
    # Products of equal vectors differ by some 1e-7.
    return (wide - wide.mean()) / spread if spread > 1e-6 else np.zeros(len(wide))


def _best_matches(index: ChatIndex, question: EncodedTexts) -> Array:
    """The weighted mean over the question's tokens of their best match in each message."""
    assert index.encoded is not None
    token_vectors = question.tokens.astype(np.float32) / np.float32(127)
    best = np.maximum.reduceat(
        token_vectors @ index.token_vectors, index.encoded.offsets[:-1], axis=1
    )
    return index.of_messages((question.weights / question.weights.sum()) @ best)


def _on_days(index: ChatIndex, asked: SearchedQuestion) -> Array:
    """1 on a day that the question names, falling to 0 over a week after it."""
    total = np.zeros(len(index.ids))
    for first, last in asked.days:
        away = np.maximum(index.days - last, 2 * (first - index.days))
        near = np.clip(1 - np.maximum(away, 0) / 7, 0, 1)
        total = np.maximum(total, np.where(index.days > 0, near, 0.0))
    return total
