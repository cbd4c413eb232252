"""What a facet is, and a speaker's eleven of them as a frozen value, table, rows and JSON.

    FACETS["emotion_diversity"]  → Facet(title="Emotion diversity", group="Self-awareness", ...)
    speaker["emotion_diversity"] → Estimate(value=2.21, low=1.98, high=2.37, n=88, left_out=0)
    speakers_frame(speakers)     → chat | speaker | ... | emotion_diversity | emotion_diversity_low
                                   | emotion_diversity_high | emotion_diversity_n | ... | unscored

The groups are Goleman's five, as in §4.3 of the REALTALK paper; the order is its Table 7's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from realtalk.cells import Grid
from realtalk.ei.encoder_choice import MULTILINGUAL, Grade, is_usable
from realtalk.ei.languages import Languages, language_name, languages_json, merge_chats
from realtalk.ei.protocols import PROTOCOLS
from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import LEVEL, RESAMPLES, SEED, Estimate, interval_after

Unit: TypeAlias = Literal["share", "bits", "score", "per session"]
# How the labels of a speaker become a facet: their mean, how many kinds there are of them, how
# often two in a row are alike, how often one is like the one it answers, or their course over
# sessions as a line or a curve.
Pairing: TypeAlias = Literal["stability", "alignment"]
Course: TypeAlias = Literal["linear", "exponential"]
Way: TypeAlias = Literal["mean", "diversity"] | Pairing | Course


@dataclass(frozen=True, slots=True)
class Facet:
    """One figure about a speaker. Shown values are multiplied by `scale`, as in Table 7."""

    name: str
    title: str
    group: str
    measure: str
    unit: Unit
    way: Way = "mean"
    of: str = "turns"
    scale: float = 1.0
    digits: int = 2

    @property
    def heading(self) -> str:
        """The title over a column of values as they are shown."""
        return self.title if self.scale == 1 else f"{self.title} (1e-3)"


_TABLE = (
    Facet("reflective_frequency", "Reflective frequency", "Self-awareness", "reflective", "share"),
    *(
        Facet(
            f"{measure}_diversity",
            f"{measure.title()} diversity",
            "Self-awareness",
            measure,
            "bits",
            "diversity",
        )
        for measure in ("emotion", "sentiment")
    ),
    Facet("grounding_frequency", "Grounding frequency", "Motivation", "grounding", "share"),
    Facet("empathy", "Empathy", "Empathy", "empathy", "score"),
    *(
        Facet(
            f"intimacy_{curve}",
            f"Intimacy progression, {curve}",
            "Social skills",
            "intimacy",
            "per session",
            curve,
            scale=1000.0,
            digits=1,
        )
        for curve in get_args(Course)
    ),
    *(
        Facet(
            f"{measure}_{way}",
            f"{measure.title()} {way}",
            "Self-regulation",
            measure,
            "share",
            way,
            of="pairs",
        )
        for way in get_args(Pairing)
        for measure in ("sentiment", "emotion")
    ),
)
FACETS: Mapping[str, Facet] = {facet.name: facet for facet in _TABLE}
GROUPS: Mapping[str, tuple[str, ...]] = {
    facet.group: tuple(member.name for member in _TABLE if member.group == facet.group)
    for facet in _TABLE
}


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
    # Turns; empty where nobody looked.
    by_language: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def languages(self) -> Languages:
        """What the speaker's turns are written in; `.english` is the share of English."""
        return Languages(self.chat, self.measure, self.by_language, self.version)

    def grade(self, facet: str | None = None) -> Grade | None:
        """How far the labels behind a facet, or all of them, can be used in these languages."""
        return self.languages.grade(None if facet is None else FACETS[facet].measure)

    @property
    def is_graded(self) -> bool:
        """Whether there is more to say than that English was labelled as English."""
        spoken = self.languages
        return spoken.encoder == MULTILINGUAL or spoken.grade() not in (None, "good")

    @property
    def grade_text(self) -> str:
        """ "Spanish: usable", "Hindi and English: rough", "–" where nothing can be told."""
        grade = self.grade()
        languages = " and ".join(map(language_name, self.languages.mainly))
        return "–" if grade is None else f"{languages}: {grade}"

    def to_json(self) -> dict[str, Any]:
        return {
            "chat": self.chat,
            "speaker": self.speaker,
            "turns": self.turns,
            "sessions": self.sessions,
            "english": self.languages.english,
            "languages": list(self.languages.mainly),
            "encoder": self.languages.encoder,
            "grade": self.grade(),
            "facets": {
                facet.name: {**estimate.to_json(), "grade": self.grade(facet.name)}
                for facet, estimate in self.items()
            },
        }


People: TypeAlias = Sequence[SpeakerFacets]
_WHO = {
    **dict.fromkeys(("chat", "speaker"), pl.String()),
    **dict.fromkeys(("turns", "sessions"), pl.Int32()),
    **dict.fromkeys(("protocol", "measure", "version"), pl.String()),
}
# What stands behind a facet's name, its type, and what of an estimate it holds.
_PARTS = {
    "": (pl.Float64(), "value"),
    "_low": (pl.Float64(), "low"),
    "_high": (pl.Float64(), "high"),
    "_n": (pl.Int32(), "n"),
    "_left_out": (pl.Int32(), "left_out"),
}
SPEAKERS = pl.Schema(
    {
        **_WHO,
        **{f"{name}{part}": kind for name in FACETS for part, (kind, _) in _PARTS.items()},
        "unscored": pl.List(pl.Struct({"facet": pl.String, "reason": pl.String})),
        "by_language": pl.List(pl.Struct({"language": pl.String, "turns": pl.Int32})),
        "grades": pl.List(pl.Struct({"facet": pl.String, "grade": pl.String})),
    }
)


def speakers_frame(speakers: People) -> pl.DataFrame:
    """One row per chat and speaker; what could not be made is null, its reason in `unscored`."""
    rows = [
        {
            **{name: getattr(who, name) for name in _WHO},
            **{
                f"{facet.name}{part}": getattr(estimate, field)
                for facet, estimate in who.items()
                for part, (_, field) in _PARTS.items()
            },
            "unscored": [
                {"facet": facet.name, "reason": estimate.unscored}
                for facet, estimate in who.items()
                if estimate.unscored is not None
            ],
            "by_language": [
                {"language": name, "turns": turns} for name, turns in who.by_language.items()
            ],
            "grades": [
                {"facet": name, "grade": grade} for name in FACETS if (grade := who.grade(name))
            ],
        }
        for who in speakers
    ]
    return pl.DataFrame(rows, schema=SPEAKERS)


def from_frame(frame: pl.DataFrame) -> tuple[SpeakerFacets, ...]:
    """The values that `speakers_frame` was given."""
    refuse_missing(frame, SPEAKERS, "speakers")
    speakers = []
    for row in frame.iter_rows(named=True):
        reasons = {entry["facet"]: entry["reason"] for entry in row["unscored"] or ()}
        facets = tuple(
            Estimate(
                **{field: row[f"{name}{part}"] for part, (_, field) in _PARTS.items()},
                unscored=reasons.get(name),
            )
            for name in FACETS
        )
        spoken = {entry["language"]: entry["turns"] for entry in row["by_language"] or ()}
        who = {name: row[name] for name in _WHO}
        speakers.append(SpeakerFacets(**who, facets=facets, by_language=spoken))
    return tuple(speakers)


def refuse_missing(frame: pl.DataFrame, columns: Iterable[str], of: str) -> None:
    """Raises where a table lacks one of its columns."""
    for name in columns:
        if name not in frame.columns:
            raise RealtalkError(
                f"not a table of {of}: column '{name}' is missing",
                fix="label a corpus with `out=DIR`",
            )


def known_values(
    speakers: Iterable[SpeakerFacets], facet: str
) -> list[tuple[SpeakerFacets, float]]:
    """Who has a value of a facet, with that value."""
    return [(who, value) for who in speakers if (value := who[facet].value) is not None]


def speaker_languages(speakers: People) -> tuple[Languages, ...]:
    """The languages of the chats that the speakers are from."""
    return merge_chats(who.languages for who in speakers)


def unit_of(facet: Facet, protocol: str) -> str:
    """What a facet's n counts under a protocol."""
    rules = PROTOCOLS.get(protocol)
    over_turns = rules is not None and rules.alignment_over == "turns"
    return "turns" if over_turns and facet.way == "alignment" else facet.of


def facet_number(facet: Facet, value: float | None) -> str:
    """A facet's value as it is printed; intimacy in thousandths per session."""
    if value is None:
        return "–"
    text = f"{value * facet.scale:.{facet.digits}f}"
    # A slope that rounds to nothing has no sign.
    return text.removeprefix("-") if float(text) == 0 else text


def interval_text(facet: Facet, estimate: Estimate) -> str:
    """ "2.21 [1.98, 2.37]", without the bracket where there is no interval."""
    write = partial(facet_number, facet)
    return write(estimate.value) + interval_after(estimate, write)


def facet_text(facet: Facet, who: SpeakerFacets) -> str:
    """A speaker's facet as it is printed, with its grade where that is below usable."""
    estimate, grade = who[facet.name], who.grade(facet.name)
    text = interval_text(facet, estimate)
    return text if estimate.value is None or is_usable(grade) else f"{text} ({grade})"


def speaker_rows(speakers: People) -> Grid:
    """One row per chat and speaker, one column per facet: value and interval, to be printed."""
    headings = ["speaker", "chat", "turns", "sessions"]
    headings += [facet.heading.lower() for facet in FACETS.values()]
    graded = any(who.is_graded for who in speakers)
    return Grid(
        [*headings, "language, grade"] if graded else headings,
        [
            [
                who.speaker,
                who.chat,
                who.turns,
                who.sessions,
                *(facet_text(facet, who) for facet, _ in who.items()),
                *([who.grade_text] if graded else []),
            ]
            for who in speakers
        ],
    )


_INTERVALS = (
    "percentile bootstrap over turns (pairs of turns for stability and, but under the protocol "
    "paper, alignment; turns within sessions for intimacy; diversity centred on its value); "
    "Wilson's for a share of 0 or 1, none where every turn is alike"
)


def interval_method(kind: str = _INTERVALS) -> dict[str, Any]:
    """How the intervals were made, for a result that travels alone."""
    return {"kind": kind, "level": LEVEL, "resamples": RESAMPLES, "seed": SEED}


def speakers_json(speakers: People) -> dict[str, Any]:
    """Everything about the speakers, with the settings it was made with."""
    return {
        **{
            name: sorted({getattr(who, name) for who in speakers})
            for name in ("protocol", "measure", "version")
        },
        "languages": languages_json(speaker_languages(speakers)),
        "interval_method": interval_method(),
        "groups": {group: list(names) for group, names in GROUPS.items()},
        "speakers": [who.to_json() for who in speakers],
    }
