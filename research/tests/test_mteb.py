"""A board's result file: its subsets, its measures, and what cannot be one."""

from __future__ import annotations

from dataclasses import replace

from audited_chats import probed
from realtalk.memory.golds import Golds
from realtalk.memory.rows import RANK_SCORES
from refusals import refused
from research.results.mteb import board_result


def test_a_result_has_the_boards_subsets_and_our_own_figures() -> None:
    run = probed(Golds("lmeb"), reader=False)
    result = board_result(run)
    subsets = {each["hf_subset"]: each for each in result["scores"]["test"]}
    assert list(subsets) == ["commonsense", "multi_hop", "temporal_reasoning"]
    for name, title in (("multi_hop", "multi_hop"), ("temporal", "temporal_reasoning")):
        slices = run.variants["ranking"].slices[name]
        ours = {score: each.value or 0.0 for score, each in slices.items()}
        theirs = subsets[title]
        assert theirs["main_score"] == theirs["ndcg_at_10"] == round(ours["ndcg@10"], 5)
        assert theirs["recall_at_5"] == round(ours["recall@5"], 5)
        assert theirs["hit_rate_at_5"] == round(ours["any@5"], 5)
    # Q2 is sixth, Q3 second: a mean of 1/6 and 1/2.
    assert subsets["multi_hop"]["mrr_at_10"] == round((1 / 6 + 1 / 2) / 2, 5)
    assert subsets["multi_hop"]["map_at_10"] == round((1 / 6 + 1 / 2) / 2, 5)
    assert subsets["multi_hop"]["precision_at_10"] == 0.1
    assert result["evaluation_time"] >= 0
    assert result["task_name"] == "REALTALK" and result["realtalk"]["all_questions"]
    assert "ndcg@10" in RANK_SCORES


def test_other_golds_make_no_result() -> None:
    with refused("scored by published golds"):
        board_result(probed(Golds()))


def test_more_golds_than_places_can_still_be_found_perfectly() -> None:
    run = probed(Golds("lmeb"), reader=False)
    wanted = [f"D1:{number}" for number in range(1, 13)]
    rows = [row | {"evidence": wanted, "ranked": wanted} for row in run.rows]
    (first, *_) = board_result(replace(run, rows=rows))["scores"]["test"]
    assert first["ndcg_at_10"] == first["precision_at_10"] == 1.0
    assert first["recall_at_10"] == round(10 / 12, 5)
