"""What realtalk 0.1.0 left outside its own cache: files that ONNX Runtime writes to report home.

    left_behind() → (CacheItem(telemetry, ~/.cache/Microsoft/…/.onnxruntime/deviceid, …),
                     CacheItem(telemetry, /tmp/.ses, …))

ONNX Runtime 1.31 writes a device id and a database of events below the user's cache folder and
a session's number into the temporary folder, unless it is told not to (`realtalk.local.offline`
does). Removing them harms nobody: another program that uses ONNX Runtime makes new ones.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from realtalk.local.caches import CacheItem, Kind, units

TELEMETRY = Kind(
    "telemetry",
    "what ONNX Runtime kept to report to its maker (realtalk 0.1.0)",
    "nothing of a chat",
    (),
    r"(?P<unit>deviceid|onnxruntime\.db)(?:\.lock|\.tmp\.[0-9a-f-]{36}|-journal|-wal|-shm)?",
    (),
)
_MAKER, _BELOW = "Microsoft", "DeveloperTools/.onnxruntime"
_SESSION = ".ses"
# When the session began, in milliseconds, and its number: the file's name says too little.
_SHAPE = re.compile(rb"\d{13}\n[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\n?")
_LONGEST = 64


def left_behind() -> tuple[CacheItem, ...]:
    """Every such file of this user, where the library looks for its places."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    leftovers = units(TELEMETRY, home / _MAKER / _BELOW).items
    # Its folders go with it, where nothing else is in them.
    items = [replace(item, folder=home / _MAKER) for item in leftovers]
    session = Path(tempfile.gettempdir()) / _SESSION
    try:
        known = session.lstat()
        data = session.read_bytes() if known.st_size <= _LONGEST else b""
    except OSError:
        return tuple(items)
    if _SHAPE.fullmatch(data) and not session.is_symlink():
        moment = known.st_mtime
        items.append(
            CacheItem(TELEMETRY, session.parent, (session,), known.st_size, moment, moment)
        )
    return tuple(items)
