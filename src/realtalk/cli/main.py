"""The command's entry: registers the subcommands and turns errors into one line.

Exit status: 0 all is well; 1 the command ran and found something wrong (`check`);
2 the input or the call is wrong; 130 interrupted.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from realtalk import __version__
from realtalk.cli import (
    advice,
    cache,
    corpus,
    data,
    demo,
    ei,
    mcp,
    models,
    persona,
    probe,
    report,
    stats,
    studio,
    threads,
)

_CUT_OFF = 141  # what a shell says of a program whose reader went away
_INTERRUPTED = 130  # what typer exits with at Ctrl-C


class _Commands(TyperGroup):
    """The commands; what is wrong with a call is told without what would steer the terminal."""

    def make_context(self, *args: Any, **named: Any) -> Any:
        with _shown_safely():
            return super().make_context(*args, **named)

    def invoke(self, ctx: Any) -> Any:
        with _shown_safely():
            return super().invoke(ctx)


@contextmanager
def _shown_safely() -> Iterator[None]:
    from realtalk.cli.printing import printable

    try:
        yield
    except Exception as found:
        # Click's, or the one that newer versions of typer carry inside.
        error: Any = found
        if hasattr(error, "format_message") and isinstance(error.message, str):
            error.message = printable(error.message)
        raise


app = typer.Typer(
    name="realtalk",
    cls=_Commands,
    help="Long-term conversation: read real chats, check and describe them, "
    "and test what models make of them. Nothing leaves this machine.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: realtalk demo · realtalk stats sample · realtalk read 'WhatsApp Chat.zip'",
)
corpus.register(app)
stats.register(app)
report.register(app)
demo.register(app)
studio.register(app)
mcp.register(app)
app.add_typer(ei.app, name="ei")
app.add_typer(probe.app, name="probe")
app.add_typer(persona.app, name="persona")
app.add_typer(threads.app, name="threads")
app.add_typer(data.app, name="data")
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")


@functools.cache
def commands() -> Any:
    """All commands, built once per process: their signatures take a while to read."""
    found = get_command(app)
    for path, command in advice.leaves(found):
        command.callback = _announced(command.callback, found, path)
    return found


def _announced(callback: Any, found: Any, path: tuple[str, ...]) -> Any:
    """The command's function, which first says whose messages are printed from now on."""

    @functools.wraps(callback)
    def call(*args: Any, **named: Any) -> Any:
        advice.begin(found, path)
        return callback(*args, **named)

    return call


def _version(value: bool) -> None:
    if value:
        typer.echo(f"realtalk {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


def _own_traceback(error: Exception) -> str:
    """What the user's code raised, from its first line on: our own frames tell them nothing."""
    import traceback

    from realtalk.cli.printing import printable

    cause = error.__cause__
    if cause is None:
        return ""
    trace = cause.__traceback__
    ours = str(Path(__file__).parents[1])
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    lines = "".join(traceback.format_exception(type(cause), cause, trace)).splitlines()
    return "".join(f"{printable(line)}\n" for line in lines)


def main() -> None:
    """Runs the command; a RealtalkError is one line, anything else a traceback."""
    from realtalk.cli.printing import printable
    from realtalk.errors import OwnCodeError, RealtalkError

    try:
        commands()(prog_name="realtalk")
    except RealtalkError as error:
        if isinstance(error, OwnCodeError):
            sys.stderr.write(_own_traceback(error))
        sys.stderr.write(f"error: {printable(advice.followed(str(error)))}\n")
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            sys.stderr.write("interrupted; nothing was left half written\n")
        elif isinstance(stop.__context__, BrokenPipeError):
            # The library calls a closed pipe (`| head`) 1, which is what `check` calls a finding.
            sys.exit(_CUT_OFF)
        raise
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error of ours.
        sys.stderr.close()
        sys.exit(_CUT_OFF)
    except OSError as error:
        if error.filename is not None:
            raise
        # A full disk behind standard output.
        sys.stderr.write(f"error: the output cannot be written ({error.strerror})\n")
        sys.exit(2)
    finally:
        advice.end()
