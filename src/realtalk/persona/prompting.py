"""A prompt → what a language model is sent, and its answer → the bare message.

    messages(prompt)    → [{"role": "user", "content": "You are Mara, and you are chatting …"}]
    context_text(prompt)       → "[Monday 2 March 2026]\\nTheo: did you sleep at all\\nMara: a bit"
    clean_message('Mara: "lol no"\\nTheo: why', prompt)    → "lol no"

The text depends on the prompt (and a style, where one is given) alone, so that training and
testing send the same bytes. One user message, no system message: every provider takes it, and
so does every chat template. The wording is in prompts/, one folder per version.

A language model that continues as somebody, or says who wrote a reply: any provider.

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
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from realtalk.evals.language_models import LanguageModel, Prompts, strip_quotes, written_day
from realtalk.evals.language_models import load_prompts as load
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import ModelConfig
from realtalk.persona.lineups import LETTERS, Lineup, plain_text
from realtalk.persona.simulators import Guide, example_count
from realtalk.persona.values import Learning, TurnPrompt

PROMPT_VERSION = "1"
# What each wording must show.
_NEEDED = {
    "continue": ("context",),
    "continue_in_style": ("context", "style"),
    "converse": ("about", "context"),  # of somebody who is described, not learned from
    "guess": ("context", "replies"),
}
CONTINUING = ("continue", "continue_in_style")
_NOBODY = "a friend"
_DAY = re.compile(r"\A\[[^\]]*\]\Z")


def context_text(prompt: TurnPrompt) -> str:
    """The context as text: turns under the dates of their sessions, sessions set apart."""
    lines: list[str] = []
    session: int | None = None
    for turn in prompt.context:
        if turn.session != session:
            lines += ([""] if lines else []) + [turn.session_head]
            session = turn.session
        lines.append(f"{turn.speaker}: {turn.text}")
    if session is not None and session != prompt.session and prompt.time is not None:
        # A session's first turn: the model is told that time has passed.
        lines += ["", f"[{written_day(prompt.time)}]"]
    return "\n".join(lines)


def load_prompts(folder: Path | None = None, uses: Sequence[str] = CONTINUING) -> Prompts:
    """Our prompts for these uses, those in `folder` (continue.md, …) replaced by its own."""
    needed = {use: _NEEDED[use] for use in uses}
    optional = ("speaker", "others", "style")
    return load("realtalk.persona", PROMPT_VERSION, needed, optional, folder)


@cache
def _ours(*uses: str) -> Prompts:
    return load_prompts(uses=uses)


def partners(prompt: TurnPrompt) -> str:
    """Whom the speaker is chatting with, by name."""
    others = dict.fromkeys(turn.speaker for turn in prompt.context)
    return " and ".join(name for name in others if name != prompt.speaker) or _NOBODY


def text_of(prompt: TurnPrompt, style: str = "", wording: Prompts | None = None) -> str:
    """The whole text that a model is asked with."""
    if prompt.about:
        return _ours("converse").fill(
            "converse",
            speaker=prompt.speaker,
            others=partners(prompt),
            context=context_text(prompt),
            about="\n\n".join(filter(None, (prompt.about, style))),
        )
    return (wording or _ours(*CONTINUING)).fill(
        "continue_in_style" if style else "continue",
        speaker=prompt.speaker,
        others=partners(prompt),
        context=context_text(prompt),
        style=style,
    )


def messages(prompt: TurnPrompt, *, style: str = "") -> list[dict[str, str]]:
    """The same as chat messages, for a model's own template."""
    return [{"role": "user", "content": text_of(prompt, style)}]


def clean_message(text: str, prompt: TurnPrompt) -> str:
    """The message itself: no name before it, no quotes around it, nothing that others say.

    A message that begins under another's name loses the name: small models mix them up, and
    what they wrote is to be scored, not passed over.
    """
    names = {turn.speaker for turn in prompt.context} - {prompt.speaker}
    lines: list[str] = []
    for line in text.strip().splitlines():
        bare = line.strip()
        head, colon, rest = bare.partition(":")
        said_by = head.strip(" *_") if colon else ""
        if said_by == prompt.speaker or (said_by in names and not lines):
            bare = rest.strip(" *_")
        elif said_by in names or (lines and _DAY.match(bare)):
            break
        if bare:
            lines.append(bare)
    return strip_quotes("\n".join(lines).strip())


def read_message(text: str, prompt: TurnPrompt) -> Answer[str]:
    """What a model's answer says, or that it says nothing."""
    message = clean_message(text, prompt)
    return Answer(message or None, "" if message else "empty answer")


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
