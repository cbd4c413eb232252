"""The terms file → NOTICE, the terms on cards and pages, and the package's licence expression.

    python -m research.results.terms
    written()[ROOT / "NOTICE"]    → "realtalk\\nLicensed under the Apache License, Version 2.0 …"

`src/realtalk_models/terms.toml` says every set once; a test compares these files with it. What
stands between `<!-- terms -->` and `<!-- /terms -->` is made, the rest of a card is written by hand.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from realtalk.encoders.shipped import OURS, RESEARCH, ModelTerms, TextSet, shipped_models, terms
from research.training.card_tables import filled
from research.training.terms import SETS

ROOT = Path(__file__).parents[2]
PAGES = {
    "docs/research/ei.md": ("ei", "ei_multilingual"),
    "docs/model-cards/ei-multilingual.md": ("ei_multilingual",),
}
_HEAD = """realtalk
Licensed under the Apache License, Version 2.0 (LICENSE).

The models below ship inside the package, each with a card beside its weights. Where one is under research
terms, LICENSES/LicenseRef-realtalk-research.txt says what that means. No text of the sets that they learned
from is in the package. `realtalk models` lists the models with their terms, `realtalk models card NAME` prints a
card. This file is made from src/realtalk_models/terms.toml (python -m research.results.terms)."""
_TAIL = """The tagger's lists (realtalk_models/names/words.npz) and the weights of the language identifier hold hashes of
words and of parts of words, no text.

The sample corpora are fictional and were written for this project."""


def sentence(name: str) -> str:
    """Under which terms a model is, for people."""
    it = terms()[name]
    if it.licence == OURS:
        return f"**Open** (`{it.licence}`): all text that `{name}` learned from is open."
    closed, count = sum(not each.is_open for each in it.all_sets.values()), len(it.all_sets)
    return (
        f"**Research terms** (`{it.licence}`): `{name}` is under {OURS} as far as that is ours to give, "
        f"but {closed} of {count} sets behind it are not open. Use it for research; ask before "
        "anything commercial."
    )


def listed(sets: Iterable[TextSet], *, is_open: bool) -> str:
    """The open sets or the others, by licence."""
    found: dict[str, list[str]] = {}
    for it in sets:
        if it.is_open == is_open:
            found.setdefault(it.licence, []).append(it.name)
    return "; ".join(f"{licence}: {', '.join(names)}" for licence, names in found.items()) or "none"


def parts(it: ModelTerms) -> list[str]:
    return [
        f"Base: {it.base}.",
        f"Open text: {listed(it.sets.values(), is_open=True)}.",
        f"Text that is not open: {listed(it.sets.values(), is_open=False)}.",
    ]


def block(name: str, it: ModelTerms) -> str:
    """What stands on a card."""
    where = "Where each set is, NOTICE says. No text of theirs is in the package."
    return "\n".join([sentence(name), "", *(f"- {part}" for part in parts(it)), f"- {where}"])


def wrapped(text: str) -> str:
    return textwrap.indent("\n  ".join(textwrap.wrap(text, 106, break_on_hyphens=False)), "  ")


def notice() -> str:
    made = [_HEAD]
    shipped = {each.name: each for each in shipped_models()}
    for name, it in terms().items():
        kind = "research terms" if RESEARCH in it.licence else "open"
        place = f"realtalk_models/{name}"
        files = f"{place}/{it.file}, {place}/card.md" if name in shipped else it.file
        lines = [f"{name}, {it.title}, version {it.version}: {kind}", f"  {files}"]
        made.append("\n".join([*lines, *map(wrapped, parts(it))]))
    sets = [
        wrapped(f"{it.name}: {it.licence}{it.note and f' ({it.note})'}; {it.address}")
        for it in SETS.values()
    ]
    made.append("\n".join(["The sets, with what their sources state:", *sets]))
    return "\n\n".join([*made, _TAIL]) + "\n"


def written() -> dict[Path, str]:
    """Every file that is made from the terms, whole or in part, as it shall be."""
    made = {ROOT / "NOTICE": notice()}
    for each in shipped_models():
        text = block(each.name, each.terms)
        made[each.card] = filled(each.card.read_text("utf-8"), "terms", text)
    for page, names in PAGES.items():
        made[ROOT / page] = filled(
            (ROOT / page).read_text("utf-8"), "terms", "\n\n".join(map(sentence, names))
        )
    project = ROOT / "pyproject.toml"
    licence = max((it.licence for it in terms().values()), key=len)
    line = f'license = "{licence}"'
    made[project] = re.sub(r'(?m)^license = ".*"$', line, project.read_text("utf-8"), count=1)
    return made


def main() -> None:
    for path, text in written().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
