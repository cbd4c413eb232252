"""The one exception that a user is meant to see.

Turns "something is wrong with your input or setup" into one line:

    RealtalkError("no message could be read", where="chat.txt, line 12",
                  fix="pass --dates dmy, mdy or ymd")
    → chat.txt, line 12: no message could be read; pass --dates dmy, mdy or ymd

Every other exception that reaches the top is a bug and shows its traceback; so does one that
the user's own code raised (`OwnCodeError`).
Chat text never goes into an error: only file names, line numbers and ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from realtalk.installing import cure

PARAMETER = re.compile(r"`(\w+)=(?:'([^']*)'|([^`]*))`")


class RealtalkError(Exception):
    """What is wrong, where, and what to do, on one line.

    `code` is for programs and stays when the English changes: "unknown-format", "missing-file", or
    the parameter that is wrong ("budget"), else "input".
    """

    code = ""

    def __init__(
        self, what: str, *, where: str | None = None, fix: str | None = None, code: str = ""
    ) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        line = what if where is None else f"{where}: {what}"
        if fix is not None:
            line = f"{line}; {fix}"
        named = PARAMETER.search(what)
        self.code = code or self.code or (named[1] if named else "input")
        # One line whatever went in: a path or a parser's message may hold newlines.
        super().__init__(" ".join(line.split()))


class OwnCodeError(RealtalkError):
    """Code of the user's own failed; what it raised is the cause, whose traceback is shown."""

    code = "own-code"


class MissingExtraError(RealtalkError):
    """A feature needs an extra that is not installed; the message is its cure."""

    code = "missing-extra"

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra '{extra}'",
            fix=f"install it with: {cure(extra)}",
        )


def as_options(line: str, names: Mapping[str, str] | None = None) -> str:
    """A line with parameters as options of the command: "give `into='mara'`" → "give --into mara".

    `names` are those of options that are not called like their parameter.
    """

    def option(found: re.Match[str]) -> str:
        name, value = found[1], (found[2] or found[3] or "").removesuffix("True")
        return f"{(names or {}).get(name, '--' + name.replace('_', '-'))} {value}".strip()

    return PARAMETER.sub(option, line)
