"""A device's name → the encoder that runs there, or a line that says what is missing.

    load_pairs(folder)                      → PairEncoder: the ONNX file on the CPU
    load_pairs(folder, "cuda")              → TorchPairs, or the ONNX file with CUDA
    load_sentences("cuda")                  → TorchSentences, or the same
    load_sentences("cuda")                  → RealtalkError: --device cuda needs the extra 'train' …

On a GPU torch comes first: it takes rows of different lengths at once and rounds as the CPU does.
onnxruntime's own CUDA runs the file where torch is not installed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from realtalk.encoders.onnx import ON_GPU
from realtalk.encoders.pairs import PairEncoder
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.registry import suggest

if TYPE_CHECKING:
    from realtalk.encoders.torch_bert import Numbers
    from realtalk.encoders.torch_pairs import TorchPairs
    from realtalk.encoders.torch_sentences import TorchSentences

DEVICES = ("cpu", "cuda")
NUMBERS: Final = "fp16"  # of products on a GPU: the fastest whose labels are the CPU's
_TRIAL = "cpu-torch"  # what runs on a GPU, tried out without one


def load_pairs(
    folder: Path, device: str = "cpu", threads: int | None = None
) -> PairEncoder | TorchPairs:
    """The model of pairs in a folder."""
    if device == "cpu":
        return PairEncoder(folder, threads)
    place = _place(device)
    if place is None:
        return PairEncoder(folder, threads, ON_GPU)
    from realtalk.encoders.torch_pairs import TorchPairs

    return TorchPairs(folder, *place)


def load_sentences(device: str = "cpu") -> SentenceEncoder | TorchSentences:
    """The model of texts that ships with the package."""
    if device == "cpu":
        return SentenceEncoder()
    place = _place(device)
    if place is None:
        return SentenceEncoder(provider=ON_GPU)
    from realtalk.encoders.torch_sentences import TorchSentences

    return TorchSentences(*place)


def _place(device: str) -> tuple[str, Numbers] | None:
    """Where torch works and with which numbers; None where onnxruntime's CUDA does it."""
    if device == _TRIAL:
        return ("cpu", "fp32")
    if device not in DEVICES:
        raise suggest("device", device, list(DEVICES))
    torch = _torch()
    if torch is not None and torch.cuda.is_available():
        return ("cuda", NUMBERS)
    if _has_onnx_cuda():
        return None
    if torch is None:
        raise MissingExtraError("--device cuda", "train")
    raise RealtalkError(
        "no CUDA device can be used",
        fix="leave --device out, or install a torch that is made for this machine's GPU",
    )


def _torch() -> Any:
    if find_spec("torch") is None:
        return None
    import torch

    return torch


def _has_onnx_cuda() -> bool:
    if find_spec("onnxruntime") is None:
        return False
    import onnxruntime

    return ON_GPU in onnxruntime.get_available_providers()
