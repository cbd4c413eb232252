"""What identifies somebody without a name (a link, a phone), and what stands in its place.

    kinds_in("ring +49 170 1234567 or a@b.co")   → a match "digits" and a match "email"
    words_outside("see https://x.example, Mara") → ("see", 0, 3), ("Mara", 23, 27)
    "14 Willow Street, flat 3B" · "Gartenstr. 12a" · "12 rue des Lilas" · "SW1A 1AA"   → addresses
    made = StandIns(avoid=["mara", "theo"])
    made.make("person", "Mara Lund")      → "Person1"
    made.make("phone", "0170 1234567")    → "<phone-1>"
    StandIns(avoid=["link"]).make("link", "https://x.example")   → "<l-1>"

The same thing has the same stand-in, which holds no speaker's name: where somebody is called Link
or Son, one letter stands for the kind ("<l-1>", "X_1"), and a number that is somebody's name is
passed over. The word for a person is of the corpus's own script, so that words around it keep their
language: "Человек1" in a chat in Cyrillic. Where verbs and adjectives agree with a name, there are
two words, one of each gender ("Персона1 пришла"); which one somebody gets is read from the verbs
beside the name, else from its ending.

At each place of a text the first of stand-in, link, e-mail, handle, account, address, code, date,
time and number that fits. Dates, times, years, amounts and short numbers identify nobody. Without a
number a street is a place like any other and stays. The patterns are written for `re.VERBOSE`;
capital letters are half of what tells a street's name. Lengths are bounded, so that a text of
20,000 hyphens is read as fast as any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from realtalk.redaction.words import UNITS, WORDS
from realtalk.text.folding import fold, is_plain
from realtalk.text.wordlists import language_lines

# By script: a word for a person, a feminine one, and how women's names end.
_BY_SCRIPT = language_lines("realtalk.redaction", "persons.txt")
PERSON_WORDS = tuple(
    dict.fromkeys(["Person", *(word for line in _BY_SCRIPT.values() for word in line.split()[:2])])
)
_FEWEST = 60  # letters from which on a script is told
_MOST = 0.6  # of all letters
_SAMPLE = 2_000  # texts are enough
_LETTERS = {name: regex.compile(rf"\p{{{name}}}") for name in _BY_SCRIPT} | {
    "Han": regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
}
_LETTER = regex.compile(r"\p{L}")
# Men's names that end like women's, and short names of both.
_MEN = WORDS["men"]
_VERB = regex.compile(r"[ ](?:\p{Ll}{1,3}[ ])?(\p{Ll}{3,})")


class PersonWords(NamedTuple):
    """The words that stand for a person, and who takes the feminine one."""

    masculine: str = "Person"
    feminine: str = "Person"
    names: frozenset[str] = frozenset()  # a woman's as it is, a man's with a blank
    endings: tuple[str, ...] = ()

    def word(self, name: str) -> str:
        """The word for somebody of that name."""
        if self.masculine == self.feminine:
            return self.masculine
        key = fold(name)
        first = key.split()[0] if key.split() else key
        if {key, first} & self.names:
            return self.feminine
        is_man = first in _MEN or f"{first} " in self.names
        return self.masculine if is_man or not first.endswith(self.endings) else self.feminine


def wording(texts: Sequence[str], names: Iterable[str]) -> PersonWords:
    """The words for the people of a corpus, from what is said in it."""
    script = _script(texts)
    if script is None:
        return PersonWords()
    masculine, feminine, *endings = _BY_SCRIPT[script].split()
    genders = _told_by_verbs(texts, names) if script == "Cyrillic" else frozenset()
    return PersonWords(masculine, feminine, genders, tuple(map(fold, endings)))


def _script(texts: Sequence[str]) -> str | None:
    letters = 0
    counts: Counter[str] = Counter()
    for text in texts[:_SAMPLE]:
        if text.isascii():
            letters += sum(map(str.isalpha, text))
            continue
        letters += len(_LETTER.findall(text))
        for name, pattern in _LETTERS.items():
            counts[name] += len(pattern.findall(text))
    name, most = next(iter(counts.most_common(1)), ("", 0))
    return name if most >= _FEWEST and most > _MOST * letters else None


def _told_by_verbs(texts: Sequence[str], names: Iterable[str]) -> frozenset[str]:
    """First names after which verbs end like a woman's (as they are) or a man's (with a blank)."""
    firsts = {name.split()[0] for name in names if name.split()}
    if not firsts:
        return frozenset()
    pattern = regex.compile(rf"\b({'|'.join(map(regex.escape, sorted(firsts)))})\b", regex.I)
    counts: Counter[str] = Counter()
    for text in texts[:_SAMPLE]:
        for match in pattern.finditer(text):
            verb = _VERB.match(text, match.end())
            if verb is None:
                continue
            if verb[1].endswith(("ла", "лась")):
                counts[fold(match[1])] += 1
            elif verb[1].endswith(("л", "лся")):
                counts[fold(match[1])] -= 1
    return frozenset(name if count > 0 else f"{name} " for name, count in counts.items() if count)


# Kinds that are written in brackets, and the letter of each where its word holds a name.
_KINDS = dict(
    pair.split("=")
    for pair in """
    phone=p email=e link=l address=a number=n file=f place=w organisation=o birthday=b
    """.split()  # noqa: SIM905 - words read better than quotes
)
# How each kind is written, and how where that holds a speaker's name.
_SHAPES = {
    "person": ("Person{}", "X_{}"),
    "handle": ("@handle{}", "@h_{}"),
    **{kind: (f"<{kind}-{{}}>", f"<{letter}-{{}}>") for kind, letter in _KINDS.items()},
}
_BRACKETS = "|".join((*_KINDS, *_KINDS.values()))
_PERSONS = "|".join((*PERSON_WORDS, "X_"))
SORTS = tuple(_SHAPES)  # of things that are replaced, as counts name them
_COUNT = "[1-9][0-9]*"  # "@h_000" is somebody's handle
STAND_IN_SHAPE = rf"<(?:{_BRACKETS})-{_COUNT}>|@(?:handle|h_){_COUNT}|@?(?:{_PERSONS}){_COUNT}"
STAND_IN = re.compile(STAND_IN_SHAPE)
_PARTS = re.compile(r"[<@]?(.+?)-?([0-9]+)>?")
_KIND_OF = (
    {"handle": "handle", "h_": "handle"}
    | dict.fromkeys((*PERSON_WORDS, "X_"), "person")
    | {code: kind for kind, letter in _KINDS.items() for code in (kind, letter)}
)


class StandIns:
    """Gives every thing its stand-in, and remembers for which."""

    def __init__(self, avoid: Iterable[str] = (), persons: PersonWords | None = None) -> None:
        """`avoid`: folded names and parts of names that no stand-in may hold."""
        self._names = frozenset(avoid)
        self._persons = persons or PersonWords()
        self._given: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {}
        self._shapes = {
            kind: letter if self._holds_name(plain.lower()) else plain
            for kind, (plain, letter) in _SHAPES.items()
        }
        self.originals: dict[str, dict[str, None]] = {}

    def _holds_name(self, folded: str) -> bool:
        return any(name in folded for name in self._names)

    def reserve(self, text: str) -> None:
        """Numbers that a text already uses are not given again."""
        for match in STAND_IN.finditer(text):
            kind, number = kind_and_number(match[0])
            self._next[kind] = max(self._next.get(kind, 1), number + 1)

    def make(self, kind: str, original: str, key: str | None = None) -> str:
        if STAND_IN.fullmatch(original):
            return original
        identity = (kind, unicodedata.normalize("NFC", original).casefold() if key is None else key)
        if identity not in self._given:
            number = self._next.get(kind, 1)
            while str(number) in self._names:
                number += 1
            self._next[kind] = number + 1
            self._given[identity] = self._shape(kind, original).format(number)
        self.note(self._given[identity], original)
        return self._given[identity]

    def _shape(self, kind: str, original: str) -> str:
        if kind != "person" or self._shapes[kind] != _SHAPES[kind][0]:
            return self._shapes[kind]
        word = self._persons.word(original)
        return "X_{}" if self._holds_name(fold(word)) else f"{word}{{}}"

    def note(self, stand_in: str, original: str) -> None:
        self.originals.setdefault(stand_in, {})[original] = None


def kind_and_number(stand_in: str) -> tuple[str, int]:
    """Which kind of thing a stand-in stands for, and which of them."""
    match = _PARTS.fullmatch(stand_in)
    assert match is not None
    return _KIND_OF[match[1]], int(match[2])


def kind_of(stand_in: str) -> str:
    """Which kind of thing a stand-in stands for."""
    return kind_and_number(stand_in)[0]


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
