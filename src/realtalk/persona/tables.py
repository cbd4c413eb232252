"""Figures of simulations → tables for people: headings and rows.

table_2(simulations, published=True)   a line a simulator, the paper's two below
table_8(simulation, published=True)    a line a speaker, the paper's beside it
beyond(simulations)                    kappa, distances, variety, who wrote it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from realtalk.metrics.statistics import Estimate
from realtalk.persona.comparing import Compared
from realtalk.persona.published import PUBLISHED_SCORES, TABLE_2, TABLE_8
from realtalk.persona.rows import SCORES
from realtalk.persona.summaries import Average, Simulation

__all__ = [
    "READING",
    "beyond",
    "compared",
    "gain_line",
    "sweep",
    "table_2",
    "table_8",
    "unscored_lines",
]

Rows: TypeAlias = tuple[tuple[str, ...], list[tuple[Any, ...]]]

READING = (
    "mean ± standard deviation over speakers [95 % interval of the mean], of one speaker the mean "
    "over turns [95 % interval]; more is better, but for "
    "intimacy and empathy, which are absolute differences. The paper's lexical is ROUGE (which one "
    "it does not say), its semantic BERTScore: ours is the same formula with another encoder, so "
    "compare our rows with each other there, and our EI labels come from another labeller"
)
_MAIN = tuple(name for name, kind in SCORES.items() if kind.family != "beyond")
_PUBLISHED = {SCORES[name].published: name for name in SCORES if SCORES[name].published}
_WHOLE = (
    *("kappa_reflective", "kappa_grounding", "kappa_sentiment", "kappa_emotion"),
    *("js_emotion", "js_sentiment"),
)
_TITLES = {
    **{f"kappa_{name}": f"{name} kappa" for name in ("reflective", "grounding")},
    **{f"kappa_{name}": f"{name} kappa" for name in ("sentiment", "emotion")},
    **{f"js_{name}": f"{name} JS (bits)" for name in ("emotion", "sentiment")},
}


def title_of(name: str) -> str:
    """A score's name as it stands over a column."""
    return SCORES[name].title if name in SCORES else _TITLES[name]


def _averaged(found: Average, digits: int = 2) -> str | None:
    if found.mean is None:
        return None
    text = f"{found.mean:.{digits}f}"
    if found.sd is not None:
        text += f" ± {found.sd:.{digits}f}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return text


def _estimated(found: Estimate, digits: int = 2) -> str | None:
    if found.value is None:
        return None
    text = f"{found.value:.{digits}f}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return text


def _told(found: Simulation, name: str) -> str | None:
    """An average; of one speaker alone the figure with its interval over turns."""
    if len(found.speakers) == 1:
        return _estimated(next(iter(found.speakers.values())).scores[name])
    return _averaged(found.averages[name])


def table_2(simulations: Sequence[Simulation], *, published: bool) -> Rows:
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


def table_8(simulation: Simulation, *, published: bool) -> Rows:
    """Every speaker, in the form of the paper's Table 8."""
    headings = (
        *("speaker", "turns", "learn", "test", "consistency"),
        *(title_of(name) for name in _MAIN),
    )
    rows: list[tuple[Any, ...]] = []
    for who, each in simulation.speakers.items():
        apart = None if each.consistency is None else f"{each.consistency:.2f}"
        rows.append(
            (
                *(who, f"{each.scored} of {each.turns}", each.learn, each.test, apart),
                *(_estimated(each.scores[name]) for name in _MAIN),
            )
        )
        told = next((row for row in TABLE_8 if row.speaker.casefold() == who.casefold()), None)
        if not published or told is None:
            continue
        lines: tuple[tuple[str, Mapping[str, float]], ...] = (
            ("Table 8, without", told.without),
            ("Table 8, tuned", told.tuned),
        )
        for title, values in lines:
            cells = {_PUBLISHED[name]: f"{values[name]:.2f}" for name in PUBLISHED_SCORES}
            rows.append(
                (
                    *(f"  {title}", None, "-".join(told.learn), "-".join(told.test)),
                    f"{told.consistency:.2f}",
                    *(cells.get(name) for name in _MAIN),
                )
            )
    return headings, rows


def beyond(simulations: Sequence[Simulation]) -> Rows:
    """What raw agreement hides: chance, distributions, variety, length and authorship."""
    headings = (
        "simulator",
        *(title_of(name) for name in _WHOLE),
        *("length ratio", "distinct-1", "distinct-2", "taken for the speaker"),
    )
    rows: list[tuple[Any, ...]] = [
        (
            each.name,
            *(_told(each, name) for name in (*_WHOLE, "length_ratio")),
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
                *(("1.00",) * 4 + ("0.00",) * 2),
                "1.00",
                *(_averaged(real[f"distinct_{n}_truth"]) for n in (1, 2)),
                _averaged(real["ceiling"]),
            )
        )
        rows.append(
            ("the partner's real turns", *((None,) * (len(_WHOLE) + 3)), _averaged(real["floor"]))
        )
        rows.append(("chance", *(("0.00",) * 4), *((None,) * 5), "0.50"))
    return headings, rows


def unscored_lines(simulation: Simulation) -> list[str]:
    """A line a reason; nothing where every turn has its scores."""
    counts: dict[str, int] = {}
    for each in simulation.speakers.values():
        for reason, count in each.unscored.items():
            counts[reason] = counts.get(reason, 0) + count
    return [
        f"{simulation.name}, unscored: {count:,} of {simulation.turns:,} turns ({reason})"
        for reason, count in counts.items()
    ]


def compared(found: Compared) -> Rows:
    """A line a score: both means over speakers, the difference, and both tests."""
    headings = (
        *("score", "turns", "speakers", found.names[0], found.names[1], "difference"),
        *("better for", "p turns", "Holm", "p speakers", "Holm "),
    )
    rows: list[tuple[Any, ...]] = []
    for name, test in found.tests.items():
        interval = (
            "" if test.low is None or test.high is None else f" [{test.low:+.3f}, {test.high:+.3f}]"
        )
        rows.append(
            (
                *(title_of(name), test.turns or None, test.speakers),
                *(f"{test.first:.3f}", f"{test.second:.3f}", f"{test.difference:+.3f}{interval}"),
                f"{test.better} of {test.better + test.worse}",
                *(_p(test.p_turns), _p(test.p_turns_holm)),
                *(_p(test.p_speakers), _p(test.p_speakers_holm)),
            )
        )
    return headings, rows


def _p(value: float | None) -> str | None:
    if value is None:
        return None
    return "< .001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def gain_line(found: Compared) -> str:
    """Whether people who are alike in both chats gain more."""
    r = found.gain_and_consistency
    if r.value is None:
        return f"gain and persona consistency: not computed ({r.unscored})"
    interval = "" if r.low is None or r.high is None else f" [{r.low:+.2f}, {r.high:+.2f}]"
    return (
        f"gain over the six EI scores and difference between a speaker's chats: r = "
        f"{r.value:+.2f}{interval}, {r.n} speakers (below zero: the more alike, the more is gained)"
    )


def sweep(simulations: Mapping[int, Simulation]) -> Rows:
    """A line a number of context sessions, in the form of the paper's Figure 7."""
    names = (*_MAIN, "taken_for")
    headings = ("sessions", "turns", *(title_of(name) for name in names))
    rows: list[tuple[Any, ...]] = []
    for sessions, each in sorted(simulations.items()):
        cells = [_told(each, name) for name in names]
        rows.append((sessions, f"{each.scored:,} of {each.turns:,}", *cells))
    return headings, rows
