"""A prompt → what a language model is sent, and its answer → the bare message.

    messages(prompt)    → [{"role": "user", "content": "You are Mara, and you are chatting …"}]
    context_text(prompt)       → "[Monday 2 March 2026]\\nTheo: did you sleep at all\\nMara: a bit"
    clean_message('Mara: "lol no"\\nTheo: why', prompt)    → "lol no"

The text depends on the prompt (and a style, where one is given) alone, so that training and
testing send the same bytes. One user message, no system message: every provider takes it, and
so does every chat template. The wording is in prompts/, one folder per version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from realtalk.evals.language_models import Prompts, strip_quotes, written_day
from realtalk.evals.language_models import load_prompts as load
from realtalk.evals.values import Answer
from realtalk.persona.values import TurnPrompt

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
