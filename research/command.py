"""A function that reads its options → a command: what is wrong is one line, and exit 2.

if __name__ == "__main__":
    call(main)
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from realtalk.cli.printing import printable
from realtalk.errors import RealtalkError


def call(main: Callable[[], None]) -> None:
    """Runs a command as `realtalk` runs its own."""
    try:
        main()
    except RealtalkError as error:
        sys.stderr.write(f"error: {printable(str(error))}\n")
        sys.exit(2)
