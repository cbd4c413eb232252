"""Templates and lists of our own → messages as people type them, with names marked.

    for row in messages("es", 4000, rng): …
    {"t": "oye nacho vienes a getafe??", "s": [[4, 9, 0], [19, 25, 1]], "l": "es", "dev": False, …}

names/LANG.txt has one template per line, a third of them without a name; LANG.lists has
names that people have there today, and places, shops and authorities as people say them. Half of
the values are of the lists, half of faker (streets, ids and dates all) and of GeoNames (towns). Every eighth template and
every eighth value of a list is held out: such messages are the dev part, and what is trained on
never holds them.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from research.training.names_chats import Row
from research.training.names_places import places_of

TEMPLATES = Path(__file__).parent / "names"
LOCALES = {
    "en": "en_US en_GB en_IN en_AU en_CA en_IE en_NZ", "de": "de_DE de_AT de_CH",
    "es": "es_ES es_MX es_AR es_CO es_CL", "fr": "fr_FR fr_CA fr_CH fr_BE", "it": "it_IT",
    "pt": "pt_BR pt_PT", "nl": "nl_NL nl_BE", "pl": "pl_PL", "ru": "ru_RU", "tr": "tr_TR",
    "id": "id_ID", "vi": "vi_VN", "hi": "hi_IN", "hi-Latn": "en_IN", "ar": "ar_SA ar_EG ar_AE",
    "fa": "fa_IR", "zh": "zh_CN zh_TW", "ja": "ja_JP", "ko": "ko_KR", "uk": "uk_UA",
    "sv": "sv_SE", "ro": "ro_RO", "th": "th_TH",
}  # fmt: skip
KIND = {
    "first": 0,
    "nick": 0,
    "last": 0,
    "per": 0,
    "loc": 1,
    "org": 2,
    "addr": 3,
    "dob": 4,
    "id": 5,
}
IDS = ("########", "??######", "#########?", "??-####-###", "####-####", "?########", "###.###.###")
DATES = ("%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d", "%d-%m-%y", "%d.%m.%y", "%m/%d/%Y")
FAMILY_FIRST = ("zh", "ja", "ko")  # and without a space
NO_SPACES = ("zh", "ja", "ko", "th")  # what follows a slot is another word
ENDING = ("pl", "ru", "uk", "ro")  # an ending takes the place of a name's last vowel
JOINED = (" ", " ", "\n", "\n", ". ", ", ", " … ")  # two messages in one


def is_held(text: str) -> bool:
    return zlib.crc32(text.encode()) % 8 == 0


class Values:
    """What slots are filled with, in one language."""

    def __init__(self, lang: str, held: bool, rng: random.Random) -> None:
        from faker import Faker

        self._rng = rng
        self._fakes = [Faker(name) for name in LOCALES[lang].split()]
        for fake in self._fakes:
            fake.seed_instance(rng.randrange(1 << 30))
        self._lists: dict[str, list[str]] = {}
        for line in (TEMPLATES / f"{lang}.lists").read_text("utf-8").splitlines():
            key, _, said = line.partition(":")
            every = [each.strip() for each in said.split(",") if each.strip()]
            self._lists[key.strip()] = [each for each in every if is_held(each) == held]
        self.lang = lang

    def draw(self, slot: str) -> str:
        rng, fake = self._rng, self._rng.choice(self._fakes)
        if slot == "per":
            first, last = self._word("first", fake), self._word("last", fake)
            return last + first if self.lang in FAMILY_FIRST else self._typed(f"{first} {last}")
        if slot in self._lists:
            return self._typed(self._word(slot, fake))
        if slot == "addr":
            whole = fake.address().replace("\n", ", ")
            return self._typed(whole if rng.random() < 0.5 else fake.street_address())
        if slot == "dob":
            day = fake.date_of_birth(minimum_age=1, maximum_age=95)
            return str(day.strftime(rng.choice(DATES)))
        return str(fake.ssn() if rng.random() < 0.5 else fake.bothify(rng.choice(IDS)))

    def _word(self, slot: str, fake: Any) -> str:
        rng = self._rng
        if rng.random() < 0.5:
            return rng.choice(self._lists[slot])
        if slot == "nick":
            first = str(fake.first_name())
            cut = first[: rng.randint(3, 4)] + rng.choice(("", "y", "i", "o"))
            return cut if len(first) > 4 else first
        if slot == "loc":
            towns = places_of(self.lang)  # faker's are often put together from nothing
            is_town = rng.random() < 0.8
            return towns[int(len(towns) * rng.random() ** 2)] if is_town else str(fake.country())
        drawn = {"first": fake.first_name, "last": fake.last_name, "org": fake.company}
        return str(drawn[slot]())

    def _typed(self, text: str) -> str:
        """As somebody types it: small, misspelt, shouted, or as it is."""
        rng = self._rng
        drawn = rng.random()
        if drawn < 0.4:
            return text.lower()
        if drawn < 0.45:
            return text.upper()
        if drawn < 0.5 and len(text) > 5:
            at = rng.randrange(1, len(text) - 2)
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        return text


def messages(lang: str, count: int, rng: random.Random) -> Iterator[Row]:
    """So many messages of a language; beside every seven one that is held out."""
    templates = (TEMPLATES / f"{lang}.txt").read_text("utf-8").splitlines()
    parts = {
        held: (
            [line for line in templates if line and is_held(line) == held],
            Values(lang, held, rng),
        )
        for held in (False, True)
    }
    for at in range(count):
        held = at % 8 == 7
        some, values = parts[held]
        text, spans = filled(rng.choice(some), values, rng)
        if rng.random() < 0.25:
            more, others = filled(rng.choice(some), values, rng)
            text += rng.choice(JOINED)
            spans += [[start + len(text), end + len(text), kind] for start, end, kind in others]
            text += more
        yield {"t": text, "s": spans, "l": lang, "o": [], "src": "generated", "dev": held}


def filled(template: str, values: Values, rng: random.Random) -> tuple[str, list[list[int]]]:
    """A template with its slots filled; an ending behind a slot is a part of the name's word."""
    text, spans = "", []
    small = rng.random() < 0.3
    parts = re.split(r"(\{\w+\})", template)
    for part, after in zip(parts, [*parts[1:], ""], strict=True):
        slot = part[1:-1]
        if not part.startswith("{") or slot not in KIND:
            text += part.lower() if small else part
            continue
        # Stand-ins of what rules took out before: nobody's names.
        if slot in ("first", "per") and rng.random() < 0.08:
            text += f"Person{rng.randint(1, 40)}"
            continue
        said, ending = values.draw(slot), re.match(r"[^\W\d_]*", after)
        length = len(ending[0]) if ending and values.lang not in NO_SPACES else 0
        if length and values.lang in ENDING and said[-1:].lower() in "aeoąаяоеăуи":
            said = said[:-1]
        spans.append([len(text), len(text) + len(said) + length, KIND[slot]])
        text += said
    return text, spans
