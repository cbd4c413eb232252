"""Variables of the environment for the length of a block.

    with environment({"OMP_NUM_THREADS": "1"}):
        …    # libraries that are imported and processes that are started here see them

Afterwards they are as before, also those that were not set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Sets the variables and puts back what they were."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
