"""`studio`: read and annotate chats in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli import persona_options as persona
from realtalk.cli.options import BaseUrl, FormatName, Gap, Json, Target, opened, read_options

if TYPE_CHECKING:
    from realtalk.studio.serving import Server


def register(app: typer.Typer) -> None:
    app.command()(studio)


def studio(
    path: Target,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="A port of this machine; 0 takes any.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Show the link, do not open a browser.")
    ] = False,
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations",
            "-a",
            metavar="FILE",
            help="Where annotations are kept; by default NAME-annotations.sqlite here.",
        ),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option("--annotator", metavar="NAME", help="Who annotates; else your user name."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="DIR",
            help="EI labels that `realtalk ei PATH --out` wrote; else they are made as you read.",
        ),
    ] = None,
    simulated: Annotated[
        list[str] | None,
        typer.Option(
            "--simulated",
            metavar="RUN",
            help="Guess: a folder that `persona run` wrote, or NAME=RUN, whose replies stand among "
            "the real ones; may be repeated.",
        ),
    ] = None,
    replies: Annotated[
        int, typer.Option("--replies", metavar="N", help="Guess: 2 or 4 replies to choose from.")
    ] = 4,
    guesses: Annotated[
        Path | None,
        typer.Option(
            "--guesses",
            metavar="DIR",
            help="Where guesses are kept, as a run; by default beside the annotations.",
        ),
    ] = None,
    talk: Annotated[
        str | None,
        typer.Option(
            "--talk",
            metavar="NAME",
            help="Talk: the speaker who is simulated, by --simulator, as for `persona talk`.",
        ),
    ] = None,
    simulator: persona.SimulatorName = None,
    model: persona.ModelName = None,
    base_url: BaseUrl = None,
    style: persona.Style = False,
    settings: persona.Set = None,
    partner: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Talk: who you are.",
            show_default="the other one in the chat",
        ),
    ] = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Read a chat as a messenger shows it, and annotate it, in a browser on this machine.

    Every message has its EI beside it; events and questions are written as the paper's Appendix
    B.2 asks, with evidence picked by clicking; several annotators are compared and settled. In
    *Guess* people pick which of several replies somebody really wrote; in *Talk* a simulated
    speaker answers, with that person's yes.
    Everything is saved as you type. Only this machine can reach the studio, and only by the link
    that is shown here. Ctrl-C ends it.

    Examples:

        realtalk studio sample

        realtalk studio "WhatsApp Chat.zip" --annotator Ana

        realtalk studio data/realtalk --labels labels --annotations shared.sqlite --no-open

        realtalk studio sample --simulated tuned=as-mara --replies 2

        realtalk studio sample --talk Theo --simulator tuned --set adapter=adapters/theo
    """
    from realtalk.cli.printing import say
    from realtalk.errors import RealtalkError
    from realtalk.memory.registry import parse_settings
    from realtalk.studio.serving import Server, need_extra
    from realtalk.surface.pages import open_desk

    need_extra()
    asked = {"simulator": simulator, "model": model, "base_url": base_url, "partner": partner}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value}
    if settings or style:
        given |= {"settings": parse_settings(settings or []), "style": style}
    if talk is None and given:
        raise RealtalkError("nobody is named who is simulated", fix="name one: --talk NAME")
    with opened(path, format_name, read_options(gap)) as found:
        place, desk = open_desk(
            found.reading,
            annotations,
            annotator,
            labels,
            simulated=simulated or (),
            replies=replies,
            guesses=guesses,
            talk=None if talk is None else {"speaker": talk, **given},
        )
    try:
        with Server.start(desk, port) as server:
            _show(server.url, place, json)
            if no_open:
                server.wait()
            else:
                _open(server)
    except KeyboardInterrupt:
        desk.close()
        say("closed; everything was saved")
        _end()
    finally:
        desk.close()


def _end() -> None:
    """Ends the process: where a thread still labels, Python's own end now and then aborts it."""
    import os
    import sys

    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def _open(server: Server) -> None:
    from realtalk.cli.printing import say
    from realtalk.studio.opening import in_browser

    with in_browser(server.url, server.entered) as is_open:
        if not is_open:
            say("no browser was found here: open the link in one on this machine")
        server.wait()


def _show(url: str, annotations: Path, json: bool) -> None:
    import sys

    import orjson

    from realtalk.cli.printing import say

    if json:
        line = orjson.dumps({"url": url, "annotations": str(annotations)}).decode()
    else:
        line = f"studio: {url}"
        say(f"annotations are kept in {annotations}; Ctrl-C ends the studio")
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # a script waits for the link
