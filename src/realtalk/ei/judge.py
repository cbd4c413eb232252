"""Turns → labels, by asking a language model with a rubric for each measure.

    judge = JudgeLabeller("openai/gpt-4o-mini")
    judge.label(turn_inputs(corpus))
    → [Label(reflective=False, grounding=True, emotional_reaction=1.0, ..., empathy=2.0,
             unscored={"sentiment": "not asked", ...}), ...]

Three calls per turn, as in the REALTALK paper's Appendix C: reflective, grounding, and the
three components of empathy in one. Sentiment, emotion and intimacy are optional.
The model sees the session up to the turn. Any provider that inspect-ai knows will do:
"openai/…", "anthropic/…", "openai-api/<name>/<model>" with the address of a server.
What was answered once is not asked again, even after a run was killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from realtalk.ei.judge_answers import FORMS, read_answer, unreadable
from realtalk.ei.judge_prompts import load_rubrics, rubric_text
from realtalk.ei.labels import MEASURES, NO_TEXT, NOT_ASKED, Label, TurnInput
from realtalk.local.download import cache_folder
from realtalk.local.progress import Progress, silent
from realtalk.models.asking import Asked, Prompt, Reply, ask, patience
from realtalk.registry import suggest

PAPER_MEASURES = ("reflective", "grounding", "empathy")
_REMINDERS = (
    "\n\nThe answer must be {form}, without any other text.",
    "\n\nThe answer must be {form}. Explanations cannot be read: leave them out.",
)


class JudgeLabeller:
    """A language model as labeller. Nothing is sent before `label` is called.

    `prompts` is a folder with rubrics of one's own, `cache` where answers are kept (the
    user's cache by default): what the model said, under a hash of what it was asked. Without
    `timeout` and `retries` the environment's apply (models/asking.py).
    """

    name = "judge"
    asks = True

    def __init__(
        self,
        model: str,
        *,
        measures: Sequence[str] = PAPER_MEASURES,
        prompts: Path | None = None,
        base_url: str | None = None,
        model_args: Mapping[str, Any] | None = None,
        max_connections: int = 10,
        rate: str | None = None,
        timeout: int | None = None,
        retries: int | None = None,
        cache: Path | None = None,
    ) -> None:
        for measure in measures:
            if measure not in MEASURES:
                raise suggest("measure", measure, list(MEASURES))
        self._asked = Asked(
            model,
            cache=cache if cache is not None else cache_folder() / "judge",
            base_url=base_url,
            model_args=dict(model_args or {}),
            connections=max_connections,
            rate=rate,
            **patience(timeout, retries),
        )
        self.model = model
        self.measures = tuple(measure for measure in MEASURES if measure in measures)
        self.prompts = load_rubrics(prompts)
        self.version = f"prompts {self.prompts.version}, {model}"
        if self._asked.address:  # two servers may call different models by one name
            self.version += f" at {self._asked.address}"

    @property
    def settings(self) -> dict[str, Any]:
        address = self._asked.address
        return {
            "model": self.model,
            **({"base_url": address} if address else {}),
            "measures": list(self.measures),
        }

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> Sequence[Label]:
        """One label per turn; what the model did not answer is unscored with the reason."""
        questions = [
            self._question(number, given, measure)
            for number, given in enumerate(inputs)
            if given.text.strip()
            for measure in self.measures
        ]
        replies: dict[str, Reply] = {}
        ask(questions, self._asked, replies.__setitem__, progress)
        return [
            self._assembled({each: replies.get(_key(number, each)) for each in self.measures})
            for number in range(len(inputs))
        ]

    def _question(self, number: int, turn: TurnInput, measure: str) -> Prompt:
        """One measure of one turn. The text is made when its turn comes: long sessions times
        every turn would not fit into memory at once."""
        return Prompt(
            _key(number, measure),
            partial(rubric_text, self.prompts, measure, turn),
            partial(_flaw, measure),
            tuple(reminder.format(form=FORMS[measure]) for reminder in _REMINDERS),
        )

    def _assembled(self, replies: Mapping[str, Reply | None]) -> Label:
        columns: dict[str, Any] = {}
        unscored: dict[str, str] = {}
        for measure in MEASURES:
            reply = replies.get(measure)
            if measure not in self.measures:
                unscored[measure] = NOT_ASKED
            elif reply is None:
                unscored[measure] = NO_TEXT
            elif reply.text is None:
                unscored[measure] = reply.reason
            else:
                columns |= read_answer(measure, reply.text) or {}
        return Label(**columns, unscored=unscored)


def _key(number: int, measure: str) -> str:
    return f"{number}:{measure}"


def _flaw(measure: str, text: str) -> str:
    """What is wrong with an answer, "" where it can be read."""
    return unreadable(text) if read_answer(measure, text) is None else ""
