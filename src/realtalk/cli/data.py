"""`data get` and `data list`: the published corpora, fetched and checked."""

from __future__ import annotations

from typing import Annotated

import typer

from realtalk.cli.options import Cache, Json

app = typer.Typer(help="Download the published corpora, hash-checked.", no_args_is_help=True)


@app.command()
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="realtalk or locomo.")],
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Download a published corpus into the user cache.

    Files that are there and right are not fetched again; a broken or wrong file is refused.

    Examples:

        realtalk data get realtalk

        realtalk stats "$(realtalk data get locomo)"
    """
    from realtalk.cli.printing import print_json, print_text, progress
    from realtalk.local.download import get as fetch
    from realtalk.local.download import inventory

    with progress(f"downloading {name}") as advance:
        folder = fetch(name, cache=cache, progress=advance)
    if json:
        files = [entry for entry in inventory(cache) if entry.dataset == name]
        states = {entry.path.name: entry.state for entry in files}
        print_json({"dataset": name, "folder": str(folder), "states": states})
        return
    print_text(str(folder))


@app.command("list")
def list_(
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Show which published corpora there are and what is already here.

    Every file is checked against its hash: a damaged one is fetched again by `data get`.
    """
    from realtalk.cli.printing import print_json, show
    from realtalk.local.download import DATASETS, inventory

    held = inventory(cache)
    entries = []
    for name, dataset in DATASETS.items():
        files = [entry for entry in held if entry.dataset == name]
        right = sum(entry.state == "verified" for entry in files)
        entries.append(
            {
                "dataset": name,
                "files": len(files),
                "verified": right,
                "bytes": sum(entry.size for entry in files),
                "licence": dataset.licence,
                "folder": str(files[0].path.parent),
                "states": {entry.path.name: entry.state for entry in files},
            }
        )
    if json:
        print_json(entries)
        return
    rows = [
        (e["dataset"], f"{e['verified']} of {e['files']}", e["bytes"], e["licence"], e["folder"])
        for e in entries
    ]
    show("published corpora", ("name", "here and right", "bytes", "licence", "folder"), rows)
