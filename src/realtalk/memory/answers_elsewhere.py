"""Answers that came from anywhere → a run of memory probing like any other.

    answers = read_answers(Path("answers.jsonl"))
    → [{"chat": "Chat_1", "id": "Q3", "answer": "3 March 2026", "budget": "1000t", …}]
    score_answers(corpus, answers, Path("out"))    → Run

A question without an answer, or with an empty one, is unscored and counted. Answers that name
the budget of their context are rows of that budget.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import orjson

from realtalk.chat import Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, PlainSolver, Row
from realtalk.files.json_objects import read_objects
from realtalk.files.progress import Progress, silent
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.golds import Golds
from realtalk.memory.remembering import NO_CONTEXT, Item
from realtalk.memory.values import (
    Budget,
    ConfiguredMemory,
    Context,
    Recalling,
    label,
    parse_budgets,
)

Key: TypeAlias = tuple[str, str, str]  # chat, question, budget
_PUBLISHED = Golds()


def read_answers(path: Path) -> list[Row]:
    """Answers as JSONL: `id` and `answer` on each line, and `chat` where ids repeat between chats.

    `budget`, `message_ids` and `tokens` of a line of `probe contexts` are taken over.
    """
    rows: list[Row] = []
    for where, row in read_objects(path):
        if not isinstance(row.get("id"), str | int):
            raise RealtalkError(
                "names no question",
                where=where,
                fix='write {"chat": "…", "id": "Q1", "answer": "…"} as in `probe contexts`',
            )
        answer = row.get("answer")
        if isinstance(answer, bool) or not isinstance(answer, str | int | float | None):
            raise RealtalkError("the answer is no text", where=where)
        if row.get("budget") is not None:
            _budget(row | {"where": where})
        message_ids, size = row.get("message_ids"), row.get("tokens")
        if message_ids is not None and not (
            isinstance(message_ids, list) and all(isinstance(id_, str) for id_ in message_ids)
        ):
            raise RealtalkError("message_ids is no list of ids", where=where)
        if size is not None and not (type(size) is int and size >= 0):
            raise RealtalkError("tokens is no count", where=where)
        rows.append(row | {"where": where})
    if not rows:
        raise RealtalkError("holds no answer", where=str(path), fix="write one object per line")
    return rows


def _budget(row: Row) -> Budget:
    """The budget of the context that an answer was read from; all where it does not say."""
    text = row.get("budget")
    if text is None:
        return Budget()
    try:
        (budget,) = parse_budgets(str(text))
    except (RealtalkError, ValueError):
        raise RealtalkError(
            "the budget is none", where=row.get("where"), fix='write it as "1000t" or "2000w"'
        ) from None
    return budget


def score_answers(
    corpus: Corpus,
    answers: Iterable[Row],
    folder: Path | None = None,
    *,
    fresh: bool = False,
    golds: Golds = _PUBLISHED,
) -> Run:
    """Rows of answers that came from anywhere; a question without one is unscored."""
    by_id: dict[str, dict[str, None]] = {}  # question → chats
    for chat in corpus.chats:
        for question in chat.questions:
            by_id.setdefault(question.id, {})[chat.id] = None
    row_of: dict[Key, Row] = {}
    budgets: dict[Budget, None] = {}
    for row in answers:
        budget = _budget(row)
        key = (_chat_of(row, by_id), str(row["id"]), label(budget))
        if key in row_of:
            raise RealtalkError(
                f"question '{key[1]}' of {key[0]} is answered twice",
                where=row.get("where"),
                fix="answers from contexts of several budgets name theirs as `budget`",
            )
        row_of[key] = row
        budgets[budget] = None
    memory = ContextsElsewhere(row_of)
    reader = AnswersElsewhere(row_of)
    plan = Plan(corpus, memory, reader, tuple(budgets) or (Budget(),), golds=golds)
    return run_probe(plan, folder, fresh=fresh)


def _chat_of(row: Row, by_id: Mapping[str, Iterable[str]]) -> str:
    """The chat of the question that an answer is about."""
    name, chat = str(row["id"]), row.get("chat")
    chats = [
        candidate for candidate in by_id.get(name, ()) if chat is None or candidate == str(chat)
    ]
    if not chats:
        place = "" if chat is None else f" in {chat}"
        raise RealtalkError(
            f"no question '{name}'{place}", where=row.get("where"), fix="check the corpus"
        )
    if len(chats) > 1:
        raise RealtalkError(
            f"question '{name}' is in several chats",
            where=row.get("where"),
            fix='name the chat too: {"chat": "…"}',
        )
    return chats[0]


class ContextsElsewhere(ConfiguredMemory):
    """A memory that shows what readers elsewhere say they were shown: only its messages."""

    name = "elsewhere"
    version = ""

    def __init__(self, given: Mapping[Key, Row]) -> None:
        self._given = given

    def build(self, chat: Chat) -> Recalling:
        def recall(question: Question, budget: Budget) -> Context:
            line = self._given.get((chat.id, question.id, label(budget)), {})
            ids = tuple(line.get("message_ids") or ())
            if unknown := [id_ for id_ in ids if id_ not in chat.by_id]:
                raise RealtalkError(
                    f"no message '{unknown[0]}' in {chat.id}", where=line.get("where")
                )
            # What the answer's reader was shown is not known here unless it says so.
            return Context("", ids, line.get("tokens") or 0, 0) if ids else NO_CONTEXT

        return Recalling(recall)


class AnswersElsewhere(PlainSolver):
    """A reader that says what was answered elsewhere."""

    name = "elsewhere"
    version = ""

    def __init__(self, given: Mapping[Key, Row]) -> None:
        self._given = given

    @property
    def settings(self) -> dict[str, str]:
        """A hash of the answers: others are another run."""
        lines = [
            [*key, *(line.get(name) for name in ("answer", "message_ids", "tokens"))]
            for key, line in sorted(self._given.items(), key=lambda item: item[0])
        ]
        return {"answers": hashlib.sha256(orjson.dumps(lines)).hexdigest()[:16]}

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        answers: list[Answer[str]] = []
        for item in shown:
            line = self._given.get((item.chat.id, item.question.id, label(item.budget)), {})
            text = line.get("answer")
            answers.append(
                Answer(None, "no answer was given") if text is None else Answer(str(text).strip())
            )
        return answers
