"""Who may read what was written."""

from __future__ import annotations

import stat
from pathlib import Path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> dict[str, str]:
    """What below a folder is not 0600 (files) or 0700 (folders)."""
    return {
        path.relative_to(folder).as_posix(): oct(mode(path))
        for path in folder.rglob("*")
        if mode(path) != (0o700 if path.is_dir() else 0o600)
    }
