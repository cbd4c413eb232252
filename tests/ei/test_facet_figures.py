"""Figures of speakers: charts that say what the numbers say, and files that can be opened."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from facet_labels import START, lively, table
from realtalk.ei.comparison import compare
from realtalk.ei.figures import HEADLINE, draw_comparison, draw_consistency, draw_timelines
from realtalk.ei.speakers import consistency, speakers
from realtalk.ei.values import FACETS

ROWS = lively("a", ("Mara", "Theo"), 1) + lively("b", ("Mara", "Ines"), 2)
KIND = lively("k", ("Ada", "Bo"), 3, wide=False) + lively("l", ("Cy", "Di"), 4, wide=False)


def values(chart: Any) -> list[dict[str, Any]]:
    """Every row of data of a chart: Altair keeps them aside by name."""
    spec = chart.to_dict()
    inline = [layer.get("data", {}).get("values", []) for layer in spec.get("layer", [])]
    return [row for rows in (*spec["datasets"].values(), *inline) for row in rows]


def test_every_speaker_is_a_dot() -> None:
    human, simulated = speakers(table(ROWS)), speakers(table(KIND))
    drawn = draw_comparison(compare(human, simulated, ("us", "them")), human, simulated)
    assert list(drawn.charts) == ["comparison", "comparison_all"]
    for name, facets in (("comparison", HEADLINE), ("comparison_all", tuple(FACETS))):
        spec = drawn.charts[name].to_dict()
        panels = spec["concat"]
        assert len(panels) == len(facets)
        for facet, panel in zip(facets, panels, strict=True):
            dots = spec["datasets"][panel["data"]["name"]]
            assert {(dot["corpus"], dot["speaker"], dot["chat"]) for dot in dots} == {
                (corpus, who.speaker, who.chat)
                for corpus, side in (("us", human), ("them", simulated))
                for who in side
            }
            known = human[0][facet].value
            assert known is not None
            assert dots[0]["value"] == pytest.approx(known * FACETS[facet].scale)
    assert spec["title"]["subtitle"][0].startswith("us: n = 4 speakers; them: n = 4")


def test_nothing_to_compare_is_said() -> None:
    silent = speakers(table([{}]))
    drawn = draw_comparison(compare(silent, silent), silent, silent)
    assert not drawn.charts
    assert drawn.left_out == dict.fromkeys(("comparison", "comparison_all"), "no facet is scored")


def test_one_name_twice_still_gives_two_rows() -> None:
    reflective = [{name: row[name] for name in ("chat", "speaker", "reflective")} for row in ROWS]
    both = speakers(table(reflective))  # a panel for each facet takes its time
    drawn = draw_comparison(compare(both, both, ("x", "x")), both, both)
    assert {row["corpus"] for row in values(drawn.charts["comparison_all"])} == {"x (1)", "x (2)"}


def test_consistency_is_a_cell_a_facet() -> None:
    found = consistency(table(ROWS))
    drawn = draw_consistency(found)
    cells = values(drawn.charts["consistency"])
    assert len(cells) == len(FACETS) + 1
    assert cells[-1]["label"] == f"{found[0].overall.value:.2f}"
    bold = {cell["facet"] for cell in cells if cell["clear"]}
    assert bold == {
        facet.title.replace(" progression,", ",")
        for facet, each in found[0].items()
        if each.low is not None and each.low > 0
    }
    assert draw_consistency(()).left_out == {"consistency": "no speaker appears in two chats"}


def test_timelines_hold_every_turn() -> None:
    labels = table(ROWS)
    drawn = draw_timelines(labels)
    assert list(drawn.charts) == ["emotions_a", "intimacy_a", "emotions_b", "intimacy_b"]
    bars = values(drawn.charts["emotions_a"])
    assert sum(bar["turns"] for bar in bars) == 160
    for speaker in ("Mara", "Theo"):
        for session in map(str, range(1, 9)):
            shares = [
                bar["share"]
                for bar in bars
                if bar["speaker"] == speaker and bar["period"] == session
            ]
            assert sum(shares) == pytest.approx(1)
    points = values(drawn.charts["intimacy_a"])
    assert sum(point.get("n", 0) for point in points) == 160
    fitted = [point for point in points if "fit" in point and point["speaker"] == "Mara"]
    slope = speakers(labels)[0]["intimacy_linear"].value
    assert slope == pytest.approx((fitted[-1]["fit"] - fitted[0]["fit"]) / 7)


@pytest.mark.parametrize(("timed", "unit"), [(True, "by week"), (False, "by 2 sessions")])
def test_many_sessions_share_a_bar(timed: bool, unit: str) -> None:
    rows = [
        {
            "session": number,
            "emotion": "joy",
            "intimacy": 0.5,
            "time": START + timedelta(days=number) if timed else None,
        }
        for number in range(1, 101)
    ]
    chart = draw_timelines(table(rows)).charts["emotions_c"]
    bars = values(chart)
    assert sum(bar["turns"] for bar in bars) == 100
    assert len(bars) == (15 if timed else 50)
    assert chart.to_dict()["title"]["subtitle"][0].endswith(unit)


def test_what_has_no_labels_is_left_out_with_the_reason() -> None:
    drawn = draw_timelines(table([{"chat": "a/b"}, {"chat": "a:b", "emotion": "joy"}]))
    assert list(drawn.charts) == ["emotions_a_b_2"]
    assert drawn.left_out == {
        "emotions_a_b": "no turn has a scored emotion",
        "intimacy_a_b": "fewer than two sessions have a scored intimacy",
        "intimacy_a_b_2": "fewer than two sessions have a scored intimacy",
    }


def test_a_crowd_shows_its_most_active() -> None:
    rows = [
        {"speaker": f"s{number}", "emotion": "joy", "session": session, "intimacy": 0.3}
        for number in range(9)
        for session in (1, 2)
        for _ in range(number + 1)
    ]
    rows.sort(key=lambda row: int(str(row["session"])))
    charts = draw_timelines(table(rows)).charts
    for chart in (charts["emotions_c"], charts["intimacy_c"]):
        assert {bar["speaker"] for bar in values(chart)} == {f"s{number}" for number in range(3, 9)}
        assert (
            "3 speakers with fewer or as many turns not shown"
            in chart.to_dict()["title"]["subtitle"]
        )


def test_a_name_from_right_to_left_does_not_turn_its_figures_around() -> None:
    names = ("נועה", "Mara")
    charts = draw_timelines(table(lively("c", names, 5))).charts
    for chart in charts.values():
        told = "\n".join(chart.to_dict()["title"]["subtitle"])
        # A mark on each side keeps the line, and what follows the name, from left to right.
        assert f"\u200e{names[0]}\u200e: " in told
        assert "\u200eMara" not in told
    # The data keep the name as it is.
    assert {row["speaker"] for row in values(charts["emotions_c"])} == set(names)


def felt(session: int, at: datetime | None, speaker: str = "Mara") -> dict[str, Any]:
    row = {"session": session, "emotion": "joy", "intimacy": 0.5, "time": at}
    return {**row, "speaker": speaker}


def periods(chart: Any) -> list[str]:
    domain: list[str] = chart.to_dict()["spec"]["encoding"]["x"]["scale"]["domain"]
    return domain


def test_a_session_that_is_skipped_keeps_its_place_and_no_line_leads_over_it() -> None:
    rows = [felt(session, None) for session in (1, 2, 5, 6)]
    drawn = draw_timelines(table([*rows, felt(2, None, "Theo"), felt(6, None, "Theo")]))
    assert periods(drawn.charts["emotions_c"]) == list("123456")
    points = [each for each in values(drawn.charts["intimacy_c"]) if "n" in each]
    runs: dict[tuple[str, int], list[int]] = {}
    for point in points:
        runs.setdefault((point["speaker"], point["run"]), []).append(point["session"])
    assert sorted(runs.values()) == [[1, 2], [2], [5, 6], [6]]
    lines = drawn.charts["intimacy_c"].to_dict()["layer"][0]
    assert lines["mark"]["type"] == "line" and lines["encoding"]["detail"]["field"] == "run"
