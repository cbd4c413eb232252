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

A sample → the text that a model is asked with, within a budget of tokens.

    prompts = load_prompts()                    → version "1", ours
    load_prompts(Path("my-prompts"))            → version "sha256:3f2a9c1b04d2"
    prompt(sample, budget=600)                  → "Task: say how a comment in cats was received. …"

The text depends on the sample alone, and of the target only on its user, its domain and what the
task gives. In the np settings the wording is the same: the history alone is another's, so that a
difference between settings is one of content. The wording is in prompts/, one folder per version.

What does not fit is left out, in this order: the oldest history, then the middle of the
conversation (its post and its last entry stay longest), then the ends of long texts. The budget
is of the package's own tokens; a text without spaces counts by its length as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.encoders.tokens import count_tokens
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import LanguageModel, Prompts, strip_quotes
from realtalk.evals.language_models import load_prompts as load
from realtalk.evals.values import Answer
from realtalk.models.asking import ModelConfig
from realtalk.registry import at_least
from realtalk.threads.predictors import Value
from realtalk.threads.values import TASKS, Case, ShownEntry, SolvedExample, Task, outcome_in_words

__all__ = ["PROMPT_VERSION", "Prompts", "load_prompts", "prompt"]

PROMPT_VERSION = "1"
_SECTIONS = ("examples", "history", "conversation")
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "sentiment": (*_SECTIONS, "text"),
    "impact": (*_SECTIONS, "text", "hint"),
    "next_text": _SECTIONS,
    "conversation": ("entries",),
    "history": ("entries",),
    "examples": ("entries",),
    "hint": ("sign",),
}
_NO_FORUM = "a forum"
_LETTERS_A_TOKEN = 16  # no language writes that long; what counts as fewer tokens has no spaces
_CUT = " …"
_LEAST = 12  # tokens below which the beginning of a text tells nothing
_ANSWERED = 40  # tokens of what an example answers
_DEEPEST = 12  # indents of a tree


def load_prompts(folder: Path | None = None) -> Prompts:
    """Our prompts, those in `folder` replaced by the user's own."""
    return load("realtalk.threads", PROMPT_VERSION, _NEEDED, ("forum", "user"), folder)


@cache
def _ours() -> Prompts:
    return load_prompts()


def prompt(sample: Case, budget: int | None = None, prompts: Prompts | None = None) -> str:
    """The whole text; of at most `budget` tokens where one is given."""
    wording = prompts or _ours()
    text = (sample.text or "").strip()
    sections = {
        "examples": [_example(example, sample.task) for example in sample.examples],
        "history": [_entry(entry, "- ") for entry in sample.history],
        "conversation": _talk(sample.conversation),
    }
    if budget is None:
        whole = {name: list(map(str, entries)) for name, entries in sections.items()}
        return _fill_prompt(sample, wording, text, whole)
    # The frame of each section is paid for whether or not its entries stay.
    frame = {name: [""] for name, entries in sections.items() if entries}
    room = budget - _cost(_fill_prompt(sample, wording, "", frame))
    if room < _LEAST:
        raise RealtalkError(
            f"a budget of {budget:,} tokens is too small for the prompt",
            fix=f"allow at least {budget - room + _LEAST:,}",
        )
    text = _shorten(text, max(_LEAST, room // 2))
    room -= _cost(text)
    examples = _latest(sections["examples"], room // 3)
    room -= sum(map(_cost, examples))
    talk = _ends(sections["conversation"], room * 2 // 3 if sections["history"] else room)
    room -= sum(map(_cost, talk))
    history = _latest(sections["history"], room)
    lines = {"examples": examples, "history": history, "conversation": talk}
    return _fill_prompt(sample, wording, text, lines)


def _fill_prompt(
    sample: Case, wording: Prompts, text: str, lines: Mapping[str, Sequence[str]]
) -> str:
    names = {"user": sample.target.user, "forum": sample.target.domain or _NO_FORUM}
    sections = {
        name: "\n" + wording.fill(name, entries="\n".join(some), **names) + "\n"
        for name, some in lines.items()
        if some
    }
    hint = f"\n{wording.fill('hint', sign=sample.hint)}\n" if sample.hint else ""
    return wording.fill(sample.task, text=text, hint=hint, **sections, **names)


class _Entry(NamedTuple):
    """A line whose middle may be cut: a name and an answer stay whole."""

    head: str
    text: str
    tail: str = ""

    def shorten(self, most: int) -> str:
        """The line in at most so many tokens; "" where too little of it would be left."""
        room = most - _cost(self.head) - _cost(self.tail)
        text = _shorten(self.text, room)
        if text != self.text and room < _LEAST:
            return ""
        return f"{self.head}{text}{self.tail}"

    def __str__(self) -> str:
        return f"{self.head}{self.text}{self.tail}"


def _cost(text: str) -> int:
    return max(count_tokens(text), len(text) // _LETTERS_A_TOKEN)


def _shorten(text: str, most: int) -> str:
    """The beginning of a text, of at most so many tokens."""
    start = text[: max(0, most) * _LETTERS_A_TOKEN + 1]  # more cannot fit, and need not be read
    cost = _cost(start)
    if cost <= most and len(start) == len(text):
        return text
    keep = min(len(start) * max(0, most) // max(cost, 1), len(start))
    while keep > 0:
        short = start[:keep]
        # A cut inside a word reads as another word, unless the word is all there is.
        short = (short.rsplit(None, 1)[0] if " " in short.strip() else short).rstrip() + _CUT
        if _cost(short) <= most:
            return short
        keep = keep * 9 // 10
    return ""


def _latest(entries: Sequence[_Entry], room: int) -> list[str]:
    """The last entries that fit."""
    return _fitting(entries, range(len(entries))[::-1], room)


def _ends(entries: Sequence[_Entry], room: int) -> list[str]:
    """The last entry, the first, then from the end backwards, as they fit."""
    order = [*range(len(entries))][::-1]
    return _fitting(entries, [*order[:1], *order[1:][-1:], *order[1:-1]], room)


def _fitting(entries: Sequence[_Entry], order: Iterable[int], room: int) -> list[str]:
    lines: dict[int, str] = {}
    for at in order:
        # None takes more than half of what is left: one long text is not to stand for all.
        line = entries[at].shorten(max(room // 2, min(room, _LEAST)))
        if not line:
            break
        lines[at] = line
        room -= _cost(line)
    return [lines[at] for at in sorted(lines)]


def _entry(shown: ShownEntry, head: str) -> _Entry:
    """A post or comment on a line of its own."""
    parts = [part for part in (shown.title, shown.text) if part.strip()]
    text = " ".join(" — ".join(parts).split())
    return _Entry(head, text, "" if shown.score is None else f" (score {shown.score:g})")


def _talk(conversation: Sequence[ShownEntry]) -> list[_Entry]:
    """Entries under the names of who wrote them; a tree is indented, a chain is not."""
    tree = any(after.depth <= before.depth for before, after in pairwise(conversation))
    return [
        _entry(entry, f"{'  ' * min(entry.depth, _DEEPEST) if tree else ''}{entry.author}: ")
        for entry in conversation
    ]


def _example(example: SolvedExample, task: Task) -> _Entry:
    """A solved item on one line: what was answered, the comment, and the answer."""
    head = "- "
    if example.shown:
        answered = _entry(example.shown[-1], "")
        head = f"- [{answered.shorten(_ANSWERED)}] "
    text = " ".join(example.text.split())
    if task == "next_text":
        return _Entry(head, text)
    return _Entry(head, text, f" → {outcome_in_words(task, example.score)}")


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
