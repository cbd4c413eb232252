"""EI labels → speakers in every reading → rows of Figures 1, 2, 3 and 6, and of §4.1.

    readings = measure(labels)             → Readings({"released": ..., "turns": ..., ...})
    speaker_rows(readings, simulated)[0]   → ResultRow("Figure 1", "people build intimacy …", …)

Table 7 was made from single messages (*released*), though §4.1 joins consecutive messages
(*turns*): what is said of both corpora is tested in both units, by chats. *printed* and *printed
turns* are the two with intimacy on the scale that comes nearest to the paper's tables
(`intimacy`), for what is set beside its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np
import polars as pl

from realtalk.ei.comparison import CorpusComparison, compare
from realtalk.ei.speakers import (
    ResampledFacets,
    SpeakerConsistency,
    consistency_of,
    measure_speakers,
    session_means,
)
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.evals.tables import p_value
from realtalk.metrics.statistics import Array, bootstrap_interval, grouped_changes, holm, ratio
from realtalk.persona.choosing import TABLE_8
from research.papers.intimacy import as_printed
from research.papers.published import CIRCLES, TABLE_7, SpeakerKey, printed_column
from research.papers.rule import (
    ALPHA,
    Effect,
    Outcome,
    ResultRow,
    column_row,
    compare_numbers,
    compare_sentence,
    correlation,
    group_means,
    not_comparable,
    still_dummy,
)

READINGS = {"released": "messages", "turns": "turns"}  # protocol: what is labelled
PRINTED, PRINTED_TURNS = "printed", "printed turns"
_INTIMACY = ("intimacy_linear", "intimacy_exponential")


@dataclass(frozen=True)
class Readings:
    """The speakers of one corpus in every reading, with the resamples of their facets."""

    measured: Mapping[str, tuple[ResampledFacets, ...]]  # by protocol, PRINTED and PRINTED_TURNS
    labels: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # by unit

    def speakers(self, protocol: str) -> tuple[SpeakerFacets, ...]:
        return tuple(speaker.speaker for speaker in self.measured[protocol])

    def consistency(self, protocol: str) -> tuple[SpeakerConsistency, ...]:
        return consistency_of(self.measured[protocol])

    def column(self, facet: str, protocol: str = PRINTED) -> dict[SpeakerKey, float]:
        """A facet by chat and speaker, as Table 7 prints it."""
        scale = FACETS[facet].scale
        return {
            (who.chat, who.speaker): value
            for who in self.speakers(protocol)
            if (value := who[facet].times(scale).value) is not None
        }


def measure(labels: Mapping[str, pl.DataFrame]) -> Readings:
    """Every reading of labels by unit."""
    by_protocol = {
        protocol: tuple(measure_speakers(labels[unit], protocol))
        for protocol, unit in READINGS.items()
    }
    for name, protocol in ((PRINTED, "released"), (PRINTED_TURNS, "turns")):
        rescaled = as_printed(labels[READINGS[protocol]])
        by_protocol[name] = tuple(measure_speakers(rescaled, protocol))
    return Readings(by_protocol, labels)


def speaker_rows(readings: Readings, simulated: Readings | None) -> list[ResultRow]:
    """What the paper says of people beside simulated speakers, and of a person in two chats."""
    return [
        *figure_1_rows(readings, simulated),
        *figure_2_rows(readings, simulated),
        *figure_3_rows(readings),
        _unit(readings),
    ]


def figure_1_rows(readings: Readings, simulated: Readings | None) -> Iterator[ResultRow]:
    """People's slopes over sessions, and where both corpora begin."""
    slopes = {unit: _slopes(readings, protocol) for protocol, unit in READINGS.items()}
    tested = {unit: _above_zero(own) for unit, own in slopes.items()}
    corrected = holm([p for _, p in tested.values()])
    effects, parts = [], []
    for (unit, (mean, _)), p in zip(tested.items(), corrected, strict=True):
        rise = sum(slope > 0 for _, slope in slopes[unit])
        effects.append(Effect(mean, clear=p is not None and p < ALPHA))
        parts.append(
            f"{unit}: {1000 * mean:+.2f} thousandths a session, {rise} of {len(slopes[unit])} "
            f"speakers rise (p {p_value(p) or '–'})"
        )
    printed = printed_column("intimacy_linear")
    text = "; ".join(parts)
    own = f"Table 7's own column rises for {int((printed > 0).sum())} of {printed.size}"
    text += f"; by circle of friends {_by_circle(readings)}"
    yield ResultRow(
        "Introduction, Figure 1",
        "people build intimacy over time",
        compare_sentence(effects, f"{text}. {own}"),
        still_dummy("no slope"),
    )
    where, says = "Figure 1, the beginning", "simulated chats begin at a high level of intimacy"
    if simulated is None:
        yield not_comparable(where, says, "LoCoMo is not here")
        return
    yield _compare_corpora(where, says, _first_sessions, simulated, readings, "first session")


def _by_circle(readings: Readings) -> str:
    """Messages' mean slopes: people of one circle are alike, and one circle may carry them all."""
    slopes: dict[int, list[float]] = {}
    for who in readings.speakers("released"):
        circle, value = CIRCLES.get(who.speaker.casefold()), who["intimacy_linear"].value
        if circle is not None and value is not None:
            slopes.setdefault(circle, []).append(value)
    return ", ".join(f"{1000 * fmean(own):+.2f}" for _, own in sorted(slopes.items()))


def _slopes(readings: Readings, protocol: str) -> list[tuple[str, float]]:
    return [
        (who.chat, value)
        for who in readings.speakers(protocol)
        if (value := who["intimacy_linear"].value) is not None
    ]


def _above_zero(slopes: Sequence[tuple[str, float]]) -> tuple[float, float | None]:
    """The mean slope, and p by turning whole chats around."""
    after = np.array([[slope, 1.0] for _, slope in slopes])
    before = after * [0.0, 1.0]
    change = grouped_changes(before, after, [chat for chat, _ in slopes], {"slope": ratio})["slope"]
    return change.difference.value or 0.0, change.p


def _first_sessions(readings: Readings, unit: str) -> list[float]:
    """By chat, the mean intimacy of its speakers' first sessions."""
    means = session_means(readings.labels[unit]).filter(pl.col("order") == 1)
    return (
        means.group_by("chat", maintain_order=True)
        .agg(pl.col("intimacy").mean())["intimacy"]
        .to_list()
    )


def _compare_corpora(
    where: str,
    says: str,
    numbers: Callable[[Readings, str], list[float]],
    more: Readings,
    less: Readings,
    what: str,
) -> ResultRow:
    """Whether the chats of one corpus have more, in both units: Mann-Whitney, Holm over both."""
    from scipy import stats

    sides = {unit: (numbers(more, unit), numbers(less, unit)) for unit in READINGS.values()}
    corrected = holm([float(stats.mannwhitneyu(*pair).pvalue) for pair in sides.values()])
    effects, parts = [], []
    for (unit, pair), p in zip(sides.items(), corrected, strict=True):
        high, low = map(fmean, pair)
        effects.append(Effect(high - low, clear=p is not None and p < ALPHA))
        parts.append(f"{unit}: {what} {high:.3f}, people {low:.3f} (p {p_value(p) or '–'})")
    return ResultRow(where, says, compare_sentence(effects, "; ".join(parts)), still_dummy())


# §5.2's findings on the level of facets: the paper's sentence, its facets, and who has more.
_FINDINGS = (
    (
        "Figure 2, diversity",
        "people are more diverse in emotion and sentiment",
        ("emotion_diversity", "sentiment_diversity"),
        1,
    ),
    ("Figure 2, empathy", "models are more empathic than people", ("empathy",), -1),
)
_VARIANCE = ("Figure 2, variance", "people vary more than models")


def figure_2_rows(readings: Readings, simulated: Readings | None) -> Iterator[ResultRow]:
    """§5.2's three findings, each in both units, and Figure 6."""
    if simulated is None:
        for where, says in (*(finding[:2] for finding in _FINDINGS), _VARIANCE):
            yield not_comparable(where, says, "LoCoMo is not here")
        return
    comparisons = {
        unit: compare(readings.speakers(protocol), simulated.speakers(protocol))
        for protocol, unit in READINGS.items()
    }
    for where, says, facets, sign in _FINDINGS:
        effects, parts = [], []
        for unit, comparison in comparisons.items():
            numbers = _deltas(comparison)
            effects += [
                Effect(sign * numbers[name][0], numbers[name][1] < ALPHA) for name in facets
            ]
            text = " and ".join(
                f"{numbers[name][0]:+.2f} (p {numbers[name][1]:.3f})" for name in facets
            )
            parts.append(f"{unit}: delta {text}")
        yield ResultRow(where, says, compare_sentence(effects, "; ".join(parts)), still_dummy())
    effects, parts = [], []
    for unit, comparison in comparisons.items():
        ratios = [facet.ratio.value for facet in comparison.facets if facet.ratio.value is not None]
        wider = sum(ratio > 1 for ratio in ratios)
        verdict = comparison.findings[-1].verdict
        toward = {"holds": 1.0, "fails": -1.0}.get(verdict, wider - len(ratios) / 2)
        effects.append(Effect(toward, clear=verdict != "cannot be told"))
        chance = "beyond chance" if effects[-1].clear else "not beyond chance"
        parts.append(f"{unit}: larger variance in {wider} of {len(ratios)} facets, {chance}")
    yield ResultRow(*_VARIANCE, compare_sentence(effects, "; ".join(parts)), still_dummy())
    reason = "drawn without numbers; Table 7 has REALTALK's, `realtalk ei --figures` draws ours"
    yield not_comparable("Figure 6", "eleven facets of both corpora", reason)


def _deltas(comparison: CorpusComparison) -> dict[str, tuple[float, float]]:
    """Cliff's delta of the chats and p, corrected for the three facets that §5.2 names."""
    names = [name for _, _, facets, _ in _FINDINGS for name in facets]
    facets = {facet.facet: facet for facet in comparison.facets if facet.facet in names}
    corrected = holm([facets[name].p_shift for name in names])
    return {
        name: (facets[name].delta.value or 0.0, 1.0 if p is None else p)
        for name, p in zip(names, corrected, strict=True)
    }


def figure_3_rows(readings: Readings) -> Iterator[ResultRow]:
    """The same person in two chats; the paper's numbers are Table 8's column."""
    pairs = {pair.speaker.casefold(): pair for pair in readings.consistency(PRINTED)}
    known = [row for row in TABLE_8 if row.speaker.casefold() in pairs]
    where, says = "Table 8, Figure 3", "how far each speaker differs between two chats"
    if len(known) < len(TABLE_8):
        yield not_comparable(where, says, f"{len(known)} of its {len(TABLE_8)} speakers are here")
        return
    names = [row.speaker.casefold() for row in known]
    yield column_row(
        where,
        says,
        [row.consistency for row in known],
        [pairs[name].overall.value or 0.0 for name in names],
        [str(CIRCLES[name]) for name in names],
    )
    gaps = np.array([pairs[name].scaled for name in names], dtype=np.float64)
    printed = np.array([[*row.values()] for row in TABLE_7.values()])
    means = np.stack(
        [group_means(column, [chat for chat, _ in TABLE_7]) for column in printed.T], axis=1
    )
    yield ResultRow(
        "§5.3, Figure 3",
        "intimacy progression varies most between a speaker's chats",
        _varies_most(gaps),
        _varies_most(_printed_gaps(means)),
    )
    yield ResultRow(
        "§5.3 beside Table 7",
        "intimacy progression varies most between a speaker's chats",
        _varies_most(_printed_gaps(printed)),
    )


def _printed_gaps(table: Array) -> Array:
    """Speakers with two printed chats by facets: the difference, as a part of the facet's range."""
    places: dict[str, list[int]] = {}
    for at, (_, speaker) in enumerate(TABLE_7):
        places.setdefault(speaker.casefold(), []).append(at)
    pairs = [own for own in places.values() if len(own) == 2]
    gaps: Array = np.array([np.abs(table[a] - table[b]) for a, b in pairs]) / np.ptp(table, axis=0)
    return gaps


def _varies_most(gaps: Array) -> Outcome:
    """Whether an intimacy facet leads all others, speakers drawn with replacement."""
    names = list(FACETS)
    ours = [names.index(name) for name in _INTIMACY]
    others = [place for place in range(len(names)) if place not in ours]

    def lead(places: Array, axis: int = -1) -> Array:
        means = gaps[places.astype(int)].mean(axis=axis - 1 if axis < 0 else axis)
        difference: Array = means[..., ours].max(axis=-1) - means[..., others].max(axis=-1)
        return difference

    everybody = np.arange(len(gaps), dtype=np.float64)
    low, high = bootstrap_interval([everybody], lead)
    means = dict(zip(names, gaps.mean(axis=0), strict=True))
    first = sorted(names, key=lambda name: -means[name])[:3]
    text = ", ".join(f"{FACETS[name].title.lower()} {means[name]:.2f}" for name in first)
    value = float(lead(everybody))
    clear = low is not None and high is not None and not low <= 0 <= high
    return compare_sentence([Effect(value, clear)], f"{text} of the range ({len(gaps)} speakers)")


def _unit(readings: Readings) -> ResultRow:
    """By our labels: whether Table 7 is of joined turns, as §4.1 has it, or of messages."""
    where, says = "§4.1", "consecutive messages are joined before they are labelled"
    nearer = 0
    for facet in FACETS:
        columns = [readings.column(facet, protocol) for protocol in (PRINTED, PRINTED_TURNS)]
        if not all(key in column for column in columns for key in TABLE_7):
            return not_comparable(where, says, "not all of Table 7's speakers are here")
        messages, turns = (
            correlation(printed_column(facet), np.array([column[key] for key in TABLE_7])) or 0.0
            for column in columns
        )
        nearer += messages > turns
    text = f"Table 7 is nearer to single messages in {nearer} of {len(FACETS)} facets; so is the released code"
    return ResultRow(where, says, compare_numbers([0], [nearer], None, text))
