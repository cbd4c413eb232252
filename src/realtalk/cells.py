"""A value of a table as people write it: one rule for page, terminal and notebook.

    cell_text(17109.84)   → "17,109.8"        cell_text(0.5)       → "0.5"
    cell_text(21.345)     → "21.35"           cell_text(0.03416)   → "0.034"
    cell_text(None)       → "–"               cell_text(0.0000034) → "3.4e-06"
    duration(2.2)         → "2.2 min"

One decimal from a hundred on, two below, and below a tenth two digits that say something: what
is small is never shown as nothing. A dash stands for what could not be measured.
"""

from __future__ import annotations

import math
from typing import Any

NOTHING = "–"
_LARGE, _SMALL = 100, 0.1


def is_nothing(value: Any) -> bool:
    """Whether there is no value to show."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def cell_text(value: Any) -> str:
    """Numbers with their digits grouped, truth as yes and no, all else as it is."""
    if is_nothing(value):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value)
    return str(value)


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if size >= _LARGE:
        return f"{value:,.1f}"
    if 0 < size < _SMALL:
        return f"{value:.2g}"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def duration(minutes: float) -> str:
    """ "45 s", "2.2 min", "27.9 h" or "3.1 d": the unit that a person would use."""
    seconds = minutes * 60
    for size, unit in ((86400 * 2, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            whole = {"d": 86400, "h": 3600, "min": 60}[unit]
            return f"{seconds / whole:.1f} {unit}"
    return f"{seconds:.0f} s"
