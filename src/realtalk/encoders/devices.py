"""A device's name → the encoder that runs there, or a line that says what is missing.

    load_pairs(folder)                      → PairEncoder: the ONNX file on the CPU
    load_pairs(folder, "cuda")              → TorchPairs, or the ONNX file with CUDA
    load_sentences("cuda")                  → TorchSentences, or the same
    load_sentences("cuda")                  → RealtalkError: --device cuda needs the extra 'train' …

On a GPU torch comes first: its labels were compared with the CPU's, and it takes rows of different
lengths at once. onnxruntime's own CUDA, which was not compared, runs the file where torch cannot.
"""

from __future__ import annotations

import warnings
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
# Of products on a GPU, rounded to 8 bits before: of the four ways that bench/gpu.py was run in
# (fp16 and fp32, rounded and not) the one with 99.5 % of the CPU's labels in every measure.
NUMBERS: Final = "fp16"
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
    if torch is not None and _has_torch_cuda(torch):
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
    try:
        import torch
    except (ImportError, OSError) as error:  # a library of the GPU's that it was made with
        raise RealtalkError(
            f"torch is installed but cannot be loaded ({type(error).__name__})",
            fix="install it again for this machine's GPU, or leave --device out",
        ) from error
    return torch


def _has_torch_cuda(torch: Any) -> bool:
    with warnings.catch_warnings():  # of a driver that is too old: the error's line says enough
        warnings.simplefilter("ignore")
        return bool(torch.cuda.is_available())


def _has_onnx_cuda() -> bool:
    if find_spec("onnxruntime") is None:
        return False
    import onnxruntime

    return ON_GPU in onnxruntime.get_available_providers()
