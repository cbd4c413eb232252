"""`mcp`: chats for an assistant, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import FormatName, Gap, read_options


def register(app: typer.Typer) -> None:
    app.command()(mcp)


def mcp(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="Files, folders or zips to read, stored corpora, or names of samples.",
            show_default=False,
        ),
    ],
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Answer with stand-ins for names, phones, links and the like."
        ),
    ] = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="DIR",
            help="EI labels that `realtalk ei PATH --out` wrote; else those beside PATH are taken, "
            "else turns are labelled when they are asked about.",
        ),
    ] = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
) -> None:
    """Let an assistant look into chats: a local server of the Model Context Protocol (MCP).

    The assistant starts this command itself and talks to it over standard input and output: see
    the guide for what to write into its settings. It can list chats, search them, recall what was
    said about a question, read sessions, count, and tell feelings. It can change nothing, and no
    connection is opened; but what the assistant reads goes to whoever runs the assistant.

    Examples:

        realtalk mcp "WhatsApp Chat with Mara.zip"

        realtalk mcp mara family --redact

        realtalk mcp mara --labels mara-labels
    """
    from realtalk.assistant.collection import Collection
    from realtalk.assistant.labels_beside import labels_beside, named_labels
    from realtalk.assistant.preparing import Prepared
    from realtalk.assistant.server import need_extra, serve
    from realtalk.cli.printing import warn
    from realtalk.corpora.opening import open_reading
    from realtalk.errors import RealtalkError

    need_extra()
    corpora, found = [], []
    for path in paths:
        if path == "-":
            raise RealtalkError("standard input is where the assistant asks", fix="name a file")
        reading = open_reading(path, format_name, read_options(gap)).reading
        for note in () if redact else reading.notes:  # they may name files, and files people
            warn(note)
        corpus = reading.corpus
        corpora.append(corpus)
        found.append(named_labels(labels, corpus) if labels else labels_beside(path, corpus))
    with suppress(KeyboardInterrupt):
        chats = Prepared(lambda: Collection.of(corpora, found, redact=redact))
        serve(chats, redacted=redact)
    _end()


def _end() -> None:
    """Ends the process: where a thread still encodes, Python's own end now and then aborts it."""
    import os
    import sys

    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
