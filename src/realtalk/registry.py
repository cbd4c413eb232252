"""Names to objects, imported only when asked for.

    FORMATS = Registry("format", {"locomo": "realtalk.formats.published.locomo:FORMAT"})
    FORMATS["locomo"]     → the object FORMAT of that module
    FORMATS["locomoo"]    → RealtalkError: unknown format 'locomoo'; did you mean 'locomo'? ...
    __getattr__, __dir__ = offer(__name__, {"realtalk.api.persona": "tune talk"})  # a package

Late import keeps `realtalk --help` fast and lets a module with a missing extra
fail only when it is used. Importing a package that offers names so costs nothing, and `dir` of it
shows what it offers.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, cast, get_args, get_origin

from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    import inspect

T = TypeVar("T")
NameT = TypeVar("NameT", bound=str)

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NOTHING = frozenset({"", "none"})
_KINDS: Mapping[str, type] = {"bool": bool, "int": int, "float": float}


def suggest(kind: str, wrong: str, names: list[str]) -> RealtalkError:
    """The error for a mistyped name: the nearest known one, then all of them."""
    import difflib

    near = difflib.get_close_matches(wrong.lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? " if near else ""
    fix, code = f"{hint}known: {', '.join(names)}", f"unknown-{kind.partition(' ')[0]}"
    return RealtalkError(f"unknown {kind} '{wrong}'", fix=fix, code=code)


def known_name(kind: str, name: str, names: Collection[NameT]) -> NameT:
    """The name as it is known; one that is not is refused."""
    for known in names:
        if known == name:
            return known
    raise suggest(kind, name, list(names))


def at_least(least: int, **settings: int | None) -> None:
    """Refuses a setting below the least; one that is not given is none."""
    for setting, value in settings.items():
        if value is not None and value < least:
            raise RealtalkError(f"{setting} must be {least} or more, not {value}")


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


def make(
    what: str,
    factory: Callable[..., T],
    settings: Mapping[str, Any] | None,
    *,
    parameters: Mapping[str, inspect.Parameter] | None = None,
    fix: str = "give it with `settings={key}=VALUE`",
) -> T:
    """What a factory makes of settings given as text, as on the command line, or typed.

    `what` is what it makes, for errors: the memory 'notes'. Each setting has its type and mostly a
    default; text is read by that type, and what is no such value is refused by name.
    `parameters` are the settings that may be given, where that is not all of them.
    """
    if parameters is None:
        import inspect

        parameters = inspect.signature(factory, eval_str=True).parameters
    name = what.rpartition("'")[0].rpartition("'")[2] or what
    arguments: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        if key not in parameters:
            if not parameters:
                raise RealtalkError(f"{what} has no setting '{key}'", fix="it has none")
            raise suggest(f"setting of {what}", key, list(parameters))
        text = isinstance(value, str)
        where = f"{name}, setting {key}"
        arguments[key] = read_value(value, parameters[key].annotation, where) if text else value
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise RealtalkError(f"{what} needs the setting '{key}'", fix=fix.format(key=key))
    return factory(**arguments)


def read_value(text: str, kind: Any, where: str) -> Any:
    """Text as the value that a parameter's type asks for; what is no such value is refused."""
    if get_origin(kind) in (Union, UnionType):
        choices = get_args(kind)
        if NoneType in choices and text.lower() in _NOTHING:
            return None
        kind = next(choice for choice in choices if choice is not NoneType)
    if get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind is bool:
        if text.lower() not in _WORDS:
            raise RealtalkError(f"'{text}' is neither true nor false", where=where)
        return _WORDS[text.lower()]
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise RealtalkError(
                f"'{text}' is no {'whole number' if kind is int else 'number'}", where=where
            ) from None
    return Path(text) if kind is Path else text


def kind_in(annotation: str) -> type:
    """What text is read as where an annotation says so: a number or a truth, else text."""
    kinds = [part.strip() for part in annotation.split("|")]
    return str if "str" in kinds else next((_KINDS[k] for k in kinds if k in _KINDS), str)


def within(module: str, names: Mapping[str, str]) -> dict[str, str]:
    """Entries whose objects stand in one module: `{"recent": "Recent"}`."""
    return {name: f"{module}:{place}" for name, place in names.items()}


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
