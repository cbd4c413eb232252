"""The kinds of things that identify somebody without a name: links, phones, e-mails and the like.

    kinds_in("ring +49 170 1234567 or a@b.co")   → a match "digits" and a match "email"
    words_outside("see https://x.example, Mara") → ("see", 0, 3), ("Mara", 23, 27)
    "14 Willow Street, flat 3B" · "Gartenstr. 12a" · "12 rue des Lilas" · "SW1A 1AA"   → addresses

At each place the first of stand-in, link, e-mail, handle, account, address, code, date, time and
number that fits. Dates, times, years, amounts and short numbers identify nobody. Without a number a
street is a place like any other and stays. The patterns are written for `re.VERBOSE`; capital
letters are half of what tells a street's name. Lengths are bounded, so that a text of 20,000
hyphens is read as fast as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from realtalk.redaction.standins import STAND_IN_SHAPE
from realtalk.redaction.words import UNITS
from realtalk.text.folding import is_plain

_NAME = r"[A-ZÀ-ÖØ-ÞА-Я][\w'’-]{1,30}"
# "12a", and "12 a" where nothing goes on: "Calle Luna 4 y luego" has no house 4 y.
_NUMBER = (
    r"\d{1,4}(?:[a-zA-Z]|[ ][a-zA-Z](?=[ ]*(?:$|[,.;:)\n])))?\b(?:[ ]?[-/][ ]?\d{1,4}[a-zA-Z]?\b)?"
)
_ENGLISH = (
    "Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Crescent|Terrace|"
    "Close|Gardens|Grove|Mews|Highway|Hwy|Parkway|Pkwy|Way|Place|Square|Row"
)
# Grown together with the name in German, Dutch and the Nordic languages.
_GROWN = (
    "straße|strasse|str\\.|gasse|allee|platz|weg|damm|chaussee|straat|laan|gracht|plein|dreef|"
    "gatan|vägen|gata|vej|veien|katu"
)
_APART = "Straße|Strasse|Str\\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer"
_BEFORE = (
    "[Cc]alle|C/|[Aa]venida|[Aa]vda\\.?|[Aa]v\\.|Plaza|Paseo|Carrer|[Rr]ua|Travessa|Praça|Via|"
    "Viale|Piazza|Corso|[Uu]l\\.|ulica|[Уу]л\\.|улица|Straße[ ]des|Straße[ ]der"
)
_FRENCH = "rue|avenue|av\\.|boulevard|bd|place|chemin|allée|impasse|quai|route|cours"
_OF = r"(?:(?:de|del|della|dei|di|do|da|dos|das|du|des|la|las|los|le|les|of|the)[ ]|d['’]|l['’])*"
_FLAT = r"(?:,?[ ](?:apt|apartment|flat|unit|suite|\#)\.?[ ]?\w{1,5}\b)?"

ADDRESS = rf"""
    (?<![\w.]) \d{{1,5}}[A-Za-z]?,?[ ] (?: {_NAME}[ ] ){{1,3}} (?:{_ENGLISH}) \b \.? (?i:{_FLAT})
  | (?<!\w) (?: {_NAME}[ ] )? [A-ZÀ-ÖØ-Þ][\w-]{{0,40}}? (?: {_GROWN} | -(?:{_APART}) )
        [ ] {_NUMBER}
  | (?<!\w) (?: {_NAME}[ ] ){{1,2}} (?:{_APART}) [ ] {_NUMBER}
  | (?<![\w.]) \d{{1,4}} (?: [ ]?(?:bis|ter) )? ,? [ ] (?i:{_FRENCH}) [ ] {_OF} {_NAME}
        (?: [ -]{_NAME} ){{0,2}}
  | (?<!\w) (?:{_BEFORE}) [ ]? {_OF} {_NAME} (?: [ ]{_OF}{_NAME} ){{0,2}} ,?[ ]
        (?:n[º°.][ ]?)? {_NUMBER}
  | (?<![\w-]) [A-Z]{{1,2}}\d[A-Z\d]? [ ] \d (?!GB|TB) [ABD-HJLNP-UW-Z]{{2}} \b
  | (?<![\w.]) -?\d{{1,3}}\.\d{{3,}} [ ]*,[ ]* -?\d{{1,3}}\.\d{{3,}} (?![\w.]*\d)
"""


# Endings that are no words: a full stop without a space after it makes no link.
_ENDINGS = "com|org|net|edu|gov|info|io|de|fr|uk|eu|nl|ch|tv|app|dev|gg"
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"


def _date(name: str) -> str:
    """A date in the three orders; the separator is the same on both sides."""
    orders = (
        (_YEAR, _MONTH, _DAY),
        (_DAY, _MONTH, rf"(?:{_YEAR}|\d\d)"),
        (_MONTH, _DAY, rf"(?:{_YEAR}|\d\d)"),
    )
    forms = (
        f"{first}(?P<{name}{index}>[./-]){second}(?P={name}{index}){third}"
        for index, (first, second, third) in enumerate(orders)
    )
    return f"(?:{'|'.join(forms)})"


_DATE = rf"{_date('from')}(?:[ ]?[-–][ ]?{_date('to')})?"
_CLOCK = r"(?:[01]?\d|2[0-3])(?::[0-5]\d(?::[0-5]\d)?|\.[0-5]\d)"
_PATTERN = rf"""
      (?P<stand_in> (?-i: {STAND_IN_SHAPE} ) )
    | (?P<link> (?:https?|ftp)://\S+ | www\.\S+ | mailto:\S+
        | (?<![\w@.-]) (?:[a-z0-9-]{{1,63}}\.){{1,4}}
          (?: [a-z]{{2,6}}/\S* | (?-i:{_ENDINGS}) \b (?! [\w.-]*@ ) ) )
    | (?P<email> [\w.!\#$%&'*+/=?^`{{|}}~-]{{1,64}} @ [\w-]+ (?: \.[\w-]+ )+
        | [\w.+-]{{1,64}} [ ]? [(\[] [ ]? (?:at|@) [ ]? [)\]] [ ]? [\w-]{{1,63}}
          (?: [ ]? (?: \. | [(\[] [ ]? (?:dot|punkt|punto|point|\.) [ ]? [)\]] )
              [ ]? [\w-]{{1,63}} ){{1,4}} )
    | (?P<handle> @ (?: [^\W\d] | \d{{5}} ) (?: [\w.-]{{0,63}} \w )? )
    | (?P<iban> (?<![a-z0-9]) (?-i: [A-Z]{{2}}\d\d (?: [ ]?[A-Z0-9]{{4}} ){{2,7}}
        (?: [ ]?[A-Z0-9]{{1,3}} )? ) (?![a-z0-9]) )
    | (?P<address> (?-i: {ADDRESS} ) )
    | (?P<token> (?<![\w@]) (?: [0-9a-f]{{8}} (?: -[0-9a-f]{{4}} ){{3}} -[0-9a-f]{{12}}
        | (?= [a-z]*\d [a-z]*\d [a-z]*\d [a-z]*\d [a-z]*\d ) (?= \d*[a-z] )
          [a-z0-9]{{8,64}} ) (?!\w) )
    | (?P<date> (?<![\d./-]) (?: {_DATE} ) (?! \d | [./-]\d ) )
    | (?P<clock> (?<![\d.:]) {_CLOCK} (?! \d | [./]\d ) )
    | (?P<digits> [+(]{{0,2}} \d (?: [ \t\u00a0\u202f().\-/]{{0,3}} \d )* )
    | (?P<word> [^\W\d_]+ )
"""
# For `regex` vowel signs are parts of words; where there are none `re` finds the same, faster.
_PLAIN = re.compile(_PATTERN, re.VERBOSE | re.IGNORECASE)
_ANY = regex.compile(_PATTERN, regex.VERBOSE | regex.IGNORECASE)
# Most texts have nothing but words in them.
_MORE_THAN_WORDS = re.compile(r"[@\d]|://|\w\.\w|(?i:[(\[] ?at ?[)\]])")
_AFTER_LINK = ".,;:!?)]}>'\"*_…»”’"
# 1.250.000 or 1 250 000; fewer digits in groups are left anyway.
_THOUSANDS = re.compile(r"\d([. \u00a0\u202f])\d{3}\1\d{3}")
_AMOUNT_BEFORE = re.compile(r"[$€£¥₹₽][ \u00a0]?$")
_AMOUNT_AFTER = re.compile(
    rf"[ \u00a0\u202f]?(?:[€$£¥₹₽%°]|(?:{'|'.join(sorted(UNITS))})\b)", re.IGNORECASE
)
_MOST_OF_AN_AMOUNT = 7  # digits
_PLAIN_WORDS = re.compile(r"[^\W\d_]+")
_WORDS = regex.compile(r"[^\W\d_]+")
_ON_THE_NET = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_YEARS = re.compile(r"(?:1\d|20)\d\d(?:\D+(?:1\d|20)\d\d)*")


def kinds_in(text: str) -> Iterator[re.Match[str]]:
    """Everything in a text that is of some kind, words left out."""
    if _MORE_THAN_WORDS.search(text):
        for match in (_PLAIN if is_plain(text) else _ANY).finditer(text):
            if match.lastgroup != "word":
                yield match


def without_end(link: str) -> str:
    """A link without the marks of the sentence it ends."""
    return link.rstrip(_AFTER_LINK)


def words_outside(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text outside of stand-ins, links and the like, with their places."""
    if not _MORE_THAN_WORDS.search(text):
        for match in (_PLAIN_WORDS if is_plain(text) else _WORDS).finditer(text):
            yield match[0], match.start(), match.end()
        return
    for match in (_PLAIN if is_plain(text) else _ANY).finditer(text):
        if match.lastgroup == "word":
            yield match[0], match.start(), match.end()


def is_phone(match: re.Match[str]) -> bool | None:
    """Whether a number is a phone's, or another that names somebody; None: it counts or dates."""
    digits = match[0]
    chunks = re.findall(r"\d+", digits)
    count = sum(map(len, chunks))
    is_grouped = len(chunks) > 1
    if count < 5 or _YEARS.fullmatch(digits.strip("+(")):
        return None
    if count < 7 and is_grouped and max(map(len, chunks)) < 5:
        return None  # "100-200", "10.30 12"
    if _is_amount(match):
        return None
    if _ON_THE_NET.fullmatch(digits):
        return False
    return 7 <= count <= 15 and (is_grouped or digits[0] in "+(0" or count >= 9)


def _is_amount(match: re.Match[str]) -> bool:
    """Whether a number counts something: 12500 €, $125000, 10000 steps, 1.250.000."""
    number, text = match[0], match.string
    if _THOUSANDS.fullmatch(number):
        return True
    if not number.isdigit() or len(number) > _MOST_OF_AN_AMOUNT or number[0] == "0":
        return False
    before = _AMOUNT_BEFORE.search(text, max(0, match.start() - 2), match.start())
    return before is not None or _AMOUNT_AFTER.match(text, match.end()) is not None
