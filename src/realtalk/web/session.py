"""What every page works with: the chats, the annotations, the labels, and who is asking.

studio = StudioSession(ChatLibrary(corpus), Store.open(path), "Ana")
studio.open_chat(0)              → the first chat; its own events and questions are in the store
studio.author_to_show(open_chat, "Ana", "") → whose items a page shows: hers where she has any
studio.turn_labels(open_chat)    → its EI, from labels or being labelled
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.formats.audit import Audit, AuditedQuestion
from realtalk.formats.store import put_questions
from realtalk.memory.drafting import Drafts, is_drafted
from realtalk.redaction.candidates import MentionSource
from realtalk.web.guessing import GuessRoom, TalkRoom
from realtalk.web.library import ChatLibrary, OpenChat
from realtalk.web.reviews import AuditReviews, DraftReviews, NameReview
from realtalk.web.store import Store
from realtalk.web.turn_labels import TurnLabels
from realtalk.web.values import CORPUS, FINAL, Body, ItemKind, StudioItem, body_of


@dataclass
class StudioSession:
    """One corpus, opened for one or more annotators."""

    library: ChatLibrary
    store: Store
    annotator: str  # who is asking where the browser does not say
    labels: Mapping[str, TurnLabels] | None = None  # None: made in the background
    cache: Path | None = None
    audit: Audit | None = None  # None: the one that ships
    guesses: GuessRoom | None = None  # None: of people's replies alone, beside the annotations
    talk: TalkRoom | None = None  # None: nobody is simulated
    name_sources: Sequence[MentionSource] | None = None  # None: those that redaction uses
    drafts: Drafts = field(default=Drafts())  # questions that a model drafted
    stored: Path | None = None  # the stored corpus that takes questions; None: there is none
    _turn_labels: dict[int, TurnLabels] = field(default_factory=dict)
    _audited: dict[int, dict[str, AuditedQuestion]] = field(default_factory=dict)
    _seeded: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open_chat(self, number: int) -> OpenChat:
        """A chat; what came with it is put into the store when it is first opened."""
        open_chat = self.library[number]
        with self._lock:
            if number not in self._seeded:
                chat = open_chat.chat
                bodies: list[tuple[ItemKind, Body]] = [
                    ("event", body_of(event)) for event in chat.events if event.kind == "event"
                ]
                bodies += [("question", body_of(question)) for question in chat.questions]
                self.store.seed(chat.id, bodies, CORPUS)
                self._seeded.add(number)
        return open_chat

    @cached_property
    def reviews(self) -> AuditReviews:
        """What people say of the audit, in a file beside the annotations."""
        place = self.store.path.with_suffix(".audit.json")
        return AuditReviews.open(place, self.audit or Audit.load_shipped())

    @cached_property
    def draft_reviews(self) -> DraftReviews:
        """What people say of drafted questions, in a file beside the annotations."""
        return DraftReviews.open(self.store.path.with_suffix(".drafts.json"), self.drafts)

    def keep_drafts(self, open_chat: OpenChat) -> int:
        """Puts the accepted drafts into the stored corpus, and takes out others; says how many."""
        if self.stored is None:
            raise RealtalkError("only a stored corpus takes questions", fix="store the chat first")
        questions = self.draft_reviews.chosen(open_chat.chat)
        with self._lock:
            put_questions(self.stored, open_chat.chat.id, questions, is_drafted)
        return len(questions)

    @cached_property
    def guess_room(self) -> GuessRoom:
        """Where people guess who wrote a reply."""
        folder = self.store.path.with_suffix(".guesses")
        return self.guesses or GuessRoom(self.library.corpus, folder=folder)

    @cached_property
    def name_review(self) -> NameReview:
        """What redaction would replace, to tick; in a table beside the annotations."""
        place = self.store.path.with_suffix(".names.csv")
        return NameReview(self.library.corpus, place, self.name_sources)

    def close(self) -> None:
        """Everything is on the disk, nothing is open, and nothing works on any more."""
        TurnLabels.stop(self._turn_labels.values())
        self.store.close()
        self.guess_room.close()

    def audit_of(self, open_chat: OpenChat) -> dict[str, AuditedQuestion]:
        """What the audit says of a chat's questions; empty where it does not know the chat."""
        if open_chat.number not in self._audited:
            self._audited[open_chat.number] = (self.audit or Audit.load_shipped()).of(
                open_chat.chat
            )
        return self._audited[open_chat.number]

    def turn_labels(self, open_chat: OpenChat) -> TurnLabels:
        """The chat's EI; the first call starts the labelling."""
        with self._lock:
            if open_chat.number not in self._turn_labels:
                if self.labels is None:
                    labels = TurnLabels.background(open_chat.chat, self.cache)
                else:
                    labels = self.labels.get(open_chat.chat.id) or TurnLabels()
                self._turn_labels[open_chat.number] = labels
            return self._turn_labels[open_chat.number]

    def author_to_show(self, open_chat: OpenChat, me: str, author: str) -> str:
        """Whose items to show: as asked, else mine, else what came with the chat."""
        there = self.store.authors(open_chat.chat.id)
        if author and (author in there or author in (me, FINAL)):
            return author
        return CORPUS if me not in there and CORPUS in there else me

    def owner(self, item: StudioItem, me: str) -> str:
        """Who changes an item: its annotator; what was agreed on belongs to everybody."""
        if item.author not in (me, FINAL):
            raise RealtalkError(
                "belongs to another annotator", where=f"item {item.id}", fix="copy it first"
            )
        return item.author

    def annotators(self, open_chat: OpenChat, me: str) -> dict[str, int]:
        """Everybody with items of this chat, me first, then what came with it and the agreed."""
        there = self.store.authors(open_chat.chat.id)
        people = [name for name in there if name not in (me, CORPUS, FINAL)]
        order = (me, *people, CORPUS, FINAL)
        return {name: there.get(name, 0) for name in order if name in there or name in (me, FINAL)}
