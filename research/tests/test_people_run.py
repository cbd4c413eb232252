"""Adapters of several people, learned and used side by side, against one person alone."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from research.experiments import people_run, qwen  # noqa: E402
from research.experiments.people_run import Run, Training, Turn, learner  # noqa: E402
from research.experiments.persona_prompts import WAYS  # noqa: E402
from research.experiments.qwen import Base, Row, Sampling, Shape, batches, unpacked  # noqa: E402

TINY = Shape(2, 64, 96, 4, 2, 16, 300, 1e-6, 1e4)


@pytest.fixture(scope="module")
def base() -> Base:
    return Base.random(TINY, "cpu")


def turns(seed: int, count: int) -> list[Turn]:
    dice = np.random.default_rng(seed)

    def tokens(low: int, high: int) -> list[int]:
        return [int(token) for token in dice.integers(10, 290, dice.integers(low, high))]

    return [Turn(tokens(5, 30), tokens(20, 40), tokens(2, 8)) for _ in range(count)]


def test_a_person_learns_the_same_beside_others_as_alone(base: Base) -> None:
    people = [learner("Ann", turns(1, 23), 1e-3), learner("Bo", turns(2, 12), 1e-3)]
    both, facts = Training(base, people).run()
    alone, own = Training(base, people[1:]).run()
    assert np.allclose(facts[1]["held_out"], own[0]["held_out"], atol=2e-2)
    assert facts[1]["held_out"][-1] < facts[1]["held_out"][0]
    assert facts[0]["kept"] > 0
    for name, value in alone.b.items():
        side = both.b[name][1].float()
        assert (
            torch.nn.functional.cosine_similarity(side.flatten(), value.float().flatten(), 0) > 0.9
        )


def test_an_adapter_in_a_bank_writes_what_merged_weights_write(base: Base) -> None:
    bank, _ = Training(base, [learner(str(at), turns(at, 30), 5e-3) for at in range(2)]).run()
    merged = dict(base.w)
    for name, long in qwen.NAMES.items():
        for at in range(TINY.layers):
            change = bank.a[name][1, at].float() @ bank.b[name][1, at].float() * bank.scale
            key = f"blk.{at}.{long}.weight"
            merged[key] = (base.w[key].float() + change.T).bfloat16()
    rows = [Row(f"r{at}", turn.plain, 1) for at, turn in enumerate(turns(9, 11))]
    plain = [Row(row.id, row.ids) for row in rows]
    asked: dict[str, Any] = {"stops": [], "longest": 4}

    def written(who: Base, some: list[Row], adapters: Any) -> dict[str, list[int]]:
        found = who.write(some, adapters, {"greedy": Sampling()}, **asked)
        return {row.id: tokens for _, row, tokens, _ in found}

    own = written(base, rows, bank)
    other = written(Base(TINY, merged, "cpu"), plain, None)
    same = [own[row.id][0] == other[row.id][0] for row in rows]
    assert sum(same) >= 0.8 * len(same)  # 16 bits: a near tie may fall on the other side
    assert own != written(base, plain, None)


def test_what_a_row_gets_does_not_depend_on_its_batch(base: Base) -> None:
    rows = [Row(f"r{at}", turn.plain) for at, turn in enumerate(turns(5, 9))]
    ways = {"greedy": Sampling(), "sampled": Sampling(0.8, 0.95)}
    asked: dict[str, Any] = {"stops": [7], "longest": 6}
    together = {(w, r.id): t for w, r, t, _ in base.write(rows, None, ways, **asked)}
    alone = {(w, r.id): t for row in rows for w, r, t, _ in base.write([row], None, ways, **asked)}
    assert together.keys() == alone.keys()
    assert sum(together[key] == alone[key] for key in alone) >= 0.8 * len(alone)


def test_what_prompts_share_is_read_once_to_the_same_replies(base: Base) -> None:
    shared = turns(4, 1)[0].shown * 3
    rows = [Row(f"r{at}", [*shared, *turn.plain]) for at, turn in enumerate(turns(5, 9))]
    found = base.answer(shared, rows, stops=[7], longest=5)
    own = {row.id: tokens for row, tokens, _ in found}
    whole = base.write(rows, None, {"greedy": Sampling()}, stops=[7], longest=5)
    assert sum(own[row.id] == tokens for _, row, tokens, _ in whole) >= 8


def test_blocks_hold_rows_of_one_person() -> None:
    rows = [Row(str(at), [1] * (at + 1), at % 3) for at in range(20)]
    blocks = [block for batch in batches(rows, 16) for block in batch]
    assert all(len({row.person for row in block}) == 1 for block in blocks)
    assert sorted(row.id for block in blocks for row in block if row.id) == sorted(
        map(str, range(20))
    )


@pytest.mark.parametrize(("kind", "size"), [("Q4_K", 144), ("Q6_K", 210)])
def test_blocks_of_a_gguf_are_unpacked_as_its_package_does(kind: str, size: int) -> None:
    quants = pytest.importorskip("gguf.quants", reason="gguf is not installed")
    from gguf import GGMLQuantizationType

    dice = np.random.default_rng(3)
    data = dice.integers(0, 256, (2, 3 * size), dtype=np.uint8)
    for at in range(3):  # sixteen-bit scales that are numbers
        for place in (0, 2) if kind == "Q4_K" else (208,):
            scale = dice.normal(size=2).astype(np.float16).view(np.uint8).reshape(2, 2)
            data[:, at * size + place : at * size + place + 2] = scale
    wanted = quants.dequantize(data, GGMLQuantizationType[kind])
    assert np.allclose(unpacked(torch.from_numpy(data), kind, (2, 768)).numpy(), wanted, atol=1e-3)


def test_a_run_goes_on_where_it_stopped(
    tmp_path: Path, base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = {f"w{at}": at for at in range(250)}
    words |= {"<|endoftext|>": 250, "<|im_end|>": 251, "?": 252}
    model = tokenizers.models.WordLevel(words, unk_token="?")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["<|im_end|>", "<|endoftext|>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    dice = np.random.default_rng(0)

    def text(count: int) -> str:
        return " ".join(f"w{at}" for at in dice.integers(0, 250, count))

    def prompts(path: Path, people: list[str]) -> None:
        chats = {who: [f"{who} earlier", f"{who} later"] for who in people}
        about = {"context": {"context_sessions": 1}, "chats": chats}
        lines: list[Any] = [
            {"head": True, "prompt_version": "1", "examples": 5, "sets": {"k1": about}}
        ]
        for who in people:
            fields = ("text", "retrieved", "styled")
            for at in range(12):
                row = {"set": "k1", "part": "learn", "speaker": who, "id": f"{who}{at}"}
                asked = {field: text(9) for field in fields[:2]}
                lines.append({**row, **asked, "reply": text(3)})
            for at in range(3):
                row = {"set": "k1", "part": "test", "speaker": who, "id": f"{who}t{at}"}
                lines.append({**row, **{field: text(9) for field in fields}})
        with lzma.open(path, "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(line) + "\n" for line in lines)

    prompts(tmp_path / "prompts.xz", ["Ann", "Bo", "Cy"])
    prompts(tmp_path / "pilot.xz", ["Di", "Ed"])
    monkeypatch.setattr(Base, "read", lambda *_: base)
    monkeypatch.setattr(people_run, "LEAST_UPDATES", 6)
    monkeypatch.setattr(people_run, "LONGEST", 4)
    monkeypatch.setattr(people_run, "PEOPLE", 2)
    monkeypatch.setattr(people_run, "CURVE_FROM", 10)
    monkeypatch.setattr(people_run, "CURVE", (8,))
    options = ["--prompts", "prompts.xz", "--pilot", "pilot.xz", "--tokenizer", "tokenizer.json"]
    options += ["--base", "none", "--index", "none", "--out", "run"]
    monkeypatch.chdir(tmp_path)

    def call(*more: str) -> None:
        monkeypatch.setattr("sys.argv", ["people_run", *options, *more, "--device", "cpu"])
        people_run.main()

    call("--seconds", "0")  # chooses the rate and begins nothing
    assert not list((tmp_path / "run").glob("adapters/*/*.pt"))
    rate = json.loads((tmp_path / "run/chosen.json").read_text())["chosen"]
    assert rate in people_run.RATES
    call()
    files = sorted((tmp_path / "run/rows").glob("*.jsonl"))
    assert len(files) == 2 * (len(WAYS) + 1)
    adapter = tmp_path / "run/adapters/k1/Bo.pt"
    adapter.unlink()
    (tmp_path / "run/rows/k1-tuned-greedy.jsonl").unlink()
    before = {path: path.stat().st_mtime_ns for path in files if path.exists()}
    monkeypatch.setattr(Run, "bank", lambda *_: None)  # learns again, and finds no bank
    call()
    assert adapter.is_file()
    assert {path: path.stat().st_mtime_ns for path in before} == before
    text_of = (tmp_path / "run/rows/k1-swapped-sampled.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text_of.splitlines()]
    assert lines[0]["simulator"] == "tuned on another sampled"
    assert len(lines) == 1 + 9 and {line["speaker"] for line in lines[1:]} == {"Ann", "Bo", "Cy"}
