"""The scripts that have questions answered on another machine: same prompts, same answers."""

from __future__ import annotations

import json
import lzma
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judge_server import JudgeServer
from tiny_models import save_tiny_model

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]

ROOT = Path(__file__).parents[2]
Row = dict[str, Any]
needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="inspect_ai is not installed (the extra 'llm')"
)
needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="torch and transformers are not installed (the extra 'train')",
)


def script(monkeypatch: pytest.MonkeyPatch, path: str, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [path, *words])
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(ROOT / path), run_name="__main__")


def prepared(monkeypatch: pytest.MonkeyPatch, out: Path, *words: str) -> tuple[Row, list[Row]]:
    """The head and the prompts, each with its text."""
    script(
        monkeypatch, "research/experiments/answers_prepare.py", "sample", "--out", str(out), *words
    )
    with lzma.open(out, "rt", encoding="utf-8") as stream:
        head, *lines = map(json.loads, stream)
    contexts = {line["context"]: line["text"] for line in lines if "text" in line}
    return head, [
        {**line, "text": line["before"] + contexts[line["context"]] + line["after"]}
        for line in lines
        if "set" in line
    ]


@needs_inspect
@pytest.mark.parametrize(
    ("memory", "budgets"),
    [
        ("none", ()),
        ("whole", ()),
        pytest.param("retrieved", ("125w", "250w"), marks=pytest.mark.slow),
    ],
)
def test_prompts_are_those_of_the_command(
    memory: str,
    budgets: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Any,
) -> None:
    words = ("--memories", memory, "--limit", "5")
    head, rows = prepared(monkeypatch, tmp_path / "prompts.jsonl.xz", *words)
    assert head["max_tokens"] == 64
    wanted = {f"{memory} {budget}" for budget in budgets or ("all",)}
    asked = [row["text"] for row in rows if row["set"] in wanted]
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    with JudgeServer(lambda _: "in March") as server:
        probe = ("probe", "sample", "--memory", memory, "--limit", "5")
        out = ("--out", str(tmp_path / "out"))
        chosen = ("--budget", ",".join(budgets)) if budgets else ()
        model = ("--model", "openai-api/local/tiny", "--base-url", server.url)
        same = ("--prompts", str(head["prompt_version"]))
        status, _, err = run(*probe, *out, *chosen, *model, *same)
        assert status == 0, err
        assert sorted(server.prompts()) == sorted(asked)
    assert len(asked) == 5 * len(wanted)


@needs_inspect
def test_the_oracle_shows_the_audited_evidence_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = tmp_path / "audit.jsonl"
    out = tmp_path / "prompts.jsonl.xz"
    words = ("--memories", "oracle", "--limit", "6")
    head, rows = prepared(monkeypatch, out, *words)
    first = rows[0]
    assert head["sets"]["oracle all"]["memory"] == "oracle"
    audit.write_text(
        json.dumps({"chat": first["chat"], "question": 1, "evidence": ["D1:1", "D99:1"]}) + "\n",
        "utf-8",
    )
    _, audited = prepared(monkeypatch, out, *words, "--audit", str(audit))
    assert audited[0]["message_ids"] == ["D1:1"] != first["message_ids"]
    assert audited[1:] == rows[1:]  # what was not audited keeps the published evidence
    assert not any(name in line for line in rows for name in ("answer", "evidence", "category"))


@needs_inspect
@needs_torch
def test_every_prompt_is_answered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    torch.set_num_threads(1)
    prompts = tmp_path / "prompts.jsonl.xz"
    words = ("--memories", "oracle,recent,whole", "--limit", "9")
    _, rows = prepared(monkeypatch, prompts, *words)
    save_tiny_model(tmp_path / "tiny", [row["text"] for row in rows], window=4096)
    given = ("--prompts", str(prompts), "--base", str(tmp_path / "tiny"), "--device", "cpu")
    run = ("research/experiments/answers_run.py", *given, "--batch-tokens", "9000", "--out")
    sets = ("--sets", "oracle all,recent 500w,whole all")
    script(monkeypatch, *run, str(tmp_path / "one"), *sets)
    kept = tmp_path / "one" / "answers.jsonl"
    answers = read(kept)
    assert len(answers) == 27
    assert len({row["answer"] for row in answers.values() if "answer" in row}) > 3
    report = json.loads((tmp_path / "one" / "report.json").read_text("utf-8"))["sets"]
    assert report["recent 500w"]["prompts"] == 9
    # A chat that does not fit is told, not cut.
    assert report["whole all"]["too_long"] + report["whole all"]["prompts"] == 9
    script(monkeypatch, *run, str(tmp_path / "again"), *sets, "--done", str(kept))
    assert not read(tmp_path / "again" / "answers.jsonl")
    script(monkeypatch, *run, str(tmp_path / "late"), *sets, "--seconds", "0")
    late = json.loads((tmp_path / "late" / "report.json").read_text("utf-8"))
    assert late["left"] == 27 - report["whole all"]["too_long"]


def read(path: Path) -> dict[tuple[str, str, str], Row]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {(row["set"], row["chat"], row["id"]): row for row in rows}
