"""What training needs to go on after a stop, in a folder of its own, whole or not at all.

    save(out, 40, tensors, {"seed": 0, ...})    → out/checkpoint-000040: state.json and tensors
    latest(out)                                 → (40, tensors, {"seed": 0, ...}), or None

A checkpoint is written under another name first and never changed after it has its own: a
process killed at any moment leaves the one before it. Nothing is pickled.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.local.writing import whole_folder, write_text

__all__ = ["clear", "latest", "read_json", "save", "write_json"]

_STATE, _TENSORS = "state.json", "tensors.safetensors"
_FOLDERS = "checkpoint-*"


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """A small file, replaced in one go."""
    # Python's own writer: a state may hold numbers that the faster one refuses.
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise RealtalkError("not readable JSON", where=str(path)) from error


def save(out: Path, update: int, tensors: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Writes a checkpoint and removes the older ones."""
    from safetensors.torch import save_file

    place = out / f"checkpoint-{update:06d}"
    if place.exists():
        return
    with whole_folder(place) as temporary:
        flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(flat, temporary / _TENSORS)
        write_json(temporary / _STATE, state)
    for older in sorted(out.glob(_FOLDERS)):
        if older.name < place.name:
            shutil.rmtree(older, ignore_errors=True)


def latest(out: Path) -> tuple[int, dict[str, Any], dict[str, Any]] | None:
    """The newest checkpoint: its update, tensors (on the CPU) and state."""
    places = sorted(out.glob(_FOLDERS))
    if not places:
        return None
    from safetensors.torch import load_file

    place = places[-1]
    update = int(place.name.rpartition("-")[2])
    return update, load_file(place / _TENSORS), read_json(place / _STATE)


def clear(out: Path) -> None:
    """Removes every checkpoint, also those that were never finished."""
    for place in (*out.glob(_FOLDERS), *out.glob(f".{_FOLDERS}")):
        shutil.rmtree(place, ignore_errors=True)
