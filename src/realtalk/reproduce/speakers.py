"""EI labels → Table 7, Figures 2, 3 and 6, and Table 8's column of persona consistency.

    found = measure(labels)          → Readings({"released": ..., "paper": ...}) of REALTALK
    table_7(found).parities[0]       → Parity("Table 7, emotion_diversity", "r ≥ 0.95", ...)
    figure_2(found, simulated)       the findings of §5.2, and the picture

The published labels come from GPT-4o-mini and RoBERTa, ours from the encoder that ships here:
levels differ, so speakers are compared by correlation. Table 7 was made from single messages
(*released*), though §4.1 joins consecutive messages (*paper*): both readings are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from realtalk.facets.comparison import Comparison, compare, comparison_rows, finding_rows
from realtalk.facets.consistency import SpeakerConsistency, consistency_of, consistency_rows
from realtalk.facets.figures import draw_comparison, draw_consistency
from realtalk.facets.speakers import Measured, measure_speakers
from realtalk.facets.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate, pearson
from realtalk.persona.published import TABLE_8
from realtalk.reproduce.published import TABLE_7
from realtalk.reproduce.values import (
    Exhibit,
    Figure,
    Parity,
    Verdict,
    judged,
    not_comparable,
    not_made,
)
from realtalk.stats.values import Grid

__all__ = [
    "AT_LEAST",
    "READINGS",
    "Readings",
    "apart",
    "correlations",
    "figure_2",
    "figure_3",
    "figure_6",
    "measure",
    "table_7",
    "together",
    "told",
]

READINGS = {"released": "messages", "paper": "turns"}  # protocol: what is labelled
# What the labels reach on the eight chats that were never trained on, with room for noise.
AT_LEAST: Mapping[str, float] = {
    **dict.fromkeys(
        ("emotion_diversity", "sentiment_diversity", "grounding_frequency", "emotion_stability"),
        0.95,
    ),
    **dict.fromkeys(("sentiment_stability", "sentiment_alignment", "emotion_alignment"), 0.92),
    "empathy": 0.88,
    "intimacy_linear": 0.70,
}
_NAMES = ("REALTALK", "LoCoMo")


@dataclass(frozen=True)
class Readings:
    """The speakers of one corpus in both readings, with the resamples of their facets."""

    measured: Mapping[str, tuple[Measured, ...]]  # by protocol

    def speakers(self, protocol: str) -> tuple[SpeakerFacets, ...]:
        return tuple(each.speaker for each in self.measured[protocol])

    def consistency(self, protocol: str) -> tuple[SpeakerConsistency, ...]:
        return consistency_of(self.measured[protocol])


def measure(labels: Mapping[str, pl.DataFrame]) -> Readings:
    """Both readings of labels by unit."""
    return Readings(
        {
            protocol: tuple(measure_speakers(labels[unit], protocol))
            for protocol, unit in READINGS.items()
        }
    )


def told(estimate: Estimate, digits: int = 2) -> str:
    """ ".95 [.86, .98]", or why there is none."""
    if estimate.value is None:
        return estimate.unscored or "unscored"
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
    return text


def correlations(speakers: Sequence[SpeakerFacets]) -> dict[str, Estimate]:
    """Pearson's r with Table 7, facet by facet, over its speakers that are here."""
    here = {(who.chat, who.speaker): who for who in speakers}
    known = [key for key in TABLE_7 if key in here]
    return {
        facet: pearson(
            [here[key][facet].value for key in known], [TABLE_7[key][facet] for key in known]
        )
        for facet in FACETS
    }


def table_7(found: Readings) -> Exhibit:
    """Eleven facets of sixteen speakers."""
    title = "Table 7: every speaker's emotional intelligence"
    here = {(who.chat, who.speaker): who for who in found.speakers("released")}
    figures = tuple(
        _figure(key, facet, here[key][facet]) for key in TABLE_7 if key in here for facet in FACETS
    )
    if not figures:
        return Exhibit("table-7", title, not_made("none of its speakers is here"))
    reached = {protocol: correlations(found.speakers(protocol)) for protocol in READINGS}
    alone, joined = reached["released"], reached["paper"]
    complete = len(figures) == len(TABLE_7) * len(FACETS)
    parities = tuple(
        Parity(
            f"Table 7, {facet}",
            f"r ≥ {least:.2f}",
            f"r = {told(alone[facet])}",
            (alone[facet].value or 0.0) >= least if complete else None,
        )
        for facet, least in AT_LEAST.items()
    )
    grid = Grid(
        ["facet", "r, messages", "r, joined turns", "speakers", "has to reach"],
        [
            [
                *(FACETS[name].title, told(alone[name]), told(joined[name]), alone[name].n),
                f"{AT_LEAST[name]:.2f}" if name in AT_LEAST else None,
            ]
            for name in FACETS
        ],
    )
    values = [r.value for r in alone.values() if r.value is not None]
    verdict = (
        Verdict(
            "correlated",
            f"r = {min(values):.2f} to {max(values):.2f} over {alone['empathy'].n} speakers, "
            f"{sum(r >= 0.9 for r in values)} of {len(values)} facets at .90 or more",
        )
        if values
        else not_comparable("fewer than three of its speakers are here")
    )
    notes = (
        "labels by our encoder, single messages, as the published figures were made; GPT-4o-mini "
        "finds more empathy and grounding, so levels differ and the order of speakers counts",
        "the paper's table leaves out two of its ten chats",
        "intimacy progression is in thousandths a session",
    )
    grids = (("Correlation with the published table [95 %]", grid),)
    return Exhibit("table-7", title, verdict, figures, grids, notes, parities)


def _figure(key: tuple[str, str], name: str, found: Estimate) -> Figure:
    facet = FACETS[name]

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * facet.scale

    return Figure(
        f"{key[1]} in {key[0]}",
        name,
        TABLE_7[key][name],
        scaled(found.value),
        facet.digits,
        scaled(found.low),
        scaled(found.high),
        found.n,
        found.unscored,
    )


def apart(found: Readings) -> tuple[Figure, ...]:
    """Persona consistency of Table 8, speaker by speaker, from single messages."""
    here = {each.speaker.casefold(): each.overall for each in found.consistency("released")}
    made = []
    for row in TABLE_8:
        each = here.get(row.speaker.casefold())
        if each is not None:
            made.append(
                Figure(
                    *(row.speaker, "persona consistency", row.consistency, each.value),
                    digits=2,
                    low=each.low,
                    high=each.high,
                    n=each.n,
                    unscored=each.unscored,
                )
            )
    return tuple(made)


def together(figures: Sequence[Figure], what: str) -> Verdict | None:
    """The verdict of figures that are compared by correlation; None where there is none."""
    r = pearson([each.measured for each in figures], [each.published for each in figures])
    if r.value is None:
        return None
    line = f"r = {told(r)} {what}, {r.n} speakers"
    if r.low is not None and r.low > 0:
        return Verdict("correlated", line)
    return Verdict("differs", f"{line}: not beyond chance")


def figure_2(found: Readings, simulated: Readings | None) -> Exhibit:
    """People beside simulated speakers: six facets, and the three findings of §5.2."""
    title = "Figure 2: people beside simulated speakers"
    if simulated is None:
        return Exhibit("figure-2", title, not_made("LoCoMo is not here"))
    made = {name: _compared(found, simulated, name) for name in READINGS}
    findings = made["released"].findings
    held = sum(finding.verdict == "holds" for finding in findings)
    other = sum(finding.verdict == "holds" for finding in made["paper"].findings)
    grids = tuple(
        (f"What §5.2 finds, from {unit}", finding_rows(made[protocol]))
        for protocol, unit in READINGS.items()
    )
    parities = tuple(
        Parity(f"Figure 2, finding {place}", "holds", finding.verdict, finding.verdict == "holds")
        for place, finding in enumerate(findings, 1)
    )
    line = (
        f"{held} of {len(findings)} findings of §5.2 from messages, {other} of {len(findings)} "
        "from joined turns"
    )
    verdict = Verdict("holds" if held == len(findings) else "differs", line)
    notes = ("the paper prints no numbers with the picture; its findings are tested instead",)
    charts = (("figure-2", _picture(made["released"], found, simulated, "comparison")),)
    return Exhibit("figure-2", title, verdict, (), grids, notes, parities, charts)


def _compared(found: Readings, simulated: Readings, protocol: str) -> Comparison:
    return compare(found.speakers(protocol), simulated.speakers(protocol), _NAMES)


def _picture(made: Comparison, found: Readings, simulated: Readings, name: str) -> Any:
    sides = (each.speakers("released") for each in (found, simulated))
    return draw_comparison(made, *sides).charts[name]


def figure_6(found: Readings, simulated: Readings | None) -> Exhibit:
    """All eleven facets of both corpora."""
    title = "Figure 6: people beside simulated speakers, all facets"
    if simulated is None:
        return Exhibit("figure-6", title, not_made("LoCoMo is not here"))
    made = _compared(found, simulated, "released")
    verdict = not_comparable(
        "the paper draws it and prints no numbers; Table 7 holds REALTALK's, Figure 2 what is "
        "found in them"
    )
    grids = (("Facet by facet, from messages", comparison_rows(made)),)
    charts = (("figure-6", _picture(made, found, simulated, "comparison_all")),)
    return Exhibit("figure-6", title, verdict, (), grids, charts=charts)


def figure_3(found: Readings) -> Exhibit:
    """The same person in two chats; the paper's numbers are Table 8's column."""
    title = "Figure 3: the same person in two chats"
    pairs = found.consistency("released")
    if not pairs:
        return Exhibit("figure-3", title, not_made("no speaker is in two chats"))
    figures = apart(found)
    verdict = judged(figures) if figures else not_comparable("its speakers are not here")
    if figures:
        verdict = together(figures, "with Table 8's column") or verdict
    grids = (("Differences, facet by facet", consistency_rows(pairs)),)
    notes = (
        "the picture has no numbers; each speaker's mean over the facets, as a part of each "
        "facet's range, is the column 'persona consistency' of Table 8",
        "the smaller, the more alike a person is in both chats",
    )
    charts = tuple(("figure-3", chart) for chart in draw_consistency(pairs).charts.values())
    return Exhibit("figure-3", title, verdict, figures, grids, notes, charts=charts)
