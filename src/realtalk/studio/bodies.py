"""What an item's body must hold so that every page, comparison and file can show it.

    flaw("event", {"text": "Mara moves."})       → "no session"
    dumped("event", {"text": "Mara moves."})     raises; what cannot be read back is never stored

Everything that is stored goes through `dumped`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from realtalk.errors import RealtalkError


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# What a body cannot do without: how it must be, and what stands for it where nobody knows it.
FIELDS: Mapping[str, Mapping[str, tuple[Callable[[Any], bool], Any]]] = {
    "event": {
        "session": (_number, 0),
        "speaker": (_text, ""),
        "text": (_text, ""),
        "date": (_text, ""),
    },
    "question": {
        "text": (_text, ""),
        "answer": (lambda value: value is None or isinstance(value, str), ""),
        "category": (_text, ""),
        "evidence": (_texts, []),
    },
}
# What the chat's own file may say beyond the form.
BEYOND = {"extra": _text, "stated": _texts, "unresolved": _texts}


def blank(kind: str) -> dict[str, Any]:
    """What an item holds before anything is put into it."""
    return {name: unknown for name, (_, unknown) in FIELDS[kind].items()}


def flaw(kind: str, body: Any) -> str | None:
    """What is wrong with a body, without its words; None where all is well."""
    if kind not in FIELDS or not isinstance(body, dict):
        return "not an annotation"
    for name, (fits, _) in FIELDS[kind].items():
        if name not in body:
            return f"no {name}"
        if not fits(body[name]):
            return f"no proper {name}"
    for name, fits in BEYOND.items():
        if name in body and not fits(body[name]):
            return f"no proper {name}"
    return None


def dumped(kind: str, body: Mapping[str, Any]) -> str:
    """A body as it is stored, or an error where it could not be read back."""
    wrong = flaw(kind, body)
    if wrong is not None:
        raise RealtalkError(f"the {kind} cannot be kept ({wrong})")
    try:
        return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # half of a pair of surrogates, or a number beyond 64 bits
        raise RealtalkError(f"the {kind} holds something that is not text") from error
