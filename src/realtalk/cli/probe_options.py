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
    "ONE_BUDGET",
    "BaseUrl",
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

ONE_BUDGET = "1000"
# Without a reader a question costs milliseconds, so that more budgets are looked at.
_BUDGETS = "500w,1000w,2000w,1000,2000,4000"
_READERS = ("none", "extract", "llm")

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
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="llm: the address of a server of your own."),
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
    from realtalk.memory import registry

    given = registry.parse_settings(settings or [])
    return registry.make_memory(name, given | ({} if protocol is None else {"protocol": protocol}))


def make_budgets(
    memory: str, reader: str, text: str | None, words: bool, *, shared: bool = False
) -> tuple[Budget, ...]:
    """The budgets that are asked for; `shared` with other memories, of which some take none."""
    from realtalk.errors import RealtalkError
    from realtalk.memory.budgets import parse_budgets
    from realtalk.memory.registry import BUDGETLESS
    from realtalk.memory.values import Budget

    if memory in BUDGETLESS:
        if text is not None and not shared and parse_budgets(text) != (Budget(),):
            raise RealtalkError(
                f"the memory {memory} takes no budget",
                fix="leave --budget out, or use the memory 'recent'",
            )
        return (Budget(),)
    return parse_budgets(text or (_BUDGETS if reader == "none" else ONE_BUDGET), words=words)


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
    from realtalk.errors import RealtalkError
    from realtalk.memory.readers import ExtractReader, LlmReader, NoReader
    from realtalk.registry import suggest

    name = name or ("extract" if model is None else "llm")
    if name not in _READERS:
        raise suggest("reader", name, list(_READERS))
    if name == "llm" and model is None:
        raise RealtalkError(
            "the reader llm needs a model",
            fix="name it: --model openai/gpt-4o-mini, or realtalk/smollm2 which runs here",
        )
    if name != "llm" and model is not None:
        raise RealtalkError(f"the reader {name} asks no model", fix="leave --model or --reader out")
    if name != "llm":
        for option, value in (
            *(("--base-url", base_url), ("--max-tokens", max_tokens)),
            ("--prompts", None if judged else prompts),
        ):
            if value is not None:
                raise RealtalkError(
                    f"{option} is for a language model, the reader {name} is none",
                    fix="name one with --model, or leave it out",
                )
    if name == "none":
        return NoReader()
    if name == "extract":
        return ExtractReader()
    from realtalk.memory.rows import may_abstain
    from realtalk.memory.wording import load_wording
    from realtalk.models.asking import Asked

    assert model is not None
    if max_tokens is not None and max_tokens < 1:
        raise RealtalkError(f"--max-tokens must be 1 or more, not {max_tokens}")
    asked = Asked(
        model, base_url=base_url, connections=connections, max_tokens=max_tokens, seed=seed
    )
    return LlmReader(asked, load_wording(prompts), abstain=may_abstain(corpus))


def make_judge(model: str | None, prompts: Path | None, connections: int) -> Judge | None:
    if model is None:
        return None
    from realtalk.memory.judging import Judge
    from realtalk.memory.wording import load_wording
    from realtalk.models.asking import Asked

    return Judge(Asked(model, connections=connections), load_wording(prompts))


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
