"""One person in two chats: how far their facets lie apart (§5.3, Figure 3 of the paper).

    found = consistency(labels)
    found[0].speaker, found[0].chats          → "Mara", ("Chat_1_Mara_Theo", "Chat_2_Mara_Ines")
    found[0]["empathy"]                       → Estimate(value=0.43, low=0.11, high=0.75, n=210)
    found[0].overall                          → Estimate(value=0.22, low=0.17, high=0.30, n=11)

`overall` is the "persona consistency" of Table 8: each facet's absolute difference as a part
of that facet's range over all speakers of the corpus, averaged over the facets. The paper
does not give this formula; it follows from its numbers (Table 7's differences so scaled
correlate at 1.00 with Table 8). The smaller, the more alike a person is in both chats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from realtalk.cells import Grid
from realtalk.chat import is_nobody
from realtalk.ei.languages import Languages, languages_json, merge_chats, other_languages
from realtalk.ei.protocols import Rules
from realtalk.ei.speakers import ResampledFacets, measure_speakers
from realtalk.ei.values import FACETS, ByFacet, Facet, interval_method, interval_text
from realtalk.metrics.statistics import Array, Estimate, Interval, percentile_interval


@dataclass(frozen=True, slots=True)
class SpeakerConsistency(ByFacet):
    """The absolute differences of a speaker's facets between two chats, in FACETS' order.

    `scaled` are the same differences as parts of each facet's range in the corpus.
    """

    speaker: str
    chats: tuple[str, str]
    facets: tuple[Estimate, ...]
    scaled: tuple[float | None, ...]
    overall: Estimate
    protocol: str = ""
    languages: tuple[Languages, ...] = ()  # the speaker's turns in either chat

    def to_json(self) -> dict[str, Any]:
        return {
            "speaker": self.speaker,
            "chats": list(self.chats),
            "english": [language.english for language in self.languages],
            "overall": self.overall.to_json(),
            "facets": {
                facet.name: {**estimate.to_json(), "scaled": scaled}
                for (facet, estimate), scaled in zip(self.items(), self.scaled, strict=True)
            },
        }


def consistency(
    labels: pl.DataFrame, protocol: str | Rules = "turns"
) -> tuple[SpeakerConsistency, ...]:
    """Every speaker with two or more chats, once per pair of chats, sorted by name.

    A speaker is known by name alone: two people of one name count as one.
    """
    return consistency_of(measure_speakers(labels, protocol))


def consistency_of(measured: Iterable[ResampledFacets]) -> tuple[SpeakerConsistency, ...]:
    """As `consistency`, from speakers that were measured before."""
    chats: dict[str, list[ResampledFacets]] = {}
    values: list[list[float]] = [[] for _ in FACETS]
    for speaker in measured:
        chats.setdefault(speaker.speaker.speaker, []).append(speaker)
        for own, estimate in zip(values, speaker.speaker.facets, strict=True):
            if estimate.value is not None:
                own.append(estimate.value)
    ranges = [max(own) - min(own) if own else 0.0 for own in values]
    return tuple(
        _compare(name, first, second, ranges)
        for name in sorted(chats)
        if not is_nobody(name)
        for first, second in combinations(chats[name], 2)
    )


def _compare(
    name: str, first: ResampledFacets, second: ResampledFacets, ranges: Sequence[float]
) -> SpeakerConsistency:
    facets: list[Estimate] = []
    scaled: list[float | None] = []
    gaps: list[Array] = []
    every = True
    sides = (first.speaker.facets, second.speaker.facets, first.draws, second.draws)
    for width, a, b, draws, others in zip(ranges, *sides, strict=True):
        n, left_out = a.n + b.n, a.left_out + b.left_out
        if a.value is None or b.value is None or draws is None or others is None:
            where = first if a.value is None else second
            reason = f"{where.speaker.chat}: {a.unscored or b.unscored}"
            facets.append(Estimate(None, n=n, left_out=left_out, unscored=reason))
            scaled.append(None)
            continue
        gap = draws - others
        low, high = (None, None) if a.low is None or b.low is None else _absolute(gap)
        value = abs(a.value - b.value)
        facets.append(Estimate(value, low, high, n, left_out))
        scaled.append(value / width if width > 0 else None)
        if width > 0:
            gaps.append(np.abs(gap) / width)
            every = every and a.low is not None and b.low is not None
    return SpeakerConsistency(
        speaker=name,
        chats=(first.speaker.chat, second.speaker.chat),
        facets=tuple(facets),
        scaled=tuple(scaled),
        overall=_overall(scaled, gaps, every),
        protocol=first.speaker.protocol,
        languages=(first.speaker.languages, second.speaker.languages),
    )


def _absolute(gap: Array) -> Interval:
    """The interval of a difference, folded at zero: one that holds zero begins there."""
    low, high = percentile_interval(gap)
    if low is None or high is None or low == high:  # nothing else could be drawn
        return None, None
    if low <= 0 <= high:
        return 0.0, max(-low, high)
    return min(abs(low), abs(high)), max(abs(low), abs(high))


def _overall(scaled: Sequence[float | None], gaps: Sequence[Array], every: bool) -> Estimate:
    """`every`: each facet in it has resamples that differ, without which the whole's interval
    would leave out what is not known of that facet."""
    differences = [value for value in scaled if value is not None]
    left_out = len(scaled) - len(differences)
    if not differences:
        return Estimate(None, left_out=left_out, unscored="no facet is scored in both chats")
    value = float(np.mean(differences))
    draws: Array = np.mean(gaps, axis=0)
    # Absolute differences of resamples are too large on average: noise never cancels.
    draws = draws + value - np.mean(draws, where=np.isfinite(draws))
    low, high = percentile_interval(draws) if every else (None, None)
    if low is not None and high is not None:
        # A part of the range over speakers of which these two are: no less than 0, no more than 1.
        low, high = max(low, 0.0), min(high, 1.0)
    return Estimate(value, low, high, len(differences), left_out)


def consistency_rows(speakers: Sequence[SpeakerConsistency]) -> Grid:
    """One row per speaker and pair of chats: difference and interval, facet by facet."""
    headings = ["speaker", "chats", "overall (0-1)", "facets"]
    headings += [facet.heading.lower() for facet in FACETS.values()]
    whole = Facet("overall", "Overall", "", "", "share")
    return Grid(
        headings,
        [
            [
                who.speaker,
                " / ".join(who.chats),
                interval_text(whole, who.overall),
                who.overall.n,
                *(interval_text(facet, estimate) for facet, estimate in who.items()),
            ]
            for who in speakers
        ],
    )


def consistency_languages(speakers: Sequence[SpeakerConsistency]) -> tuple[Languages, ...]:
    """What the speakers wrote in, in the chats that are compared."""
    once = {
        (who.speaker, language.chat): language for who in speakers for language in who.languages
    }
    return merge_chats(once.values())


def consistency_doubts(speakers: Sequence[SpeakerConsistency]) -> tuple[str, ...]:
    """Who writes in other languages in one chat than in another: the gap may be theirs."""
    return tuple(
        f"{who.speaker}: {line}"
        for who in speakers
        if who.languages
        for line in other_languages(*((language.chat, [language]) for language in who.languages))
    )


def consistency_json(speakers: Sequence[SpeakerConsistency]) -> dict[str, Any]:
    """Everything about the differences, with how their intervals were made."""
    return {
        "protocol": sorted({who.protocol for who in speakers}),
        "languages": languages_json(consistency_languages(speakers)),
        "doubts": list(consistency_doubts(speakers)),
        "interval_method": interval_method(),
        "overall": "mean over facets of the absolute difference divided by the facet's range "
        "over all speakers of the corpus",
        "speakers": [who.to_json() for who in speakers],
    }
