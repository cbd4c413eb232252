"""Stored corpora → what they look like: one line each, and every corpus with its pictures.

corpus_sections(loaded.corpora)   → [Section("corpora", …), Section("corpus-sample", depth=1, …)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from realtalk.cells import Cell, Grid, duration
from realtalk.notebook import counted
from realtalk.pages.charts import view
from realtalk.pages.values import Section, table

if TYPE_CHECKING:
    from realtalk.describe.values import CorpusStats
    from realtalk.pages.loading import CorpusRun


def corpus_sections(corpora: Sequence[CorpusRun]) -> list[Section]:
    """Nothing where no corpus was given."""
    if not corpora:
        return []
    chats = sum(len(run.stats.per_chat) for run in corpora)
    messages = sum(run.stats.total("messages") for run in corpora)
    many = f"{len(corpora)} corpora" if len(corpora) > 1 else "1 corpus"
    lead = f"{many} with {counted(chats, 'chat')} and {messages:,} messages."
    overview = table(
        "Corpora side by side",
        *Grid.of([_row(run) for run in corpora]),
        note="In brackets 95 % intervals from drawing whole chats; a corpus of one chat has none. "
        "A turn is what one speaker said before another did.",
    )
    sections = [Section("corpora", "Corpora", lead, (overview,))]
    return [*sections, *(_one(run) for run in corpora)]


def _row(run: CorpusRun) -> dict[str, Cell]:
    stats = run.stats
    first = [chat.first.date().isoformat() for chat in stats.per_chat if chat.first]
    last = [chat.last.date().isoformat() for chat in stats.per_chat if chat.last]
    gap = stats.response_gaps.median
    return {
        "corpus": run.folder.name,
        "format": stats.format,
        "chats": len(stats.per_chat),
        "speakers": len({who.name for chat in stats.per_chat for who in chat.speakers}),
        **{name: stats.total(name) for name in ("messages", "turns", "sessions", "words")},
        **{f"{name} per chat": _mean(stats, name) for name in ("messages", "words")},
        "answer after (median)": None if gap is None else duration(gap),
        "events": stats.total("events"),
        "questions": sum(number for _, number in stats.questions),
        "first day": min(first, default=None),
        "last day": max(last, default=None),
        "without a time": stats.total("messages_without_time"),
    }


def _mean(stats: CorpusStats, name: str) -> str | None:
    value, interval = stats.mean(name), stats.intervals[f"{name}_per_chat"]
    if value is None:
        return None
    extent = "" if interval is None else f" [{interval[0]:,.1f}, {interval[1]:,.1f}]"
    return f"{value:,.1f}{extent}"


def _one(run: CorpusRun) -> Section:
    from realtalk.describe import chat_rows, corpus_rows
    from realtalk.describe.figures import draw

    figures = draw(run.stats)
    name = run.folder.name
    ledger = run.about["ledger"]
    read_note = (
        f"Read as {run.stats.format}: {ledger['total']:,} {ledger['unit']}, of which "
        f"{ledger['in_messages']:,} became messages, {ledger['system']:,} were system lines and "
        f"{ledger['left_over']:,} were left over."
    )
    return Section(
        f"corpus-{name}",
        name,
        read_note,
        (
            table(f"{name}: figures", *corpus_rows(run.stats)),
            table(f"{name}: every chat", *chat_rows(run.stats)),
        ),
        tuple(view(chart, name) for chart in figures.charts.values()),
        tuple(
            f"Not drawn: {what.replace('_', ' ')} ({why})" for what, why in figures.left_out.items()
        ),
        depth=1,
    )
