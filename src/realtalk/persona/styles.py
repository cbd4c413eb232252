"""What a speaker wrote in one chat → how they write, in words that a model can follow.

    style = style_of(learning)
    style.turns, style.median_words, style.emoji[:2]    → 129, 11, ("😂", "❤")
    style.text      → "Mara usually writes 11 words at a time (half of the time 5 to 22) …"
    Guide(learning).text(prompt)   → the same, and messages that Mara wrote in places like this

Counted from the speaker's turns in the chat to learn from and from the labels of that chat;
nothing of the tested chat enters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import EMOTIONS, SENTIMENTS, Labeller
from realtalk.ei.speakers import speakers
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent, within
from realtalk.persona.own_turns import OwnTurns
from realtalk.persona.simulators import refuse_empty
from realtalk.persona.values import Learning, TurnPrompt
from realtalk.text.terms import english_terms
from realtalk.text.words import words_and_emoji

EXAMPLES = 5
_PHRASES = 8
_FEWEST = 3  # uses that make a phrase somebody's own
_CAPTION = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Style:
    """Figures about how somebody writes. Shares are of turns."""

    speaker: str
    turns: int
    median_words: float
    quartiles: tuple[float, float]
    bubbles: float  # messages per turn
    emoji_share: float
    emoji: tuple[str, ...]
    question_share: float
    exclamation_share: float
    full_stop_share: float
    lower_case_share: float
    phrases: tuple[str, ...]  # said more often than the others in the chat say them
    reflective: float | None
    grounding: float | None
    empathy: float | None  # 0..6
    sentiments: tuple[tuple[str, float], ...]
    emotions: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        """The style in plain sentences."""
        who = self.speaker
        low, high = self.quartiles
        lines = [
            f"{who} usually writes {self.median_words:.0f} words at a time (half of the time "
            f"{low:.0f} to {high:.0f}), in {_count(self.bubbles)}.",
            f"{who} {_often(self.question_share)} asks a question, "
            f"{_often(self.exclamation_share)} uses an exclamation mark, "
            f"{_often(self.full_stop_share)} ends with a full stop and "
            f"{_often(self.lower_case_share)} begins without a capital letter.",
        ]
        used = f", most of all {' '.join(self.emoji)}" if self.emoji else ""
        lines.append(f"{who} {_often(self.emoji_share)} uses emoji{used}.")
        if self.phrases:
            said = ", ".join(f'"{phrase}"' for phrase in self.phrases)
            lines.append(f"Typical words of {who}: {said}.")
        if self.reflective is not None and self.grounding is not None:
            lines.append(
                f"{who} {_often(self.reflective)} looks into their own thoughts and feelings, and "
                f"{_often(self.grounding)} checks or shows that they have understood."
            )
        if self.empathy is not None:
            lines.append(f"{who} shows {_warmth(self.empathy)} for what the other one feels.")
        if self.sentiments:
            lines.append(f"The tone is {_shares(self.sentiments)}.")
        if self.emotions:
            lines.append(f"What comes through most is {_shares(self.emotions)}.")
        return "\n".join(lines)


def _count(bubbles: float) -> str:
    return "one message" if bubbles < 1.25 else f"about {bubbles:.1f} messages in a row"


def _often(share: float) -> str:
    for most, word in ((0.02, "never"), (0.12, "rarely"), (0.35, "sometimes"), (0.65, "often")):
        if share < most:
            return word
    return "nearly always" if share > 0.9 else "mostly"


def _warmth(empathy: float) -> str:
    for most, word in ((0.8, "little care"), (1.6, "some care"), (2.6, "clear care")):
        if empathy < most:
            return word
    return "much care"


def _shares(found: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} ({share:.0%})" for name, share in found)


def style_of(
    learning: Learning, labeller: Labeller | None = None, progress: Progress = silent
) -> Style:
    """The style of the speaker in the chat that is learned from."""
    refuse_empty(learning)
    learned = Corpus(learning.chat.id, "", (learning.chat,))
    advance = within(progress, 0, len(learning.chat.turns), f"labelling {learned.name}")
    frame = labels_for(learned, labeller, progress=advance).frame
    own = frame.filter(pl.col("speaker") == learning.speaker)
    facets = next(each for each in speakers(frame) if each.speaker == learning.speaker)
    bare = [_CAPTION.sub("", turn.text).strip() for turn in learning.turns]
    texts = [text for text in bare if text] or bare
    sizes = np.array([len(words_and_emoji(text)) for text in texts], np.float64)
    low, middle, high = np.quantile(sizes, [0.25, 0.5, 0.75])
    emoji = [_emoji().findall(text) for text in texts]
    counted = Counter(sign for signs in emoji for sign in signs)
    letters = [text for text in texts if text[:1].isalpha()]
    return Style(
        speaker=learning.speaker,
        turns=len(learning.turns),
        median_words=float(middle),
        quartiles=(float(low), float(high)),
        bubbles=float(np.mean([len(turn.message_ids) for turn in learning.turns])),
        emoji_share=_share(bool(signs) for signs in emoji),
        emoji=tuple(sign for sign, _ in counted.most_common(4)),
        question_share=_share("?" in text for text in texts),
        exclamation_share=_share("!" in text for text in texts),
        full_stop_share=_share(text.endswith(".") for text in texts),
        lower_case_share=_share(text[0].islower() for text in letters),
        phrases=_phrases(learning, texts),
        reflective=facets["reflective_frequency"].value,
        grounding=facets["grounding_frequency"].value,
        empathy=facets["empathy"].value,
        sentiments=_common(own["sentiment"], SENTIMENTS, 2),
        emotions=_common(own["emotion"], EMOTIONS, 3),
    )


@cache
def _emoji() -> Any:
    import regex

    return regex.compile(r"\p{Emoji_Presentation}|\p{Extended_Pictographic}")


def _share(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def _common(labels: pl.Series, order: Sequence[str], most: int) -> tuple[tuple[str, float], ...]:
    known = labels.drop_nulls().to_list()
    counted = sorted(order, key=lambda name: (-known.count(name), order.index(name)))[:most]
    return tuple((name, known.count(name) / len(known)) for name in counted if name in known)


def _phrases(learning: Learning, texts: Sequence[str]) -> tuple[str, ...]:
    """One to three words that the speaker says more often than the others do.

    Ranked by the z-score of the log odds with a prior from both sides (Monroe et al. 2008),
    which keeps a word said once from winning. A phrase inside a longer one that was taken is
    passed over.
    """
    others = [turn.text for turn in learning.chat.turns if turn.speaker != learning.speaker]
    names = {part for name in learning.chat.speakers for part in words_and_emoji(name)}
    mine, theirs = _grams(texts, names), _grams(others, names)
    both = mine + theirs
    total, own, rest = both.total(), mine.total(), theirs.total()
    scored = []
    for gram, count in mine.items():
        if count < _FEWEST or not any(len(word) > 2 for word in english_terms(gram)):
            continue
        prior = both[gram] / total * 500
        a, b = count + prior, theirs[gram] + prior
        odds = math.log(a / (own + 500 - a)) - math.log(b / (rest + 500 - b))
        scored.append((odds / math.sqrt(1 / a + 1 / b), gram))
    taken: list[str] = []
    for _, gram in sorted(scored, key=lambda each: (-each[0], each[1])):
        if not any(f" {gram} " in f" {known} " or f" {known} " in f" {gram} " for known in taken):
            taken.append(gram)
        if len(taken) == _PHRASES:
            break
    return tuple(taken)


def _grams(texts: Sequence[str], names: set[str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for text in texts:
        said = [word for word in words_and_emoji(text) if word not in names]
        for size in (1, 2, 3):
            counted.update(" ".join(said[at : at + size]) for at in range(len(said) - size + 1))
    return counted


class Guide:
    """What a model is told of a speaker: their style, own turns chosen for each prompt, or both.

    `own` is for guides that share one index of turns.
    """

    version = "1"

    def __init__(
        self,
        learning: Learning,
        *,
        described: bool = True,
        examples: int = EXAMPLES,
        by: str = "encoder",
        own: OwnTurns | None = None,
        labeller: Labeller | None = None,
        progress: Progress = silent,
    ) -> None:
        self.style = style_of(learning, labeller, progress) if described else None
        self._examples = examples
        self._own = own or (OwnTurns(learning, examples, by) if examples else None)

    def text(self, prompt: TurnPrompt) -> str:
        """The style, and what the speaker wrote elsewhere in places like this."""
        return self.texts([prompt])[0]

    def texts(self, prompts: Sequence[TurnPrompt]) -> list[str]:
        """As `text`, for many prompts at once."""
        shown = [""] * len(prompts)
        if self._own is not None:
            shown = self._own.texts(prompts, self._examples)
        described = self.style.text if self.style else ""
        return ["\n\n".join(filter(None, (described, turns))) for turns in shown]


def make_guide(
    learning: Learning,
    *,
    style: bool,
    examples: int | None,
    by: str = "encoder",
    progress: Progress = silent,
) -> Guide | None:
    """The guide of a simulator's settings: `examples` None is five beside a style, else none."""
    if not (shown := example_count(style, examples)) and not style:
        return None
    return Guide(learning, described=style, examples=shown, by=by, progress=progress)


def example_count(style: bool, examples: int | None) -> int:
    """How many of the speaker's own turns a prompt shows."""
    if examples is None:
        return EXAMPLES if style else 0
    if examples < 0:
        raise RealtalkError(f"examples must be 0 or more, not {examples}")
    return examples
