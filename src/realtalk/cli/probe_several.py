"""`probe table`, `probe compare` and `probe sweep`: memories side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli.options import (
    BaseUrl,
    Connections,
    FormatName,
    Gap,
    Json,
    PricesFile,
    Rate,
    Swept,
    Target,
    apart,
    named_run,
    opened,
    read_options,
)
from realtalk.cli.probe_options import (
    BudgetWords,
    Categories,
    Fresh,
    GoldsName,
    Limit,
    MaxTokens,
    ModelName,
    Prompts,
    ReaderName,
    RunFolder,
    Seed,
    named,
    why_unscored,
    written_budgets,
)
from realtalk.cli.verbs import load_prices, show_sweep_costs

if TYPE_CHECKING:
    from realtalk.memory.benchmark import ProbedRun
    from realtalk.surface.runs import Run
    from realtalk.surface.sources import Readable


def register(app: typer.Typer) -> None:
    """Adds the commands to `probe`."""
    app.command()(table)
    app.command()(compare)
    app.command()(sweep)


def table(
    runs: Annotated[
        list[str], typer.Argument(metavar="[NAME=]RUN…", help="Folders that probes wrote.")
    ],
    json: Json = False,
) -> None:
    """Runs side by side, one line per memory and budget: cost, evidence found, answers.

    Examples:

        realtalk probe table probe-recent probe-retrieved

        realtalk probe table mine=probe-mine theirs=probe-retrieved --json
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.memory.benchmark import load_probe
    from realtalk.memory.rescoring import refuse_other_formulas
    from realtalk.memory.tables import sweep_rows
    from realtalk.report.finding import told_apart

    given = [named_run(text) for text in runs]
    loaded = [load_probe(Path(folder)) for _, folder in given]
    refuse_other_formulas(loaded)
    names = [name or run.name for (name, _), run in zip(given, loaded, strict=True)]
    shown = told_apart(names, [folder for _, folder in given])
    side_by_side = dict(zip(shown, loaded, strict=True))
    if json:
        print_json({name: run.to_json() for name, run in side_by_side.items()})
    else:
        scores = {name: run.scores for name, run in side_by_side.items()}
        show("memories and budgets", *sweep_rows(scores))
    for line in _cautions(side_by_side):
        say(line)


def compare(
    first: RunFolder,
    second: RunFolder,
    budget: Annotated[
        str | None,
        typer.Option("--budget", "-b", metavar="N", help="Where the runs have several."),
    ] = None,
    json: Json = False,
) -> None:
    """Two runs on the same questions: paired differences with intervals and tests.

    Questions of one chat share its speakers, memory and annotator, so whole chats are drawn for
    the interval and swapped for the test (every way of swapping, up to 12 chats). Below 5 chats
    the interval draws questions, and there is no p: nothing can be said about other chats. p is
    also corrected by Holm for the other scores.

    Examples:

        realtalk probe compare events-run retrieved-run

        realtalk probe compare events-run retrieved-run --budget 1000 --json
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.evals.comparing import comparison_notes
    from realtalk.evals.tables import compared_table
    from realtalk.memory.benchmark import load_probe
    from realtalk.memory.learned import in_sample
    from realtalk.memory.rescoring import compared_audited, compared_runs

    sides = [load_probe(folder) for folder in (first, second)]
    if len({side.settings["corpus"].get("sha256") for side in sides}) > 1:
        warn("the runs were made from different states of their corpus")
    names = apart(str(first), str(second))
    compared, scores = compared_runs(sides[0], sides[1], budget, names)
    beside = compared_audited(sides[0], sides[1], budget, names)
    if json:
        seen = [in_sample(side.rows, side.settings) for side in sides]
        audited = {} if beside is None else {"audited": beside[0].to_json()}
        print_json(compared.to_json() | {"in_sample": seen} | audited)
    else:
        lines = compared_table(compared, scores, samples="questions", groups="chats")
        show("the second run against the first, on the same questions", *lines)
        if beside is not None:
            lines = compared_table(*beside, samples="questions", groups="chats")
            show("the same by the audited golds", *lines)
    notes = comparison_notes(compared, "chats")
    for line in (*_cautions(dict(zip(names, sides, strict=True))), *notes):
        say(line)


def sweep(
    path: Target,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
    memories: Annotated[
        str, typer.Option("--memories", metavar="A,B", help="Memories by name.")
    ] = "recent,events,restored,retrieved,whole",
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,…", help="As --budget of `probe`.")
    ] = "500,1000,2000,4000",
    budget_words: BudgetWords = False,
    settings: Swept = None,
    reader: ReaderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    prompts: Prompts = None,
    categories: Categories = "",
    limit: Limit = None,
    golds: GoldsName = "published",
    connections: Connections = 10,
    rate: Rate = None,
    max_tokens: MaxTokens = None,
    seed: Seed = 0,
    prices: PricesFile = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Memories × budgets × settings: a table, and the picture of score against tokens.

    Every run is kept in a folder of its own below DIR, the pictures in DIR/figures. --set names
    values of an option of `run` or of a setting of the memories; every combination is run.

    Examples:

        realtalk probe sweep sample --memories recent,events,whole --budgets 500,1000 --out sweep

        realtalk probe sweep sample --memories restored --set around=0,2,4 --out around
    """
    from realtalk.cli.printing import end_unscored, print_json, progress, say, show
    from realtalk.errors import RealtalkError
    from realtalk.memory.pictures import draw_sweep
    from realtalk.memory.registry import make_memory
    from realtalk.memory.tables import sweep_rows
    from realtalk.stats.figures import save_figures
    from realtalk.surface.benchmarks import probe
    from realtalk.surface.sweeping import parse_axes
    from realtalk.surface.sweeping import sweep as carry_out

    with opened(path, format_name, read_options(gap)) as source:
        corpus = source.reading.corpus
    names = named(memories)
    if not names:
        raise RealtalkError("no memory is named", fix="write --memories recent,events")
    written = written_budgets(budgets, budget_words)
    for name in names:
        make_memory(name, {})  # a name that nobody has is refused before the first run
    prices_known = load_prices(prices)
    with progress("sweeping") as advance:
        swept = carry_out(
            _within_budget(probe),
            corpus,
            {"memory": names, **parse_axes(settings or [])},
            out=out,
            fresh=fresh,
            progress=advance,
            names=_folder,
            reader=reader,
            model=model,
            base_url=base_url,
            prompts=prompts,
            budget=written,
            categories=named(categories),
            limit=limit,
            golds=golds,
            connections=connections,
            rate=rate,
            max_tokens=max_tokens,
            seed=seed,
        )
    runs: dict[str, ProbedRun] = {name: run.record for name, run in swept.runs.items()}
    scores = {name: each.scores for name, each in runs.items()}
    if json:
        print_json({name: each.to_json() for name, each in runs.items()})
    else:
        show("memories and budgets", *sweep_rows(scores))
        show_sweep_costs(swept, prices_known)
    for line in _cautions(runs):
        say(line)
    paths = save_figures(draw_sweep(scores), out / "figures")
    say(f"wrote {len(paths)} files to {out / 'figures'}")
    end_unscored(reason for each in runs.values() for reason in why_unscored(each))


def _within_budget(probe: Callable[..., Run]) -> Callable[..., Run]:
    """`probe`, in which a memory that takes no budget is given none."""
    from realtalk.memory.registry import BUDGETLESS

    @wraps(probe)
    def probe_memory(corpus: Readable, memory: str, **options: Any) -> Run:
        if memory in BUDGETLESS:
            options["budget"] = None
        return probe(corpus, memory, **options)

    return probe_memory


def _folder(values: Mapping[str, Any]) -> str:
    """A memory's name, and what else differs."""
    from realtalk.surface.sweeping import folder_name

    others = {key: value for key, value in values.items() if key != "memory"}
    parts = [str(values["memory"])] if "memory" in values else []
    return "+".join([*parts, *([folder_name(others)] if others else [])])


def _cautions(runs: Mapping[str, ProbedRun]) -> list[str]:
    return [f"{name}: {line}" for name, each in runs.items() for line in each.cautions]
