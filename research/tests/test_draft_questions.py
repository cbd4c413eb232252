"""Ticks are counted as the rubric says, and who ticks is not told what rules discard."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

import realtalk as rt
from realtalk.formats.audit import chat_key
from realtalk.memory.drafting import DraftedQuestion, Drafts
from research.experiments import draft_questions
from research.experiments.draft_questions import COLUMNS, RUBRIC, counted, drawn, survival
from research.experiments.prompt_files import read


def row(ticks: str, mended: str = "", kind: str = "temporal") -> dict[str, str]:
    return {**dict(zip(RUBRIC, ticks, strict=False)), "mended": mended, "kind": kind}


def test_five_ones_survive_and_what_is_not_ticked_does_not_count() -> None:
    blank = {**row("11111"), "right": ""}
    counted = survival([row("11111"), row("11011", "1"), row("00111", kind="single_hop"), blank])
    assert counted == {
        "ticked": 3,
        "survive": 1,
        "mended": 1,
        "interval": [0.061, 0.792],
        "fails": {"only_one": 1, "clear": 1, "right": 1},
        "by_kind": {"temporal": [1, 2], "single_hop": [0, 1]},
    }


def test_what_is_drawn_is_mixed_and_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = rt.read("sample")
    drafts = [
        DraftedQuestion(chat_key(chat), replace(question, id=f"{chat.id}-{question.id}"), "a model")
        for chat in corpus.chats
        for question in chat.questions
    ]
    dropped = [replace(draft, dropped="was asked already") for draft in drafts[::3]]
    kept = [draft for draft in drafts if draft not in drafts[::3]]
    all_ = {"sample": Drafts((*kept, *dropped))}
    monkeypatch.setattr(draft_questions, "DRAWN", {"sample": (4, 3)})
    rows = drawn({"sample": corpus}, all_)
    assert rows == drawn({"sample": corpus}, all_)
    assert {column for each in rows for column in each} == set(COLUMNS)
    stays = [each["id"] in {draft.question.id for draft in kept} for each in rows]
    assert sorted(stays) == [False] * 3 + [True] * 4 and stays != sorted(stays)
    ticked = [
        each | row("11111" if kept else "01111") for each, kept in zip(rows, stays, strict=True)
    ]
    random.Random(1).shuffle(ticked)
    found = counted(all_, ticked)
    assert found["stays"]["survive"] == found["stays"]["ticked"] == 4
    assert found["discarded"]["survive"] == 0 and found["discarded"]["fails"] == {"clear": 3}
    assert found["sample"]["dropped"] == {"was asked already": len(dropped)}
    assert found["sample"]["kept"] == len(kept)


def test_prompts_for_elsewhere_are_read_without_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", "")  # put back after the test
    body = {"model": "a model", "messages": [{"role": "user", "content": "What?"}]}
    with draft_questions.replayed(tmp_path) as url:
        asked = Request(f"{url}/chat/completions", json.dumps(body).encode())
        with urlopen(asked) as reply:
            assert "question" in json.load(reply)["choices"][0]["message"]["content"]
    head, (prompt,) = read(tmp_path / "prompts.jsonl.xz")
    assert "sets" not in head
    assert (prompt["before"], prompt["shown"], prompt["max_tokens"]) == ("What?", "", 200)
