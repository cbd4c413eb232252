"""Texts that a spreadsheet must not take for formulas, in tables that it may open.

    guard_cell("=1+1")        → "'=1+1"       guard_cell("hey")      → "hey"
    unguard_cell("'=1+1")     → "=1+1"        unguard_cell("'tis")   → "'tis"

A cell that begins like a formula, or with an apostrophe and then so, gets an apostrophe in front:
whatever was guarded comes back as it was.
"""

from __future__ import annotations

# Signs that begin a formula, in full width too, and those that a sheet passes over before one.
_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_MARK = "'"


def guard_cell(text: str) -> str:
    """The text as a cell that is shown and never run."""
    return _MARK + text if text.lstrip(_MARK).startswith(_BEGINS) else text


def unguard_cell(cell: str) -> str:
    """The text that was guarded; one that was not stays as it is."""
    if cell.startswith(_MARK) and cell.lstrip(_MARK).startswith(_BEGINS):
        return cell[1:]
    return cell
