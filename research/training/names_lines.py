"""Lines of public dialogues and messages, in which nearly every word is no name.

    for row in lines(folder, tests, rng): …           {"t": text, "s": [], "l": lang, "o": []}
    may_be_names(row, words_in_names(labelled))       → places of words that may be names after all

Those are words that are names in the labelled sets, and words with a capital inside a sentence (in
German, which has them on every noun, only the former).
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from research.training.names_data import Row, Tests

SOURCES = (
    "chat.nus_sms_en.raw", "chat.nus_sms_zh.raw", "chat.songys_ko.raw", "parallel.xpersona.train",
    "emotion.masac.train", "emotion.xed.train", "parallel.tatoeba.train", "sentiment.umsab.train",
    "parallel.bcontrast_de.train", "sentiment.smsa_id.train", "emotion.vsmec.train",
)  # fmt: skip
EACH = 1_300  # lines of a language
NAMED = 0.15  # share of a word's places that are in names, from which on it may be one
WORD = re.compile(r"[^\W\d_]+")


def words_in_names(rows: list[Row]) -> set[str]:
    """Words in small letters that are parts of names in the labelled sets, often enough."""
    named, seen = Counter[str](), Counter[str]()
    for row in rows:
        for match in WORD.finditer(row["t"]):
            word = match[0].lower()
            seen[word] += 1
            named[word] += any(s < match.end() and match.start() < e for s, e, _ in row["s"])
    return {word for word, count in named.items() if count and count >= NAMED * seen[word]}


def lines(folder: Path, tests: Tests, rng: random.Random) -> Iterator[Row]:
    by_lang: dict[str, list[str]] = defaultdict(list)
    for source in SOURCES:
        path = folder / f"{source}.jsonl.gz"
        here: dict[str, list[str]] = defaultdict(list)
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                text = row["text"].strip()
                if 2 < len(text) < 160 and not re.search(r"\[|<|http|@", text):
                    here[row["lang"].removesuffix("-BR").removesuffix("-TW")].append(text)
        for lang, texts in here.items():
            rng.shuffle(texts)
            by_lang[lang] += texts[: 3 * EACH]
    for lang, texts in sorted(by_lang.items()):
        rng.shuffle(texts)
        kept = [text for text in dict.fromkeys(texts) if not tests.has(text)][:EACH]
        for text in kept:
            drawn = rng.random()
            said = text.lower() if drawn < 0.5 else text
            yield {"t": said.rstrip(".") if drawn < 0.7 else said, "s": [], "l": lang, "o": []}


def may_be_names(row: Row, names: set[str]) -> list[tuple[int, int]]:
    """Where a line has words that may be names."""
    text = row["t"]
    found = []
    for match in WORD.finditer(text):
        before = text[: match.start()].rstrip()[-1:]
        capital = match[0][0].isupper() and before not in ("", *'.!?…¿¡-"') and row["l"] != "de"
        if capital or match[0].lower() in names:
            found.append(match.span())
    return found
