"""A talk in the terminal: lines in, replies out, and who is asked for consent."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

from realtalk.cli.printing import printable, say, warn, warn_of_trouble
from realtalk.errors import RealtalkError
from realtalk.notebook import counted

if TYPE_CHECKING:
    from pathlib import Path

    from realtalk.persona.talking import Talk


def show_talk(talking: Talk, *, out: Any = None) -> None:
    """Goes on with the chat until the person leaves: Ctrl-D or Ctrl-C."""
    say(talking.consent.meaning)
    say(f"you are {talking.partner}; {talking.speaker} is simulated. Ctrl-D ends it.")
    if talking.quotes:
        say(f"the answers are sentences that {talking.speaker} wrote; `model=NAME` writes new ones")
    count = _converse(talking)
    place = f"; kept in {out}" if count and out is not None else ""
    say(f"{counted(count, 'message')} of yours{place}")


def show_link(url: str, annotations: Path) -> None:
    """The studio's link, on a line that a script waits for."""
    say(f"annotations are kept in {annotations}; Ctrl-C ends the studio")
    sys.stdout.write(f"studio: {url}\n")
    sys.stdout.flush()


def confirm(question: str) -> bool:
    """A yes on the terminal; where nobody can be asked, an error."""
    if not sys.stdin.isatty():
        raise RealtalkError("nothing was removed, for there is nobody to ask", fix="add --yes")
    return _yes(question)


def _yes(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def ask_people(error: RealtalkError) -> dict[str, dict[str, str]] | None:
    """Which names are one person's, where they seem to be and somebody can be asked."""
    from realtalk.formats.merging import SamePersonError

    if not isinstance(error, SamePersonError) or not error.proposed:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    for name, candidate in error.proposed.items():
        if not _yes(f"Is {printable(name)} the same person as {printable(candidate)}?"):
            return None
    return {"same": dict(error.proposed)}


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
    at_terminal = sys.stdin.isatty()
    count = 0

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
            count += 1
            show(printable(f"{talking.speaker} (simulated): "))
            try:
                talking.say(line, show, progress=warn_of_trouble)
            except RealtalkError as error:
                warn(str(error))
            show("\n")
    except (EOFError, KeyboardInterrupt):
        show("\n" if at_terminal else "")
    return count
