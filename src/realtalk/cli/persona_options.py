"""Options that the commands of `persona` share, and what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from realtalk.persona.benchmark import SimulatedRun
    from realtalk.persona.summaries import Simulation

Speaker = Annotated[
    str | None,
    typer.Option(
        "--speaker",
        "-s",
        metavar="NAME",
        help="Only this speaker.",
        show_default="all with two chats",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="DIR",
        help="What `realtalk ei PATH --out DIR` wrote: saves labelling.",
    ),
]
Choosing = Annotated[
    str,
    typer.Option(
        "--choice",
        metavar="RULE",
        help="Which chat is tested: ei, the one with the lower overall EI by these labels; paper, "
        "Table 8's where it has the speaker.",
    ),
]
ContextSessions = Annotated[
    int, typer.Option("--context-sessions", metavar="K", help="The last K sessions are shown.")
]
ContextTokens = Annotated[
    int, typer.Option("--context-tokens", metavar="N", help="At most so many tokens of them.")
]
SimulatorName = Annotated[
    str | None,
    typer.Option(
        "--simulator",
        metavar="NAME",
        help="copy, constant, common, retrieve; llm: the model named; local: a model folder run "
        "here; tuned: with an adapter that `persona tune` made; written: what was written "
        "elsewhere; matched: the same, cut to the words of another's.",
        show_default="retrieve, or llm with a model",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="llm: provider/model, which is sent the chat; realtalk/smollm2 runs here.",
    ),
]
PromptsFolder = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        help="llm: prompts of your own, continue.md and continue_in_style.md.",
    ),
]
Style = Annotated[
    bool, typer.Option("--style", help="llm, local: also tell how the speaker writes elsewhere.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the simulator; may be repeated."),
]
Agreement = Annotated[
    str | None,
    typer.Option(
        "--consent",
        metavar="self|given|research|fictional",
        help="Instead of being asked: you are the speaker; the speaker said yes; the speaker "
        "agreed to a study, not to this; the speaker is invented.",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Only each speaker's first N turns.")
]
BertModel = Annotated[
    str | None,
    typer.Option(
        "--bertscore",
        metavar="MODEL",
        help="Semantic similarity by BERTScore with this hub model or folder, as the paper has it "
        "(extra train): roberta-large.",
        show_default="token matching by the shipped encoder",
    ),
]
BertLayer = Annotated[
    int | None,
    typer.Option(
        "--bertscore-layer",
        metavar="N",
        help="The layer to compare by.",
        show_default="known for the usual models",
    ),
]
RunsNamed = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folders that `persona run` wrote; NAME=RUN gives a name."
    ),
]
RunNamed = Annotated[str, typer.Argument(metavar="RUN", help="As for `persona table`.")]


def numbers_of(text: str) -> list[int]:
    from realtalk.errors import RealtalkError

    try:
        found = list(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise RealtalkError(f"'{text}' are no numbers of sessions", fix="write 1,2,3,5,10")
    return found


class Loaded(NamedTuple):
    """Runs of one name, joined."""

    simulation: Simulation
    rows: list[Any]
    runs: list[SimulatedRun]


def load_runs(named: Sequence[tuple[str, str]]) -> list[Loaded]:
    """(name, folder) → runs in the order given; those of one name joined."""
    from realtalk.persona.benchmark import joined, load_persona

    found: dict[str, list[SimulatedRun]] = {}
    for name, folder in named:
        run = load_persona(Path(folder))
        label = name if name not in ("", folder) else f"{run.name} ({Path(folder).name})"
        found.setdefault(label, []).append(run)
    return [Loaded(*joined(name, runs), runs) for name, runs in found.items()]


def measured_apart(loaded: list[Loaded]) -> list[str]:
    """A line for everything that the runs were not scored by alike."""
    measured = {
        "EI labels": "labels",
        "semantic similarity": "semantic",
        "similarity": "similarity",
        "authorship": "authorship",
    }
    lines = []
    for title, key in measured.items():
        ways = {
            str(run.settings.get("scoring", {}).get(key, "the shipped encoder"))
            for each in loaded
            for run in each.runs
        }
        if len(ways) > 1:
            lines.append(f"{title} is not comparable: by {' and by '.join(sorted(ways))}")
    return lines


def are_published(runs: Sequence[SimulatedRun]) -> bool:
    """Whether the paper's tables are about these speakers and chats."""
    from realtalk.persona.published import published_choice

    return all(
        published_choice(speaker, chats) is not None
        for run in runs
        for speaker, chats in run.settings["chats"].items()
    )
