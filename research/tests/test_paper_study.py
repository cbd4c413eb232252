"""The whole run: exit status, files, resuming, and the real data where they are at hand."""

from __future__ import annotations

import csv
import gc
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer
from paper_chats import write_data
from realtalk.errors import RealtalkError
from research.papers.recorded import KNOWN_FAILURES
from research.papers.showing import write, write_pictures
from research.papers.study import EXHIBITS, Reproduction, StudyPlan, reproduce


class Text(HTMLParser):
    """What a page says, and what it asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.asked: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [value or "" for name, value in attrs if name in ("src", "href")]


def test_a_broken_parity_is_exit_1(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    status, out, err = research(
        *("papers.reproduce", "--data", str(data), "--out", "out"),
        *("--only", "table-1,section-5.1,table-5,table-6"),
    )
    assert status == 1
    assert "BROKEN: Table 1, REALTALK has to be exact, is 0 of 3 as printed" in err
    assert "BROKEN: §5.1" in err
    assert "verdicts" in out
    with (tmp_path / "out" / "tables" / "table-5.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 40
    assert rows[1]["column"] == "words"
    assert rows[1]["state"] == "differs"
    told = json.loads((tmp_path / "out" / "reproduced.json").read_text("utf-8"))
    assert told["broken"] == ["Table 1, REALTALK", "§5.1", "Table 6"]
    # The one figure of Table 6 that the published files have otherwise fails, and is no news.
    known = next(each for each in told["parities"] if each["parity"].startswith("Table 6, "))
    assert (known["held"], known["recorded"]) == (False, False)
    assert "prints 12" in known["because"]
    assert "Table 6, commonsense" not in err


def test_the_committed_page_has_the_recorded_verdicts() -> None:
    page = Path(__file__).parents[2] / "docs" / "results" / "reproduced.md"
    rows = [line.split(" | ") for line in page.read_text("utf-8").splitlines()]
    parities = {row[0].removeprefix("| "): row for row in rows if len(row) == 5}
    fails = {name: row[4].removesuffix(" |") for name, row in parities.items() if row[3] == "fails"}
    assert fails == dict(KNOWN_FAILURES)
    held = sum(row[3] == "holds" for row in parities.values())
    assert f"{held} of {held + len(fails)} parities hold, {len(fails)} fail as recorded." in (
        page.read_text("utf-8")
    )


@pytest.mark.slow
def test_some_of_the_chats_break_nothing(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", chats=3)
    status, out, _ = research(
        *("papers.reproduce", "--data", str(data), "--out", "out", "--json"),
        *("--only", "table-1,section-5.1,table-6,table-7,table-3,table-8"),
    )
    assert status == 0
    told = {each["id"]: each for each in json.loads(out)["exhibits"]}
    assert told["section-5.1"]["verdict"] == "not comparable"
    assert told["section-5.1"]["because"] == "because 3 of the paper's 10 chats are here"
    assert "no model was named" in told["table-3"]["because"]
    page = Text()
    page.feed((tmp_path / "out" / "reproduced.html").read_text("utf-8"))
    assert "Table 6: questions and events" in page.said
    assert not [link for link in page.asked if not link.startswith("#")]
    text = (tmp_path / "out" / "reproduced.md").read_text("utf-8")
    assert "| Table 6: questions and events | differs |" in text


# Of the libraries below Inspect, as in the tests of `probe`: neither is ours to mend.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
def test_a_model_of_the_paper_is_compared(
    research: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both inputs are asked, a judge gives accuracy, and a second call asks nothing."""
    pytest.importorskip("inspect_ai", reason="the extra 'llm' is not installed")
    data = write_data(tmp_path / "data", chats=1)

    def answers(call: Call) -> str:
        return "CORRECT" if "<program_answer>" in call.prompt else "pears"

    with JudgeServer(answers) as server:
        monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
        for name, value in (("BASE_URL", server.url), ("API_KEY", "none")):
            monkeypatch.setenv(f"LOCAL_{name}", value)
        words = (
            *(
                "papers.reproduce",
                "--data",
                str(data),
                "--out",
                "out",
                "--only",
                "table-3",
                "--json",
            ),
            *("--model", "openai-api/local/gpt-4o-mini", "--judge", "openai-api/local/other"),
        )
        status, out, err = research(*words)
        assert status == 0, err
        calls = len(server.calls)
        # The question of both inputs; the equal answers are judged once, leniently and strictly.
        assert calls == 2 + 2
        assert research(*words)[1].split('"seconds"')[0] == out.split('"seconds"')[0]
        assert len(server.calls) == calls
    table = json.loads(out)["exhibits"][0]
    assert table["verdict"] == "differs"
    found = {(each["row"], each["column"]): each["measured"] for each in table["figures"]}
    assert found["gpt-4o-mini, events", "F1 multi_hop"] == 1.0
    assert found["gpt-4o-mini, conversation", "judged multi_hop"] == 1.0
    assert found["gpt-4o-mini, conversation", "judged temporal"] is None
    gc.collect()  # here, where the warnings about the engine's streams are silenced


@pytest.mark.slow
def test_kept_stages_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_data(tmp_path / "data", chats=2)
    plan = StudyPlan(data=data, only=("table-3", "table-7", "table-8"))
    first = reproduce(plan, tmp_path / "out")

    def refuse(*_: Any) -> None:
        raise AssertionError("labelled again")

    monkeypatch.setattr("realtalk.ei.embedded.EmbeddedLabeller.label", refuse)
    again = reproduce(plan, tmp_path / "out")
    assert [each.to_json() for each in again.exhibits] == [
        each.to_json() for each in first.exhibits
    ]
    with pytest.raises(AssertionError, match="labelled again"):
        reproduce(plan, tmp_path / "out", fresh=True)


@pytest.mark.slow
def test_other_data_are_refused(tmp_path: Path) -> None:
    plan = StudyPlan(data=write_data(tmp_path / "data", chats=1), only=("table-5",))
    reproduce(plan, tmp_path / "out")
    write_data(tmp_path / "data", chats=2)
    with pytest.raises(RealtalkError, match=r"other settings .*fresh"):
        reproduce(plan, tmp_path / "out")


def test_what_is_wrong_is_said(tmp_path: Path, research: Any) -> None:
    with pytest.raises(RealtalkError, match="realtalk data get realtalk"):
        reproduce(StudyPlan(data=tmp_path), tmp_path / "out")
    with pytest.raises(RealtalkError, match="did you mean 'table-7'"):
        StudyPlan(only=("table7",))
    folder = write_data(tmp_path / "data", chats=1) / "realtalk"
    (folder / "Chat_1_Emi_Elise.json").rename(folder / "Chat_1_Mara_Theo.json")
    status, _, err = research("papers.reproduce", "--data", str(folder.parent))
    assert status == 2
    assert "not the chats of the paper" in err


@pytest.mark.slow
def test_counts_as_published(data: Path, tmp_path: Path) -> None:
    only = ("table-1", "section-5.1", "table-5", "table-6")
    found = reproduce(StudyPlan(data=data, only=only), tmp_path)
    assert found.broken == ()
    assert [each.name for each in found.parities if each.held is False] == [
        "Table 6, commonsense of Chat_6_Vanessa_Nicolas"
    ]
    assert found["table-1"].verdict.kind == "exact"
    assert {figure.row for figure in found["table-1"].figures} == {"REALTALK", "LoCoMo"}
    assert found["section-5.1"].verdict.kind == "exact"
    off = [figure for figure in found["table-6"].figures if figure.state != "exact"]
    assert [(each.row, each.column, each.measured) for each in off] == [
        ("Chat_6_Vanessa_Nicolas", "commonsense", 10)
    ]
    assert "words within 1 % in 8 of 10 chats" in found["table-5"].verdict.line
    said = {each.where: each for each in found.statements}
    assert "301 + 319 + 108 = 728" in said["§3.2, A.3"].found
    assert "Chat_3_Kevin_Paola: 11,057 printed, 17,435 in the file" in said["Table 5"].found


@pytest.mark.slow
def test_everything_that_needs_no_model(data: Path, tmp_path: Path) -> None:
    found: Reproduction = reproduce(StudyPlan(data=data), tmp_path)
    assert found.broken == ()
    assert found.mended == ()
    assert [each.id for each in found.exhibits] == list(EXHIBITS)
    assert {each.name for each in found.parities if not each.held} == set(KNOWN_FAILURES)
    drawn = {path.name for path in write_pictures(found, tmp_path)}
    assert {f"figure-{number}.svg" for number in (2, 3, 4, 5, 6)} <= drawn
    write(found, tmp_path)
    assert (tmp_path / "reproduced.html").stat().st_size < 6_000_000
