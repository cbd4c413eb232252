"""Figures: charts that say what the numbers say, and files that open without a network."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from realtalk.cells import duration
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.describe import CorpusStats, describe
from realtalk.describe.figures import draw, save_figures
from realtalk.formats.tables import from_corpus
from refusals import refused
from text_tables import cases

START = datetime(2026, 3, 2, 18, 0)


def stats_of(*said: tuple[str, float | None]) -> CorpusStats:
    """One session: who spoke, and after how many minutes from the start."""
    messages = tuple(
        Message(
            f"D1:{number}",
            speaker,
            None if minutes is None else START + timedelta(minutes=minutes),
            "hm",
        )
        for number, (speaker, minutes) in enumerate(said, 1)
    )
    chat = Chat("c", ("Mara", "Theo"), (Session(1, START, messages),))
    return describe(from_corpus(Corpus("toy", "x", (chat,))))


@pytest.fixture(scope="module")
def stats() -> CorpusStats:
    said: list[tuple[str, float | None]] = []
    for number in range(60):
        said += [("Mara", number * 50), ("Mara", number * 50), ("Theo", number * 50 + number % 7)]
    return stats_of(*said, *[("Mara", 3000.0)] * 30)


def rows(chart: Any, layer: int = 0) -> list[dict[str, Any]]:
    """The data of a layer, which may lie with the layer or be shared by all."""
    spec = chart.to_dict()
    data = spec["layer"][layer].get("data") or spec["data"]
    found: list[dict[str, Any]] = data.get("values") or spec["datasets"][data["name"]]
    return found


def test_charts_hold_all_that_was_counted(stats: CorpusStats) -> None:
    drawn = draw(stats)
    assert list(drawn.charts) == ["response_gaps", "runs", "activity"]
    assert not drawn.left_out
    assert sum(row["gaps"] for row in rows(drawn.charts["response_gaps"])) == stats.response_gaps.n
    runs = rows(drawn.charts["runs"])
    assert sum(row["turns"] for row in runs) == stats.runs.n
    assert runs[-1] == {"length": "> 20", "turns": 1, "label": "1", "share": 1 / stats.runs.n}
    cells = rows(drawn.charts["activity"])
    assert len(cells) == 7 * 24
    assert sum(cell["messages"] for cell in cells) == stats.timed_messages


def test_the_median_is_marked_unless_it_is_off_the_axis(stats: CorpusStats) -> None:
    chart = draw(stats).charts["response_gaps"]
    spec = chart.to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "rule", "text", "text"]
    assert rows(chart, 1)[0]["at"] == stats.response_gaps.median
    at_once = stats_of(("Mara", 0), ("Theo", 0), ("Mara", 0))
    assert len(draw(at_once).charts["response_gaps"].to_dict()["layer"]) == 1


def test_what_cannot_be_drawn_is_left_out_with_its_reason() -> None:
    untimed = draw(stats_of(("Mara", None), ("Mara", None), ("Theo", None)))
    assert list(untimed.charts) == ["runs"]
    assert untimed.left_out == {
        "response_gaps": "no message has a time",
        "activity": "no message has a time",
    }
    monologue = draw(stats_of(("Mara", 0), ("Mara", 1)))
    assert list(monologue.charts) == ["activity"]
    assert monologue.left_out["runs"] == "fewer than two turns"
    assert "fewer than two answers" in monologue.left_out["response_gaps"]
    ping_pong = draw(stats_of(("Mara", 0), ("Theo", 1), ("Mara", 2)))
    assert ping_pong.left_out == {"runs": "every turn is one message"}
    nothing = draw(describe(from_corpus(Corpus("none", "x"))))
    assert not nothing.charts
    assert len(nothing.left_out) == 3


@pytest.mark.slow
def test_files_are_pictures_and_pages_that_need_no_network(
    stats: CorpusStats, tmp_path: Path
) -> None:
    written = save_figures(draw(stats).charts, tmp_path / "new" / "figures")
    assert [path.name for path in written] == [
        f"{name}.{ending}"
        for name in ("response_gaps", "runs", "activity")
        for ending in ("png", "svg", "html")
    ]
    assert sorted(path.name for path in written[0].parent.iterdir()) == sorted(
        path.name for path in written
    )
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n")
            assert int.from_bytes(content[16:20]) > 1000  # wide enough to print
            continue
        text = content.decode()
        assert ("<svg" if path.suffix == ".svg" else "vegaEmbed") in text
        assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", text)
        assert not re.search(r"cdn|jsdelivr|unpkg|@import|googleapis", text, re.IGNORECASE)
        if path.suffix == ".html":
            assert "n = " in text


def test_a_folder_that_cannot_be_made_is_one_line(stats: CorpusStats, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    charts = {"activity": draw(stats).charts["activity"]}
    with refused(r"activity\.png: cannot be written"):
        save_figures(charts, tmp_path / "file" / "figures")


@cases("""
    minutes | said
    0       | 0 s
    0.75    | 45 s
    2.2167  | 2.2 min
    1674.2  | 27.9 h
    4464    | 3.1 d
""")
def test_durations_read_well(minutes: float, said: str) -> None:
    assert duration(minutes) == said
