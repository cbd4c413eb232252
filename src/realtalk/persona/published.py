"""What the REALTALK paper reports of persona simulation, to stand beside what is measured here.

    TABLE_2["with fine-tuning"].mean["empathy"]    → 1.24
    TABLE_8[0]    → PublishedSpeaker("Emi", 0.21, learn=("Emi", "Paola"), test=("Emi", "Elise"), …)

Tables 2 and 8 of arXiv:2502.13270. Lexical is ROUGE (which one is not said), semantic BERTScore;
agreement of the four categories is raw accuracy, intimacy and empathy are absolute differences.
The standard deviations are over the ten speakers, with n - 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

__all__ = [
    "PUBLISHED_SCORES",
    "TABLE_2",
    "TABLE_8",
    "PublishedRow",
    "PublishedSpeaker",
    "published_choice",
]

PUBLISHED_SCORES = (
    *("lexical", "semantic", "reflective", "grounding"),
    *("sentiment", "emotion", "intimacy", "empathy"),
)


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One line of Table 2."""

    mean: Mapping[str, float]
    sd: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PublishedSpeaker:
    """A speaker's lines of Table 8; a chat is named by its two speakers."""

    speaker: str
    consistency: float
    learn: tuple[str, str]
    test: tuple[str, str]
    without: Mapping[str, float]
    tuned: Mapping[str, float]


def _named(values: Sequence[float]) -> Mapping[str, float]:
    return MappingProxyType(dict(zip(PUBLISHED_SCORES, values, strict=True)))


TABLE_2: Mapping[str, PublishedRow] = MappingProxyType(
    {
        "without fine-tuning": PublishedRow(
            _named((0.14, 0.76, 0.62, 0.40, 0.53, 0.43, 0.06, 1.80)),
            _named((0.04, 0.08, 0.13, 0.13, 0.22, 0.22, 0.01, 0.55)),
        ),
        "with fine-tuning": PublishedRow(
            _named((0.14, 0.78, 0.77, 0.62, 0.59, 0.46, 0.07, 1.24)),
            _named((0.05, 0.04, 0.09, 0.08, 0.18, 0.21, 0.01, 0.12)),
        ),
    }
)


def _speaker(
    speaker: str,
    consistency: float,
    learn: str,
    test: str,
    without: Sequence[float],
    tuned: Sequence[float],
) -> PublishedSpeaker:
    pairs = [(one, other) for one, _, other in (name.partition("-") for name in (learn, test))]
    return PublishedSpeaker(
        speaker, consistency, pairs[0], pairs[1], _named(without), _named(tuned)
    )


TABLE_8 = (
    _speaker(
        *("Emi", 0.21, "Emi-Paola", "Emi-Elise"),
        (0.20, 0.84, 0.78, 0.60, 0.85, 0.71, 0.06, 1.56),
        (0.20, 0.84, 0.81, 0.63, 0.85, 0.76, 0.07, 1.43),
    ),
    _speaker(
        *("Nicolas", 0.09, "Nicolas-Nebraas", "Vanessa-Nicolas"),
        (0.11, 0.82, 0.64, 0.38, 0.38, 0.21, 0.08, 2.20),
        (0.09, 0.81, 0.88, 0.73, 0.45, 0.26, 0.09, 1.18),
    ),
    _speaker(
        *("Kevin", 0.22, "Kevin-Paola", "Kevin-Elise"),
        (0.19, 0.80, 0.76, 0.52, 0.86, 0.68, 0.05, 1.32),
        (0.19, 0.80, 0.72, 0.53, 0.86, 0.64, 0.06, 1.27),
    ),
    _speaker(
        *("Akib", 0.07, "Fahim-Akib", "Akib-Muhhamed"),
        (0.09, 0.72, 0.53, 0.25, 0.25, 0.15, 0.05, 2.33),
        (0.09, 0.72, 0.61, 0.72, 0.43, 0.24, 0.07, 1.38),
    ),
    _speaker(
        *("Muhhamed", 0.11, "Fahim-Muhhamed", "Akib-Muhhamed"),
        (0.10, 0.73, 0.46, 0.26, 0.39, 0.29, 0.06, 2.36),
        (0.10, 0.73, 0.72, 0.68, 0.46, 0.29, 0.07, 1.22),
    ),
    _speaker(
        *("Nebraas", 0.20, "Nicolas-Nebraas", "Nebraas-Vanessa"),
        (0.15, 0.81, 0.74, 0.35, 0.50, 0.37, 0.07, 2.00),
        (0.15, 0.80, 0.87, 0.66, 0.53, 0.42, 0.09, 1.20),
    ),
    _speaker(
        *("Paola", 0.17, "Emi-Paola", "Kevin-Paola"),
        (0.20, 0.78, 0.68, 0.59, 0.80, 0.77, 0.05, 0.87),
        (0.20, 0.78, 0.71, 0.52, 0.80, 0.77, 0.05, 1.05),
    ),
    _speaker(
        *("Vanessa", 0.18, "Nebraas-Vanessa", "Vanessa-Nicolas"),
        (0.11, 0.80, 0.68, 0.43, 0.44, 0.34, 0.08, 1.90),
        (0.12, 0.80, 0.82, 0.63, 0.45, 0.33, 0.09, 1.22),
    ),
    _speaker(
        *("Elise", 0.14, "Kevin-Elise", "Emi-Elise"),
        (0.11, 0.57, 0.54, 0.29, 0.46, 0.43, 0.06, 1.11),
        (0.14, 0.77, 0.84, 0.50, 0.61, 0.58, 0.08, 1.33),
    ),
    _speaker(
        *("Fahim Khan", 0.12, "Fahim-Muhhamed", "Fahim-Akib"),
        (0.10, 0.73, 0.42, 0.29, 0.36, 0.32, 0.05, 2.35),
        (0.10, 0.73, 0.71, 0.59, 0.43, 0.35, 0.06, 1.10),
    ),
)


def published_choice(speaker: str, chats: Sequence[str]) -> tuple[str, str] | None:
    """Table 8's (learn, test) among these chat ids; None where it does not have them."""
    row = next((each for each in TABLE_8 if each.speaker.casefold() == speaker.casefold()), None)
    if row is None:
        return None
    found = [_chat_of(pair, chats) for pair in (row.learn, row.test)]
    return None if None in found else (str(found[0]), str(found[1]))


def _chat_of(pair: tuple[str, str], chats: Sequence[str]) -> str | None:
    """The chat whose id names both; ids of the published files read Chat_4_Emi_Paola."""
    wanted = {name.casefold() for name in pair}
    return next((chat for chat in chats if wanted <= set(chat.casefold().split("_"))), None)
