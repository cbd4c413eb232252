"""Texts that may be counted → the ordinary words of each language, by which names are told apart.

    python -m research.training.ordinary_words --data ../shared/data

Where a script has capitals, a word that people write small is an ordinary one; in German, where
nouns have capitals, one that follows an article. Elsewhere it is a word that no list of names has,
or one that is rarely marked as a name. Counted are the sets of `identifier_data` and the marked
sets whose terms allow it, and our own chats, templates and messages outside of marks. One line per
language: its code, its commonest words in order, "|", the others by
letters, "~", those that lists of names have, too.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import regex

from realtalk.encoders.tag_spans import LISTED, SIGNS, WORD, NameWords, hash_of
from realtalk.text.folding import fold_word
from research.training.chats import every_chat
from research.training.ei_data import read_rows
from research.training.identifier_data import HINDI_WORDS, MISTAKEN, NOT_ENGLISH, SAME, SETS, TWINS
from research.training.languages_sources import DROPPED, lines
from research.training.names_chats import marked
from research.training.names_data import SETS as NAMED

OUT = Path(__file__).parents[2] / "src/realtalk/text/ordinary.txt.gz"
NAMES = Path(__file__).parents[2] / "src/realtalk_models/names/words.npz"
COMMONEST, MOST = 150, 12_000  # words of a language
FEWEST_TEXTS = 600
MARKED = frozenset({*NAMED, "weibo_ner"})  # sets in which names are marked
NOT_WORDS = frozenset({"user", "username", "https", "http", "com", "www", "rt"})
UNSPACED = frozenset({"zh", "ja", "ko"})  # their words do not stand apart
CASED = regex.compile(r"[\p{Lu}\p{Ll}]")
BEFORE_NOUNS = frozenset(
    """der die das den dem des ein eine einen einem einer kein keine keinen mein meine meinen meinem
    meiner dein deine deinen sein seine seinen ihr ihre ihren unser unsere im am zum zur beim vom
    ins viel mehr diese dieser dieses diesen jede jeder jeden""".split()  # noqa: SIM905 - reads better
)
_END = re.compile(r"[.!?…:;\"„“”»«\n(-]\s*$")


class Counts:
    """What was seen of a language's words."""

    def __init__(self) -> None:
        self.texts = 0
        self.small: Counter[str] = Counter()
        self.capital: Counter[str] = Counter()  # inside sentences
        self.noun: Counter[str] = Counter()  # after an article, in German
        self.named: Counter[str] = Counter()  # marked as a name
        self.plain: Counter[str] = Counter()  # not marked, where names are marked

    def add(self, text: str, spans: list[tuple[int, int]] | None = None) -> None:
        self.texts += 1
        before = ""
        shouted = text.isupper()
        for match in WORD.finditer(text):
            word, start = match[0], match.start()
            key = word.casefold()
            if spans is not None:
                is_name = any(first <= start < last for first, last in spans)
                (self.named if is_name else self.plain)[key] += 1
                if is_name:
                    before = ""
                    continue
            if not word[0].isupper():
                self.small[key] += 1
            elif word.istitle() and before and not shouted and not _END.search(text[:start]):
                self.capital[key] += 1
                self.noun[key] += before in BEFORE_NOUNS
            before = word


def texts(data: Path) -> Iterator[tuple[str, str]]:
    for name in SETS:
        for row in lines(data, name):
            lang = row["lang"]
            mistaken = (name, lang) == MISTAKEN or (name in NOT_ENGLISH and lang == "en")
            if lang not in DROPPED and not mistaken:
                yield SAME.get(lang, lang), row["text"]
            if name in TWINS and row.get("en"):
                yield "en", row["en"]
    for row in read_rows(data / "ei" / "goemotions" / "all.jsonl.gz"):
        if row["split"] == "train":
            yield "en", row["text"]


def tagged(data: Path) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    for path in sorted((data / "names").glob("*train.jsonl.gz")):
        if path.name.partition(".")[0] not in MARKED:
            continue
        for row in read_rows(path):
            text, spans = "", []
            for token, tag in zip(row["tokens"], row["tags"], strict=True):
                start = len(text)
                text += f"{token} "
                if tag != "O":
                    spans.append((start, start + len(token)))
            yield SAME.get(row["lang"], row["lang"]), text, spans
    for chat in every_chat():
        for bubble in chat.bubbles:
            said, marks, unsure = marked(bubble.text)
            yield SAME.get(chat.lang, chat.lang), said, [(s, e) for s, e, _ in marks] + unsure


def ordinary(code: str, seen: Counts, names: NameWords) -> Iterator[tuple[str, bool]]:
    """The words, and whether lists of names have them, too."""
    for word, count in seen.small.items():
        listed = bool(names.values.get(hash_of(word), 0) & LISTED)
        if SIGNS.search(word) or len(word) > 14 or word in NOT_WORDS:
            continue
        if CASED.match(word):
            fewest = 5 if len(word) < 4 else 2 if listed else 1
            if count >= fewest and count >= max(seen.capital[word], seen.named[word]):
                yield word, listed
        elif not listed and count >= 2:
            yield word, False
        elif listed and seen.plain[word] >= 2 and seen.plain[word] >= 4 * seen.named[word]:
            yield word, True
    if code == "de":
        for word, count in seen.noun.items():
            listed = bool(names.values.get(hash_of(word), 0) & LISTED)
            often = count >= 2 and count * 8 >= seen.capital[word]
            if (often if listed else count) and count >= seen.named[word]:
                yield word, listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    seen: dict[str, Counts] = defaultdict(Counts)
    for lang, text in texts(options.data):
        seen[lang].add(text)
    for lang, text, spans in tagged(options.data):
        seen[lang].add(text, spans)
    for word in HINDI_WORDS:
        seen["hi-Latn"].small[word] += 10
    names = NameWords.load(NAMES)
    rows = []
    for code, counts in sorted(seen.items()):
        if counts.texts < FEWEST_TEXTS or code in UNSPACED:
            continue
        often: Counter[str] = Counter()
        doubtful = set()
        for word, listed in dict(ordinary(code, counts, names)).items():
            often[fold_word(word)] += counts.small[word] + counts.noun[word]
            if listed:
                doubtful.add(fold_word(word))
        kept = [word for word, _ in sorted(often.items(), key=lambda each: (-each[1], each[0]))]
        if len(kept) < COMMONEST:
            continue
        common, others = kept[:COMMONEST], sorted(kept[COMMONEST:MOST])
        sure = [word for word in others if word not in doubtful]
        rows.append(
            " ".join([code, *common, "|", *sure, "~", *sorted(doubtful.intersection(others))])
        )
        print(code, counts.texts, len(kept), " ".join(common[:8]))
    OUT.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    print(f"{len(rows)} languages, {OUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
