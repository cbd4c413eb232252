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

from realtalk.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from realtalk.surface.runs import Run

__all__ = ["RUN", "Verbs", "add_stored_runs"]

RUN = "run"

StoredRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder that a run wrote.", show_default=False)
]
Groups = Annotated[bool, typer.Option("--groups", help="Also by category, speaker or domain.")]
Most = Annotated[int, typer.Option("--most", "-n", metavar="N", help="So many rows.", min=1)]


class Verbs(TyperGroup):
    """`realtalk probe PATH` is `realtalk probe run PATH`. Old spellings are understood and said."""

    default: ClassVar[str] = RUN
    renamed: ClassVar[Mapping[str, str]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] in self.renamed:
            now = self.renamed[args[0]]
            typer.echo(
                f"note: `{ctx.info_name} {args[0]}` is now `{ctx.info_name} {now}`", err=True
            )
            args = [now, *args[1:]]
        elif args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def add_stored_runs(app: typer.Typer, kind: str) -> None:
    """Adds `show` and `failures` for runs of one kind."""

    def show(run: StoredRun, groups: Groups = False, json: Json = False) -> None:
        """Show the figures of a stored run: estimate, 95 % interval, n, unscored."""
        from realtalk.cli.printing import print_json, say
        from realtalk.cli.printing import show as show_table

        loaded = _load(run, kind)
        table = loaded.summary(groups=groups)
        if json:
            print_json(table.frame.to_dicts())
            return
        cells = [_cells(row) for row in table.frame.to_dicts()]
        show_table(f"{kind}: {loaded.name}", list(cells[0]), [list(row.values()) for row in cells])
        for line in loaded.cautions:
            say(line)

    def failures(run: StoredRun, most: Most = 10, json: Json = False) -> None:
        """Show the rows of a stored run that are worth reading, worst first. Prints texts."""
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

    app.command()(show)
    app.command()(failures)


def _load(folder: Path, kind: str) -> Run:
    from realtalk.errors import RealtalkError
    from realtalk.surface.runs import Run

    loaded = Run.load(folder)
    if loaded.kind != kind:
        raise RealtalkError(f"a run of {loaded.kind}, not of {kind}", where=str(folder))
    return loaded


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    """A figure and its interval in one cell, as every table has them."""
    from realtalk.evals.tables import figure
    from realtalk.evals.values import Score
    from realtalk.metrics.statistics import Estimate

    found = Estimate(row["estimate"], row["low"], row["high"])
    about = {name: row[name] for name in ("variant", "group") if row.get(name) is not None}
    return {
        **about,
        "score": row["score"],
        "figure": figure(found, Score(row["score"], row["score"])),
        "n": row["n"],
        "unscored": row["unscored"],
    }
