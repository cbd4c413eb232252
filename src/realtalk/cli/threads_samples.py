"""`threads samples`: what there is to predict, and what a model would be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli import threads_options as threads
from realtalk.cli.options import FormatName, Json, Target, read_later

if TYPE_CHECKING:
    from realtalk.threads.sampling import Samples
    from realtalk.threads.values import Setting


def register(app: typer.Typer) -> None:
    """Adds the command to `threads`."""
    app.command()(samples)


def samples(
    path: Target,
    task: threads.TaskName = "sentiment",
    setting: threads.SettingNames = "p-conv",
    protocol: threads.ProtocolName = "clean",
    leak: threads.Leaks = None,
    with_scores: threads.WithScores = False,
    split: threads.Split = "user",
    history: threads.History = "recent",
    shots: threads.Shots = 0,
    limit: threads.Limit = None,
    train_limit: threads.TrainLimit = None,
    seed: threads.Seed = 0,
    show_one: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="KEY",
            help="Print the prompt of one reply, by its key or its place from 1 on. Shows text.",
        ),
    ] = None,
    budget: threads.Budget = None,
    prompts: threads.PromptsFolder = None,
    format_name: FormatName = None,
    json: Json = False,
) -> None:
    """Count what there is to predict, and by which rules it was chosen.

    Prints counts only; a prompt, which holds what people wrote, with --show alone.

    Examples:

        realtalk threads samples sample-threads

        realtalk threads samples sample-threads --task impact --setting np-conv --show 1
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.surface.choices import settings_named
    from realtalk.threads.drawing import Draw
    from realtalk.threads.protocols import describe
    from realtalk.threads.tables import count_tables

    draw = Draw(
        task=task,
        protocol=protocol,
        leaks=tuple(leak or ()),
        with_scores=with_scores,
        split=split,
        history=history,
        shots=shots,
        limit=limit,
        train_limit=train_limit,
        seed=seed,
    )
    with read_later(path, format_name, "6h", "growing trees") as (read, advance):
        drawn = draw.samples(read().tables, advance)
    named = settings_named(setting)
    if show_one is not None:
        _show_prompt(drawn, named[0], show_one, budget, prompts, json)
        return
    if json:
        from dataclasses import asdict

        print_json({**asdict(drawn.counts), "protocol": dict(drawn.protocol.settings)})
        return
    for title, headings, rows in count_tables(drawn.counts):
        show(title, headings, rows)
    for line in describe(drawn.protocol):
        say(line)


def _show_prompt(
    samples: Samples,
    setting: Setting,
    which: str,
    budget: int | None,
    prompts: Path | None,
    json: bool,
) -> None:
    from realtalk.cli.printing import print_json, print_text
    from realtalk.errors import RealtalkError
    from realtalk.threads.asking import BUDGET
    from realtalk.threads.prompting import load_prompts, prompt

    found = samples.of(setting, "test")
    keys = {target.key: at for at, target in enumerate(samples.part("test"))}
    place = keys.get(which)
    if place is None and which.isascii() and which.isdigit():
        place = int(which) - 1 if 0 < int(which) <= len(found) else None
    if place is None:
        raise RealtalkError(
            f"no reply '{which}' in the test part",
            fix=f"give a key, or a place from 1 to {len(found):,}",
        )
    sample = found[place]
    text = prompt(sample, BUDGET if budget is None else budget, load_prompts(prompts))
    if json:
        print_json({"key": sample.key, "setting": setting, "prompt": text})
    else:
        print_text(text)
