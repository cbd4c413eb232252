"""Stored persona runs → rows of Tables 2 and 8 and of Figure 7.

    persona_rows(runs, sweep)[0]    → ResultRow("Table 2, lexical", "does not change: …", …)

The paper simulates with GPT-4o-mini and labels with it; whoever was simulated here has another
model and other labels. So what is compared is what fine-tuning changes (style gets better, content
stays, intimacy does not gain), who is easy (order of speakers), and that more context does not
help. The dummy is the program `constant`, which always gives the same answer and knows nobody.
Only speakers who were tested on the chat that Table 8 tests are set beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.comparing import match_rows
from realtalk.evals.run import Run
from realtalk.evals.tables import p_value
from realtalk.evals.values import Row
from realtalk.metrics.statistics import Change, Estimate, grouped_changes, holm, pearson, ratio
from realtalk.persona.benchmark import KIND
from realtalk.persona.choosing import (
    PUBLISHED_SCORES,
    TABLE_2,
    TABLE_8,
    PublishedSpeaker,
    published_choice,
)
from realtalk.persona.scoring import SCORES
from research.papers.published import CIRCLES
from research.papers.rule import (
    ALPHA,
    NO_CHANGE,
    Effect,
    Outcome,
    ResultRow,
    column_row,
    compare_absence,
    compare_numbers,
    compare_sentence,
    not_comparable,
)

_OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}
_EI = PUBLISHED_SCORES[2:]
_SAME, _BETTER, _NO_GAIN = "does not change", "gets better", "does not gain"
_KINDS = {
    name: _SAME if name not in _EI else _NO_GAIN if name == "intimacy" else _BETTER
    for name in PUBLISHED_SCORES
}
_CLAIMED_P = 0.02
_FOLDER = re.compile(r"(?:sweep)?(\d+)(?:-(.+))?")


@dataclass(frozen=True)
class Simulations:
    """Runs without and with fine-tuning, and of the dummy."""

    untuned: Run
    tuned: Run
    dummy: Run


def persona_rows(simulations: Simulations | None, sweep: Path | None) -> list[ResultRow]:
    """Tables 2 and 8 and Figure 7, and the paper beside its own Table 8."""
    missing = "no persona runs were given"
    rows = [*_own_tables()]
    if simulations is None:
        rows.append(not_comparable("Tables 2 and 8", "what fine-tuning changes", missing))
    else:
        rows += [*_table_2(simulations), *_table_8(simulations)]
    if sweep is None:
        rows.append(not_comparable("Figure 7", "more context does not help", missing))
    else:
        rows += _figure_7(sweep)
    return rows


def _speakers(run: Run) -> dict[str, Mapping[str, Estimate]]:
    """The scores of those who were tested on Table 8's chats, by speaker."""
    own = set()
    for fact in run.facts:
        printed = published_choice(fact["group"], (fact["learn"], fact["test"]))
        if printed is not None and printed[1] == fact["test"]:
            own.add(fact["group"])
    return {who.casefold(): scores for who, scores in run.variants[""].slices.items() if who in own}


def _table_2(simulations: Simulations) -> Iterator[ResultRow]:
    """What §6.1 says of fine-tuning, each column tested over speakers."""
    before, after, constant = map(
        _speakers, (simulations.untuned, simulations.tuned, simulations.dummy)
    )
    shared = [row.speaker.casefold() for row in TABLE_8]
    shared = [who for who in shared if all(who in side for side in (before, after, constant))]
    changes, trivial = (
        compare_sides(
            {
                name: [
                    (before[who][_OURS[name]].value, side[who][_OURS[name]].value, who)
                    for who in shared
                ]
                for name in PUBLISHED_SCORES
            }
        )
        for side in (after, constant)
    )
    for name, kind in _KINDS.items():
        first, second = (row.mean[name] for row in TABLE_2.values())
        outcomes = (judge_change(name, some[name]) for some in (changes, trivial))
        yield ResultRow(f"Table 2, {name}", f"{kind}: {first:.2f} → {second:.2f}", *outcomes)
    reason = "a model of 1.5B and our labels here, not GPT-4o-mini"
    yield not_comparable("Table 2, levels", "sixteen means over ten speakers", reason)


Pair: TypeAlias = tuple[float | None, float | None, str]  # both sides of a unit, and its group


def compare_sides(columns: Mapping[str, Sequence[Pair]]) -> dict[str, Change]:
    """Both sides of whole groups swapped in every way; Holm within content and within EI."""
    changes: dict[str, Change] = {}
    for name, pairs in columns.items():
        known = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
        first, second = (np.array([[pair[at], 1.0] for pair in known], np.float64) for at in (0, 1))
        if known:
            groups = [group for _, _, group in known]
            changes[name] = grouped_changes(first, second, groups, {name: ratio})[name]
    for content in (True, False):
        own = [name for name in changes if (name in _EI) != content]
        for name, p in zip(own, holm([changes[name].p for name in own]), strict=True):
            changes[name] = replace(changes[name], p_holm=p)
    return changes


def _effect(name: str, change: Change) -> Effect:
    toward = SCORES[_OURS[name]].better * (change.difference.value or 0.0)
    return Effect(toward, clear=change.p_holm is not None and change.p_holm < ALPHA)


def judge_change(name: str, change: Change) -> Outcome:
    """What fine-tuning does to a score, by what the paper says of it."""
    text = f"{change.first:.2f} → {change.second:.2f} (p {p_value(change.p_holm) or 'not tested'})"
    effects = [_effect(name, change)]
    if _KINDS[name] == _BETTER:
        return compare_sentence(effects, text)
    return compare_absence(effects, text, gains_only=_KINDS[name] == _NO_GAIN)


def _table_8(simulations: Simulations) -> Iterator[ResultRow]:
    """Whether speakers who are easy in print are easy here, score by score."""
    for title, run in (("untuned", simulations.untuned), ("tuned", simulations.tuned)):
        ours = _speakers(run)
        for name in PUBLISHED_SCORES:
            lines = [
                (row, value)
                for row in TABLE_8
                if (own := ours.get(row.speaker.casefold())) is not None
                and (value := own[_OURS[name]].value) is not None
            ]
            where, says = f"Table 8, {name}, {title}", "who is easy to continue"
            if len(lines) < len(TABLE_8):
                reason = f"{len(lines)} of its {len(TABLE_8)} speakers were tested on its chats"
                yield not_comparable(where, says, reason)
                continue
            printed = [_scores(row, title)[name] for row, _ in lines]
            circles = [str(CIRCLES[row.speaker.casefold()]) for row, _ in lines]
            yield column_row(where, says, printed, [value for _, value in lines], circles)


def _scores(row: PublishedSpeaker, title: str) -> Mapping[str, float]:
    return row.tuned if title == "tuned" else row.without


def _figure_7(folder: Path) -> Iterator[ResultRow]:
    """The most sessions of context against the fewest, swapping whole sessions of the test chat."""
    runs: dict[str, dict[int, Run]] = {}
    for place in sorted(folder.glob("*")):
        match = _FOLDER.fullmatch(place.name)
        if match is not None and place.is_dir():
            run = Run.load(place, KIND)
            runs.setdefault(match[2] or run.name, {})[int(match[1])] = run
    if not runs:
        raise RealtalkError(
            "no sweep here", where=str(folder), fix="make one with: realtalk sweep simulate"
        )
    for title, ways in sorted(runs.items(), reverse=True):  # untuned first, as in the paper
        few, many = min(ways), max(ways)
        where, says = f"Figure 7, {title}", "more context does not improve message-level EI"
        if few == many:
            yield not_comparable(where, says, "it takes two numbers of sessions to compare")
            continue
        pairs = match_rows(ways[few].rows, ways[many].rows)
        changes = compare_sides({name: _paired_sessions(name, pairs) for name in _EI})
        effects = [_effect(name, change) for name, change in changes.items()]
        better = sum(effect.clear and effect.toward > 0 for effect in effects)
        smallest = min(
            (change.p for change in changes.values() if change.p is not None), default=None
        )
        text = (
            f"{many} sessions against {few}: {better} of {len(effects)} scores better (smallest p "
            f"{p_value(smallest) or 'not tested'}, {len(pairs)} turns)"
        )
        yield ResultRow(
            where,
            says,
            compare_absence(effects, text, gains_only=True),
            compare_absence([NO_CHANGE], "the same whatever the context"),
        )


def _paired_sessions(name: str, pairs: Sequence[tuple[Row, Row]]) -> list[Pair]:
    score = _OURS[name]
    return [
        (first[score], second[score], f"{first['chat']} {first['session']}")
        for first, second in pairs
    ]


def _own_tables() -> Iterator[ResultRow]:
    """The paper beside its own Table 8."""
    means = [
        (TABLE_2[line].mean[name], fmean(_scores(row, title)[name] for row in TABLE_8))
        for line, title in zip(TABLE_2, ("untuned", "tuned"), strict=True)
        for name in PUBLISHED_SCORES
    ]
    yield ResultRow(
        "Table 2 beside Table 8",
        "averages over ten speakers",
        compare_numbers([first for first, _ in means], [second for _, second in means], 2),
    )
    yield _caption()
    consistency = [row.consistency for row in TABLE_8]
    levels = {
        title: [fmean(_scores(row, title)[name] for name in _EI[:4]) for row in TABLE_8]
        for title in ("untuned", "tuned")
    }
    gain = [after - before for before, after in zip(*levels.values(), strict=True)]
    says = "who differs little between chats is continued better"
    for where, columns in (("E.2, as a level", levels), ("E.2, as a gain", {"gain": gain})):
        agreements = {title: pearson(consistency, column) for title, column in columns.items()}
        effects = [
            Effect(-(r.value or 0.0), clear=not (r.low or 0.0) <= 0 <= (r.high or 0.0))
            for r in agreements.values()
        ]
        text = ", ".join(
            f"{title} r {r.value:.2f} [{r.low:.2f}, {r.high:.2f}]"
            for title, r in agreements.items()
        )
        yield ResultRow(where, says, compare_sentence(effects, f"Table 8: {text}"))


def _caption() -> ResultRow:
    """Wilcoxon and a paired t test over Table 8's ten speakers, as printed to two digits."""
    from scipy import stats

    parts, clear = [], 0
    for name in _EI:
        sides = [[_scores(row, title)[name] for row in TABLE_8] for title in ("untuned", "tuned")]
        tests = [float(test(*sides).pvalue) for test in (stats.wilcoxon, stats.ttest_rel)]
        parts.append(f"{name} {' / '.join(p_value(p) or '' for p in tests)}")
        clear += min(tests) < _CLAIMED_P
    return ResultRow(
        "Table 2, caption",
        "fine-tuning changes every EI score with p < .02",
        compare_numbers([len(_EI)], [clear], None, f"Table 8, Wilcoxon / t: {', '.join(parts)}"),
    )
