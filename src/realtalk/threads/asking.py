"""A language model that is shown a thread and answers: any provider that inspect-ai knows.

    predictor = LlmPredictor(model="openai/gpt-4o-mini", budget=2000)
    predictor.solve(cases)    → [Answer(True, cost=Cost(calls=1, tokens_in=512, …)), …]

An answer that cannot be read is not asked for again in other words: it is unscored with its
reason, and wrong in the strict scores. The model learns nothing from the train part but the
solved examples that the cases hold.

What a model answered → the value that it means, or why it means none.

    read_answer("sentiment", "Positive.")             → Answer(True)
    read_answer("impact", "Score: -1,204")            → Answer(-1204.0)
    read_answer("impact", "between 3 and 7")          → Answer(None, "several numbers")
    read_answer("next_text", '"phew"')                → Answer("phew")

A value is taken only where the answer can mean no other: one label, one number. What a model
thinks aloud between <think> marks is not its answer.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from realtalk.evals.language_models import LanguageModel, strip_quotes
from realtalk.evals.values import Answer
from realtalk.models.asking import ModelConfig
from realtalk.registry import at_least
from realtalk.threads.predictors import Value
from realtalk.threads.prompting import load_prompts, prompt
from realtalk.threads.values import TASKS, Case, Task

BUDGET = 2000  # tokens of a prompt
_MOST_TOKENS = {"sentiment": 32, "impact": 32, "next_text": 256}


class LlmPredictor(LanguageModel[Case, Value]):
    """Asks the model named, once per reply.

    `max_tokens` of an answer is 32 for a word or a number and 256 for a text: a model that thinks
    aloud before it answers needs more.
    """

    tasks = TASKS

    def __init__(
        self,
        *,
        model: str,
        budget: int = BUDGET,
        max_tokens: int | None = None,
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        rate: str | None = None,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        at_least(1, **{"the budget": budget})
        options: dict[str, Any] = {"connections": connections, "rate": rate, "seed": seed}
        config = ModelConfig(model, cache, base_url, max_tokens=max_tokens, **options)
        super().__init__(config, load_prompts(prompts))
        self._budget = budget

    @property
    def settings(self) -> dict[str, Any]:
        return {
            **super().settings,
            "budget": self._budget,
            "max_tokens": self.config.max_tokens or "by task",
        }

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False

    def prompt(self, shown: Case) -> str:
        return prompt(shown, self._budget, self.prompts)

    def parse(self, text: str, shown: Case) -> Answer[Value]:
        return read_answer(shown.task, text)

    def most_tokens(self, shown: Case) -> int:
        return self.config.max_tokens or _MOST_TOKENS[shown.task]


_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"\b(positive|negative)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor)|n't)\b[^.\n]{0,20}\b(?:positive|negative)\b", re.IGNORECASE
)
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{HYPHEN}": "-"})
_NUMBER = re.compile(
    r"(?<![\w.,])[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.\d{1,9})?(k)?(?!\w)", re.IGNORECASE
)


def read_answer(task: Task, text: str) -> Answer[Value]:
    """The answer's value, None with the reason where it cannot be read."""
    answer = _THOUGHT.sub("", text).strip()
    if not answer:
        return Answer(None, "no answer")
    if task == "sentiment":
        return _label(answer)
    if task == "impact":
        return _number(answer)
    said = strip_quotes(answer)
    return Answer(said) if said else Answer(None, "no answer")


def _label(said: str) -> Answer[Value]:
    labels = {label.lower() for label in _LABEL.findall(said)}
    if not labels:
        return Answer(None, "neither positive nor negative")
    if len(labels) > 1:
        return Answer(None, "both positive and negative")
    if _DENIED.search(said):
        return Answer(None, "a label denied")
    return Answer("positive" in labels)


def _number(said: str) -> Answer[Value]:
    numbers = {
        float(match[0].replace(",", "").rstrip("kK")) * (1000 if match[1] else 1)
        for match in _NUMBER.finditer(said.translate(_MINUS))
    }
    if len(numbers) != 1:
        return Answer(None, "several numbers" if numbers else "no number")
    return Answer(numbers.pop())
