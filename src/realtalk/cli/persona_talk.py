"""`persona talk`: go on with a chat in the terminal, with one of its speakers simulated."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli import options
from realtalk.cli import persona_options as persona

if TYPE_CHECKING:
    from realtalk.persona.talking import Talk


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command()(talk)


def talk(
    path: options.Target,
    speaker: Annotated[
        str, typer.Option("--speaker", "-s", metavar="NAME", help="Who is simulated.")
    ],
    simulator: persona.SimulatorName = None,
    model: persona.ModelName = None,
    base_url: options.BaseUrl = None,
    prompts: persona.PromptsFolder = None,
    style: persona.Style = False,
    settings: persona.Set = None,
    partner: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Who you are.", show_default="the other one in the chat"
        ),
    ] = None,
    chat: Annotated[
        str | None,
        typer.Option(
            "--chat", metavar="ID", help="The chat that goes on.", show_default="the most recent"
        ),
    ] = None,
    consent: persona.Agreement = None,
    context_sessions: persona.ContextSessions = 3,
    context_tokens: persona.ContextTokens = 1500,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the talk is kept, as a corpus marked as simulated.",
            show_default="talks/NAME",
        ),
    ] = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
) -> None:
    """Go on with a chat: you write, the simulator answers as the speaker would.

    Asked once, by name: it is for oneself, or with that person's yes. The answer is kept with the
    adapter and with the talk. One line is one message; Ctrl-D or Ctrl-C ends it. All that was
    said is kept in a corpus in which the simulated messages are marked. Models in this process
    show a reply as it is written, others when it is there.

    Examples:

        realtalk persona talk sample --speaker Theo --consent fictional

        realtalk persona talk sample -s Theo --simulator tuned --set adapter=adapters/theo

        realtalk persona talk sample -s Theo --model realtalk/smollm2 --style --out talks/theo
    """
    from realtalk.cli.printing import say
    from realtalk.local.writing import file_stem
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.own_chats import talk as begin

    place = out or Path("talks", file_stem(speaker.casefold()))
    with options.reading(path, format_name, gap, "reading") as (corpus, _):
        chats = corpus()
    talking = begin(
        chats,
        speaker,
        simulator,
        consent=ask if consent is None else consent,
        partner=partner,
        chat=chat,
        model=model,
        base_url=base_url,
        prompts=prompts,
        style=style,
        settings=parse_settings(settings or []),
        context_sessions=context_sessions,
        context_tokens=context_tokens,
        out=place,
    )
    say(talking.consent.meaning)
    say(f"you are {talking.partner}; {talking.speaker} is simulated. Ctrl-D ends it.")
    said = _converse(talking)
    kept = f"; kept in {place}" if said else ""
    say(f"{said:,} message{'s' if said != 1 else ''} of yours{kept}")


def ask(question: str) -> str:
    """The person's own answer; where nobody can be asked, none."""
    if not sys.stdin.isatty():
        return ""
    try:
        return _line(question)
    except (EOFError, KeyboardInterrupt):
        return ""


def _line(prompt: str) -> str:
    """A line of the terminal, which Ctrl-C interrupts at once."""
    if hasattr(signal, "siginterrupt"):
        # polars' own handler lets the terminal read on after Ctrl-C, up to the next line.
        signal.siginterrupt(signal.SIGINT, True)
    return input(prompt)


def _converse(talking: Talk) -> int:
    """Lines in, replies out, until the person leaves: how many lines there were."""
    from realtalk.cli.printing import printable, warn, warn_of_trouble
    from realtalk.errors import RealtalkError

    at_terminal = sys.stdin.isatty()
    said = 0

    def listen() -> str:
        if at_terminal:
            return _line(f"{printable(talking.partner)}: ")
        if not (line := sys.stdin.readline()):
            raise EOFError
        return line

    def show(piece: str) -> None:
        sys.stdout.write(printable(piece, lines=True))
        sys.stdout.flush()

    try:
        while True:
            if not (line := listen()).strip():
                continue
            said += 1
            show(printable(f"{talking.speaker} (simulated): "))
            try:
                talking.say(line, show, progress=warn_of_trouble)
            except RealtalkError as error:
                warn(str(error))
            show("\n")
    except (EOFError, KeyboardInterrupt):
        show("\n" if at_terminal else "")
    return said
