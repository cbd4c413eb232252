"""What a facet is, and a speaker's eleven of them as a frozen value, table, rows and JSON.

    FACETS["emotion_diversity"]  → Facet(title="Emotion diversity", group="Self-awareness", ...)
    speaker["emotion_diversity"] → Estimate(value=2.21, low=1.98, high=2.37, n=88, left_out=0)
    speakers_frame(speakers)     → chat | speaker | ... | emotion_diversity | emotion_diversity_low
                                   | emotion_diversity_high | emotion_diversity_n | ... | unscored

The groups are Goleman's five, as in §4.3 of the REALTALK paper; the order is its Table 7's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import polars as pl

from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import LEVEL, RESAMPLES, SEED, Estimate
from realtalk.registry import suggest
from realtalk.stats.values import Grid

__all__ = [
    "FACETS",
    "GROUPS",
    "PROTOCOLS",
    "SPEAKERS",
    "ByFacet",
    "Facet",
    "Rules",
    "SpeakerFacets",
    "facet_rows",
    "from_frame",
    "interval_method",
    "interval_text",
    "rules_of",
    "shown",
    "speaker_rows",
    "speakers_frame",
    "speakers_json",
]

Unit: TypeAlias = Literal["share", "bits", "score", "a session"]


@dataclass(frozen=True, slots=True)
class Facet:
    """One figure about a speaker. Shown values are multiplied by `scale`, as in Table 7."""

    name: str
    title: str
    group: str
    measure: str
    unit: Unit
    of: str = "turns"
    scale: float = 1.0
    digits: int = 2


_TABLE = (
    Facet("reflective_frequency", "Reflective frequency", "Self-awareness", "reflective", "share"),
    Facet("emotion_diversity", "Emotion diversity", "Self-awareness", "emotion", "bits"),
    Facet("sentiment_diversity", "Sentiment diversity", "Self-awareness", "sentiment", "bits"),
    Facet("grounding_frequency", "Grounding frequency", "Motivation", "grounding", "share"),
    Facet("empathy", "Empathy", "Empathy", "empathy", "score"),
    Facet(
        "intimacy_linear",
        "Intimacy progression, linear",
        "Social skills",
        "intimacy",
        "a session",
        scale=1000.0,
        digits=1,
    ),
    Facet(
        "intimacy_exponential",
        "Intimacy progression, exponential",
        "Social skills",
        "intimacy",
        "a session",
        scale=1000.0,
        digits=1,
    ),
    *(
        Facet(
            f"{measure}_{what}",
            f"{measure.title()} {what}",
            "Self-regulation",
            measure,
            "share",
            of="pairs",
        )
        for what in ("stability", "alignment")
        for measure in ("sentiment", "emotion")
    ),
)
FACETS: Mapping[str, Facet] = MappingProxyType({facet.name: facet for facet in _TABLE})
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        group: tuple(facet.name for facet in _TABLE if facet.group == group)
        for group in dict.fromkeys(facet.group for facet in _TABLE)
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Where two readings of §4.3 part.

    `joined`: labels are of turns, else of single messages. `across_sessions`: a session's
    first turn is compared with the last of the session before (stability). `pairing`
    (alignment): a turn goes with the turn it answers, which is the latest by somebody else
    in the session, or the speaker's k-th in a session with the k-th of the others.
    """

    name: str
    joined: bool
    across_sessions: bool
    pairing: Literal["answered", "kth"]


# Pairing by k counts the same pairs for both speakers of a chat, while Table 7 prints .86
# for one and .78 for the other: the paper's figures come from pairs that have a direction.
# They also come from single messages, whatever §4 says: labelled so, its sentiment diversity
# correlates at .99, with joined turns at .94.
PROTOCOLS: Mapping[str, Rules] = MappingProxyType(
    {
        "paper": Rules("paper", True, True, "answered"),
        "released": Rules("released", False, False, "answered"),
    }
)


def rules_of(protocol: str | Rules) -> Rules:
    """A protocol by its name, or rules of one's own."""
    if isinstance(protocol, Rules):
        return protocol
    if protocol not in PROTOCOLS:
        raise suggest("protocol", protocol, list(PROTOCOLS))
    return PROTOCOLS[protocol]


class ByFacet:
    """Estimates in FACETS' order, found by a facet's name."""

    __slots__ = ()
    facets: tuple[Estimate, ...]

    def __getitem__(self, facet: str) -> Estimate:
        return self.facets[list(FACETS).index(facet)]

    def items(self) -> Iterator[tuple[Facet, Estimate]]:
        return zip(FACETS.values(), self.facets, strict=True)


@dataclass(frozen=True, slots=True)
class SpeakerFacets(ByFacet):
    """One speaker in one chat: an estimate for each of FACETS, in its order."""

    chat: str
    speaker: str
    turns: int
    sessions: int
    protocol: str
    measure: str  # how the labels were made ...
    version: str  # ... and by which version
    facets: tuple[Estimate, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "chat": self.chat,
            "speaker": self.speaker,
            "turns": self.turns,
            "sessions": self.sessions,
            "facets": {facet.name: estimate.to_json() for facet, estimate in self.items()},
        }


_Kinds: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]
_WHO: _Kinds = {
    "chat": pl.String,
    "speaker": pl.String,
    "turns": pl.Int32,
    "sessions": pl.Int32,
    "protocol": pl.String,
    "measure": pl.String,
    "version": pl.String,
}
_PARTS: _Kinds = {
    "": pl.Float64,
    "_low": pl.Float64,
    "_high": pl.Float64,
    "_n": pl.Int32,
    "_left_out": pl.Int32,
}
SPEAKERS = pl.Schema(
    {
        **_WHO,
        **{f"{name}{part}": kind for name in FACETS for part, kind in _PARTS.items()},
        "unscored": pl.List(pl.Struct({"facet": pl.String, "reason": pl.String})),
    }
)


def speakers_frame(speakers: Sequence[SpeakerFacets]) -> pl.DataFrame:
    """One row a chat and speaker; what could not be made is null, its reason in `unscored`."""
    columns: dict[str, list[Any]] = {name: [] for name in SPEAKERS}
    for who in speakers:
        for name in _WHO:
            columns[name].append(getattr(who, name))
        for facet, found in who.items():
            values = (found.value, found.low, found.high, found.n, found.left_out)
            for part, value in zip(_PARTS, values, strict=True):
                columns[f"{facet.name}{part}"].append(value)
        columns["unscored"].append(
            [
                {"facet": facet.name, "reason": found.unscored}
                for facet, found in who.items()
                if found.unscored is not None
            ]
        )
    return pl.DataFrame(columns, schema=SPEAKERS)


def from_frame(frame: pl.DataFrame) -> tuple[SpeakerFacets, ...]:
    """The values that `speakers_frame` was given."""
    missing = [name for name in SPEAKERS if name not in frame.columns]
    if missing:
        raise RealtalkError(
            f"not a table of speakers: column '{missing[0]}' is missing",
            fix="make one with: realtalk ei PATH --out DIR",
        )
    made = []
    for row in frame.iter_rows(named=True):
        reasons = {each["facet"]: each["reason"] for each in row["unscored"] or ()}
        facets = tuple(
            Estimate(
                value=row[name],
                low=row[f"{name}_low"],
                high=row[f"{name}_high"],
                n=row[f"{name}_n"],
                left_out=row[f"{name}_left_out"],
                unscored=reasons.get(name),
            )
            for name in FACETS
        )
        made.append(SpeakerFacets(**{name: row[name] for name in _WHO}, facets=facets))
    return tuple(made)


def shown(facet: Facet, value: float | None) -> str:
    """A facet's value as it is printed; intimacy in thousandths a session."""
    if value is None:
        return "–"
    text = f"{value * facet.scale:.{facet.digits}f}"
    # A slope that rounds to nothing has no sign.
    return text.removeprefix("-") if float(text) == 0 else text


def interval_text(facet: Facet, found: Estimate) -> str:
    """ "2.21 [1.98, 2.37]", without the bracket where there is no interval."""
    if found.low is None or found.high is None:
        return shown(facet, found.value)
    low, high = shown(facet, found.low), shown(facet, found.high)
    return f"{shown(facet, found.value)} [{low}, {high}]"


def speaker_rows(speakers: Sequence[SpeakerFacets]) -> Grid:
    """A row a chat and speaker, a column a facet: value and interval, for a terminal or page."""
    headings = ["speaker", "chat", "turns", "sessions"]
    headings += [
        f"{facet.title.lower()}{' (1e-3)' if facet.scale == 1000 else ''}"
        for facet in FACETS.values()
    ]
    return Grid(
        headings,
        [
            [
                *(who.speaker, who.chat, who.turns, who.sessions),
                *(interval_text(facet, found) for facet, found in who.items()),
            ]
            for who in speakers
        ],
    )


def facet_rows(speakers: Sequence[SpeakerFacets]) -> Grid:
    """A row a chat, speaker and facet, with n, of what, what was left out, and the reason."""
    headings = [
        *("speaker", "chat", "group", "facet", "value", "low (95 %)", "high (95 %)"),
        *("n", "of", "left out", "unscored because"),
    ]
    return Grid(
        headings,
        [
            [
                *(who.speaker, who.chat, facet.group, facet.name),
                *(found.value, found.low, found.high),
                *(found.n, facet.of, found.left_out, found.unscored),
            ]
            for who in speakers
            for facet, found in who.items()
        ],
    )


def interval_method() -> dict[str, Any]:
    """How the intervals were made, for a result that travels alone."""
    return {
        "kind": "percentile bootstrap over turns (pairs of turns for stability and alignment; "
        "turns within sessions for intimacy; diversity centred on its value); Wilson's for a "
        "share of 0 or 1, none where every turn is alike",
        "level": LEVEL,
        "resamples": RESAMPLES,
        "seed": SEED,
    }


def speakers_json(speakers: Sequence[SpeakerFacets]) -> dict[str, Any]:
    """Everything about the speakers, with the settings it was made with."""
    return {
        **{
            name: sorted({getattr(who, name) for who in speakers})
            for name in ("protocol", "measure", "version")
        },
        "interval_method": interval_method(),
        "groups": {group: list(names) for group, names in GROUPS.items()},
        "speakers": [who.to_json() for who in speakers],
    }
