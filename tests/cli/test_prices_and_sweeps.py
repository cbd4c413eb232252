"""`--prices` beside tokens, and `sweep` over combinations of settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from judge_server import JudgeServer

PRICES = {"openai-api/local/tiny": {"input": 1000, "output": 2000, "currency": "EUR"}}


def test_a_run_says_what_it_cost(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    priced = "--prices prices.json"
    words = f"threads sample-threads --setting p-conv --limit 5 {priced}"
    with JudgeServer(lambda call: "positive") as server:
        model = f"--model openai-api/local/tiny --base-url {server.url}"
        kept = f"--set cache={tmp_path}/kept --out kept-run"
        out = run(f"{words} {model} {kept} --json").done.out
    (cost,) = json.loads(out)["costs"]
    assert cost["calls"] == 5 and cost["model"] == "openai-api/local/tiny"
    amount = (cost["tokens_in"] * 1000 + cost["tokens_out"] * 2000) / 1_000_000
    assert cost["cost"] == {"amount": pytest.approx(amount), "currency": "EUR"}
    assert f"{amount:,.4f} EUR" in run(f"runs show kept-run {priced}").done.out
    assert run(f"runs show kept-run {priced} --json").told["costs"] == [cost]
    costs = rt.Run.load("kept-run").costs(PRICES).frame.row(0, named=True)
    assert costs["amount"] == pytest.approx(amount) and costs["currency"] == "EUR"
    unknown = rt.Run.load("kept-run").costs({}).frame.row(0, named=True)
    assert unknown["amount"] is None and "no price is given" in unknown["unpriced"]


def test_a_run_without_a_model_costs_nothing(run: Any, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    words = "threads sample-threads --setting p-conv --limit 5"
    _, out, err = run(f"{words} --prices prices.json").done
    assert "nothing to pay" in err and "what it cost" not in out
    (tmp_path / "prices.json").write_text("nothing")
    assert "prices.json: is not JSON" in run(f"{words} --prices prices.json").wrong


def test_every_combination_is_run_once(run: Any, tmp_path: Path) -> None:
    words = "sweep predict sample-threads --set predictor=majority,mean"
    more = "--set with-scores=true,false --set limit=20 --set setting=p-conv"
    out = run(f"{words} {more} --out swept").done.out
    names = sorted(path.name for path in (tmp_path / "swept").iterdir())
    assert names == [
        f"predictor-{who}+with_scores-{shown}"
        for who in ("majority", "mean")
        for shown in ("False", "True")
    ]
    assert "majority" in out and "p-conv" in out and "mcc" in out
    kept = {name: (tmp_path / "swept" / name / "rows.parquet").read_bytes() for name in names}
    told = run(f"{words} {more} --out swept --json").told
    assert told[0]["run"] == "predictor-majority+with_scores-True"
    assert told[0]["set"] == {"predictor": "majority", "with_scores": "True"}
    assert {row["n"] for row in told[0]["figures"]} == {20}
    for name in names:
        assert (tmp_path / "swept" / name / "rows.parquet").read_bytes() == kept[name]


def test_python_sweeps_any_benchmark(tmp_path: Path) -> None:
    axes = {"memory": ["none", "recent"], "budget": "500, 500"}
    found = rt.sweep(rt.probe, "sample", axes=axes, out=tmp_path, limit=3)
    assert list(found.runs) == ["memory-none", "memory-recent"]
    assert set(found.summary().frame["memory"]) == {"none", "recent"}
