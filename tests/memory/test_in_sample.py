"""A score on what a shipped part learned from is told to be in-sample, wherever it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_chats import bakery
from realtalk.api.choices import as_reading
from realtalk.chat import Corpus, Question
from realtalk.encoders.shipped import LearnedTexts, fingerprint
from realtalk.formats.store import store
from realtalk.memory.golds import InSample, learning_parts
from realtalk.pages.report import make_report
from short_chats import said

PARTS = learning_parts("retrieved", {"way": "fused"})
QUESTION = Question(
    "Q1", "What did Ines adopt from the shelter in May?", "a kitten", "multi_hop", ("D2:3",)
)
LONG = [f"Ines baked {number} loaves of rye before the market opened" for number in range(8)]


def corpus(question: Question = QUESTION) -> Corpus:
    day = bakery().sessions[0].time
    more = said(4, day, *(f"Ines: {text}" for text in LONG))
    chat = bakery()
    chat = replace(chat, sessions=(*chat.sessions, more), questions=(question,))
    return Corpus("any-name", "jsonl", (chat,))


@pytest.fixture
def knows(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the retrieval encoder one that learned from the given texts."""

    def learn(name: str, *texts: str) -> None:
        found = LearnedTexts(
            {name: np.unique(np.array([fingerprint(t) for t in texts], np.uint32))}
        )
        monkeypatch.setattr(LearnedTexts, "of", staticmethod(lambda *models: found))

    return learn


def test_which_parts_learned_from_what() -> None:
    assert not {"LoCoMo", "LongMemEval", "DailyDialog"} & set(PARTS)  # a benchmark is a test
    assert PARTS["XPersona"] == ("the retrieval encoder", "its ranking weights")
    assert set(PARTS) <= set(LearnedTexts.of("memory", "memory_multilingual").sets)
    assert learning_parts("retrieved", {"way": "bm25"}) == {}
    assert learning_parts("recent", {}) == {}


def test_a_question_or_its_chat_is_enough(knows: Callable[..., None]) -> None:
    (chat,) = corpus().chats
    knows("XPersona", QUESTION.text)
    assert InSample(PARTS).of(chat, QUESTION) == "XPersona"
    knows("XPersona", *LONG)  # a question that nobody has seen, about a chat that was learned
    assert InSample(PARTS).of(chat, QUESTION) == "XPersona"
    assert InSample({}).of(chat, QUESTION) is None
    knows("XPersona", "some other text that is nowhere in this chat")
    assert InSample(PARTS).of(chat, QUESTION) is None


@pytest.mark.slow
def test_every_output_says_so(knows: Callable[..., None], run: Any, tmp_path: Path) -> None:
    knows("XPersona", QUESTION.text)
    store(as_reading(corpus()), tmp_path / "kept")
    _, out, err = run("probe kept --reader none --budget 500 --out seen").done
    assert "(in-sample)" in out
    assert "in-sample: 1 of 1 questions" in " ".join(err.split())
    told = run("probe kept --reader none --json").told
    assert told["in_sample"]["XPersona"]["questions"] == 1
    assert "the retrieval encoder" in told["in_sample"]["XPersona"]["learned_by"]
    axes = "--set memory=retrieved,recent --set budget=500 --set reader=none"
    swept = run(f"sweep probe kept {axes} --out sweep")
    assert "in-sample: 1 of 1 questions" in " ".join(swept[2].split())
    for command in ("compare", "table"):
        _, out, err = run(f"runs {command} seen {next(tmp_path.glob('sweep/*recent*'))}").done
        assert "in-sample" in " ".join((out + err).split())
    page = json.dumps(make_report([tmp_path / "seen"]).to_json())
    assert "in-sample: 1 of 1 questions" in page


def test_nothing_is_said_of_new_chats(run: Any, tmp_path: Path) -> None:
    store(as_reading(corpus()), tmp_path / "chats")
    _, out, err = run("probe chats --reader none --out new").done
    assert "in-sample" not in out + err
    assert "in-sample" not in json.dumps(make_report([tmp_path / "new"]).to_json())
