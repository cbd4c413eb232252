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
    priced = ("--prices", "prices.json")
    words = ("threads", "sample-threads", "--setting", "p-conv", "--limit", "5", *priced)
    with JudgeServer(lambda call: "positive") as server:
        model = ("--model", "openai-api/local/tiny", "--base-url", server.url)
        kept = ("--set", f"cache={tmp_path}/kept", "--out", "kept-run")
        status, out, err = run(*words, *model, *kept, "--json")
        assert status == 0, err
    (cost,) = json.loads(out)["costs"]
    assert cost["calls"] == 5 and cost["model"] == "openai-api/local/tiny"
    amount = (cost["tokens_in"] * 1000 + cost["tokens_out"] * 2000) / 1_000_000
    assert cost["cost"] == {"amount": pytest.approx(amount), "currency": "EUR"}
    status, out, _ = run("runs", "show", "kept-run", *priced)
    assert status == 0 and f"{amount:,.4f} EUR" in out
    assert json.loads(run("runs", "show", "kept-run", *priced, "--json")[1])["costs"] == [cost]
    costs = rt.Run.load("kept-run").costs(PRICES).frame.row(0, named=True)
    assert costs["amount"] == pytest.approx(amount) and costs["currency"] == "EUR"
    unknown = rt.Run.load("kept-run").costs({}).frame.row(0, named=True)
    assert unknown["amount"] is None and "no price is given" in unknown["unpriced"]


def test_a_run_without_a_model_costs_nothing(run: Any, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    words = ("threads", "sample-threads", "--setting", "p-conv", "--limit", "5")
    status, out, err = run(*words, "--prices", "prices.json")
    assert status == 0 and "nothing to pay" in err and "what it cost" not in out
    (tmp_path / "prices.json").write_text("nothing")
    status, _, err = run(*words, "--prices", "prices.json")
    assert (status, err.count("\n")) == (2, 1) and "prices.json: is not JSON" in err


def test_every_combination_is_run_once(run: Any, tmp_path: Path) -> None:
    words = ("sweep", "predict", "sample-threads", "--set", "predictor=majority,mean")
    more = ("--set", "with-scores=true,false", "--set", "limit=20", "--set", "setting=p-conv")
    status, out, err = run(*words, *more, "--out", "swept")
    assert status == 0, err
    names = sorted(path.name for path in (tmp_path / "swept").iterdir())
    assert names == [
        f"predictor-{who}+with_scores-{shown}"
        for who in ("majority", "mean")
        for shown in ("False", "True")
    ]
    assert "majority" in out and "p-conv" in out and "mcc" in out
    kept = {name: (tmp_path / "swept" / name / "rows.parquet").read_bytes() for name in names}
    status, out, _ = run(*words, *more, "--out", "swept", "--json")
    told = json.loads(out)
    assert status == 0 and [each["run"] for each in told[:1]] == [
        "predictor-majority+with_scores-True"
    ]
    assert told[0]["set"] == {"predictor": "majority", "with_scores": "True"}
    assert {row["n"] for row in told[0]["figures"]} == {20}
    for name in names:
        assert (tmp_path / "swept" / name / "rows.parquet").read_bytes() == kept[name]


@pytest.mark.slow
def test_settings_of_whom_is_tested_are_swept_too(run: Any, tmp_path: Path) -> None:
    words = ("sweep", "simulate", "sample", "--set", "simulator=constant", "--set", "limit=3")
    more = ("--set", "speaker=Mara", "--set", "says=ok,haha no")
    status, out, err = run(*words, *more, "--out", "swept", "--json")
    assert status == 0, err
    assert [each["set"] for each in json.loads(out)] == [{"says": "ok"}, {"says": "haha no"}]
    answers = {name: rt.Run.load(tmp_path / "swept" / name).rows[0]["answer"]
               for name in ("says-ok", "says-haha-no")}  # fmt: skip
    assert list(answers.values()) == ["ok", "haha no"]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("--set", "limit"), "'limit' is not KEY=VALUE"),
        (("--set", "limit=1,x"), "'x' is no whole number"),
        (("--set", "out=a,b"), "'out' is not to be swept"),
        (("--set", "limit=1", "--set", "limit=2"), "'limit' is set twice"),
        (
            ("--set", "predictor=mean", "--set", "scales=raw,log"),
            "unknown setting of the predictor",
        ),
        ((), "--set is missing"),
    ],
)
def test_what_cannot_be_swept_is_said(run: Any, given: tuple[str, ...], line: str) -> None:
    status, _, err = run("sweep", "predict", "sample-threads", *given, "--out", "swept")
    assert (status, err.count("\n")) == (2, 1), err
    assert line in err


def test_python_sweeps_any_benchmark(tmp_path: Path) -> None:
    axes = {"memory": ["none", "recent"], "budget": "500, 500"}
    found = rt.sweep(rt.probe, "sample", axes=axes, out=tmp_path, limit=3)
    assert list(found.runs) == ["memory-none", "memory-recent"]
    assert set(found.summary().frame["memory"]) == {"none", "recent"}
