"""Figures and paragraphs as pages of results write them.

told(Estimate(0.844, 0.684, 1.0))    → ".844 [.684, 1.000]"
share(Estimate(0.19, 0.11, 0.27))    → "+19% [+11%, +27%]"
wrapped("A long paragraph …")        → at most 80 letters a line; tables and code as they are
"""

from __future__ import annotations

import textwrap

from realtalk.metrics.statistics import Estimate


def digits(value: float) -> str:
    shown = (
        f"{value:.1f}"
        if abs(value) >= 20
        else f"{value:.2f}"
        if abs(value) >= 2
        else f"{value:.3f}"
    )
    return shown.replace("-0.", "-.").removeprefix("0") if abs(value) < 1 else shown


def told(one: Estimate) -> str:
    if one.value is None:
        return "–"
    if one.low is None or one.high is None or one.low == one.high:
        return digits(one.value)
    return f"{digits(one.value)} [{digits(one.low)}, {digits(one.high)}]"


def share(one: Estimate) -> str:
    assert one.value is not None and one.low is not None and one.high is not None
    return f"{one.value:+.0%} [{one.low:+.0%}, {one.high:+.0%}]"


def holm_p(value: float | None) -> str:
    """A corrected p as a page writes it: ".012", "< .001", "–" where nothing was tested."""
    if value is None:
        return "–"
    return "< .001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")


def wrapped(block: str) -> str:
    """A paragraph or list at a width that a terminal shows; tables, code and headings as is."""
    if block.startswith(("|", "#", "```")):
        return block
    parts = block.rstrip("\n").split("\n- ")
    lists = block.startswith("- ")
    filled = [
        textwrap.fill(
            " ".join(part.removeprefix("- ").split()),
            80,
            initial_indent="- " if lists else "",
            subsequent_indent="  " if lists else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for part in parts
    ]
    return "\n".join(filled) + ("\n" if block.endswith("\n") else "")


def wrapped_page(text: str) -> str:
    """A whole page, block by block."""
    return "\n\n".join(map(wrapped, text.split("\n\n")))
