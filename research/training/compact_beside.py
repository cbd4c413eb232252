"""Two compact models that began as one → one of them kept beside the other, in less room.

    python -m research.training.compact_beside memory ../ei
    → memory/model.npz, 4 MB less in the wheel, in place of memory/model.onnx

What is kept are the file's bytes, in the places of its tables less those of the other file's tables
of the same names. `realtalk.encoders.weights.read_model` makes it whole again, to the byte.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np

import realtalk_models
from realtalk.encoders.weights import read_graph, read_model


def keep_beside(path: Path, beside: str) -> None:
    """A model.onnx → the model.npz, beside the model of another folder."""
    other = path.parent / beside / path.name
    own, its = path.read_bytes(), other.read_bytes()
    tables, others = tables_of(path), tables_of(other)
    parts = [
        (own.index(rows), its.index(others[name]), len(rows))
        for name, rows in tables.items()
        if len(others.get(name, b"")) == len(rows)
    ]
    differs = np.frombuffer(own, np.uint8).copy()
    for at, there, length in parts:
        differs[at : at + length] -= np.frombuffer(its, np.uint8, length, there)
    np.savez(
        path.with_suffix(".npz"),
        differs=differs,
        parts=np.array(parts, np.int64),
        beside=np.array(f"{beside}/{path.name}"),
        crc32=np.array(zlib.crc32(own)),
    )
    path.unlink()
    assert read_model(path) == own


def tables_of(path: Path) -> dict[str, bytes]:
    """The rows of a model's tables of words and places, as they lie in the file."""
    tensors = read_graph(path).initializer
    return {tensor.name: tensor.raw_data for tensor in tensors if tensor.name.endswith("_q")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a folder of realtalk_models")
    parser.add_argument("beside", help="that of the other, as seen from there")
    options = parser.parse_args()
    keep_beside(realtalk_models.path(options.model) / "model.onnx", options.beside)


if __name__ == "__main__":
    main()
