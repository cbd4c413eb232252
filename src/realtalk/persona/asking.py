"""A language model that continues as somebody, or says who wrote a reply: any provider.

    simulator = LlmSimulator(model="openai/gpt-4o-mini", style=True)
    simulator.prepare(task.learning)             # makes the style, asks nothing
    simulator.solve(task.prompts)                → [Answer("haha no way", cost=…), …]
    LlmGuesser(model="openai/gpt-4o-mini").solve(lineups)    → [Answer(2, cost=…), …]
    read_letter("C) haha no", lineup)            → Answer(2), where C is "haha no"

Zero-shot a model is shown the chat so far; with `style` also how the speaker writes, counted from
the chat to learn from; with `examples` so many of the turns that they wrote there in places like
this (five beside a style, where no number is given). An answer without words, or a refusal, is
unscored. A guess is a letter, with or without the reply that it names; anything else is unscored
and wrong in the strict scores: it is not guessed what was meant.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from realtalk.evals.language_models import LanguageModel
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import ModelConfig
from realtalk.persona.lineups import LETTERS, Lineup, plain_text
from realtalk.persona.prompting import (
    CONTINUING,
    context_text,
    load_prompts,
    partners,
    read_message,
    text_of,
)
from realtalk.persona.styles import Guide, example_count
from realtalk.persona.values import Learning, TurnPrompt

ShownT = TypeVar("ShownT")
ValueT = TypeVar("ValueT")

_LETTER = re.compile(
    r"""[\s*_(\["']*(?:(?:the\s+)?answer(?:\s+is|\s*:)?[\s*_(\["']*)?([A-Z])\b(.*)""",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = " \t\r\n*_.,:;)]\"'!-"


class _GuidedModel(LanguageModel[ShownT, ValueT]):
    """Asks the model named, once per sample; `prompts` is a folder of wordings of one's own."""

    styled: ClassVar[bool]  # whether a style is told unless `style` says otherwise
    longest: ClassVar[int]  # tokens of an answer, unless `max_tokens` says otherwise
    wordings: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        *,
        model: str,
        style: bool | None = None,
        examples: int | None = None,
        by: str = "encoder",
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        rate: str | None = None,
        max_tokens: int | None = None,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        options: dict[str, Any] = {"connections": connections, "rate": rate, "seed": seed}
        config = ModelConfig(
            model, cache, base_url, max_tokens=max_tokens or self.longest, **options
        )
        super().__init__(config, load_prompts(prompts, self.wordings))
        self._style = self.styled if style is None else style
        self._examples = example_count(self._style, examples)
        self._by = by
        self._guides: dict[str, Guide] = {}  # by speaker

    @property
    def settings(self) -> dict[str, Any]:
        settings = {**super().settings, "style": self._style}
        if self._style or self._examples:
            settings |= {"examples": self._examples, "by": self._by, "guide": Guide.version}
        return settings

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        options: dict[str, Any] = {"examples": self._examples, "by": self._by}
        guide = Guide(learning, described=self._style, progress=progress, **options)
        self._guides[learning.speaker] = guide

    def guide(self, prompt: TurnPrompt) -> str:
        """What the model is told of the speaker; "" where it is told nothing."""
        if not (self._style or self._examples):
            return ""
        # Who was not prepared for would else be written as nobody in particular, unseen.
        assert prompt.speaker in self._guides, "prepare comes first"
        return self._guides[prompt.speaker].texts([prompt])[0]


class LlmSimulator(_GuidedModel[TurnPrompt, str]):
    """Continues as the speaker."""

    styled = False
    longest = 160  # nine in ten turns of the published chats are shorter
    wordings = CONTINUING

    def prompt(self, shown: TurnPrompt) -> str:
        return text_of(shown, self.guide(shown), self.prompts)

    def parse(self, text: str, shown: TurnPrompt) -> Answer[str]:
        return read_message(text, shown)


class LlmGuesser(_GuidedModel[Lineup, int]):
    """Says which reply is real. A model that thinks aloud first needs more `max_tokens`."""

    styled = True
    longest = 16  # enough for a letter
    wordings = ("guess",)

    def prompt(self, shown: Lineup) -> str:
        return self.prompts.fill(
            "guess",
            speaker=shown.prompt.speaker,
            others=partners(shown.prompt),
            style=self.guide(shown.prompt) or "(nothing is known of it)",
            context=context_text(shown.prompt),
            replies="\n".join(
                f"{letter}) {' / '.join(text.splitlines())}"
                for letter, text in zip(LETTERS, shown.replies, strict=False)
            ),
        )

    def parse(self, text: str, shown: Lineup) -> Answer[int]:
        return read_letter(text, shown)


def read_letter(text: str, lineup: Lineup) -> Answer[int]:
    """The place of the reply that an answer names by its letter."""
    match = _LETTER.fullmatch(text)
    if match is None or match[1] not in LETTERS[: len(lineup.replies)]:
        return Answer(None, "no letter")
    place = LETTERS.index(match[1])
    rest, reply = (plain_text(part.strip(_MARKS)) for part in (match[2], lineup.replies[place]))
    return Answer(None, "more than a letter") if rest and rest != reply else Answer(place)
