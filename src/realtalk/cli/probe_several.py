"""`probe compare` and `probe sweep`: memories side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import BaseUrl, FormatName, Gap, Json, Target, apart, opened, read_options
from realtalk.cli.probe_options import (
    BudgetWords,
    Categories,
    Connections,
    Fresh,
    Limit,
    MaxTokens,
    ModelName,
    Prompts,
    ReaderName,
    RunFolder,
    Seed,
    make_budgets,
    make_memory,
    make_plan,
    make_reader,
    why_unscored,
)

if TYPE_CHECKING:
    from realtalk.memory.run import Probed

__all__ = ["compare", "register", "sweep"]


def register(app: typer.Typer) -> None:
    """Adds the commands to `probe`."""
    app.command()(compare)
    app.command()(sweep)


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

    Trust p by chat: questions of one chat share its speakers, memory and annotator, so whole
    chats are drawn for the interval and swapped for the test (every way of swapping, up to 16
    chats). Below 5 chats it cannot be told, and 5 chats cannot give a p below 0.06.

    p by question takes every question as independent and is often too small: McNemar's test for
    right or wrong, a permutation test otherwise. Both are also corrected by Holm.

    Examples:

        realtalk probe compare events-run retrieved-run

        realtalk probe compare events-run retrieved-run --budget 1000 --json
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.memory.learned import in_sample
    from realtalk.memory.run import load_probe, refuse_other_formulas
    from realtalk.memory.scoring import compare_runs, question_scores, refuse_other_questions
    from realtalk.memory.tables import comparison_lines, comparison_rows, independent_rows

    sides = [load_probe(folder) for folder in (first, second)]
    refuse_other_formulas(sides)
    scores = []
    for side in sides:
        chosen = side.one_budget(budget)
        rows, judgements = (
            [row for row in each if row["budget"] == chosen]
            for each in (side.rows, side.judgements)
        )
        scores.append(question_scores(rows, judgements))
    refuse_other_questions(sides[0].rows, sides[1].rows)
    if len({side.settings["corpus"].get("sha256") for side in sides}) > 1:
        warn("the runs were made from different states of their corpus")
    found = compare_runs(scores[0], scores[1], apart(str(first), str(second)))
    if json:
        print_json(
            found.to_json() | {"in_sample": [in_sample(side.rows, side.settings) for side in sides]}
        )
    else:
        show("the second run against the first, on the same questions", *comparison_rows(found))
        show("as if questions were independent of their chats", *independent_rows(found))
    for line in (*_cautions(dict(zip(found.names, sides, strict=True))), *comparison_lines(found)):
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
    reader: ReaderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    prompts: Prompts = None,
    categories: Categories = "",
    limit: Limit = None,
    connections: Connections = 10,
    max_tokens: MaxTokens = None,
    seed: Seed = 0,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Memories × budgets: a table, and the picture of score against tokens.

    Every memory's run is kept in a folder of its own below DIR, the pictures in DIR/figures.

    Examples:

        realtalk probe sweep sample --memories recent,events,whole --budgets 500,1000 --out sweep
    """
    from realtalk.cli.printing import end_unscored, print_json, progress, say, show
    from realtalk.errors import RealtalkError
    from realtalk.evals import refuse_other_runs
    from realtalk.memory.pictures import draw_sweep
    from realtalk.memory.run import run_probe
    from realtalk.memory.tables import sweep_rows
    from realtalk.stats.figures import save_figures

    with opened(path, format_name, read_options(gap)) as found:
        corpus = found.reading.corpus
    chosen = make_reader(reader, model, corpus, base_url, prompts, connections, max_tokens, seed)
    names = list(dict.fromkeys(part.strip() for part in memories.split(",") if part.strip()))
    if not names:
        raise RealtalkError("no memory is named", fix="write --memories recent,events")
    plans = {
        name: make_plan(
            corpus,
            make_memory(name, None, None),
            chosen,
            make_budgets(name, chosen.name, budgets, budget_words, shared=True),
            categories,
            limit,
        )
        for name in names
    }
    refuse_other_runs(out)
    runs = {}
    for name, plan in plans.items():
        with progress(name) as advance:
            runs[name] = run_probe(plan, out / name, fresh=fresh, progress=advance)
    scores = {name: each.scores for name, each in runs.items()}
    if json:
        print_json({name: each.to_json() for name, each in runs.items()})
    else:
        show("memories and budgets", *sweep_rows(scores))
    for line in _cautions(runs):
        say(line)
    paths = save_figures(draw_sweep(scores), out / "figures")
    say(f"wrote {len(paths)} files to {out / 'figures'}")
    end_unscored(reason for each in runs.values() for reason in why_unscored(each))


def _cautions(runs: Mapping[str, Probed]) -> list[str]:
    return [f"{name}: {line}" for name, each in runs.items() for line in each.cautions]
