"""A name tagger of a few words, written to disk: a real tokenizer, a real session, real tables.

    folder = tiny_tagger(tmp_path, {"anna": "person", "oslo": "place"})
    NameTagger(folder).tag(["ask Anna in oslo"])

Every word's row says its tag, and the model passes it on: [batch, length, tags] × the unit matrix,
plus what a capital adds. ONNX files are protobuf messages; the few fields that are needed are
written here, so that no library for them is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

KINDS = ("person", "place", "organisation", "address", "birthday", "number")
TAGS = 1 + 2 * len(KINDS)
LONGEST = 12
_TYPES = {"float32": 1, "int64": 7}


def tiny_tagger(
    place: Path, words: Mapping[str, str], *, sure: float = 8.0, unsure: Mapping[str, str] = {}
) -> Path:
    """Words in small letters and their kinds; `unsure` ones are as likely nothing."""
    folder, beside = place / "names", place / "encoder"
    for each in (folder, beside):
        each.mkdir(parents=True, exist_ok=True)
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, *unsure]
    tokenizer = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(known)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"[^\w]"), "isolated")]
    )
    tokenizer.save(str(beside / "tokenizer.json"))
    rows = np.zeros((len(known), TAGS), np.int8)
    rows[:, 0] = 64
    for word, kind in (*words.items(), *unsure.items()):
        at, tag = known.index(word), 1 + 2 * KINDS.index(kind)
        rows[at, 0] = 64 if word in unsure else 0
        rows[at, tag] = 64 if word in unsure else 127
    scales = np.full(len(known), sure / 127, np.float32)
    np.savez(beside / "table.npz", rows=rows, scales=scales)
    weights = {"unit": np.eye(TAGS, dtype=np.float32), "cases": np.zeros((6, TAGS), np.float32)}
    nodes = [
        _node("MatMul", ["words", "unit"], "passed"),
        _node("Gather", ["cases", "case"], "added"),
        _node("Add", ["passed", "added"], "tags"),
    ]
    shapes = [("words", "float32", TAGS), ("case", "int64", None)]
    made = _model(nodes, weights, shapes, [("tags", "float32", TAGS)])
    (folder / "model.onnx").write_bytes(made)
    settings = {
        "version": "tiny",
        "tokenizer": "../encoder/tokenizer.json",
        "tables": ["../encoder/table.npz"],
        "kinds": KINDS,
        "cls": 2,
        "sep": 3,
        "longest": LONGEST,
        "thresholds": {kind: [0.5, 0.9] for kind in KINDS},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return folder


def _model(
    nodes: list[bytes],
    tensors: Mapping[str, np.ndarray],
    inputs: list[tuple[str, str, int | None]],
    outputs: list[tuple[str, str, int | None]],
) -> bytes:
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += b"".join(_field(5, _tensor(name, values)) for name, values in tensors.items())
    graph += b"".join(_field(11, _value(*each)) for each in inputs)
    graph += b"".join(_field(12, _value(*each)) for each in outputs)
    return _number(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 17))


def _node(kind: str, inputs: list[str], output: str) -> bytes:
    taken = b"".join(_field(1, name.encode()) for name in inputs)
    return taken + _field(2, output.encode()) + _field(4, kind.encode())


def _tensor(name: str, values: np.ndarray) -> bytes:
    shape = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, _TYPES[str(values.dtype)])
    return shape + kind + _field(8, name.encode()) + _field(9, values.tobytes())


def _value(name: str, kind: str, width: int | None) -> bytes:
    sizes = [_field(2, b"batch"), _field(2, b"length")]
    sizes += [_number(1, width)] if width is not None else []
    shape = b"".join(_field(1, size) for size in sizes)
    tensor = _number(1, _TYPES[kind]) + _field(2, shape)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])
