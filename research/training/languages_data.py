"""All sources → one packed file that training reads: token ids, labels, English twins.

    python -m research.training.languages_data --data ../shared/data
    → build/languages/data.npz.xz: under 40 MB, to be carried to an accelerator

A row is (what was said before, the turn) in pieces of the multilingual vocabulary. Its twin, where
there is one, is the same in English, in pieces of the English encoder, which will say what is in
it; rows that translate one English line share their twin. Texts that stand in any dev or test file
are dropped from what is learned, whatever the language and the task.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from realtalk.text.words import emoji_in_words
from research.training.ei_data import cut, ids_of, read_rows
from research.training.languages_heads import HEADS
from research.training.languages_labels import examples as rubric_examples
from research.training.languages_sources import DEV_TO_LEARN, Spoken, everything
from research.training.languages_vocab import FIRST, LAST, OUT, UNKNOWN

HERE = Path(__file__).parent
ENGLISH = HERE.parents[1] / "src" / "realtalk_models" / "ei"
# Languages that a small language model has read and that are near Portuguese or scored by name,
# and what is written as posts are.
WELL_READ = frozenset("de en es pt pt-BR pt-MZ ro ru".split())  # noqa: SIM905 - reads better
LIKE_POSTS = frozenset(
    ("umsab", "mint", "afrisenti", "emoevent", "red_ro", "xed", "xed_pairs", "rubric")
)
MOST_READ = 4_000  # texts of a language without labels ...
MOST_PORTUGUESE = 16_000  # ... whose rare emotions are the point
AT_ONCE = 50_000  # texts cut at once
SHORTEST = 20  # letters: below, everybody says it
# What xz should know of numbers of two bytes: neighbours two bytes apart are alike.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 2, "lp": 1, "pb": 1}]

Array = np.ndarray[Any, Any]


def letters(text: str) -> str:
    """What is left of a text where spelling of marks and spaces does not count."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(each for each in plain if each.isalpha())


def tested(data: Path) -> set[int]:
    """Hashes of all texts in dev and test files, but those dev files that are learned from."""
    found = set()
    for split in ("dev", "test"):
        for path in sorted((data / "multilingual").glob(f"*.{split}.jsonl.gz")):
            name = path.name.removesuffix(f".{split}.jsonl.gz")
            if split == "dev" and name in DEV_TO_LEARN:
                continue
            for row in read_rows(path):
                if len(plain := letters(row["text"])) >= SHORTEST:
                    found.add(zlib.crc32(plain.encode()))
    return found


def kept(examples: Iterable[Spoken], forbidden: set[int]) -> list[Spoken]:
    """Every turn once, and none that is tested."""
    found, seen, dropped = [], set(), Counter[str]()
    for each in examples:
        plain = letters(each.text)
        here = zlib.crc32(plain.encode())
        if each.split == "train" and len(plain) >= SHORTEST and here in forbidden:
            dropped[each.set] += 1
            continue
        key = (each.lang, each.previous, each.text, each.set)
        if (not plain and not emoji_in_words(each.text).strip()) or key in seen:
            continue
        seen.add(key)
        found.append(each)
    print("tested, so dropped:", dict(dropped))
    return found


def tokens_of(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> tuple[Array, Array]:
    """All token ids behind one another, and the sizes of both parts of every pair."""
    flat: list[Array] = []
    sizes = np.zeros((len(pairs), 2), np.uint8)
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        before = ids_of(tokenizer, [emoji_in_words(first) for first, _ in some])
        said = ids_of(tokenizer, [emoji_in_words(second) for _, second in some])
        for at, (previous, turn) in enumerate(zip(before, said, strict=True), start):
            first, second = cut(previous, turn)
            sizes[at] = len(first), len(second)
            flat.append(np.array(first + second, np.uint16))
    return np.concatenate(flat), sizes


def numbered(values: Sequence[str], kind: type) -> tuple[Array, Array]:
    """Names once, and which of them each value is."""
    names, place = np.unique(np.array(values), return_inverse=True)
    return names, place.astype(kind)


def matches(pieces: Tokenizer, words: Tokenizer) -> Array:
    """Per piece the English encoder's token of the same letters, or -1."""
    english = words.get_vocab()
    found = np.full(pieces.get_vocab_size(), -1, np.int32)
    for piece, at in pieces.get_vocab().items():
        begins = piece.startswith("▁")
        name = piece[1:] if begins else f"##{piece}"
        if name in english:
            found[at] = english[name]
    return found


def kin(pieces: Tokenizer) -> Array:
    """Per piece its longest proper beginning that is a piece of three letters or more, or -1."""
    vocabulary = pieces.get_vocab()
    found = np.full(pieces.get_vocab_size(), -1, np.int32)
    for piece, at in vocabulary.items():
        for end in range(len(piece) - 1, 3 if piece.startswith("▁") else 2, -1):
            if piece[:end] in vocabulary:
                found[at] = vocabulary[piece[:end]]
                break
    return found


def packed(examples: list[Spoken], pieces: Tokenizer, words: Tokenizer) -> dict[str, Array]:
    tokens, sizes = tokens_of(pieces, [(e.previous, e.text) for e in examples])
    twins: dict[tuple[str, str], int] = {}
    twin = np.full(len(examples), -1, np.int32)
    for at, each in enumerate(examples):
        if each.en:
            twin[at] = twins.setdefault((each.en_previous, each.en), len(twins))
    twin_tokens, twin_sizes = tokens_of(words, list(twins))
    arrays = {"tokens": tokens, "sizes": sizes, "twin": twin}
    arrays |= {"twin_tokens": twin_tokens, "twin_sizes": twin_sizes}
    for name, kind in (("lang", np.uint8), ("set", np.uint8), ("split", np.uint8)):
        values = [getattr(each, name) for each in examples]
        arrays[f"{name}_names"], arrays[name] = numbered(values, kind)
    # Translations of one line, and turns of one conversation, belong together.
    together = [each.group or each.en or each.text for each in examples]
    arrays["group"] = np.array([zlib.crc32(each.encode()) for each in together], np.uint32)
    arrays["matches"], arrays["kin"] = matches(pieces, words), kin(pieces)
    arrays["marks"] = np.array([FIRST, LAST, UNKNOWN], np.int32)
    for name, head in HEADS.items():
        where = [at for at, each in enumerate(examples) if name in each.labels]
        kind_of: type = np.int8 if head.kind == "softmax" else np.float16
        arrays[f"at_{name}"] = np.array(where, np.int32)
        arrays[f"is_{name}"] = np.array([examples[at].labels[name] for at in where], kind_of)
    return arrays


def describe(arrays: dict[str, Array], examples: list[Spoken]) -> None:
    """What is in the file, by set and by language."""
    size = arrays["sizes"].astype(int).sum(1)
    for name in ("set", "lang"):
        for at, value in enumerate(arrays[f"{name}_names"]):
            here = arrays[name] == at
            twins = int((arrays["twin"][here] >= 0).sum())
            tokens = int(size[here].sum())
            print(f"{name} {value:20} {here.sum():8,} rows {tokens:10,} tokens {twins:8,} twins")
    for name in HEADS:
        print(f"head {name:24} {len(arrays[f'at_{name}']):8,}")
    learned = [e.split == "train" for e in examples]
    total = size[learned].sum() + 3 * sum(learned)
    print(f"an epoch: {sum(learned):,} rows, {total:,} tokens; {len(arrays['twin_sizes']):,} twins")


def write_texts(path: Path, examples: Sequence[Spoken], groups: Array) -> None:
    """Rows of BRIGHTER's languages that a language model reads: labelled ones, and some others."""
    counts: Counter[str] = Counter()
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        for at, each in enumerate(examples):
            labels = each.labels.get("brighter")
            if each.lang not in WELL_READ or (labels is None and each.set not in LIKE_POSTS):
                continue
            counts[each.lang] += labels is None
            most = MOST_PORTUGUESE if each.lang.startswith("pt") else MOST_READ
            if labels is None and counts[each.lang] > most:
                continue
            told = [None if np.isnan(value) else int(value) for value in labels or ()] or None
            row = {"row": at, "lang": each.lang, "split": each.split, "text": each.text}
            row |= {"part": int(groups[at]) % 2, "labels": told}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{path}: texts without labels {dict(counts)}")


def load(path: Path) -> dict[str, Array]:
    with lzma.open(path) as stream:
        file = np.load(io.BytesIO(stream.read()))
    return {name: file[name] for name in file.files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--vocab", type=Path, default=OUT / "tokenizer.json")
    parser.add_argument("--out", type=Path, default=OUT / "data.npz.xz")
    parser.add_argument("--every", type=int, default=1, help="one example in so many (a trial)")
    parser.add_argument("--texts", type=Path, help="also what languages_emotions.py reads")
    options = parser.parse_args()
    pieces, words = (
        Tokenizer.from_file(str(path)) for path in (options.vocab, ENGLISH / "tokenizer.json")
    )
    words.no_truncation()
    words.no_padding()
    every = (*everything(options.data), *rubric_examples(options.data))
    examples = kept(every, tested(options.data))[:: options.every]
    arrays = packed(examples, pieces, words)
    describe(arrays, examples)
    if options.texts:
        write_texts(options.texts, examples, arrays["group"])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(options.out, "wb", filters=FILTERS) as stream:
        stream.write(buffer.getvalue())
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
