"""Token ids → what a model.onnx answers, by the same weights in `transformers.BertModel`.

    session = TorchSession(folder / "model.onnx", "cuda", "fp16")
    session.run(None, {"tokens": tokens, "types": types})     → [float32 [rows, 50]]: the heads
    session.run(None, {"tokens": tokens})                     → [states, small vectors, weights]

It is asked as onnxruntime's session is: for rows of one length, without padding. The graph of the
ONNX file rounds what goes into a product to 8 bits, one scale per 128 numbers of a token; so does
this: without it, emotion and empathy were below 99.5 % of the CPU's labels in fp16
(bench/README.md). What is added up (states, norms, pooling) stays in float32; only products are in
the type that is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from realtalk.encoders.weights import Floats, read_weights
from realtalk.errors import MissingExtraError, RealtalkError

if TYPE_CHECKING:
    import torch

Numbers = Literal["fp32", "bf16", "fp16"]

# Rows of the table of words that pairs of neighbours share, and the factor of the hash that chooses
# one: odd, and near the golden section of 2¹⁶, so that neighbours fall far apart.
PAIR_ROWS, PAIR_FACTOR = 1 << 16, 40_503
_BERT = "encoder."  # stands before the names of BertModel's own weights
_OF_HEADS = ("heads.weight", "heads.bias", "words.place")  # one row for each head
_OUTSIDE = -1e4  # never the largest
_HEAD = 32  # numbers per attention head
_BLOCK = 128  # numbers that share a scale
_STEPS = 127
_LEAST = 1e-30  # a block of zeros stays one
_TORCH_NAMES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


class TorchSession:
    """A shipped model of pairs or of texts, on a device."""

    def __init__(self, path: Path, device: str, numbers: Numbers, *, rounded: bool = True) -> None:
        import torch

        self._device = torch.device(device)
        self._kind = getattr(torch, _TORCH_NAMES[numbers])
        self._is_rounded = rounded
        weights = read_weights(path)
        if "keep" in weights:  # the heads that ship, of those that were trained
            heads = weights.pop("keep").astype(np.int64)
            weights |= {name: weights[name][heads] for name in _OF_HEADS if name in weights}
        with gpu_failures(self._device):
            tensors = {name: torch.from_numpy(np.array(tensor)) for name, tensor in weights.items()}
            self._bert = self._load_bert(tensors).to(self._device)
            # What stands on top of the layers.
            self._top = {
                name: values.to(self._device)
                for name, values in tensors.items()
                if not name.startswith(_BERT)
            }

    def run(self, _outputs: None, inputs: Mapping[str, npt.NDArray[np.int64]]) -> list[Floats]:
        """All outputs of the ONNX file for these rows."""
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        # Not cuDNN's, which would be prepared anew for every shape of a batch.
        backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        with gpu_failures(self._device), torch.inference_mode(), sdpa_kernel(backends):
            tensors = {name: torch.from_numpy(ids).to(self._device) for name, ids in inputs.items()}
            tokens, types = tensors["tokens"], tensors.get("types")
            states = self._bert(input_ids=tokens, token_type_ids=types).last_hidden_state
            outputs = (
                self._of_texts(states)
                if types is None
                else [self._of_pairs(states, tokens, types.bool())]
            )
            return [output.cpu().numpy() for output in outputs]

    def _load_bert(self, tensors: Mapping[str, torch.Tensor]) -> Any:
        import torch

        try:
            from transformers import BertConfig, BertModel
        except ImportError as error:
            raise MissingExtraError("`device=cuda`", "train") from error
        own = {
            name.removeprefix(_BERT): values
            for name, values in tensors.items()
            if name.startswith(_BERT)
        }
        words, places, types = (
            own[f"embeddings.{name}_embeddings.weight"].shape
            for name in ("word", "position", "token_type")
        )
        config = BertConfig(
            vocab_size=words[0],
            max_position_embeddings=places[0],
            type_vocab_size=types[0],
            hidden_size=words[1],
            num_attention_heads=words[1] // _HEAD,
            num_hidden_layers=sum(name.endswith("intermediate.dense.bias") for name in own),
            intermediate_size=len(own["encoder.layer.0.intermediate.dense.bias"]),
            hidden_act="gelu_pytorch_tanh",
            attn_implementation="sdpa",
        )
        bert = BertModel(config, add_pooling_layer=False).eval()
        bert.load_state_dict(own)
        for module in bert.modules():
            if isinstance(module, torch.nn.Linear):
                module.to(self._kind)
                module.register_forward_pre_hook(lambda _, inputs: (self._round(inputs[0]),))
        return bert

    def _of_texts(self, states: torch.Tensor) -> list[Any]:
        """States of all tokens, their small vectors of length 1, and how much each counts."""
        import torch

        late = torch.nn.functional.normalize(self._product(states, "late"), dim=-1)
        return [states, late, self._product(states, "weigh").sigmoid()[..., 0]]

    def _product(self, states: torch.Tensor, layer: str) -> Any:
        import torch

        weight, bias = (self._top[f"{layer}.{name}"].to(self._kind) for name in ("weight", "bias"))
        return torch.nn.functional.linear(self._round(states), weight, bias).float()

    def _of_pairs(self, states: Any, tokens: torch.Tensor, own: torch.Tensor) -> Any:
        """The mean over the turn, the mean over all, the maximum over the turn; then the heads."""
        import torch

        turn = own[..., None]
        means = (states * turn).sum(1) / turn.sum(1), states.mean(1)
        most = states.masked_fill(~turn, _OUTSIDE).amax(1)
        pooled = torch.cat([*means, most], dim=1)
        answers = torch.nn.functional.linear(
            pooled, self._top["heads.weight"], self._top["heads.bias"]
        )
        return answers + self._by_words(tokens, turn) if "words.place" in self._top else answers

    def _by_words(self, tokens: torch.Tensor, turn: torch.Tensor) -> Any:
        """What the turn's pieces and neighbouring pairs say: a row of the table for each."""
        import torch

        table, place = (self._top[f"words.{name}"] for name in ("table.weight", "place"))
        before = torch.cat([tokens[:, :1], tokens[:, :-1]], dim=1)
        pairs = (before * PAIR_FACTOR + tokens) % PAIR_ROWS + len(table) - PAIR_ROWS
        rows = (table[tokens] + table[pairs]) * turn
        scores = rows.sum(1) / turn.sum(1).sqrt()
        return torch.nn.functional.pad(scores, (0, 1))[:, place.long()]

    def _round(self, states: torch.Tensor) -> Any:
        """Numbers in whole steps of 1/127 of the largest of their block."""
        import torch

        if not self._is_rounded:
            return states.to(self._kind)
        blocks = states.float().unflatten(-1, (-1, _BLOCK))
        most = torch.linalg.vector_norm(blocks, float("inf"), dim=-1, keepdim=True)
        step = (most / _STEPS).clamp_(min=_LEAST)
        return (blocks / step).round_().mul_(step).to(self._kind).flatten(-2)


@contextmanager
def gpu_failures(device: torch.device) -> Iterator[None]:
    """Says in one line what failed on a GPU; on the CPU a failure is a bug and stays one.

    A card that is full, is taken, is too old for this torch, or went away shows as a RuntimeError
    of any wording, and not always where it began: so all of them count inside the block, which
    holds nothing but work for the device. torch says sizes and names of kernels, never any text.
    """
    import torch

    try:
        yield
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was made for CUDA
        if device.type == "cpu":
            raise
        if isinstance(error, torch.OutOfMemoryError):
            raise RealtalkError(
                "the GPU's memory is full", fix="end what else uses it, or leave `device=` out"
            ) from error
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RealtalkError(
            f"the GPU cannot be used ({reason})", fix="leave `device=` out"
        ) from error
