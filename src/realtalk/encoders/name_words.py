"""Words → whether lists of names have them, and how often people write them as plain words.

    lists = NameWords.load(Path("names/words.npz"))
    lists.features_of("ask Ingrid or mark", [(4, 10), (14, 18)])    → [[1, 0, 0], [1, 6, 0]]

The columns: listed; how common a listed word is otherwise; how common one is that is not listed
(log2 of a count). Words are kept as hashes of their small letters, so no list can be read off the
file. In Arabic letters a word is looked up without "to", "in", "and", "the" before it, too. Where
there are no spaces, two to four signs in a row are looked up, elsewhere also two and three words
in a row ("new york"); the longest that is listed counts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
import regex

SIGNS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー]{2,}")  # no spaces there
WORD = regex.compile(r"[\p{L}\p{M}]{2,}")
LISTED = 128  # a value's highest bit; the lower four are the log2 of a count
_COUNT = 15
_TOGETHER = (4, 3, 2)  # signs of a name
_ARABIC = regex.compile(r"(?:[وف]?(?:[لبك]|ال|لل)|[وف])(?=\p{Arabic}{3})")


@dataclass(frozen=True, slots=True)
class NameWords:
    values: Mapping[int, int]  # of hashes

    @classmethod
    def load(cls, path: Path) -> NameWords:
        with np.load(path, allow_pickle=False) as file:
            hashes = np.cumsum(file["steps"], dtype=np.uint32).tolist()
            return cls(dict(zip(hashes, file["values"].tolist(), strict=True)))

    @classmethod
    def of(cls, listed: set[str], counts: Mapping[str, int]) -> NameWords:
        """Of names, and of words with how often they are plain."""
        values = {hash_of(word): min(_COUNT, n.bit_length()) for word, n in counts.items()}
        for word in listed:
            values[hash_of(word)] = values.get(hash_of(word), 0) | LISTED
        return cls(values)

    def save(self, path: Path) -> None:
        """Steps between hashes instead of hashes: they are smaller when packed."""
        hashes = np.array(sorted(self.values), np.uint32)
        steps = np.diff(hashes, prepend=np.uint32(0))
        values = np.array([self.values[int(hash_)] for hash_ in hashes], np.uint8)
        np.savez_compressed(path, steps=steps, values=values)

    def features_of(self, text: str, places: Sequence[tuple[int, int]]) -> npt.NDArray[np.float64]:
        """One row per word, which stands at these places of a text."""
        rows = np.zeros((len(places), 3))
        among = [*self._among_signs(text), *self._among_words(text)]
        for at, (start, end) in enumerate(places):
            values = [self._value(form) for form in _forms(text[start:end])]
            values += [value for first, last, value in among if first < end and start < last]
            best = max(values, key=lambda value: (value & LISTED, -(value & _COUNT)), default=0)
            common = float(best & _COUNT)
            rows[at] = (1, common, 0) if best & LISTED else (0, 0, common)
        return rows

    def names_any(self, text: str) -> bool:
        """Whether a word of a text is listed."""
        return bool(
            self.features_of(text, [match.span() for match in WORD.finditer(text)])[:, 0].any()
        )

    def _value(self, form: str) -> int:
        return self.values.get(hash_of(form), 0)

    def _among_signs(self, text: str) -> Iterator[tuple[int, int, int]]:
        for match in SIGNS.finditer(text):
            at, end = match.span()
            while at < end - 1:
                fits = (size for size in _TOGETHER if at + size <= end)
                size = next((n for n in fits if self._value(text[at : at + n]) & LISTED), 0)
                if size:
                    yield at, at + size, self._value(text[at : at + size])
                at += size or 1

    def _among_words(self, text: str) -> Iterator[tuple[int, int, int]]:
        words = [match.span() for match in WORD.finditer(text)]
        at = 0
        while at < len(words) - 1:
            step = 1
            for size in (3, 2):
                part = words[at : at + size]
                spaced = all(text[a[1] : b[0]] in (" ", "-") for a, b in pairwise(part))
                name = " ".join(text[slice(*place)] for place in part)
                if len(part) == size and spaced and (value := self._value(name)) & LISTED:
                    yield part[0][0], part[-1][1], value
                    step = size
                    break
            at += step


def hash_of(word: str) -> int:
    return crc32(unicodedata.normalize("NFC", word).casefold().encode())


def _forms(word: str) -> Iterator[str]:
    if len(word) < 2 or not word[0].isalpha() or SIGNS.match(word):
        return
    yield word
    if (before := _ARABIC.match(word)) is not None:
        yield word[before.end() :]
