"""Two redactions of the same chats beside each other: differences with 95 % intervals over chats.

    python bench/names.py --held --counts 1.json     (with one tagger in the place of names/)
    python bench/names.py --held --counts 2.json     (with the other)
    python bench/names_beside.py 1.json 2.json [--also FIRST SECOND]

Chats are drawn 2,000 times, of both the same; `--also` adds chats of a second run (another half).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from names import DRAWS, NAMES, OTHERS, SPEAKER, WORDS

# What of which kinds, how many times, and whether more is worse.
MEASURES: dict[str, tuple[tuple[str, ...], str, str, int, bool]] = {
    "others left": ((OTHERS,), "left", "all", 1, True),
    "speakers left": ((SPEAKER,), "left", "all", 1, True),
    "persons left": (("PER",), "left", "all", 1, True),
    "places, organisations left": (NAMES[1:], "left", "all", 1, True),
    "persons replaced: names": (("PER",), "a name", "replaced", 1, False),
    "words wrong per 1,000": ((WORDS,), "wrong", "all", 1000, True),
}
COST = 0.03  # of one word in 1,000 that goes wrongly (names_thresholds)
Part = list[tuple[str, str, dict[str, int]]]


def pairs(parts: list[Part], kinds: tuple[str, ...], top: str, of: str, lang: str) -> Any:
    """Per chat: how many, of how many."""
    some = [[c for at, k, c in part if k in kinds and lang in ("", at)] for part in parts]
    return np.array([[sum(c.get(w, 0) for c in each) for w in (top, of)] for each in some], float)


def shares(drawn: Any) -> Any:
    return drawn[..., 0] / np.maximum(drawn[..., 1], 1)


def told(both: Any, draws: Any, digits: int, more_is_worse: bool | None) -> str:
    """Both shares and the second's difference; is its whole interval on one side?"""
    first, second = both[0], both[1]
    low, high = np.percentile(draws, [2.5, 97.5])
    sign = 0 if low <= 0 <= high else (1 if low > 0 else -1)
    word = "" if more_is_worse is None else ("worse" if (sign > 0) == more_is_worse else "better")
    side = word if sign else "within noise"
    change = f"{second - first:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"
    return f"{first:.{digits}f} | {second:.{digits}f} | {change} {side}"


def beside(first: list[Part], second: list[Part], lang: str = "") -> None:
    chosen = np.random.default_rng(0).integers(0, len(first), (DRAWS, len(first)))
    made: dict[str, tuple[Any, Any]] = {}
    for title, (kinds, top, of, times, worse) in MEASURES.items():
        each = [pairs(parts, kinds, top, of, lang) for parts in (first, second)]
        both = np.array([times * shares(one.sum(0)) for one in each])
        drawn = [times * shares(one[chosen].sum(1)) for one in each]
        made[title] = (both, np.array(drawn))
        counts = " and ".join(f"{one[:, 1].sum():,.0f}" for one in each)
        print(f"| {title} ({counts}) | {told(both, drawn[1] - drawn[0], 3, worse)} |")
    listed = [pairs(parts, NAMES, "left", "all", lang) for parts in (first, second)]
    wrong, wrong_drawn = made["words wrong per 1,000"]
    cost = np.array([shares(one.sum(0)) for one in listed]) + COST * wrong
    costs = np.array([shares(one[chosen].sum(1)) for one in listed]) + COST * wrong_drawn
    print(f"| names left + .03 wrong | {told(cost, costs[1] - costs[0], 3, True)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--also", type=Path, nargs=2, metavar=("FIRST", "SECOND"))
    parser.add_argument("--langs", action="store_true", help="by language too")
    options = parser.parse_args()
    first, second = (json.loads(path.read_text()) for path in (options.first, options.second))
    if options.also:
        first += json.loads(options.also[0].read_text())
        second += json.loads(options.also[1].read_text())
    print("| measure (n of both) | first | second | difference |\n|---|---|---|---|")
    beside(first, second)
    langs = sorted({lang for part in first for lang, _, _ in part})
    for lang in langs if options.langs else ["en"]:
        print(f"\n{lang}:")
        beside(first, second, lang)


if __name__ == "__main__":
    main()
