"""The body of a mail without what it quotes and without its signature.

    bare("yes!\\n\\nOn Tue, 14 May 2024 Ann wrote:\\n> did it rain?\\n-- \\nBen, gardener")
    → Bare("yes!", quoted=2, signature=2)

What stands behind ">" is a quotation, and so is everything below a copied header ("From: … Sent: …
To: …") or a line of dashes around words above one. A line that ends with a colon and holds a date
or an address introduces the quotation below it. A signature stands below "-- ". Where nothing
would be left, the body is kept as it is: somebody forwarded it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_COPIED = re.compile(r"\*?[^\W\d_][\w \-]{1,20}\*?\s?:\s?\*?\S.{0,300}")
_DASHES = re.compile(r"[-_]{3,40}[^-_]{0,60}[-_]{0,40}\s*")
_DATED = re.compile(r"\d{1,2}[:.h]\d\d|\b\d{4}\b|@")
_SIGNATURE = ("-- ", "--")
_LONGEST_SIGNATURE = 25  # lines
_LONGEST_INTRODUCTION = 300
_FEWEST_COPIED = 3  # header lines of a copied mail


class Bare(NamedTuple):
    """What was written, and how many lines were cut."""

    text: str
    quoted: int = 0
    signature: int = 0


def bare(body: str) -> Bare:
    """The words of the sender."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    signed = _signature(lines)
    copied = _copied(lines[:signed])
    kept: list[str] = []
    was_quoted = False
    for line in lines[:copied]:
        is_quoted = line.lstrip().startswith(">")
        if is_quoted and not was_quoted:
            _drop_introduction(kept)
        elif not is_quoted:
            kept.append(line.rstrip())
        was_quoted = is_quoted
    if copied < signed:
        _drop_introduction(kept)
    text = _joined(kept)
    if not text:
        return Bare(_joined(lines))
    return Bare(text, _filled(lines[:signed]) - _filled(kept), _filled(lines[signed:]))


def _filled(lines: list[str]) -> int:
    """How many lines are not empty."""
    return sum(bool(line.strip()) for line in lines)


def _signature(lines: list[str]) -> int:
    """Where the signature begins: at the last line that parts it; few lines follow."""
    for place in range(len(lines) - 1, max(-1, len(lines) - _LONGEST_SIGNATURE), -1):
        if lines[place] in _SIGNATURE:
            return place
    return len(lines)


def _copied(lines: list[str]) -> int:
    """Where a copied mail begins: header lines in a row, two of them with a date or an address.

    A line of dashes, or an empty one, stands above it, or nothing does.
    """
    run = dated = 0
    for place, line in enumerate(lines):
        if not line or not _COPIED.fullmatch(line.strip()):
            run = dated = 0
            continue
        run += 1
        dated += bool(_DATED.search(line))
        start = place - run + 1
        above = lines[start - 1].strip() if start else ""
        if run >= _FEWEST_COPIED and dated > 1 and (not above or _DASHES.fullmatch(above)):
            return start - 1 if above else start
    return len(lines)


def _drop_introduction(kept: list[str]) -> None:
    """Takes off "On … wrote:", which may be broken into two lines, above a quotation."""
    while kept and not kept[-1]:
        kept.pop()
    for count in (1, 2):
        words = " ".join(kept[-count:])
        if (
            kept
            and kept[-1].endswith((":", "："))
            and len(words) <= _LONGEST_INTRODUCTION
            and _DATED.search(words)
        ):
            del kept[-count:]
            return


def _joined(lines: list[str]) -> str:
    """Lines with one empty line at most between two of them, none around them."""
    joined: list[str] = []
    for line in lines:
        if line.strip() or (joined and joined[-1]):
            joined.append(line.rstrip())
    return "\n".join(joined).strip("\n")
