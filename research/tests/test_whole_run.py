"""Prompts with own turns and a curve, written by several jobs in order: prepare, then run."""

from __future__ import annotations

import json
import lzma
import os
import runpy
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from realtalk.persona.written import WrittenSimulator
from research.experiments.persona_prompts import Prompts
from research.experiments.persona_sharing import Claims
from research.results.persona_round import second_round
from tiny_models import save_tiny_model

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)


def script(monkeypatch: pytest.MonkeyPatch, path: str, *words: str) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", [path, *words])
    monkeypatch.setattr(sys, "path", [*sys.path])
    return runpy.run_path(str(ROOT / path), run_name="__main__")


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    out = tmp_path / "prompts.jsonl.xz"
    script(
        monkeypatch,
        "research/experiments/persona_prepare.py",
        *("sample", "--out", str(out), "--sessions", "1", "--tokens", "40", "--examples", "2"),
        *("--curve", "20,5,1000", "--curve-tokens", "20"),
    )
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.mark.slow
def test_the_file_of_prompts_holds_every_way_and_no_truth(prompts: Path) -> None:
    head, *rows = lines(prompts)
    assert list(head["sets"]) == ["k1", "curve", "n20", "n5"]  # nobody wrote a thousand turns
    assert head["sets"]["n5"]["of"] == "curve" and head["examples"] == 2
    for row in rows:
        main = row["set"] == "k1"
        assert ("reply" in row) == (row["part"] == "learn")
        assert ("retrieved" in row) == main
        assert ("styled" in row) == (main and row["part"] == "test")
    own = next(row for row in rows if row["set"] == "k1" and row["part"] == "test")
    assert own["retrieved"].count("\n- to ") >= 1 and "usually writes" not in own["retrieved"]
    known = Prompts(prompts)
    assert known.sets() == ["k1", "curve", "n5", "n20"]
    who = known.speakers("n5")[0]
    assert known.rows("n5", "learn", who) == known.rows("curve", "learn", who)[-5:]
    assert known.rows("n5", "test", who) == known.rows("curve", "test", who)


@needs_torch
def test_every_job_is_done_once_with_settings_that_held_out_turns_chose(
    tmp_path: Path,
    prompts: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import torch

    torch.set_num_threads(1)
    who = list(lines(prompts)[0]["sets"]["k1"]["chats"])[:2]
    save_tiny_model(tmp_path / "tiny", [row["text"] for row in lines(prompts)[1:]], window=2048)
    words = [
        *("--prompts", str(prompts), "--base", str(tmp_path / "tiny"), "--device", "cpu"),
        *("--out", str(tmp_path / "run"), "--pack", str(tmp_path / "rows.tgz")),
        *("--epochs", "1", "--max-tokens", "4", "--limit", "20", "--least-updates", "4"),
        *("--learning-rate", "1e-2,1e-9", "--trials", "1"),
        *("--sets", "k1,n5", "--only", "tuned+retrieved,local,retrieved"),
    ]
    script(monkeypatch, "research/experiments/persona_run.py", *words, "--plan")
    told = capsys.readouterr().out
    assert "k1 tuned+retrieved" in told and "n5" not in told  # a curve is of tuned alone
    script(monkeypatch, "research/experiments/persona_run.py", *words, "--seconds", "0")
    assert "no time to begin more" in capsys.readouterr().out
    chosen = json.loads((tmp_path / "run" / "chosen.json").read_text("utf-8"))
    assert chosen["chosen"] == 1e-2 and len(chosen["speakers"]) == 1
    assert not (tmp_path / "run" / "parts").exists()  # before anything of a tested chat
    words[words.index("tuned+retrieved,local,retrieved")] = "tuned+retrieved,tuned,local,retrieved"
    script(monkeypatch, "research/experiments/persona_run.py", *words, "--speakers", ",".join(who))
    assert "by 6N" in capsys.readouterr().out
    made = sorted(path.stem for path in (tmp_path / "run" / "rows").iterdir())
    hows = ("local", "retrieved", "tuned", "tuned+retrieved")
    assert made == sorted(
        f"{name}-{how}-{way}"
        for way in ("greedy", "sampled")
        for name, how in (*(("k1", how) for how in hows), ("n5", "tuned"))
    )
    simulator = WrittenSimulator(rows=tmp_path / "run/rows/k1-tuned+retrieved-sampled.jsonl")
    assert simulator.name == "tuned retrieved sampled"
    assert simulator.settings["examples"] == 2 and simulator.settings["learning_rate"] == 1e-2
    report = json.loads(next((tmp_path / "run").glob("report-*.json")).read_text("utf-8"))
    few = report["trained"][f"n5 {who[0]}"]
    assert few["turns"] == 5 and len(few["epochs"]) > 1  # one update an epoch: more of them
    with tarfile.open(tmp_path / "rows.tgz") as archive:
        assert "chosen.json" in archive.getnames()


def test_a_claim_of_a_process_that_is_gone_counts_for_nothing(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    assert claims.take("a") and claims.take("a")
    (tmp_path / "claims" / "b").write_text(str(os.getppid()), "utf-8")
    assert not claims.take("b")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "claims" / "b").write_text(str(gone.pid), "utf-8")
    assert claims.take("b")
    claims.give_back("b")
    assert not (tmp_path / "claims" / "b").exists()


@pytest.mark.slow
@needs_torch
def test_processes_share_the_jobs(
    tmp_path: Path, prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny_model(tmp_path / "tiny", [row["text"] for row in lines(prompts)[1:]], window=2048)
    words = [
        *("--prompts", str(prompts), "--base", str(tmp_path / "tiny"), "--device", "cpu"),
        *("--out", str(tmp_path / "run"), "--epochs", "1", "--max-tokens", "4", "--limit", "12"),
        *("--learning-rate", "1e-2,1e-9", "--processes", "2", "--only", "tuned,local"),
        *("--sets", "k1", "--pack", str(tmp_path / "rows.tgz")),
    ]
    script(monkeypatch, "research/experiments/persona_run.py", *words)
    head, *_ = lines(prompts)
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    speakers = list(head["sets"]["k1"]["chats"])
    assert {f"k1 {who}" for who in speakers} <= set(report["trained"])
    assert len(report["written"]) == 2 * 2 * len(speakers)
    rows = (tmp_path / "run/rows/k1-tuned-greedy.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 1 + 12 * len(speakers)
    assert json.loads(rows[0])["settings"]["learning_rate"] == 1e-2


@pytest.mark.slow
@needs_torch
def test_from_prompts_to_the_page(
    tmp_path: Path, prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    torch.set_num_threads(1)
    save_tiny_model(tmp_path / "tiny", [row["text"] for row in lines(prompts)[1:]], window=2048)
    script(
        monkeypatch,
        "research/experiments/persona_run.py",
        *("--prompts", str(prompts), "--base", str(tmp_path / "tiny"), "--device", "cpu"),
        *("--out", str(tmp_path / "run"), "--epochs", "1", "--max-tokens", "8", "--limit", "6"),
        *("--held", "--sets", "k1,curve,n5", "--learning-rate", "1e-2,1e-3", "--trials", "1"),
    )
    rows = tmp_path / "run" / "rows"
    script(monkeypatch, "research/experiments/persona_choose.py", "sample", "--rows", str(rows))
    script(
        monkeypatch,
        "research/results/persona_rows.py",
        *("sample", "--run", str(tmp_path / "run"), "--name", "tiny", "--limit", "6"),
        *("--scored", str(tmp_path / "scored"), "--out", str(tmp_path / "results")),
    )
    made = {path.name for path in (tmp_path / "results" / "tiny").glob("*/")}
    ways = ("greedy", "sampled")
    assert made == {
        *("constant", "copy", "common", "retrieve"),
        *(f"{how}-{way}" for way in ways for how in ("untuned", "styled", "retrieved", "tuned")),
        *(f"tuned+retrieved-{way}" for way in ways),
        *(f"{how}-matched-{way}" for how in ("untuned", "tuned+retrieved") for way in ways),
        *(f"{size}-{way}" for size in ("n0", "n5", "nall") for way in ways),
    }
    page = "\n\n".join(second_round(tmp_path / "results", tmp_path))
    for said in (
        "## tiny",
        "### What must hold",
        "length-matched control also beaten",
        "Table 2's eight columns",
        "How many are enough: for style",
        "untuned-matched-greedy",
    ):
        assert said in page
    assert (tmp_path / "persona-curve.svg").read_text("utf-8").startswith("<svg")
    head, *written = lines(prompts)
    assert not [row["reply"] for row in written if len(row.get("reply", "")) > 40
                and row["reply"] in page]  # fmt: skip
    assert head["sets"]["n5"]["turns"] == 5
