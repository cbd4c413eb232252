"""Runs of signs without spaces → words, learned from the runs themselves.

    cut = Segmenter({"今日は雨です": 3, "雨が強い": 2, "明日は雨": 4, …}, common={"は", "です"})
    cut.words("明日は雨です")     → ["明日", "は", "雨", "です"]
    korean_stem("기차를")         → "기차"

No dictionary is needed for what is said often: signs that stand together far more often than by
chance, with ever other neighbours on both sides, are a word ("new word discovery" by cohesion and
branching entropy). A run is cut where its words are likeliest together. What was said once or
twice is no word yet, and is left out. A change of script ends a word, but for a Japanese ending.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import regex

# Chinese characters, Hiragana and Katakana are told apart; of other scripts a run is one script.
_PARTS = regex.compile(
    r"\p{Han}+|[\p{Hiragana}]+|[\p{Katakana}ー]+|[^\p{Han}\p{Hiragana}\p{Katakana}ー]+"
)
_WHOLE = regex.compile(
    r"[\p{Katakana}ー]+|[^\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+"
)
_HAN_SIGN = regex.compile(r"\p{Han}")
_SIGN = regex.compile(r"\X")
_ENDING = regex.compile(r"[\p{Hiragana}--[はがのをにでともへやかねよな]]", regex.V1)
_NO_BEGINNING = regex.compile(r"[っんーゃゅょぁぃぅぇぉをゎ]")
_LONGEST, _LONGEST_HAN = 7, 4  # signs of a word
_LEAST = 3  # uses
_COHESION = 2.0  # times as often as its parts meet by chance, in powers of e
_FREEDOM = 0.6  # nats of the neighbours on the side that has fewer
_KEPT = 40_000  # pieces, the most frequent ones: what is shown was used often
_MOST = 200_000  # signs that are learned from
_ALONE = -18.0  # of a sign that is no known word


class Segmenter:
    """Words of one chat's language, and how it is cut into them."""

    def __init__(self, runs: Mapping[str, int], common: Collection[str] = ()) -> None:
        parts = _learned_from(runs)
        total = sum(uses * len(signs) for signs, uses in parts)
        counts: Counter[str] = Counter()
        for signs, uses in parts:
            for first, end in _spans(signs):
                counts["".join(signs[first:end])] += uses
        likely = {
            piece
            for piece, uses in counts.most_common(_KEPT)
            if uses >= _LEAST and (piece in common or _holds_together(piece, counts, total))
        }
        before: defaultdict[str, Counter[str]] = defaultdict(Counter)
        right: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for number, (signs, uses) in enumerate(parts):
            for first, end in _spans(signs):
                piece = "".join(signs[first:end])
                if piece in likely:
                    # The end of a run is a neighbour of its own, each time anew.
                    before[piece][signs[first - 1] if first else f"{number}"] += uses
                    right[piece][signs[end] if end < len(signs) else f"{number}"] += uses
        self._scores = {
            piece: math.log(counts[piece] / total)
            for piece in likely
            if piece in common
            or _HAN_SIGN.fullmatch(piece)
            or min(_entropy(before[piece]), _entropy(right[piece])) >= _FREEDOM
        }

    def words(self, run: str) -> list[str]:
        """The run in words; signs that belong to none are left out."""
        words: list[str] = []
        for part in _PARTS.findall(run):
            if _WHOLE.fullmatch(part):
                words.append(part)
                continue
            signs = _SIGN.findall(part)
            if words and _HAN_SIGN.fullmatch(words[-1]) and _ENDING.match(part):
                words[-1] += signs.pop(0)  # 好 き, of one word
            words += self._split(signs)
        return [word for word in words if word in self._scores or not _SIGN.fullmatch(word)]

    def _split(self, signs: list[str]) -> list[str]:
        best = [0.0, *([-math.inf] * len(signs))]
        before = [0] * (len(signs) + 1)
        for end in range(1, len(signs) + 1):
            for first in range(max(0, end - _LONGEST), end):
                score = self._scores.get("".join(signs[first:end]))
                if score is None:
                    if end - first > 1:
                        continue
                    score = _ALONE
                if best[first] + score > best[end]:
                    best[end], before[end] = best[first] + score, first
        words, end = [], len(signs)
        while end:
            words.append("".join(signs[before[end] : end]))
            end = before[end]
        return words[::-1]


def _learned_from(runs: Mapping[str, int]) -> list[tuple[list[str], int]]:
    """The parts of runs that hold several words, in signs; of a long chat an even sample."""
    size = sum(map(len, runs))
    some = list(runs.items())[:: 1 + size // _MOST]
    return [
        (_SIGN.findall(part), uses)
        for run, uses in some
        for part in _PARTS.findall(run)
        if not _WHOLE.fullmatch(part)
    ]


def _spans(signs: list[str]) -> Iterator[tuple[int, int]]:
    longest = _LONGEST_HAN if _HAN_SIGN.match(signs[0]) else _LONGEST
    for first in range(len(signs)):
        for end in range(first + 1, min(len(signs), first + longest) + 1):
            yield first, end


def _holds_together(piece: str, counts: Counter[str], total: int) -> bool:
    """Whether its signs meet more often than by chance, wherever it is cut in two."""
    signs = _SIGN.findall(piece)
    if len(signs) == 1:
        return _HAN_SIGN.match(piece) is not None
    if _NO_BEGINNING.match(piece):
        return False
    chance = max(
        counts["".join(signs[:at])] * counts["".join(signs[at:])] for at in range(1, len(signs))
    )
    return math.log(counts[piece] * total / chance) >= _COHESION


def _entropy(neighbours: Counter[str]) -> float:
    total = neighbours.total()
    return -sum(uses / total * math.log(uses / total) for uses in neighbours.values())


_PARTICLE = regex.compile(
    r"(?:에서는|에서도|으로는|한테서|에게서|이라고|이랑은|에서|으로|까지|부터|한테|에게|하고|이랑|처럼|보다"
    r"|마다|밖에|라고|은|는|이|가|을|를|에|도|로|와|과|의|만|랑|야|아)$"
)
_VERB = regex.compile(r"(?:했어|했는데|해요|했다|하는|하고|해서|하면|할게|하자|한다|합니다|하지)$")


@lru_cache(1 << 16)
def korean_stem(word: str) -> str:
    """A Korean word without the particle behind it; two signs must be left."""
    bare = _VERB.sub("", word)
    if bare == word or len(bare) < 2:
        bare = _PARTICLE.sub("", word)
    return bare if len(bare) > 1 else word
