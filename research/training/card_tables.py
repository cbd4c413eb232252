"""Tables that a script makes → their place in a model card, between two marks.

put_between(Path("src/realtalk_models/languages/card.md"), "scores", "| language | …")

<!-- scores --> … <!-- /scores -->: what stands between is written anew, the rest by hand.
"""

from __future__ import annotations

import re
from pathlib import Path


def filled(whole: str, name: str, text: str) -> str:
    """The same with this text between the marks of that name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    made, count = marks.subn(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", whole)
    if count != 1:
        raise ValueError(f"{whole.partition(chr(10))[0]}: has no marks of the name {name}")
    return made


def put_between(card: Path, name: str, text: str) -> None:
    """Replaces what stands between the marks of that name."""
    card.write_text(filled(card.read_text("utf-8"), name, text), "utf-8")
