"""A language model that is told who it is and continues: any provider that inspect-ai knows.

    simulator = LlmSimulator(model="openai/gpt-4o-mini", style=True)
    simulator.prepare(task.learning)             # makes the style, asks nothing
    simulator.solve(task.prompts)                → [Answer("haha no way", cost=…), …]

Zero-shot it is shown the chat so far; with `style` also how the speaker writes, counted from the
chat to learn from; with `examples` so many of the turns that they wrote there in places like this
(five beside a style, where no number is given). An answer without words, or a refusal, is unscored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from realtalk.evals.language_models import LanguageModel
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import Asked
from realtalk.persona.prompting import load_prompts, read_message, text_of
from realtalk.persona.styles import Guide, example_count, make_guide
from realtalk.persona.values import Learning, TurnPrompt

_MOST_TOKENS = 160  # nine in ten turns of the published chats are shorter


class LlmSimulator(LanguageModel[TurnPrompt, str]):
    """Asks the model named, once per turn. `prompts` is a folder of wordings of one's own."""

    def __init__(
        self,
        *,
        model: str,
        style: bool = False,
        examples: int | None = None,
        by: str = "encoder",
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        rate: str | None = None,
        max_tokens: int = _MOST_TOKENS,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(
            Asked(
                model,
                cache,
                base_url,
                connections=connections,
                rate=rate,
                max_tokens=max_tokens,
                seed=seed,
            ),
            load_prompts(prompts),
        )
        self._style = style
        self._examples = example_count(style, examples)
        self._by = by
        self._guides: dict[str, tuple[Learning, Guide]] = {}  # by speaker

    @property
    def settings(self) -> dict[str, Any]:
        found = {**super().settings, "style": self._style}
        if self._style or self._examples:
            found |= {"examples": self._examples, "by": self._by, "guide": Guide.version}
        return found

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        known = self._guides.get(learning.speaker)
        if known is not None and known[0] is learning:
            return
        if guide := make_guide(
            learning,
            style=self._style,
            examples=self._examples,
            by=self._by,
            progress=progress,
        ):
            self._guides[learning.speaker] = (learning, guide)

    def prompt(self, shown: TurnPrompt) -> str:
        if not self._style and not self._examples:
            return text_of(shown, wording=self.prompts)
        if shown.speaker not in self._guides:
            raise ValueError("prepare comes first")
        return text_of(shown, self._guides[shown.speaker][1].text(shown), self.prompts)

    def parse(self, text: str, shown: TurnPrompt) -> Answer[str]:
        return read_message(text, shown)
