"""The three results that matter most in the runs, each a figure with its interval.

    highlights(loaded, pairs, personas, threads)
    → [KeyFigure("81 %", "of the evidence … at 990 tokens per question", "95 % interval …"), …]

The rule: one figure per kind of run, in this order, and the first three that can be given with
an interval: people against models, memory, persona, threads, consistency, the corpus. Nothing is
said where nothing was measured, or where labels are below usable in the language of a chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from realtalk.ei.grades import is_usable
from realtalk.report.memory import by_corpus
from realtalk.report.persona import figure_of
from realtalk.report.threads import HEADLINE
from realtalk.report.values import KeyFigure

if TYPE_CHECKING:
    from realtalk.evals.summaries import Summary
    from realtalk.persona.summaries import Simulation
    from realtalk.report.loading import LoadedRuns, ProbeRun
    from realtalk.report.speakers import SideBySide

_MOST = 3
_ALPHA = 0.05
_UNITS = {"bits": " in bits", "per session": " in thousandths per session"}
_NEARLY = 0.9  # of the best: as much as most would pay for


def highlights(
    loaded: LoadedRuns,
    pairs: Sequence[SideBySide],
    personas: Mapping[tuple[str, str], Mapping[str, Simulation]],
    threads: Mapping[tuple[str, str, str], Mapping[str, Summary]],
) -> list[KeyFigure]:
    """At most three; none where nothing has an interval."""

    def candidates() -> Iterator[KeyFigure | None]:
        yield _compared(pairs)
        yield _memory(loaded.probes)
        yield _persona(personas)
        yield _threads(threads)
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


def _memory(probes: Sequence[ProbeRun]) -> KeyFigure | None:
    """The cheapest memory that finds nearly as much evidence as the best."""
    groups = by_corpus(probes)
    if not groups:
        return None
    # Of people's chats, those with most questions; a model's chats where there are no others.
    (corpus, sha), runs = max(
        groups.items(), key=lambda each: (not _by_models(each[1]), _questions(each[1]))
    )
    points = []
    for each in runs.values():
        if each.scores.retrieval is None or each.probed.memory == "oracle":
            continue  # an oracle is told the evidence
        overall = each.scores.retrieval.overall
        for budget, cost in each.scores.costs.items():
            recall = overall.estimates.get(f"recall@{budget}")
            if recall is None or recall.value is None or recall.low is None:
                continue
            seen = bool(each.probed.cautions)
            points.append((cost.context_tokens, recall.value, recall, each.memory, seen))
    if not points:
        return None
    best = max(points, key=lambda point: point[1])
    tokens, value, recall, memory, seen = min(
        (point for point in points if point[1] >= _NEARLY * best[1]),
        key=lambda point: (point[0], point[1]),
    )
    says = (
        f"of the evidence for questions about {corpus} is in the context of the memory "
        f"“{memory}”, at {tokens:,.0f} tokens per question"
    )
    says += (
        "."
        if best[0] <= tokens
        else f"; the most here is {_percent(best[1])}, by “{best[3]}” at {best[0]:,.0f}."
    )
    low, high = (_percent(end or 0.0) for end in (recall.low, recall.high))
    extent = f"95 % interval {low} … {high}, n = {recall.n:,} questions"
    extent += "; in-sample, see the caution below" if seen else ""
    return KeyFigure(_percent(value), says, extent, f"memory-{corpus}-{sha[:6]}", "Memory")


def _by_models(runs: Mapping[str, ProbeRun]) -> bool:
    return any(each.written.is_simulated for each in runs.values())


def _questions(runs: Mapping[str, ProbeRun]) -> int:
    return max(len(each.probed.rows) for each in runs.values())


def _persona(
    personas: Mapping[tuple[str, str], Mapping[str, Simulation]],
) -> KeyFigure | None:
    """The simulator whose turns feel most like the person's, chance set aside."""
    for (corpus, sha), group in personas.items():
        candidates = [
            (kappa.value, kappa, each)
            for each in group.values()
            if (kappa := figure_of(each, "kappa_emotion")).value is not None
            and kappa.low is not None
            and all(is_usable(spoken.grade("emotion")) for spoken in each.languages)
        ]
        if not candidates:
            continue
        value, point, simulation = max(candidates, key=lambda each: each[0])
        nearest = _first_of([_plain(each) for each, *_ in candidates], _plain(value), "simulators")
        if (point.low or 0.0) <= 0:
            below = (point.high or 0.0) < 0
            nearest += "; below chance" if below else "; the interval holds chance"
        says = (
            f"is how far the emotions of the turns that “{simulation.name}” wrote agree with what "
            f"the speakers of {corpus} wrote (kappa: 0 is chance, 1 the person){nearest}."
        )
        of = "turns" if len(simulation.speakers) == 1 else "speakers"
        extent = f"95 % interval {point.low:.2f} … {point.high:.2f}, n = {point.n:,} {of}"
        anchor = f"persona-{corpus}-{sha[:6]}"
        return KeyFigure(_plain(value), says, extent, anchor, "Persona")
    return None


def _threads(groups: Mapping[tuple[str, str, str], Mapping[str, Summary]]) -> KeyFigure | None:
    """The best predictor of a task, by the score that chance flatters least."""
    from realtalk.threads.rows import SCORES

    for (task, corpus, sha), group in groups.items():
        kind = SCORES[HEADLINE[task]]
        candidates = [
            (estimate.value * kind.better, estimate, each.name, setting)
            for each in group.values()
            for setting, scores in each.variants.items()
            if (estimate := scores.overall[kind.name]).value is not None
            and estimate.low is not None
        ]
        if not candidates:
            continue
        _, best, name, setting = max(candidates, key=lambda each: each[0])
        figures = {name: "" for *_, name, _ in candidates}
        for _, estimate, each, _ in sorted(candidates, key=lambda found: found[0]):
            figures[each] = _plain(estimate.value or 0.0)
        others = _first_of([*figures.values()], _plain(best.value or 0.0), "predictors")
        says = (
            f"is the {kind.title} of “{name}” in the setting {setting} for "
            f"{task.replace('_', ' ')} in {corpus}{others}."
        )
        extent = f"95 % interval {best.low:.2f} … {best.high:.2f}, n = {best.n:,} replies"
        anchor = f"threads-{task}-{corpus}-{sha[:6]}"
        return KeyFigure(_plain(best.value or 0.0), says, extent, anchor, "Threads")
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


def _first_of(figures: Sequence[str], best: str, what: str) -> str:
    """That a figure is the best of those that could be given, unless another is shown the same."""
    return f", the best of {len(figures)} {what}" if figures.count(best) < 2 <= len(figures) else ""


def _percent(value: float) -> str:
    return f"{value:.0%}".replace("%", "\u202f%")


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
