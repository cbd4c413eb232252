"""The script of the real run of simulated chats, tried out with a tiny model."""

from __future__ import annotations

import json
import lzma
import runpy
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from realtalk.formats.opening import open_reading
from realtalk.pages.loading import says_simulated
from realtalk.persona.prompting import PROMPT_VERSION, text_of
from realtalk.persona.turns import speaker_turns
from refusals import refused
from tiny_models import save_tiny_model

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)


def script(monkeypatch: pytest.MonkeyPatch, path: str, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [path, *words])
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(ROOT / path), run_name="__main__")


def test_when_people_write_goes_without_what_they_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "pace.json"
    script(monkeypatch, "research/experiments/converse_prepare.py", "sample", "--out", str(out))
    told = json.loads(out.read_text("utf-8"))
    assert told.pop("source") == "sample"
    assert all(isinstance(value, int | float) for values in told.values() for value in values)


def prompts(path: Path) -> list[dict[str, Any]]:
    """What persona_prepare.py makes, of two speakers and few turns."""
    chat = open_reading("sample").reading.corpus.chats[0]
    chats = {name: [chat.id, "none"] for name in chat.speakers}
    context = {"context_sessions": 1, "context_tokens": 20}
    head = {"head": True, "prompt_version": PROMPT_VERSION}
    rows: list[dict[str, Any]] = [
        {
            **{"set": "k1", "part": "learn", "speaker": name, "id": turn.id},
            **{"text": text_of(turn.prompt), "reply": turn.text},
        }
        for name in chat.speakers
        for turn in speaker_turns(chat, name, 1, 20)[:8]
    ]
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        sets = {"k1": {"context": context, "chats": chats}}
        for row in ({**head, "sets": sets}, *rows):
            stream.write(json.dumps(row) + "\n")
    return rows


@needs_torch
def test_a_tiny_model_talks_for_days_untuned_and_tuned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    torch.set_num_threads(1)
    rows = prompts(tmp_path / "prompts.jsonl.xz")
    save_tiny_model(tmp_path / "tiny", [str(row["text"]) for row in rows], window=4096)
    pace = {"source": "tiny", "sessions": [1], "starts": [600], "turns": [3, 4]}
    pace |= {"gaps": [60], "pauses": [10], "bursts": [1, 2]}
    (tmp_path / "pace.json").write_text(json.dumps(pace))
    words = [
        *("--base", str(tmp_path / "tiny"), "--pace", str(tmp_path / "pace.json")),
        *("--out", str(tmp_path / "run"), "--pack", str(tmp_path / "chats.tgz")),
        *("--prompts", str(tmp_path / "prompts.jsonl.xz"), "--set", "k1", "--device", "cpu"),
        *("--chats", "2", "--days", "2", "--epochs", "1", "--max-tokens", "8"),
        *("--length", "2048", "--budget", "20"),
    ]
    with refused("no consent to write as Mara"):
        script(monkeypatch, "research/experiments/converse_run.py", *words, "--only", "tuned")
    script(monkeypatch, "research/experiments/converse_run.py", *words, "--consent", "research")
    with tarfile.open(tmp_path / "chats.tgz") as archive:
        assert archive.getnames() == ["report.json", "tuned.jsonl", "untuned.jsonl"]
    for way in ("untuned", "tuned"):
        corpus = open_reading(str(tmp_path / "run" / f"{way}.jsonl")).reading.corpus
        assert len(corpus.chats) == 2 and says_simulated(corpus.name)
        for chat in corpus.chats:
            assert all(name.endswith(" (simulated)") for name in chat.speakers)
            assert {json.loads(m.extra)["simulated"] for m in chat.messages} == {f"tiny {way}"}
            assert len(chat.sessions) == 2 and len(chat.turns) >= 3  # a silence is possible
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert report["tuned"]["left"] == report["untuned"]["left"] == 0
    assert {each["answer"] for each in report["consent"]} == {"research"}
    assert all(
        "not to a model that writes as them" in each["meaning"] for each in report["consent"]
    )
    # What is there is not written again.
    before = (tmp_path / "run" / "tuned.jsonl").read_bytes()
    script(monkeypatch, "research/experiments/converse_run.py", *words, "--consent", "research")
    assert (tmp_path / "run" / "tuned.jsonl").read_bytes() == before
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert report["tuned"]["turns"] == report["untuned"]["turns"] == 0


_WITHOUT = """
import sys
for name in ("polars", "pyarrow", "ijson", "altair", "rich", "typer"):
    sys.modules[name] = None
sys.path[:0] = [{src!r}, {root!r}]
import research.experiments.converse_run, realtalk.persona.trainer
from realtalk.memory.registry import make_memory
make_memory("retrieved", {{"way": "bm25"}})
"""


@needs_torch
def test_it_needs_little_of_the_package() -> None:
    code = _WITHOUT.format(src=str(ROOT / "src"), root=str(ROOT))
    subprocess.run([sys.executable, "-c", code], check=True)
