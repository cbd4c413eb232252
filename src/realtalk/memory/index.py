"""A chat → what is searched of it: vectors of its messages, word counts, who, when.

    index = ChatIndex.of(chat, encoder)        # made once, kept in the cache, then read from it
    index.ids[3], index.vectors[3]             → "D1:4", float32 [384]
    index.encoded.tokens                       → the small vectors of all tokens, int8

Encoding is the slow part, so that is what is stored, under a hash of the messages and of the
encoder's version: a chat that changed is encoded again, one that did not never is while it is
kept. Only the owner reads the files, and those used longest ago go when they take too much room.
Word counts are made anew, which takes milliseconds.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import regex

from realtalk.chat import Chat, Message
from realtalk.encoders.lexical import Bm25
from realtalk.encoders.sentences import Encoded, TextEncoder
from realtalk.errors import RealtalkError
from realtalk.files.caches import INDEXES, cache_limit, keep_within
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path
from realtalk.text.terms import ReadWords, english_terms, reading

Floats: TypeAlias = npt.NDArray[np.float32]
Whole: TypeAlias = npt.NDArray[np.int64]

_LETTERS, _LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")
_LAYOUT = "1"  # of the stored file
_NEIGHBOURS = 1  # messages before and after, in a window


def document_text(message: Message) -> str:
    """What is searched of a message: its text and what its pictures show."""
    seen = [attachment.caption for attachment in message.attachments if attachment.caption]
    return " ".join([message.text, *(f"[{caption}]" for caption in seen)]).strip()


def named_text(message: Message) -> str:
    """The same with the speaker in front, which is what the encoder reads."""
    return f"{message.speaker}: {document_text(message)}"


def content_key(chat: Chat, version: str) -> str:
    """A hash of everything that the stored part depends on."""
    digest = hashlib.sha256(f"{_LAYOUT}\0{version}\0".encode())
    for session in chat.sessions:
        for message in session.messages:
            said = f"{session.number}\0{message.id}\0{named_text(message)}\0"
            digest.update(said.encode("utf-8", "surrogatepass"))
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
    encoded: Encoded | None

    @classmethod
    def of(
        cls,
        chat: Chat,
        encoder: TextEncoder | None,
        *,
        cache: Path | None = None,
        progress: Progress = silent,
    ) -> ChatIndex:
        """The index of a chat: from the cache where it is there, else made and put there.

        Without an encoder only words are searched, and nothing is stored.
        """
        if encoder is None:
            return cls.around(chat, None)
        key = content_key(chat, encoder.version)
        path = (cache or cache_folder() / "memory") / f"{key}.npz"
        plain = cls.around(chat, None)
        encoded = _load(path, len(plain.ids))
        if encoded is None:
            limit = cache_limit()  # before the slow part: what is set wrong is said at once
            messages = chat.by_id
            texts = [named_text(messages[id_]) for id_ in plain.ids]
            encoded = encoder.encode(texts, plain.sessions.tolist(), progress)
            _save(path, encoded)
            keep_within(INDEXES, path.parent, limit, path)
        return cls.around(chat, encoded)

    @classmethod
    def around(cls, chat: Chat, encoded: Encoded | None) -> ChatIndex:
        """The index of a chat whose messages are encoded already, or not at all."""
        found: dict[str, tuple[str, str, int, int]] = {}
        for place, session in enumerate(chat.sessions):
            for message in session.messages:
                moment = message.time or session.time
                day = moment.toordinal() if moment is not None else 0
                row = (document_text(message), message.speaker, place, day)
                found.setdefault(message.id, row)
        rows = list(found.values())
        return cls(
            chat,
            tuple(found),
            tuple(row[0] for row in rows),
            tuple(row[1] for row in rows),
            np.array([row[2] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.int64),
            encoded,
        )

    @cached_property
    def read(self) -> ReadWords:
        """How the chat's words are read, by its language."""
        return reading(self.texts)

    @property
    def is_english(self) -> bool:
        """Whether it is, or too short to tell: the encoder learned English."""
        return self.read is english_terms

    @cached_property
    def is_latin(self) -> bool:
        """Whether most letters are Latin, which is what the encoder's pieces are made of."""
        some = "".join(self.texts[:: 1 + len(self.texts) // 500])
        return 2 * len(_LATIN.findall(some)) >= len(_LETTERS.findall(some))

    @cached_property
    def words(self) -> tuple[Bm25, Bm25, Bm25]:
        """BM25 over messages, over windows of three, and over sessions."""
        named = [f"{who}: {text}" for who, text in zip(self.speakers, self.texts, strict=True)]
        windows = [" ".join(named[a:b]) for a, b in self.windows]
        sessions = [" ".join(named[a:b]) for a, b in self.session_bounds]
        read = self.read
        return Bm25(named, read), Bm25(windows, read), Bm25(sessions, read)

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
        found = []
        for first, end in self.session_bounds:
            for at in range(first, end):
                found.append((max(first, at - _NEIGHBOURS), min(end, at + _NEIGHBOURS + 1)))
        return found

    @cached_property
    def vectors(self) -> Floats:
        if self.encoded is None:
            raise RealtalkError("the index has no vectors", fix="build it with an encoder")
        return self.encoded.vectors

    @cached_property
    def window_vectors(self) -> Floats:
        """The direction of a message and its neighbours together."""
        return _directions([self.vectors[a:b].sum(axis=0) for a, b in self.windows])

    @cached_property
    def token_vectors(self) -> Floats:
        """The small token vectors as floats, one column per token, message after message."""
        if self.encoded is None:
            raise RealtalkError("the index has no vectors", fix="build it with an encoder")
        return np.ascontiguousarray(self.encoded.tokens.T, np.float32) / np.float32(127)

    @cached_property
    def who(self) -> npt.NDArray[np.str_]:
        """The speakers as an array."""
        return np.array(self.speakers, np.str_)

    @cached_property
    def asking(self) -> npt.NDArray[np.bool_]:
        """Which messages end in a question mark."""
        return np.array([text.rstrip(" !.)").endswith("?") for text in self.texts], bool)

    @cached_property
    def lengths(self) -> Floats:
        """The logarithm of each message's words, and one."""
        return np.log1p([len(text.split()) for text in self.texts]).astype(np.float32)


def _directions(sums: Sequence[npt.NDArray[np.float32]]) -> Floats:
    if not sums:
        return np.empty((0, 0), np.float32)
    rows = np.stack(sums)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _save(path: Path, encoded: Encoded) -> None:
    # Vectors tell something of a private text.
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(
            stream,
            vectors=encoded.vectors,
            tokens=encoded.tokens,
            offsets=encoded.offsets,
        )


def _load(path: Path, messages: int) -> Encoded | None:
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
    return Encoded(vectors, tokens, offsets, np.empty(0, np.float32))
