"""`threads`: what becomes of a reply in a discussion, and what somebody would write there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli import options, threads_samples, verbs
from realtalk.cli import threads_options as threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from realtalk.chat import Corpus
    from realtalk.evals.comparing import Compared
    from realtalk.evals.summaries import Summary
    from realtalk.threads.values import Task

app = typer.Typer(
    cls=verbs.Verbs,
    help="Reddit-like threads: predict whether a reply is liked, how much, and what somebody "
    "writes, with and without the conversation and their history. `realtalk threads PATH` is "
    "`realtalk threads run PATH`.",
    no_args_is_help=True,
)
threads_samples.register(app)


@app.command(verbs.RUN)
def run(
    path: options.Target,
    task: threads.TaskName = "sentiment",
    setting: threads.SettingNames = "all",
    predictor: threads.PredictorName = None,
    model: threads.ModelName = None,
    base_url: options.BaseUrl = None,
    connections: options.LlmConnections = None,
    rate: options.Rate = None,
    settings: threads.Set = None,
    budget: threads.Budget = None,
    prompts: threads.PromptsFolder = None,
    protocol: threads.ProtocolName = "clean",
    leak: threads.Leaks = None,
    with_scores: threads.WithScores = False,
    split: threads.Split = "user",
    history: threads.History = "recent",
    shots: threads.Shots = 0,
    limit: threads.Limit = None,
    train_limit: threads.TrainLimit = None,
    seed: threads.Seed = 0,
    out: options.Out = None,
    fresh: options.Fresh = False,
    engine: options.EngineName = None,
    workers: options.Workers = None,
    address: options.Address = None,
    prices: options.PricesFile = None,
    format_name: options.FormatName = None,
    json: options.Json = False,
) -> None:
    """Predict one task of every reply in the test part, and score it.

    Writes run.json and rows.parquet, one row per reply and setting. A run that was stopped goes on
    where it was: call it again. With --engine the texts are encoded by several at once, which is
    most of the time of regression and nearest.

    Examples:

        realtalk threads run sample-threads --task sentiment --predictor regression --out replies

        realtalk threads run posts.json --task impact --setting p-conv,p-nonconv -p mean --out mean

        realtalk threads run posts.json -t next_text --model openai/gpt-4o-mini --limit 500 --out m
    """
    from realtalk.cli.printing import print_json
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.benchmarks import predict

    known = verbs.load_prices(prices)
    with options.reading(path, format_name, "6h", "predicting") as (corpus, advance):
        found = predict(
            corpus,
            task,
            setting,
            predictor,
            model=model,
            base_url=base_url,
            connections=connections,
            rate=rate,
            settings=parse_settings(settings or []),
            budget=budget,
            prompts=prompts,
            protocol=protocol,
            leaks=leak or (),
            with_scores=with_scores,
            split=split,
            history=history,
            shots=shots,
            limit=limit,
            train_limit=train_limit,
            seed=seed,
            out=out,
            fresh=fresh,
            engine=engine,
            workers=workers,
            address=address,
            progress=advance,
        )
    summary = found.record.summary
    if json:
        print_json([found.to_json() | verbs.costs_json(found, known)])
    else:
        _show([summary], published=False, domains=False)
        verbs.show_costs(found.usage, known)
    _notes([summary])
    verbs.end_run(found, out)


@app.command()
def rescore(
    run: verbs.StoredRun,
    corpus: verbs.StoredCorpus = None,
    format_name: options.FormatName = None,
    json: options.Json = False,
) -> None:
    """Score a stored run's predictions again by the present formulas; nobody predicts again.

    Says what changed. Replies that are no longer in the corpus keep the scores they have. Rows of
    sentiment and impact keep no scores: their figures are always made by the present formulas.

    Examples:

        realtalk threads rescore texts

        realtalk threads rescore texts posts.json
    """
    from realtalk.cli.printing import print_json, say
    from realtalk.surface.runs import Run
    from realtalk.threads.benchmark import rescore_threads

    def read() -> Corpus:
        path = verbs.corpus_of(run, corpus, "threads")
        with options.opened(path, format_name, options.read_options()) as source:
            return source.reading.corpus

    changes = rescore_threads(run, read)
    for line in changes.lines:
        say(line)
    found = Run.load(run)
    summary = found.record.summary
    if json:
        print_json([found.to_json()])
    else:
        _show([summary], published=False, domains=False)
    _notes([summary])
    verbs.end_run(found, run)


@app.command()
def table(
    runs: threads.RunsNamed,
    domains: Annotated[
        bool, typer.Option("--domains", help="Also every domain of every setting.")
    ] = False,
    best_of: Annotated[
        bool,
        typer.Option(
            "--best-of",
            help="Also the best of the runs for every reply, chosen by the truth, as the paper's "
            "GPT rows.",
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
    json: options.Json = False,
) -> None:
    """Runs side by side in the form of the paper's table, its own rows below.

    Examples:

        realtalk threads table majority regression --domains

        realtalk threads table regression mean --figures pictures
    """
    from dataclasses import replace

    from realtalk.cli.printing import print_json, say
    from realtalk.stats.figures import save_figures
    from realtalk.threads.pictures import draw_runs

    loaded = threads.load_named(runs)
    found = [replace(each.summary, name=name) for name, each in loaded]
    if best_of:
        found.append(threads.best_summary([each for _, each in loaded]))
    if json:
        print_json([summary.to_json() for summary in found])
    else:
        _show(found, published=published, domains=domains)
    _notes(found)
    if figures is not None:
        written = save_figures(draw_runs(found), figures)
        say(f"wrote {len(written)} pictures to {figures}")


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
    json: options.Json = False,
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
    loaded = threads.load_named([first] if second is None else [first, second])
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


def _show(summaries: Sequence[Summary], *, published: bool, domains: bool) -> None:
    from realtalk.cli.printing import say, show
    from realtalk.stats.grids import Grid
    from realtalk.threads.tables import READING, domain_table, paper_table
    from realtalk.threads.values import TASKS

    for task in TASKS:
        same = [summary for summary in summaries if summary.about["task"] == task]
        if not same:
            continue
        headings, rows = paper_table(same, task, published=published)
        show(task, *Grid(list(headings), [list(row) for row in rows]).told_apart())
        for summary in same if domains else ():
            for setting in summary.variants:
                show(f"{summary.name}, {setting}", *domain_table(summary, setting))
    say(READING)


def _notes(summaries: Sequence[Summary]) -> None:
    from realtalk.cli.printing import say, warn
    from realtalk.evals.tables import unscored_lines

    for summary in summaries:
        for note in summary.notes:
            warn(f"{summary.name}: {note}")
        for line in unscored_lines(summary):
            say(line)


verbs.add_sweep(
    app,
    "predict",
    "realtalk threads sweep sample-threads --set predictor=majority,mean --set limit=200 --out s",
    "realtalk threads sweep posts.json --set model=openai/gpt-4o-mini --set budget=500,2000 -o s",
    setting="all",
)
verbs.add_stored_runs(app, "thread tasks")
