"""Questions of a corpus × a memory × budgets × a reader → rows.

    plan = Plan(corpus, memory, reader, (Budget(tokens=1000),))
    probe(plan, keep=lambda row, timing: …, done=lambda key: False)
    plan.keys()    → every (chat, question, budget) in the order of the corpus

A memory is built once a chat, from the chat alone: its questions, answers and evidence are
taken out before the memory sees it, so that none can leak into what it remembers. Neither the
memory nor the reader learns a question's category. Where a question says when it is asked, the
chat ends with that day: the memory is built from what there was by then.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from realtalk.chat import Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.memory.budgets import label
from realtalk.memory.learned import InSample, learning_parts
from realtalk.memory.readers import Answered, Item, Reader
from realtalk.memory.rows import (
    KEY,
    SCORING_VERSION,
    Row,
    answered_columns,
    category_of,
    empty_row,
    row_key,
)
from realtalk.memory.values import Budget, Built, Context, Cost, Memory, NothingRemembered
from realtalk.registry import suggest

__all__ = [
    "Keep",
    "Plan",
    "ask_memory",
    "bare",
    "built_without_questions",
    "contexts",
    "is_done",
    "known_by",
    "probe",
]

_AT_ONCE = 64  # questions whose contexts are held at a time: a whole chat is 100 KB

Keep = Callable[[Row, Row], None]  # (row, its timing)
Done = Callable[[tuple[str, str, str]], bool]
Remembered = Callable[[Row], None]  # what building a memory took, where it took anything


_NOTHING = Context("", (), 0, 0, tells=True)  # of which no retrieval can be scored


def _unheard(row: Row) -> None: ...


@dataclass(frozen=True)
class Plan:
    """What is asked: which questions, of which memory, with which budgets, read by whom."""

    corpus: Corpus
    memory: Memory
    reader: Reader
    budgets: tuple[Budget, ...]
    categories: tuple[str, ...] | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        known = list(
            dict.fromkeys(category_of(q) for chat in self.corpus.chats for q in chat.questions)
        )
        if not known:
            raise RealtalkError(
                "this corpus has no questions",
                where=self.corpus.name,
                fix="probe one that has: sample, or what `realtalk data get realtalk` fetches",
            )
        for category in self.categories or ():
            if category not in known:
                raise suggest("category", category, known)
        for chat in self.corpus.chats:
            ids = Counter(question.id for question in chat.questions)
            if twice := [id_ for id_, count in ids.items() if count > 1]:
                raise RealtalkError(
                    f"{ids[twice[0]]} questions have the id '{twice[0]}'",
                    where=chat.id,
                    fix="give each its own: answers could not be told apart",
                )
        if self.limit is not None and self.limit < 1:
            raise RealtalkError(f"the limit must be 1 or more, not {self.limit}")

    @cached_property
    def questions(self) -> tuple[tuple[Chat, tuple[Question, ...]], ...]:
        """Chats with those of their questions that are asked.

        A limit takes them evenly from the chats: the first of each, then the second of each.
        """
        chosen = [
            (
                chat,
                [
                    question
                    for question in chat.questions
                    if not self.categories or category_of(question) in self.categories
                ],
            )
            for chat in self.corpus.chats
        ]
        if self.limit is not None:
            places = sorted(
                (turn, number)
                for number, (_, all_) in enumerate(chosen)
                for turn in range(len(all_))
            )[: self.limit]
            counts = [0] * len(chosen)
            for _, number in places:
                counts[number] += 1
            chosen = [
                (chat, all_[:count]) for (chat, all_), count in zip(chosen, counts, strict=True)
            ]
        return tuple((chat, tuple(all_)) for chat, all_ in chosen if all_)

    def keys(self) -> list[tuple[str, str, str]]:
        return [
            row_key(chat, question, budget)
            for budget in self.budgets
            for chat, questions in self.questions
            for question in questions
        ]

    def settings(self) -> dict[str, Any]:
        """What the rows depend on, for a run to keep."""
        return {
            "memory": {
                "name": self.memory.name,
                "version": self.memory.version,
                "settings": dict(self.memory.settings),
            },
            "reader": {
                "name": self.reader.name,
                "version": self.reader.version,
                "settings": dict(self.reader.settings),
            },
            "budgets": [label(budget) for budget in self.budgets],
            "categories": list(self.categories) if self.categories else None,
            "limit": self.limit,
            "scoring": SCORING_VERSION,
        }


def probe(
    plan: Plan,
    keep: Keep,
    done: Done = lambda key: False,  # noqa: ARG005
    progress: Progress = silent,
    remembered: Remembered = _unheard,
) -> None:
    """Asks what is not done yet, and hands every row on as soon as it is there."""
    keys = plan.keys()
    total, finished = len(keys), sum(map(done, keys))
    waiting: list[tuple[Row, Row, Item]] = []

    def flush() -> None:
        def kept(place: int, answered: Answered) -> None:
            nonlocal finished
            row, timing, _ = waiting[place]
            keep(*_filled(row, timing, answered, plan.reader.name))
            finished += 1
            progress(finished, total, f"{plan.memory.name}, read by {plan.reader.name}")

        plan.reader.read([item for _, _, item in waiting], kept)
        waiting.clear()

    def unbuilt(row: Row, timing: Row) -> None:
        nonlocal finished
        keep(row, timing)
        finished += 1

    for asked in ask_memory(plan, done, progress, remembered, unbuilt):
        waiting.append(asked)
        if len(waiting) >= _AT_ONCE:
            flush()
    flush()


def ask_memory(
    plan: Plan,
    done: Done,
    progress: Progress = silent,
    remembered: Remembered = _unheard,
    unbuilt: Keep | None = None,
) -> Iterator[tuple[Row, Row, Item]]:
    """Every question that is not done with its context, chat by chat.

    Questions about a chat of which nothing could be remembered go to `unbuilt`; without it that
    is an error.
    """
    known_sets = InSample(learning_parts(plan.memory.name, plan.memory.settings, plan.reader.name))
    for chat, questions in plan.questions:
        open_ = [
            (question, budget)
            for question in questions
            for budget in plan.budgets
            if not done(row_key(chat, question, budget))
        ]
        if not open_:
            continue
        known: Chat | None = None
        built: Built | None = None
        missing = ""
        for question, budget in open_:
            then = known_by(chat, question.asked)
            if known is None or _size(then) != _size(known):
                known = then
                progress(0, 0, f"remembering {chat.id}")
                try:
                    built = built_without_questions(plan.memory, known)
                    _tell(built, known, remembered)
                except NothingRemembered as error:
                    if unbuilt is None:
                        raise
                    built, missing = None, error.what
            asked = bare(question)
            began = time.perf_counter()
            context = _NOTHING if built is None else built.recall(asked, budget)
            spent = 1000 * (time.perf_counter() - began)
            row = empty_row(chat, question, budget, context, known_sets.of(chat, question))
            timing = {
                **{name: row[name] for name in KEY},
                "recall_ms": spent,
                "reader_seconds": 0.0,
            }
            if built is None and unbuilt is not None:
                unbuilt(row | {"unscored": missing}, timing)
            else:
                yield row, timing, Item(known, asked, context)


def contexts(plan: Plan, progress: Progress = silent) -> Iterator[Row]:
    """What each question would be shown, for readers elsewhere."""
    total = len(plan.keys())
    for number, (row, _, item) in enumerate(ask_memory(plan, lambda _: False, progress), 1):
        yield {
            **{name: row[name] for name in (*KEY, "category")},
            "question": row["question"],
            "context": item.context.text,
            "tokens": row["tokens"],
            "words": row["words"],
            "message_ids": row["message_ids"],
        }
        progress(number, total, f"recalling from {plan.memory.name}")


def built_without_questions(memory: Memory, chat: Chat) -> Built:
    """The memory of a chat, which never sees what it will be asked."""
    return memory.build(replace(chat, questions=()))


def known_by(chat: Chat, asked: datetime | None) -> Chat:
    """The chat up to the day of asking; as it is where nobody says when, or nothing came later.

    A day, not an hour: published questions are dated some hours before what they are about. Of
    a session that goes on past it, no event is kept: it may tell of what came later.
    """
    if asked is None:
        return chat
    sessions = []
    for session in chat.sessions:
        kept = tuple(
            message
            for message in session.messages
            if (moment := message.time or session.time) is None or moment.date() <= asked.date()
        )
        if len(kept) == len(session.messages):
            sessions.append(session)
        elif kept:
            sessions.append(replace(session, messages=kept))
    uncut = {id(session) for session in sessions}
    whole = {session.number for session in chat.sessions if id(session) in uncut}
    if len(uncut.intersection(map(id, chat.sessions))) == len(chat.sessions):
        return chat
    events = tuple(event for event in chat.events if event.session in whole)
    return replace(chat, sessions=tuple(sessions), events=events)


def _size(chat: Chat) -> int:
    # What was there by one day is the beginning of what was there by another.
    return sum(len(session.messages) for session in chat.sessions)


def _tell(built: Built, chat: Chat, remembered: Remembered) -> None:
    """Hands on what building took, and which sessions the memory could not take in."""
    cost = getattr(built, "cost", None) or Cost()
    unscored = getattr(built, "unscored", None) or {}
    if cost.calls or unscored:
        remembered(
            {
                "chat": chat.id,
                "messages": _size(chat),
                "calls": cost.calls,
                "tokens_in": cost.tokens_in,
                "tokens_out": cost.tokens_out,
                "unscored": [
                    {"session": number, "reason": reason} for number, reason in unscored.items()
                ],
            }
        )


def bare(question: Question) -> Question:
    """The question as anybody would ask it, without what only the corpus knows."""
    return Question(question.id, question.text, None, "", asked=question.asked)


def _filled(row: Row, timing: Row, answered: Answered, reader: str) -> tuple[Row, Row]:
    cost = answered.cost
    filled = row | {
        "answer": answered.text,
        "unscored": answered.reason,
        "calls": cost.calls,
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
    }
    if reader != "none":
        missing = "the reader gave no answer" if answered.text is None else None
        filled |= answered_columns(
            answered.text, row["gold"], row["category"], answered.reason or missing
        )
    return filled, timing | {"reader_seconds": cost.seconds}


def is_done(row: Row) -> bool:
    """Whether a row need not be asked again: it has an answer, or none can be had."""
    return row["unscored"] is None or row["answer"] is not None
