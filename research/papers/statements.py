"""Sentences of the paper that its own tables and data can be held against.

    statements(stats, days, readings)[0]
    → Statement("§3.2, A.3", "302 + 321 + 111 questions ...", "they add up to 734; ...", False)

Nothing here depends on a model of ours except where it says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median

import polars as pl

from realtalk.describe.values import CorpusStats
from realtalk.ei.speakers import session_means
from realtalk.ei.values import FACETS
from realtalk.evals.tables import p_value
from realtalk.memory.golds import TABLE_3
from realtalk.metrics.statistics import pearson
from realtalk.persona.choosing import PUBLISHED_SCORES, TABLE_2, TABLE_8
from research.papers.counts import whole
from research.papers.guidelines import MESSAGES_A_DAY, Day
from research.papers.judging import circle_of
from research.papers.published import TABLE_1, TABLE_5, TABLE_6, TABLE_7, TEXT_QUESTIONS, TEXT_TOTAL
from research.papers.speakers import PRINTED, PRINTED_TURNS, Readings, correlations
from research.papers.values import PaperFigure, Statement, estimate_text

_EI = ("reflective", "grounding", "sentiment", "emotion", "intimacy", "empathy")
_TARGET = 16_000  # words per chat, Appendix A.2
_CLAIMED_P = 0.02


def statements(
    stats: CorpusStats,
    days: Sequence[Day],
    readings: Readings | None,
    simulated: Readings | None = None,
) -> tuple[Statement, ...]:
    """Everything that can be checked with what is at hand; `days` are those of the guidelines."""
    results: list[Statement] = []
    if whole(stats):
        results += [_questions(stats), *_words(stats), _fifty(days)]
    results += [_averages(), _significance(), *_consistent_are_easier(), _most_varied(), _drop()]
    if readings is not None:
        results += _unit(readings)
        if simulated is not None:
            results += _intimacy_grows(readings, simulated)
    return tuple(results)


def _questions(stats: CorpusStats) -> Statement:
    here = dict(stats.questions)
    table = {name: sum(row[name] for row in TABLE_6.values()) for name in TEXT_QUESTIONS}
    return Statement(
        "§3.2, A.3",
        f"{_sum(TEXT_QUESTIONS)} questions (multi-hop, temporal, commonsense), {TEXT_TOTAL} in all",
        f"they add up to {sum(TEXT_QUESTIONS.values())}; Table 6 has {_sum(table)} = "
        f"{sum(table.values())}; the published files hold "
        f"{_sum({name: here.get(name, 0) for name in table})} = {sum(here.values())}",
        all(here.get(name) == count for name, count in TEXT_QUESTIONS.items()),
    )


def _sum(counts: Mapping[str, int]) -> str:
    return " + ".join(str(counts[name]) for name in TEXT_QUESTIONS)


def _words(stats: CorpusStats) -> Iterator[Statement]:
    printed = [row["words"] for row in TABLE_5.values()]
    short = [name for name, row in TABLE_5.items() if row["words"] < _TARGET]
    here = {chat.id: chat for chat in stats.per_chat}
    differences = "; ".join(
        f"{name}: {TABLE_5[name]['words']:,} printed, {here[name].words:,} in the file"
        for name in short
    )
    yield Statement(
        "Table 5",
        f"words per chat, on average {fmean(printed):,.1f}",
        f"Table 1 has {TABLE_1['REALTALK']['tokens']:,.1f}, which the files give; "
        f"{len(short)} chats are printed far shorter than their files are: {differences}",
        round(fmean(printed), 1) == TABLE_1["REALTALK"]["tokens"],
    )
    reached = sum(chat.words >= _TARGET for chat in stats.per_chat)
    yield Statement(
        "A.2",
        f"eight of ten chats reach {_TARGET:,} words",
        f"{reached} of {len(stats.per_chat)} of the published files do",
        reached == 8,
    )
    days = [chat.days or 0 for chat in stats.per_chat]
    printed_days = [row["days"] for row in TABLE_5.values()]
    yield Statement(
        "§5.1, Table 5",
        f"{min(printed_days)} to {max(printed_days)} days of conversation",
        f"{min(days)} to {max(days)} days have a message in the published files",
        (min(days), max(days)) == (min(printed_days), max(printed_days)),
    )


def _fifty(days: Sequence[Day]) -> Statement:
    sent = [count for day in days for count in day.messages.values()]
    enough = sum(count >= MESSAGES_A_DAY for count in sent)
    return Statement(
        "§3.1",
        f"participants were required to send at least {MESSAGES_A_DAY} messages each day",
        f"on {enough} of {len(sent)} days of a speaker in a chat, the median being "
        f"{median(sent):g} (days on which anybody wrote, by the files' own clock)",
        enough == len(sent),
    )


def _averages() -> Statement:
    """Table 2 is the mean over Table 8's speakers."""
    off = []
    for title, side in (("without fine-tuning", "without"), ("with fine-tuning", "tuned")):
        for name in PUBLISHED_SCORES:
            mean = fmean(getattr(row, side)[name] for row in TABLE_8)
            printed = TABLE_2[title].mean[name]
            if PaperFigure("", "", printed, mean, 2).state == "differs":
                off.append(f"{name}, {title}: {mean:.3f}, printed {printed:.2f}")
    return Statement(
        "Table 2",
        "averages of Table 8 over ten speakers",
        "; ".join(off) or "all 16 means follow from Table 8, within rounding",
        not off,
    )


def _significance() -> Statement:
    """Wilcoxon and a paired t test over Table 8's ten speakers, as printed to two digits."""
    from scipy import stats

    tested, unclear = [], []
    for name in _EI:
        sides = [[getattr(row, side)[name] for row in TABLE_8] for side in ("without", "tuned")]
        both = [float(test(*sides).pvalue) for test in (stats.wilcoxon, stats.ttest_rel)]
        shown = " / ".join((p_value(p) or "").removeprefix("0") for p in both)
        tested.append(f"{name} {shown}")
        if min(both) >= _CLAIMED_P:
            unclear.append(name)
    return Statement(
        "Table 2, caption",
        "fine-tuning changes every EI attribute with p < .02",
        f"from Table 8's printed figures, Wilcoxon / paired t: {', '.join(tested)}"
        + (f"; not so for {', '.join(unclear)}" if unclear else ""),
        not unclear,
    )


def _consistent_are_easier() -> Iterator[Statement]:
    """Whether speakers who are alike in both chats are simulated better, from Table 8 alone.

    "Performance improves when the difference is small" can be read of its level and of what
    fine-tuning adds.
    """
    apart = [row.consistency for row in TABLE_8]
    without, tuned = (
        [fmean(getattr(row, side)[name] for name in _EI[:4]) for row in TABLE_8]
        for side in ("without", "tuned")
    )
    gain = [after - before for before, after in zip(without, tuned, strict=True)]
    for reading, columns in (
        ("the level of performance", {"without": without, "with fine-tuning": tuned}),
        ("the gain by fine-tuning", {"the gain": gain}),
    ):
        agreed = {title: pearson(apart, column) for title, column in columns.items()}
        yield Statement(
            f"E.2, read as {reading}",
            "simulation performance improves when a speaker differs little between chats",
            "the difference between chats with the mean of Table 8's four agreements: "
            + ", ".join(f"{title} r = {estimate_text(r)}" for title, r in agreed.items())
            + f" ({len(apart)} speakers)",
            all((r.value or 0.0) < 0 for r in agreed.values()),
        )


def _most_varied() -> Statement:
    """Which facet differs most between a speaker's two chats, by Table 7's own figures."""
    pairs = _pairs()
    gaps = {}
    for name in FACETS:
        values = [row[name] for row in TABLE_7.values()]
        width = max(values) - min(values)
        gaps[name] = fmean(abs(a[name] - b[name]) for a, b in pairs) / width
    order = sorted(gaps, key=lambda name: gaps[name], reverse=True)
    listed = ", ".join(f"{FACETS[name].title.lower()} {gaps[name]:.2f}" for name in order[:3])
    return Statement(
        "§5.3, Figure 3",
        "intimacy progression varies most between a speaker's chats",
        f"as a part of each facet's range, Table 7 has: {listed} (means over {len(pairs)} of "
        "ten speakers: the table leaves out two chats)",
        order[0].startswith("intimacy"),
    )


def _pairs() -> Sequence[tuple[Mapping[str, float], Mapping[str, float]]]:
    by_name: dict[str, list[Mapping[str, float]]] = {}
    for (_, speaker), row in TABLE_7.items():
        by_name.setdefault(speaker.casefold(), []).append(row)
    return [pair for rows in by_name.values() for pair in combinations(rows, 2)]


def _drop() -> Statement:
    lost = []
    for model in dict.fromkeys(line.model for line in TABLE_3):
        f1 = {line.memory: line.f1["multi_hop"] for line in TABLE_3 if line.model == model}
        lost.append(100 * (1 - f1["events"] / f1["whole"]))
    return Statement(
        "§6.2",
        "events instead of the conversation cost multi-hop questions 41 to 46 %",
        f"Table 3's F1: {lost[0]:.1f} % and {lost[1]:.1f} %",
        abs(lost[0] - 41) < 1 and abs(lost[1] - 46) < 1,
    )


def _unit(readings: Readings) -> Iterator[Statement]:
    """By our labels: whether Table 7 is of joined turns, as §4.1 has it, or of messages."""
    both = [correlations(readings.speakers(protocol)) for protocol in (PRINTED, PRINTED_TURNS)]
    closer = [
        name for name in FACETS if (both[0][name].value or 0.0) > (both[1][name].value or 0.0)
    ]
    if both[0]["sentiment_diversity"].value is None:
        return
    pair = " and ".join(f"{each['sentiment_diversity'].value or 0:.3f}" for each in both)
    yield Statement(
        "§4.1",
        "consecutive messages are joined before they are labelled",
        f"by our labels Table 7 is nearer to single messages in {len(closer)} of {len(FACETS)} "
        f"facets (sentiment diversity: r = {pair} with joined turns); the released code does not "
        "join either",
        2 * len(closer) < len(FACETS),
    )


def _intimacy_grows(readings: Readings, simulated: Readings) -> Iterator[Statement]:
    """By our labels of messages: people's slopes, by circle, and where both corpora begin."""
    sides = (readings, simulated)
    slopes = [_slopes(side) for side in sides]
    labels = [side.labels.get("messages") for side in sides]
    known = {name.casefold() for _, name in TABLE_7}
    if any(frame is None for frame in labels) or not all(
        who.casefold() in known for who, _ in slopes[0]
    ):
        return
    by_circle: dict[int, list[float]] = {}
    for who, slope in slopes[0]:
        by_circle.setdefault(circle_of(who), []).append(slope)
    means = [fmean(each) for _, each in sorted(by_circle.items())]
    rise, other = (f"{sum(slope > 0 for _, slope in side)} of {len(side)}" for side in slopes)
    first, later = (_first_session(frame) for frame in labels if frame is not None)
    printed = [row["intimacy_linear"] for row in TABLE_7.values()]
    yield Statement(
        "Introduction, Figure 1",
        "real conversations gradually build intimacy, LLM-simulated chats begin at a high level",
        f"by our labels it rises for {rise} speakers (LoCoMo: {other}); by circle of friends by "
        f"{', '.join(f'{1000 * each:+.2f}' for each in means)} thousandths a session; the "
        f"first session has {first:.3f}, LoCoMo's {later:.3f}. Table 7's own column rises for "
        f"{sum(value > 0 for value in printed)} of {len(printed)} speakers",
        min(means) > 0 and later > first,
    )


def _slopes(readings: Readings) -> list[tuple[str, float]]:
    return [
        (who.speaker, value)
        for who in readings.speakers("released")
        if (value := who["intimacy_linear"].value) is not None
    ]


def _first_session(labels: pl.DataFrame) -> float:
    """The mean intimacy of everybody's first session."""
    means = session_means(labels).filter(pl.col("order") == 1)["intimacy"].to_list()
    return fmean(means)
