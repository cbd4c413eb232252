"""Words of many languages, read from the text files that lie beside the code that uses them.

# Comments begin with "#".
[greetings]
hello | good morning |
hi there

sections("realtalk.formats.exports.whatsapp", "wording.txt")["greetings"]
→ "hello | good morning |\\nhi there"
phrases("hello | good morning |\\nhi there") → ["hello", "good morning", "hi there"]
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from realtalk.text.folding import fold

_HEADING = re.compile(r"^\[([a-z ]+)\]\n", re.MULTILINE)


def data_text(package: str, name: str) -> str:
    """A text file of a package, without the lines that are comments."""
    data = files(package).joinpath(name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8")
    return re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)


@cache
def language_lines(package: str, name: str) -> Mapping[str, str]:
    """The lines of a file by the word, such as a language, that each begins with."""
    rows = (line.partition(" ") for line in data_text(package, name).splitlines())
    return {code: words for code, _, words in rows}


@cache
def sections(package: str, name: str) -> Mapping[str, str]:
    """The texts of a file's sections by their headings."""
    _, *parts = _HEADING.split(data_text(package, name))
    return {heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def phrases(section: str) -> list[str]:
    """The phrases of a section, which "|" parts; a phrase may go on in the next line."""
    parts = " ".join(section.split("\n")).split("|")
    return [phrase.strip() for phrase in parts if phrase.strip()]


@cache
def by_language(
    package: str, name: str, section: str, languages: tuple[str, ...]
) -> frozenset[str]:
    """The words of some languages, folded, of a section whose lines begin with a language."""
    rows = (line.split() for line in sections(package, name)[section].splitlines())
    return frozenset(fold(word) for code, *words in rows if code in languages for word in words)
