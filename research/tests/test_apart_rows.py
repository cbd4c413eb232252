"""The rows of the page on simulated corpora: people are held out."""

from __future__ import annotations

import json
from pathlib import Path

from realtalk.chat import person_key
from realtalk.ei.told_apart import circles


def test_figures_of_the_page_hold_people_out() -> None:
    """Chats that were asked about together are one fold: nobody stands in two of them."""
    page = Path(__file__).parents[1] / "results" / "rows" / "simulated.json"
    rows = json.loads(page.read_text("utf-8"))
    for name, ways in rows["apart"].items():
        sides = (rows["people"], name)
        people = [
            {
                chat["id"]: frozenset(person_key(who["name"]) for who in chat["speakers"])
                for chat in rows["corpora"][side]["stats"]["chats"]
            }
            for side in sides
        ]
        for row in ways.values():
            asked = [frozenset({(0, one), (1, other)}) for one, other, _ in row["pairs"]]
            together: dict[int, set[str]] = {}
            for number, pair in zip(circles(asked), asked, strict=True):
                for side, chat in pair:
                    together.setdefault(number, set()).update(people[side][chat])
            if name != rows["people"]:  # its halves leave out whoever knows those that are asked
                assert sum(map(len, together.values())) == len(set().union(*together.values()))
            assert row["unscored"] or row["speaker_disjoint"]
