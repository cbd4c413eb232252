"""Lists of names, and how often words are plain → what the tagger's chances are read beside.

    python -m research.training.names_words --out src/realtalk_models/names/words.npz

Names are faker's of every locale (MIT), GeoNames' towns (CC BY 4.0), our lists (names/LANG.lists)
and those marked in chats to learn from, up to three words long.
Plain counts are of the open sets of names_lines.py and of those chats: words that begin small where a script has
capitals, all words elsewhere and in German; where there are no spaces, how often the signs of a
listed name stand in a row. Names of held-out chats are not in it but by chance, as in life.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from realtalk.encoders.tag_spans import SIGNS, WORD, NameWords
from research.training.names_chats import chats
from research.training.names_data import ALIKE
from research.training.names_lines import SOURCES, read
from research.training.names_messages import TEMPLATES
from research.training.names_places import COUNTRIES, places_of

PERSONS = re.compile(r"^(first|last|middle)_names?")
PLACES = re.compile(r"^(cities|city_names|countries|states|provinces|regions|districts)$")
FEWEST = 3  # times that a plain word must be there


def of_faker() -> Iterator[str]:
    from faker import Faker
    from faker.config import AVAILABLE_LOCALES

    for locale in sorted(AVAILABLE_LOCALES):
        for own in Faker(locale).get_providers():
            room = type(own).__module__.split(".")[2]
            wanted = {"person": PERSONS, "address": PLACES}.get(room)
            for name in dir(own) if wanted else ():
                if wanted and wanted.match(name) and not callable(getattr(own, name)):
                    yield from _texts(getattr(own, name))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple | set):
        for each in value:
            yield from _texts(each)


def of_lists() -> Iterator[str]:
    for path in sorted(TEMPLATES.glob("*.lists")):
        for line in path.read_text("utf-8").splitlines():
            yield from (each.strip() for each in line.partition(":")[2].split(","))


def of_chats() -> Iterator[str]:
    """What is marked in our own chats that are not held out."""
    for row in chats():
        if not row["dev"]:
            yield from (row["t"][s:e] for s, e, kind in row["s"] if kind in ALIKE)


def said(folder: Path) -> Iterator[tuple[str, str]]:
    """Languages and texts of the open sets, and our own chats without what is marked there."""
    for source in SOURCES:
        yield from read(folder, source)
    for row in chats():
        if not row["dev"]:
            text = list(row["t"])
            for start, end in (*((s, e) for s, e, _ in row["s"]), *row["u"]):
                text[start:end] = " " * (end - start)
            yield row["l"], "".join(text)


def plain_counts(folder: Path, names: set[str]) -> Counter[str]:
    in_signs = {name for name in names if SIGNS.fullmatch(name) and len(name) < 5}
    found: Counter[str] = Counter()
    for lang, text in said(folder):
        for word in WORD.findall(text):
            if not word[0].isupper() or (lang == "de" and text[0] != word[0]):
                found[word.casefold()] += 1
        for run in SIGNS.findall(text):
            parts = (run[at : at + n] for n in (2, 3, 4) for at in range(len(run) - n + 1))
            found.update(part for part in parts if part in in_signs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=Path, default=Path("../shared/data/multilingual"))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    names = set()
    towns = (name for lang in COUNTRIES for name in places_of(lang))
    for name in (*of_faker(), *of_lists(), *of_chats(), *towns):
        words = WORD.findall(name)
        is_spaced = 0 < len(words) < 4 and name.replace("-", " ") == " ".join(words)
        if is_spaced and (not SIGNS.match(name) or len(name) < 5):
            names.add(" ".join(words).casefold())
    counts = plain_counts(options.dialogues, names)
    kept = {
        word: n
        for word, n in counts.items()
        if n >= FEWEST and (word in names or not SIGNS.search(word))
    }
    NameWords.of(names, kept).save(options.out)
    size = options.out.stat().st_size / 1e6
    print(f"{len(names):,} names, {len(kept):,} plain words, {size:.2f} MB")


if __name__ == "__main__":
    main()
