r"""The one exception that a user is meant to see, by its code or by a part of its one line.

with refused("unknown-format"): ...
with refused(r"line \d+: no date"): ...
"""

from __future__ import annotations

import re

import pytest

from realtalk.errors import RealtalkError


def refused(said: str = "") -> pytest.RaisesExc[RealtalkError]:
    def fits(error: RealtalkError) -> bool:
        line = str(error)
        assert "\n" not in line
        assert said == error.code or said in line or re.search(said, line), f"{error.code}: {line}"
        return True

    return pytest.raises(RealtalkError, check=fits)
