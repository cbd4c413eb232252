"""Four ways to continue as somebody without a language model: what any model has to beat.

    simulator = Retrieve()
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)[0]    → Answer("haha no way")

`copy` repeats what was said last, `constant` says one flat thing, `common` always the speaker's
most typical turn, `retrieve` what the speaker said in the other chat where the context was
nearest. On raw agreement a constant is hard to beat: most turns are not reflective.

    near = Nearness("encoder")                       # or "words"
    near.index(["hi there", "the oven broke"])(["my oven is dead"])    → [[1, 0]]
    near.central(["ok", "ok then", "fine, ok"])      → 0, the one most like all others

`encoder` is the sentence encoder that ships with the package; `words` needs no model: BM25 for
the nearest, shared words for the central one.

What a speaker wrote in one chat → how they write, in words that a model can follow.

    describe_style(learning)       → "Mara usually writes 11 words at a time (half of the time …"
    OwnTurns(learning).texts(prompts, 8)[0]
    → "Messages that Mara wrote to somebody else:
       - to “did you sleep at all” Mara answered: lol no
       - to begin with, Mara wrote: guess who is back"
    Guide(learning).texts([prompt]) → both: the style, and messages written in places like this

The style is counted from the speaker's turns in the chat to learn from and from the labels of that
chat; nothing of the tested chat enters.

Near is the end of the context, by the shipped encoder or by words. A tested turn is shown turns
of the learned chat, which is another one but need not be earlier: on REALTALK, whose chats ran side
by side, about six in ten of what is learned is later than the tested turn, as in the paper. A turn
of the learned chat itself, in training, is shown only turns of sessions that its prompt does not
show: never itself, nothing that stands in its context, and no later turn that quotes what was said
to it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import EMOTIONS, SENTIMENTS, Labeller
from realtalk.ei.speakers import speakers
from realtalk.encoders.lexical import Bm25, best_first
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver, Settings
from realtalk.files.progress import Progress, silent, within
from realtalk.metrics.similarity import cosines, shipped_encoder
from realtalk.persona.values import Learning, PersonaTurn, TurnPrompt
from realtalk.registry import at_least, known_name
from realtalk.text.terms import english_terms
from realtalk.text.words import words_and_emoji

_WAYS = ("encoder", "words")
_TURNS = 2  # of a context that are compared: what is answered, and what that answered
# For each text the places of those that were indexed, nearest first.
Nearest: TypeAlias = Callable[[Sequence[str]], list[list[int]]]


class Nearness:
    """A way of telling what is near: by meaning, or by words in common."""

    def __init__(self, way: str = "encoder") -> None:
        known_name("way of finding the nearest", way, _WAYS)
        self._encoder = shipped_encoder() if way == "encoder" else None
        self.version = f"encoder {self._encoder.version}" if self._encoder else "words 1"

    def index(self, texts: Sequence[str]) -> Nearest:
        """These texts, to be asked which of them are nearest."""
        if (encoder := self._encoder) is None:
            ranking = Bm25(texts)
            return lambda asked: [best_first(ranking.scores(text)) for text in asked]
        vectors = encoder.embed(texts)
        # What was embedded once is not again: training asks for the very texts that are indexed.
        vector_of = dict(zip(texts, vectors, strict=True))

        def nearest(asked: Sequence[str]) -> list[list[int]]:
            if new := [text for text in dict.fromkeys(asked) if text not in vector_of]:
                vector_of.update(zip(new, encoder.embed(new), strict=True))
            near = (cosines(vectors, vector_of[text]) for text in asked)
            return [best_first(row.astype(np.float64)) for row in near]

        return nearest

    def central(self, texts: Sequence[str]) -> int:
        """The place of the text that is most like all of them; of equals the first."""
        if self._encoder is not None:
            vectors = self._encoder.embed(texts)
            # The mean cosine with all others is that with their sum, and with itself always 1.
            return int(np.argmax(cosines(vectors, vectors.sum(axis=0))))
        word_sets = [set(words_and_emoji(text)) for text in texts]

        def likeness(at: int) -> float:
            own = word_sets[at]
            return sum(2 * len(own & words) / max(1, len(own) + len(words)) for words in word_sets)

        return max(range(len(texts)), key=likeness)


class Copy(PlainSolver):
    """Repeats the last thing that somebody else said."""

    name = "copy"

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        answers = []
        for prompt in shown:
            others = [turn.text for turn in prompt.context if turn.speaker != prompt.speaker]
            silence = "" if others else "nobody else speaks in the context"
            answers.append(Answer(others[-1] if others else None, silence))
        return answers


class Constant(PlainSolver):
    """Says the same flat thing every time."""

    name = "constant"

    def __init__(self, *, says: str = "ok") -> None:
        if not says.strip():
            raise RealtalkError("a constant needs words", fix="give it: `settings=says=ok`")
        self._says = says

    @property
    def settings(self) -> Settings:
        return {"says": self._says}

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(self._says)] * len(shown)


class _FromOwnTurns(PlainSolver):
    """Repeats turns of the speaker; `by` says what is near."""

    def __init__(self, *, by: str = "encoder") -> None:
        self._by = by
        self._near = Nearness(by)
        self._texts: list[str] = []

    @property
    def settings(self) -> Settings:
        return {"by": self._by, "nearness": self._near.version}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        refuse_empty(learning)
        progress(0, 0, f"reading {learning.chat.id}")
        self._texts = [turn.text for turn in learning.turns]


class Common(_FromOwnTurns):
    """The one turn of the speaker that is most like all of them, every time."""

    name = "common"

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._texts = [self._texts[self._near.central(self._texts)]]

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(self._texts[0])] * len(shown)


class Retrieve(_FromOwnTurns):
    """What the speaker said where the context was nearest."""

    name = "retrieve"

    @property
    def settings(self) -> Settings:
        return {**super().settings, "turns": _TURNS}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._index = self._near.index([gist(turn.prompt) for turn in learning.turns])

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        progress(0, len(shown), "finding the nearest context")
        ranked = self._index([gist(prompt) for prompt in shown])
        return [Answer(self._texts[places[0]]) for places in ranked]


def gist(prompt: TurnPrompt) -> str:
    """The end of a context, which is what a turn answers."""
    return "\n".join(turn.text for turn in prompt.context[-_TURNS:])


def refuse_empty(learning: Learning) -> None:
    """Raises where there is nothing to learn from."""
    if not learning.turns:
        raise RealtalkError(f"{learning.speaker} has no turn to learn from", where=learning.chat.id)


EXAMPLES = 5
_LONGEST = 240  # characters of an example: a long one would crowd out the others
_PHRASES = 8
_FEWEST = 3  # uses that make a phrase somebody's own
_CAPTION = re.compile(r"\[[^\]]*\]")


def describe_style(
    learning: Learning, labeller: Labeller | None = None, progress: Progress = silent
) -> str:
    """How the speaker writes in the chat that is learned from, in plain sentences."""
    refuse_empty(learning)
    who = learning.speaker
    learned = Corpus(learning.chat.id, "", (learning.chat,))
    advance = within(progress, 0, len(learning.chat.turns), f"labelling {learned.name}")
    frame = labels_for(learned, labeller, progress=advance).frame
    own = frame.filter(pl.col("speaker") == who)
    facets = next(person for person in speakers(frame) if person.speaker == who)
    bare = [_CAPTION.sub("", turn.text).strip() for turn in learning.turns]
    texts = [text for text in bare if text] or bare
    sizes = np.array([len(words_and_emoji(text)) for text in texts], np.float64)
    low, middle, high = np.quantile(sizes, [0.25, 0.5, 0.75])
    bubbles = float(np.mean([len(turn.message_ids) for turn in learning.turns]))
    in_a_row = "one message" if bubbles < 1.25 else f"about {bubbles:.1f} messages in a row"
    emoji = [_emoji().findall(text) for text in texts]
    common = Counter(sign for signs in emoji for sign in signs).most_common(4)
    used = f", most of all {' '.join(sign for sign, _ in common)}" if common else ""
    lines = [
        f"{who} usually writes {middle:.0f} words at a time (half of the time "
        f"{low:.0f} to {high:.0f}), in {in_a_row}.",
        f"{who} {_often('?' in text for text in texts)} asks a question, "
        f"{_often('!' in text for text in texts)} uses an exclamation mark, "
        f"{_often(text.endswith('.') for text in texts)} ends with a full stop and "
        f"{_often(text[0].islower() for text in texts if text[:1].isalpha())} "
        "begins without a capital letter.",
        f"{who} {_often(bool(signs) for signs in emoji)} uses emoji{used}.",
    ]
    if phrases := _phrases(learning, texts):
        phrase_text = ", ".join(f'"{phrase}"' for phrase in phrases)
        lines.append(f"Typical words of {who}: {phrase_text}.")
    reflective, grounding, empathy = (
        facets[name].value for name in ("reflective_frequency", "grounding_frequency", "empathy")
    )
    if reflective is not None and grounding is not None:
        lines.append(
            f"{who} {_word(reflective)} looks into their own thoughts and feelings, and "
            f"{_word(grounding)} checks or shows that they have understood."
        )
    if empathy is not None:
        care = ((0.8, "little"), (1.6, "some"), (2.6, "clear"), (math.inf, "much"))
        much = next(word for most, word in care if empathy < most)
        lines.append(f"{who} shows {much} care for what the other one feels.")
    if tone := _shares(own["sentiment"], SENTIMENTS, 2):
        lines.append(f"The tone is {tone}.")
    if tone := _shares(own["emotion"], EMOTIONS, 3):
        lines.append(f"What comes through most is {tone}.")
    return "\n".join(lines)


def _often(hits: Iterable[bool]) -> str:
    values = list(hits)
    return _word(sum(values) / len(values) if values else 0.0)


def _word(share: float) -> str:
    if share > 0.9:
        return "nearly always"
    words = {0.02: "never", 0.12: "rarely", 0.35: "sometimes", 0.65: "often"}
    return next((word for most, word in words.items() if share < most), "mostly")


@cache
def _emoji() -> Any:
    import regex

    return regex.compile(r"\p{Emoji_Presentation}|\p{Extended_Pictographic}")


def _shares(labels: pl.Series, order: Sequence[str], most: int) -> str:
    """The commonest labels with their shares."""
    counts = Counter(labels.drop_nulls().to_list())
    names = sorted(order, key=lambda name: (-counts[name], order.index(name)))[:most]
    total = counts.total()
    return ", ".join(f"{name} ({counts[name] / total:.0%})" for name in names if counts[name])


def _phrases(learning: Learning, texts: Sequence[str]) -> list[str]:
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
    phrases: list[str] = []
    for _, gram in sorted(scored, key=lambda pair: (-pair[0], pair[1])):
        if not any(
            f" {gram} " in f" {phrase} " or f" {phrase} " in f" {gram} " for phrase in phrases
        ):
            phrases.append(gram)
        if len(phrases) == _PHRASES:
            break
    return phrases


def _grams(texts: Sequence[str], names: set[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        words = [word for word in words_and_emoji(text) if word not in names]
        for size in (1, 2, 3):
            counts.update(" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
    return counts


class OwnTurns:
    """What a speaker wrote elsewhere, found by what was said before it."""

    def __init__(self, learning: Learning, by: str = "encoder") -> None:
        refuse_empty(learning)
        self._learning = learning
        self._index = Nearness(by).index([gist(turn.prompt) for turn in learning.turns])

    def texts(self, prompts: Sequence[TurnPrompt], count: int) -> list[str]:
        """So many of the nearest turns, nearest first; "" where there is none to show."""
        ranked = self._index([gist(prompt) for prompt in prompts])
        texts = []
        for prompt, places in zip(prompts, ranked, strict=True):
            sessions_shown = set()  # by a prompt that is of the learned chat itself
            if prompt.chat == self._learning.chat.id:
                sessions_shown = {prompt.session, *(turn.session for turn in prompt.context)}
            turns = (self._learning.turns[at] for at in places)
            others = (turn for turn in turns if turn.prompt.session not in sessions_shown)
            lines = [self._line(turn) for turn in islice(others, count)]
            if lines:
                lines.insert(0, f"Messages that {self._learning.speaker} wrote to somebody else:")
            texts.append("\n".join(lines))
        return texts

    def _line(self, turn: PersonaTurn) -> str:
        who, text = self._learning.speaker, _short(turn.text)
        if not turn.prompt.previous:
            return f"- to begin with, {who} wrote: {text}"
        return (
            f"- to \N{LEFT DOUBLE QUOTATION MARK}{_short(turn.prompt.previous)}"
            f"\N{RIGHT DOUBLE QUOTATION MARK} {who} answered: {text}"
        )


def _short(text: str) -> str:
    flat = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST].rsplit(' ', 1)[0]} …"


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
        self.style = describe_style(learning, labeller, progress) if described else ""
        self._examples = examples
        self._own = own or (OwnTurns(learning, by) if examples else None)

    def texts(self, prompts: Sequence[TurnPrompt]) -> list[str]:
        """The style, and what the speaker wrote elsewhere in places like each prompt's."""
        own_turns = [""] * len(prompts)
        if self._own is not None:
            own_turns = self._own.texts(prompts, self._examples)
        return ["\n\n".join(filter(None, (self.style, turns))) for turns in own_turns]


def example_count(style: bool, examples: int | None) -> int:
    """How many of the speaker's own turns a prompt shows: None is five beside a style."""
    at_least(0, examples=examples)
    return (EXAMPLES if style else 0) if examples is None else examples
