"""`persona export-adapter`: an adapter of `persona tune` as the file that llama.cpp loads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli import options
from realtalk.cli import persona_options as persona


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command("export-adapter")(export_adapter)


def export_adapter(
    adapter: Annotated[
        Path,
        typer.Argument(metavar="ADAPTER", help="The folder that `persona tune` wrote."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to write.", show_default="ADAPTER.gguf"
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="MODEL",
            help="The model it was trained on: a folder, a .gguf file, or a name.",
            show_default="as it was named in training",
        ),
    ] = None,
    consent: persona.Agreement = None,
    cache: options.Cache = None,
    json: options.Json = False,
) -> None:
    """Write an adapter as GGUF, which llama.cpp loads onto the model's own file.

    Asked once, by name, as for a talk: by whose leave it writes as them. The answer is kept with
    the adapter. It stands in the file's metadata too, with the speaker's name and
    that whatever it writes is simulated. In transformers the folder loads as it is, by peft.
    Needs the extra train.

    Examples:

        realtalk persona export-adapter adapters/theo --consent fictional

        realtalk persona export-adapter adapters/theo --base qwen2.5-0.5b --out theo.gguf
    """
    from dataclasses import asdict

    from realtalk.cli.persona_talk import ask
    from realtalk.cli.printing import print_json, say
    from realtalk.surface.own_chats import export_adapter as write

    written = write(
        adapter,
        consent=ask if consent is None else consent,
        base=base,
        out=out,
        cache=cache,
    )
    if json:
        lies = None if written.base is None else str(written.base)
        print_json({**asdict(written), "file": str(written.file), "base": lies})
        return
    say(written.consent.meaning)
    say(
        f"wrote {written.file}: {written.speaker} (simulated), {written.matrices:,} matrices of "
        f"rank {written.rank} for {written.architecture}"
    )
    say(written.command)
