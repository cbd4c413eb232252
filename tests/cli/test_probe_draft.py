"""`realtalk probe draft` and `realtalk probe which` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drafted_chats import MODEL, garden, model_rule
from judge_server import JudgeServer
from realtalk.api.options import as_reading
from realtalk.chat import Corpus
from realtalk.formats.store import put_questions, store
from realtalk.memory.drafting import Drafts, is_drafted

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


def test_a_chat_of_ones_own_is_drafted_and_probed(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    corpus = Corpus("garden", "realtalk", (garden(),))
    store(as_reading(corpus), tmp_path / "garden")
    with JudgeServer(model_rule) as server:
        words = f"probe draft garden --count 8 --model {MODEL} --base-url {server.url}"
        status, out, err = run(words)
        assert status == 0 and "single_hop" in out
        assert "dropped: 1 is answered without the chat" in err
        assert "5 questions are in garden-drafts.jsonl" in err
        status, out, _ = run(f"{words} --json")
    told = json.loads(out)
    assert (told["drafted"], told["kept"], len(told["questions"])) == (7, 5, 5)
    drafts = Drafts.read(tmp_path / "garden-drafts.jsonl")
    put_questions(tmp_path / "garden", garden().id, drafts.of(garden()), is_drafted)
    status, out, err = run("probe which garden --budget 15w,1000w --figures pictures")
    assert status == 0
    first, second = out.strip().splitlines()
    assert first.startswith("Of 5 questions, ") and "for 5 in 1,000 words" in first
    assert "which may be chance" in first and "1,000 words" in second
    assert (tmp_path / "pictures" / "which.svg").is_file()
    told = json.loads(run("probe which garden --budget 1000w --json")[1])
    assert len(told["sentences"]) == 2 and len(told["figures"]) == 3


def test_which_compares_words_alone(run: Any) -> None:
    status, _, err = run("probe which sample --budget 1000")
    assert status == 2 and "--budget 250w,1000w" in err
