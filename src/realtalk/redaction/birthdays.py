"""Dates of birth: dates that stand beside a word that says so.

    list(BirthdayRule().mentions(["geb. am 12.03.1990", "see you on 12.03."]))   → the first date
    "born March 12, 1990" · "ДР 05.11.87" · "生日 1990年3月12日" · "dob 12/3/90"

Other dates identify nobody and stay. The date follows the word, or stands right before it; between
the two there are few signs and no end of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from realtalk.redaction.mentions import Mention
from realtalk.redaction.words import BIRTH, MONTHS

_MONTH = "|".join(sorted(map(regex.escape, MONTHS), key=len, reverse=True))
_NUMBERS = r"\d{1,4}[ ]?[./\-][ ]?\d{1,2}[ ]?[./\-][ ]?\d{1,4}"
_SIGNS = (
    r"\d{2,4}[ ]?[年년][ ]?\d{1,2}[ ]?[月월][ ]?\d{1,2}[ ]?[日일号號]?"
    r"|\d{1,2}[ ]?[月월][ ]?\d{1,2}[ ]?[日일号號]?"
)
_OF = r"(?:de|del|di|of|ve|al)?"
_NAMED = (
    rf"\d{{1,2}}(?:st|nd|rd|th|\.|º|er|ος|an)?[ ]?{_OF}[ ]?(?:{_MONTH})\.?"
    rf"(?:,?[ ]?{_OF}[ ]?\d{{2,4}})?"
    rf"|(?:{_MONTH})\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?"
)
_DATE = rf"(?<![\d.])(?:{_SIGNS}|{_NUMBERS}|{_NAMED})(?!\d)"
_CUE = "|".join(sorted(map(regex.escape, BIRTH), key=len, reverse=True))
_BOUND = r"(?<![\p{L}\p{M}])"
# "date of birth is the", "родился в Казани,": a few words may stand between.
_AFTER_CUE = regex.compile(rf"{_BOUND}(?:{_CUE})[^.!?\n]{{0,24}}?(?P<date>{_DATE})", regex.I)
_BEFORE_CUE = regex.compile(
    rf"(?P<date>{_DATE})[ ]?[,(\-–:]?[ ]?(?:{_CUE})(?![\p{{L}}\p{{M}}])", regex.I
)
_DIGIT = regex.compile(r"\d")

_YEAR = regex.compile(r"(?<!\d)(?:1[3-9]|2[05])\d\d(?!\d)|\d{1,2}[ ]?[年년]|['’]\d\d(?!\d)")
_SHORT = regex.compile(r"(?<!\d)\d{1,2}([ ]?[./\-][ ]?)\d{1,2}\1\d{1,2}(?!\d)")


def has_year(date: str) -> bool:
    """Whether a date has one year: "18-19" and "10.00-16.00" are dates of no birth."""
    return len(_YEAR.findall(date)) == 1 or _SHORT.search(date) is not None


class BirthdayRule:
    """The rule, as a source of mentions."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            if not _DIGIT.search(text):
                continue
            found = {m.span("date") for p in (_AFTER_CUE, _BEFORE_CUE) for m in p.finditer(text)}
            for start, end in sorted(found):
                yield Mention(number, start, end, "birthday", 0.9, "birthdays")
