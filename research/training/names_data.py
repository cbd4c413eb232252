"""Public labelled sentences and generated messages → one packed file for the name tagger.

    python -m research.training.names_data --data ../shared/data/names
    → build/names/data.jsonl.xz: {"t": text, "s": [[start, end, kind]], "l": lang, "o": [], "src": set}
    rows = load(path);  pack(rows, tokenizer)    → pieces, tags, letters' case, lengths

No tokenizer is needed before packing. `o` lists kinds that a source does not mark: its other words
may be any of them. Test files are never learned from; sentences that equal one of theirs, or share
half of their runs of five words with them, are dropped. Messages are names_messages.py's. Our own
chats need no generator and are read where they are needed (names_chats.py).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.encoders.tag_spans import word_case
from research.training.chats import unmarked
from research.training.names_chats import OF_LABEL, Row

HERE = Path(__file__).parent
BUILD = HERE / "build" / "names"
KINDS = ("person", "place", "organisation", "address", "birthday", "number")
ALIKE = (0, 1, 2)  # names of any kind
UNSURE = {"HANDLE", "PER_NOM", "LOC_NOM", "ORG_NOM", "GPE_NOM", "GROUP", "MUSICARTIST", "TITLE"}
# What a source leaves unmarked, beside addresses, birthdays and numbers, which few have.
LACKS = {"restaurant8k": (1, 2), "slurp": (), "nlupp": (1, 2), "indonlu_nerp": (2,)}
HAS_PRIVATE = {"presidio_synth", "presidio_gen", "meddocan", "pii_nano"}
# What is learned from: sets of open terms alone, which terms.toml states. Of UNER's treebanks one is
# non-commercial, Tagalog; it has a test part and no other.
SETS = (
    "banglakit", "bengali_ner_rifat", "btc", "enron_email", "estner", "germeval14", "hiner",
    "indonlu_nergrit", "indonlu_nerp", "kaznerd", "kind_fiction", "klue_ner", "lener_br",
    "meddocan", "nepali_ner", "nerkor", "nlupp", "pii_nano", "presidio_gen", "presidio_synth",
    "restaurant8k", "slurp", "stockmark_ja", "thai_ner", "turkish_wiki_ner", "turku_ner",
    "tweebank_ner", "ud_ja_gsd_ne", "uner", "uner_arabizi", "uner_ewt", "uner_urdu",
    "wnut17", "wojood_sample",
)  # fmt: skip
MOST = 3_000  # sentences per language and source
GENERATED = 6_000  # messages per language
LONGEST = 400  # letters


def plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def runs(text: str) -> set[str]:
    words = text.split() if " " in text else list(text)
    return {" ".join(words[at : at + 5]) for at in range(len(words) - 4)}


class Tests:
    """All test sentences, to keep training away from them."""

    def __init__(self, folder: Path, chats: Path) -> None:
        self._same: set[str] = set()
        self._runs: set[int] = set()
        for path in sorted(folder.glob("*test.jsonl.gz")):
            for row in read(path):
                self._add(plain(text_of(row)[0]))
        for path in sorted(chats.glob("*-[0-9].txt")):
            for line in path.read_text("utf-8").splitlines():
                self._add(plain(unmarked(line.partition("|")[2])))

    def _add(self, text: str) -> None:
        self._same.add(text)
        self._runs.update(map(hash, runs(text)))

    def has(self, text: str) -> bool:
        key = plain(text)
        if len(key) > 12 and key in self._same:
            return True
        own = runs(key)
        return len(own) > 2 and sum(hash(r) in self._runs for r in own) >= len(own) / 2


def read(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def text_of(row: Row) -> tuple[str, list[tuple[int, int]]]:
    """A sentence's text and the places of its tokens."""
    text, join, places, at = row.get("text"), row.get("join", " "), [], 0
    for token in row["tokens"]:
        spaced = at + (len(join) if places else 0)
        start = spaced if text is None else max(at, text.find(token, at))
        places.append((start, start + len(token)))
        at = start + len(token)
    return (join.join(row["tokens"]) if text is None else text), places


def public_row(row: Row, source: str) -> Row | None:
    text, places = text_of(row)
    if len(text) > LONGEST or (places and places[-1][1] > len(text)):
        return None
    spans: list[list[int]] = []
    before = "O"
    for (start, end), tag in zip(places, row["tags"], strict=True):
        label = tag[2:]
        if label in UNSURE:
            return None
        if label in OF_LABEL:
            if tag[0] == "I" and before == label and spans:
                spans[-1][1] = end
            else:
                spans.append([start, end, OF_LABEL[label]])
        before = label
    open_kinds = [*LACKS.get(source, ())] + ([] if source in HAS_PRIVATE else [3, 4, 5])
    return {"t": text, "s": spans, "l": row["lang"], "o": open_kinds, "src": source}


def public(folder: Path, tests: Tests, rng: random.Random, most: int) -> Iterator[Row]:
    for source in SETS:
        paths = list(folder.glob(f"{source}.*train.jsonl.gz"))
        paths = paths or list(folder.glob(f"{source}.dev.jsonl.gz"))
        by_lang: dict[str, list[Row]] = defaultdict(list)
        for path in sorted(paths):
            for row in read(path):
                made = public_row(row, source)
                if made is not None and not tests.has(made["t"]):
                    by_lang[made["l"]].append(made)
        for lang in sorted(by_lang):
            rows = by_lang[lang]
            rng.shuffle(rows)
            rows.sort(key=lambda row: not row["s"])  # those with names first
            named = sum(bool(row["s"]) for row in rows)
            yield from rows[: min(most, named + named // 2 + 50)]


def is_dev(text: str) -> bool:
    return hashlib.md5(plain(text).encode()).digest()[0] < 8


def held_out(row: Row) -> bool:
    """Whether a row is of the dev part: of messages by their template, of others by their text."""
    return bool(row["dev"]) if "dev" in row else is_dev(row["t"])


def load(path: Path) -> list[Row]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def save(rows: list[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def pack(rows: list[Row], tokenizer: Any, most: int = 96) -> dict[str, Any]:
    """Pieces, their tags (0 O, 1+2k begins kind k, 2+2k goes on), case, kinds left open.

    What a row lists as `u` may be a name or none: its pieces count for nothing (-1).
    """
    tokens = np.zeros((len(rows), most), np.uint16)
    tags = np.full((len(rows), most), -1, np.int8)
    case = np.zeros((len(rows), most), np.int8)
    sizes = np.zeros(len(rows), np.int16)
    opened = np.zeros((len(rows), len(KINDS)), bool)
    encoded = tokenizer.encode_batch([row["t"] for row in rows], add_special_tokens=False)
    for at, (row, each) in enumerate(zip(rows, encoded, strict=True)):
        size = sizes[at] = min(len(each.ids), most - 2)
        tokens[at, 1 : size + 1] = each.ids[:size]
        opened[at, row["o"]] = True
        for place, (start, end) in enumerate(each.offsets[:size], 1):
            case[at, place] = word_case(row["t"], start, end)
            tags[at, place] = 0
            for first, last, kind in row["s"]:
                if start < last and first < end:
                    goes_on = place > 1 and each.offsets[place - 2][1] > first
                    tags[at, place] = 1 + 2 * kind + goes_on
            if any(start < last and first < end for first, last in row.get("u", ())):
                tags[at, place] = -1
    dev = np.array([held_out(row) for row in rows])
    langs, sources = (np.array([row[key] for row in rows]) for key in ("l", "src"))
    return {"tokens": tokens, "tags": tags, "case": case, "sizes": sizes, "open": opened,
            "dev": dev, "lang": langs, "src": sources}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/names"))
    parser.add_argument("--chats", type=Path, default=HERE.parents[1] / "bench" / "names")
    parser.add_argument("--out", type=Path, default=BUILD / "data.jsonl.xz")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--generated", type=int, default=GENERATED)
    options = parser.parse_args()
    from research.training.names_messages import LOCALES, messages

    rng = random.Random(0)
    tests = Tests(options.data, options.chats)
    rows = list(public(options.data, tests, rng, options.most))
    for lang in sorted(LOCALES):
        made = messages(lang, options.generated, rng)
        rows += [row for row in made if not tests.has(row["t"])]
    rng.shuffle(rows)
    save(rows, options.out)
    kinds = Counter(KINDS[kind] for row in rows for _, _, kind in row["s"])
    size = options.out.stat().st_size / 1e6
    print(f"{len(rows):,} rows, {len({row['l'] for row in rows})} languages, {size:.1f} MB")
    print(dict(kinds), dict(Counter(row["src"] for row in rows)))


if __name__ == "__main__":
    main()
