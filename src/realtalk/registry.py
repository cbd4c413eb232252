"""Names to objects, imported only when asked for.

    FORMATS = Registry("format", {"locomo": "realtalk.corpora.published.locomo:FORMAT"})
    FORMATS["locomo"]     → the object FORMAT of that module
    FORMATS["locomoo"]    → RealtalkError: unknown format 'locomoo'; did you mean 'locomo'? ...

Late import keeps `realtalk --help` fast and lets a module with a missing extra
fail only when it is used.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast

from realtalk.errors import RealtalkError

__all__ = ["Registry", "suggest"]

T = TypeVar("T")


def suggest(kind: str, wrong: str, known: list[str]) -> RealtalkError:
    """The error for a mistyped name: the nearest known one, then all of them."""
    near = difflib.get_close_matches(wrong.lower(), known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return RealtalkError(f"unknown {kind} '{wrong}'", fix=f"{hint}known: {', '.join(known)}")


class Registry(Generic[T]):
    """Names and their "module:object" references, in the order given."""

    def __init__(self, kind: str, references: Mapping[str, str]) -> None:
        self.kind = kind
        self._references = dict(references)

    def __getitem__(self, name: str) -> T:
        reference = self._references.get(name)
        if reference is None:
            raise suggest(self.kind, name, list(self._references))
        module, _, attribute = reference.partition(":")
        return cast(T, getattr(importlib.import_module(module), attribute))

    def __contains__(self, name: object) -> bool:
        return name in self._references

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)
