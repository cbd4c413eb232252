"""The command in this process: what it printed and how it ended.

    run_command("stats sample --json")                → Result(code=0, out='{"chats": …', err="")
    run_command("stats", str(path), "--json")          # words that are not split
    run_command("stats sample --json").told            → {"chats": …}, of one that ended well
    run_command("stats nowhere").wrong                 → "error: nowhere: …", the one line

It takes a hundredth of the time of a process of its own. Processes are for tests of processes:
signals, pipes that close, what a start loads. The command's library is known here alone.
"""

from __future__ import annotations

import io
import json
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple, Self
from unittest.mock import patch

from realtalk.cli.main import main


class Result(NamedTuple):
    """Exit status, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def done(self) -> Self:
        """Itself, of a command that ended well."""
        assert self.code == 0, self.err
        return self

    @property
    def told(self) -> Any:
        return json.loads(self.done.out)

    @property
    def wrong(self) -> str:
        """The one line that refuses a call."""
        line = self.err.startswith("error: ") and self.err.count("\n") == 1
        assert (self.code, line) == (2, True), self
        return self.err


def run_command(*words: str) -> Result:
    """Calls `realtalk WORDS…` in the present folder and environment; one text is a whole line."""
    if len(words) == 1:
        words = tuple(shlex.split(words[0]))
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
        for _ in range(2)
    )
    code = 0
    with (
        patch.object(sys, "argv", ["realtalk", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    for stream in (out, err):
        stream.seek(0)
    return Result(code, out.read(), err.read())
