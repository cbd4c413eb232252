"""Which questions are asked of whom → samples of memory probing, and the solver they go to.

    plan = Plan(corpus, memory, reader, (Budget(tokens=1000),))
    plan.questions      → ((chat, (question, …)), …), as far as categories and limit go
    plan.stages()       → one stage per chat, one sample per question and budget
    contexts(plan)      → what each question would be shown, for readers elsewhere

A memory is built once per chat, from the chat alone: its questions, answers and evidence are
taken out before the memory sees it, so that none can leak into what it remembers. Neither the
memory nor the reader learns a question's category. Where a question says when it is asked, the
chat ends there (`known_by`): every memory is built from what there was by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from realtalk.chat import Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.evals.values import Row, Sample, Stage
from realtalk.files.progress import Progress, silent
from realtalk.formats.audit import AuditedQuestion
from realtalk.formats.questions import first_unseen
from realtalk.memory.golds import Gold, Golds
from realtalk.memory.plain import Oracle
from realtalk.memory.remembering import MemoryReader, Reader
from realtalk.memory.rows import category_of
from realtalk.memory.values import Budget, Memory, ShownQuestion, label
from realtalk.registry import at_least, known_name


@dataclass(frozen=True)
class Plan:
    """What is asked: which questions, of which memory, with which budgets, read by whom."""

    corpus: Corpus
    memory: Memory
    reader: Reader
    budgets: tuple[Budget, ...]
    categories: tuple[str, ...] | None = None
    limit: int | None = None
    golds: Golds = field(default=Golds())
    is_part: bool = False  # of a plan that was found right as a whole

    def __post_init__(self) -> None:
        categories = list(
            dict.fromkeys(category_of(q) for chat in self.corpus.chats for q in chat.questions)
        )
        if not categories:
            raise RealtalkError(
                "this corpus has no questions",
                where=self.corpus.name,
                fix="probe one that has: sample, or what `realtalk data get realtalk` fetches",
            )
        for category in self.categories or ():
            known_name("category", category, categories)
        for chat in self.corpus.chats:
            ids = Counter(question.id for question in chat.questions)
            if twice := [id_ for id_, count in ids.items() if count > 1]:
                raise RealtalkError(
                    f"{ids[twice[0]]} questions have the id '{twice[0]}'",
                    where=chat.id,
                    fix="give each its own: answers could not be told apart",
                )
        at_least(1, **{"the limit": self.limit})
        if not self.is_part:
            self.golds.refuse_unknown(self.corpus)

    def audit_of(self, chat: Chat) -> Mapping[str, AuditedQuestion]:
        """What the audit says of a chat's questions, by their ids."""
        return self._audits[chat.id]

    def gold(self, chat: Chat, question: Question) -> Gold:
        """What a question is scored by."""
        return self._golds[chat.id][question.id]

    @cached_property
    def _audits(self) -> dict[str, Mapping[str, AuditedQuestion]]:
        return {chat.id: self.golds.audit_of(chat) for chat in self.corpus.chats}

    @cached_property
    def _golds(self) -> dict[str, dict[str, Gold]]:
        return {chat.id: self.golds.of(chat) for chat in self.corpus.chats}

    @cached_property
    def questions(self) -> tuple[tuple[Chat, tuple[Question, ...]], ...]:
        """Chats with those of their questions that are asked.

        A limit takes them evenly from the categories, and from the chats within each.
        """
        questions = [
            (
                chat,
                [
                    question
                    for question in chat.questions
                    if (not self.categories or category_of(question) in self.categories)
                    and question.id in self._golds[chat.id]
                ],
            )
            for chat in self.corpus.chats
        ]
        if self.limit is not None:
            places = _draw_evenly([all_ for _, all_ in questions], self.limit)
            questions = [
                (chat, [question for at, question in enumerate(all_) if (number, at) in places])
                for number, (chat, all_) in enumerate(questions)
            ]
        return tuple((chat, tuple(all_)) for chat, all_ in questions if all_)

    def stages(self) -> Iterator[Stage[ShownQuestion, Question]]:
        """One stage per chat, or per part of it that was there when questions were asked."""
        for chat, questions in self.questions:
            parts: list[tuple[Chat, list[Question]]] = []
            for question in questions:
                part = known_by(chat, question)
                if not parts or _size(parts[-1][0]) != _size(part):
                    parts.append((replace(part, questions=()), []))
                parts[-1][1].append(question)
            for part, part_questions in parts:
                samples = [
                    Sample(
                        question.id,
                        chat.id,
                        label(budget),
                        ShownQuestion(part, bare(question), budget),
                        question,
                    )
                    for question in part_questions
                    for budget in self.budgets
                ]
                title = chat.id if len(parts) == 1 else f"{chat.id}, {_size(part)} messages"
                yield Stage(title, samples, lambda known=part: known)  # type: ignore[misc]

    @property
    def solver(self) -> MemoryReader:
        memory = self.memory
        if isinstance(memory, Oracle):
            memory = Oracle(evidence=self._golds)
        return MemoryReader(memory, self.reader)


def _draw_evenly(questions: Sequence[Sequence[Question]], limit: int) -> set[tuple[int, int]]:
    """(chat, place) of as many questions: as many of each category, as many of each chat.

    The category that has fewest so far is next, and of it the chat that has fewest.
    """
    waiting: dict[str, dict[int, list[int]]] = {}
    for number, all_ in enumerate(questions):
        for at, question in enumerate(all_):
            waiting.setdefault(category_of(question), {}).setdefault(number, []).append(at)
    places: set[tuple[int, int]] = set()
    of_category, of_chat = Counter[str](), Counter[int]()
    while waiting and len(places) < limit:
        category = min(waiting, key=lambda name: of_category[name])
        number = min(waiting[category], key=lambda each: of_chat[each])
        places.add((number, waiting[category][number].pop(0)))
        of_category[category] += 1
        of_chat[number] += 1
        if not waiting[category][number]:
            del waiting[category][number]
        if not waiting[category]:
            del waiting[category]
    return places


def contexts(plan: Plan, progress: Progress = silent) -> Iterator[Row]:
    """What each question would be shown, for readers elsewhere."""
    total = len(plan.budgets) * sum(len(questions) for _, questions in plan.questions)
    number = 0
    solver = plan.solver
    for stage in plan.stages():
        progress(number, total, f"remembering {stage.title}")
        solver.prepare(stage.learning())
        for sample in stage.samples:
            context = solver.recall(sample.shown).context
            number += 1
            yield {
                "chat": sample.group,
                "id": sample.id,
                "budget": sample.variant,
                "category": category_of(sample.truth),
                "question": sample.truth.text,
                "context": context.text,
                "tokens": context.tokens,
                "words": context.words,
                "message_ids": list(context.message_ids),
            }
            progress(number, total, f"recalling from {plan.memory.name}")


def known_by(chat: Chat, question: Question) -> Chat:
    """The chat as it was when a question was asked; all of it where nothing says when.

    Up to the session that it names, else to the day of asking. A day, not an hour: published
    questions are dated some hours before what they are about. Of a session that goes on past it,
    no event is kept: it may tell of what came later.
    """
    unseen, asked = first_unseen(question), question.asked
    if unseen is not None:
        earlier = tuple(session for session in chat.sessions if session.number < unseen)
        noted = tuple(event for event in chat.events if event.session < unseen)
        return replace(chat, sessions=earlier, events=noted)
    if asked is None:
        return chat
    day = asked.date()
    sessions = []
    uncut = set()
    for session in chat.sessions:
        messages = tuple(
            message
            for message in session.messages
            if (moment := message.time or session.time) is None or moment.date() <= day
        )
        if messages == session.messages:
            uncut.add(session.number)
        if messages or not session.messages:
            sessions.append(replace(session, messages=messages))
    if tuple(sessions) == chat.sessions:
        return chat
    events = tuple(event for event in chat.events if event.session in uncut)
    return replace(chat, sessions=tuple(sessions), events=events)


def _size(chat: Chat) -> int:
    # What was there by one day is the beginning of what was there by another.
    return sum(len(session.messages) for session in chat.sessions)


def bare(question: Question) -> Question:
    """The question as anybody would ask it, without what only the corpus knows."""
    return Question(question.id, question.text, None, "", asked=question.asked)
