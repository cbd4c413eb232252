"""Texts → spans that name persons, places, organisations, addresses, birthdays and numbers.

    tagger = NameTagger()
    tagger.tag(["ask ingrid in oslo", "ok"])
    → [[TaggedSpan(4, 10, "person", .93), TaggedSpan(14, 18, "place", .9)], []]

Six layers over the table of pieces that the multilingual retriever reads too, and over a few
numbers of a piece's own. A text that is said often is read once, and every text is run by
itself: on some processors products of several rows differ in their last bits from those of one. A
text that is too long is read in pieces that overlap. How sure a name must be depends on all texts
that are tagged together, as those of a chat are: on their language, and on how many names there
are. Where hardly a word is a name, a word that might be one is most likely none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import realtalk_models
from realtalk.encoders.model import LoadedModel
from realtalk.encoders.pairs import softmax
from realtalk.encoders.tag_spans import (
    NAMES,
    REPLACED_FROM,
    WORD,
    Chances,
    NameWords,
    SpanDecoder,
    TaggedSpan,
    WeighedWords,
    word_case,
)
from realtalk.encoders.weights import read_rows
from realtalk.text.languages import UNTOLD, languages_in, turn_languages

_AT_ONCE = 512  # texts that are tokenised together
_OVERLAP = 3  # of a long text's parts two neighbours share the third
_BORROWED = 400  # words of the chats that weights were fitted on, beside those of a chat
_ROUNDS = 3  # of counting names and reading again
_RAREST = -1.5  # that the log of a word's odds is lowered by, at most


class NameTagger(LoadedModel):
    """A tagger; the shipped one unless a folder is given."""

    def __init__(self, folder: Path | None = None, threads: int | None = None) -> None:
        place = folder or realtalk_models.path("names")
        super().__init__(place, threads)
        self._tables = [read_rows(place / each) for each in self.settings["tables"]]
        self.version = str(self.settings["version"])
        self._longest = int(self.settings["longest"])
        weights = self.settings.get("weights", ())
        lists = self.settings.get("words")
        words = NameWords.load(place / lists) if lists else None
        kinds, thresholds = self.settings["kinds"], self.settings["thresholds"]
        by_language = self.settings.get("by_language", {})
        self._decoder = SpanDecoder(kinds, thresholds, weights, words, by_language)
        self._reads_languages = bool(by_language)
        self._usual = float(self.settings.get("names_among_words", 0))
        # How often a piece is in names: logs of odds, in steps.
        self._prior: Chances | None = None
        if "prior" in self.settings:
            steps = np.load(place / self.settings["prior"], allow_pickle=False)
            self._prior = steps.astype(np.float32) / np.float32(self.settings["prior_steps"])

    def tag(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        """The spans of every text, in order."""
        different = [text for text in dict.fromkeys(texts) if any(map(str.isalnum, text))]
        spoken = self._languages(texts)
        spans_of: dict[str, list[TaggedSpan]] = {}
        weighed: dict[str, WeighedWords] = {}  # where there was anything

        for text, encoding, chances in self._run(different):
            prior = None if self._prior is None else self._prior[encoding.ids]
            lang = spoken.get(text, "")
            words = self._decoder.weigh(text, encoding.offsets, chances, prior, lang)
            if (text_spans := self._decoder.spans(words)) and words is not None:
                spans_of[text], weighed[text] = text_spans, words
        if self._usual:
            count, last = sum(len(WORD.findall(text)) for text in different), 0.0
            for _ in range(_ROUNDS):
                if (rarer := self._rarer(count, spans_of)) == last:
                    break
                spans_of = {t: self._decoder.spans(words, rarer) for t, words in weighed.items()}
                last = rarer
        return [spans_of.get(text, []) for text in texts]

    def _rarer(self, words: int, found: Mapping[str, Sequence[TaggedSpan]]) -> float:
        """How much lower the log of a word's odds is than where weights were fitted."""
        name_words = sum(
            len(WORD.findall(text, span.start, span.end))
            for text, spans in found.items()
            for span in spans
            if span.kind in NAMES and span.score >= REPLACED_FROM
        )
        share = (name_words + _BORROWED * self._usual) / (words + _BORROWED)
        odds = [
            math.log(chance / (1 - chance)) for chance in (min(share, self._usual), self._usual)
        ]
        return max(_RAREST, odds[0] - odds[1])

    def _languages(self, texts: Sequence[str]) -> dict[str, str]:
        """The one that all are mainly in; of several each text's, told from those around it."""
        if not self._reads_languages:
            return {}
        main = languages_in(texts)
        if len(main) == 1:
            return dict.fromkeys(texts, main[0])
        turn_langs = turn_languages(("", "", text) for text in texts)
        lang_of: dict[str, str] = {}
        for text, lang in zip(texts, turn_langs, strict=True):
            lang_of.setdefault(text, main[0] if main and lang == UNTOLD else lang)
        return lang_of

    def chances(
        self, texts: Sequence[str]
    ) -> list[tuple[list[int], list[tuple[int, int]], Chances]]:
        """Each text's pieces, their places, and the chance of every tag there."""
        return [
            (encoding.ids, encoding.offsets, chances) for _, encoding, chances in self._run(texts)
        ]

    def _run(self, texts: Sequence[str]) -> Iterator[tuple[str, Any, Chances]]:
        """Texts with their pieces and chances, which run while those before are handed on."""

        def run(text: str, encoding: Any) -> Chances:
            parts = [
                self._part(text, encoding, first, last)[begin - first : end - first]
                for first, last, begin, end in self._parts(len(encoding.ids))
            ]
            return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), _AT_ONCE):
                some = list(texts[start : start + _AT_ONCE])
                encoded = self._tokenizer.encode_batch(some, add_special_tokens=False)
                yield from zip(some, encoded, pool.map(run, some, encoded), strict=True)

    def _part(self, text: str, encoding: Any, first: int, last: int) -> Chances:
        """The chance of every tag at the pieces `first` to `last`."""
        tokens = [self.settings["cls"], *encoding.ids[first:last], self.settings["sep"]]
        case = [word_case(text, *place) for place in encoding.offsets[first:last]]
        words = [rows[tokens] * scales[tokens][:, None] for rows, scales in self._tables]
        inputs = {
            "words": np.concatenate(words, 1)[None],
            "case": np.array([[0, *case, 0]], np.int64),
        }
        ((logits,),) = self._session.run(None, inputs)
        return softmax(logits)[1:-1]

    def _parts(self, size: int) -> Iterator[tuple[int, int, int, int]]:
        """All of a text where it fits, else parts of which each end is read with what follows.

        First and last piece of a part, then of what is taken from it.
        """
        first, shared = 0, self._longest // _OVERLAP
        while size:
            last = min(first + self._longest, size)
            begin = first + shared // 2 if first else 0
            if last == size:
                yield first, last, begin, size
                return
            yield first, last, begin, last - shared + shared // 2
            first = last - shared
