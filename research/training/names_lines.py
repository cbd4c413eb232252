"""Lines of public dialogues and messages, in which nearly every word is no name.

    for row in lines(folder, tests, rng): …     {"t": text, "s": [], "l": lang, "o": [], "src": set}
    may_be_names(row, words_in_names(labelled))       → places of words that may be names after all

Those are words that are names in the labelled sets, and words with a capital inside a sentence (in
German, which has them on every noun, only the former); where there are no spaces, runs of signs
that are a name in those sets. A line whose English twin names somebody is left out where its script
has no capitals. Hindi and Arabic are there in Latin letters, too: no open set has such lines, so
they are retyped.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from realtalk.encoders.tag_spans import SIGNS
from research.training.languages_latin import arabic_in_latin, hindi_in_latin
from research.training.names_chats import FICTION, SAID, Row
from research.training.names_data import Tests

# What is read: sets of open terms alone, which terms.toml states; "fiction" is our own.
SOURCES = (
    "chat.songys_ko.raw", "emotion.brighter.train", "emotion.emot_id.train",
    "emotion.goemotions_mt.train", "emotion.red_ro.train", "parallel.bcontrast_de.train",
    "parallel.tatoeba.train", "parallel.xpersona.train", "parallel.xsid.dev",
    "sentiment.afrisenti.train", "sentiment.smsa_id.train", "sentiment.wisesight_th.train",
    "../ei/goemotions/all", "fiction",
)  # fmt: skip
TWINS = frozenset({"parallel.tatoeba.train", "parallel.xpersona.train"})  # `en` is a line as well
SAME = {"pt-BR": "pt", "pt-MZ": "pt", "zh-TW": "zh", "ary": "ar", "arq": "ar"}
GIVEN = frozenset(
    name.strip()
    for line in (Path(__file__).parent / "names" / "en.lists").read_text("utf-8").splitlines()
    if line.startswith("first:")
    for name in line.partition(":")[2].split(",")
) | {"Tom", "Mary", "John", "Jim", "Bill", "Ken", "Bob", "Jane", "Mike", "Boston", "Fadil", "Sami"}
EACH = 3_000  # lines of a language
MORE = {"en": 9_000}
NAMED = 0.15  # share of a word's places that are in names, from which on it may be one
WORD = re.compile(r"[^\W\d_]+")
CASED = re.compile(r"[A-Za-zÀ-ɏͰ-ԯẀ-ỿ]")
NO_NAMES = frozenset({"I", "English", "French", "Japanese", "Monday", "Sunday", "Mr", "Christmas"})
ODD = re.compile(r"\[|<|http|@")


def words_in_names(rows: list[Row]) -> set[str]:
    """Words in small letters that are parts of names in the labelled sets, often enough."""
    named, seen = Counter[str](), Counter[str]()
    for row in rows:
        for match in WORD.finditer(row["t"]):
            word = match[0].lower()
            seen[word] += 1
            named[word] += any(s < match.end() and match.start() < e for s, e, _ in row["s"])
        for start, end, _ in row["s"]:
            if SIGNS.fullmatch(row["t"], start, end) and end - start < 5:
                named[row["t"][start:end]] += 1
    return {word for word, count in named.items() if count and count >= NAMED * seen[word]}


def read(folder: Path, source: str) -> Iterator[tuple[str, str]]:
    """Languages and texts of a set."""
    if source == "fiction":
        yield from fiction()
        return
    with gzip.open(folder / f"{source}.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            if row.get("split", "train") != "train":
                continue
            lang = row.get("lang", "en")
            twin = row.get("en", "")
            if CASED.search(row["text"]) or not names_somebody(twin):
                yield SAME.get(lang, lang), row["text"]
            if source in TWINS and twin:
                yield "en", twin


def names_somebody(english: str) -> bool:
    """Whether a line's English twin may have a name in it."""
    words = WORD.findall(english)
    inside = any(word[0].isupper() and word not in NO_NAMES for word in words[1:])
    return inside or any(word.capitalize() in GIVEN for word in words)


def fiction() -> Iterator[tuple[str, str]]:
    """Our own chats with assistants (the others are marked: names_chats.py), without lines that
    name a speaker."""
    for path in sorted(FICTION.glob("A*.txt")):
        rows = [match for match in map(SAID.match, path.read_text("utf-8").splitlines()) if match]
        speakers = {word.lower() for row in rows for word in WORD.findall(row[2])}
        for row in rows:
            words = {word.lower() for word in WORD.findall(row[3])}
            if not any(word.startswith(name) for name in speakers for word in words):
                yield "en", row[3]


def lines(folder: Path, tests: Tests, rng: random.Random, each: int = EACH) -> Iterator[Row]:
    by_lang: dict[str, list[tuple[str, str]]] = defaultdict(list)
    letters = np.random.default_rng(0)
    for source in SOURCES:
        here: dict[str, list[str]] = defaultdict(list)
        for lang, said in read(folder, source):
            text = said.strip()
            if 2 < len(text) < 160 and not ODD.search(text):
                here[lang].append(text)
        for lang, texts in list(here.items()):
            rng.shuffle(texts)
            del texts[MORE.get(lang, each) :]
            if lang == "hi":
                here["hi-Latn"] += [hindi_in_latin(text, letters) for text in texts]
            if lang == "ar":
                here["ar-Latn"] += [arabic_in_latin(text, letters) for text in texts[: each // 3]]
        for lang, texts in here.items():
            by_lang[lang] += [(text, source) for text in texts]
    for lang, some in sorted(by_lang.items()):
        rng.shuffle(some)
        kept = [pair for pair in dict(some).items() if not tests.has(pair[0])]
        for text, source in kept[: MORE.get(lang, each)]:
            drawn = rng.random()
            told = text.rstrip(".") if drawn < 0.7 else text
            said = told.lower() if drawn < 0.5 and len(told.lower()) == len(told) else told
            yield {"t": said, "as": told, "s": [], "l": lang, "o": [], "src": source}


def may_be_names(row: Row, names: set[str]) -> list[tuple[int, int]]:
    """Where a line has words that may be names; `as` is how it was written."""
    text = row["as"]
    found = []
    for run in SIGNS.finditer(text):
        for size in (2, 3, 4):
            for at in range(run.start(), run.end() - size + 1):
                if text[at : at + size] in names:
                    found.append((at, at + size))
    for match in WORD.finditer(text):
        before = text[: match.start()].rstrip()[-1:]
        capital = match[0][0].isupper() and before not in ("", *'.!?…¿¡-"') and row["l"] != "de"
        if capital or match[0].lower() in names:
            found.append(match.span())
    return found
