"""A model.onnx → its weights as numbers, by the names that they had in training.

    weights = read_weights(folder / "model.onnx")
    weights["encoder.encoder.layer.0.attention.self.query.weight"]    → float32 [384, 384]
    weights["encoder.embeddings.word_embeddings.weight"]              → float32 [30522, 384]

The file keeps products in 8 bits with one scale per block of weights, and tables in 8 bits with
one scale per row (research/training/compact.py): both are restored here. An ONNX file is a protobuf
message; the few fields that hold tensors and names are read directly, so that neither a
library for ONNX nor a session is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from realtalk.errors import RealtalkError

Floats = npt.NDArray[np.float32]
Tensor = npt.NDArray[Any]
Message = dict[int, list[int | memoryview]]

_KINDS = {1: "<f4", 2: "u1", 3: "i1", 7: "<i8"}  # numbers of ONNX for its types
_ZERO = 128  # an unsigned weight that stands for nothing
_ENDS = ("_q", "_s")  # of a table's whole numbers, and of its scales
_CHOICES = ("keep", "words.place")  # which heads ship, and what words add to each
_PRODUCT = "/MatMul_Q8"  # how the compact form calls the product of a layer


def read_weights(path: Path) -> dict[str, Floats]:
    """Every weight of a compact encoder; a layer's product is `<layer>.weight`, rows by output."""
    try:
        return _weights(memoryview(path.read_bytes()))
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise RealtalkError(
            f"the encoder's weights cannot be read ({type(error).__name__})",
            where=str(path),
            fix="install the package again",
        ) from error


def read_table(path: Path, name: str) -> tuple[npt.NDArray[np.int8], Floats]:
    """A table as it is stored: whole numbers, one scale per row; read from the file as needed."""
    try:
        # A map of the file: of 41 MB only the rows that texts need are ever read.
        graph = _fields(_bytes(_fields(np.memmap(path, np.uint8, "r").data)[7][0]))
        wanted = {f"{name}_q", f"model.{name}_q", f"{name}_s", f"model.{name}_s"}
        tensors = (_fields(_bytes(each)) for each in graph[5])
        found = dict(_tensor(each) for each in tensors if _text(each, 8) in wanted)
        rows, scales = (next(found[each] for each in found if each.endswith(end)) for end in _ENDS)
        return rows, scales
    except (OSError, IndexError, KeyError, ValueError, TypeError, StopIteration, RuntimeError) as e:
        raise RealtalkError(
            f"the encoder's table of words cannot be read ({type(e).__name__})",
            where=str(path),
            fix="install the package again",
        ) from e


def _weights(data: memoryview) -> dict[str, Floats]:
    graph = _fields(_bytes(_fields(data)[7][0]))
    tensors: dict[str, Tensor] = dict(_tensor(_fields(_bytes(each))) for each in graph[5])
    found: dict[str, Floats] = {}
    for name, values in tensors.items():
        plain = name.removeprefix("model.")
        if name.endswith("_q"):
            scales = tensors[f"{name[:-2]}_s"]
            found[plain[:-2]] = values.astype(np.float32) * scales[:, None]
        elif values.dtype == np.float32 and not name.endswith(("_s", "_scales")):
            found[plain] = values
        elif plain in _CHOICES:
            found[plain] = values.astype(np.float32)
    for node in (_fields(_bytes(each)) for each in graph[1]):
        if _text(node, 4) == "MatMulNBits":
            _, whole, steps = (str(_bytes(name), "utf-8") for name in node[1])
            layer = _text(node, 3).removesuffix(_PRODUCT).removeprefix("/")
            name = layer.removeprefix("model/").replace("/", ".")
            found[f"{name}.weight"] = _product(tensors[whole], tensors[steps])
    return found


def _product(whole: Tensor, scales: Tensor) -> Floats:
    """[rows, blocks, block] of unsigned bytes and one scale per block → [rows, columns]."""
    centred = whole.astype(np.float32) - np.float32(_ZERO)
    restored = centred * scales.reshape(whole.shape[0], whole.shape[1], 1)
    return np.asarray(restored.reshape(whole.shape[0], -1), np.float32)


def _tensor(message: Message) -> tuple[str, Tensor]:
    shape = [_number(each) for each in message.get(1, [])]
    kind = np.dtype(_KINDS[_number(message[2][0])])
    raw = _bytes(message[9][0]) if 9 in message else b""
    return _text(message, 8), np.frombuffer(raw, kind).reshape(shape)


def _text(message: Message, field: int) -> str:
    return str(_bytes(message[field][0]), "utf-8") if field in message else ""


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise TypeError("a number where a message was expected")
    return value


def _number(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise TypeError("a message where a number was expected")
    return value


def _fields(data: memoryview) -> Message:
    """Field number → its values, in order; what is nested stays bytes."""
    found: Message = {}
    for field, value in _entries(data):
        found.setdefault(field, []).append(value)
    return found


def _entries(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + size > len(data):
            raise ValueError("the file ends too soon")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
