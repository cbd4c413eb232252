"""The printed figures are the paper's."""

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
