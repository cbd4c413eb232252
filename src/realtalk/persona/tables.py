"""Figures of simulations → tables for people: headings and rows.

table_2(simulations, published=True)   one line per simulator, the paper's two below
table_8(simulation, published=True)    one line per speaker, the paper's beside it
beyond(simulations)                    kappa, distances, variety, who wrote it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.evals.averaging import Average
from realtalk.evals.tables import Lines, averaged, compared_table
from realtalk.metrics.statistics import Estimate
from realtalk.persona.comparing import COMPARED, SpeakersCompared
from realtalk.persona.published import PUBLISHED_SCORES, TABLE_2, TABLE_8
from realtalk.persona.rows import SCORES, WHOLE
from realtalk.persona.summaries import Simulation

READING = (
    "mean ± standard deviation over speakers [95 % interval of the mean], of one speaker the mean "
    "over turns [95 % interval]; more is better, but for "
    "intimacy and empathy, which are absolute differences. The paper's lexical is ROUGE (which one "
    "it does not say), its semantic BERTScore: ours is the same formula with another encoder, so "
    "compare our rows with each other there, and our EI labels come from another labeller"
)
_MAIN = tuple(name for name, kind in SCORES.items() if kind.family != "beyond")
_PUBLISHED = {SCORES[name].published: name for name in SCORES if SCORES[name].published}
_DIGITS = 2


def title_of(name: str) -> str:
    """A score's name as it stands over a column."""
    return (SCORES.get(name) or WHOLE[name]).title


def _averaged(found: Average) -> str | None:
    return averaged(found, _DIGITS)


def _estimated(found: Estimate) -> str | None:
    return averaged(Average(found.value, None, found.low, found.high, found.n), _DIGITS)


def _told(found: Simulation, name: str) -> str | None:
    """An average; of one speaker alone the figure with its interval over turns."""
    if len(found.speakers) == 1:
        return _estimated(next(iter(found.speakers.values())).scores[name])
    return _averaged(found.averages[name])


def table_2(simulations: Sequence[Simulation], *, published: bool) -> Lines:
    """Averages over speakers, in the form of the paper's Table 2."""
    headings = ("simulator", "speakers", "turns", *(title_of(name) for name in _MAIN))
    rows: list[tuple[Any, ...]] = [
        (
            each.name,
            len(each.speakers),
            f"{each.scored:,} of {each.turns:,}",
            *(_told(each, name) for name in _MAIN),
        )
        for each in simulations
    ]
    if published:
        for title, line in TABLE_2.items():
            cells = {
                _PUBLISHED[name]: f"{line.mean[name]:.2f} ± {line.sd[name]:.2f}"
                for name in PUBLISHED_SCORES
            }
            rows.append((f"Table 2: {title}", 10, None, *(cells.get(name) for name in _MAIN)))
    return headings, rows


def table_8(simulation: Simulation, *, published: bool) -> Lines:
    """Every speaker, in the form of the paper's Table 8."""
    titles = (title_of(name) for name in _MAIN)
    headings = ("speaker", "turns", "learn", "test", "consistency", *titles)
    rows: list[tuple[Any, ...]] = []
    for who, each in simulation.speakers.items():
        apart = None if each.consistency is None else f"{each.consistency:.2f}"
        counted = f"{each.scored} of {each.turns}"
        cells = [_estimated(each.scores[name]) for name in _MAIN]
        rows.append((who, counted, each.learn, each.test, apart, *cells))
        told = next((row for row in TABLE_8 if row.speaker.casefold() == who.casefold()), None)
        if not published or told is None:
            continue
        lines: tuple[tuple[str, Mapping[str, float]], ...] = (
            ("Table 8, without", told.without),
            ("Table 8, tuned", told.tuned),
        )
        for title, values in lines:
            known = {_PUBLISHED[name]: f"{values[name]:.2f}" for name in PUBLISHED_SCORES}
            chats = ("-".join(told.learn), "-".join(told.test))
            apart = f"{told.consistency:.2f}"
            rows.append((f"  {title}", None, *chats, apart, *map(known.get, _MAIN)))
    return headings, rows


def beyond(simulations: Sequence[Simulation]) -> Lines:
    """What raw agreement hides: chance, distributions, variety, length and authorship."""
    headings = (
        "simulator",
        *(title_of(name) for name in WHOLE),
        "length ratio",
        "distinct-1",
        "distinct-2",
        "taken for the speaker",
    )
    rows: list[tuple[Any, ...]] = [
        (
            each.name,
            *(_told(each, name) for name in (*WHOLE, "length_ratio")),
            *(_averaged(each.averages[f"distinct_{n}"]) for n in (1, 2)),
            _told(each, "taken_for"),
        )
        for each in simulations
    ]
    if simulations:
        real = simulations[0].averages
        rows.append(
            (
                "the person (ceiling)",
                *["1.00"] * 4,
                *["0.00"] * 2,
                "1.00",
                *(_averaged(real[f"distinct_{n}_truth"]) for n in (1, 2)),
                _averaged(real["ceiling"]),
            )
        )
        rows.append(
            ("the partner's real turns", *[None] * (len(WHOLE) + 3), _averaged(real["floor"]))
        )
        rows.append(("chance", *["0.00"] * 4, *[None] * 5, "0.50"))
    return headings, rows


def unscored_lines(simulation: Simulation) -> list[str]:
    """One line per reason; nothing where every turn has its scores."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in simulation.speakers.values():
        for what, reasons in (("unscored", each.unscored), ("without a truth", each.untold)):
            counts.update({(what, reason): count for reason, count in reasons.items()})
    return [
        f"{simulation.name}, {what}: {count:,} of {simulation.turns:,} turns ({reason})"
        for (what, reason), count in counts.items()
    ]


def compared(found: SpeakersCompared) -> Lines:
    """One line per score: both means over speakers, the difference, the test, and for how many."""
    headings, rows = compared_table(found, COMPARED, samples="turns", groups="speakers")
    counts = (f"{up} of {up + down}" for up, down in found.better.values())
    return (*headings, "better for"), [(*row, n) for row, n in zip(rows, counts, strict=True)]


def gain_line(found: SpeakersCompared) -> str:
    """Whether people who are alike in both chats gain more."""
    r = found.gain_and_consistency
    if r.value is None:
        return f"gain and persona consistency: not computed ({r.unscored})"
    interval = "" if r.low is None or r.high is None else f" [{r.low:+.2f}, {r.high:+.2f}]"
    return (
        f"gain over the six EI scores and difference between a speaker's chats: r = "
        f"{r.value:+.2f}{interval}, {r.n} speakers (below zero: the more alike, the more is gained)"
    )


def sweep(simulations: Mapping[int, Simulation]) -> Lines:
    """One line per number of context sessions, in the form of the paper's Figure 7."""
    names = (*_MAIN, "taken_for")
    headings = ("sessions", "turns", *(title_of(name) for name in names))
    rows: list[tuple[Any, ...]] = []
    for sessions, each in sorted(simulations.items()):
        cells = [_told(each, name) for name in names]
        rows.append((sessions, f"{each.scored:,} of {each.turns:,}", *cells))
    return headings, rows
