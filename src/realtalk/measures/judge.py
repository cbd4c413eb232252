"""Turns → labels, by asking a language model with a rubric for each measure.

    judge = JudgeLabeller("openai/gpt-4o-mini")
    judge.label(turn_inputs(corpus))
    → [Label(reflective=False, grounding=True, emotional_reaction=1, ..., empathy=2.0,
             unscored={"sentiment": "not asked", ...}), ...]

Three calls a turn, as in the REALTALK paper's Appendix C: reflective, grounding, and the
three components of empathy in one. Sentiment, emotion and intimacy can be asked for too.
The model sees the session up to the turn. Any provider that inspect-ai knows will do:
"openai/…", "anthropic/…", "openai-api/<name>/<model>" with the address of a server.
What was answered once is not asked again, also not after a run was killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.corpora.download import cache_folder
from realtalk.corpora.reading import Progress, silent
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.measures.judge_prompts import load_prompts
from realtalk.measures.labels import MEASURES, Label, TurnInput
from realtalk.registry import suggest

if TYPE_CHECKING:
    from realtalk.measures.judge_task import Answer

__all__ = ["PAPER_MEASURES", "JudgeLabeller"]

PAPER_MEASURES = ("reflective", "grounding", "empathy")


class JudgeLabeller:
    """A language model as labeller. Nothing is sent before `label` is called.

    `prompts` is a folder with rubrics of one's own, `cache` where answers are kept (the
    user's cache by default), `logs` where Inspect logs are wanted: they hold chat text.
    """

    name = "judge"

    def __init__(
        self,
        model: str,
        *,
        measures: Sequence[str] = PAPER_MEASURES,
        prompts: Path | None = None,
        base_url: str | None = None,
        model_args: Mapping[str, Any] | None = None,
        max_connections: int = 10,
        timeout: int = 120,
        retries: int = 5,
        cache: Path | None = None,
        logs: Path | None = None,
    ) -> None:
        if find_spec("inspect_ai") is None:
            raise MissingExtraError("the judge", "llm")
        if "/" not in model.strip("/"):
            raise RealtalkError(
                f"no provider in the name of the model '{model}'",
                fix="name one as provider/model, such as openai/gpt-4o-mini",
            )
        for measure in measures:
            if measure not in MEASURES:
                raise suggest("measure", measure, list(MEASURES))
        for option, value, least in (
            ("connections", max_connections, 1),
            ("timeout", timeout, 1),
            ("retries", retries, 0),
        ):
            if value < least:
                raise RealtalkError(f"{option} must be {least} or more, not {value}")
        self.model = model
        self.measures = tuple(measure for measure in MEASURES if measure in measures)
        self.prompts = load_prompts(prompts)
        self.version = f"prompts {self.prompts.version}, {model}"
        self._base_url = base_url
        self._model_args = dict(model_args or {})
        self._max_connections = max_connections
        self._timeout = timeout
        self._retries = retries
        self._cache = cache if cache is not None else cache_folder() / "judge"
        self._logs = logs

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> Sequence[Label]:
        """One label a turn; what the model did not answer is unscored with the reason."""
        from realtalk.measures.judge_task import Question, Settings, ask

        questions = [
            Question(number, measure)
            for number, given in enumerate(inputs)
            if given.text.strip()
            for measure in self.measures
        ]
        settings = Settings(
            model=self.model,
            cache=self._cache,
            base_url=self._base_url,
            model_args=self._model_args,
            connections=self._max_connections,
            timeout=self._timeout,
            retries=self._retries,
            logs=self._logs,
        )
        answers = ask(questions, inputs, self.prompts, settings, progress) if questions else {}
        return [
            self._assembled({each: answers.get(Question(number, each)) for each in self.measures})
            for number in range(len(inputs))
        ]

    def _assembled(self, answers: Mapping[str, Answer | None]) -> Label:
        columns: dict[str, Any] = {}
        unscored: dict[str, str] = {}
        for measure in MEASURES:
            answer = answers.get(measure)
            if measure not in self.measures:
                unscored[measure] = "not asked"
            elif answer is None:
                unscored[measure] = "no text"
            elif answer.values is None:
                unscored[measure] = answer.reason
            else:
                columns |= answer.values
        return Label(**columns, unscored=unscored)
