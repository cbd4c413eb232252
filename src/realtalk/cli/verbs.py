"""The grammar that the benchmarks share: a default verb, and stored runs shown and looked into.

realtalk threads PATH            is   realtalk threads run PATH
realtalk probe show RUN          the figures of a stored run again
realtalk persona failures RUN    its rows that are worth reading, worst first
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from realtalk.cli.options import (
    FormatName,
    Fresh,
    Json,
    PricesFile,
    Swept,
    Target,
    reading,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from realtalk.evals.prices import Prices, Usage
    from realtalk.surface.runs import Run
    from realtalk.surface.sweeping import Sweep

RUN = "run"
_SWEEP = """Run every combination of several settings, and show the runs side by side.

Options of `run` are written without their dashes: --set budget=500,1000 --set limit=10. Every
combination's run is kept in a folder of its own below DIR; called again, it goes on.

Examples:

{examples}
"""

StoredRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder that a run wrote.", show_default=False)
]
StoredCorpus = Annotated[
    str | None,
    typer.Argument(
        metavar="[CORPUS]",
        help="The corpus that the run was of, as `run` takes it; a sample is found by itself.",
        show_default=False,
    ),
]
Groups = Annotated[bool, typer.Option("--groups", help="Also by category, speaker or domain.")]
Most = Annotated[int, typer.Option("--most", "-n", metavar="N", help="So many rows.", min=1)]


class Verbs(TyperGroup):
    """`realtalk probe PATH` is `realtalk probe run PATH`."""

    default: ClassVar[str] = RUN

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def add_stored_runs(app: typer.Typer, kind: str) -> None:
    """Adds `show` and `failures` for runs of one kind."""

    def show(
        run: StoredRun, groups: Groups = False, prices: PricesFile = None, json: Json = False
    ) -> None:
        """Show the figures of a stored run: estimate, 95 % interval, n, unscored.

        With --prices also what its models cost; as JSON that is {"figures": …, "costs": …}.
        """
        show_run(run, kind, groups=groups, prices=prices, json=json)

    def failures(run: StoredRun, most: Most = 10, json: Json = False) -> None:
        """Show the rows of a stored run that are worth reading, worst first. Prints texts."""
        print_failures(run, kind, most, json=json)

    app.command()(show)
    app.command()(failures)


def show_run(run: Path, kind: str, *, groups: bool, prices: Path | None, json: bool) -> None:
    """Prints the figures of a stored run."""
    from realtalk.cli.printing import print_json, say
    from realtalk.cli.printing import show as show_table

    known = load_prices(prices)
    loaded = _load(run, kind)
    figures = loaded.summary(groups=groups).frame.to_dicts()
    if json:
        costs = costs_json(loaded, known)
        print_json({"figures": figures, **costs} if costs else figures)
        return
    cells = [_cells(row) for row in figures]
    show_table(f"{kind}: {loaded.name}", list(cells[0]), [list(row.values()) for row in cells])
    show_costs(loaded.usage, known)
    for line in loaded.cautions:
        say(line)


def print_failures(run: Path, kind: str, most: int, *, json: bool) -> None:
    """Prints the rows of a stored run that are worth reading, worst first."""
    from realtalk.cli.printing import print_json, print_text, say

    rows = _load(run, kind).failures(most).to_dicts()
    if json:
        print_json(rows)
        return
    if not rows:
        say("nothing failed")
    for row in rows:
        known = {name: value for name, value in row.items() if value not in (None, "", [])}
        print_text("\n".join(f"{name}: {value}" for name, value in known.items()) + "\n")


def add_sweep(app: typer.Typer, name: str, *examples: str, **defaults: Any) -> None:
    """Adds `sweep` of what Python calls `name`; `defaults` are those that only the command has."""

    def sweep(
        path: Target,
        out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
        settings: Swept = None,
        fresh: Fresh = False,
        prices: PricesFile = None,
        format_name: FormatName = None,
        json: Json = False,
    ) -> None:
        import realtalk
        from realtalk.surface.sweeping import parse_axes
        from realtalk.surface.sweeping import sweep as carry_out

        known = load_prices(prices)
        axes = parse_axes(settings or [])
        with reading(path, format_name, "6h", "sweeping") as (corpus, advance):
            found = carry_out(
                getattr(realtalk, name),
                corpus,
                axes,
                out=out,
                fresh=fresh,
                progress=advance,
                **defaults,
            )
        end_sweep(found, out, known, json=json)

    written = "\n\n".join(f"    {example}" for example in examples)
    app.command(help=_SWEEP.format(examples=written))(sweep)


def load_prices(file: Path | None) -> Prices | None:
    """Prices, where a file is named: before anything is spent."""
    if file is None:
        return None
    from realtalk.evals.prices import read_prices

    return read_prices(file)


def corpus_of(run: Path, corpus: str | None, command: str) -> str:
    """Where the corpus of a stored run lies: a run knows its name only."""
    from realtalk.corpora.opening import SAMPLES
    from realtalk.errors import RealtalkError
    from realtalk.evals.folder import RunFolder

    if corpus is not None:
        return corpus
    named = RunFolder.load(run, None).settings.get("corpus")
    name = named.get("name") if isinstance(named, dict) else None
    if name in SAMPLES:
        return str(name)
    raise RealtalkError(
        "the run does not say where its corpus lies",
        where=str(run),
        fix=f"name it: realtalk {command} rescore {run} CORPUS",
    )


def end_run(run: Run, out: Path | None) -> None:
    """Says where the run is; ends with status 1 where nothing has a score."""
    from realtalk.cli.printing import end_unscored, say

    if out is not None:
        say(f"the run is in {out}")
    end_unscored(row["unscored"] or row["untold"] for row in run.rows)


def costs_json(run: Run, prices: Prices | None) -> dict[str, Any]:
    """What is added to a run's JSON where prices are known."""
    from realtalk.evals.prices import cost_json

    return {} if prices is None else {"costs": cost_json(run.usage, prices)}


def end_sweep(
    sweep: Sweep, out: Path, prices: Prices | None, *, json: bool, shown: bool = False
) -> None:
    """Prints the table of a sweep, unless it is `shown` already, and what every run cost."""
    from realtalk.cli.printing import end_unscored, print_json, say, show

    if json and not shown:
        costs = [costs_json(run, prices) for run in sweep.runs.values()]
        print_json([told | cost for told, cost in zip(sweep.to_json(), costs, strict=True)])
    elif not shown:
        show("one run per combination", *sweep.table())
        for caution in sweep.summary().notes:
            say(caution)
    if not json:
        show_sweep_costs(sweep, prices)
    say(f"the runs are in {out}")
    end_unscored(
        row["unscored"] or row.get("untold") for run in sweep.runs.values() for row in run.rows
    )


def show_sweep_costs(sweep: Sweep, prices: Prices | None) -> None:
    """What the models of every run of a sweep cost, where prices are known."""
    from realtalk.cli.printing import show
    from realtalk.evals.prices import cost_table

    for name, run in sweep.runs.items():
        if prices is not None and run.usage:
            show(f"{name}: what it cost", *cost_table(run.usage, prices))


def show_costs(usages: Sequence[Usage], prices: Prices | None) -> None:
    """What the models of a run cost, where prices are known."""
    if prices is None:
        return
    from realtalk.cli.printing import say, show
    from realtalk.evals.prices import cost_table

    if usages:
        show("what it cost", *cost_table(usages, prices))
    else:
        say("no model was asked: nothing to pay")


def _load(folder: Path, kind: str) -> Run:
    from realtalk.errors import RealtalkError
    from realtalk.surface.runs import Run

    loaded = Run.load(folder)
    if loaded.kind != kind:
        raise RealtalkError(f"a run of {loaded.kind}, not of {kind}", where=str(folder))
    return loaded


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    from realtalk.surface.tables import figure_text

    about = {name: row[name] for name in ("variant", "group") if row.get(name) is not None}
    return {
        **about,
        "score": row["score"],
        "figure": figure_text(row),
        "n": row["n"],
        "unscored": row["unscored"],
    }
