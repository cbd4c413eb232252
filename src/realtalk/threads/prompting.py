"""A sample → the text that a model is asked with, within a budget of tokens.

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

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from realtalk.encoders.tokens import count_tokens
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import Prompts
from realtalk.evals.language_models import load_prompts as load
from realtalk.threads.values import Case, ShownEntry, SolvedExample, Task, outcome_in_words

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
