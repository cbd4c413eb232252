"""A language → the words of the page about a chat: phrases with gaps, plurals, numbers, dates.

    words = Wording.load("es")
    words.counted(3, "message")                   → "3 mensajes"
    words.say("sentences", "share", name="Mara")  → "de los mensajes son de Mara"
    words.percent(0.39), words.day(day)           → "39 %", "2 de marzo de 2026"
    page_language(["las llaves están en el jardín", …])   → "es"

Each language is one file, assets/wording/es.json, which the page's scripts get, too. A phrase is a
text, or one text for each plural form of the language, chosen by the number `n`. Gaps hold names
and phrases as they are, never in another case. The English file is the pattern for all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.registry import known_name
from realtalk.text.languages import ENGLISH, languages_in

if TYPE_CHECKING:
    from datetime import date

    from babel import Locale

    from realtalk.pages.lines import Unit

Phrase: TypeAlias = "str | Mapping[str, str]"

LANGUAGES = (ENGLISH, "es", "pt", "de", "fr", "it", "hi", "id", "ar", "ru", "ja")
_FOUR_TOGETHER = ("es", "it")  # 1234, but 12.345


@cache
def asset(name: str) -> str:
    """A script, the style sheet or the wording of the pages."""
    return (files("realtalk.pages") / "assets" / name).read_text(encoding="utf-8")


def page_language(texts: Sequence[str], asked: str | None = None) -> str:
    """The language asked for; else that of the texts where the page speaks it, else English."""
    if asked is not None:
        known_name("language", asked, LANGUAGES)
    spoken = () if asked else languages_in(texts)[:1]
    return asked or (spoken[0] if spoken and spoken[0] in LANGUAGES else ENGLISH)


@dataclass(frozen=True)
class Wording:
    """What one language says, and how it writes numbers and dates."""

    language: str
    phrases: Mapping[str, Mapping[str, Phrase]] = field(repr=False, hash=False)

    @classmethod
    @cache
    def load(cls, language: str = ENGLISH) -> Wording:
        groups: dict[str, Any] = json.loads(asset(f"wording/{language}.json"))
        return cls(language, {name: own for name, own in groups.items() if name[0] != "_"})

    @property
    def direction(self) -> str:
        return self._locale.text_direction

    @cached_property
    def _locale(self) -> Locale:
        from babel import Locale  # which takes a tenth of a second

        return Locale.parse(self.language)

    def say(
        self, group: str, key: str, n: float | None = None, digits: int = 0, /, **gaps: str
    ) -> str:
        """A phrase with its gaps filled; `n`, shown with `digits`, chooses its plural form."""
        phrase = self.phrases[group][key]
        if n is not None:
            gaps["n"] = self.number(n, digits)
            if not isinstance(phrase, str):
                phrase = phrase[self._locale.plural_form(_exactly(n, digits))]
        assert isinstance(phrase, str)
        return phrase.format(**gaps)

    def counted(self, number: float, noun: str, digits: int = 0) -> str:
        """A number with its noun: "1 chat", "2,012 messages", "1.5 hours"."""
        return self.say("counts", noun, number, digits)

    def number(self, value: float, digits: int = 0) -> str:
        """Parts of thousands apart; with digits behind the point, none."""
        from babel.numbers import format_decimal

        exact = _exactly(value, digits)
        if digits:
            return format_decimal(exact, f"0.{'0' * digits}", self._locale)
        are_apart = value >= 10_000 or self.language not in _FOUR_TOGETHER
        return format_decimal(exact, locale=self._locale, group_separator=are_apart)

    def percent(self, share: float) -> str:
        """39%; what is not quite nothing or everything is not called so."""
        from babel.numbers import format_percent

        value = share * 100
        key, whole = ("under", 1) if 0 < value < 1 else ("", int(value + 0.5))
        key, whole = ("over", 99) if 99 < value < 100 else (key, whole)
        text = format_percent(Decimal(whole) / 100, locale=self._locale)
        return self.say("labels", key, share=text) if key else text

    def day(self, day: date) -> str:
        """2 March 2026."""
        from babel.dates import format_date

        pattern = "d MMMM y" if self.language == ENGLISH else "long"
        return format_date(day, pattern, self._locale)

    def weekday(self, number: int) -> str:
        """Monday for 0."""
        return str(self._locale.days["stand-alone"]["wide"][number])

    def joined(self, names: Sequence[str]) -> str:
        """Mara, Theo and Ines."""
        *most, last = names
        first = self.say("labels", "comma").join(most)
        return self.say("labels", "and", first=first, last=last) if most else last

    def wait(self, seconds: float, unit: Unit, group: str = "counts") -> str:
        """A wait in words; a clock of minutes knows no seconds. Group "within" is "a minute"."""
        if seconds < (60 if unit == "minute" else 1):
            if group == "counts":
                return self.say("labels", "under_minute")
            return self.say(group, "minute", 1)
        if seconds < 60:
            noun, size = "second", 1
        else:
            noun, size = ("minute", 60) if seconds < 3570 else ("hour", 3600)
        if noun == "hour" and seconds < 9.95 * size:
            tenths = float(f"{seconds / size:.1f}")
            return self.say(group, noun, tenths, 0 if tenths.is_integer() else 1)
        return self.say(group, noun, int(seconds / size + 0.5))

    def language_name(self, code: str) -> str:
        """What a language is called here; a code that has no name is its own."""
        return str(self._locale.languages.get(code.replace("-", "_"), code))


def _exactly(value: float, digits: int) -> Decimal:
    """With so many digits behind the point, which plural forms go by."""
    return Decimal(f"{value:.{digits}f}")
