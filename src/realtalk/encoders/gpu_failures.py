"""What torch raises on a GPU → one line for the user.

    with gpu_failures(device): ...
    → RealtalkError: the GPU's memory is full; end what else uses it, or leave --device out

A card that is full, is taken, is too old for this torch, or went away shows as a RuntimeError of
any wording, and not always where it began: so all of them count inside the block, which holds
nothing but work for the device. torch says sizes and names of kernels there, never any text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    import torch


@contextmanager
def gpu_failures(device: torch.device) -> Iterator[None]:
    """Says in one line what failed in the block; on the CPU a failure is a bug and stays one."""
    import torch

    try:
        yield
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was made for CUDA
        if device.type == "cpu":
            raise
        if isinstance(error, torch.OutOfMemoryError):
            raise RealtalkError(
                "the GPU's memory is full", fix="end what else uses it, or leave --device out"
            ) from error
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise RealtalkError(f"the GPU cannot be used ({said})", fix="leave --device out") from error
