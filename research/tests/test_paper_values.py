"""When a figure is exact, and what figures say together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from realtalk.ei.values import FACETS
from research.papers.published import (
    CHATS,
    SECTION_5_1,
    TABLE_1,
    TABLE_5,
    TABLE_6,
    TABLE_7,
)
from research.papers.showing import figure_grid
from research.papers.values import PaperFigure, judged


@pytest.mark.parametrize(
    ("published", "measured", "digits", "state"),
    [
        (20.98, 20.9799, 2, "exact"),
        (20.98, 20.97, 2, "within rounding"),
        (20.98, 20.96, 2, "differs"),
        (826, 825.8, 0, "exact"),
        (0.0, -0.001, 2, "exact"),
        (12, 12, None, "exact"),
        (12, 11, None, "differs"),
        (12, None, None, "unscored"),
    ],
)
def test_states(published: float, measured: float | None, digits: int | None, state: str) -> None:
    assert PaperFigure("r", "c", published, measured, digits).state == state


def test_verdicts_can_fail() -> None:
    exact, near, off, none = (
        PaperFigure("r", "c", 1.0, value, 1) for value in (1.0, 1.1, 3.0, None)
    )
    assert judged([exact, exact]).kind == "exact"
    assert judged([exact, near]).kind == "within rounding"
    assert str(judged([exact, near, off])) == (
        "differs: 1 of 3 figures are as printed, 1 a rounding away"
    )
    assert judged([exact, none]).line == "1 of 1 figures are as printed, 1 unscored"
    assert judged([none]).kind == "not made"


def test_unscored_is_no_zero() -> None:
    few = figure_grid([PaperFigure("r", "c", 1.0, None, 1, unscored="nobody answered")])
    assert few.rows[0][3] is None
    assert few.rows[0][-1] == "nobody answered"
    many = [PaperFigure(f"r{n}", c, 1, None if c == "a" else 3) for n in range(9) for c in "ab"]
    grid = figure_grid(many)
    assert grid.headings == ["", "a", "b"]
    assert grid.rows[0] == ["r0", None, "3 (+2)"]


def test_the_figures_are_the_papers(data: Path) -> None:
    path = data.parent / "paper" / "published.json"
    if not path.is_file():
        pytest.skip("the paper's figures are not at hand")
    told = json.loads(path.read_text("utf-8"))
    rows = {row[0]: tuple(row[2:5]) for row in told["table1"]["rows"]}
    assert all(rows[name] == tuple(TABLE_1[name].values()) for name in TABLE_1)
    assert [value for value, _ in SECTION_5_1.values()] == list(told["section5_1"].values())
    for table, name in ((TABLE_5, "table5"), (TABLE_6, "table6")):
        for chat, row in zip(CHATS, told[name]["rows"], strict=True):
            assert list(table[chat].values()) == row[1:]
            names = row[0].casefold().replace("muhammed", "muhhamed").split(" + ")
            assert set(names) <= set(chat.casefold().split("_"))
    assert [name.removesuffix("_e3") for name in told["table7"]["metrics"]] == list(FACETS)
    assert len(TABLE_7) == len(told["table7"]["rows"]) == 16
    for row in told["table7"]["rows"]:
        assert list(TABLE_7[row["chat"], row["speaker"]].values()) == row["values"]
