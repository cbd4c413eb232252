"""Tables that a script makes → their place in a model card, between two marks.

put_between(Path("docs/model-cards/languages.md"), "scores", "| language | …")

<!-- scores --> … <!-- /scores -->: what stands between is written anew, the rest by hand.
"""

from __future__ import annotations

import re
from pathlib import Path


def put_between(card: Path, name: str, text: str) -> None:
    """Replaces what stands between the marks of that name."""
    whole = card.read_text("utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    made, count = marks.subn(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", whole)
    if count != 1:
        raise ValueError(f"{card}: has no marks of the name {name}")
    card.write_text(made, "utf-8")
