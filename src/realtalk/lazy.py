"""Names that a package offers → the objects, each loaded when it is first used.

    __getattr__, __dir__ = offer(__name__, {"realtalk.api.persona": "tune talk"})

Importing a package then costs nothing, and `dir` of it shows what it offers.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def offer(
    package: str, exports: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: names by their module, and whole modules."""
    homes = {name: home for home, names in exports.items() for name in names.split()}
    whole = dict(modules or {})

    def get(name: str) -> Any:
        if name in whole:
            value = importlib.import_module(whole[name])
        elif name in homes:
            value = getattr(importlib.import_module(homes[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted([*homes, *whole])
