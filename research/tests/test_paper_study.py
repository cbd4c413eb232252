"""The whole run: exit status, files, resuming, the committed page, and the real data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paper_chats import write_data
from refusals import refused
from research.papers.rule import RULE, WORDS
from research.papers.study import REALTALK, StudyPlan, reproduce
from research.results import PAGES
from research.results.reproduced_results import STORED, page, terminal

COMMITTED = json.loads(STORED.read_text("utf-8"))


def test_a_word_that_changes_is_exit_1(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    status, out, err = research(
        *("papers.reproduce", "--data", str(data), "--out", "out", "--only", "corpus")
    )
    assert status == 1
    assert "CHANGED: Table 1, REALTALK: agrees before, differs now" in err
    assert "CHANGED: Table 6, events: agrees before" in err
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads((tmp_path / "out" / "reproduced.json").read_text("utf-8"))
    assert told["papers"][REALTALK][0]["dummy_word"] == "differs"
    assert "| Table 1, REALTALK |" in (tmp_path / "out" / "reproduced.md").read_text("utf-8")


def test_the_committed_page_is_made_from_the_committed_rows() -> None:
    text = (PAGES / "reproduced.md").read_text("utf-8")
    assert text == page(COMMITTED)
    assert (PAGES / "reproduced.svg").is_file()
    assert all(line in text for line in RULE)
    # Findings and picture come before the rule, the protocol last.
    places = [text.index(part) for part in ("![", "## The rule", "## REALTALK", "## Protocol")]
    assert places == sorted(places)
    for rows in COMMITTED["papers"].values():
        assert all(row["word"] in WORDS for row in rows)
        assert all(row["reason"] for row in rows if row["word"] == "cannot be compared")
        lines = terminal(rows).splitlines()
        assert max(map(len, lines)) <= 80


def test_no_committed_row_agrees_where_the_dummy_does() -> None:
    for rows in COMMITTED["papers"].values():
        for row in rows:
            assert not (
                row["word"].startswith("agrees") and str(row["dummy_word"]).startswith("agrees")
            )


def test_some_of_the_chats_break_nothing(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", chats=3)
    words = ("papers.reproduce", "--data", str(data), "--out", "out", "--json", "--only", "corpus")
    status, out, _ = research(*words)
    assert status == 0
    (row,) = json.loads(out)["papers"][REALTALK]
    assert row["reason"] == "3 of the paper's 10 chats are here"


@pytest.mark.slow
def test_kept_stages_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_data(tmp_path / "data", chats=2)
    plan = StudyPlan(data=data, only=("speakers",))
    first = reproduce(plan, tmp_path / "out")

    def refuse(*_: Any) -> None:
        raise AssertionError("labelled again")

    monkeypatch.setattr("realtalk.ei.embedded.EmbeddedLabeller.label", refuse)
    assert reproduce(plan, tmp_path / "out").to_json() == first.to_json()
    with pytest.raises(AssertionError, match="labelled again"):
        reproduce(plan, tmp_path / "out", fresh=True)


def test_other_data_are_refused(tmp_path: Path) -> None:
    plan = StudyPlan(data=write_data(tmp_path / "data", chats=1), only=("corpus",))
    reproduce(plan, tmp_path / "out")
    write_data(tmp_path / "data", chats=2)
    with refused(r"other settings .*fresh"):
        reproduce(plan, tmp_path / "out")


def test_what_is_wrong_is_said(tmp_path: Path, research: Any) -> None:
    with refused("realtalk data get realtalk"):
        reproduce(StudyPlan(data=tmp_path), tmp_path / "out")
    with refused("did you mean 'speakers'"):
        StudyPlan(only=("speaker",))
    folder = write_data(tmp_path / "data", chats=1) / "realtalk"
    (folder / "Chat_1_Emi_Elise.json").rename(folder / "Chat_1_Mara_Theo.json")
    status, _, err = research("papers.reproduce", "--data", str(folder.parent))
    assert status == 2
    assert "not the chats of the paper" in err
    words = ("papers.reproduce", "--data", str(folder.parent), "--persona", "both=x")
    assert "is no side" in research(*words)[2]


@pytest.mark.slow
def test_the_words_are_the_committed_ones(data: Path, research: Any) -> None:
    """Every row, from the published chats: labels by the shipped encoder and the stored runs."""
    status, _, err = research("papers.reproduce", "--data", str(data), "--out", "out")
    assert status == 0, err
