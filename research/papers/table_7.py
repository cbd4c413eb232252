"""Readings of REALTALK's speakers → Table 7, facet by facet: order, scale, and what explains both.

    exhibit = table_7(readings)
    exhibit.verdict     → Verdict("differs", "order of speakers holds for 2 of 11 facets, ...")
    exhibit.parities[0] → Parity("Table 7, reflective_frequency, order of speakers over all", ...)

Facets come from single messages, as the printed ones do, with intimacy on the scale that comes
nearest to print (`intimacy`); what a facet has to reach is in `judging`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from realtalk.cells import Grid
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate
from research.papers.alignments import alignment_rows
from research.papers.intimacy import SCALE_NOTE, course_note, course_rows
from research.papers.judging import ORDER, SCALE, Judged, Passing, circles, judge, near
from research.papers.published import TABLE_7
from research.papers.speakers import PRINTED, PRINTED_TURNS, Readings
from research.papers.values import (
    Exhibit,
    PaperFigure,
    Parity,
    Verdict,
    estimate_text,
)

_DIGITS = {"r": 2, "concordance": 2, "error": 3}
_ASKED = {"order of speakers": ORDER, "scale": SCALE}
_SIDES = ("over all", "within chats")


def table_7(readings: Readings) -> Exhibit:
    """Eleven facets of sixteen speakers."""
    here = {(who.chat, who.speaker): who for who in readings.speakers(PRINTED)}
    figures = [
        PaperFigure.of(
            f"{speaker} in {chat}",
            name,
            row[name],
            here[chat, speaker][name].times(facet.scale),
            facet.digits,
        )
        for (chat, speaker), row in TABLE_7.items()
        if (chat, speaker) in here
        for name, facet in FACETS.items()
    ]
    if not figures:
        return Exhibit("table-7", Verdict.not_made("none of its speakers is here"))
    joined = {(who.chat, who.speaker): who for who in readings.speakers(PRINTED_TURNS)}
    judged = {name: judge(_column(here, name), name) for name in FACETS}
    complete = {name: each for name, each in judged.items() if each is not None}
    if len(complete) < len(FACETS):
        because = f"{len(figures) // len(FACETS)} of its {len(TABLE_7)} speakers are here"
        verdict = Verdict.not_comparable(f"{because}, or a facet of one could not be measured")
    else:
        verdict = _verdict(complete.values())
    grids = [*_grids(complete, joined), *_explained(readings)]
    parities = [parity for name in FACETS for parity in _parities(name, judged[name], here.keys())]
    return Exhibit("table-7", verdict, figures, grids, _notes(complete, readings), parities)


def _column(here: Mapping[tuple[str, str], SpeakerFacets], name: str) -> dict[Any, float | None]:
    """A facet by speaker, as the table prints it."""
    scale = FACETS[name].scale
    return {key: who[name].times(scale).value for key, who in here.items() if key in TABLE_7}


def _verdict(judged: Collection[Judged]) -> Verdict:
    both = [(each.order, each.scale) for each in judged]
    order, scale = (sum(pair[place] for pair in both) for place in (0, 1))
    whole = sum(all(pair) for pair in both)
    same, told = (sum(each.partners[place] for each in judged) for place in (0, 1))
    line = (
        f"order of speakers holds for {order} of {len(both)} facets, scale for {scale}, both for "
        f"{whole}, beside a dummy that knows each chat's mean; which of two partners has more is "
        f"as printed in {same} of {told} cases"
    )
    return Verdict("holds" if whole == len(both) else "differs", line)


def _parities(name: str, judged: Judged | None, here: Any) -> list[Parity]:
    if judged is None:
        reached = f"{sum(key in here for key in TABLE_7)} of {len(TABLE_7)} speakers are here"
        return [
            Parity(f"Table 7, {name}, {what} {where}", "all its speakers", reached, None)
            for what in _ASKED
            for where in _SIDES
        ]
    parities = []
    for what, figures in _ASKED.items():
        for where, side in zip(_SIDES, (judged.over_all, judged.within), strict=True):
            passing = {figure: side[figure] for figure in figures}
            parities.append(
                Parity(
                    f"Table 7, {name}, {what} {where}",
                    " and ".join(_wanted(*each) for each in passing.items()),
                    " and ".join(_reached(*each) for each in passing.items()),
                    all(each.passes for each in passing.values()),
                )
            )
    return parities


def _wanted(figure: str, passing: Passing) -> str:
    return f"{figure} {'≤' if figure == 'error' else '≥'} {passing.wanted:.{_DIGITS[figure]}f}"


def _reached(figure: str, passing: Passing) -> str:
    digits = _DIGITS[figure]
    reached = f"{figure} {estimate_text(passing.ours, digits)}"
    beyond = passing.beyond
    if beyond is passing.ours or beyond.value is None:
        return reached
    return f"{reached}, less the dummy's {estimate_text(beyond, digits)}"


def _grids(
    judged: Mapping[str, Judged], joined: Mapping[tuple[str, str], SpeakerFacets]
) -> list[tuple[str, Grid]]:
    """Order, concordance and error, each beside the dummies'."""
    grids = []
    for title, figure in (
        ("Order: Pearson's r [95 %, drawing whole chats]", "r"),
        ("Scale: Lin's concordance [95 %, drawing whole chats]", "concordance"),
        ("Scale: mean absolute error [95 %, drawing whole chats]", "error"),
    ):
        digits, error = _DIGITS[figure], figure == "error"
        limit = "at most" if error else "has to reach"
        rows: list[dict[str, Any]] = []
        for name, each in judged.items():
            one, other = each.over_all[figure], each.within[figure]
            row = {
                "facet": FACETS[name].title,
                "over all": estimate_text(one.ours, digits),
                "dummy by circle": _number(one.circle, digits),
                "dummy by chat": _number(one.dummy, digits),
                limit: _number(one.wanted, digits),
                "less the dummy's by chat": estimate_text(one.beyond, digits),
                "within chats": estimate_text(other.ours, digits),
                f"{limit} ": _number(other.wanted, digits),
                "joined turns": estimate_text(_near_turns(joined, name)[figure], digits),
                "passes": _both(one, other),
            }
            # A page holds nine columns; within chats r and concordance have to reach one half.
            del row["joined turns" if error else f"{limit} "]
            rows.append(row)
        grids.append((title, Grid.of(rows)))
    return grids if judged else []


def _both(one: Passing, other: Passing) -> str:
    if one.passes == other.passes:
        return "yes" if one.passes else "no"
    return "over all only" if one.passes else "within chats only"


def _number(value: float | None, digits: int) -> str | None:
    # Adding nothing takes the sign from what rounds to nothing.
    return None if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def _near_turns(joined: Mapping[tuple[str, str], SpeakerFacets], name: str) -> dict[str, Estimate]:
    """The same figures from joined turns, over all speakers; they are shown, not judged."""
    column = _column(joined, name)
    known = {key: value for key in TABLE_7 if (value := column.get(key)) is not None}
    return near(np.array(list(known.values())), name, known.keys())


def _explained(readings: Readings) -> list[tuple[str, Grid]]:
    """Which scale the intimacy columns are printed on, and what alignment is divided by."""
    labels = readings.labels.get("messages")
    if labels is None or (aligned := alignment_rows(labels)) is None:
        return []
    return [
        ("Intimacy progression by unit and scale", course_rows(labels)),
        ("Alignment by what is paired and divided", aligned),
    ]


def _notes(judged: Mapping[str, Judged], readings: Readings) -> tuple[str, ...]:
    labels = readings.labels.get("messages")
    people: dict[int, dict[str, None]] = {}
    for chat, speaker in TABLE_7:
        people.setdefault(circles()[chat], {})[speaker] = None
    listed = "; ".join(", ".join(each) for each in people.values())
    between = sorted(each.chats for each in judged.values() if each.chats is not None)
    about_chats: tuple[str, ...] = ()
    if between:
        middle = between[len(between) // 2]
        about_chats = (
            f"between the means of the {len(circles())} chats r is {between[0]:.2f} to "
            f"{between[-1]:.2f}, at the middle facet {middle:.2f}: our labels order the chats as "
            "printed, which tells nothing about who is who in a chat",
        )
    return (
        "labels by our encoder, single messages, as the published figures were made; the paper's "
        "come from GPT-4o-mini and RoBERTa",
        "the dummy knows the printed mean of each chat and gives both partners the same number: it "
        "passes nothing here, so what passes is about speakers. A figure that does not pass is not "
        "shown to tell more about a speaker than which chat they are in",
        *about_chats,
        f"circles, by who shares a chat: {listed}; people of one circle are alike, so that even a "
        "dummy that knows the circle alone comes far",
        "a figure passes where it is nearer to perfect than to the dummy by chat, and better than "
        "it in the same draws of whole chats (95 %); within chats, where differences from the "
        "chat's mean are compared, the dummy has no r and a concordance of 0, so that both have to "
        "reach 0.50",
        f"of {len(circles())} chats those of a circle share people, so intervals are still narrow",
        *((SCALE_NOTE, course_note(labels)) if judged and labels is not None else ()),
        "alignment, here and above, is as the released code has it: a message goes with the one "
        "directly before, where that is the partner's, divided by those pairs; the last table has "
        "the partner's latest and §4.3's divisor beside it",
        "the paper's table leaves out two of its ten chats",
    )
