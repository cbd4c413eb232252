"""The scripts of the real run and of the benchmark, tried out with a tiny model."""

from __future__ import annotations

import json
import lzma
import runpy
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from realtalk.formats.opening import open_reading
from realtalk.persona.prompting import PROMPT_VERSION, text_of
from realtalk.persona.turns import choices_of, speaker_turns, tasks_of
from realtalk.persona.values import Learning
from realtalk.persona.written import WrittenSimulator
from tiny_models import save_tiny_model

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)
CONTEXT = {"context_sessions": 1, "context_tokens": 20}


def script(monkeypatch: pytest.MonkeyPatch, path: str, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [path, *words])
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(ROOT / path), run_name="__main__")


@needs_torch
def test_what_was_written_elsewhere_can_be_scored_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    torch.set_num_threads(1)
    learn, test = open_reading("sample").reading.corpus.chats[:2]
    learned, tested = (speaker_turns(chat, "Mara", 1, 20)[:12] for chat in (learn, test))
    chats = {"Mara": [learn.id, test.id]}
    rows: list[dict[str, Any]] = [
        {
            "head": True,
            "prompt_version": PROMPT_VERSION,
            "sets": {"k1": {"context": CONTEXT, "chats": chats}},
        },
        *(
            {
                **{"set": "k1", "part": "learn", "speaker": "Mara", "id": turn.id},
                **{"text": text_of(turn.prompt), "reply": turn.text},
            }
            for turn in learned
        ),
        *(
            {
                **{"set": "k1", "part": "test", "speaker": "Mara", "id": turn.id},
                **{"text": text_of(turn.prompt), "styled": text_of(turn.prompt, "short")},
            }
            for turn in tested
        ),
    ]
    with lzma.open(tmp_path / "prompts.jsonl.xz", "wt", encoding="utf-8") as stream:
        stream.write("".join(json.dumps(row) + "\n" for row in rows))
    save_tiny_model(tmp_path / "tiny", [str(row["text"]) for row in rows[1:]])
    words = [
        *("--prompts", str(tmp_path / "prompts.jsonl.xz"), "--base", str(tmp_path / "tiny")),
        *("--out", str(tmp_path / "run"), "--pack", str(tmp_path / "rows.tgz")),
        *("--epochs", "1", "--max-tokens", "6", "--device", "cpu"),
    ]
    script(monkeypatch, "research/experiments/persona_run.py", *words, "--speakers", "Mara")
    shared = json.loads((tmp_path / "run" / "report-Mara.json").read_text("utf-8"))
    heads = [path.read_text("utf-8").split("\n")[0] for path in (tmp_path / "run/rows").iterdir()]
    assert len(heads) == 6 and all(list(json.loads(head)["chats"]) == ["Mara"] for head in heads)
    script(monkeypatch, "research/experiments/persona_run.py", *words)  # all there: only joined
    with tarfile.open(tmp_path / "rows.tgz") as archive:
        names = archive.getnames()
    ways = [f"rows/k1-{how}-{way}.jsonl" for how in ("local", "styled", "tuned")
            for way in ("greedy", "sampled")]  # fmt: skip
    assert names == ["report.json", *ways]
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert report["trained"]["k1 Mara"]["turns"] == 12
    assert report["written"]["k1-tuned-greedy Mara"]["turns"] == 12
    assert report == shared

    learning = Learning("Mara", learn, learned, dict(CONTEXT))
    texts = {}
    for name in ways:
        simulator = WrittenSimulator(rows=tmp_path / "run" / name)
        simulator.prepare(learning)
        found = simulator.solve([turn.prompt for turn in tested])
        assert not [each for each in found if each.unscored == "not written"]
        assert all(0 <= each.cost.tokens_out <= 6 for each in found)
        texts[simulator.name] = [each.value for each in found]
    assert set(texts) == {
        f"{how}{way}" for how in ("local", "local styled", "tuned") for way in ("", " sampled")
    }
    assert texts["local"] != texts["local styled"] != texts["tuned"]

    capsys.readouterr()
    script(
        monkeypatch, "research/experiments/persona_run.py", *words
    )  # all there: nothing is made again
    assert [line.partition("] ")[2] for line in capsys.readouterr().out.splitlines()] == [
        f"done: {tmp_path / 'run'}"
    ]


@needs_torch
def test_the_way_of_writing_is_chosen_on_turns_that_nobody_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    torch.set_num_threads(1)
    corpus = open_reading("sample").reading.corpus
    tasks = tasks_of(corpus, choices_of(corpus), **CONTEXT)
    chats = {task.speaker: [task.learning.chat.id, task.test.id] for task in tasks}
    head = {
        "head": True,
        "prompt_version": PROMPT_VERSION,
        "sets": {"k1": {"context": CONTEXT, "chats": chats}},
    }
    rows: list[dict[str, Any]] = [
        {
            **{"set": "k1", "part": part, "speaker": task.speaker, "id": turn.id},
            **{"text": text_of(turn.prompt), "reply": turn.text if part == "learn" else ""},
        }
        for task in tasks
        for part, turns in (("learn", task.learning.turns), ("test", task.turns[:2]))
        for turn in turns
    ]
    with lzma.open(tmp_path / "prompts.jsonl.xz", "wt", encoding="utf-8") as stream:
        stream.write("".join(json.dumps(row) + "\n" for row in (head, *rows)))
    save_tiny_model(tmp_path / "tiny", [str(row["text"]) for row in rows])
    script(
        monkeypatch,
        "research/experiments/persona_run.py",
        *("--prompts", str(tmp_path / "prompts.jsonl.xz"), "--base", str(tmp_path / "tiny")),
        *("--out", str(tmp_path / "run"), "--epochs", "1", "--max-tokens", "6"),
        *("--device", "cpu", "--only", "tuned,local", "--penalties", "1,1.5", "--held"),
        *("--samplings", "greedy"),
    )
    made = sorted(path.stem for path in (tmp_path / "run" / "rows").iterdir())
    ways = ("greedy", "greedy1.5")
    assert made == sorted(
        f"{part}-{how}-{way}"
        for part in ("k1", "k1held")
        for how in ("tuned", "local")
        for way in ways
    )
    lines = (tmp_path / "run" / "rows" / "k1held-tuned-greedy.jsonl").read_text("utf-8")
    held = {(row["speaker"], row["id"]) for row in map(json.loads, lines.splitlines()[1:])}
    last = {(t.speaker, t.learning.turns[-1].id) for t in tasks}
    assert last <= held and len(held) == sum(
        max(1, round(len(task.learning.turns) * 0.1)) for task in tasks
    )

    script(
        monkeypatch,
        "research/experiments/persona_choose.py",
        *("sample", "--rows", str(tmp_path / "run" / "rows")),
    )
    found = json.loads((tmp_path / "run" / "rows" / "chosen.json").read_text("utf-8"))
    assert set(found["chosen"]) == {"tuned", "local"}
    assert set(found["chosen"].values()) <= set(ways)
    assert {len(way) for way in found["scores"].values()} == {2}
    assert all(
        way["turns"] == len(held) for how in found["scores"].values() for way in how.values()
    )


@pytest.mark.slow
@needs_torch
def test_the_benchmark_runs_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--turns", "16", "--tokens", "60", "--reply", "8", "--plain", "8", "--new", "4")
    out = tmp_path / "bench.json"
    with pytest.raises(SystemExit) as stop:
        script(
            monkeypatch, "bench/persona.py", "--tiny", *sizes, "--device", "cpu", "--json", str(out)
        )
    assert stop.value.code == 0
    found = json.loads(out.read_text("utf-8"))
    assert found["times"] > 0
    assert found["ours_share"] > 0
    assert found["new_tokens_per_second"] > 0
    assert "times as fast" in capsys.readouterr().out
