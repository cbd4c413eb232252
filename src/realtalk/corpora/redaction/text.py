"""Finds what identifies a person in a text, and says what stands there instead.

    scanner.text("ask Mara's brother, +49 170 1234567 or @theo_k", "Chat_1")
    → "ask Person1's brother, <phone-1> or @handle1"

One pass from left to right: at each place the first of stand-in, link, address, handle,
date, long number and name that fits. Dates, times, years, amounts and short numbers stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from realtalk.corpora.redaction.addresses import ADDRESS
from realtalk.corpora.redaction.forms import bare, endings_off, forms
from realtalk.corpora.redaction.words import COMMON, PARTICLES, UNITS

__all__ = ["STAND_IN", "Names", "Scanner", "StandIns", "words_of"]

# Scripts written without spaces: a name there has no word boundary around it.
_UNSPACED = "\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# A letter of the other scripts; an accent may be a character of its own.
_WORD = rf"[^\W\d_{_UNSPACED}]+(?:[\u0300-\u036f]+[^\W\d_{_UNSPACED}]*)*"
_KINDS = "phone|email|link|address|number|file"
STAND_IN = re.compile(rf"<(?:{_KINDS})-(\d+)>|@handle(\d+)|@?Person(\d+)")
_HELD = rf"<(?:{_KINDS})-\d+>|@handle\d+|@?Person\d+"
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
    written = (
        f"{first}(?P<{name}{index}>[./-]){second}(?P={name}{index}){third}"
        for index, (first, second, third) in enumerate(orders)
    )
    return f"(?:{'|'.join(written)})"


_DATE = rf"{_date('from')}(?:[ ]?[-–][ ]?{_date('to')})?"
_CLOCK = r"(?:[01]?\d|2[0-3])(?::[0-5]\d(?::[0-5]\d)?|\.[0-5]\d)"
_FOUND = re.compile(
    rf"""
      (?P<stand_in> (?-i: {_HELD} ) )
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
    | (?P<word> {_WORD} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Most texts have nothing but words in them, and words alone are found much faster.
_WORDS = re.compile(rf"(?P<word>{_WORD})")
_MORE_THAN_WORDS = re.compile(r"[@\d]|://|\w\.\w|(?i:[(\[] ?at ?[)\]])")
_AFTER_LINK = ".,;:!?)]}>'\"*_…»”’"
# 1.250.000 or 1 250 000; fewer digits in groups are left anyway.
_THOUSANDS = re.compile(r"\d([. \u00a0\u202f])\d{3}\1\d{3}")
_AMOUNT_BEFORE = re.compile(r"[$€£¥₹₽][ \u00a0]?$")
_AMOUNT_AFTER = re.compile(rf"[ \u00a0\u202f]?(?:[€$£¥₹₽%°]|(?:{UNITS})\b)", re.IGNORECASE)
_MOST_OF_AN_AMOUNT = 7  # digits
_ON_THE_NET = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_YEARS = re.compile(r"(?:1\d|20)\d\d(?:\D+(?:1\d|20)\d\d)*")


def _finder(text: str) -> re.Pattern[str]:
    return _FOUND if _MORE_THAN_WORDS.search(text) else _WORDS


def words_of(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text outside of stand-ins, links and the like, with their places."""
    for match in _finder(text).finditer(text):
        if match.lastgroup == "word":
            yield match["word"], match.start(), match.end()


@lru_cache(1 << 16)
def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


def _squashed(text: str) -> str:
    """Letters and digits only: how a name looks as a handle, or a number as digits."""
    return "".join(sign for sign in _key(bare(text)) if sign.isalnum())


class StandIns:
    """Gives every thing its stand-in, the same one each time, and remembers which."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {}
        self.originals: dict[str, dict[str, None]] = {}

    def reserve(self, text: str) -> None:
        """Numbers that a text already uses are not given again."""
        for match in STAND_IN.finditer(text):
            kind = match[0].strip("<@>").rstrip("0123456789").rstrip("-")
            number = int(match[1] or match[2] or match[3])
            self._next[kind] = max(self._next.get(kind, 1), number + 1)

    def make(self, kind: str, original: str, key: str | None = None) -> str:
        if STAND_IN.fullmatch(original):
            return original
        known = (kind, _key(original) if key is None else key)
        if known not in self._given:
            number = self._next.get(kind, 1)
            self._next[kind] = number + 1
            shape = {"Person": "Person{}", "handle": "@handle{}"}.get(kind, f"<{kind}-{{}}>")
            self._given[known] = shape.format(number)
        self.note(self._given[known], original)
        return self._given[known]

    def note(self, stand_in: str, original: str) -> None:
        self.originals.setdefault(stand_in, {})[original] = None


@dataclass(slots=True)
class Names:
    """Which words, phrases and handles mean which person."""

    words: dict[str, tuple[str, bool]] = field(default_factory=dict)  # person; only capitalised?
    phrases: dict[str, list[tuple[re.Pattern[str], str]]] = field(default_factory=dict)
    squashed: dict[str, str] = field(default_factory=dict)
    unspaced: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, person: str) -> None:
        """A name, and the parts of it that can stand alone; the first to have a part keeps it."""
        if STAND_IN.fullmatch(name):
            return
        whole = re.sub(r"^\W+|\W+$", "", name)
        if len(_squashed(whole)) > 1:
            self.squashed.setdefault(_squashed(whole), person)
        pieces = [piece for piece in re.split(r"[\W\d_]+", whole) if len(piece) > 1]
        for piece in pieces:
            if re.search(f"[{_UNSPACED}]", piece):
                self.unspaced.setdefault(piece, person)
                continue
            common = _key(piece) in COMMON or len(piece) == 2
            if pieces != [whole]:
                small = not piece[0].isupper()
                if _key(piece) in PARTICLES or (common and small):
                    continue
                # A part of "throw_away99" may be a word: only its capital makes it a name.
                common = common or (small and not re.search(r"\s", whole))
            for form in forms(_key(piece)):
                self.words.setdefault(form, (person, common))
        if len(pieces) > 1:
            # Written as one word, as in handles and tags: "maralund", "LundMara".
            for glued in ("".join(pieces), "".join(reversed(pieces))):
                for form in forms(_key(glued)) if len(glued) > 5 else ():
                    self.words.setdefault(form, (person, False))
        if pieces and pieces != [whole]:
            # Between the pieces any separator will do: "Mara Lund", "mara_lund", "Mara-Lund".
            between = [re.escape(part) for part in re.split(r"\s+", whole)]
            pattern = re.compile(r"[\s_.-]+".join(between) + r"(?![^\W\d_])", re.IGNORECASE)
            first = next(iter(words_of(whole)), None)
            if first is not None and first[1] == 0:
                held = self.phrases.setdefault(_key(first[0]), [])
                held.append((pattern, person))
                held.sort(key=lambda entry: -len(entry[0].pattern))

    def person(self, word: str) -> str | None:
        """Whom a word names: Mara, MARA, Márá, Maras, Maraaa, and in other cases Мары, Marának."""
        key = _key(word)
        tries = [key]
        if len(key) > 4 and key.endswith("s"):
            tries.append(key[:-1])
        if len(key) > 3 and key[-1] == key[-2]:
            tries.append(key.rstrip(key[-1]) + key[-1])
        if not key.isascii():
            tries.append(_key(bare(key)))
        if word[0].isupper():
            tries += endings_off(key)
        for form in tries:
            found = self.words.get(form)
            if found is not None and (word[0].isupper() or not found[1]):
                return found[0]
        return None


class Scanner:
    """Replaces in texts; a chat's own names go before those of the other chats."""

    def __init__(
        self, stand_ins: StandIns, everyone: Names, chats: Mapping[str, Names], keep: Iterable[str]
    ) -> None:
        self._stand_ins = stand_ins
        self._everyone = everyone
        self._chats = chats
        self._keep = frozenset(keep)
        self._seen: dict[str, bool] = {}
        names = sorted(everyone.unspaced, key=len, reverse=True)
        self._unspaced = re.compile("|".join(map(re.escape, names))) if names else None

    def text(self, text: str, chat: str, *, is_id: bool = False) -> str:
        """The text with stand-ins; of an id only names, mail addresses and phones are taken."""
        names = [self._chats[chat], self._everyone] if chat in self._chats else [self._everyone]
        if self._unspaced is not None:
            text = self._unspaced.sub(lambda found: self._unspaced_person(found[0], names), text)
        finder = _finder(text)
        if finder is _WORDS and not any(map(self._may_name, _WORDS.findall(text))):
            return text
        made: list[str] = []
        done = at = 0
        while match := finder.search(text, at):
            at, stand_in = self._stand_in(match, names, is_id)
            if stand_in is not None:
                made += (text[done : match.start()], stand_in)
                done = at
        return "".join((*made, text[done:])) if made else text

    def _unspaced_person(self, name: str, names: list[Names]) -> str:
        person = next(each.unspaced[name] for each in names if name in each.unspaced)
        self._stand_ins.note(person, name)
        return person

    def _stand_in(
        self, match: re.Match[str], names: list[Names], is_id: bool
    ) -> tuple[int, str | None]:
        """Where to go on, and what to put in place of what was found (None: leave it)."""
        kind, found, end = match.lastgroup, match[0], match.end()
        if kind == "word":
            return self._word(match, names)
        if kind in ("address", "token"):
            return self._whole(match, names, is_id)
        if kind in ("stand_in", "date", "clock", None) or f"{kind}s" in self._keep:
            return end, None
        if is_id and kind != "email" and found[0] != "+":
            return end, self._squashed(found, names)
        if kind == "link":
            trimmed = found.rstrip(_AFTER_LINK)
            return match.start() + len(trimmed), self._stand_ins.make("link", trimmed, trimmed)
        if kind == "handle":
            if person := self._squashed(found, names):
                return end, f"@{person}"
            return end, self._stand_ins.make("handle", found)
        if kind == "digits":
            return end, self._number(match, names)
        if kind == "iban":
            return end, None if "numbers" in self._keep else self._make_number("number", found)
        return end, self._stand_ins.make("email", found)

    def _whole(
        self, match: re.Match[str], names: list[Names], is_id: bool
    ) -> tuple[int, str | None]:
        """A street or a code; where those stay, the names in it still go."""
        if person := self._squashed(match[0], names):
            return match.end(), person
        street = match.lastgroup == "address"
        word = _WORDS.match(match.string, match.start())
        if not street and word and self._person(word[0], names):
            return self._word(word, names)  # "Mara19900412"
        if is_id or ("addresses" if street else "numbers") in self._keep:
            return self._word(word, names) if word else (match.start() + 1, None)
        return match.end(), self._stand_ins.make("address" if street else "number", match[0])

    def _squashed(self, found: str, names: list[Names]) -> str | None:
        key = _squashed(found)
        for each in names:
            person = each.squashed.get(key) or each.words.get(key, (None,))[0]
            if person is not None:
                self._stand_ins.note(person, found)
                return person
        return None

    def _make_number(self, kind: str, found: str) -> str:
        return self._stand_ins.make(kind, found, _squashed(found))

    def _number(self, match: re.Match[str], names: list[Names]) -> str | None:
        found = match[0]
        chunks = re.findall(r"\d+", found)
        count = sum(map(len, chunks))
        joined = len(chunks) > 1
        if count < 5 or _YEARS.fullmatch(found.strip("+(")):
            return None
        if count < 7 and joined and max(map(len, chunks)) < 5:
            return None  # "100-200", "10.30 12"
        if _is_amount(match):
            return None
        if _ON_THE_NET.fullmatch(found):
            return None if "numbers" in self._keep else self._make_number("number", found)
        phone = count <= 15 and count >= 7 and (joined or found[0] in "+(0" or count >= 9)
        if ("phones" if phone else "numbers") in self._keep:
            return None
        return self._squashed(found, names) or self._make_number(
            "phone" if phone else "number", found
        )

    def _word(self, match: re.Match[str], names: list[Names]) -> tuple[int, str | None]:
        word, text = match[0], match.string
        if not self._may_name(word):
            return match.end(), None
        for each in names:
            for pattern, called in each.phrases.get(_key(word), ()):
                if whole := pattern.match(text, match.start()):
                    self._stand_ins.note(called, whole[0])
                    return whole.end(), called
        person = self._person(word, names)
        if person is None:
            return match.end(), None
        end = _past_digits(text, match.end())
        # "Mara Lund" by parts is one person, not two.
        while text[end : end + 1] == " " and (after := _WORDS.match(text, end + 1)):
            if self._person(after[0], names) != person:
                break
            end = _past_digits(text, after.end())
        return end, person

    def _may_name(self, word: str) -> bool:
        """Whether it is worth looking closer; most words are seen again and again."""
        known = self._seen.get(word)
        if known is None:
            known = _key(word) in self._everyone.phrases or bool(self._everyone.person(word))
            self._seen[word] = known
        return known

    def _person(self, word: str, names: list[Names]) -> str | None:
        for each in names:
            if person := each.person(word):
                self._stand_ins.note(person, word)
                return person
        return None


def _is_amount(match: re.Match[str]) -> bool:
    """Whether a number counts something: 12500 €, $125000, 10000 steps, 1.250.000."""
    found, text = match[0], match.string
    if _THOUSANDS.fullmatch(found):
        return True
    if not found.isdigit() or len(found) > _MOST_OF_AN_AMOUNT or found[0] == "0":
        return False
    before = _AMOUNT_BEFORE.search(text, max(0, match.start() - 2), match.start())
    return before is not None or _AMOUNT_AFTER.match(text, match.end()) is not None


def _past_digits(text: str, at: int) -> int:
    """Beyond the digits there: "Mara2" must not become "Person12"."""
    while at < len(text) and text[at].isdigit():
        at += 1
    return at
