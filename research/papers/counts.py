"""Statistics of corpora → Table 1, §5.1, Tables 5 and 6, Figures 4 and 5.

    table_1({"REALTALK": stats, "LoCoMo": stats}).verdict   → exact: 6 of 6 figures are as printed
    table_6(stats).figures[22]   → PaperFigure("Chat_6_…", "commonsense", published=12, measured=10)

No model is involved: these come out exactly or the reader of the corpus is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from realtalk.describe.figures import response_gaps, runs
from realtalk.describe.values import ChatStats, CorpusStats
from realtalk.metrics.statistics import Estimate
from research.papers.published import CHATS, SECTION_5_1, TABLE_1, TABLE_5, TABLE_6
from research.papers.values import (
    Exhibit,
    PaperFigure,
    Parity,
    Verdict,
    judged,
)

_LOCOMO = 10  # chats that are published
_ALIKE = 0.01  # words that differ by less come from the same text, counted otherwise
# The one of Table 6's forty figures that is not what the published files hold: see `statements`.
_AT_ODDS = ("Chat_6_Vanessa_Nicolas", "commonsense")


def whole(stats: CorpusStats) -> bool:
    """Whether all ten published chats are there: figures over the corpus need them all."""
    return {chat.id for chat in stats.per_chat} == set(CHATS)


def _partial(stats: CorpusStats) -> Verdict:
    here = sum(chat.id in CHATS for chat in stats.per_chat)
    return Verdict.not_comparable(f"{here} of the paper's {len(CHATS)} chats are here")


def table_1(corpora: Mapping[str, CorpusStats]) -> Exhibit:
    """The rows of the corpora at hand, by their names in the table."""
    rows = {
        name: _row(name, stats)
        for name, stats in corpora.items()
        if (name == "LoCoMo" and len(stats.per_chat) == _LOCOMO)
        or (name == "REALTALK" and whole(stats))
    }
    figures = [figure for row in rows.values() for figure in row]
    notes = ["the paper's turns are messages per chat, its tokens are words per chat"]
    for name, stats in corpora.items():
        multimodal = "with" if stats.table1["multimodal"] else "without"
        notes.append(f"{name}: {multimodal} pictures or sound, {len(stats.per_chat)} chats")
        if name not in rows and name == "REALTALK":
            notes.append(f"{name}: {_partial(stats)}")
        elif name not in rows:
            here = stats.table1
            notes.append(
                f"{name}: {here['turns']:.1f} messages, {here['sessions']:.1f} sessions and "
                f"{here['tokens']:.1f} words per chat in what is at hand; the paper prints "
                f"{', '.join(map(str, TABLE_1[name].values()))}: not compared, as this is a part "
                "or another form of the corpus"
            )
    notes.append("the other seven corpora are quoted in the paper and are not read here")
    parities = [_as_printed(f"Table 1, {name}", row) for name, row in rows.items()]
    verdict = Verdict.not_made("neither REALTALK nor LoCoMo is here whole")
    if figures:
        verdict = judged(figures)
    return Exhibit("table-1", verdict, figures, notes=notes, parities=parities)


def _as_printed(name: str, figures: Sequence[PaperFigure], tested: bool = True) -> Parity:
    exact = sum(figure.state == "exact" for figure in figures)
    reached = f"{exact} of {len(figures)} as printed"
    return Parity(name, "exact", reached, exact == len(figures) if tested else None)


def _row(name: str, stats: CorpusStats) -> list[PaperFigure]:
    figures = []
    for column, ours in (("turns", "messages"), ("sessions", "sessions"), ("tokens", "words")):
        low, high = stats.intervals[f"{ours}_per_chat"] or (None, None)
        estimate = Estimate(stats.mean(ours), low, high, len(stats.per_chat))
        figures.append(PaperFigure.of(name, column, TABLE_1[name][column], estimate, 1))
    return figures


def section_5_1(stats: CorpusStats) -> Exhibit:
    """Gaps between speakers and messages in a row."""
    if not whole(stats):
        return Exhibit("section-5.1", _partial(stats))
    gaps, rows = stats.response_gaps, stats.runs
    measured = (
        (gaps.mean, gaps.n, stats.intervals["response_gap_minutes"]),
        (gaps.median, gaps.n, None),
        (None if gaps.max is None else gaps.max / 60, gaps.n, None),
        (rows.mean, rows.n, stats.intervals["consecutive_messages"]),
        (rows.median, rows.n, None),
        (rows.max, rows.n, None),
    )
    figures = []
    for (name, (published, digits)), (value, n, interval) in zip(
        SECTION_5_1.items(), measured, strict=True
    ):
        low, high = interval or (None, None)
        figures.append(PaperFigure("REALTALK", name, published, value, digits, low, high, n))
    notes = ["gaps are between different speakers, rows of messages by one, both within sessions"]
    if stats.gaps_backwards:
        notes.append(f"{stats.gaps_backwards} answers stamped before what they answer are left out")
    parities = [_as_printed("§5.1", figures)]
    return Exhibit("section-5.1", judged(figures), figures, notes=notes, parities=parities)


def table_5(stats: CorpusStats) -> Exhibit:
    """Chat by chat: days, words, words per day, images. Topics were counted by people."""
    figures: list[PaperFigure] = []
    for chat in _known(stats):
        printed = TABLE_5[chat.id]
        figures += [
            PaperFigure(chat.id, "days", printed["days"], chat.days),
            PaperFigure(chat.id, "words", printed["words"], chat.words),
            PaperFigure(chat.id, "words per day", printed["words per day"], chat.words_per_day, 0),
            PaperFigure(chat.id, "images", printed["images"], chat.images),
        ]
    if not figures:
        return Exhibit("table-5", _partial(stats))
    words = [figure for figure in figures if figure.column == "words"]
    near = [f for f in words if abs(f.difference or 0.0) <= _ALIKE * f.published]
    verdict = judged(figures)
    line = f"{verdict.line}; words within 1 % in {len(near)} of {len(words)} chats"
    notes = [
        "days are those with a message; the paper divides words by 16 or 21 days, whatever the "
        "days with a message",
        "topics were counted by people and are not in the data",
        "images are those that the published files hold, which the paper counts more of",
    ]
    for figure in words:
        if figure not in near:
            notes.append(
                f"{figure.row}: the paper prints {figure.shown(figure.published)} words, its "
                f"published file holds {figure.shown(figure.measured or 0)}"
            )
    return Exhibit("table-5", Verdict(verdict.kind, line), figures, notes=notes)


def table_6(stats: CorpusStats) -> Exhibit:
    """Questions by category and events, chat by chat."""
    figures: list[PaperFigure] = []
    for chat in _known(stats):
        here = dict(chat.questions) | {"events": chat.events}
        figures += [
            PaperFigure(chat.id, column, printed, here.get(column, 0))
            for column, printed in TABLE_6[chat.id].items()
        ]
    if not figures:
        return Exhibit("table-6", _partial(stats))
    at_odds = [figure for figure in figures if (figure.row, figure.column) == _AT_ODDS]
    others = [figure for figure in figures if figure not in at_odds]
    parities = [
        _as_printed("Table 6", others, whole(stats)),
        _as_printed(f"Table 6, {_AT_ODDS[1]} of {_AT_ODDS[0]}", at_odds, whole(stats)),
    ]
    notes = [
        f"{figure.row}, {figure.column}: the paper prints {figure.published:g}, its published "
        f"file holds {figure.measured:g}"
        for figure in figures
        if figure.state == "differs"
    ]
    notes.append("events include those whose text is empty, as the table does")
    return Exhibit("table-6", judged(figures), figures, notes=notes, parities=parities)


def _known(stats: CorpusStats) -> list[ChatStats]:
    """The paper's chats in its order."""
    here = {chat.id: chat for chat in stats.per_chat}
    return [here[name] for name in CHATS if name in here]


def figure_4(stats: CorpusStats) -> Exhibit:
    """The distribution of gaps between speakers; the paper prints no numbers with it."""
    if stats.response_gaps.n < 2:
        return Exhibit("figure-4", Verdict.not_made("fewer than two answers have a time"))
    return Exhibit("figure-4", _drawn("gap"), chart=response_gaps(stats))


def figure_5(stats: CorpusStats) -> Exhibit:
    """The distribution of messages in a row."""
    if stats.runs.n < 2 or stats.runs.max == 1:
        return Exhibit("figure-5", Verdict.not_made("every turn is one message"))
    return Exhibit("figure-5", _drawn("run"), chart=runs(stats))


def _drawn(longest: str) -> Verdict:
    return Verdict.not_comparable(
        "the paper draws it and prints no numbers; "
        f"§5.1 holds its mean, median and longest {longest}"
    )
