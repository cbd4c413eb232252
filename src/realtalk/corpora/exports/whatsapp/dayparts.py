"""The words that locales put beside a 12-hour clock, and what they do to the hour.

    rule_of("p. m.") → "pm"        so 3:07 p. m. is 15:07 and 12:10 p. m. is 12:10
    rule_of("凌晨")   → "am"        so 凌晨12:05 is 00:05
    rule_of("at night") → "night"  so 9:30 at night is 21:30 and 2:00 at night is 02:00
    hour_of_day(1, "noon") → 13

Most locales have two words; some phones (Chinese, Hindi, "in the afternoon") name the
part of the day instead.
"""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

from realtalk.corpora.exports.whatsapp.wording import WORDING
from realtalk.text.wordlists import phrases

HourRule = Literal["am", "pm", "noon", "night", ""]

_SHORT = {rule: phrases(WORDING[f"short {rule}"]) for rule in ("am", "pm")}
_LONG = {rule: phrases(WORDING[rule]) for rule in ("am", "pm", "noon", "night")}
SPACE = "[ \u00a0\u202f\u2009]"


def _key(word: str) -> str:
    return re.sub(r"[\s.\u200b-\u200f\u202a-\u202f\u2066-\u2069]", "", word).lower()


_RULES: dict[str, HourRule] = {
    _key(word): rule  # type: ignore[misc]
    for table in (_SHORT, _LONG)
    for rule, words in table.items()
    for word in words
}


def _alternatives(before: bool) -> str:
    long = [word for words in _LONG.values() for word in words]
    patterns = [
        re.escape(word).replace(r"\ ", f"{SPACE}+") + r"\.?"
        for word in sorted(long, key=len, reverse=True)
    ]
    short = sorted((word for words in _SHORT.values() for word in words), key=len, reverse=True)
    # One letter stands alone only after the time ("3:07 م"); before it, it would be text.
    patterns += [
        rf"\.?{SPACE}?".join(map(re.escape, word)) + r"\.?"
        for word in short
        if not before or len(word) > 1
    ]
    return "(?i:" + "|".join(patterns) + ")"


BEFORE = _alternatives(before=True)
AFTER = _alternatives(before=False)


def rule_of(word: str) -> HourRule:
    """What a word beside the time does to the hour; "" for none or an unknown one."""
    return _RULES.get(_key(word), "")


def hour_of_day(clock_hour: int, *words: str) -> int:
    """The hour on a 24-hour clock, by the first of the words beside it that says something."""
    rule = next(filter(None, map(rule_of, words)), "")
    if clock_hour > 12 or not rule:
        return clock_hour
    if rule == "noon":
        return clock_hour if clock_hour >= 10 else clock_hour + 12
    if rule == "night":
        return clock_hour % 12 if clock_hour % 12 < 6 else clock_hour + 12
    return clock_hour % 12 + (12 if rule == "pm" else 0)


def hour(hours: pl.Expr, rule: pl.Expr) -> pl.Expr:
    """The same for columns. Hours past 12 are already of a 24-hour clock and stay."""
    turned = (
        pl.when(rule == "am")
        .then(hours % 12)
        .when(rule == "pm")
        .then(hours % 12 + 12)
        .when(rule == "noon")
        .then(pl.when(hours >= 10).then(hours).otherwise(hours + 12))
        .when(rule == "night")
        .then(pl.when(hours % 12 < 6).then(hours % 12).otherwise(hours + 12))
        .otherwise(hours)
    )
    return pl.when(hours > 12).then(hours).otherwise(turned)
