"""Who may be continued in a talk: oneself, or somebody who said yes; asked once and kept.

    question("Mara")                          → "… Are you Mara (self), or did Mara agree … ? "
    agreed("Mara", "given", Path("mara"))     → Consent("Mara", "given", "2026-05-04")
    known("Mara", Path("mara"))               → the same, from mara/consent.json

The answer is kept in the adapter's folder, and with what was said. It is of one name: an adapter
of somebody else in the same folder asks again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.local.writing import write_json

ANSWERS = ("self", "given")
_FILE = "consent.json"


class NoConsent(RealtalkError):
    """Nobody said yes to being written as."""


@dataclass(frozen=True, slots=True)
class Consent:
    """For whom, in what way, and on which day it was said."""

    speaker: str
    answer: str  # self: it is oneself; given: with that person's yes
    day: str


def question(speaker: str) -> str:
    """What is asked, by name."""
    return (
        f"A model will write as {speaker}. Are you {speaker} (self), or did {speaker} agree to it "
        "(given)? "
    )


def known(speaker: str, folder: Path | None) -> Consent | None:
    """What was answered before, where it is of this person."""
    if folder is None or not (folder / _FILE).is_file():
        return None
    try:
        held = json.loads((folder / _FILE).read_text("utf-8"))
        found = Consent(str(held["speaker"]), str(held["answer"]), str(held["day"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError(
            "is not a consent that was kept", where=str(folder / _FILE), fix="remove it"
        ) from error
    return found if found.speaker == speaker and found.answer in ANSWERS else None


def agreed(speaker: str, answer: str | Callable[[str], str], folder: Path | None = None) -> Consent:
    """The consent, kept in the folder where there is one; anything but a yes is refused.

    A function is asked, by name, and returns the answer.
    """
    said = (answer if isinstance(answer, str) else answer(question(speaker))).strip().casefold()
    if said not in ANSWERS:
        raise NoConsent(
            f"no consent to write as {speaker}",
            fix=f"where you are {speaker} pass --consent self, with their yes --consent given",
        )
    made = Consent(speaker, said, f"{datetime.now():%Y-%m-%d}")
    if folder is not None:
        write_json(folder / _FILE, asdict(made))
    return made
