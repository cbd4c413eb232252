"""A language model that is shown a thread and answers: any provider that inspect-ai knows.

    predictor = LlmPredictor(model="openai/gpt-4o-mini", budget=2000)
    predictor.predict(samples)    → [Prediction("post-000001/D1:3", True, tokens_in=512, …), …]

One answer a reply, at temperature 0. An answer that cannot be read is not asked for again in
other words: it is unscored with its reason, and wrong in the strict scores. What was answered
once is kept (models/asking.py). The model learns nothing from the train part but the solved
examples that the samples hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.models.asking import Asked, Prompt, Reply, ask
from realtalk.threads.predictors import Prediction, Settings
from realtalk.threads.prompting import Prompts, load_prompts, prompt
from realtalk.threads.reading_answers import read_answer
from realtalk.threads.values import TASKS, Sample, Task

__all__ = ["BUDGET", "LlmPredictor"]

BUDGET = 2000  # tokens of a prompt
_MOST_TOKENS = {"sentiment": 32, "impact": 32, "next_text": 256}


class LlmPredictor:
    """Asks the model named, once a reply.

    `max_tokens` of an answer is 32 for a word or a number and 256 for a text: a model that thinks
    aloud before it answers needs more.
    """

    name = "llm"
    tasks = TASKS
    at_once = 32  # rows are kept after so many: an answer costs money
    asks = True

    def __init__(
        self,
        *,
        model: str,
        budget: int = BUDGET,
        max_tokens: int | None = None,
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        if budget < 1:
            raise RealtalkError(f"the budget must be 1 or more, not {budget}")
        self._asked = Asked(
            model,
            cache=cache,
            base_url=base_url,
            connections=connections,
            max_tokens=max_tokens,
            seed=seed,
        )
        self._budget = budget
        self._prompts = load_prompts(prompts)

    @property
    def version(self) -> str:
        return f"prompts {self._prompts.version}"

    @property
    def settings(self) -> Settings:
        found: Settings = {
            "model": self._asked.model,
            "budget": self._budget,
            "max_tokens": self._asked.max_tokens or "by task",
            "seed": self._asked.seed,
        }
        if self._asked.address is not None:
            found["base_url"] = self._asked.address
        return found

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False

    def fit(self, samples: Sequence[Sample], progress: Progress = silent) -> None:
        """Nothing is learned: solved examples are in the samples."""

    def predict(self, samples: Sequence[Sample], progress: Progress = silent) -> list[Prediction]:
        if not samples:
            return []
        task = samples[0].task
        most = self._asked.max_tokens or _MOST_TOKENS[task]
        found: dict[str, Prediction] = {}

        def keep(key: str, reply: Reply) -> None:
            found[key] = _predicted(key, task, reply)

        questions = [_question(sample, self._budget, self._prompts) for sample in samples]
        ask(questions, replace(self._asked, max_tokens=most), keep, progress)
        return [found[sample.key] for sample in samples]


def _question(sample: Sample, budget: int, prompts: Prompts) -> Prompt:
    return Prompt(
        sample.key,
        lambda: prompt(sample, budget, prompts),
        lambda answer: read_answer(sample.task, answer).reason,
    )


def _predicted(key: str, task: Task, reply: Reply) -> Prediction:
    value = None if reply.text is None else read_answer(task, reply.text).value
    return Prediction(key, value, reply.reason, reply.tokens_in, reply.tokens_out)
