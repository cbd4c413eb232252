"""A memory and whoever reads what it recalls → one solver of questions about a chat.

    solver = MemoryReader(Recent(), NoReader())
    solver.prepare(chat)                   # builds the memory, once per chat
    solver.solve([ShownQuestion(chat, question, Budget(tokens=1000))])
    → [Answer(RecalledAnswer(Context(…), "3 March 2026"), times={"recall_ms": 0.4, …})]

The chat has no questions in it: a memory never sees what it will be asked. A memory whose code
fails at some questions leaves these without a score; one that never got anything right stops.

A memory that anybody wrote, checked → contexts, whatever its `recall` returns.

    check_memory(MyMemory)                         → RealtalkError: … give an instance: MyMemory()
    built = build_memory(MyMemory(), chat)         # build returned nothing: the memory recalls
    built.recall(question, Budget(tokens=1000))
    → Context("[Monday 2 March 2026] …", ("D1:2", "D1:4"), tokens=981, words=702, …)

`recall` may return a Context, a text of the memory's own words, or message ids, best first, which
are shown in time order as far as the budget reaches. Anything else is refused by name.

A memory and a budget → what comes to mind of a chat when something is said.

    remember = reminder(Retrieved(way="bm25"), Budget(words=300))
    recall = remember(chat)                              # the memory of a chat, built once
    recall("did the oven break again?", datetime(…))     → ("D1:4", "D3:2"), in time order

What was said takes the place of a question. Only memories that show messages can do this; one that
tells in words of its own is refused by name.

Who answers from a context: nobody, or a language model.

    reader = LlmReader(ModelConfig("openai/gpt-4o-mini"), load_wording())
    reader.solve([Item(chat, question, context)])
    → [Answer("3 March 2026", cost=Cost(calls=1, tokens_in=1042, tokens_out=6))]

`none` looks at what was retrieved only. `llm` asks any model that inspect-ai knows. A reader is
given several questions at once, so that it can ask them together.

The prompts of memory probing: text files with placeholders, in versions.

    wording = load_wording()                      → version "3", ours
    wording = load_wording(Path("1"))             → version "1", as we asked before
    wording = load_wording(Path("my-prompts"))    → version "sha256:3f2a9c1b04d2"
    wording.fill("answer", speakers="Mara and Theo", context="…", question="…")

`answer` is what a reader is asked, `answer_or_abstain` where a corpus also has questions that
the chat does not tell; `judge_lenient` and `judge_strict` are what a judge is asked. A user's
folder may hold any of them; ours stand in for the rest. The hash is over all as used.

Version 2 differs from 1 in `answer_or_abstain` alone: it also speaks of questions that take for
granted what was never said, as LongMemEval's do. Version 3 lets a reader use what everybody knows:
commonsense questions cannot be answered otherwise (REALTALK, §3.2). Every question is asked so: a
prompt for one category would tell a reader what kind of answer is wanted. What a judge is asked
is the same in all. A run that began with an earlier version goes on with it (`--prompts 2`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from inspect import isclass, signature
from pathlib import Path
from typing import Any, TypeAlias

from realtalk.chat import Chat, Question
from realtalk.errors import OwnCodeError, RealtalkError
from realtalk.evals.language_models import (
    LanguageModel,
    Prompts,
    join_names,
    load_prompts,
    written_day,
)
from realtalk.evals.running import solver_record
from realtalk.evals.values import COUNTS, Answer, Cost, PlainSolver, Solver
from realtalk.files.progress import Progress, silent
from realtalk.memory.values import (
    Budget,
    Context,
    Memory,
    MessageCosts,
    NoMemoryError,
    RecalledAnswer,
    ShownQuestion,
    own_code,
)
from realtalk.models.asking import ModelConfig

WORDING_VERSION = "3"
_EARLIER = ("1", "2")
_ANSWERING = ("context", "question")
_JUDGING = ("question", "gold", "answer")
_PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "answer": _ANSWERING,
    "answer_or_abstain": _ANSWERING,
    "judge_lenient": _JUDGING,
    "judge_strict": _JUDGING,
}


def load_wording(folder: Path | None = None) -> Prompts:
    """Our prompts, those in `folder` replaced by the user's own; or an earlier version of ours."""
    ours = WORDING_VERSION
    if folder is not None and str(folder) in (*_EARLIER, ours) and not folder.is_dir():
        ours, folder = str(folder), None
    prompts = load_prompts("realtalk.memory", ours, _PLACEHOLDERS, ("speakers",), folder)
    for name, text in prompts.texts.items():
        unknown = set(prompts.placeholders.findall(text)) - {*_PLACEHOLDERS[name], "speakers"}
        if unknown or (name.startswith("judge") and "{speakers}" in text):
            raise RealtalkError(
                "the prompt has a placeholder of another one", where=str(folder and folder / name)
            )
    return prompts


_SMALL = "realtalk/"
_SMALL_ANSWER = 64  # tokens: a small model does not stop by itself


@dataclass(frozen=True, slots=True)
class Item:
    """One question with what its reader may see."""

    chat: Chat
    question: Question
    context: Context
    budget: Budget = field(default=Budget())


Reader: TypeAlias = Solver[Item, str]


class NoReader(PlainSolver):
    """Nobody answers: only what the memory brings is looked at."""

    name = "none"

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(None) for _ in shown]


class LlmReader(LanguageModel[Item, str]):
    """A language model, asked with the context. `abstain` tells it that it may say so where the
    conversation does not tell; every question of a corpus is asked alike."""

    def __init__(self, config: ModelConfig, prompts: Prompts, *, abstain: bool = False) -> None:
        if config.max_tokens is None and config.model.startswith(_SMALL):
            config = replace(config, max_tokens=_SMALL_ANSWER)
        super().__init__(config, prompts)
        self._abstain = abstain

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "base_url": None,
            **super().settings,
            "model_args": dict(self.config.model_args),
            "abstain": self._abstain,
        }

    def prompt(self, shown: Item) -> str:
        return prompt_of(shown, self.prompts, self._abstain)

    def parse(self, text: str, shown: Item) -> Answer[str]:  # noqa: ARG002
        return Answer(text.strip())


def prompt_of(item: Item, wording: Prompts, abstain: bool = False) -> str:
    """What a language model is shown for one question."""
    question = item.question.text
    if item.question.asked is not None:
        question += f" (asked on {written_day(item.question.asked)})"
    return wording.fill(
        "answer_or_abstain" if abstain else "answer",
        speakers=join_names(item.chat.speakers),
        context=item.context.text or "(nothing of the conversation is shown)",
        question=question,
    )


_NEEDED = ("name", "version", "settings", "build")
_RETURNS = "return a Context, a text, or a list of message ids"


def check_memory(given: Any) -> Memory:
    """The memory, where it has what a memory has; refused before anything is built from it."""
    if isclass(given):
        raise RealtalkError(
            f"{given.__name__} is a class, not a memory",
            fix=f"give an instance: {given.__name__}()",
        )
    who = type(given).__name__
    fix = "a memory has name, version, settings, build(chat) and recall(question, budget)"
    for name in _NEEDED:
        if not hasattr(given, name):
            raise RealtalkError(f"{who} is not a memory, it has no '{name}'", fix=fix)
    for name in ("build", "recall"):
        if hasattr(given, name) and not callable(getattr(given, name)):
            raise RealtalkError(f"{who} is not a memory, its '{name}' cannot be called", fix=fix)
    memory: Memory = given
    return memory


def build_memory(memory: Memory, chat: Chat, progress: Progress = silent) -> CheckedMemory:
    """A chat's memory: what `build` returned, or the memory itself where that is nothing."""
    telling = {"progress": progress} if "progress" in signature(memory.build).parameters else {}
    chat_memory: Any = memory.build(chat, **telling)
    if chat_memory is None:
        chat_memory = memory
    if not callable(getattr(chat_memory, "recall", None)):
        raise RealtalkError(
            f"the memory '{memory.name}' has no recall: "
            f"{type(chat_memory).__name__} cannot be asked",
            fix="write recall(question, budget); build may return an object that has it",
        )
    return CheckedMemory(memory.name, chat_memory, chat)


class CheckedMemory:
    """One chat's memory, ready to be asked. `cost` and `unscored` are those of what was built."""

    def __init__(self, name: str, built: Any, chat: Chat) -> None:
        self._name = name
        self._built = built
        self._chat = chat
        self.cost: Cost = getattr(built, "cost", None) or Cost()
        self.unscored: Mapping[int, str] = getattr(built, "unscored", None) or {}

    def recall(self, question: Question, budget: Budget) -> Context:
        """What the memory shows. An OwnCodeError where its code failed or returned no context."""
        where = f"{self._chat.id}, {question.id}"
        with own_code(f"the memory '{self._name}' failed", where):
            recollection: Any = self._built.recall(question, budget)
        if isinstance(recollection, Context):
            return recollection
        if isinstance(recollection, str):
            return Context(recollection, tells=True)
        if isinstance(recollection, list | tuple):
            return self._show(tuple(recollection), budget)
        raise self._wrong(type(recollection).__name__)

    def _show(self, ranked: tuple[Any, ...], budget: Budget) -> Context:
        for id_ in ranked:
            if not isinstance(id_, str):
                raise self._wrong(f"a list of {type(id_).__name__}")
            if id_ not in self._costs.place:
                raise self._wrong("a list with something in it that is no message id of this chat")
        ids = tuple(dict.fromkeys(ranked))
        return self._costs.context(self._costs.fit(ids, budget), ranked=ids)

    def _wrong(self, what: str) -> OwnCodeError:
        return OwnCodeError(
            f"recall of the memory '{self._name}' returned {what}",
            where=self._chat.id,
            fix=_RETURNS,
        )

    @cached_property
    def _costs(self) -> MessageCosts:
        return MessageCosts(self._chat)


NO_CONTEXT = Context("", (), 0, 0, tells=True)  # of which no retrieval can be scored
_NO_ANSWER = "the reader gave no answer"


class MemoryReader:
    """Recalls for every question and has the reader answer from that."""

    at_once = 32  # questions whose contexts are held at a time: a whole chat is 100 KB
    asks = True

    def __init__(self, memory: Memory, reader: Reader) -> None:
        self.memory = memory
        self.reader = reader
        self.preparation: dict[str, Any] | None = None
        self._built: CheckedMemory | None = None
        self.proven = False  # it has recalled something, now or in an earlier sitting
        self._missing = ""  # why there is no memory
        self._build_seconds = 0.0  # of a memory of which no answer told yet
        self._contexts: dict[tuple[str, str, Budget], Context] = {}  # of prompts

    @property
    def name(self) -> str:
        return f"{self.memory.name}, read by {self.reader.name}"

    @property
    def version(self) -> str:
        return f"{self.memory.version}, {self.reader.version}"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "memory": solver_record(self.memory),
            "reader": solver_record(self.reader),
        }

    def prepare(self, learning: Chat, progress: Progress = silent) -> None:
        self.preparation = None
        began = time.perf_counter()
        try:
            self._built = build_memory(self.memory, learning, progress)
            self._build_seconds = time.perf_counter() - began
        except NoMemoryError as error:
            self._built, self._missing = None, error.what
            return
        cost, left_out = self._built.cost, self._built.unscored
        if cost.calls or left_out:
            self.preparation = {
                **{name: getattr(cost, name) for name in COUNTS},
                "unscored": [
                    {"session": number, "reason": reason} for number, reason in left_out.items()
                ],
            }

    def solve(
        self, shown: Sequence[ShownQuestion], progress: Progress = silent
    ) -> list[Answer[RecalledAnswer]]:
        if self._built is None:
            return [Answer(RecalledAnswer(NO_CONTEXT), self._missing) for _ in shown]
        items: dict[int, Item] = {}
        failures: dict[int, OwnCodeError] = {}
        spent: list[float] = []
        for at, question in enumerate(shown):
            began = time.perf_counter()
            try:
                items[at] = self.recall(question)
                self.proven = True
            except OwnCodeError as error:
                if not self.proven and error.__cause__ is None:
                    raise  # it returns what nobody can read: known at the first question
                failures[at] = error
            spent.append(1000 * (time.perf_counter() - began))
        if failures and not self.proven:
            raise failures[0]
        readings = dict(zip(items, self.reader.solve([*items.values()], progress), strict=True))
        answers: list[Answer[RecalledAnswer]] = []
        for at, milliseconds in enumerate(spent):
            if at in items:
                answer = self._with_context(items[at].context, readings[at])
            else:
                answer = Answer(RecalledAnswer(NO_CONTEXT), failures[at].what)
            times = {
                "recall_ms": milliseconds,
                "reader_seconds": answer.cost.seconds,
                "build_seconds": self._build_seconds,
            }
            self._build_seconds = 0.0  # the first answer carries it: a sum counts it once
            answers.append(replace(answer, times=times))
        return answers

    def recall(self, shown: ShownQuestion) -> Item:
        """What the reader sees of one question; raises where nothing could be remembered."""
        if self._built is None:
            raise NoMemoryError(self._missing or "prepare comes first", where=shown.chat.id)
        context = self._built.recall(shown.question, shown.budget)
        return Item(shown.chat, shown.question, context, shown.budget)

    def _with_context(self, context: Context, answer: Answer[str]) -> Answer[RecalledAnswer]:
        reason = answer.unscored
        if answer.value is None and not reason and self.reader.name != "none":
            reason = _NO_ANSWER
        return Answer(RecalledAnswer(context, answer.value), reason, answer.cost)

    # What an evaluation framework that asks the model by itself needs.

    @property
    def _model(self) -> LanguageModel[Item, str]:
        if not isinstance(self.reader, LanguageModel):
            raise TypeError(f"the reader {self.reader.name} asks no model")
        return self.reader

    @property
    def config(self) -> ModelConfig:
        return self._model.config

    def prompt(self, shown: ShownQuestion) -> str:
        item = self.recall(shown)
        self._contexts[_place(shown)] = item.context
        return self._model.prompt(item)

    def parse(self, text: str, shown: ShownQuestion) -> Answer[RecalledAnswer]:
        context = self._contexts[_place(shown)]
        item = Item(shown.chat, shown.question, context, shown.budget)
        return self._with_context(context, self._model.parse(text, item))

    def most_tokens(self, shown: ShownQuestion) -> int | None:  # noqa: ARG002
        return self._model.config.max_tokens


def _place(shown: ShownQuestion) -> tuple[str, str, Budget]:
    return shown.chat.id, shown.question.id, shown.budget


MessagesFor: TypeAlias = Callable[[str, datetime], Sequence[str]]


def reminder(memory: Memory, budget: Budget) -> Callable[[Chat], MessagesFor]:
    """For a chat, which of its messages something brings to mind."""

    def remember(chat: Chat) -> MessagesFor:
        chat_memory = build_memory(memory, chat)

        def recall(said: str, moment: datetime) -> Sequence[str]:
            cue = Question("cue", said, None, "", asked=moment)
            context = chat_memory.recall(cue, budget)
            if context.tells:
                raise RealtalkError(
                    f"the memory {memory.name} shows no messages",
                    fix="take recent, retrieved or none",
                )
            return context.message_ids

        return recall

    return remember
