"""An invented chat with questions, an audit of them, and a run, for the tests of golds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson

from memory_chats import bakery
from plain_reader import MessageReader
from realtalk.chat import Chat, Corpus, Question
from realtalk.evals.run import Run
from realtalk.files.progress import Progress, silent
from realtalk.formats.audit import Audit, AuditedQuestion, chat_key, question_key
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.golds import Golds
from realtalk.memory.remembering import NoReader
from realtalk.memory.values import Budget, Context


def asked() -> Chat:
    """The bakery with five questions, of which one gold is right."""

    def question(id_: str, text: str, answer: str, category: str, *stated: str) -> Question:
        known = tuple(each for each in stated if each in bakery().by_id)
        lost = tuple(each for each in stated if each not in bakery().by_id)
        return Question(id_, text, answer, category, known, lost, stated)

    questions = (
        question("Q1", "When did Ines adopt the kitten?", "09.05.2026", "temporal", "D2:3"),
        question("Q2", "What is the kitten called?", "Salt", "multi_hop", "D2:2"),
        question("Q3", "Where is the marathon?", "Porto", "multi_hop", "D3:1", "D3:9"),
        question("Q4", "Does Tobias own a bakery?", "yes", "commonsense", "D1:2"),
        question("Q5", "What broke at Nessa's?", "D1:3", "commonsense", "d 1;3"),
    )
    return replace(bakery(), questions=questions)


def corpus() -> Corpus:
    return Corpus("bakery", "realtalk", (asked(),))


def audit() -> Audit:
    """Q2 is wrong, Q4 cannot be answered, of Q1 and Q3 more messages are needed."""
    by_id = {
        "Q1": AuditedQuestion(
            "ok", "9 May 2026", ("the night to 9 May 2026",), ("D2:1", "D2:3"), "", "clock", True
        ),
        "Q2": AuditedQuestion("wrong", "Pepper", ("Pepper the kitten",), ("D2:3",), "Not Salt."),
        "Q3": AuditedQuestion("incomplete", "Porto, on 8 November", (), ("D3:1", "D3:3"), "When."),
        "Q4": AuditedQuestion("unanswerable", "not told", (), ("D1:2",), "Nobody says so."),
        "Q5": AuditedQuestion("ok", "the oven", (), ("D1:3",)),
    }
    chat = asked()
    keys = {question.id: question_key(question) for question in chat.questions}
    return Audit("audited", {chat_key(chat): {keys[id_]: each for id_, each in by_id.items()}})


def write_audit(path: Path, changed: Audit | None = None) -> Path:
    lines = (audit() if changed is None else changed).lines()
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return path


class Fixed:
    """A memory that ranks as it is told and shows the first two."""

    name, version = "fixed", "1"
    settings: dict[str, str | int | float | bool] = {}  # noqa: RUF012
    order = ("D2:3", "D3:1", "D2:1", "D1:3", "D3:3", "D2:2")

    def build(self, chat: Chat, progress: Progress = silent) -> Fixed:
        return self

    def recall(self, question: Question, budget: Budget) -> Context:
        return Context("shown", self.order[:2], 10, 8, ranked=self.order)


def probed(golds: Golds, folder: Path | None = None, *, reader: bool = True) -> Run:
    said = MessageReader() if reader else NoReader()
    return run_probe(Plan(corpus(), Fixed(), said, (Budget(),), golds=golds), folder)
