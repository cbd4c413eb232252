"""The numbers that corpora give their question categories, as names and back.

    name_of("locomo", 5)               → "adversarial"
    number_of("locomo", "adversarial") → 5
    name_of("longmemeval", "temporal-reasoning") → "temporal_reasoning"

The same number means different things in different corpora, so every lookup names the
format. A number or name that is not known stays as it is: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CATEGORIES: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        name: MappingProxyType(dict(enumerate(categories.split(), 1)))
        for name, categories in {
            "realtalk": "multi_hop temporal commonsense",
            "locomo": "multi_hop temporal open_domain single_hop adversarial",
        }.items()
    }
)
# Formats that publish names instead of numbers.
_NAMES: Mapping[str, frozenset[str]] = {
    "longmemeval": frozenset(
        """
        single_session_user single_session_assistant single_session_preference multi_session
        temporal_reasoning knowledge_update
        """.split()  # noqa: SIM905 - words read better than quotes
    )
}


def name_of(format: str, category: object) -> str:
    """The name of a category given as number, digits or name; "" for none."""
    if category is None:
        return ""
    text = str(category).strip()
    names = CATEGORIES.get(format, {})
    if _is_number(text):
        return names.get(int(text), text)
    return text.replace("-", "_") if format in _NAMES else text


def number_of(format: str, name: str) -> int | None:
    """The number that the format's files use for a name; None where it has none."""
    for number, known_name in CATEGORIES.get(format, {}).items():
        if known_name == name:
            return number
    return int(name) if _is_number(name) else None


def _is_number(text: str) -> bool:
    # "²".isdigit() is true and int("²") is not a number: ASCII digits only.
    return text.isascii() and text.isdigit() and len(text) < 9


def known(format: str) -> frozenset[str]:
    """Every category name of a format; empty where the format has no questions."""
    return frozenset(CATEGORIES.get(format, {}).values()) | _NAMES.get(format, frozenset())
