"""The judge's questions as one Inspect task: questions in, answers out, none lost.

    ask([Question(0, "reflective"), Question(0, "grounding")], inputs, prompts, settings)
    → {Question(0, "reflective"): Answer({"reflective": True}),
       Question(0, "grounding"): Answer(None, "timeout")}

Every answer is kept in a cache the moment it comes, without end of life. A run that was
killed, or is made again, asks only what has no answer yet. The cache holds what the model
said, under a hash of what it was asked; the chat itself is not in it.

Needs inspect-ai: imported by `realtalk.measures.judge` only when questions are asked.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    CachePolicy,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from realtalk.corpora.reading import Progress
from realtalk.errors import RealtalkError
from realtalk.measures.judge_answers import FORMS, Values, is_refusal, read_answer
from realtalk.measures.judge_prompts import Prompts
from realtalk.measures.labels import TurnInput

__all__ = ["Answer", "Question", "Settings", "ask"]

_REMINDERS = (  # each differs from the one before, else the cache would answer in its place
    "",
    "\n\nThe answer must be {form}, without any other text.",
    "\n\nThe answer must be {form}. Explanations cannot be read: leave them out.",
)
_BROKEN_REPLIES = 2  # as often is a question asked again
_GIVE_UP_AFTER = 20  # failures in a row, each after its own retries
_SETUP = {401: "the provider does not accept the key", 404: "the provider does not know the model"}


@dataclass(frozen=True, slots=True)
class Question:
    """One measure of one turn; `number` is the turn's place among the inputs."""

    number: int
    measure: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The columns of a label that the answer fills, or why there are none."""

    values: Values | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Whom to ask and how. `logs` is where Inspect logs, chat text included, are wanted."""

    model: str
    cache: Path
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    connections: int = 10
    timeout: int = 120  # seconds for one attempt
    retries: int = 5  # after 429, 5xx, a timeout or a broken connection
    logs: Path | None = None


@dataclass(slots=True)
class _Record:
    """What has happened so far in a run."""

    total: int
    progress: Progress
    answers: dict[Question, Answer] = field(default_factory=dict)
    heard: bool = False  # the model has answered at least once
    failures: int = 0  # in a row
    stop: str = ""  # why nothing more is asked
    setup: str = ""  # what is wrong with the key or the name of the model

    def failed(self, error: BaseException) -> str:
        reason, status = _reason(error)
        self.failures += 1
        if not self.heard and status in _SETUP:
            self.setup = self.stop = _SETUP[status]
        elif self.failures >= _GIVE_UP_AFTER:
            self.stop = f"the provider stopped answering: {reason}"
        return reason

    def keep(self, question: Question, answer: Answer) -> None:
        self.answers[question] = answer
        self.progress(len(self.answers), self.total, "asking the judge")


def ask(
    questions: Sequence[Question],
    inputs: Sequence[TurnInput],
    prompts: Prompts,
    settings: Settings,
    progress: Progress,
) -> dict[Question, Answer]:
    """An answer to every question, or the reason why there is none."""
    record = _Record(len(questions), progress)
    task = Task(
        dataset=MemoryDataset([_sample(question, inputs) for question in questions]),
        solver=_asking(inputs, prompts, settings, record),
        scorer=_reading(record),
        name="judge",
        version=prompts.version,
    )
    with _environment(settings), _log_folder(settings) as log_folder:
        logs = eval(
            task,
            model=_model(settings),
            display="none",
            log_level="error",
            log_dir=log_folder,
            log_samples=settings.logs is not None,
            log_model_api=False,
            # The buffer for live viewing would write the chat to disk.
            log_realtime=False,
            log_buffer=500,
            fail_on_error=False,
            max_samples=settings.connections,
            max_tasks=1,
            score_display=False,
            ctl_server=False,
        )
    if record.setup:
        raise RealtalkError(
            record.setup, where=settings.model, fix="check the name of the model and its API key"
        )
    # The engine turns Ctrl-C into an end without logs.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    if not record.answers:
        raise RealtalkError(
            "no question could be asked", where=settings.model, fix="keep logs to see why"
        )
    lost = Answer(None, "the question could not be asked")
    return {question: record.answers.get(question, lost) for question in questions}


def _sample(question: Question, inputs: Sequence[TurnInput]) -> Sample:
    """A name for the question. The solver makes the prompt: long sessions times every turn
    would not fit into memory at once."""
    given = inputs[question.number]
    return Sample(
        input=f"{question.measure} of turn {given.turn} in {given.chat}",
        id=f"{question.number}:{question.measure}",
        metadata={"number": question.number, "measure": question.measure},
    )


def _question(state: TaskState) -> Question:
    return Question(state.metadata["number"], state.metadata["measure"])


@solver
def _asking(
    inputs: Sequence[TurnInput], prompts: Prompts, settings: Settings, record: _Record
) -> Solver:
    # The cache's own key leaves the model's arguments out.
    arguments = json.dumps(dict(settings.model_args), sort_keys=True, default=str)
    policy = CachePolicy(
        expiry=None, per_epoch=False, scopes={"task": "judge", "arguments": arguments}
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        question = _question(state)
        prompt = prompts.fill(question.measure, inputs[question.number])
        form = FORMS[question.measure]
        reason = ""
        for reminder in _REMINDERS:
            if record.stop:
                reason = record.stop
                break
            message = ChatMessageUser(content=prompt + reminder.format(form=form))
            try:
                state.output = await _generated(message, policy)
            except Exception as error:
                reason = record.failed(error)
                break
            record.heard, record.failures = True, 0
            state.messages = [message, *(choice.message for choice in state.output.choices[:1])]
            reason = _flaw(question.measure, state)
            if not reason or reason in {"refused", "too long for the model"}:
                break
        state.store.set("reason", reason)
        return state

    return solve


async def _generated(message: ChatMessageUser, policy: CachePolicy) -> ModelOutput:
    """The model's output. Inspect tries again after most failures, but not after a reply cut
    off in the middle of its JSON."""
    for _ in range(_BROKEN_REPLIES):
        try:
            return await get_model().generate([message], cache=policy)
        except json.JSONDecodeError:
            continue
    return await get_model().generate([message], cache=policy)


def _flaw(measure: str, state: TaskState) -> str:
    """What is wrong with the answer, "" where it can be read."""
    text = state.output.completion
    if read_answer(measure, text) is not None:
        return ""
    if state.output.choices:
        stopped = state.output.stop_reason
        if stopped == "content_filter":
            return "refused"
        if stopped == "model_length":
            return "too long for the model"
    if not text.strip():
        return "empty answer"
    return "refused" if is_refusal(text) else "malformed answer"


@scorer(metrics=[])
def _reading(record: _Record) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        question = _question(state)
        reason = str(state.store.get("reason"))
        values = None if reason else read_answer(question.measure, state.output.completion)
        record.keep(question, Answer(values, reason))
        if values is None:
            return Score.unscored(explanation=reason)
        return Score(value=dict(values), answer=state.output.completion)

    return score


def _reason(error: BaseException) -> tuple[str, int | None]:
    """Why a call failed, in our words: a provider's own may hold the whole request."""
    last = getattr(error, "last_attempt", None)  # the error of spent retries wraps the real one
    if last is not None and last.exception() is not None:
        error = last.exception()
    if isinstance(error, json.JSONDecodeError):
        return "malformed answer", None
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    if not isinstance(status, int):
        status = None
        # Before connections: a client may say that a connection timed out.
        if "Timeout" in kind:
            return "timeout", status
        if "Connect" in kind:
            return "no connection", status
        return f"provider error ({kind})", status
    if status == 408:
        return "timeout", status
    if status == 429:
        return "rate limited", status
    return f"provider error ({status})", status


def _model(settings: Settings) -> Model:
    key = None
    if settings.base_url and settings.model.startswith("openai-api/"):
        # A server on one's own machine wants no key, the client insists on one.
        service = settings.model.split("/")[1].upper().replace("-", "_")
        key = None if os.environ.get(f"{service}_API_KEY") else "none"
    try:
        return get_model(
            settings.model,
            config=GenerateConfig(
                temperature=0.0,
                max_connections=settings.connections,
                adaptive_connections=False,
                attempt_timeout=settings.timeout,
                max_retries=settings.retries,
            ),
            base_url=settings.base_url,
            api_key=key,
            memoize=False,
            **settings.model_args,
        )
    except Exception as error:
        said = re.sub(r"\[/?[a-z]+\]", "", str(getattr(error, "message", error)))
        raise RealtalkError(f"the model cannot be used: {said}", where=settings.model) from error


@contextmanager
def _environment(settings: Settings) -> Iterator[None]:
    """Inspect learns from the environment where its cache lies and how much it traces."""
    wanted = {"INSPECT_CACHE_DIR": str(settings.cache)}
    if settings.logs is None:
        wanted["INSPECT_TRACE_LEVEL"] = "critical"  # failed calls are traced with their text
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _log_folder(settings: Settings) -> Iterator[str]:
    if settings.logs is not None:
        settings.logs.mkdir(parents=True, exist_ok=True)
        yield str(settings.logs)
        return
    with tempfile.TemporaryDirectory(prefix="realtalk-judge-") as folder:
        yield folder
