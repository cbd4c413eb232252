"""The command's entry: one command per function, and errors as one line.

    realtalk probe sample --budget 1000    →  rt.probe("sample", budget="1000"), printed

Exit status: 0 all is well; 1 the command ran and found something wrong (`check`);
2 the input or the call is wrong; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from cyclopts import App, CycloptsError, Group

from realtalk import __version__
from realtalk.cli.building import PIPE, Command
from realtalk.cli.commands import COMMANDS, GROUPS
from realtalk.cli.printing import as_command_text, interruption, printable
from realtalk.errors import OwnCodeError, RealtalkError

_CUT_OFF = 141  # what a shell says of a program whose reader went away
_INTERRUPTED = 130
_HELP = """Read real chats, describe them, and test what models make of them.

Nothing leaves this machine unless you name a model.
"""
_EXAMPLES = """Examples:
  realtalk demo
  realtalk stats sample
  realtalk report "WhatsApp Chat.zip" --open
"""


@cache
def application(
    commands: tuple[Command, ...] = COMMANDS,
    about: tuple[tuple[str, str], ...] = tuple(GROUPS.items()),
    head: str = "",
) -> App:
    """All commands; those that begin with another word than `head` are only named."""
    plain = Group("Commands", sort_key=9)
    app = App(
        name="realtalk",
        help=_HELP,
        help_epilogue=_EXAMPLES,
        version=f"realtalk {__version__}",
        help_format="plaintext",
        group_commands=plain,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    groups = {name: App(name=name, help=text, help_epilogue="") for name, text in about}
    for group in groups.values():
        app.command(group)
    for command in commands:
        first, _, verb = command.words.partition(" ")
        if head and first != head:
            if not verb and first not in groups:
                app.command(App(name=first, help=command.summary))
            continue
        place = groups.get(first, app)
        function = command.make_callable()
        if first in groups and not verb:  # `realtalk probe PATH` is `realtalk probe run PATH`
            place.default(function)
            place.help = f"{dict(about)[first]}\n\n{command.help}"
            place.help_epilogue = command.epilogue
            verb = command.default_verb
        elif first in groups and not place.help_epilogue:
            place.help_epilogue = command.epilogue
        place.command(
            function, name=verb or first, help=command.help, help_epilogue=command.epilogue
        )
    return app


def run_commands(
    commands: tuple[Command, ...], groups: Mapping[str, str], words: Sequence[str]
) -> int:
    """Runs one of these commands; its exit status."""
    try:
        first = words[0] if words else "--help"
        first_words = {command.words.partition(" ")[0] for command in commands}
        head = first if first in first_words or first.startswith("-") else ""
        app = application(commands, tuple(groups.items()), head)
        arguments = [PIPE if word == "-" else word for word in words]
        status = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        return _refuse(_parser_error(error))
    except RealtalkError as error:
        if isinstance(error, OwnCodeError):
            sys.stderr.write(_own_traceback(error))
        return _refuse(as_command_text(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write(f"{printable(interruption())}\n")
        return _INTERRUPTED
    except SystemExit as stop:  # rich ends so where its reader went away
        if isinstance(stop.__context__, BrokenPipeError):
            return _CUT_OFF
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error of ours.
        sys.stderr.close()
        return _CUT_OFF
    except OSError as error:
        if error.filename is not None:
            raise
        # A full disk behind standard output; Python would try once more at its end, and say so.
        with suppress(OSError):
            sys.stdout.close()
        return _refuse(f"the output cannot be written ({error.strerror})")
    return status if isinstance(status, int) else 0


def main() -> None:
    """Runs the command; a RealtalkError is one line, anything else a traceback."""
    sys.exit(run_commands(COMMANDS, GROUPS, sys.argv[1:]))


def _refuse(line: str) -> int:
    sys.stderr.write(f"error: {printable(line)}\n")
    return 2


def _parser_error(error: CycloptsError) -> str:
    """What is wrong with the words of a command, said as errors of ours are."""
    from difflib import get_close_matches

    from cyclopts import exceptions

    command = " ".join(("realtalk", *(error.command_chain or ())))
    name = error.argument.name if error.argument is not None else ""
    if isinstance(error, exceptions.UnknownCommandError):
        word = (error.unused_tokens or [""])[0]
        names = [] if error.app is None else list(error.app)
    elif isinstance(error, exceptions.UnknownOptionError):
        word = (error.token.keyword or error.token.value).partition("=")[0]
        names = [option for known in error.argument_collection for option in known.names]
    elif isinstance(error, exceptions.UnusedCliTokensError):
        return f"'{(error.unused_tokens or [''])[0]}' is one word too many; see {command} --help"
    elif isinstance(error, exceptions.CoercionError) and error.token is not None:
        kinds = {int: "a whole number", float: "a number", bool: "no value"}
        wanted = kinds.get(getattr(error, "target_type", None) or str, "another value")
        return f"{error.token.keyword or name} takes {wanted}, not '{error.token.value}'"
    elif isinstance(error, exceptions.RepeatArgumentError):
        return f"{error.token.keyword or name} is given twice; say it once"
    elif isinstance(error, exceptions.MissingArgumentError):
        if error.keyword is not None or (error.argument and error.argument.tokens):
            return f"{error.keyword or name} needs a value; see {command} --help"
        return f"{name} is missing; see {command} --help"
    else:
        line = str(error)
        return line[:1].lower() + line[1:].rstrip(".")
    is_option = word.startswith("-")
    likely = {known.strip("-"): known for known in names if known.startswith("-") == is_option}
    near = get_close_matches(word.strip("-"), likely, n=1)
    hint = f"did you mean '{likely[near[0]]}'? " if near else ""
    return f"unknown {'option' if is_option else 'command'} '{word}'; {hint}see {command} --help"


def _own_traceback(error: Exception) -> str:
    """What the user's code raised, from its first line on: our own frames tell them nothing."""
    import traceback

    cause = error.__cause__
    if cause is None:
        return ""
    trace = cause.__traceback__
    ours = str(Path(__file__).parents[1])
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    lines = "".join(traceback.format_exception(type(cause), cause, trace)).splitlines()
    return "".join(f"{printable(line)}\n" for line in lines)
