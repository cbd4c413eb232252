"""A language model that is shown four replies and says which is real: any provider.

    guesser = LlmGuesser(model="openai/gpt-4o-mini")
    guesser.prepare(task.learning)          # how the speaker writes elsewhere; asks nothing
    guesser.solve(lineups)                  → [Answer(2, cost=…), …]
    read_letter("C) haha no", lineup)       → Answer(2), where C is "haha no"

An answer is a letter, with or without the reply that it names. Anything else is unscored and
wrong in the strict scores: it is not guessed what was meant.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from realtalk.evals.language_models import LanguageModel
from realtalk.evals.prompts import Prompts
from realtalk.evals.prompts import load_prompts as load
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import Asked
from realtalk.persona.lineups import LETTERS, Lineup
from realtalk.persona.prompting import PROMPT_VERSION, partners
from realtalk.persona.prompting import shown as chat_so_far
from realtalk.persona.styles import EXAMPLES, Guide
from realtalk.persona.values import Learning

_NEEDED = {"guess": ("context", "replies")}
_OPTIONAL = ("speaker", "others", "style")
_UNKNOWN = "(nothing is known of it)"
_MOST_TOKENS = 16
_LETTER = re.compile(
    r"""[\s*_(\["']*(?:(?:the\s+)?answer(?:\s+is|\s*:)?[\s*_(\["']*)?([A-Z])\b(.*)""",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = " \t\r\n*_.,:;)]\"'!-"


def load_guess_prompts(folder: Path | None = None) -> Prompts:
    """Our prompt, or guess.md of the folder."""
    return load("realtalk.persona", PROMPT_VERSION, _NEEDED, _OPTIONAL, folder)


def read_letter(text: str, lineup: Lineup) -> Answer[int]:
    """The place of the reply that an answer names by its letter."""
    found = _LETTER.fullmatch(text)
    if found is None or found[1] not in LETTERS[: len(lineup.replies)]:
        return Answer(None, "no letter")
    place = LETTERS.index(found[1])
    rest = _plain(found[2])
    if rest and rest != _plain(lineup.replies[place]):
        return Answer(None, "more than a letter")
    return Answer(place)


def _plain(text: str) -> str:
    return " ".join(text.strip(_MARKS).split()).casefold()


class LlmGuesser(LanguageModel[Lineup, int]):
    """Asks the model named, once per line-up.

    Without `style` it is told nothing of how the speaker writes elsewhere. `max_tokens` is enough
    for a letter: a model that thinks aloud first needs more.
    """

    def __init__(
        self,
        *,
        model: str,
        style: bool = True,
        examples: int = EXAMPLES,
        by: str = "encoder",
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        max_tokens: int = _MOST_TOKENS,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(
            Asked(
                model, cache, base_url, connections=connections, max_tokens=max_tokens, seed=seed
            ),
            load_guess_prompts(prompts),
        )
        self._style = style
        self._examples = examples
        self._by = by
        self._guides: dict[str, tuple[Learning, Guide]] = {}  # by speaker

    @property
    def settings(self) -> dict[str, Any]:
        found = {**super().settings, "style": self._style}
        if self._style:
            found |= {"examples": self._examples, "by": self._by, "guide": Guide.version}
        return found

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        known = self._guides.get(learning.speaker)
        if self._style and (known is None or known[0] is not learning):
            guide = Guide(learning, examples=self._examples, by=self._by, progress=progress)
            self._guides[learning.speaker] = (learning, guide)

    def prompt(self, shown: Lineup) -> str:
        speaker = shown.prompt.speaker
        if self._style and speaker not in self._guides:
            raise ValueError("prepare comes first")
        return self.prompts.fill(
            "guess",
            speaker=speaker,
            others=partners(shown.prompt),
            style=self._guides[speaker][1].text(shown.prompt) if self._style else _UNKNOWN,
            context=chat_so_far(shown.prompt),
            replies="\n".join(
                f"{letter}) {' / '.join(text.splitlines())}"
                for letter, text in zip(LETTERS, shown.replies, strict=False)
            ),
        )

    def parse(self, text: str, shown: Lineup) -> Answer[int]:
        return read_letter(text, shown)
