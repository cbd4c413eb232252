"""Options that the commands of `threads` share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from realtalk.cli.options import named_run, opened, read_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from realtalk.chat import Corpus
    from realtalk.evals.summaries import Summary
    from realtalk.threads.benchmark import PredictedRun
    from realtalk.threads.sampling import Samples
    from realtalk.threads.values import Setting

__all__ = [
    "Budget",
    "Chosen",
    "Fresh",
    "History",
    "Leaks",
    "Limit",
    "ModelName",
    "PredictorName",
    "PromptsFolder",
    "ProtocolName",
    "RunsNamed",
    "Seed",
    "Set",
    "SettingNames",
    "Shots",
    "Split",
    "TaskName",
    "TrainLimit",
    "WithScores",
    "best_summary",
    "load_named",
    "made_samples",
    "settings_named",
    "wanted_predictor",
]

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
Shots = Annotated[int, typer.Option("--shots", metavar="N", help="Solved examples a prompt.")]
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
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew in a folder that has a run.")]
RunsNamed = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folders that `threads run` wrote; NAME=RUN gives a name."
    ),
]


class Chosen(NamedTuple):
    """What is to be predicted, and how it was drawn."""

    corpus: Corpus
    samples: Samples
    record: dict[str, Any]


def settings_named(text: str) -> tuple[Setting, ...]:
    from realtalk.errors import RealtalkError
    from realtalk.threads.values import SETTINGS, known_setting

    if text.strip() == "all":
        return SETTINGS
    named = [part.strip() for part in text.split(",") if part.strip()]
    if not named:
        raise RealtalkError("no setting is named", fix=f"known: {', '.join(SETTINGS)}, or all")
    return tuple(dict.fromkeys(known_setting(name) for name in named))


def made_samples(
    path: str,
    format_name: str | None,
    task: str,
    protocol: str,
    leaks: Sequence[str] | None,
    with_scores: bool,
    split: str,
    history: str,
    shots: int,
    limit: int | None,
    train_limit: int | None,
    seed: int,
) -> Chosen:
    """Reads the threads and draws what is to be predicted."""
    from realtalk.cli.printing import progress
    from realtalk.errors import RealtalkError
    from realtalk.registry import suggest
    from realtalk.threads.protocols import protocol as named
    from realtalk.threads.sampling import make_samples
    from realtalk.threads.values import known_task

    for what, given, known in (
        ("split", split, ["user", "global"]),
        ("history", history, ["recent", "near"]),
    ):
        if given not in known:
            raise suggest(what, given, known)
    for option, value in (("limit", limit), ("train limit", train_limit)):
        if value is not None and value < 1:
            raise RealtalkError(f"the {option} must be 1 or more, not {value}")
    for option, value in (("limit", limit), ("train limit", train_limit), ("seed", seed)):
        if value is not None and not -(2**63) <= value < 2**63:
            raise RealtalkError(f"the {option} is too large a number", fix="64 bits are enough")
    wanted = known_task(task)
    rules = named(
        protocol,
        leaks=tuple(leaks or ()),
        with_scores=with_scores,
        split=split,
        chosen=history,
        shots=shots,
    )
    with opened(path, format_name, read_options()) as found:
        corpus = found.reading.corpus
    with progress("growing trees") as advance:
        samples = make_samples(
            corpus,
            wanted,
            protocol=rules,
            limit=limit,
            train_limit=train_limit,
            seed=seed,
            progress=advance,
        )
    record = {"limit": limit, "train_limit": train_limit, "seed": seed}
    return Chosen(corpus, samples, record)


def wanted_predictor(
    predictor: str | None, settings: list[str] | None, asked: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The predictor's name and its settings; `asked` are those of a language model."""
    from realtalk.errors import RealtalkError
    from realtalk.memory.registry import parse_settings

    wanted = {key: value for key, value in asked.items() if value is not None}
    name = predictor or ("llm" if "model" in wanted else "majority")
    given: dict[str, Any] = dict(parse_settings(settings or []))
    if name == "llm":
        given |= wanted
    elif stray := next((key for key in wanted if key != "seed"), None):
        raise RealtalkError(
            f"the predictor {name} asks no model", fix=f"leave --{stray} or --predictor out"
        )
    if name == "llm" and "model" not in given:
        raise RealtalkError(
            "the predictor llm needs a model",
            fix="name it: --model openai/gpt-4o-mini, or realtalk/smollm2 which runs here",
        )
    return name, given


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
    """The best of several runs a reply, chosen by the truth, under a name that says so."""
    from realtalk.errors import RealtalkError
    from realtalk.threads.benchmark import summary_of
    from realtalk.threads.comparing import best_of

    task = runs[0].task
    if any(run.task != task for run in runs):
        raise RealtalkError("the best of runs of different tasks", fix="give runs of one task")
    rows = best_of([run.rows for run in runs], task)
    note = "each reply's best is chosen by the truth, which nobody has: not a score of a predictor"
    return summary_of(f"best of {len(runs)}", task, rows, (note,))
