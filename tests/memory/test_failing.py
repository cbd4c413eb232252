"""What failed and why, one question, and the page that sets runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from realtalk.memory.failing import find_question, why_failed
from realtalk.report.failures import failures_page

from audited_chats import audit, corpus, probed, write_audit
from realtalk.errors import RealtalkError
from realtalk.memory.golds import Golds


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"unscored": "timeout"}, "no answer"),
        ({"verdict": "wrong"}, "gold doubtful (wrong)"),
        ({"verdict": "ok", "recall@budget": 0.0}, "not retrieved"),
        ({"recall@budget": 0.5}, "partly retrieved"),
        ({"recall@budget": 1.0}, "retrieved and not read"),
        ({}, "shows no message"),
    ],
)
def test_the_first_reason_that_holds(row: dict[str, Any], why: str) -> None:
    plain = {"unscored": None, "verdict": None, "recall@budget": None}
    assert why_failed(plain | row) == why
    if row.get("verdict") == "wrong":
        assert why_failed(plain | row, published=False) == "shows no message"


def test_failures_of_runs_say_why() -> None:
    run = probed(Golds("published", audit()))
    assert {row["sample"]: row["why"] for row in run.failed}["Q2"] == "gold doubtful (wrong)"
    alone = probed(Golds("audited", audit()))
    assert "gold doubtful" not in " ".join(row["why"] for row in alone.failed)


def test_a_question_is_found_by_its_name() -> None:
    rows = probed(Golds()).rows
    assert find_question(rows, "Q3", "x") == [rows[2]]
    assert find_question(rows, "Chat_9_Ines_Tobias:Q3", "x") == [rows[2]]
    with pytest.raises(RealtalkError, match="no question 'Q9'"):
        find_question(rows, "Q9", "x")
    with pytest.raises(RealtalkError, match="name the chat too: Chat_9_Ines_Tobias:Q3"):
        find_question([*rows, rows[2] | {"group": "other"}], "Q3", "x")


def test_the_page_shows_runs_side_by_side() -> None:
    runs = {"one": probed(Golds("published", audit())), "two": probed(Golds())}
    sections = failures_page(runs, most=10, corpus=corpus())
    (reasons,) = sections[0].tables
    assert reasons.headings == ("why", "one", "two")
    (table,) = next(each for each in sections if each.id == "multi_hop").tables
    line = dict(zip(table.headings, table.rows[0], strict=True))
    assert line["question id"] == "Q2" and line["the audit"] == "wrong: Pepper (Not Salt.)"
    assert line["one: why"] == "gold doubtful (wrong)" and line["two: why"] == "not retrieved"
    assert line["what the evidence says"] is not None


def test_the_commands_show_a_question_and_write_the_page(run: Any, tmp_path: Path) -> None:
    words = ("probe", "sample", "--memory", "recent", "--limit", "6", "--budget", "300")
    assert run(*words, "--out", "recent")[0] == 0
    assert run(*words, "--out", "audited", "--golds", "audited")[0] == 2  # nothing of it is known
    status, out, _ = run("runs", "failures", "recent", "--json")
    failed = json.loads(out)
    assert status == 0 and {"why", "sample", "group"} <= set(failed[0])
    name = f"{failed[0]['group']}:{failed[0]['sample']}"
    status, out, _ = run("runs", "show", "recent", name, "--chats", "sample")
    assert status == 0 and f"why it failed: {failed[0]['why']}" in out and "evidence D" in out
    status, out, _ = run("runs", "show", "recent", name, "--json")
    assert json.loads(out)[0]["sample"] == failed[0]["sample"]
    page = ("runs", "failures", "recent", "again=recent", "--page", "failed.html")
    assert run(*page, "--chats", "sample")[0] == 0
    html = (tmp_path / "failed.html").read_text("utf-8")
    assert "again: why" in html and "Reasons" in html and "<script src" not in html
    assert run("runs", "failures", "recent", "recent")[0] == 2
    assert run("probe", "mteb", "recent", "--out", "x.json")[0] == 2
    line = "error: the result file has no name; name it with --out: --out REALTALK.json\n"
    assert run("probe", "mteb", "recent") == (2, "", line)
    path = write_audit(tmp_path / "mine.jsonl")
    status, _, err = run(*words, "--golds", str(path))
    assert status == 2 and "no chat here was audited" in err
