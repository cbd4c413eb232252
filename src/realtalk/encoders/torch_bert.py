"""Token ids → states, with a shipped encoder's weights in torch: on a GPU, or anywhere for a test.

    bert = TorchBert(read_weights(folder / "model.onnx"), "cuda", "fp16")
    bert.states(tokens, types, mask)        → float32 [rows, length, 384]

The graph of the ONNX file rounds what goes into a product to 8 bits, one scale per 128 numbers of
a token; so does this one: without it, emotion and empathy were below 99.5 % of the CPU's labels in
fp16 (bench/README.md). What is added up (states, norms, pooling) stays in float32; only products
are in the type that is named.
Rows are padded and masked: what stands in a row beside its tokens changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from realtalk.encoders.gpu_failures import gpu_failures

if TYPE_CHECKING:
    import torch

BATCH_TOKENS = {"cuda": 131_072, "cpu": 4_096}  # padding counted
Numbers = Literal["fp32", "bf16", "fp16"]

_HEAD = 32  # numbers per attention head
_BLOCK = 128  # numbers that share a scale
_STEPS = 127
_LEAST = 1e-30  # a block of zeros stays one
_EPSILON = 1e-12
_WORDS, _PLACES, _TYPES = (
    f"encoder.embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type")
)
_KEPT = ("heads",)  # products that the ONNX file does not round either
_TORCH_NAMES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


class TorchBert:
    """The layers that both shipped encoders have, and products of their own on top."""

    def __init__(
        self,
        weights: Mapping[str, npt.NDArray[np.float32]],
        device: str,
        numbers: Numbers,
        *,
        rounded: bool = True,
    ) -> None:
        import torch

        self._is_rounded = rounded
        self.device = torch.device(device)
        self.numbers = numbers
        self._kind = getattr(torch, _TORCH_NAMES[numbers])
        self._layers = sum(name.endswith(".intermediate.dense.bias") for name in weights)
        self.weights: dict[str, torch.Tensor] = {}
        joined = _joined(weights, self._layers)
        for name, values in joined.items():
            layer = name.rpartition(".")[0]
            is_product = f"{layer}.bias" in joined and joined[f"{layer}.weight"].ndim == 2
            kind = self._kind if is_product and layer not in _KEPT else torch.float32
            with gpu_failures(self.device):
                self.weights[name] = torch.from_numpy(np.array(values)).to(self.device, kind)

    def states(self, tokens: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> Any:
        """What the last layer says of every token; `types` and `mask` are true or false."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        # Not cuDNN's, which would be prepared anew for every shape of a batch.
        known = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        with sdpa_kernel(known):
            return self._states(tokens, types, mask)

    def _states(self, tokens: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> Any:
        import torch

        weights = self.weights
        length = tokens.shape[1]
        states = weights[_WORDS][tokens] + weights[_PLACES][:length]
        states = states + weights[_TYPES][types.long()]
        states = self._norm(states, "encoder.embeddings.LayerNorm")
        unseen = torch.zeros(mask.shape, dtype=self._kind, device=self.device)
        unseen = unseen.masked_fill_(~mask, float("-inf"))[:, None, None, :]
        unseen = unseen.expand(-1, -1, length, -1)
        for number in range(self._layers):
            layer = f"encoder.encoder.layer.{number}"
            joint = self._attended(states, unseen, layer)
            states = self._norm(
                self.product(joint, f"{layer}.attention.output.dense").float() + states,
                f"{layer}.attention.output.LayerNorm",
            )
            states = self._norm(
                self._widened(states, layer).float() + states, f"{layer}.output.LayerNorm"
            )
        return states

    def product(self, states: torch.Tensor, layer: str) -> Any:
        """A layer's product of rounded states, in the type of products."""
        import torch

        weight, bias = self.weights[f"{layer}.weight"], self.weights[f"{layer}.bias"]
        return torch.nn.functional.linear(self._rounded(states), weight, bias)

    def _attended(self, states: torch.Tensor, unseen: torch.Tensor, layer: str) -> Any:
        import torch

        rows, length, width = states.shape
        three = self.product(states, f"{layer}.attention.self.joint")
        parts = three.view(rows, length, 3, width // _HEAD, _HEAD).permute(2, 0, 3, 1, 4)
        attended = torch.nn.functional.scaled_dot_product_attention(
            parts[0], parts[1], parts[2], attn_mask=unseen
        )
        return attended.transpose(1, 2).reshape(rows, length, width)

    def _widened(self, states: torch.Tensor, layer: str) -> Any:
        import torch

        wide = self.product(states, f"{layer}.intermediate.dense")
        bent = torch.nn.functional.gelu(wide, approximate="tanh")
        return self.product(bent, f"{layer}.output.dense")

    def _norm(self, states: torch.Tensor, layer: str) -> Any:
        import torch

        scale, shift = self.weights[f"{layer}.weight"], self.weights[f"{layer}.bias"]
        return torch.nn.functional.layer_norm(states, scale.shape, scale, shift, _EPSILON)

    def _rounded(self, states: torch.Tensor) -> Any:
        """Numbers in whole steps of 1/127 of the largest of their block."""
        import torch

        if not self._is_rounded:
            return states.to(self._kind)
        blocks = states.float().unflatten(-1, (-1, _BLOCK))
        most = torch.linalg.vector_norm(blocks, float("inf"), dim=-1, keepdim=True)
        step = (most / _STEPS).clamp_(min=_LEAST)
        return (blocks / step).round_().mul_(step).to(self._kind).flatten(-2)


def _joined(
    weights: Mapping[str, npt.NDArray[np.float32]], layers: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Query, key and value side by side: one product instead of three."""
    found = dict(weights)
    for number in range(layers):
        attention = f"encoder.encoder.layer.{number}.attention.self"
        for kind in ("weight", "bias"):
            three = [found.pop(f"{attention}.{name}.{kind}") for name in ("query", "key", "value")]
            found[f"{attention}.joint.{kind}"] = np.concatenate(three)
    return found
