"""A model.onnx → its weights as numbers, by the names that they had in training.

    weights = read_weights(folder / "model.onnx")
    weights["encoder.encoder.layer.0.attention.self.query.weight"]    → float32 [384, 384]
    weights["encoder.embeddings.word_embeddings.weight"]              → float32 [30522, 384]

The file keeps products in 8 bits with one scale per block of weights, and tables in 8 bits with
one scale per row: both are restored here. onnxruntime runs a file and shows no weights; the
protobuf library that it comes with reads them, once it is told the few fields that hold them.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from realtalk.errors import RealtalkError

Floats = npt.NDArray[np.float32]

# Messages of onnx.proto, with each field's number and type; what is not named is passed over.
_MESSAGES = {
    "Model": {"graph": (7, "Graph")},
    "Graph": {"node": (1, "Node*"), "initializer": (5, "Tensor*")},
    "Node": {"input": (1, "string*"), "name": (3, "string"), "op_type": (4, "string")},
    "Tensor": {
        **{"dims": (1, "int64*"), "data_type": (2, "int32")},
        **{"name": (8, "string"), "raw_data": (9, "bytes")},
    },
}
_KINDS = {1: "<f4", 2: "u1", 3: "i1", 7: "<i8"}  # numbers of ONNX for its types
_ZERO = 128  # an unsigned weight that stands for nothing
_CHOICES = ("keep", "words.place")  # which heads ship, and what words add to each
_PRODUCT = "/MatMul_Q8"  # how the compact form calls the product of a layer


def read_weights(path: Path) -> dict[str, Floats]:
    """Every weight of a compact encoder; a layer's product is `<layer>.weight`, rows by output."""
    graph = read_graph(path)
    tensors = {tensor.name: _numbers(tensor) for tensor in graph.initializer}
    weights: dict[str, Floats] = {}
    for name, values in tensors.items():
        plain = name.removeprefix("model.")
        if name.endswith("_q"):
            weights[plain[:-2]] = values.astype(np.float32) * tensors[f"{name[:-2]}_s"][:, None]
        elif values.dtype == np.float32 and not name.endswith(("_s", "_scales")):
            weights[plain] = values
        elif plain in _CHOICES:
            weights[plain] = values.astype(np.float32)
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            _, whole, scales = (tensors.get(name) for name in node.input)
            assert whole is not None and scales is not None
            blocks = whole.astype(np.float32) - np.float32(_ZERO)
            product = blocks * scales.reshape(*whole.shape[:2], 1)
            layer = node.name.removesuffix(_PRODUCT).removeprefix("/").removeprefix("model/")
            weights[f"{layer.replace('/', '.')}.weight"] = product.reshape(len(whole), -1)
    return weights


def read_rows(path: Path) -> tuple[npt.NDArray[np.int8], Floats]:
    """A table of pieces in a file of its own: whole numbers, one scale per row."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return file["rows"], file["scales"]
    except Exception as error:  # a broken .npz fails in numpy, zipfile, zlib or tokenize
        raise _unreadable(path, type(error).__name__) from error


def read_graph(path: Path) -> Any:
    """The parts of a model's file that are named above."""
    model = _model_class()()
    try:
        model.ParseFromString(path.read_bytes())
    except Exception as error:  # no file, or protobuf's own class
        raise _unreadable(path, type(error).__name__) from error
    if not model.graph.initializer:
        raise _unreadable(path, "no weights")
    return model.graph


def _unreadable(path: Path, what: str) -> RealtalkError:
    return RealtalkError(
        f"the encoder's weights cannot be read ({what})",
        where=str(path),
        fix="install the package again",
    )


def _numbers(tensor: Any) -> npt.NDArray[Any]:
    return np.frombuffer(tensor.raw_data, _KINDS[tensor.data_type]).reshape(tensor.dims)


@cache
def _model_class() -> Any:
    """The class of a whole file's message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="weights.proto", package="realtalk_onnx")
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, (number, type_name) in fields.items():
            plain = type_name.removesuffix("*")
            field = described.field.add(name=name, number=number)
            field.label = kinds.LABEL_OPTIONAL if plain == type_name else kinds.LABEL_REPEATED
            if plain in _MESSAGES:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{file.package}.{plain}"
            else:
                field.type = getattr(kinds, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.Model"))
