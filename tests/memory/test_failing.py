"""What failed and why, one question, and the page that sets runs side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from audited_chats import audit, corpus, probed, write_audit
from realtalk.memory.golds import Golds
from realtalk.pages.runs import failures_page
from refusals import refused
from text_tables import cases


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
