"""Readers and judges against a server on loopback: prompts, failures, verdicts, costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer
from realtalk.chat import Question
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer
from realtalk.memory.golds import Judge, read_verdict
from realtalk.memory.remembering import Item, LlmReader, load_wording, prompt_of
from realtalk.memory.values import Context
from realtalk.models.asking import ModelConfig, Prompt, ask
from refusals import refused
from short_chats import chat_of, said
from text_tables import cases, rows

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
CHAT = chat_of(
    said(
        1,
        datetime(2026, 3, 2, 9),
        "Mara: the kiln broke {gold} today",
        "Tom: oh no, the green one?",
        "Ines: yes",
    )
)
CONTEXT = Context(
    "[Monday 2 March 2026]\nMara: the kiln broke {gold} today", ("D1:1", "D1:2"), 20, 9
)


def items(count: int) -> list[Item]:
    return [Item(CHAT, Question(f"Q{n}", f"what is {n}?", None, ""), CONTEXT) for n in range(count)]


def asked(server: JudgeServer, cache: Path, **options: Any) -> ModelConfig:
    given: dict[str, Any] = {"timeout": 20, "retries": 0, "base_url": server.url, "cache": cache}
    return ModelConfig("openai-api/local/tiny", **(given | options))


def answers(reader: Any, given: list[Item]) -> dict[int, Answer[str]]:
    return dict(enumerate(reader.solve(given)))


def echo(call: Call) -> str:
    return "answer to " + call.prompt.split("Question: ")[1].split("\n")[0]


def test_the_prompt_shows_context_and_question_once() -> None:
    wording = load_wording()
    prompt = prompt_of(items(1)[0], wording)
    assert prompt.count(CONTEXT.text) == 1  # a chat that talks about {gold} stays as it is
    assert prompt.count("what is 0?") == 1
    assert "Mara, Tom and Ines" in prompt
    assert prompt.index(CONTEXT.text) < prompt.index("what is 0?")
    assert "not mentioned" not in prompt
    assert "not mentioned" in prompt_of(items(1)[0], wording, abstain=True)
    dated = Question("Q", "how old?", None, "", asked=datetime(2026, 5, 1))
    assert "how old? (asked on Friday 1 May 2026)" in prompt_of(Item(CHAT, dated, CONTEXT), wording)
    empty = Item(CHAT, dated, Context("", (), 0, 0))
    assert "(nothing of the conversation is shown)" in prompt_of(empty, wording)


def test_every_answer_comes_with_its_cost(tmp_path: Path) -> None:
    with JudgeServer(echo) as server:
        reader = LlmReader(asked(server, tmp_path), load_wording())
        found = answers(reader, items(4))
        assert {n: each.value for n, each in found.items()} == {
            n: f"answer to what is {n}?" for n in range(4)
        }
        cost = found[0].cost
        assert (cost.calls, cost.tokens_in, cost.tokens_out) == (1, 1, 1)
        assert {(call.body["temperature"], call.body["seed"]) for call in server.calls} == {(0, 0)}


def test_an_error_while_keeping_stops_the_run_as_itself(tmp_path: Path) -> None:
    def keep(key: str, reply: Any) -> None:
        raise RealtalkError("the disk is full")

    with (
        JudgeServer(echo) as server,
        refused("the disk is full"),
    ):
        prompts = [Prompt(str(n), lambda: "Question: what?\n") for n in range(3)]
        ask(prompts, asked(server, tmp_path), keep)


ROWS = [
    {
        **{"group": "Chat_1", "sample": f"Q{n}", "variant": "1000t", "category": "temporal"},
        **{"question": f"when {n}?", "gold": "2 March 2026", "answer": said},
    }
    for n, said in enumerate(("2 March", "in May", None))
]


def verdict(call: Call) -> str:
    right = "2 March\n" in call.prompt and "matches the true answer" in call.prompt
    return "CORRECT" if right else "Wrong."


def test_a_judge_gives_two_scores_and_sees_no_chat(tmp_path: Path) -> None:
    kept: list[dict[str, Any]] = []
    with JudgeServer(verdict) as server:
        judge = Judge(asked(server, tmp_path), load_wording())
        judge.judge(ROWS, kept.append)
        assert len(server.calls) == 4  # the question without an answer is not judged
        for call in server.calls:
            assert "kiln" not in call.prompt and "2 March 2026" in call.prompt
        judge.judge(ROWS, kept.append, done=judge.tasks(ROWS))
        assert len(server.calls) == 4
    found = [(row["sample"], row["wording"], str(row["right"])) for row in kept]
    assert sorted(found) == rows("""
        Q0 | lenient | 1.0
        Q0 | strict  | 0.0
        Q1 | lenient | 0.0
        Q1 | strict  | 0.0
    """)
    assert {row["judge"] for row in kept} == {"openai-api/local/tiny"}


@cases(r"""
    text            | value
    CORRECT         | 1.0
    " **Wrong**.\n" | 0.0
    incorrect       | null
    CORRECT, as…    | null
""")
def test_a_verdict_is_one_word(text: str, value: float | None) -> None:
    assert read_verdict(text) == value


def test_no_model_judges_itself() -> None:
    judge = Judge(ModelConfig("a/b"), load_wording())
    judge.refuse_own(None)
    judge.refuse_own("a/c")
    with refused(r"would judge its own answers.*`judge=same`"):
        judge.refuse_own("a/b/")
    replace(judge, own=True).refuse_own("a/b")


def test_prompts_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("{context} ? {question}", "utf-8")
    wording = load_wording(tmp_path)
    assert wording.version.startswith("sha256:")
    assert (
        wording.fill("answer", context="{question}", question="B", speakers="") == "{question} ? B"
    )
    assert wording.texts["judge_strict"] == load_wording().texts["judge_strict"]
    (tmp_path / "judge_strict.md").write_text("{question} {gold} {answer} {context}", "utf-8")
    with refused("placeholder of another"):
        load_wording(tmp_path)
