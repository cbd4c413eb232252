"""How much work a call is, without a clock: what is counted does not depend on a busy machine.

    lines_run(lambda: describe(chat))       → 48,210 lines of Python
    within(60, "find_dates('3, ' * 10000)") → passes, or fails where the kernel ended the process

Lines are for algorithms in Python: twice the input must be about twice the lines. The limit of
processor time is for what runs in C, such as a pattern that goes back and forth: it is many times
what is needed, and a pattern gone wrong takes hours.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(call: Callable[[], object]) -> int:
    """The lines of Python that a call runs, in everything that it calls."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def within(seconds: int, code: str) -> None:
    """Runs the code in a process that may use so many seconds of the processor."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, preexec_fn=limit
    )
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr.decode()[-500:]}"
