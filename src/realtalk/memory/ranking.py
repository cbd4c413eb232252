"""A question and a chat's index → a score for every message.

    asked = SearchedQuestion.of(chat, question)    → "When did Emi see it?", whom others call Kate
    features(index, asked, encoder.encode([asked.text]))["vectors"]    → how near each message is
    scores(index, asked, encoder)       → float64 [messages], higher is better

Likeness is measured in several ways (vectors, best matches of tokens, words; of the message, its
window, its session), each brought to mean 0 and deviation 1 over the chat's messages; priors say
who is asked about, and which messages tell rather than ask. The weights were fitted on chats of our
own training set that the encoder had not seen; no text of a benchmark had a part in them, though
which features there are came from work on LoCoMo. The encoder learned English: in a chat of another
language, pieces of words (`text.terms`) stand beside it, or in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, Question
from realtalk.encoders.sentences import Encoded, TextEncoder
from realtalk.memory.index import ChatIndex
from realtalk.text.relative_dates import resolve
from realtalk.text.terms import is_named

Floats: TypeAlias = npt.NDArray[np.float64]


# Ways of likeness, then priors; sums are made in this order.
_LIKENESS = ("vectors", "tokens", "window", "answers", "words", "window_words", "session_words")
FEATURES = (*_LIKENESS, "speaker", "asking", "length", "day")
Weights: TypeAlias = Mapping[str, float]  # how much each of them counts

# Fitted by research/training/memory_fit.py on chats that the encoder had not seen.
FUSED: Weights = MappingProxyType(
    {
        "vectors": 0.81,
        "tokens": 1.38,
        "window": 0.19,
        "answers": 0.27,
        "words": -0.10,
        "window_words": 0.04,
        "session_words": 0.43,
        "speaker": 1.39,
        "asking": -0.02,
        "length": -0.13,
        "day": 1.23,
    }
)
# Other languages: pieces of words weigh what vectors and tokens do in English. In Latin letters
# they stand beside these, which still see names, numbers and words that languages share; other
# letters are single signs to the encoder, and it only disturbs (docs/results/languages.md).
_PIECES = FUSED["vectors"] + FUSED["tokens"]
LATIN: Weights = MappingProxyType({**FUSED, "words": _PIECES})
OTHER: Weights = MappingProxyType(
    {name: FUSED[name] for name in ("session_words", "speaker", "day")} | {"words": _PIECES}
)
ENCODER: Weights = MappingProxyType({"vectors": 1.0})
BM25: Weights = MappingProxyType({"words": 1.0})


@dataclass(frozen=True, slots=True)
class SearchedQuestion:
    """A question as it is searched: with the chat's own names, who is meant, and which days."""

    text: str
    speakers: tuple[str, ...]
    days: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls,
        chat: Chat,
        question: Question,
        *,
        aliases: bool = True,
        dates: bool = True,
        is_english: bool = True,
    ) -> SearchedQuestion:
        """The question with aliases replaced by the speakers' names and dates resolved.

        What is relative ("last week") counts from when it is asked, else from the last message.
        Other languages than English glue endings and particles to a name.
        """
        text = _own_names(chat, question.text) if aliases else question.text
        names = _has_name if is_english else is_named
        named = tuple(name for name in chat.speakers if names(name, text))
        days: tuple[tuple[int, int], ...] = ()
        moment = question.asked or _last(chat)
        if dates and moment is not None:
            found = resolve(question.text, moment)
            days = tuple((each.first.toordinal(), each.last.toordinal()) for each in found)
        return cls(text, named, days)


def _has_name(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _own_names(chat: Chat, text: str) -> str:
    """Aliases replaced by the names that the messages stand under, longest first."""
    names = {alias.name: alias.speaker for alias in chat.aliases}
    names = {name: who for name, who in names.items() if name not in chat.speakers}
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    # A full name holds its own first part: "Fahim" of "Fahim Khan" must not become it twice.
    whole = sorted(chat.speakers, key=len, reverse=True)
    known = "|".join(map(re.escape, [*whole, *longest]))
    return re.sub(rf"(?<!\w)(?:{known})(?!\w)", lambda found: names.get(found[0], found[0]), text)


def _last(chat: Chat) -> datetime | None:
    for session in reversed(chat.sessions):
        for message in reversed(session.messages):
            if moment := message.time or session.time:
                return moment
    return None


def features(
    index: ChatIndex, asked: SearchedQuestion, question: Encoded | None
) -> dict[str, Floats]:
    """Every feature that the index can give, one number per message.

    `question` is the encoded question; without it only words and priors are there.
    """
    found: dict[str, Floats] = {}
    if question is not None:
        vector = question.vectors[0]
        near = index.vectors @ vector
        found["vectors"] = scaled(near)
        found["tokens"] = scaled(_best_matches(index, question))
        found["window"] = scaled(index.window_vectors @ vector)
        # A message that follows a question takes part in how near the question is.
        follows = np.roll(index.asking, 1) & (np.diff(index.session_of, prepend=-1) == 0)
        before = np.maximum(np.roll(found["vectors"], 1), 0.0)
        found["answers"] = np.where(follows, before, 0.0)
    messages, windows, sessions = index.words
    found["words"] = scaled(messages.scores(asked.text))
    found["window_words"] = scaled(windows.scores(asked.text))
    found["session_words"] = scaled(sessions.scores(asked.text)[index.session_of])
    # Both named, or nobody: no telling who is meant.
    named = index.who == asked.speakers[0] if len(asked.speakers) == 1 else np.zeros(len(index.ids))
    found["speaker"] = np.asarray(named, np.float64)
    found["asking"] = index.asking.astype(np.float64)
    found["length"] = index.lengths.astype(np.float64)
    found["day"] = _on_days(index, asked)
    return found


def scores(
    index: ChatIndex,
    asked: SearchedQuestion,
    encoder: TextEncoder | None,
    weights: Weights = FUSED,
) -> Floats:
    """The weighted sum of the features."""
    if not index.ids:
        return np.zeros(0)
    question = encoder.encode([asked.text]) if encoder is not None else None
    return weighted(features(index, asked, question), weights)


def again(index: ChatIndex, found: Floats, hits: int = 5, share: float = 0.3) -> Floats:
    """Scores after a second hop: what is like the best hits so far counts more."""
    if not len(found):
        return found
    best = np.argsort(-found, kind="stable")[:hits]
    raised = np.exp(found[best] - found[best[0]])
    alike = (index.vectors[best] @ index.vectors.T).T @ (raised / raised.sum())
    return found + share * scaled(alike)


def weighted(found: Mapping[str, Floats], weights: Weights) -> Floats:
    total = np.zeros(len(found["words"]))
    for name in FEATURES:
        share = weights.get(name, 0.0)
        if share and name in found:
            total += share * found[name]
    return total


def scaled(values: npt.NDArray[np.floating]) -> Floats:
    """Mean 0 and deviation 1; all 0 where there is no difference."""
    wide = np.asarray(values, np.float64)
    spread = float(wide.std()) if len(wide) else 0.0
    return (wide - wide.mean()) / spread if spread > 1e-9 else np.zeros(len(wide))


def _best_matches(index: ChatIndex, question: Encoded) -> Floats:
    """The weighted mean over the question's tokens of their best match in each message."""
    assert index.encoded is not None
    asked = question.tokens.astype(np.float32) / np.float32(127)
    best = np.maximum.reduceat(asked @ index.token_vectors, index.encoded.offsets[:-1], axis=1)
    return np.asarray((question.weights / question.weights.sum()) @ best, np.float64)


def _on_days(index: ChatIndex, asked: SearchedQuestion) -> Floats:
    """1 on a day that the question names, falling to 0 over a week after it."""
    total = np.zeros(len(index.ids))
    for first, last in asked.days:
        away = np.maximum(index.days - last, 2 * (first - index.days))
        near = np.clip(1 - np.maximum(away, 0) / 7, 0, 1)
        total = np.maximum(total, np.where(index.days > 0, near, 0.0))
    return total
