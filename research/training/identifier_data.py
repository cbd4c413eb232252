"""Sets that may be counted → texts by language, to learn from and to test with.

    learned(data)["es"]      → texts of train parts; hi-Latn and ar-Latn are mostly retyped
    tested(data)             → {"Tatoeba": {"es": […]}, "film lines": {…}, …} of test parts

Only sets whose licence lets counts of their letters be passed on (SETS says which, each with its
licence). Languages that nobody can tell apart by a few words share a code (SAME).
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from research.training.ei_data import read_rows
from research.training.languages_latin import arabic_in_latin, hindi_in_latin, without_accents
from research.training.languages_sources import DROPPED, lines

HERE = Path(__file__).parent
SAME = {
    **{"bs": "hr", "sr": "hr", "pt-BR": "pt", "pt-MZ": "pt", "zh-TW": "zh", "yue": "zh"},
    **{"nb": "no", "nn": "no", "ms": "id", "ary": "ar", "arq": "ar", "arz": "ar", "lvs": "lv"},
}
# Their train parts, and what allows it. `en` beside a text is read too where it is surely English.
SETS = {
    "parallel.tatoeba.train": "CC BY 2.0 FR",
    "emotion.brighter.train": "CC BY 4.0",
    "emotion.xed.train": "CC BY 4.0",
    "parallel.xed.train": "CC BY 4.0",
    "sentiment.afrisenti.train": "CC BY 4.0",
    "parallel.xpersona.train": "MIT",
    "parallel.bcontrast_de.train": "CC BY-SA 4.0",
    "sentiment.nusax.train": "CC BY-SA 4.0",
    "sentiment.smsa_id.train": "CC BY-SA 4.0",
    "emotion.emot_id.train": "MIT",
    "emotion.red_ro.train": "MIT",
    "emotion.goemotions_mt.train": "Apache-2.0",
    "sentiment.wisesight_th.train": "CC0",
    "chat.songys_ko.raw": "MIT",
    "chat.nus_sms_en.raw": "public",
    "chat.nus_sms_zh.raw": "public",
}
TWINS = frozenset({"parallel.tatoeba.train", "parallel.xpersona.train"})
TWINS |= {"parallel.bcontrast_de.train"}
NOT_ENGLISH = frozenset({"emotion.xed.train", "parallel.xed.train"})  # half of their English
# Of our own writing: transliteration knows the letters, but not how people spell.
HINDI_WORDS = (HERE / "languages" / "hindi_words.txt").read_text("utf-8").split()
FEWEST, MOST = 600, 12_000  # texts of a language
# Of what stands as Slovenian in Tatoeba most is Slovak, which has letters of its own.
MISTAKEN = ("parallel.tatoeba.train", "sl")
DROP = "und"
SLOVAK = frozenset("áíýúóéôľĺŕťďňä")
HELD = 20  # every twentieth text of a set without a test part is held out
MADE = 6000  # texts retyped in Latin letters
MIXED = 0.5  # of Hindi in Latin letters, with English words between


def learned(data: Path) -> dict[str, list[str]]:
    """Texts of train parts by language, at most MOST each, drawn by their hashes."""
    found: dict[str, set[str]] = defaultdict(set)
    typed: set[str] = set()  # English as it is typed on phones, which is easily taken for Pidgin
    for name in SETS:
        for at, row in enumerate(lines(data, name)):
            if name.endswith(".raw") and at % HELD == 0:
                continue
            if name == "chat.nus_sms_en.raw":
                typed.add(row["text"])
            lang = row["lang"]
            if (name, lang) == MISTAKEN:
                lang = "sk" if SLOVAK.intersection(row["text"].lower()) else DROP
            if lang not in (*DROPPED, DROP) and not (name in NOT_ENGLISH and lang == "en"):
                found[SAME.get(lang, lang)].add(row["text"])
            if name in TWINS and row.get("en"):
                found["en"].add(row["en"])
    for row in read_rows(data / "ei" / "goemotions" / "all.jsonl.gz"):  # CC BY 4.0
        if row["split"] == "train":
            found["en"].add(row["text"])
    for row in read_rows(data / "names" / "uner_arabizi.train.jsonl.gz"):  # CC BY-SA 4.0
        found["ar-Latn"].add(row["text"])
    kept = {code: _some(texts, MOST) for code, texts in found.items()}
    kept["en"] += _some(typed, MOST)
    rng = np.random.default_rng(0)
    hindi, arabic = (_some(found[code], MADE // 2) for code in ("hi", "ar"))
    english = [text.split() for text in kept["en"][:MADE]]
    made = [hindi_in_latin(text, rng) for text in hindi * 2]
    kept["hi-Latn"] = [_mixed(text, english, rng) for text in made] + _spoken(english, rng)
    kept["ar-Latn"] += [arabic_in_latin(text, rng) for text in arabic * 2]
    return {code: texts for code, texts in sorted(kept.items()) if len(texts) >= FEWEST}


def _some(texts: set[str], most: int) -> list[str]:
    return sorted(texts, key=lambda text: (zlib.crc32(text.encode()), text))[:most]


def _mixed(text: str, english: list[list[str]], rng: np.random.Generator) -> str:
    """Hindi with an English word or three somewhere, as people type it; half the time."""
    words = text.split()
    if len(words) < 4 or rng.random() > MIXED:
        return text
    other = english[int(rng.integers(len(english)))]
    size = int(rng.integers(1, min(3, len(words) // 2) + 1))
    start = int(rng.integers(max(1, len(other) - size + 1)))
    at = int(rng.integers(0, len(words) + 1))
    return " ".join([*words[:at], *other[start : start + size], *words[at:]])


def _spoken(english: list[list[str]], rng: np.random.Generator) -> list[str]:
    """Short messages of the words that are in every Hindi chat, in the spellings of chats."""
    made = []
    for _ in range(MADE // 2):
        words = [str(word) for word in rng.choice(HINDI_WORDS, int(rng.integers(2, 7)))]
        if rng.random() < MIXED:
            other = english[int(rng.integers(len(english)))]
            words.insert(int(rng.integers(len(words) + 1)), other[int(rng.integers(len(other)))])
        made.append(" ".join(words))
    return made


def spans(text: str, rng: np.random.Generator) -> Iterator[str]:
    """The text, and as much of it as a short message has, sometimes without accents."""
    words = text.split()
    yield text
    part = text
    if len(words) > 2:
        size = int(rng.integers(1, min(8, len(words)) + 1))
        at = int(rng.integers(0, len(words) - size + 1))
        part = " ".join(words[at : at + size])
    elif " " not in text and len(text) > 8:  # a script without spaces
        at = int(rng.integers(0, len(text) - 5))
        part = text[at : at + int(rng.integers(3, 12))]
    if part != text:
        yield part
    plain = without_accents(part)
    # Where letters have marks of another kind, without them nothing is left.
    if plain != part and part[:1].isascii() and rng.random() < 0.5:
        yield plain


def tested(data: Path) -> dict[str, dict[str, list[str]]]:
    """Texts of test parts, by kind and language; none of them is learned from."""
    kinds = {
        "Tatoeba": ("parallel.tatoeba_laser.test", 1),
        "film lines": ("emotion.xed.test", 2),
        "BRIGHTER": ("emotion.brighter.test", 3),
        "Hindi-English dialogue": ("emotion.masac.dev", 1),
        "Hindi-English tweets": ("emotion.emosen.test", 2),
    }
    found: dict[str, dict[str, list[str]]] = {}
    for kind, (name, step) in kinds.items():
        by: dict[str, list[str]] = defaultdict(list)
        for row in list(lines(data, name))[::step]:
            if not (kind == "film lines" and row["lang"] == "en"):
                by[SAME.get(row["lang"], row["lang"])].append(row["text"])
        found[kind] = by
    arabizi = read_rows(data / "names" / "uner_arabizi.test.jsonl.gz")
    found["Arabizi"] = {"ar-Latn": [row["text"] for row in arabizi]}
    held = {"en": "chat.nus_sms_en.raw", "zh": "chat.nus_sms_zh.raw", "ko": "chat.songys_ko.raw"}
    found["SMS"] = {
        code: [row["text"] for row in list(lines(data, name))[::HELD]]
        for code, name in held.items()
    }
    found["dialogue turns"] = _dialogues(data)
    return found


def _dialogues(data: Path) -> dict[str, list[str]]:
    """The turns that have rubric labels."""
    files: dict[str, list[str]] = {}
    by: dict[str, list[str]] = defaultdict(list)
    for line in (HERE / "languages" / "labels.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        name = row["file"].removesuffix(".jsonl.gz")
        if name not in files:
            files[name] = [each["text"] for each in lines(data, name)]
        by[SAME.get(row["lang"], row["lang"])].append(files[name][row["line"]])
    return by
