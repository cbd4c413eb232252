"""Turns written on another machine, given back to be scored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from realtalk.persona.prompting import PROMPT_VERSION
from realtalk.persona.turns import speaker_turns
from realtalk.persona.values import Learning, TurnPrompt, make_simulator
from realtalk.persona.written import WrittenSimulator
from refusals import refused
from samples import read_sample

HEAD: dict[str, Any] = {
    "simulator": "tuned sampled",
    "prompt_version": PROMPT_VERSION,
    "context": {"context_sessions": 1, "context_tokens": 40},
    "chats": {"Mara": ["Chat_1_Mara_Theo", "Chat_2_Mara_Juno"]},
    "settings": {"base": "tiny", "temperature": 0.8, "odd": None},
}


@pytest.fixture(scope="module")
def learning() -> Learning:
    chat = read_sample().chats[0]
    return Learning("Mara", chat, speaker_turns(chat, "Mara", 1, 40), dict(HEAD["context"]))


@pytest.fixture(scope="module")
def prompts() -> list[TurnPrompt]:
    chat = read_sample().chats[1]
    return [turn.prompt for turn in speaker_turns(chat, "Mara", 1, 40)[:3]]


def saved(path: Path, head: dict[str, Any], rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows)), "utf-8")
    return path


def test_rows_come_back_clean_and_in_order(
    tmp_path: Path, learning: Learning, prompts: list[TurnPrompt]
) -> None:
    first, second, _ = (prompt.id for prompt in prompts)
    rows = [
        {"speaker": "Mara", "id": second, "text": " \n", "tokens_in": 7, "tokens_out": 1},
        {
            **{"speaker": "Mara", "id": first, "tokens_in": 9, "tokens_out": 4},
            "text": 'Mara: "lol no"\u2028',
        },
    ]
    simulator = WrittenSimulator(rows=saved(tmp_path / "rows.jsonl", HEAD, rows))
    simulator.prepare(learning)
    found = simulator.solve(prompts)
    assert [each.value for each in found] == ["lol no", None, None]
    assert [each.unscored for each in found] == ["", "empty answer", "not written"]
    assert (found[0].cost.tokens_in, found[0].cost.tokens_out) == (9, 4)
    assert simulator.name == "tuned sampled"
    assert simulator.settings["temperature"] == 0.8
    assert "odd" not in simulator.settings


def test_rows_of_something_else_are_refused(tmp_path: Path, learning: Learning) -> None:
    turned = ["Chat_2_Mara_Juno", "Chat_1_Mara_Theo"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"chats": {"Theo": turned}}, "nothing was written for Mara"),
        ({"context": {"context_sessions": 3}}, "another context"),
        ({"chats": {"Mara": turned}}, "another chat to learn from"),
        ({"prompt_version": "0"}, "another wording"),
    ]
    for change, line in wrong:
        simulator = WrittenSimulator(rows=saved(tmp_path / "rows.jsonl", {**HEAD, **change}, []))
        with refused(line):
            simulator.prepare(learning)


@pytest.mark.parametrize("text", ["", "no JSON", "{}\n", '{"simulator": "x"}\n{"id": 3}\n'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.jsonl").write_text(text)
    for name in ("rows.jsonl", "nothing.jsonl"):
        with refused("not a file of written turns"):
            WrittenSimulator(rows=tmp_path / name)


def test_two_sides_are_cut_to_the_words_that_both_have(
    tmp_path: Path, learning: Learning, prompts: list[TurnPrompt]
) -> None:
    def side(name: str, *texts: str) -> Path:
        rows = [
            {"speaker": "Mara", "id": prompt.id, "text": text}
            for prompt, text in zip(prompts, texts, strict=True)
        ]
        return saved(tmp_path / name, HEAD | {"simulator": name}, rows)

    long = side("untuned", "Oh no,\nthat is bad! I am sorry", "yes", " ")
    short = side("tuned", "oh no that", "yes we can", "hi")
    found = {}
    for name, rows, to in (("untuned", long, short), ("tuned", short, long)):
        simulator = make_simulator("matched", {"rows": str(rows), "to": str(to)})
        simulator.prepare(learning)
        assert simulator.name == f"{name} matched"
        found[name] = simulator.solve(prompts)
    assert [each.value for each in found["untuned"]] == ["Oh no,\nthat", "yes", None]
    assert [each.value for each in found["tuned"]] == ["oh no that", "yes", None]
    assert found["tuned"][2].unscored == "nothing to match"
