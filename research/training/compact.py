"""An exported encoder → its compact form: 8-bit weights, fast on a CPU, batch-invariant.

    speed_up(bert)                       # before the export: GELU in one operator
    compact(Path("fp32.onnx"), Path("model.onnx"))    # 90 MB → 24 MB, near twice the speed
    quicken(Path("model.onnx"))          # faster once more, of weights that `coarse` rounded

Activations are scaled per row of a text, never over a batch, so every text's result is
independent of the batch it is in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

BLOCK = 128  # weights a scale: a tenth faster than 64
LEVELS = 31  # of a weight, above nothing and below, where a file shall be small
ZERO = 128  # an unsigned weight that stands for nothing
MANY = 1000  # rows of a table of words
SMALLEST = 20_000  # tables under this many numbers stay fp32: they weigh nothing


class FastGelu(torch.autograd.Function):
    """GELU by tanh, within .001 of the exact one: one operator, three times as fast."""

    @staticmethod
    def forward(_ctx: Any, states: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(states, approximate="tanh")

    @staticmethod
    def symbolic(g: Any, states: Any) -> Any:
        return g.op("com.microsoft::FastGelu", states).setType(states.type())


class Fast(torch.nn.Module):
    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return FastGelu.apply(states)


def speed_up(encoder: Any) -> None:
    for layer in encoder.encoder.layer:
        layer.intermediate.intermediate_act_fn = Fast()


def coarse(model: torch.nn.Module) -> None:
    """Rounds weights of products and words to LEVELS steps: the file packs to three quarters."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Embedding) and layer.num_embeddings > MANY:
            rows = layer.weight.data
            step = (rows.abs().amax(-1, keepdim=True) / LEVELS).clamp(min=1e-12)
            layer.weight.data = (rows / step).round() * step
        if isinstance(layer, torch.nn.Linear) and layer.in_features % BLOCK == 0:
            blocks = layer.weight.data.view(layer.out_features, -1, BLOCK)
            step = (blocks.abs().amax(-1, keepdim=True) / LEVELS).clamp(min=1e-12)
            layer.weight.data = ((blocks / step).round() * step).view_as(layer.weight)


def compact(source: Path, target: Path) -> None:
    """Products become MatMulNBits (8 bits, one scale per BLOCK weights), tables int8 rows."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(
        onnx.load(str(source)), bits=8, block_size=BLOCK, is_symmetric=True, accuracy_level=4
    )
    quantizer.process()
    model = quantizer.model.model
    graph = model.graph
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    nodes, kept = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.name not in tables or values.dtype != np.float32 or values.size < SMALLEST:
            kept.append(tensor)
            continue
        scale = np.maximum(np.abs(values).max(axis=1) / 127, 1e-12).astype(np.float32)
        whole = np.clip(np.rint(values / scale[:, None]), -127, 127).astype(np.int8)
        name = tensor.name
        kept.append(numpy_helper.from_array(whole, f"{name}_q"))
        kept.append(numpy_helper.from_array(scale, f"{name}_s"))
        nodes.append(
            helper.make_node("DequantizeLinear", [f"{name}_q", f"{name}_s"], [name], axis=0)
        )
    del graph.initializer[:]
    graph.initializer.extend(kept)
    old = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *old])
    target.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(target))
    looked_up(target)


def looked_up(path: Path) -> None:
    """Restores only the rows of a table that a text needs, not the whole table at every run."""
    model = onnx.load(str(path))
    graph = model.graph
    restored = {n.output[0]: n for n in graph.node if n.op_type == "DequantizeLinear"}
    nodes = []
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            continue
        source = restored.get(node.input[0]) if node.op_type == "Gather" else None
        if source is None:
            assert not set(node.input) & set(restored), node.name
            nodes.append(node)
            continue
        out, ids = node.output[0], node.input[1]
        nodes += [
            helper.make_node("Gather", [source.input[0], ids], [f"{out}_q"], axis=0),
            helper.make_node("Cast", [f"{out}_q"], [f"{out}_f"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Gather", [source.input[1], ids], [f"{out}_s"], axis=0),
            helper.make_node("Unsqueeze", [f"{out}_s", "last_axis"], [f"{out}_u"]),
            helper.make_node("Mul", [f"{out}_f", f"{out}_u"], [out]),
        ]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), "last_axis"))
    onnx.save(model, str(path))


def quicken(path: Path) -> None:
    """Products of a compact file whose weights are `coarse` → sums over blocks, each by itself.

    Every block of inputs is scaled by itself over a whole text and multiplied in whole numbers:
    where a processor has no instructions for those (AVX2) that takes six tenths of the time of
    MatMulNBits, of the same weights. LEVELS keep the sums of pairs within 16 bits there: 2 * 255 *
    31. A text must run alone. Products that read the same are made at once.
    """
    model = onnx.load(str(path))
    graph = model.graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    together: dict[str, list[Any]] = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits" and _width(node) % BLOCK == 0:
            together.setdefault(node.input[0], []).append(node)
    nodes: list[Any] = []

    def kept(values: Any, name: str) -> str:
        if name not in stored:
            stored[name] = values
            graph.initializer.append(numpy_helper.from_array(values, name))
        return name

    for node in list(graph.node):
        if node.op_type != "MatMulNBits" or _width(node) % BLOCK:
            nodes.append(node)
            continue
        some = together.pop(node.input[0], [])
        if not some:
            continue  # made with an earlier one
        weights = np.concatenate([stored[each.input[1]] for each in some])
        scales = np.concatenate(
            [stored[each.input[2]].reshape(-1, weights.shape[1]) for each in some]
        )
        whole = np.rint((weights.astype(np.float32) - ZERO) * LEVELS / ZERO).astype(np.int8)
        steps = scales * np.float32(ZERO / LEVELS)
        own, count = node.output[0], weights.shape[1]
        parts = [f"{own}_{at}" for at in range(count)]
        sizes = kept(np.full(count, BLOCK), f"blocks_{count}")
        nodes.append(helper.make_node("Split", [node.input[0], sizes], parts, axis=-1))
        for at, part in enumerate(parts):
            block = kept(np.ascontiguousarray(whole[:, at].T), f"{part}_w")
            step = kept(np.ascontiguousarray(steps[:, at]), f"{part}_s")
            nodes.append(
                helper.make_node(
                    "DynamicQuantizeMatMul", [part, block, step], [f"{part}_y"],
                    domain="com.microsoft",
                )
            )  # fmt: skip
        outputs = [each.output[0] for each in some]
        summed = outputs[0] if len(some) == 1 else f"{own}_all"
        nodes.append(helper.make_node("Sum", [f"{part}_y" for part in parts], [summed]))
        if len(some) > 1:
            widths = np.array([len(stored[each.input[1]]) for each in some])
            told = kept(widths, f"widths_{'_'.join(map(str, widths))}")
            nodes.append(helper.make_node("Split", [summed, told], outputs, axis=-1))
    read = {name for node in nodes for name in node.input}
    left = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(left)
    onnx.save(model, str(path))


def _width(product: Any) -> int:
    """How many numbers a product reads."""
    return next(each.i for each in product.attribute if each.name == "K")
