"""Options that the commands of `probe` share, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from realtalk.memory.benchmark import ProbedRun

MemoryName = Annotated[
    str,
    typer.Option(
        "--memory",
        "-m",
        metavar="NAME",
        help="whole, recent, none, events, restored, retrieved, notes, langchain, mem0; oracle: "
        "the evidence itself; or one of your own: my_module:MyMemory, folder/mine.py:MyMemory.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the memory; may be repeated."),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol", metavar="NAME", help="whole: paper, or released: as its code does it."
    ),
]
ReaderName = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="NAME",
        help="none: retrieval only; extract: spans and dates by rule (default without a model); "
        "llm: the model named.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="llm: provider/model, which is sent what the memory shows; realtalk/smollm2 runs "
        "here.",
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="Another model that judges answers, leniently and strictly; `same`: the model itself.",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        help="llm, judge: prompts of your own, or 1 or 2 for our earlier ones.",
    ),
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", help="llm: the longest answer.", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="llm: sent to providers that take one.")]
Budgets = Annotated[
    str | None,
    typer.Option(
        "--budget",
        "-b",
        metavar="N,…",
        help="Tokens of context, or words as 2000w, or all; several are asked one by one.",
        show_default="1000; without a reader 500w,1000w,2000w,1000,2000,4000",
    ),
]
BudgetWords = Annotated[bool, typer.Option("--budget-words", help="Bare numbers are words.")]
Categories = Annotated[
    str, typer.Option("--categories", metavar="A,B", help="Only questions of these.")
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", help="Only N questions, evenly by category and chat."),
]
GoldsName = Annotated[
    str,
    typer.Option(
        "--golds",
        metavar="NAME",
        help="What counts as right: published, with audited beside it where the chats were "
        "audited; audited; lmeb: the questions and averages of MTEB's board; or a corrected audit "
        "that the studio exported.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew in a folder that has a run.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that a probe wrote.")]


def named(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def written_budgets(text: str | None, words: bool) -> str | None:
    """Budgets as Python takes them: each with its unit."""
    from realtalk.memory.budgets import label, parse_budgets

    if text is None:
        return None
    return ",".join(label(budget) for budget in parse_budgets(text, words=words))


def why_unscored(probed: ProbedRun, judge: str | None = None) -> Iterator[str | None]:
    """Of every question, or of every judgement where a judge was asked: None where it is scored.

    Evidence that was found is a score where nobody was to answer, or somebody did.
    """
    from realtalk.memory.rows import BUDGET_SCORES, RANK_SCORES

    if judge is not None:
        yield from (each["unscored"] for each in probed.judgements if each["judge"] == judge)
        return
    silent = probed.reader == "none"
    for row in probed.rows:
        found = any(row[name] is not None for name in (*RANK_SCORES, *BUDGET_SCORES))
        scored = row["f1"] is not None or (found and (silent or row["answer"] is not None))
        reason = next(iter((row["unscored"], *row["left_out"])), None)
        yield None if scored else reason or "no question has evidence"
