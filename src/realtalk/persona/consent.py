"""By whose leave a model writes as somebody: asked once, by name, and kept with its meaning.

    question("Mara")                          → "A model will write as Mara. Are you Mara (self), …"
    agreed("Mara", "given", Path("mara"))     → Consent("Mara", "given", "2026-05-04")
    known("Mara", Path("mara"))               → the same, from mara/consent.json

The answer is kept in the adapter's folder, and with what was said. It is of one name: an adapter
of somebody else in the same folder asks again.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.files.writing import write_json

# What each answer says of the person.
MEANINGS = {
    "self": "{0} does this as themselves.",
    "given": "{0} agreed that a model writes as them.",
    "research": (
        "{0} agreed to a study that published the chat, not to a model that writes as them: "
        "for research alone."
    ),
    "fictional": "{0} is invented.",
}
_FIX = (
    "where you are {0} pass `consent=self`, with their yes `consent=given`, of a published study "
    "`consent=research`, of an invented person `consent=fictional`"
)
_FILE = "consent.json"


class NoConsent(RealtalkError):
    """Nobody said by whose leave somebody is written as."""


@dataclass(frozen=True, slots=True)
class Consent:
    """For whom, in what way, and on which day it was said; `meaning` says it in a sentence."""

    speaker: str
    answer: str  # one of MEANINGS
    day: str
    meaning: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "meaning", MEANINGS[self.answer].format(self.speaker))


def question(speaker: str) -> str:
    """What is asked, by name."""
    return (
        f"A model will write as {speaker}. Are you {speaker} (self), did {speaker} agree to it "
        f"(given), did {speaker} agree to a study but not to this (research), or is {speaker} "
        "invented (fictional)? "
    )


def read_consent(held: Mapping[str, Any], speaker: str) -> Consent | None:
    """What was kept, where it is of this person."""
    name, answer, day = str(held["speaker"]), str(held["answer"]), str(held["day"])
    return Consent(name, answer, day) if name == speaker and answer in MEANINGS else None


def known(speaker: str, folder: Path | None) -> Consent | None:
    """What was answered before, where it is of this person."""
    if folder is None or not (folder / _FILE).is_file():
        return None
    try:
        return read_consent(json.loads((folder / _FILE).read_text("utf-8")), speaker)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError(
            "is not a consent that was kept", where=str(folder / _FILE), fix="remove it"
        ) from error


def agreed(speaker: str, answer: str | Callable[[str], str], folder: Path | None = None) -> Consent:
    """The consent, kept in the folder where there is one; anything but an answer is refused.

    A function is asked, by name, and returns the answer.
    """
    said = (answer if isinstance(answer, str) else answer(question(speaker))).strip().casefold()
    if said not in MEANINGS:
        near = difflib.get_close_matches(said, MEANINGS, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise NoConsent(f"no consent to write as {speaker}", fix=hint + _FIX.format(speaker))
    made = Consent(speaker, said, f"{datetime.now():%Y-%m-%d}")
    if folder is not None:
        write_json(folder / _FILE, asdict(made))
    return made
