"""Two corpora facet by facet (§5.2, Figures 2 and 6), and what that says of three findings.

    found = compare(human, simulated, names=("REALTALK", "LoCoMo"))
    found["empathy"].delta        → Estimate(value=-0.84, low=-1.0, high=-0.5, n=20): of the chats
    found["empathy"].p_shift      → 0.0003 (Mann-Whitney over chats), p_shift_holm 0.003
    found["empathy"].ratio        → Estimate(value=4.2, ...): variance of the first to the second
    found.findings[1].verdict     → "holds"

The first corpus is the human one in the paper's findings. A value is one speaker in one chat.
The two speakers of a chat talk to each other and are alike, so chats are what is counted in every
test and drawn for every interval: a chat stands for the mean of its speakers. Chats that share a
person still count as independent, and p values are a little too small for that.

    chats = by_chat(known_values(speakers, "empathy"))
    → [[0.4, 0.7], [1.1, 0.9], ...]        of each chat the values of its speakers
    t_test(chats, others)                  → 0.03, over the chats' means
    drawn_interval([chats], mean_of)       → (0.5, 0.9), drawing whole chats

The speakers of a chat talk to each other and are alike: counted one by one they would make chance
look smaller than it is.

    comparison_rows(compare(human, llm))    → Grid: one row per facet, both means, effect, p values
    finding_rows(compare(human, llm))       → Grid: the paper's findings and whether they hold

Chats are what is counted, each as the mean of its speakers. A facet whose labels are below usable
in the language of either side says so in its heading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from realtalk.cells import Grid
from realtalk.ei.encoder_choice import is_usable
from realtalk.ei.languages import Languages, languages_json, other_languages
from realtalk.ei.values import (
    FACETS,
    Facet,
    People,
    SpeakerFacets,
    facet_number,
    interval_method,
    interval_text,
    known_values,
    speaker_languages,
)
from realtalk.evals.tables import figure
from realtalk.grouping import grouped
from realtalk.metrics.statistics import (
    Array,
    Estimate,
    Interval,
    bootstrap_interval,
    cliffs_delta,
    holm,
    quotient,
)
from realtalk.text.languages import SOME

Chats: TypeAlias = Sequence[Sequence[float]]  # of each chat the values of its speakers


def by_chat(values: Iterable[tuple[SpeakerFacets, float]]) -> Chats:
    """What the speakers of each chat have."""
    return list(grouped((who.chat, value) for who, value in values).values())


def chat_means(chats: Chats) -> Array:
    """What every chat stands for in a test."""
    return np.array([np.mean(values) for values in chats])


def t_test(a: Chats, b: Chats) -> float | None:
    """Of distances from the corpus median this is Brown and Forsythe's test: F is t squared."""
    from scipy import stats

    sides = [chat_means(a), chat_means(b)]
    freedom = len(a) + len(b) - 2
    around = sum(float(((means - means.mean()) ** 2).sum()) for means in sides)
    # Equal values leave only what rounding makes of them, and no test.
    if around <= 1e-12 * sum(float((means**2).sum()) for means in sides):
        return None
    error = math.sqrt(around / freedom * (1 / len(a) + 1 / len(b)))
    return float(2 * stats.t.sf(abs(sides[0].mean() - sides[1].mean()) / error, freedom))


def drawn_interval(sides: Sequence[Chats], figure: Callable[..., Array]) -> Interval:
    """The interval of a figure of the sums (n, x, x²) of each side, drawing whole chats."""
    sums = [np.array([(len(v), np.sum(v), np.dot(v, v)) for v in side]) for side in sides]

    def figure_of(*places: Array, axis: int = -1) -> Array:
        # Counted from the end, the sums of a chat come behind the axis of the drawn chats.
        pairs = zip(sums, places, strict=True)
        picked = (own[at.astype(int)].sum(axis=axis - 1) for own, at in pairs)
        return figure(*picked)

    places = [np.arange(len(side), dtype=np.float64) for side in sides]
    return bootstrap_interval(places, figure_of)


def mean_of(sums: Array) -> Array:
    """A figure of sums: the mean over speakers."""
    mean: Array = sums[..., 1] / sums[..., 0]
    return mean


def variance_of(sums: Array) -> Array:
    """A figure of sums: the variance over speakers."""
    n, total, squares = np.moveaxis(sums, -1, 0)
    around = squares - total**2 / n
    # Equal values leave only what rounding makes of them.
    variance: Array = np.where(around > 1e-12 * squares, around, 0.0) / (n - 1)
    return variance


_ALPHA = 0.05
_CLAIMED = ("emotion_diversity", "sentiment_diversity", "empathy")
_FEWEST = 3  # chats on each side below which nothing is tested
FindingVerdict: TypeAlias = Literal["holds", "does not hold", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Spread:
    """One facet over the speakers of one corpus, and over how many chats."""

    n: int
    chats: int
    left_out: int
    mean: float | None = None
    median: float | None = None
    variance: float | None = None
    low: float | None = None  # the interval of the mean, which draws whole chats
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FacetComparison:
    """One facet in both corpora. Positive `delta` and `ratio` above one: the first has more."""

    facet: str
    first: Spread
    second: Spread
    delta: Estimate  # Cliff's delta of the chats, the rank-biserial correlation
    ratio: Estimate  # of the variances
    p_shift: float | None = None  # Mann-Whitney U over chats
    p_shift_holm: float | None = None
    p_spread: float | None = None  # Brown-Forsythe over chats
    p_spread_holm: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "cliffs_delta": self.delta.to_json(),
            "mann_whitney_p": self.p_shift,
            "mann_whitney_p_holm": self.p_shift_holm,
            "variance_ratio": self.ratio.to_json(),
            "brown_forsythe_p": self.p_spread,
            "brown_forsythe_p_holm": self.p_spread_holm,
        }


@dataclass(frozen=True, slots=True)
class PaperFinding:
    """One of the paper's findings, whether it holds here, and the numbers behind that."""

    claim: str
    verdict: FindingVerdict
    because: str


@dataclass(frozen=True, slots=True)
class CorpusComparison:
    """Two corpora over all facets."""

    names: tuple[str, str]
    speakers: tuple[int, int]
    facets: tuple[FacetComparison, ...]
    findings: tuple[PaperFinding, ...]
    languages: tuple[tuple[Languages, ...], tuple[Languages, ...]] = ((), ())  # of either side
    protocols: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()  # what is to be said of labels that were not made alike
    unusable: frozenset[str] = frozenset()  # facets of which nothing is claimed in a sentence

    def __getitem__(self, facet: str) -> FacetComparison:
        return self.facets[list(FACETS).index(facet)]

    def to_json(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "speakers": list(self.speakers),
            "interval_method": interval_method("percentile bootstrap over chats"),
            "protocol": list(self.protocols),
            "languages": dict(
                zip(("first", "second"), map(languages_json, self.languages), strict=True)
            ),
            "facets": {comparison.facet: comparison.to_json() for comparison in self.facets},
            "findings": [asdict(finding) for finding in self.findings],
            "doubts": list(self.doubts),
            "below_usable": [name for name in FACETS if name in self.unusable],
        }


def compare(
    first: People,
    second: People,
    names: tuple[str, str] = ("first", "second"),
) -> CorpusComparison:
    """Every facet of the first corpus against the second's."""
    comparisons = [_facet(name, first, second) for name in FACETS]
    shifts = holm([comparison.p_shift for comparison in comparisons])
    spreads = holm([comparison.p_spread for comparison in comparisons])
    facets = tuple(
        replace(comparison, p_shift_holm=shift, p_spread_holm=spread)
        for comparison, shift, spread in zip(comparisons, shifts, spreads, strict=True)
    )
    # The claims were made before looking here: only their own three tests are weighed together.
    claimed = [comparison for comparison in facets if comparison.facet in _CLAIMED]
    *diverse, empathic = zip(
        claimed, holm([comparison.p_shift for comparison in claimed]), strict=True
    )
    first_name, second_name = names
    more_diverse = f"{first_name} is more diverse in emotion and sentiment than {second_name}"
    more_empathic = f"{second_name} is more empathic than {first_name}"
    unusable = _unusable(first, second)
    findings = (
        (_higher(more_diverse, diverse, sign=1), _CLAIMED[:2]),
        (_higher(more_empathic, [empathic], sign=-1), _CLAIMED[2:]),
        (_more_varied(facets, first, second, names), FACETS),
    )
    spoken = (speaker_languages(first), speaker_languages(second))
    return CorpusComparison(
        names,
        (len(first), len(second)),
        facets,
        tuple(_if_usable(finding, unusable.intersection(of)) for finding, of in findings),
        spoken,
        tuple(sorted({who.protocol for who in (*first, *second)})),
        (*_doubts(first, second), *other_languages(*zip(names, spoken, strict=True))),
        unusable,
    )


def _unusable(first: People, second: People) -> frozenset[str]:
    """Facets of which too many speakers of a side have labels below usable."""
    return frozenset(
        name
        for name in FACETS
        for side in (first, second)
        if sum(not is_usable(who.grade(name)) for who in side) > SOME * len(side)
    )


def _if_usable(finding: PaperFinding, below: Collection[str]) -> PaperFinding:
    """The finding, or that it cannot be told from these labels."""
    if not below:
        return finding
    titles = ", ".join(FACETS[name].title.lower() for name in FACETS if name in below)
    why = f"labels below usable in these languages ({titles}); {finding.because}"
    return replace(finding, verdict="cannot be told", because=why)


def _doubts(first: People, second: People) -> tuple[str, ...]:
    a, b = (
        ", ".join(sorted({f"{who.measure} {who.version}" for who in side}))
        for side in (first, second)
    )
    if not a or not b or a == b:
        return ()
    return (f"labelled by {a} and by {b}: what differs may be the labellers and not the speakers",)


def _facet(name: str, first: People, second: People) -> FacetComparison:
    from scipy import stats

    a, b = (by_chat(known_values(side, name)) for side in (first, second))
    spreads = (_spread(a, len(first)), _spread(b, len(second)))
    left_out = spreads[0].left_out + spreads[1].left_out
    if min(len(a), len(b)) < _FEWEST:
        reason = f"fewer than {_FEWEST} chats on one side"
        nothing = Estimate(None, n=len(a) + len(b), left_out=left_out, unscored=reason)
        return FacetComparison(name, *spreads, nothing, nothing)
    means = chat_means(a), chat_means(b)
    middles = (float(np.median(np.concatenate(side))) for side in (a, b))
    away = (
        [[abs(value - middle) for value in values] for values in side]
        for side, middle in zip((a, b), middles, strict=True)
    )
    return FacetComparison(
        name,
        *spreads,
        replace(cliffs_delta(*means), left_out=left_out),
        _ratio(a, b, left_out),
        p_shift=float(stats.mannwhitneyu(*means).pvalue),
        p_spread=t_test(*away),
    )


def _spread(chats: Chats, speakers: int) -> Spread:
    values = [value for chat in chats for value in chat]
    n, left_out = len(values), speakers - len(values)
    if not values:
        return Spread(n, 0, left_out)
    # Two chats drawn again say little of how far apart chats are.
    low, high = drawn_interval([chats], mean_of) if len(chats) >= _FEWEST else (None, None)
    variance = float(np.var(values, ddof=1)) if n > 1 else None
    mean, median = float(np.mean(values)), float(np.median(values))
    return Spread(n, len(chats), left_out, mean, median, variance, low, high)


def _ratio(a: Chats, b: Chats, left_out: int) -> Estimate:
    def ratio(one: Array, other: Array) -> Array:
        return quotient(variance_of(one), variance_of(other))

    first_values, second_values = np.concatenate(a), np.concatenate(b)
    n = first_values.size + second_values.size
    if min(first_values.size, second_values.size) < 2 or not np.ptp(second_values):
        reason = "the second side does not vary"
        return Estimate(None, n=n, left_out=left_out, unscored=reason)
    value = float(np.var(first_values, ddof=1) / np.var(second_values, ddof=1))
    return Estimate(value, *drawn_interval((a, b), ratio), n, left_out)


def shown_p(value: float | None) -> str:
    """ "p = .012", as it is printed."""
    if value is None:
        return "p not tested"
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


def _count_text(spread: Spread) -> str:
    return f"n = {spread.n} in {spread.chats} chats"


def _higher(
    claim: str, facets: Sequence[tuple[FacetComparison, float | None]], sign: int
) -> PaperFinding:
    """Holds where every facet differs the claimed way beyond chance; fails where one opposes."""
    numbers, agreed, opposed = [], 0, 0
    for row, p in facets:
        facet = FACETS[row.facet]
        if row.delta.value is None or p is None:
            numbers.append(f"{facet.title.lower()}: {row.delta.unscored}")
            continue
        clear = p < _ALPHA
        agreed += clear and row.delta.value * sign > 0
        opposed += clear and row.delta.value * sign < 0
        numbers.append(
            f"{facet.title.lower()}: means {facet_number(facet, row.first.mean)} "
            f"({_count_text(row.first)}) and {facet_number(facet, row.second.mean)} "
            f"({_count_text(row.second)}), Cliff's delta of the chats {figure(row.delta, 2)}, "
            f"{shown_p(p)} (Mann-Whitney over chats, Holm over the claims)"
        )
    verdict: FindingVerdict = "cannot be told"
    if opposed:
        verdict = "does not hold"
    elif agreed == len(facets):
        verdict = "holds"
    return PaperFinding(claim, verdict, "; ".join(numbers))


def _more_varied(
    facets: Sequence[FacetComparison],
    first: People,
    second: People,
    names: tuple[str, str],
) -> PaperFinding:
    """All facets in one test: how far each speaker lies from the median of their own corpus.

    This is Brown and Forsythe's test on the mean deviation over facets, each facet in units
    of its spread over both corpora, so that eleven dependent tests need not be weighed up. Chats
    are counted, each as the mean of its speakers' deviations.
    """
    claim = f"{names[0]}'s speakers are more varied than {names[1]}'s"
    tested = [
        (comparison, comparison.ratio.value > 1)
        for comparison in facets
        if comparison.ratio.value is not None
    ]
    clear = [
        wider
        for comparison, wider in tested
        if comparison.p_spread_holm is not None and comparison.p_spread_holm < _ALPHA
    ]
    numbers = (
        f"larger variance in {sum(wider for _, wider in tested)} of {len(tested)} facets "
        f"({clear.count(True)} beyond chance by Brown-Forsythe with Holm, "
        f"{clear.count(False)} the other way)"
    )
    a, b = map(by_chat, _deviations(first, second))
    few = min(len(a), len(b)) < _FEWEST
    if few or max(np.ptp(chat_means(side)) for side in (a, b)) < 1e-9:
        reason = f"fewer than {_FEWEST} chats on one side, or no facet that varies"
        return PaperFinding(claim, "cannot be told", f"{numbers}; {reason}" if tested else reason)
    p = t_test(a, b)
    first_mean, second_mean = (float(np.mean(np.concatenate(side))) for side in (a, b))
    first_n, second_n = (f"n = {sum(map(len, side))} in {len(side)} chats" for side in (a, b))
    interval = drawn_interval((a, b), lambda one, other: mean_of(one) - mean_of(other))
    numbers += (
        f"; mean distance from the corpus median {first_mean:.2f} ({first_n}) against "
        f"{second_mean:.2f} ({second_n}) standard deviations, difference "
        f"{figure(Estimate(first_mean - second_mean, *interval), 2)}, {shown_p(p)} (over chats)"
    )
    verdict: FindingVerdict = "cannot be told"
    if p is not None and p < _ALPHA:
        verdict = "holds" if first_mean > second_mean else "does not hold"
    return PaperFinding(claim, verdict, numbers)


def _deviations(first: People, second: People) -> Iterator[list[tuple[SpeakerFacets, float]]]:
    """Of either side's speakers, over the facets that both sides have; of none who has none."""
    sides = (first, second)
    tables = [
        np.array([[estimate.value for estimate in who.facets] for who in side], np.float64).reshape(
            len(side), len(FACETS)
        )
        for side in sides
    ]
    both = np.vstack(tables)
    used = [
        place
        for place in range(len(FACETS))
        if all(np.isfinite(table[:, place]).any() for table in tables)
        and np.nanstd(both[:, place]) > 0
    ]
    if not used:
        return iter(([], []))
    widths = np.nanstd(both[:, used], axis=0)
    distances = (
        np.abs(table[:, used] - np.nanmedian(table[:, used], axis=0)) / widths for table in tables
    )
    return (
        [(who, float(np.nanmean(row))) for who, row in pairs if np.isfinite(row).any()]
        for pairs in map(zip, sides, distances)
    )


def comparison_rows(comparison: CorpusComparison) -> Grid:
    """One row per facet: both means with intervals, effect, spread and their corrected p values."""
    first_name, second_name = comparison.names
    headings = [
        "facet",
        f"{first_name}: mean",
        f"{second_name}: mean",
        "chats",
        "Cliff's delta",
        "Mann-Whitney p (Holm)",
        "variance ratio",
        "Brown-Forsythe p (Holm)",
    ]

    def mean(facet: Facet, spread: Spread) -> str:
        return interval_text(facet, Estimate(spread.mean, spread.low, spread.high))

    return Grid(
        headings,
        [
            [
                facet.heading + " (below usable)" * (facet.name in comparison.unusable),
                mean(facet, row.first),
                mean(facet, row.second),
                f"{row.first.chats} / {row.second.chats}",
                figure(row.delta, 2),
                shown_p(row.p_shift_holm).removeprefix("p "),
                figure(row.ratio, 2),
                shown_p(row.p_spread_holm).removeprefix("p "),
            ]
            for facet, row in zip(FACETS.values(), comparison.facets, strict=True)
        ],
    )


def finding_rows(comparison: CorpusComparison) -> Grid:
    """The paper's three findings: the claim in these corpora's names, the verdict, the numbers."""
    return Grid(
        ["finding", "verdict", "because"],
        [[finding.claim, finding.verdict, finding.because] for finding in comparison.findings],
    )
