"""EI labels → speakers in every reading, Figures 2, 3 and 6, and persona consistency.

    readings = measure(labels)       → Readings({"released": ..., "turns": ..., "printed": ...})
    figure_2(readings, simulated)    the findings of §5.2, and the picture
    figure_3(readings)               the same person in two chats, beside Table 8's column

Table 7 was made from single messages (*released*), though §4.1 joins consecutive messages
(*turns*). *printed* and *printed turns* are the two with intimacy on the scale that comes nearest
to the paper's tables (`intimacy`), for what is set beside its figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from realtalk.ei.comparison import CorpusComparison, compare, comparison_rows, finding_rows
from realtalk.ei.consistency import SpeakerConsistency, consistency_of, consistency_rows
from realtalk.ei.figures import draw_comparison, draw_consistency
from realtalk.ei.speakers import ResampledFacets, measure_speakers
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate, pearson
from realtalk.persona.choosing import TABLE_8
from research.papers.intimacy import as_printed
from research.papers.published import TABLE_7
from research.papers.values import (
    Exhibit,
    PaperFigure,
    Parity,
    Verdict,
    estimate_text,
    judged,
)

READINGS = {"released": "messages", "turns": "turns"}  # protocol: what is labelled
PRINTED, PRINTED_TURNS = "printed", "printed turns"
_NAMES = ("REALTALK", "LoCoMo")
_IN_SAMPLE = (
    "the encoder learned from LoCoMo's chats and from two of REALTALK's ten (2 and 6): a part of "
    "what differs may be that it knows the one better than the other"
)


@dataclass(frozen=True)
class Readings:
    """The speakers of one corpus in every reading, with the resamples of their facets."""

    measured: Mapping[str, tuple[ResampledFacets, ...]]  # by protocol, PRINTED and PRINTED_TURNS
    labels: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # by unit

    def speakers(self, protocol: str) -> tuple[SpeakerFacets, ...]:
        return tuple(each.speaker for each in self.measured[protocol])

    def consistency(self, protocol: str) -> tuple[SpeakerConsistency, ...]:
        return consistency_of(self.measured[protocol])


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


def apart(readings: Readings) -> tuple[PaperFigure, ...]:
    """Persona consistency of Table 8, speaker by speaker, from single messages."""
    here = {
        consistency.speaker.casefold(): consistency.overall
        for consistency in readings.consistency(PRINTED)
    }
    return tuple(
        PaperFigure.of(row.speaker, "persona consistency", row.consistency, consistency, 2)
        for row in TABLE_8
        if (consistency := here.get(row.speaker.casefold())) is not None
    )


def together(figures: Sequence[PaperFigure], what: str) -> Verdict | None:
    """The verdict of figures that are compared by correlation; None where there is none."""
    r = pearson([figure.measured for figure in figures], [figure.published for figure in figures])
    if r.value is None:
        return None
    line = f"r = {estimate_text(r)} {what}, {r.n} speakers"
    if r.low is not None and r.low > 0:
        return Verdict("correlated", line)
    return Verdict("differs", f"{line}: not beyond chance")


def figure_2(readings: Readings, simulated: Readings | None) -> Exhibit:
    """People beside simulated speakers: six facets, and the three findings of §5.2."""
    if simulated is None:
        return Exhibit("figure-2", Verdict.not_made("LoCoMo is not here"))
    comparisons = {name: _compared(readings, simulated, name) for name in READINGS}
    held = {
        protocol: {place for place, each in enumerate(found.findings, 1) if each.verdict == "holds"}
        for protocol, found in comparisons.items()
    }
    claims, both = len(comparisons["turns"].findings), held["turns"] & held["released"]
    grids = [
        (f"What §5.2 finds, from {unit}", finding_rows(comparisons[protocol]))
        for protocol, unit in READINGS.items()
    ]
    parities = [
        Parity(
            name=f"Figure 2, finding {place}, {unit}",
            wanted="holds",
            reached=finding.verdict,
            held=finding.verdict == "holds",
        )
        for protocol, unit in READINGS.items()
        for place, finding in enumerate(comparisons[protocol].findings, 1)
    ]
    line = (
        f"{_listed(held['turns'])} of {claims} findings of §5.2 from joined turns, the paper's "
        f"unit, {_listed(held['released'])} from single messages, {len(both)} from both"
    )
    verdict = Verdict("holds" if len(both) == claims else "differs", line)
    notes = (
        "the paper prints no numbers with the picture; its findings are tested instead, by chats: "
        "two speakers of a chat are alike, and chats of a circle of friends still are",
        "single messages set bubbles of REALTALK beside whole turns of LoCoMo, where a turn is one "
        "message; §4.1 joins them, so a finding holds only where it holds by joined turns as well",
        _IN_SAMPLE,
    )
    chart = _picture(comparisons["released"], readings, simulated, "comparison")
    return Exhibit("figure-2", verdict, (), grids, notes, parities, chart)


def _listed(places: Collection[int]) -> str:
    """ "1 (finding 3)", or "0"."""
    if not places:
        return "0"
    named = ", ".join(map(str, sorted(places)))
    return f"{len(places)} (finding{'s' if len(places) > 1 else ''} {named})"


def _compared(readings: Readings, simulated: Readings, protocol: str) -> CorpusComparison:
    return compare(readings.speakers(protocol), simulated.speakers(protocol), _NAMES)


def _picture(
    comparison: CorpusComparison, readings: Readings, simulated: Readings, name: str
) -> Any:
    first, second = (side.speakers("released") for side in (readings, simulated))
    return draw_comparison(comparison, first, second).charts[name]


def figure_6(readings: Readings, simulated: Readings | None) -> Exhibit:
    """All eleven facets of both corpora."""
    if simulated is None:
        return Exhibit("figure-6", Verdict.not_made("LoCoMo is not here"))
    comparison = _compared(readings, simulated, "released")
    verdict = Verdict.not_comparable(
        "the paper draws it and prints no numbers; Table 7 holds REALTALK's, Figure 2 what is "
        "found in them"
    )
    grids = (("Facet by facet, from messages", comparison_rows(comparison)),)
    chart = _picture(comparison, readings, simulated, "comparison_all")
    return Exhibit("figure-6", verdict, (), grids, (_IN_SAMPLE,), chart=chart)


def figure_3(readings: Readings) -> Exhibit:
    """The same person in two chats; the paper's numbers are Table 8's column."""
    pairs = readings.consistency(PRINTED)
    if not pairs:
        return Exhibit("figure-3", Verdict.not_made("no speaker is in two chats"))
    figures = apart(readings)
    verdict = Verdict.not_comparable("its speakers are not here")
    if figures:
        verdict = together(figures, "with Table 8's column") or judged(figures)
    grids = (("Differences, facet by facet", consistency_rows(pairs)),)
    notes = (
        "the picture has no numbers; each speaker's mean over the facets, as a part of each "
        "facet's range, is the column 'persona consistency' of Table 8",
        "the smaller, the more alike a person is in both chats; every speaker has two, so that "
        "it does not matter which of them is learned from and which is tested",
        _own_column(),
    )
    (chart,) = draw_consistency(pairs).charts.values()
    return Exhibit("figure-3", verdict, figures, grids, notes, chart=chart)


def _own_column() -> str:
    """Whether the formula is the paper's: Table 7's own figures through it, beside Table 8."""
    rows = tuple(
        ResampledFacets(
            SpeakerFacets(
                chat=chat,
                speaker=speaker,
                turns=0,
                sessions=0,
                protocol=PRINTED,
                measure="printed",
                version="",
                facets=tuple(Estimate(row[name] / FACETS[name].scale) for name in FACETS),
            ),
            tuple(np.zeros(2) for _ in FACETS),
        )
        for (chat, speaker), row in TABLE_7.items()
    )
    own = {each.speaker.casefold(): each.overall.value for each in consistency_of(rows)}
    pairs = [
        (value, row.consistency)
        for row in TABLE_8
        if (value := own.get(row.speaker.casefold())) is not None
    ]
    r = pearson([one for one, _ in pairs], [other for _, other in pairs])
    off = fmean(abs(one - other) for one, other in pairs)
    return (
        "the formula is the paper's: Table 7's own figures give Table 8's column with r = "
        f"{estimate_text(r)} and a mean difference of {off:.3f} for the {len(pairs)} speakers "
        "whose two chats it prints; what differs is the labels"
    )
