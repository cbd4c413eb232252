"""Golds: published, audited and a board's, of one and the same run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from audited_chats import asked, audit, corpus, probed, write_audit
from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.formats.audit import Audit
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import ProbedRun, load_probe, run_probe
from realtalk.memory.golds import Gold, Golds, golds_named, names_in
from realtalk.memory.oracle import Oracle
from realtalk.memory.plain import Recent
from realtalk.memory.readers import NoReader
from realtalk.memory.rescoring import compared_audited, compared_runs, rescore_run
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, RANK_SCORES
from realtalk.memory.values import Budget


def test_audited_golds_stand_beside_the_published_ones_of_one_run(tmp_path: Path) -> None:
    published = probed(Golds("published", audit()), tmp_path / "beside")
    assert "golds" not in published.settings
    alone = probed(Golds("audited", audit()))
    assert alone.settings["golds"] == "audited"
    beside = published.audited
    assert beside is not None
    scored = (
        *ANSWER_SCORES,
        *RANK_SCORES,
        *BUDGET_SCORES,
        "gold",
        "accept",
        "evidence",
        "left_out",
    )
    for one, other in zip(beside.rows, alone.rows, strict=True):
        assert {name: one[name] for name in scored} == {name: other[name] for name in scored}
    figures = published.scores.retrieval
    assert figures is not None and figures.audited is not None
    assert figures.overall.means["any@5"] == 0.5  # Q2 is sixth, Q4 is not there
    assert figures.audited.overall.means["any@5"] == 1.0
    assert figures.audited.overall.n == 4 and alone.scores.unscored[0]["id"] == "Q4"
    again = load_probe(tmp_path / "beside")
    assert again.audited is not None and again.audited.rows == beside.rows
    assert alone.audited is None


def test_what_has_no_answer_is_unscored_with_its_reason() -> None:
    row = probed(Golds("audited", audit())).rows[3]
    assert row["left_out"] == ["the audit calls it unanswerable"]
    assert all(row[name] is None for name in (*ANSWER_SCORES, *RANK_SCORES, *BUDGET_SCORES))
    assert row["unscored"] is None  # it was answered: nobody is asked again


def test_a_gold_that_is_right_stays_the_gold() -> None:
    golds = golds_of("audited")
    assert golds["Q1"].answer == "09.05.2026" and "9 May 2026" in golds["Q1"].accept
    assert golds["Q2"].answer == "Pepper" and golds["Q2"].accept == ("Pepper the kitten",)
    assert golds["Q1"].evidence == ("D2:1", "D2:3")


def golds_of(name: str) -> dict[str, Gold]:
    return Golds(name, audit()).of(asked())


def test_a_board_asks_what_names_a_message_by_its_id() -> None:
    run = probed(Golds("lmeb"), reader=False)
    assert [row["sample"] for row in run.rows] == ["Q1", "Q2", "Q3", "Q4"]  # "d 1;3" is no id
    assert run.rows[2]["evidence"] == ["D3:1"] and run.rows[2]["unresolved"] == 0
    figures = run.scores.retrieval
    assert figures is not None and figures.board is not None
    each = [group.means["ndcg@10"] for group in figures.by_category.values()]
    assert figures.board.means["ndcg@10"] == pytest.approx(sum(each) / len(each))
    assert figures.board.means["ndcg@10"] != pytest.approx(figures.overall.means["ndcg@10"])
    titles = retrieval_rows(figures)[0]
    assert titles[:3] == ("evidence found", "all, n=4", "mean of categories, n=4")


def test_every_table_has_the_audited_figures_beside() -> None:
    scores = probed(Golds("published", audit())).scores
    assert scores.retrieval is not None
    assert retrieval_rows(scores.retrieval)[0][1:3] == ("all, n=4", "all, audited, n=4")
    headings, rows = answer_rows(scores)
    assert headings[2:4] == ("all", "all, audited")
    assert rows[0][2:4] == ("5 of 5", "4 of 5")
    headings, (line,) = sweep_rows({"fixed": scores})
    assert line[headings.index("recall")] != line[headings.index("recall, audited")]
    plain = probed(Golds()).scores
    assert "recall, audited" not in sweep_rows({"fixed": plain})[0]
    assert scores.to_json()["audited"]["any@5"] == 1.0
    assert "audited" not in plain.to_json()


def test_python_takes_golds_by_name_and_by_file(tmp_path: Path) -> None:
    path = write_audit(tmp_path / "mine.jsonl")
    run = rt.probe(corpus(), memory="recent", reader="none", budget="all", golds=path)
    assert run.settings["golds"].startswith("audited ")
    assert run.rows[1]["gold"] == "Pepper" and run.rows[1]["verdict"] == "wrong"
    with pytest.raises(RealtalkError, match="no chat here was audited"):
        rt.probe("sample", memory="recent", golds="audited")
    with pytest.raises(RealtalkError, match="did you mean 'audited'"):
        golds_named("auditet")


def test_published_figures_are_those_without_an_audit() -> None:
    one, other = probed(Golds()), probed(Golds("published", audit()))
    scored = (*ANSWER_SCORES, *RANK_SCORES, *BUDGET_SCORES, "gold", "evidence", "ranks")
    for first, second in zip(one.rows, other.rows, strict=True):
        assert {name: first[name] for name in scored} == {name: second[name] for name in scored}


def test_runs_by_other_golds_are_not_compared() -> None:
    one, other = (probed(Golds(name, audit())) for name in ("published", "audited"))
    with pytest.raises(RealtalkError, match="scored by different golds"):
        compared_runs(one, other)


def test_runs_are_compared_by_both_golds() -> None:
    one, other = (probed(Golds("published", audit()), reader=reader) for reader in (True, True))
    beside = compared_audited(one, other)
    assert beside is not None and beside[0].changes["any@5"].first == 1.0
    assert compared_runs(one, other)[0].changes["any@5"].first == 0.5
    assert compared_audited(one, probed(Golds())) is None
    table = Run("memory probing", one).compare(Run("memory probing", other)).frame
    assert "any@5, audited" in table["score"].to_list()
    figures = Run("memory probing", one).summary().frame
    assert {"any@5", "any@5, audited", "recall@budget, audited"} <= set(figures["score"].to_list())


def test_a_run_that_is_scored_again_keeps_what_the_audit_set_aside(tmp_path: Path) -> None:
    before = probed(Golds("audited", audit()), tmp_path).rows
    after, changed = rescore_run(tmp_path)
    assert changed.changed_rows == 0 and after.rows == before


def test_a_corrected_audit_takes_the_place_of_the_one_before(run: Any, tmp_path: Path) -> None:
    probed(Golds("published", audit()), tmp_path / "run")
    probed(Golds(), tmp_path / "plain")
    probed(Golds("audited", audit()), tmp_path / "alone")
    ((chat, questions),) = audit().chats.items()
    corrected = {
        key: replace(each, verdict="ok", evidence=("D2:2",)) if each.verdict == "wrong" else each
        for key, each in questions.items()
    }
    path = write_audit(tmp_path / "mine.jsonl", Audit("mine", {chat: corrected}))
    status, _, err = run("runs", "rescore", "run", "--audit", str(path))
    assert status == 0 and "1 of 5 rows changed" in err
    beside = load_probe(tmp_path / "run").audited
    assert beside is not None and beside.rows[1]["gold"] == "Salt"
    assert beside.rows[1]["evidence"] == ["D2:2"]
    status, _, err = run("runs", "rescore", "plain", "--audit", str(path))
    assert status == 2 and "not of this run's chats" in err
    status, _, err = run("runs", "rescore", "alone", "--audit", str(path))
    assert status == 2 and "scored by audited golds" in err


def test_an_alias_that_is_said_goes_with_the_row() -> None:
    assert names_in(asked(), "what broke at Nessa's?") == ("Nessa=Ines",)
    assert names_in(asked(), "what broke?") == ()
    assert probed(Golds()).rows[4]["names"] == ["Nessa=Ines"]


def test_a_memory_without_a_ranking_has_none_by_the_audit_either() -> None:
    plan = Plan(corpus(), Recent(), NoReader(), (Budget(),), golds=Golds("published", audit()))
    beside = run_probe(plan).audited
    assert beside is not None and beside.rows[0]["recall@budget"] == 1.0


def test_the_oracle_shows_the_evidence_of_the_golds_in_use() -> None:
    for name, wanted in (("published", ["D2:2"]), ("audited", ["D2:3"])):
        plan = Plan(corpus(), Oracle(), NoReader(), (Budget(),), golds=Golds(name, audit()))
        run = run_probe(plan)
        assert run.rows[1]["message_ids"] == wanted
        scored = [row for row in run.rows if row["recall@budget"] is not None]
        assert scored and all(row["recall@budget"] == 1.0 for row in scored)
    with pytest.raises(RealtalkError, match="was not told the evidence"):
        Oracle().build(asked())
    assert rt.probe(corpus(), memory="oracle", reader="none").rows[0]["message_ids"] == ["D2:3"]


ANOTHER_PROCESSOR = 0.006  # 8-bit products round otherwise: .003 to .005 were seen


@pytest.mark.slow
def test_figures_of_the_ten_chats(data: Path) -> None:
    """Those of the audit's own README, and of the board's questions."""
    chats = open_reading(data / "realtalk").reading.corpus
    run: Callable[[str], ProbedRun] = lambda golds: (  # noqa: E731
        rt.probe(chats, memory="retrieved", reader="none", budget="2000w", golds=golds).record
    )
    figures = run("published").scores.retrieval
    assert figures is not None and figures.audited is not None
    audited = figures.audited.overall
    wanted = {"any@5": 0.870, "ndcg@10": 0.655, "recall@20": 0.826}
    wanted |= {"recall@2000w": 0.933, "all@2000w": 0.842}
    assert audited.n == 721
    found = {name: audited.means[name] for name in wanted}
    assert found == pytest.approx(wanted, abs=ANOTHER_PROCESSOR)
    board = run("lmeb").scores.retrieval
    assert board is not None and board.board is not None
    assert board.overall.n == 679
    found = {name: board.overall.means[name] for name in ("ndcg@10", "any@5")}
    assert found == pytest.approx({"ndcg@10": 0.623, "any@5": 0.819}, abs=ANOTHER_PROCESSOR)
    assert board.board.means["ndcg@10"] == pytest.approx(0.577, abs=ANOTHER_PROCESSOR)


def test_the_board_asks_by_ids_as_they_are_written() -> None:
    """What a reader mended ("d 1;3") counts as published evidence, not on the board."""
    ids, stated = ("D1:3", "D1:4"), ("D1:3", "d 1;4")
    written = rt.Question("Q8", "What broke?", "oven", "multi_hop", ids, (), stated)
    mended = replace(written, id="Q9", stated=("d 1;3",), evidence=("D1:3",))
    chat = replace(asked(), questions=(written, mended))
    golds = Golds("lmeb").of(chat)
    assert {id_: gold.evidence for id_, gold in golds.items()} == {"Q8": ("D1:3",)}
    assert Golds().of(chat)["Q9"].evidence == ("D1:3",)
