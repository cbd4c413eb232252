"""`realtalk threads`: samples, prompt, run; and `runs table`, `runs compare` of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from realtalk.formats.opening import open_reading


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small runs on the sample, made once."""
    from realtalk.threads.benchmark import ThreadTask, run_threads
    from realtalk.threads.predictors import make_predictor
    from realtalk.threads.sampling import Draw
    from realtalk.threads.values import SETTINGS

    corpus = open_reading("sample-threads").reading.corpus
    folder = tmp_path_factory.mktemp("runs")
    task = ThreadTask(Draw("sentiment").samples(corpus), SETTINGS)
    for name in ("majority", "mean"):
        run_threads(corpus, task, make_predictor(name), folder / name)
    impact = ThreadTask(Draw("impact").samples(corpus), SETTINGS)
    run_threads(corpus, impact, make_predictor("mean"), folder / "impact")
    return folder


def test_samples_are_counted_and_no_text_is_shown(run: Any) -> None:
    _, out, err = run("threads samples sample-threads").done
    assert "class weight, negative" in out and "test replies" in out
    assert "cutoff" in err
    words = {
        message.text
        for chat in open_reading("sample-threads").reading.corpus.chats
        for message in chat.messages
        if len(message.text) > 20
    }
    assert not any(text in out + err for text in words)
    told = run("threads samples sample-threads --json --limit 20").told
    assert (told["test"], told["protocol"]["protocol"]) == (20, "clean")


def test_one_prompt_is_shown_on_demand(run: Any) -> None:
    out = run("threads prompt sample-threads 1").done.out
    assert "Answer with one word" in out
    assert "no reply '999999'" in run("threads prompt sample-threads 999999").wrong


def test_a_run_is_printed_and_kept(run: Any, tmp_path: Path) -> None:
    words = ("threads", "run", "sample-threads", "-p", "mean", "--setting", "p-conv,np-conv")
    _, out, err = run(*words, "--out", "kept").done
    assert "MCC" in out and "np-conv" in out
    assert "drawing whole users" in err
    assert (tmp_path / "kept" / "rows.parquet").is_file()
    status, out, err = run(*words, "--out", "kept", "--json")
    told = json.loads(out)
    assert told["variants"]["p-conv"]["overall"]["mcc"]["n"] == 160
    err = run(*words[:5], "--task", "impact", "--out", "kept").wrong
    assert "made with other settings" in err
    status, _, _ = run(*words[:5], "--task", "impact", "--out", "kept", "--fresh")
    assert status == 0


def test_settings_and_runs_are_compared(run: Any, runs: Path) -> None:
    own = str(runs / "mean")
    out = run(f"runs compare {own} --variant p-nonconv,p-conv").done.out
    assert "p-conv (second) against p-nonconv (first)" in out
    assert run(f"runs compare-variants {own} p-nonconv p-conv")[:2] == (0, out)
    rows = run(f"runs compare {runs / 'majority'} {own} --json").told["rows"]
    assert {row["variant"] for row in rows} == {"p-conv", "p-nonconv", "np-conv", "np-nonconv"}
    (mcc,) = (row for row in rows if (row["variant"], row["score"]) == ("p-conv", "mcc"))
    assert mcc["difference"] > 0.5
    status, _, err = run(f"runs compare {own} --variant p-conv")
    assert status == 2 and err.startswith("error: ") and err.count("\n") == 1
    assert "compare one task" in run(f"runs compare {own} {runs / 'impact'}").wrong
