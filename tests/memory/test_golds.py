"""Golds: published, audited and a board's, of one and the same run; what failed by them and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from audited_chats import asked, audit, corpus, probed, write_audit
from realtalk.evals.run import Run
from realtalk.formats.audit import Audit
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import rescore_run, run_probe
from realtalk.memory.golds import Golds, golds_named, names_in
from realtalk.memory.plain import Oracle
from realtalk.memory.remembering import NoReader
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, RANK_SCORES, by_audit
from realtalk.memory.values import Budget
from realtalk.pages.runs import failures_page
from refusals import refused
from text_tables import cases


def test_audited_golds_stand_beside_the_published_ones_of_one_run(tmp_path: Path) -> None:
    published = probed(Golds("published", audit()), tmp_path / "beside")
    assert "golds" not in published.settings
    alone = probed(Golds("audited", audit()))
    assert alone.settings["golds"] == "audited"
    scored = (*ANSWER_SCORES, *RANK_SCORES, *BUDGET_SCORES)
    for one, other in zip(published.scored_rows, alone.rows, strict=True):
        assert {name: one[f"{name}, audited"] for name in scored} == {
            name: other[name] for name in scored
        }
    figures = published.variants["ranking"].overall
    assert figures["any@5"].value == 0.5  # Q2 is sixth, Q4 is not there
    assert figures["any@5, audited"].value == 1.0 and figures["any@5, audited"].n == 4
    assert alone.to_json()["unscored_questions"][0]["sample"] == "Q4"
    again = Run.load(tmp_path / "beside")
    assert list(again.scored_rows) == list(published.scored_rows)
    assert not any("audited" in score.name for score in alone.scores)
    shared = published.share(tmp_path / "shared").variants["ranking"].overall  # without answers
    assert shared["any@5, audited"] == figures["any@5, audited"]


def test_what_has_no_answer_is_unscored_with_its_reason() -> None:
    row = probed(Golds("audited", audit())).rows[3]
    assert row["left_out"] == ["the audit calls it unanswerable"]
    assert all(row[name] is None for name in (*ANSWER_SCORES, *RANK_SCORES, *BUDGET_SCORES))
    assert row["unscored"] is None  # it was answered: nobody is asked again


def test_a_gold_that_is_right_stays_the_gold() -> None:
    golds = Golds("audited", audit()).of(asked())
    assert golds["Q1"].answer == "09.05.2026" and "9 May 2026" in golds["Q1"].accept
    assert golds["Q2"].answer == "Pepper" and golds["Q2"].accept == ("Pepper the kitten",)
    assert golds["Q1"].evidence == ("D2:1", "D2:3")


def test_a_board_asks_what_names_a_message_by_its_id() -> None:
    run = probed(Golds("lmeb"), reader=False)
    assert [row["sample"] for row in run.rows] == ["Q1", "Q2", "Q3", "Q4"]  # "d 1;3" is no id
    assert run.rows[2]["evidence"] == ["D3:1"] and run.rows[2]["unresolved"] == 0
    figures = run.variants["ranking"]
    board = figures.slices["mean of categories"]["ndcg@10"].value
    each = [part["ndcg@10"].value for name, part in figures.slices.items() if " " not in name]
    assert board == pytest.approx(sum(value or 0.0 for value in each) / len(each))
    assert board != pytest.approx(figures.overall["ndcg@10"].value)


def test_python_takes_golds_by_name_and_by_file(tmp_path: Path) -> None:
    path = write_audit(tmp_path / "mine.jsonl")
    run = rt.probe(corpus(), memory="recent", reader="none", budget="all", golds=path)
    assert run.settings["golds"].startswith("audited ")
    assert run.rows[1]["gold"] == "Pepper" and run.rows[1]["verdict"] == "wrong"
    with refused("no chat here was audited"):
        rt.probe("sample", memory="recent", golds="audited")
    with refused("unknown-set"):
        golds_named("auditet")


def test_runs_are_compared_by_both_golds() -> None:
    one = probed(Golds("published", audit()))
    with refused("scored by different golds"):
        one.compare(probed(Golds("audited", audit())))
    (found,) = one.changes(one).values()
    assert found.changes["any@5, audited"].first == 1.0 and found.changes["any@5"].first == 0.5
    (plain,) = one.changes(probed(Golds())).values()
    assert "any@5, audited" not in plain.changes  # and the published figures are the same
    assert all(change.first == change.second for change in plain.changes.values())
    figures = one.summary().frame
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
    assert "1 of 5 rows changed" in run(f"runs rescore run --audit {path}").done.err
    beside = by_audit(Run.load(tmp_path / "run").rows[1])
    assert (beside["gold"], beside["evidence"]) == ("Salt", ["D2:2"])
    assert "not of this run's chats" in run(f"runs rescore plain --audit {path}").wrong
    assert "scored by audited golds" in run(f"runs rescore alone --audit {path}").wrong


def test_an_alias_that_is_said_goes_with_the_row() -> None:
    assert names_in(asked(), "what broke at Nessa's?") == ("Nessa=Ines",)
    assert names_in(asked(), "what broke?") == ()
    assert probed(Golds()).rows[4]["names"] == ["Nessa=Ines"]


def test_the_oracle_shows_the_evidence_of_the_golds_in_use() -> None:
    for name, wanted in (("published", ["D2:2"]), ("audited", ["D2:3"])):
        plan = Plan(corpus(), Oracle(), NoReader(), (Budget(),), golds=Golds(name, audit()))
        run = run_probe(plan)
        assert run.rows[1]["message_ids"] == wanted
        scored = [row for row in run.rows if row["recall@budget"] is not None]
        assert scored and all(row["recall@budget"] == 1.0 for row in scored)
    with refused("was not told the evidence"):
        Oracle().build(asked())
    assert rt.probe(corpus(), memory="oracle", reader="none").rows[0]["message_ids"] == ["D2:3"]


ANOTHER_PROCESSOR = 0.006  # 8-bit products round otherwise: .003 to .005 were seen


@pytest.mark.slow
def test_figures_of_the_ten_chats(data: Path) -> None:
    """Those of the audit's own README, and of the board's questions."""
    chats = open_reading(data / "realtalk").reading.corpus

    def run(golds: str) -> Run:
        return rt.probe(chats, memory="retrieved", reader="none", budget="2000w", golds=golds)

    published = run("published").variants
    wanted = {"any@5": 0.867, "ndcg@10": 0.653, "recall@20": 0.820}
    wanted |= {"recall@budget": 0.924, "all@budget": 0.831}
    audited = {**published["ranking"].overall, **published["2000w"].overall}
    assert audited["any@5, audited"].n == 721
    found = {name: audited[f"{name}, audited"].value for name in wanted}
    assert found == pytest.approx(wanted, abs=ANOTHER_PROCESSOR)
    board = run("lmeb").variants["ranking"]
    assert board.overall["any@5"].n == 679
    found = {name: board.overall[name].value for name in ("ndcg@10", "any@5")}
    assert found == pytest.approx({"ndcg@10": 0.626, "any@5": 0.822}, abs=ANOTHER_PROCESSOR)
    mean = board.slices["mean of categories"]["ndcg@10"].value
    assert mean == pytest.approx(0.573, abs=ANOTHER_PROCESSOR)


# --- what failed and why ---


@cases("""
    row                                     | why
    {"unscored": "timeout"}                 | no answer
    {"verdict": "wrong"}                    | gold doubtful (wrong)
    {"verdict": "ok", "recall@budget": 0.0} | not retrieved
    {"recall@budget": 0.5}                  | partly retrieved
    {"recall@budget": 1.0}                  | retrieved and not read
    {}                                      | shows no message
""")
def test_the_first_reason_that_holds(row: dict[str, Any], why: str) -> None:
    run = probed(Golds())
    plain: dict[str, Any] = {"unscored": None, "verdict": None, "recall@budget": None}
    plain |= {"date_f1": 0.0, "accepted": 0.0}
    assert run.benchmark.reason(plain | row, run) == why
    if row.get("verdict") == "wrong":
        audited = probed(Golds("audited", audit()))
        assert audited.benchmark.reason(plain | row, audited) == "shows no message"


def test_a_question_is_found_by_its_name() -> None:
    run = probed(Golds())
    assert run.find("Q3") == [run.rows[2]]
    assert run.find("Chat_9_Ines_Tobias:Q3") == [run.rows[2]]
    with refused("no question 'Q9'"):
        run.find("Q9")
    twice = replace(run, rows=[*run.rows, run.rows[2] | {"group": "other"}])
    with refused("name it too: Chat_9_Ines_Tobias:Q3"):
        twice.find("Q3")


def test_the_page_shows_runs_side_by_side() -> None:
    runs = {"one": probed(Golds("published", audit())), "two": probed(Golds())}
    sections = failures_page(runs, most=10, corpus=corpus())
    (reasons,) = sections[0].tables
    assert reasons.headings == ("why", "one", "two")
    (table,) = next(each for each in sections if each.id == "multi_hop").tables
    line = dict(zip(table.headings, table.rows[0], strict=True))
    assert line["question"] == "Q2" and line["audit_answer"] == "Pepper"
    assert line["one: why"] == "gold doubtful (wrong)" and line["two: why"] == "not retrieved"
    assert line["what the corpus says"] is not None


def test_the_commands_show_a_question_and_write_the_page(run: Any, tmp_path: Path) -> None:
    words = "probe sample --memory recent --limit 6 --budget 300"
    assert run(f"{words} --out recent")[0] == 0
    assert run(f"{words} --out audited --golds audited")[0] == 2  # nothing of it is known
    failed = run("runs failures recent --json").told
    assert {"why", "sample", "group"} <= set(failed[0])
    name = f"{failed[0]['group']}:{failed[0]['sample']}"
    out = run(f"runs show recent --sample {name} --corpus sample").done.out
    assert f"why: {failed[0]['why']}" in out and "evidence D" in out
    assert run(f"runs show recent --sample {name} --json").told[0]["sample"] == failed[0]["sample"]
    page = "runs failures recent again=recent --page failed.html"
    assert run(f"{page} --corpus sample")[0] == 0
    html = (tmp_path / "failed.html").read_text("utf-8")
    assert "again: why" in html and "Reasons" in html and "<script src" not in html
    path = write_audit(tmp_path / "mine.jsonl")
    assert "no chat here was audited" in run(f"{words} --golds {path}").wrong
