"""The judge against a server on loopback that answers, and one that misbehaves."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer, Reply, Rule
from realtalk.chat import Corpus
from realtalk.ei.judge import PAPER_MEASURES, JudgeLabeller
from realtalk.ei.labels import (
    EMOTIONS,
    MEASURES,
    SENTIMENTS,
    Label,
    TurnInput,
    label_frame,
    turn_inputs,
)
from refusals import refused
from short_chats import chat_of, said
from text_tables import cases

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
MODEL = "openai-api/local/tiny"


def turns(count: int) -> list[TurnInput]:
    return [
        TurnInput("Chat_A", 1, n, "Mara", (f"D1:{n}",), None, f"words number {n}", "")
        for n in range(count)
    ]


def truth(call: Call) -> str:
    """A well-formed answer that depends on the measure and the turn alone."""
    seed = hashlib.sha256(f"{call.measure} {call.turn}".encode()).digest()
    if call.measure in {"reflective", "grounding"}:
        return str(seed[0] % 2 == 0)
    if call.measure == "sentiment":
        return SENTIMENTS[seed[0] % 3]
    if call.measure == "emotion":
        return EMOTIONS[seed[0] % 11]
    if call.measure == "intimacy":
        return f"{seed[0] / 255:.2f}"
    names = ("emotional_reaction", "interpretation", "exploration")
    return json.dumps({name: byte % 3 for name, byte in zip(names, seed, strict=False)})


def judge(server: JudgeServer, cache: Path, **options: Any) -> JudgeLabeller:
    given = {"timeout": 20, "retries": 0, **options}
    return JudgeLabeller(MODEL, base_url=server.url, cache=cache, **given)


def asked(rule: Rule, inputs: Sequence[TurnInput], cache: Path, **options: Any) -> list[Label]:
    with JudgeServer(rule) as server:
        return list(judge(server, cache, **options).label(inputs))


def reasons(labels: Sequence[Label]) -> set[str]:
    return {reason for label in labels for reason in label.unscored.values()} - {"not asked"}


def test_every_measure_is_filled(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    with JudgeServer(truth) as server:
        labeller = judge(server, tmp_path, measures=MEASURES)
        labels = labeller.label(turns(3), lambda done, total, _: steps.append((done, total)))
    assert steps == [(n, 18) for n in range(1, 19)]
    assert len(server.calls) == 18
    assert {call.body["temperature"] for call in server.calls} == {0}
    label: Any
    for label in labels:
        assert not label.unscored
        assert label.emotion in EMOTIONS
        assert label.sentiment in SENTIMENTS
        assert 0 <= label.intimacy <= 1
        total = label.emotional_reaction + label.interpretation + label.exploration
        assert label.empathy == total
    frame = label_frame(turns(3), labels, labeller)
    assert frame["version"].unique().to_list() == [f"prompts 1, {MODEL} at {server.url}"]
    assert frame["reflective"].null_count() == 0


def test_three_calls_a_turn_and_the_rest_is_not_asked(tmp_path: Path) -> None:
    with JudgeServer(truth) as server:
        (label,) = judge(server, tmp_path).label(turns(1))
    assert {call.measure for call in server.calls} == set(PAPER_MEASURES)
    assert dict(label.unscored) == dict.fromkeys(("sentiment", "emotion", "intimacy"), "not asked")


def test_a_turn_without_words_is_not_sent(tmp_path: Path) -> None:
    blank = TurnInput("Chat_A", 1, 1, "Mara", ("D1:1",), None, " \n", "")
    with JudgeServer(truth) as server:
        labels = judge(server, tmp_path).label([blank])
    assert not server.calls
    assert reasons(labels) == {"no text"}


def test_no_request_holds_what_comes_later(tmp_path: Path) -> None:
    told = [[f"s{s}word{n}x" for n in range(5)] for s in range(2)]
    sessions = (
        said(number, None, *(f"{('Mara', 'Tom')[n % 2]}: {word}" for n, word in enumerate(words)))
        for number, words in enumerate(told, 1)
    )
    inputs = turn_inputs(Corpus("made up", "test", (chat_of(*sessions),)))
    with JudgeServer(truth) as server:
        judge(server, tmp_path).label(inputs)
    assert len(server.calls) == 30
    for call in server.calls:
        session = next(words for words in told if call.turn in words)
        so_far = session[: session.index(call.turn) + 1]
        shown = {word for words in told for word in words if word in call.prompt}
        assert shown == set(so_far)
        assert call.prompt.count(call.turn) == 1


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    with JudgeServer(truth) as server:
        first = judge(server, tmp_path).label(turns(3))
        second = judge(server, tmp_path, max_connections=3).label(turns(3))
        assert len(server.calls) == 9
        # A measure more is asked for alone.
        judge(server, tmp_path, measures=(*PAPER_MEASURES, "emotion")).label(turns(3))
        assert [call.measure for call in server.calls[9:]] == ["emotion"] * 3
        # Other arguments of the model may give other answers.
        judge(server, tmp_path, model_args={"emulate_tools": True}).label(turns(1))
    assert len(server.calls) == 15
    assert first == second


@cases("""
    text                                | status | reason               | calls
    ""                                  | 400    | provider error (400) | 3
    {"emotional_reaction": 1, "interp   | 200    | malformed answer     | 9
    The answer is True, I believe.      | 200    | malformed answer     | 9
    I'm sorry, but I can't judge this.  | 200    | refused              | 3
    ""                                  | 200    | empty answer         | 9
""")
def test_what_goes_wrong_is_unscored_with_its_reason(
    text: str, status: int, reason: str, calls: int, tmp_path: Path
) -> None:
    with JudgeServer(lambda _: Reply(text, status)) as server:
        (label,) = judge(server, tmp_path).label(turns(1))
    found = {name: label.unscored[name] for name in PAPER_MEASURES}
    assert found == dict.fromkeys(PAPER_MEASURES, reason)
    assert (label.reflective, label.grounding, label.empathy) == (None, None, None)
    assert len(server.calls) == calls


def test_a_dead_provider_is_not_asked_for_ever(tmp_path: Path) -> None:
    with JudgeServer(lambda _: Reply(status=400)) as server:
        labels = judge(server, tmp_path, max_connections=2).label(turns(15))
    assert 20 <= len(server.calls) <= 22
    assert reasons(labels) == {
        "provider error (400)",
        "the provider stopped answering: provider error (400)",
    }


def test_an_interrupted_run_leaves_no_chat_on_disk_or_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    gate = threading.Event()

    def rule(call: Call) -> str | Reply:
        """A third of the 36 questions is answered; with both connections waiting, Ctrl-C."""
        if call.place == 13:
            os.kill(os.getpid(), signal.SIGINT)
        if call.place >= 12:
            gate.wait()
        echo = json.dumps({"error": {"message": call.prompt}}).encode()
        return truth(call) if call.place % 2 else Reply(status=402, raw=echo)

    with JudgeServer(rule) as server, pytest.raises(KeyboardInterrupt):
        try:
            judge(server, tmp_path / "cache", max_connections=2).label(turns(12))
        finally:
            gate.set()
    assert len(server.calls) < 36
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("cache" in path.parts for path in kept)
    assert not [path for path in kept if path.suffix in {".eval", ".db"}]
    for path in kept:
        raw = path.read_bytes()
        assert b"words number" not in (gzip.decompress(raw) if path.suffix == ".gz" else raw)
    assert capfd.readouterr() == ("", "")


def test_own_prompts_are_asked_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "grounding.md").write_text("Mine: a grounding act?\n<turn>\n{turn}\n</turn>")
    with JudgeServer(truth) as server:
        labeller = judge(server, tmp_path / "cache", prompts=folder, measures=("grounding",))
        labels = labeller.label(turns(1))
    assert server.prompts() == ["Mine: a grounding act?\n<turn>\nwords number 0\n</turn>"]
    assert labeller.version.startswith("prompts sha256:")
    assert not reasons(labels)


def test_an_unknown_provider_or_measure_is_one_line(tmp_path: Path) -> None:
    with refused("the model cannot be used"):
        JudgeLabeller("nobody/none", cache=tmp_path).label(turns(1))
    with refused("did you mean 'grounding'"):
        JudgeLabeller(MODEL, measures=("groundin",))
    with refused("retries must be 0 or more"):
        JudgeLabeller(MODEL, retries=-1)
