"""Ticks are counted as the rubric says."""

from __future__ import annotations

from research.experiments.draft_questions import RUBRIC, survival


def row(ticks: str, mended: str = "", kind: str = "temporal") -> dict[str, str]:
    return {**dict(zip(RUBRIC, ticks, strict=False)), "mended": mended, "kind": kind}


def test_five_ones_survive_and_what_is_not_ticked_does_not_count() -> None:
    blank = {**row("11111"), "right": ""}
    counted = survival([row("11111"), row("11011", "1"), row("00111", kind="single_hop"), blank])
    assert counted == {
        "ticked": 3,
        "survive": 1,
        "mended": 1,
        "fails": {"only_one": 1, "clear": 1, "right": 1},
        "by_kind": {"temporal": [1, 2], "single_hop": [0, 1]},
    }
