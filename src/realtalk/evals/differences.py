"""The settings of a run that is there and of the one that is wanted → an error by what differs.

refuse_difference(Path("out"), {"settings": {"seed": 0}}, {"settings": {"seed": 1}})
→ RealtalkError: out: made with other settings (seed is 0 there, 1 now); name another folder, …
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.models.addresses import bare_address

# What describes a run without deciding its rows: older runs do not say it, and go on all the same.
_DESCRIBING = frozenset({"settings.corpus.format"})


def refuse_difference(folder: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raises where a run was made with other settings, naming each that differs."""
    if shown := differences(known, wanted, "now"):
        raise RealtalkError(
            f"made with other settings ({shown})",
            where=str(folder),
            fix="name another folder, or start anew with `fresh=True`",
        )


def differences(known: Mapping[str, Any], other: Mapping[str, Any], where: str) -> str:
    """What differs between the settings there and those of the other, which are `where`."""
    before, now = _flat(known), _flat(other)
    names = [
        name
        for name in dict.fromkeys((*before, *now))
        if name != "versions" and before.get(name) != now.get(name) and name not in _DESCRIBING
    ]
    names = [name for name in names if not name.startswith("versions.")]
    shown = [
        f"{name.removeprefix('settings.')} is {_short(before.get(name))} there, "
        f"{_short(now.get(name))} {where}"
        for name in names[:4]
    ]
    more = f", and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(shown) + more


def _flat(value: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, each in value.items():
        if isinstance(each, Mapping):
            flat |= _flat(each, f"{head}{name}.")
        else:
            # 0.1.0 wrote addresses down as they were given, with the keys in them.
            bare = name == "base_url" and isinstance(each, str)
            flat[f"{head}{name}"] = bare_address(each) if bare else each
    return flat


def _short(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
