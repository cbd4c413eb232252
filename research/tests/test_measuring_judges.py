"""Judges measured: planted answers, graded answers, and what is chosen on the other half."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audited_chats import audit, corpus
from judge_server import JudgeServer
from realtalk.formats.opening import open_reading
from realtalk.memory.golds import Golds
from refusals import refused
from research.results.judges import (
    PLANTED,
    agreement,
    contained,
    false_positives,
    held_out,
    planted,
    read_graded,
    rule_verdicts,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


def test_planted_answers_are_the_gold_another_one_and_words_for_anything() -> None:
    chats = open_reading("sample").reading.corpus
    rows = planted(chats, limit=12)
    assert len(rows) == 36 and {row["variant"] for row in rows} == set(PLANTED)
    golds = {each.answer for chat in chats.chats for each in chat.questions}
    for right, wrong, vague in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert right["answer"] == right["gold"] != wrong["answer"]
        assert wrong["answer"] in golds and vague["answer"] not in golds
    headings, lines = false_positives(rows, rule_verdicts(rows))
    by_judge = {line[0]: dict(zip(headings, line, strict=True)) for line in lines}
    assert by_judge["accepted"]["wrong, called right"].startswith("0.000")
    assert by_judge["accepted"]["right, called right"].startswith("1.000")
    assert by_judge["says anything"]["vague, called right"].startswith("1.000")


def test_an_answer_that_says_more_contains_the_gold() -> None:
    assert contained("phone, camera, tripod", "the camera and the phone", question="What?")
    assert contained("13 January 2024 and 19 January 2024", "On 13.01.2024", question="When?")
    assert not contained("phone", "the camera and the phone", question="What?")
    assert not contained("Porto", None)


def graded(path: Path, *verdicts: tuple[int, str, float]) -> Path:
    lines = [
        {"chat": "Chat_9_Ines_Tobias", "question": at, "answer": answer, "verdict": verdict}
        for at, answer, verdict in verdicts
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_agreement_is_of_questions_that_nothing_was_chosen_on(tmp_path: Path) -> None:
    path = graded(
        tmp_path / "graded.jsonl",
        (1, "9 May 2026", 1),
        (2, "Salt", 1),
        (2, "Pepper", 0),
        (3, "nowhere", 0),
        (4, "no", 0),
        (4, "yes, he does", 1),
    )
    rows = read_graded(path, corpus(), Golds("published", audit()))
    assert [held_out(row) for row in rows] == [False, True, True, False, True, True]
    headings, lines = agreement(rows, rule_verdicts(rows))
    by_judge = {line[0]: dict(zip(headings, line, strict=True)) for line in lines}
    assert by_judge["accepted"]["kappa"].startswith("1.000")
    assert by_judge["accepted"]["n"] == 4 and by_judge["accepted"]["questions"] == 2
    assert by_judge["says anything"]["kappa"].startswith("0.000")
    beside = by_judge["accepted, audited golds"]  # Pepper is right, whatever the gold says
    assert not beside["kappa"].startswith("1.000")


@pytest.mark.parametrize("line", ["{", "[]", '{"chat": "other", "question": 1}'])
def test_what_is_no_graded_answer_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with refused(r"line 1: not (JSON|a graded answer)"):
        read_graded(path, corpus(), Golds())
    path.write_text("")
    with refused("holds no graded answer"):
        read_graded(path, corpus(), Golds())


def test_a_judge_that_nods_is_found_out(research: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with JudgeServer(lambda call: "CORRECT") as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        words = ("results.judges", "sample", "--limit", "4", "--json")
        status, out, err = research(*words, "--judge", "openai-api/local/tiny")
    assert status == 0 and not err
    lines = {line["judge"]: line for line in json.loads(out)["planted"]}
    for wording in ("lenient", "strict"):
        assert lines[f"{wording}, openai-api/local/tiny"]["wrong, called right"].startswith("1.000")
    assert lines["accepted"]["wrong, called right"].startswith("0.000")
