"""Small made-up items of the thread tasks, for tests of what predicts and scores them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from realtalk.evals.values import Answer, Row, Sample, row_of
from realtalk.threads.predictors import Value
from realtalk.threads.scoring import ReplyScorer
from realtalk.threads.values import Case, Part, Setting, ShownEntry, Target, Task

START = datetime(2026, 3, 2, 8, 0)


def shown(
    text: str, author: str = "theo", hours: float = 0, score: float | None = None, title: str = ""
) -> ShownEntry:
    """A post or comment, some hours after the start."""
    time = START + timedelta(hours=hours)
    return ShownEntry(f"s{hours}", "t", author, time, text, title, score)


def item(
    number: int,
    score: float | None,
    *,
    text: str = "phew",
    user: str = "mara",
    task: Task = "sentiment",
    setting: Setting = "p-conv",
    domain: str = "cats",
    part: Part = "train",
    conversation: tuple[ShownEntry, ...] = (),
    history: tuple[ShownEntry, ...] = (),
) -> Case:
    """A sample whose target was written `number` hours after the start."""
    time = START + timedelta(hours=number)
    target = Target(f"t/{number}", "t", str(number), user, domain, time, text, score, part)
    given = None if task == "next_text" else text
    return Case(target, task, setting, given, conversation, history)


def scored(task: Task, cases: Sequence[Case], answers: Sequence[Answer[Value]]) -> list[Row]:
    """The rows that a run has of these answers."""
    samples: list[Sample[Case, Target]] = [
        Sample(case.key, case.target.user, case.setting, case, case.target) for case in cases
    ]
    columns = ReplyScorer(task).rows([case.target for case in cases], answers)
    return [row_of(*each) for each in zip(samples, answers, columns, strict=True)]
