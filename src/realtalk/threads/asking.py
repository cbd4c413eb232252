"""A language model that is shown a thread and answers: any provider that inspect-ai knows.

    predictor = LlmPredictor(model="openai/gpt-4o-mini", budget=2000)
    predictor.solve(cases)    → [Answer(True, cost=Cost(calls=1, tokens_in=512, …)), …]

An answer that cannot be read is not asked for again in other words: it is unscored with its
reason, and wrong in the strict scores. The model learns nothing from the train part but the
solved examples that the cases hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.language_models import LanguageModel
from realtalk.evals.values import Answer
from realtalk.models.asking import Asked
from realtalk.threads.predictors import Value
from realtalk.threads.prompting import load_prompts, prompt
from realtalk.threads.reading_answers import read_answer
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
        if budget < 1:
            raise RealtalkError(f"the budget must be 1 or more, not {budget}")
        super().__init__(
            Asked(
                model,
                cache=cache,
                base_url=base_url,
                connections=connections,
                rate=rate,
                max_tokens=max_tokens,
                seed=seed,
            ),
            load_prompts(prompts),
        )
        self._budget = budget

    @property
    def settings(self) -> dict[str, Any]:
        return {
            **super().settings,
            "budget": self._budget,
            "max_tokens": self.asked.max_tokens or "by task",
        }

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False

    def prompt(self, shown: Case) -> str:
        return prompt(shown, self._budget, self.prompts)

    def parse(self, text: str, shown: Case) -> Answer[Value]:
        return read_answer(shown.task, text)

    def most_tokens(self, shown: Case) -> int:
        return self.asked.max_tokens or _MOST_TOKENS[shown.task]
