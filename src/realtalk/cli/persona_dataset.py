"""`persona export-dataset`: a speaker's replies in the forms that tuning tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli import options


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command("export-dataset")(export_dataset)


def export_dataset(
    path: options.Target,
    speaker: Annotated[
        str, typer.Option("--speaker", "-s", metavar="NAME", help="Who becomes the assistant.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help="sharegpt (LLaMA-Factory, Axolotl), alpaca (LLaMA-Factory, Axolotl, WeClone), "
            "messages (TRL, WeClone, Axolotl, LLaMA-Factory).",
        ),
    ] = "sharegpt",
    redacted: Annotated[
        bool,
        typer.Option("--redact", help="Replace names, numbers and links by stand-ins first."),
    ] = False,
    names: Annotated[
        str,
        typer.Option("--names", metavar="A,B", help="With --redact: more names to replace."),
    ] = "",
    exchanges: Annotated[
        int | None,
        typer.Option(
            "--exchanges",
            metavar="N",
            help="At most so many questions and replies in a row.",
            show_default="a session; of alpaca one",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to write; without it nothing is written."
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--read-as", metavar="NAME", help="The chat's format, where it is not found by itself."
        ),
    ] = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Write a speaker's replies as JSONL for the tools that tune models.

    The speaker is the assistant, everybody else the user: who is who is shown before anything is
    written. A session is a conversation, that begins with the user and ends with the assistant.
    In a group the names stay in the user's text. Deleted messages are left out. The file holds
    what people wrote: read it before you pass it on, with --redact too.

    Examples:

        realtalk persona export-dataset sample --speaker Mara

        realtalk persona export-dataset sample --speaker Mara --format alpaca --out mara.jsonl

        realtalk persona export-dataset sample -s Mara --format messages --redact --out mara.jsonl
    """
    from realtalk.cli.printing import print_json, say
    from realtalk.surface.own_chats import export_dataset as build

    with options.reading(path, format_name, gap, "reading") as (corpus, _):
        chats = corpus()
    made = build(
        chats,
        speaker,
        form,
        redacted=redacted,
        names=[name.strip() for name in names.split(",") if name.strip()],
        exchanges=exchanges,
        out=out,
        say=say,
    )
    if json:
        print_json({**made.to_json(), "file": None if out is None else str(out)})
        return
    for what, count in made.left_out.items():
        if count:
            say(f"left out: {count:,} {what}")
    told = made.to_json()
    where = f"wrote {out}" if out is not None else "nothing is written without --out"
    say(f"{told['replies']:,} replies in {told['rows']:,} rows; {where}")
