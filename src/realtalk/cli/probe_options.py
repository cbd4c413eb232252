"""Options that the commands of `probe` share, and what they stand for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.memory.asking import Plan
    from realtalk.memory.judging import Judge
    from realtalk.memory.readers import Reader
    from realtalk.memory.run import Probed
    from realtalk.memory.values import Budget, Memory

__all__ = [
    "BudgetWords",
    "Budgets",
    "Categories",
    "Connections",
    "Fresh",
    "JudgeName",
    "Limit",
    "MaxTokens",
    "MemoryName",
    "ModelName",
    "Prompts",
    "Protocol",
    "ReaderName",
    "RunFolder",
    "Seed",
    "Set",
    "make_budgets",
    "make_judge",
    "make_memory",
    "make_plan",
    "make_reader",
    "run_folder",
    "why_unscored",
]

MemoryName = Annotated[
    str,
    typer.Option(
        "--memory",
        "-m",
        metavar="NAME",
        help="whole, recent, none, events, restored, retrieved, notes, langchain, mem0; or one of "
        "your own: my_module:MyMemory, folder/mine.py:MyMemory.",
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
        "--judge", metavar="NAME", help="Another model that judges answers, leniently and strictly."
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        help="llm, judge: prompts of your own, or 1 for our earlier ones.",
    ),
]
Connections = Annotated[
    int, typer.Option("--connections", help="llm, judge: questions under way at once.")
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
    typer.Option("--limit", metavar="N", help="Only N questions, evenly from the chats."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew in a folder that has a run.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that a probe wrote.")]


def make_memory(name: str, settings: list[str] | None, protocol: str | None) -> Memory:
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.choices import memory_of

    return memory_of(name, parse_settings(settings or []), protocol)


def make_budgets(
    memory: str, reader: str, text: str | None, words: bool, *, shared: bool = False
) -> tuple[Budget, ...]:
    """The budgets that are asked for; `shared` with other memories, of which some take none."""
    from realtalk.surface.choices import budgets_of

    return budgets_of(memory, reader, text, words, shared=shared)


def make_plan(
    corpus: Corpus,
    memory: Memory,
    reader: Reader,
    budgets: tuple[Budget, ...],
    categories: str,
    limit: int | None,
) -> Plan:
    from realtalk.memory.asking import Plan

    names = tuple(dict.fromkeys(part.strip() for part in categories.split(",") if part.strip()))
    return Plan(corpus, memory, reader, budgets, names or None, limit)


def make_reader(
    name: str | None,
    model: str | None,
    corpus: Corpus,
    base_url: str | None,
    prompts: Path | None,
    connections: int,
    max_tokens: int | None,
    seed: int,
    *,
    judged: bool = False,
) -> Reader:
    from realtalk.surface import choices

    return choices.make_reader(
        name,
        model,
        corpus,
        base_url=base_url,
        prompts=prompts,
        connections=connections,
        max_tokens=max_tokens,
        seed=seed,
        judged=judged,
    )


def make_judge(model: str | None, prompts: Path | None, connections: int) -> Judge | None:
    from realtalk.surface import choices

    return choices.make_judge(model, prompts, connections)


def why_unscored(probed: Probed, judge: str | None = None) -> Iterator[str | None]:
    """Of every question, or of every judgement where a judge was asked: None where it is scored.

    Evidence that was found is a score where nobody was to answer, or somebody did.
    """
    from realtalk.memory.rows import BUDGET_SCORES, RANK_SCORES

    if judge is not None:
        yield from (each["unscored"] for each in probed.judgements if each["judge"] == judge)
        return
    silent = probed.settings["reader"]["name"] == "none"
    for row in probed.rows:
        found = any(row[name] is not None for name in (*RANK_SCORES, *BUDGET_SCORES))
        scored = row["f1"] is not None or (found and (silent or row["answer"] is not None))
        yield None if scored else row["unscored"] or "no question has evidence"


@contextmanager
def run_folder(out: Path | None) -> Iterator[Path]:
    """Where the run goes; a temporary folder where nobody wants to keep it."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="realtalk-probe-") as folder:
        yield Path(folder)
