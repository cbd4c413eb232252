"""Options that the commands of `threads` share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import named_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from realtalk.evals.summaries import Summary
    from realtalk.threads.benchmark import PredictedRun

TaskName = Annotated[
    str, typer.Option("--task", "-t", metavar="NAME", help="sentiment, impact or next_text.")
]
SettingNames = Annotated[
    str,
    typer.Option(
        "--setting",
        metavar="NAME,…",
        help="p-conv, p-nonconv, np-conv, np-nonconv, several with commas, or all.",
    ),
]
ProtocolName = Annotated[
    str,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="clean: nothing from at or after the reply; released: as the paper's code does it.",
    ),
]
Leaks = Annotated[
    list[str] | None,
    typer.Option(
        "--leak",
        metavar="NAME",
        help="Turn one leak of the released code on, to see what it is worth. May be repeated.",
    ),
]
WithScores = Annotated[
    bool,
    typer.Option(
        "--with-scores",
        help="Show scores of what was written before. They are as of the crawl, so from later: "
        "every table says it.",
    ),
]
Split = Annotated[
    str,
    typer.Option("--split", metavar="RULE", help="The test part: last of each user, or global."),
]
History = Annotated[
    str,
    typer.Option("--history", metavar="RULE", help="Which history is shown: recent or near."),
]
Shots = Annotated[int, typer.Option("--shots", metavar="N", help="Solved examples per prompt.")]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", help="Only N replies, drawn without their outcome."),
]
TrainLimit = Annotated[
    int | None, typer.Option("--train-limit", metavar="N", help="Learn from N replies only.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the draw and of the model.")]
PredictorName = Annotated[
    str | None,
    typer.Option(
        "--predictor",
        "-p",
        metavar="NAME",
        help="majority, parent, mean, nearest, regression; llm: the model named.",
        show_default="majority, or llm with a model",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="llm: provider/model, which is sent the thread; realtalk/smollm2 runs here.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the predictor; may be repeated."),
]
Budget = Annotated[
    int | None,
    typer.Option("--budget", metavar="N", help="Tokens of a prompt, at most.", show_default="2000"),
]
PromptsFolder = Annotated[
    Path | None,
    typer.Option(
        "--prompts", metavar="DIR", help="Prompts of your own: sentiment.md, impact.md, …"
    ),
]
RunsNamed = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folders that `threads run` wrote; NAME=RUN gives a name."
    ),
]


def load_named(named: Sequence[str]) -> list[tuple[str, PredictedRun]]:
    """Runs by name, in the order given; a name that comes twice gets its folder's beside it."""
    from realtalk.threads.benchmark import load_threads

    found: list[tuple[str, PredictedRun]] = []
    for text in named:
        name, folder = named_run(text)
        run = load_threads(Path(folder))
        label = name or run.name
        if any(label == known for known, _ in found):
            label = f"{label} ({Path(folder).name})"
        found.append((label, run))
    return found


def best_summary(runs: Sequence[PredictedRun]) -> Summary:
    """The best of several runs for every reply, chosen by the truth, under a name that says so."""
    from realtalk.errors import RealtalkError
    from realtalk.threads.benchmark import summary_of
    from realtalk.threads.comparing import best_of

    task = runs[0].task
    if any(run.task != task for run in runs):
        raise RealtalkError("the best of runs of different tasks", fix="give runs of one task")
    rows = best_of([run.rows for run in runs], task)
    note = "each reply's best is chosen by the truth, which nobody has: not a score of a predictor"
    return summary_of(f"best of {len(runs)}", task, rows, (note,))
