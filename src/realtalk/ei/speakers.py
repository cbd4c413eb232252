"""Labels of turns → the eleven facets of every speaker in every chat, with intervals.

    speakers(labels)[0]["grounding_frequency"]
    → Estimate(value=0.11, low=0.05, high=0.18, n=88, left_out=0, unscored=None)

Unscored labels are left out and counted. In stability and alignment a pair counts only
where both of its turns have a label: bridging a gap would compare turns that are no
neighbours. Each speaker's resamples come from a seed of their own, so that a speaker's
interval does not depend on who else is in the table.

One person in two chats: how far their facets lie apart (§5.3, Figure 3 of the paper).

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

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from realtalk.cells import Grid
from realtalk.chat import is_nobody
from realtalk.ei.formulas import (
    draw_counts,
    draw_means,
    entropy,
    exponents,
    fit_exponential,
    kth_of_others,
    latest_of_others,
    slopes,
)
from realtalk.ei.labels import MEASURES, WORDS
from realtalk.ei.languages import (
    Languages,
    languages_json,
    languages_of,
    merge_chats,
    other_languages,
)
from realtalk.ei.protocols import Rules, rules_of
from realtalk.ei.values import (
    FACETS,
    ByFacet,
    Facet,
    SpeakerFacets,
    interval_method,
    interval_text,
    refuse_missing,
)
from realtalk.grouping import grouped
from realtalk.metrics.statistics import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    Interval,
    Whole,
    percentile_interval,
    wilson,
)

_Measured: TypeAlias = tuple[Estimate, Array | None]  # a figure and its resamples
_NEEDED = ("chat", "session", "turn", "speaker", "measure", "version", *MEASURES)


@dataclass(frozen=True, slots=True, eq=False)
class ResampledFacets:
    """A speaker's facets and, facet by facet, their resamples (None where unscored)."""

    speaker: SpeakerFacets
    draws: tuple[Array | None, ...]


class _Turns(NamedTuple):
    """A chat's labels as numbers, in order: -1 or not a number is unscored."""

    session: Whole
    speaker: Whole
    codes: dict[str, Whole]  # of measures in words
    scores: dict[str, Array]  # of all others


def speakers(labels: pl.DataFrame, protocol: str | Rules = "turns") -> tuple[SpeakerFacets, ...]:
    """The facets of every speaker in every chat, in order of appearance."""
    return tuple(speaker.speaker for speaker in measure_speakers(labels, protocol))


def measure_speakers(
    labels: pl.DataFrame, protocol: str | Rules = "turns"
) -> Iterator[ResampledFacets]:
    """As `speakers`, with the resamples that differences between chats need."""
    rules = rules_of(protocol)
    refuse_missing(labels, _NEEDED, "labels")
    for (chat,), part in labels.group_by("chat", maintain_order=True):
        ordered = part.sort("turn", maintain_order=True)
        names = ordered["speaker"].unique(maintain_order=True).to_list()
        turns = _turns(ordered, names)
        spoken = np.array(languages_of(ordered), dtype=object)
        measure, version = (
            ", ".join(ordered[name].drop_nulls().unique().sort()) for name in ("measure", "version")
        )
        for who, name in enumerate(names):
            own = turns.speaker == who
            measured = (
                _facet(facet, turns, who, rules, _generator(str(chat), name, facet.name))
                for facet in FACETS.values()
            )
            facets, draws = zip(*measured, strict=True)
            speaker = SpeakerFacets(
                chat=str(chat),
                speaker=name,
                turns=int(own.sum()),
                sessions=len(np.unique(turns.session[own])),
                protocol=rules.name,
                measure=measure,
                version=version,
                facets=facets,
                by_language=dict(Counter(filter(None, spoken[own]))),
            )
            yield ResampledFacets(speaker, draws)


def _turns(part: pl.DataFrame, names: Sequence[str]) -> _Turns:
    return _Turns(
        # Sessions count up in order of appearance, whatever their own numbers are.
        part["session"].rle_id().cast(pl.Int64).to_numpy(),
        _codes(part["speaker"], names),
        {name: _codes(part[name], part[name].drop_nulls().unique().sort()) for name in WORDS},
        {
            name: part[name].cast(pl.Float64).fill_null(math.nan).to_numpy()
            for name in MEASURES
            if name not in WORDS
        },
    )


def _codes(labels: pl.Series, names: Iterable[str]) -> Whole:
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(name, -1) for name in labels], dtype=np.int64)


def _generator(*words: str) -> np.random.Generator:
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return np.random.default_rng([SEED, int.from_bytes(digest, "little")])


def _facet(
    facet: Facet, turns: _Turns, who: int, rules: Rules, rng: np.random.Generator
) -> _Measured:
    own = np.flatnonzero(turns.speaker == who)
    if facet.way == "diversity":
        return _diversity(facet, turns.codes[facet.measure][own], rng)
    if facet.way in ("linear", "exponential"):
        return _progression(facet, turns, own, rng)
    if facet.way == "stability":
        # A speaker's turn and their own turn before it.
        first, second = own[:-1], own[1:]
        if not rules.across_sessions:
            inside = turns.session[first] == turns.session[second]
            first, second = first[inside], second[inside]
        none = "fewer than two turns" if len(own) < 2 else "no session with two turns"
        return _agreement(facet, turns.codes[facet.measure], first, second, none, rng)
    if facet.way == "alignment":
        if rules.pairing == "kth":
            partner = kth_of_others(turns.session, turns.speaker, who)[own]
        else:
            partner = latest_of_others(turns.session, turns.speaker)[own]
            if rules.pairing == "directly":
                partner = np.where(partner == own - 1, partner, -1)
        met = partner >= 0
        none = "no turn answers another speaker"
        codes = turns.codes[facet.measure]
        alone = codes[own[~met]] if rules.alignment_over == "turns" else None
        return _agreement(facet, codes, partner[met], own[met], none, rng, alone)
    return _mean(facet, turns.scores[facet.measure][own], rng)


def _estimate(
    draws: Array,
    n: int,
    left_out: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    varies: bool = True,
) -> _Measured:
    """The first draw is the value, the others its resamples. One label has no interval.

    Resamples that never differ (every turn scored alike) have none either: an interval without
    width would make a handful of turns look conclusive.
    """
    varies = varies and n > 1 and bool(np.any(draws[1:] != draws[1]))
    low, high = percentile_interval(draws[1:]) if varies else (None, None)
    if low is not None and high is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(float(draws[0]), low, high, n, left_out), draws[1:]


def _no_estimate(reason: str, n: int, left_out: int) -> _Measured:
    return Estimate(None, n=n, left_out=left_out, unscored=reason), None


def _mean(facet: Facet, scores: Array, rng: np.random.Generator) -> _Measured:
    finite = scores[np.isfinite(scores)]
    left_out = scores.size - finite.size
    if not finite.size:
        return _no_estimate(f"no turn has a scored {facet.measure}", 0, left_out)
    if facet.unit == "share":
        return _share(int(finite.sum()), finite.size, left_out, rng)
    return _estimate(draw_means(finite, RESAMPLES, rng), finite.size, left_out)


def _share(hits: int, n: int, left_out: int, rng: np.random.Generator) -> _Measured:
    # Drawing yes and no with replacement is drawing from a binomial.
    draws: Array = np.r_[hits, rng.binomial(n, hits / n, RESAMPLES)] / n
    estimate, resamples = _estimate(draws, n, left_out)
    if n > 1 and hits in (0, n):
        # None or all of them: nothing else can be drawn, but another turn might differ.
        low, high = wilson([1.0] * hits + [0.0] * (n - hits))
        estimate = replace(estimate, low=low, high=high)
    return estimate, resamples


def _diversity(facet: Facet, codes: Whole, rng: np.random.Generator) -> _Measured:
    labels = codes[codes >= 0]
    left_out = codes.size - labels.size
    if not labels.size:
        return _no_estimate(f"no turn has a scored {facet.measure}", 0, left_out)
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    draws = entropy(draw_counts(counts, RESAMPLES, rng))
    # A resample misses rare labels, so its entropy is too small on average; without this
    # the value could lie above its own interval.
    draws[1:] += draws[0] - draws[1:].mean()
    most = math.log2(max(len(WORDS[facet.measure]), counts.size))
    return _estimate(draws, labels.size, left_out, (0.0, most))


def _agreement(
    facet: Facet,
    codes: Whole,
    first: Whole,
    second: Whole,
    none: str,
    rng: np.random.Generator,
    alone: Whole | None = None,
) -> _Measured:
    """The share of pairs with the same label; `alone` are labels that count without a pair."""
    if not first.size:
        return _no_estimate(none, 0, 0)
    first_codes, second_codes = codes[first], codes[second]
    scored = (first_codes >= 0) & (second_codes >= 0)
    n = int(scored.sum())
    left_out = first.size - n
    if not n:
        return _no_estimate(f"no pair of turns has a scored {facet.measure}", 0, left_out)
    hits = int((first_codes == second_codes)[scored].sum())
    if alone is not None:
        n += int((alone >= 0).sum())
        left_out += int((alone < 0).sum())
    return _share(hits, n, left_out, rng)


def _progression(facet: Facet, turns: _Turns, own: Whole, rng: np.random.Generator) -> _Measured:
    x, groups = _by_session(turns.session[own], turns.scores[facet.measure][own])
    n = sum(group.size for group in groups)
    left_out = own.size - n
    if len(np.unique(turns.session[own])) < 2:
        return _no_estimate("speaks in one session only", n, left_out)
    if len(groups) < 2:
        return _no_estimate(f"fewer than two sessions have a scored {facet.measure}", n, left_out)
    # One turn per session can only be drawn again as itself: that is no interval.
    varies = n > len(groups)
    y = np.stack([draw_means(group, RESAMPLES, rng) for group in groups], axis=1)
    if facet.way == "linear":
        return _estimate(slopes(x, y), n, left_out, varies=varies)
    fit = fit_exponential(x, y[0])
    if fit is None:
        return _no_estimate("no exponential curve settles on the session means", n, left_out)
    return _estimate(np.r_[fit[1], exponents(x, y[1:], fit)], n, left_out, varies=varies)


def _by_session(session: Whole, scores: Array) -> tuple[Array, list[Array]]:
    """x = 1..m over the sessions in which the speaker speaks, and the scores of each.

    A session without a score is left out and keeps its place on the axis.
    """
    starts = np.flatnonzero(np.r_[True, session[1:] != session[:-1]])[1:]
    groups = [group[np.isfinite(group)] for group in np.split(scores, starts)]
    x = np.array([place for place, group in enumerate(groups, 1) if group.size], dtype=np.float64)
    return x, [group for group in groups if group.size]


def session_means(labels: pl.DataFrame) -> pl.DataFrame:
    """The points that intimacy's course is fitted to: one row per chat, speaker and session.

    `order` is x, `intimacy` is y, `n` the turns with a score.
    """
    refuse_missing(labels, _NEEDED, "labels")
    return (
        labels.sort("turn", maintain_order=True)
        .group_by("chat", "speaker", "session", maintain_order=True)
        .agg(
            pl.col("intimacy").cast(pl.Float64).fill_nan(None).mean(),
            pl.col("intimacy").fill_nan(None).count().alias("n"),
        )
        .with_columns(pl.int_range(1, pl.len() + 1).over("chat", "speaker").alias("order"))
        .filter(pl.col("n") > 0)
        .select("chat", "speaker", "session", "order", "intimacy", "n")
    )


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
    every = list(measured)
    chats = grouped((who.speaker.speaker, who) for who in every)
    facets = zip(*(who.speaker.facets for who in every), strict=True)
    values = ([each.value for each in own if each.value is not None] for own in facets)
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
