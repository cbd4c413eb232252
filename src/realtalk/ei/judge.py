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

    rubrics = load_rubrics()                     → version "1", ours
    rubrics = load_rubrics(Path("my-prompts"))   → version "sha256:3f2a9c1b04d2"
    rubric_text(rubrics, "grounding", given)     → the text that the model is shown

A file is named after its measure (`grounding.md`) and holds {turn}, and where it wants
them {speaker} and {history}.

    read_answer("reflective", "True")             → {"reflective": True}
    read_answer("reflective", "True, because …")  → None: malformed, to be asked again
    read_answer("empathy", '{"emotional_reaction": 2, "interpretation": 1, "exploration": 0}')
        → {"emotional_reaction": 2.0, "interpretation": 1.0, "exploration": 0.0, "empathy": 3.0,
           "emotional_reaction_level": 2, "interpretation_level": 1, "exploration_level": 0}

Case, quotation marks, a full stop and a code fence around the answer are forgiven: they
cannot change what it says. Anything more is not an answer but a guess about one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from realtalk.ei.labels import (
    COMPONENTS,
    EMOTIONS,
    MEASURES,
    NO_TEXT,
    NOT_ASKED,
    WORDS,
    Label,
    TurnInput,
)
from realtalk.evals.language_models import Prompts, load_prompts
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask, patience
from realtalk.registry import known_name

_VERSION = "1"
_START = "(the session starts with the turn)"


def load_rubrics(folder: Path | None = None) -> Prompts:
    """Our rubrics, those in `folder` replaced by the user's own."""
    needed = dict.fromkeys(MEASURES, ("turn",))
    optional = ("speaker", "history")
    return load_prompts("realtalk.ei", _VERSION, needed, optional, folder, strip=False)


def rubric_text(rubrics: Prompts, measure: str, turn: TurnInput) -> str:
    """The rubric about one turn, with the session up to it and nothing later."""
    # Later lines are set in, so that no message can pass for another speaker's.
    lines = [f"{speaker}: " + text.replace("\n", "\n  ") for speaker, text in turn.history]
    history = "\n".join(lines) or _START
    return rubrics.fill(measure, history=history, speaker=turn.speaker, turn=turn.text)


Values: TypeAlias = Mapping[str, bool | int | float | str]  # column of a label → value

FORMS: Mapping[str, str] = {
    "reflective": "the one word True or the one word False",
    "grounding": "the one word True or the one word False",
    "sentiment": "one of the words negative, neutral, positive",
    "emotion": f"one of the words {', '.join(EMOTIONS)}",
    "intimacy": "one number from 0 to 1",
    "empathy": (
        "one JSON object with the keys emotional_reaction, interpretation and exploration, "
        "each 0, 1 or 2"
    ),
}
_FENCE = re.compile(r"\A```[a-z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_NUMBER = re.compile(r"\A(?:0|1|[01]?\.\d+)\Z")
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i'm|i am|we're|we are) (?:very )?sorry|sorry,|i apologi[sz]e"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to)"
    r"|i'm (?:unable|not able) to)\b",
    re.IGNORECASE,
)


def read_answer(measure: str, text: str) -> Values | None:
    """What the answer says about the measure; None where it is malformed."""
    bare = strip_fence(text)
    if measure == "empathy":
        return _components(bare)
    word = bare.strip("\"'`*“”‘’ ").removesuffix(".").strip("\"'`*“”‘’ ").lower()
    if measure in {"reflective", "grounding"}:
        return {measure: word == "true"} if word in {"true", "false"} else None
    if measure == "intimacy":
        value = float(word) if _NUMBER.match(word) else 2.0
        return {measure: value} if value <= 1 else None
    allowed = WORDS[measure]
    return {measure: word} if word in allowed else None


def _components(text: str) -> Values | None:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or set(parsed) != set(COMPONENTS):
        return None
    # `type`, because True is an int to isinstance and a mistake here.
    if any(type(value) is not int or not 0 <= value <= 2 for value in parsed.values()):
        return None
    return {
        **{name: float(parsed[name]) for name in COMPONENTS},
        "empathy": float(sum(parsed.values())),
        **{f"{name}_level": parsed[name] for name in COMPONENTS},
    }


def strip_fence(text: str) -> str:
    """An answer without the code fence around it."""
    fenced = _FENCE.match(text.strip())
    return fenced[1].strip() if fenced else text.strip()


def unreadable(text: str) -> str:
    """What is wrong with an answer that cannot be read: malformed, empty, or a refusal."""
    if not text.strip():
        return "empty answer"
    return "refused" if _REFUSAL.match(text.replace("’", "'")) else "malformed answer"


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
            known_name("measure", measure, MEASURES)
        self._asked = ModelConfig(
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
            self._question(number, turn, measure)
            for number, turn in enumerate(inputs)
            if turn.text.strip()
            for measure in self.measures
        ]
        replies: dict[str, Reply] = {}
        ask(questions, self._asked, replies.__setitem__, progress)
        labels = []
        for number in range(len(inputs)):
            columns: dict[str, Any] = {}
            unscored: dict[str, str] = {}
            for measure in MEASURES:
                reply = replies.get(_key(number, measure))
                if measure not in self.measures:
                    unscored[measure] = NOT_ASKED
                elif reply is None:
                    unscored[measure] = NO_TEXT
                elif reply.text is None:
                    unscored[measure] = reply.reason
                else:
                    columns |= read_answer(measure, reply.text) or {}
            labels.append(Label(**columns, unscored=unscored))
        return labels

    def _question(self, number: int, turn: TurnInput, measure: str) -> Prompt:
        """One measure of one turn. The text is made when its turn comes: long sessions times
        every turn would not fit into memory at once."""
        return Prompt(
            _key(number, measure),
            partial(rubric_text, self.prompts, measure, turn),
            partial(_flaw, measure),
            tuple(reminder.format(form=FORMS[measure]) for reminder in _REMINDERS),
        )


def _key(number: int, measure: str) -> str:
    return f"{number}:{measure}"


def _flaw(measure: str, text: str) -> str:
    """What is wrong with an answer, "" where it can be read."""
    return unreadable(text) if read_answer(measure, text) is None else ""
