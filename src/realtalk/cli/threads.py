"""`threads`: what becomes of a reply in a discussion, and what somebody would write there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli.options import BaseUrl, FormatName, Json, Out, Target
from realtalk.cli.threads_options import (
    Budget,
    Fresh,
    History,
    Leaks,
    Limit,
    ModelName,
    PredictorName,
    PromptsFolder,
    ProtocolName,
    RunsNamed,
    Seed,
    Set,
    SettingNames,
    Shots,
    Split,
    TaskName,
    TrainLimit,
    WithScores,
    best_summary,
    load_named,
    made_samples,
    settings_named,
    wanted_predictor,
)
from realtalk.cli.verbs import Verbs, add_stored_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from realtalk.evals.comparing import Compared
    from realtalk.evals.summaries import Summary
    from realtalk.threads.sampling import Samples
    from realtalk.threads.values import Setting, Task

__all__ = ["app"]

app = typer.Typer(
    cls=Verbs,
    help="Reddit-like threads: predict whether a reply is liked, how much, and what somebody "
    "writes, with and without the conversation and their history. `realtalk threads PATH` is "
    "`realtalk threads run PATH`.",
    no_args_is_help=True,
)


@app.command()
def samples(
    path: Target,
    task: TaskName = "sentiment",
    setting: SettingNames = "p-conv",
    protocol: ProtocolName = "clean",
    leak: Leaks = None,
    with_scores: WithScores = False,
    split: Split = "user",
    history: History = "recent",
    shots: Shots = 0,
    limit: Limit = None,
    train_limit: TrainLimit = None,
    seed: Seed = 0,
    show_one: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="KEY",
            help="Print the prompt of one reply, by its key or its place from 1 on. Shows text.",
        ),
    ] = None,
    budget: Budget = None,
    prompts: PromptsFolder = None,
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
    from realtalk.threads.protocols import describe
    from realtalk.threads.tables import count_tables

    chosen = made_samples(
        *(path, format_name, task, protocol, leak, with_scores, split, history, shots),
        *(limit, train_limit, seed),
    )
    named = settings_named(setting)
    if show_one is not None:
        _show_prompt(chosen.samples, named[0], show_one, budget, prompts, json)
        return
    if json:
        from dataclasses import asdict

        print_json(
            {**asdict(chosen.samples.counts), "protocol": dict(chosen.samples.protocol.settings)}
        )
        return
    for title, headings, rows in count_tables(chosen.samples.counts):
        show(title, headings, rows)
    for line in describe(chosen.samples.protocol):
        say(line)


@app.command()
def run(
    path: Target,
    task: TaskName = "sentiment",
    setting: SettingNames = "all",
    predictor: PredictorName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Set = None,
    budget: Budget = None,
    prompts: PromptsFolder = None,
    protocol: ProtocolName = "clean",
    leak: Leaks = None,
    with_scores: WithScores = False,
    split: Split = "user",
    history: History = "recent",
    shots: Shots = 0,
    limit: Limit = None,
    train_limit: TrainLimit = None,
    seed: Seed = 0,
    out: Out = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    json: Json = False,
) -> None:
    """Predict one task of every reply in the test part, and score it.

    Writes run.json and rows.parquet, a row a reply and setting. A run that was stopped goes on
    where it was: call it again.

    Examples:

        realtalk threads run sample-threads --task sentiment --predictor regression --out replies

        realtalk threads run posts.json --task impact --setting p-conv,p-nonconv -p mean --out mean

        realtalk threads run posts.json -t next_text --model openai/gpt-4o-mini --limit 500 --out m
    """
    from realtalk.cli.printing import end_unscored, progress, say
    from realtalk.cli.probe_options import run_folder
    from realtalk.threads.benchmark import ThreadTask, run_threads
    from realtalk.threads.registry import make_predictor

    named = settings_named(setting)
    asked = {
        "model": model,
        "base_url": base_url,
        "budget": budget,
        "prompts": prompts,
        "seed": seed,
    }
    made = make_predictor(*wanted_predictor(predictor, settings, asked))
    chosen = made_samples(
        *(path, format_name, task, protocol, leak, with_scores, split, history, shots),
        *(limit, train_limit, seed),
    )
    with run_folder(out) as folder, progress("predicting") as advance:
        found = run_threads(
            chosen.corpus,
            ThreadTask(chosen.samples, named, chosen.record),
            made,
            folder,
            fresh=fresh,
            progress=advance,
        )
    _print([found.summary], json, published=False, domains=False)
    if out is not None:
        say(f"the run is in {out}")
    end_unscored(row["unscored"] or row["untold"] for row in found.rows)


@app.command()
def table(
    runs: RunsNamed,
    domains: Annotated[
        bool, typer.Option("--domains", help="Also every domain of every setting.")
    ] = False,
    best_of: Annotated[
        bool,
        typer.Option(
            "--best-of",
            help="Also the best of the runs a reply, chosen by the truth, as the paper's GPT rows.",
        ),
    ] = False,
    published: Annotated[
        bool, typer.Option("--published/--no-published", help="The paper's rows below.")
    ] = True,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures", metavar="DIR", help="Radar pictures over domains: PNG, SVG and HTML."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Runs side by side in the form of the paper's table, its own rows below.

    Examples:

        realtalk threads table majority regression --domains

        realtalk threads table regression mean --figures pictures
    """
    from dataclasses import replace

    loaded = load_named(runs)
    found = [replace(each.summary, name=name) for name, each in loaded]
    if best_of:
        found.append(best_summary([each for _, each in loaded]))
    _print(found, json, published=published, domains=domains)
    if figures is not None:
        _draw(found, figures)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN", help="A folder that `threads run` wrote.")],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="Another on the same replies; without it settings are compared."
        ),
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(
            "--settings",
            metavar="A,B",
            help="Without a second run: B is compared with A.",
            show_default="p-nonconv,p-conv",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Two settings of a run, or two runs: differences and ratios with intervals, and a test.

    Intervals draw whole users, the test swaps whole users, Holm's correction is over the scores.
    The paper's "198 %" is the ratio of MCC in p-conv to p-nonconv, less 1.

    Examples:

        realtalk threads compare regression

        realtalk threads compare regression --settings np-conv,p-conv

        realtalk threads compare mean regression
    """
    from realtalk.cli.printing import print_json
    from realtalk.errors import RealtalkError
    from realtalk.threads.comparing import compare_runs, compare_settings

    if second is not None and settings is not None:
        raise RealtalkError(
            "two runs are compared in every setting that both have", fix="leave --settings out"
        )
    loaded = load_named([first] if second is None else [first, second])
    task = loaded[0][1].task
    found: dict[str, Compared]
    if second is None:
        named = "p-nonconv,p-conv" if settings is None else settings
        sides = [part.strip() for part in named.split(",") if part.strip()]
        if len(sides) != 2 or sides[0] == sides[1]:
            raise RealtalkError(f"'{named}' are not two settings", fix="write A,B")
        name, only = loaded[0]
        found = {name: compare_settings(only.rows, task, sides[0], sides[1])}
    else:
        (one, a), (other, b) = loaded
        if a.task != b.task:
            raise RealtalkError(
                f"{one} is of {a.task}, {other} of {b.task}", fix="compare one task"
            )
        found = compare_runs(a.rows, b.rows, task, (one, other))
    if json:
        print_json({title: each.to_json() for title, each in found.items()})
    else:
        _print_compared(found, task)
    _remarks(loaded)


def _print_compared(found: dict[str, Compared], task: Task) -> None:
    from realtalk.cli.printing import say, show
    from realtalk.threads.tables import change_table, gain_line

    for title, each in found.items():
        show(f"{title}: {each.names[1]} against {each.names[0]}", *change_table(each, task))
        if each.strict is not each.changes:
            show("the same, with what is unscored as wrong", *change_table(each, task, strict=True))
        for name, count in zip(each.names, each.alone, strict=True):
            if count:
                say(
                    f"{title}: {count:,} replies of {name} are left out, the other has none of them"
                )
        if line := gain_line(each, task):
            say(line)


def _remarks(loaded: Sequence[tuple[str, Any]]) -> None:
    from realtalk.cli.printing import warn

    for name, each in loaded:
        for note in each.notes:
            warn(f"{name}: {note}")


def _print(found: Sequence[Summary], json: bool, *, published: bool, domains: bool) -> None:
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.evals.tables import unscored_lines
    from realtalk.stats.grids import Grid
    from realtalk.threads.tables import READING, domain_table, paper_table
    from realtalk.threads.values import TASKS

    if json:
        print_json([each.to_json() for each in found])
    else:
        for task in TASKS:
            same = [each for each in found if each.about["task"] == task]
            if not same:
                continue
            headings, rows = paper_table(same, task, published=published)
            show(task, *Grid(list(headings), [list(row) for row in rows]).told_apart())
            for each in same if domains else ():
                for setting in each.variants:
                    show(f"{each.name}, {setting}", *domain_table(each, setting))
        say(READING)
    for each in found:
        for note in each.notes:
            warn(f"{each.name}: {note}")
        for line in unscored_lines(each):
            say(line)


def _draw(found: Sequence[Summary], folder: Path) -> None:
    from realtalk.cli.printing import say
    from realtalk.stats.figures import save_figures
    from realtalk.threads.pictures import draw_radar, draw_settings
    from realtalk.threads.values import SETTINGS, TASKS

    charts: dict[str, Any] = {}
    for task in TASKS:
        same = [each for each in found if each.about["task"] == task]
        if len(same) == 1:
            charts |= {f"{task}-{name}": chart for name, chart in draw_settings(same[0]).items()}
            continue
        for setting in SETTINGS:
            drawn = draw_radar(same, setting)
            charts |= {f"{task}-{setting}-{name}": chart for name, chart in drawn.items()}
    written = save_figures(charts, folder)
    say(f"wrote {len(written)} pictures to {folder}")


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


add_stored_runs(app, "thread tasks")
