"""What the REALTALK paper reports of persona simulation, to stand beside what is measured here.

    TABLE_2["with fine-tuning"].mean["empathy"]    → 1.24
    TABLE_8[0]    → PublishedSpeaker("Emi", 0.21, learn=("Emi", "Paola"), test=("Emi", "Elise"), …)

Tables 2 and 8 of arXiv:2502.13270. Lexical is ROUGE (which one is not said), semantic BERTScore;
agreement of the four categories is raw accuracy, intimacy and empathy are absolute differences.
The standard deviations are over the ten speakers, with n - 1. The figures stand in published.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PUBLISHED_SCORES: tuple[str, ...] = tuple(_FILE["scores"])


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
        title: PublishedRow(_named(row["mean"]), _named(row["sd"]))
        for title, row in _FILE["table_2"].items()
    }
)
TABLE_8 = tuple(
    PublishedSpeaker(
        speaker=row["speaker"],
        consistency=row["consistency"],
        learn=tuple(row["learn"]),
        test=tuple(row["test"]),
        without=_named(row["without"]),
        tuned=_named(row["tuned"]),
    )
    for row in _FILE["table_8"]
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
