"""A language model that is told who it is and continues: any provider that inspect-ai knows.

    simulator = LlmSimulator(model="openai/gpt-4o-mini", style=True)
    simulator.prepare(task.learning)             # makes the style, asks nothing
    simulator.simulate(task.prompts)             → [Simulated("…#14", "haha no way", …), …]

Zero-shot it is shown the chat so far; with `style` also how the speaker writes, counted from the
chat to learn from, and what they wrote there in places like this. What was answered once is not
asked again (models/asking.py). An answer without words, or a refusal, is unscored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from realtalk.local.progress import Progress, silent
from realtalk.models.asking import Asked, Reply, ask
from realtalk.models.asking import Prompt as Question
from realtalk.persona.prompting import PROMPT_VERSION, cleaned, text_of
from realtalk.persona.styles import EXAMPLES, Guide
from realtalk.persona.values import Learning, Prompt, Settings, Simulated

__all__ = ["LlmSimulator"]

_MOST_TOKENS = 160  # nine in ten turns of the published chats are shorter


class LlmSimulator:
    """Asks the model named, once a turn."""

    name = "llm"
    version = f"prompts {PROMPT_VERSION}"
    at_once = 64  # rows are kept after so many: an answer costs money

    def __init__(
        self,
        *,
        model: str,
        style: bool = False,
        examples: int = EXAMPLES,
        by: str = "encoder",
        base_url: str | None = None,
        connections: int = 10,
        max_tokens: int = _MOST_TOKENS,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        self._asked = Asked(
            model,
            cache=cache,
            base_url=base_url,
            connections=connections,
            max_tokens=max_tokens,
            seed=seed,
        )
        self._style = style
        self._examples = examples
        self._by = by
        self._guide: Guide | None = None

    @property
    def settings(self) -> Settings:
        found: Settings = {
            "model": self._asked.model,
            "style": self._style,
            "max_tokens": self._asked.max_tokens or 0,
            "seed": self._asked.seed,
        }
        if self._asked.address is not None:
            found["base_url"] = self._asked.address
        if self._style:
            found |= {"examples": self._examples, "by": self._by, "guide": Guide.version}
        return found

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        if self._style:
            self._guide = Guide(learning, examples=self._examples, by=self._by, progress=progress)

    def simulate(self, prompts: Sequence[Prompt], progress: Progress = silent) -> list[Simulated]:
        styles = [""] * len(prompts)
        if self._style:
            if self._guide is None:
                raise ValueError("prepare comes first")
            styles = self._guide.texts(prompts)
        by_id = {prompt.id: prompt for prompt in prompts}
        found: dict[str, Simulated] = {}

        def keep(key: str, reply: Reply) -> None:
            found[key] = _simulated(by_id[key], reply)

        ask(
            [_question(*each) for each in zip(prompts, styles, strict=True)],
            self._asked,
            keep,
            progress,
        )
        return [found[prompt.id] for prompt in prompts]


def _question(prompt: Prompt, style: str) -> Question:
    return Question(
        prompt.id,
        lambda: text_of(prompt, style),
        lambda answer: "" if cleaned(answer, prompt) else "empty answer",
    )


def _simulated(prompt: Prompt, reply: Reply) -> Simulated:
    text = None if reply.text is None else cleaned(reply.text, prompt)
    return Simulated(prompt.id, text, reply.reason, reply.tokens_in, reply.tokens_out)
