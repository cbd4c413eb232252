"""The judge's answer as text → a value, strictly, or nothing.

    read_answer("reflective", "True")             → {"reflective": True}
    read_answer("reflective", "True, because …")  → None: malformed, to be asked again
    read_answer("empathy", '{"emotional_reaction": 2, "interpretation": 1, "exploration": 0}')
        → {"emotional_reaction": 2.0, "interpretation": 1.0, "exploration": 0.0, "empathy": 3.0,
           "emotional_reaction_level": 2, "interpretation_level": 1, "exploration_level": 0}

Case, quotation marks, a full stop and a code fence around the answer are forgiven: they
cannot change what it says. Anything more is not an answer but a guess about one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from realtalk.ei.labels import COMPONENTS, EMOTIONS, SENTIMENTS

Values: TypeAlias = Mapping[str, bool | int | float | str]  # column of a label → value

FORMS: Mapping[str, str] = MappingProxyType(
    {
        "reflective": "the one word True or the one word False",
        "grounding": "the one word True or the one word False",
        "sentiment": "one of the words negative, neutral, positive",
        "emotion": f"one of the words {', '.join(EMOTIONS)}",
        "intimacy": "one number from 0 to 1",
        "empathy": (
            "one JSON object with the keys emotional_reaction, interpretation and exploration, "
            "each 0, 1 or 2"
        ),
    }
)
_FENCE = re.compile(r"\A```[a-z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_NUMBER = re.compile(r"\A(?:0|1|[01]?\.\d+)\Z")
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i'm|i am|we're|we are) (?:very )?sorry|sorry,|i apologi[sz]e"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to)"
    r"|i'm (?:unable|not able) to)\b",
    re.IGNORECASE,
)


def read_answer(measure: str, text: str) -> Values | None:
    """What the answer says about the measure; None where it is malformed."""
    bare = unfenced(text)
    if measure == "empathy":
        return _components(bare)
    word = bare.strip("\"'`*“”‘’ ").removesuffix(".").strip("\"'`*“”‘’ ").lower()
    if measure in {"reflective", "grounding"}:
        return {measure: word == "true"} if word in {"true", "false"} else None
    if measure == "intimacy":
        value = float(word) if _NUMBER.match(word) else 2.0
        return {measure: value} if value <= 1 else None
    allowed = {"sentiment": SENTIMENTS, "emotion": EMOTIONS}[measure]
    return {measure: word} if word in allowed else None


def _components(text: str) -> Values | None:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or set(parsed) != set(COMPONENTS):
        return None
    # `type`, because True is an int to isinstance and a mistake here.
    if any(type(value) is not int or not 0 <= value <= 2 for value in parsed.values()):
        return None
    return {
        **{name: float(parsed[name]) for name in COMPONENTS},
        "empathy": float(sum(parsed.values())),
        **{f"{name}_level": parsed[name] for name in COMPONENTS},
    }


def unfenced(text: str) -> str:
    """An answer without the code fence around it."""
    fenced = _FENCE.match(text.strip())
    return fenced[1].strip() if fenced else text.strip()


def unreadable(text: str) -> str:
    """What is wrong with an answer that cannot be read: malformed, empty, or a refusal."""
    if not text.strip():
        return "empty answer"
    return "refused" if _REFUSAL.match(text.replace("’", "'")) else "malformed answer"
