"""The three results that matter most in the runs, each a figure with its interval.

    highlights(loaded, pairs, groups)
    → [KeyFigure("0.81", "is the recall@budget of “recent” …", "95 % interval …"), …]

The rule: one figure per kind of run, in this order, and the first three that can be given with
an interval: people against models, every benchmark, consistency, the corpus. Nothing is
said where nothing was measured, or where labels are below usable in the language of a chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from realtalk.ei.grades import is_usable
from realtalk.report.runs import RunGroup, key_figures
from realtalk.report.values import KeyFigure

if TYPE_CHECKING:
    from realtalk.report.loading import LoadedRuns
    from realtalk.report.speakers import SideBySide

_MOST = 3
_ALPHA = 0.05
_UNITS = {"bits": " in bits", "per session": " in thousandths per session"}


def highlights(
    loaded: LoadedRuns,
    pairs: Sequence[SideBySide],
    groups: Sequence[RunGroup],
) -> list[KeyFigure]:
    """At most three; none where nothing has an interval."""

    def candidates() -> Iterator[KeyFigure | None]:
        yield _compared(pairs)
        yield from key_figures(groups)
        yield _consistency(loaded)
        yield _corpus(loaded)

    return list(islice((each for each in candidates() if each is not None), _MOST))


def _compared(pairs: Sequence[SideBySide]) -> KeyFigure | None:
    """The facet that tells two sets of speakers apart most, of those beyond chance."""
    from realtalk.ei import FACETS
    from realtalk.ei.values import shown

    for pair in pairs:
        comparison = pair.comparison
        tested = [
            each
            for each in comparison.facets
            if each.delta.value is not None
            and each.p_shift_holm is not None
            and each.facet not in comparison.unusable
        ]
        clear = [each for each in tested if (each.p_shift_holm or 0.0) < _ALPHA]
        if not tested:
            continue
        best = max(clear or tested, key=lambda each: abs(each.delta.value or 0.0))
        value, low, high = best.delta.value, best.delta.low, best.delta.high
        if value is None or low is None or high is None:
            continue
        facet = FACETS[best.facet]
        one, other = comparison.names
        ends = [
            f"{shown(facet, side.low)} … {shown(facet, side.high)}"
            for side in (best.first, best.second)
        ]
        beyond = (
            f"{len(clear)} of {len(comparison.facets)} facets differ beyond chance."
            if clear
            else "It differs most, but no facet differs beyond chance."
        )
        says = (
            f"is the mean {facet.title.lower()} in {one} and in {other} (Cliff's delta of chats "
            f"{_signed(value)}, 95 % interval {_signed(low)} … {_signed(high)}; "
            f"{best.first.n} and {best.second.n} speakers in {best.first.chats} and "
            f"{best.second.chats} chats). {beyond}"
        )
        return KeyFigure(
            f"{shown(facet, best.first.mean)} vs {shown(facet, best.second.mean)}",
            says,
            f"means{_UNITS.get(facet.unit, '')}, 95 % intervals {ends[0]} and {ends[1]}",
            f"compared-{pair.first.folder.name}-{pair.second.folder.name}",
            "Human against simulated" if pair.told else "Two sets of speakers",
        )
    return None


def _consistency(loaded: LoadedRuns) -> KeyFigure | None:
    """Who differs most from themselves."""
    for labels in loaded.labels:
        known = [
            who
            for who in labels.consistency
            if who.overall.value is not None
            and who.overall.low is not None
            and all(is_usable(spoken.grade()) for spoken in who.languages)
        ]
        if labels.written.is_simulated or not known:
            continue
        most = max(known, key=lambda who: who.overall.value or 0.0)
        people = len({who.speaker for who in known})
        says = (
            f"of a facet's range lies, on average, between {most.speaker}'s two chats"
            + (f", the most of {people} speakers who appear twice." if people > 1 else ".")
            + " 0 would be no difference."
        )
        extent = f"95 % interval {most.overall.low:.2f} … {most.overall.high:.2f}"
        return KeyFigure(
            f"{most.overall.value:.2f}",
            says,
            extent,
            f"consistency-{labels.folder.name}",
            "Consistency",
        )
    return None


def _corpus(loaded: LoadedRuns) -> KeyFigure | None:
    """How much people write per chat."""
    for corpus in sorted(loaded.corpora, key=lambda each: -each.stats.total("messages")):
        mean = corpus.stats.messages_per_chat
        interval = corpus.stats.intervals["messages_per_chat"]
        if mean is None or interval is None:
            continue
        chats = len(corpus.stats.per_chat)
        extent = f"95 % interval {interval[0]:,.0f} … {interval[1]:,.0f}, n = {chats:,} chats"
        says = (
            f"messages per chat, on average, in {corpus.folder.name}, over "
            f"{corpus.stats.sessions_per_chat or 0:,.1f} sessions."
        )
        return KeyFigure(f"{mean:,.0f}", says, extent, f"corpus-{corpus.folder.name}", "Corpus")
    return None


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
