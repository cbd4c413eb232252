"""Names in many scripts, and how people write them there: what redaction is tried with.

    SCRIPTS["Tamil"] → Written("குமார்", ("குமாருக்கு", "குமாரிடம்"), ...)

Names and forms are our own. A form is what a chat holds: with an ending, a particle, an honorific,
a short form. `gone` is what may not be left of it anywhere; by default the parts of the name.
"""

from __future__ import annotations

import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import regex

_FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Written:
    name: str
    forms: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()  # besides the parts of the name


SCRIPTS = {
    script: tuple(
        Written(name, tuple(about["forms"]), tuple(about.get("gone", ())))
        for name, about in names.items()
    )
    for script, names in tomllib.loads(_FILE.read_text("utf-8")).items()
}


def folded(text: str) -> str:
    """How this test compares: without case, width, accents and what cannot be seen."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = regex.sub(
        r"\p{Default_Ignorable_Code_Point}|[\u0300-\u036f\u0590-\u05c7\u064b-\u0652]", "", plain
    )
    return unicodedata.normalize("NFC", plain.replace("ı", "i").replace("ł", "l"))


def parts_of(name: str) -> list[str]:
    """The words of a name with two graphemes or more; titles aside."""
    words = regex.findall(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Join_Control}]+", name)
    words = [word for word in words if not word.isdecimal()]
    return [word for word in words if len(regex.findall(r"\X", word)) > 1 and word != "Dr"]
