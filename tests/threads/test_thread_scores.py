"""Rows, figures over them, comparisons, tables and pictures; a run: going on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from realtalk.evals.run import Run
from realtalk.evals.tables import compared_table, run_tables
from realtalk.evals.values import Answer, Row, run_schema
from realtalk.files.progress import silent
from realtalk.metrics.statistics import holm
from realtalk.threads.baselines import Majority, Regression
from realtalk.threads.benchmark import ThreadTask, best_of, draw_runs, predictions, run_threads
from realtalk.threads.predictors import Value, make_predictor
from realtalk.threads.sampling import Draw, Samples
from realtalk.threads.scoring import scores_of
from realtalk.threads.values import Case, Protocol, Setting, Task
from refusals import refused
from samples import read_sample
from thread_items import item, scored

Pairs = list[tuple[float | None, Value | None]]


def _rows(
    task: Task,
    pairs: Pairs,
    setting: Setting = "p-conv",
    text: str = "the cat sat down",
) -> list[Row]:
    """One row per pair of truth and prediction, of ten users in three domains."""
    samples = [
        item(
            *(at, truth),
            text=text,
            task=task,
            setting=setting,
            user=f"u{at % 10}",
            domain=("birds", "cats", "dogs")[at % 3],
        )
        for at, (truth, _) in enumerate(pairs)
    ]
    said: list[Answer[Value]] = [
        Answer(value, "" if value is not None else "no label") for _, value in pairs
    ]
    return scored(task, samples, said)


def test_rows_of_all_tasks_have_one_form() -> None:
    row = _rows("sentiment", [(3.0, True)])[0]
    assert (row["truth"], row["predicted"], row["truth_text"]) == (3.0, 1.0, None)
    assert (row["answer"], row["group"], row["variant"]) == ("positive", "u0", "p-conv")
    assert _rows("next_text", [(None, "x")])[0]["truth_text"] == "the cat sat down"


def test_malformed_answers_are_unscored_and_wrong_in_the_strict_score() -> None:
    pairs: Pairs = (
        [(1.0, True)] * 30 + [(-1.0, False)] * 10 + [(1.0, None)] * 5 + [(None, True)] * 3
    )
    scores = predictions("x", "sentiment", _rows("sentiment", pairs)).variants["p-conv"]
    assert scores.overall["accuracy"].value == 1.0
    assert (scores.overall["accuracy"].n, scores.overall["accuracy"].left_out) == (40, 5)
    # All right of ten users, of whom no draw differs: 95 % of ten leaves room down to .72.
    assert scores.overall["accuracy"].low == pytest.approx(10 / (10 + 1.96**2), abs=1e-3)
    assert scores.strict["accuracy"].value == pytest.approx(40 / 45)
    assert scores.strict["accuracy"].n == 45
    assert scores.unscored == {"no label": 5}
    assert scores.untold == {"the reply has no score": 3}
    assert (scores.rows, scores.scored, scores.groups) == (48, 40, 10)
    assert scores.facts["positive"] == pytest.approx(35 / 45)
    mcc: Any = scores.strict["mcc"]
    assert mcc.low <= mcc.value < 1


def test_a_missing_number_is_as_wrong_as_a_guess_can_sensibly_be() -> None:
    truths = [float(at) for at in range(101)]
    pairs: Pairs = [(truth, truth) for truth in truths]
    pairs[20] = (20.0, None)
    pairs[90] = (90.0, None)
    scores = predictions("x", "impact", _rows("impact", pairs)).variants["p-conv"]
    assert scores.overall["mae"].value == 0.0
    assert scores.strict["mae"].value == pytest.approx(((99 - 20) + (90 - 1)) / 101)
    spearman = scores.strict["spearman"].value
    assert spearman is not None and 0.5 < spearman < 1


def test_texts_are_compared_and_what_nothing_has_stays_unscored() -> None:
    pairs: Pairs = (
        [(None, "the cat sat down")] * 6 + [(None, "dogs run far")] * 6 + [(None, None)] * 4
    )
    rows = _rows("next_text", pairs)
    assert rows[0]["rouge_1"] == pytest.approx(1.0)
    assert rows[0]["bleu"] == pytest.approx(1.0)
    assert rows[0]["cosine"] == pytest.approx(1.0, abs=1e-5)
    assert rows[6]["rouge_1"] == 0.0
    assert rows[6]["cosine"] < 0.6
    scores = predictions("x", "next_text", rows).variants["p-conv"]
    assert scores.overall["rouge_1"].value == pytest.approx(0.5)
    assert scores.strict["rouge_1"].value == pytest.approx(6 / 16)
    if rows[0]["meteor"] is None:
        assert scores.overall["meteor"].value is scores.strict["meteor"].value is None
        assert any("wordnet" in why for why in scores.left_out)
    wordless = _rows("next_text", [(None, "x")], text=" ")[0]
    assert (wordless["untold"], wordless["rouge_1"]) == ("the reply has no words", None)


def _two_settings() -> list[Row]:
    draws = np.random.default_rng(8)
    truth = [1.0 if draws.random() < 0.7 else -1.0 for _ in range(300)]
    rows = []
    for setting, right in (("p-nonconv", 0.6), ("p-conv", 0.9)):
        said = [(real > 0) == bool(draws.random() < right) for real in truth]
        rows += _rows("sentiment", list(zip(truth, said, strict=True)), setting)  # type: ignore[arg-type]
    return rows


def test_settings_are_compared_reply_by_reply() -> None:
    run = predictions("ours", "sentiment", _two_settings())
    found = run.compare_variants("p-nonconv", "p-conv")
    mcc: Any = found.changes["mcc"]
    assert (mcc.n, mcc.groups) == (300, 10)
    assert mcc.relative.value == pytest.approx(mcc.second / mcc.first - 1)
    assert mcc.relative.low > 0 and mcc.p < 0.05
    corrected = holm([each.p for each in found.changes.values()])  # all scores together
    assert [each.p_holm for each in found.changes.values()] == corrected
    assert "the paper's GPT-4.1 gains +199%" in found.further["notes"][-1]  # the abstract's 198 %
    assert not run.compare_variants("p-conv", "p-nonconv").further["notes"]
    headings, table = compared_table({"": found}, run.scores, samples="replies", groups="users")
    better = dict(zip(headings, table[-1], strict=True))
    assert (better["score"], better["better"]) == ("MCC", "p-conv")
    assert better["relative"].startswith("+149%")
    with refused("unknown-setting"):
        run.compare_variants("p-nonconv", "np-conv")
    elsewhere = [row | {"variant": "np-conv"} for row in run.rows[:2]]
    with refused("no setting in common"):
        run.changes(predictions("x", "sentiment", elsewhere))


def _best(task: Task, runs: list[list[Row]]) -> Run:
    return best_of([predictions(f"{at}", task, rows) for at, rows in enumerate(runs)])


def test_the_best_of_n_is_chosen_by_the_truth() -> None:
    draws = np.random.default_rng(6)
    truth = [1.0 if draws.random() < 0.6 else -1.0 for _ in range(200)]
    runs = [
        _rows("sentiment", [(real, bool(draws.random() < 0.5)) for real in truth])
        for _ in range(10)
    ]
    one: Any = predictions("one", "sentiment", runs[0]).variants["p-conv"].overall["accuracy"]
    best: Any = _best("sentiment", runs).variants["p-conv"].overall["accuracy"]
    assert one.value < 0.6 and best.value > 0.98  # of coin tosses
    texts = [
        _rows("next_text", [(None, said)]) for said in ("the cat", "cat cat cat cat cat sat", "no")
    ]
    mixed = _best("next_text", texts).rows[0]
    assert mixed["rouge_1"] == max(rows[0]["rouge_1"] for rows in texts)
    assert mixed["cosine"] == max(rows[0]["cosine"] for rows in texts)
    numbers = [_rows("impact", [(5.0, said)]) for said in (9.0, 4.0, None)]
    assert _best("impact", numbers).rows[0]["predicted"] == 4.0
    with refused("two runs"):
        _best("sentiment", runs[:1])


def test_tables_stand_beside_the_paper() -> None:
    found = predictions("ours", "sentiment", _two_settings())
    summary, domains = run_tables({"ours": found})
    headings, table = summary.lines
    assert headings[-1] == "MCC"
    assert [row[:2] for row in table[:2]] == [("ours", "p-conv"), ("ours", "p-nonconv")]
    assert ("paper: GPT-4.1", "p-conv") in [row[:2] for row in table]
    paper = next(row for row in table if row[0] == "paper: GPT-4.1")
    assert paper[headings.index("MCC")] == "0.677"
    assert paper[headings.index("balanced accuracy")] is None
    holed = _rows("sentiment", [(1.0, True)] * 9 + [(-1.0, None)])
    (own,) = predictions("holed", "sentiment", holed).table(published=False)
    assert own.frame["predictor"].to_list() == ["holed", "holed, strict"]
    assert domains.frame["domain"].to_list() == ["birds", "cats", "dogs"] * 2
    assert domains.frame.width == 4 + len(scores_of("sentiment"))
    json.dumps(found.to_json())


def test_pictures_hold_every_domain() -> None:
    found = predictions("ours", "sentiment", _two_settings())
    charts = draw_runs([found])
    assert set(charts) == {"sentiment-balanced_accuracy", "sentiment-mcc"}
    drawn: dict[str, Any] = charts["sentiment-mcc"].to_dict()
    text = json.dumps(drawn)
    assert "cats" in text and "dogs" in text and "p-nonconv" in text
    side = draw_runs([found, predictions("other", "sentiment", _two_settings())])
    assert {name for name in side if "np-conv" in name} == set()
    assert '"other"' in json.dumps(side["sentiment-p-conv-mcc"].to_dict())


# --- a run: its rows, going on after a kill ---


CORPUS = read_sample("sample-threads")


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Draw("sentiment", limit=60).samples(CORPUS)


class Nosy(Majority):
    """Looks at everything it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Case] = []

    def prepare(self, learning: Any, progress: Any = None) -> None:
        assert {case.target.part for case in learning} == {"train"}

    def solve(self, shown: Any, progress: Any = None) -> list[Answer[Any]]:
        self.seen += shown
        return [Answer(True)] * len(shown)


def test_a_run_has_a_row_a_reply_and_setting(samples: Samples, tmp_path: Path) -> None:
    nosy = Nosy()
    task = ThreadTask(samples, ("p-conv", "np-nonconv"))
    found = run_threads(CORPUS, task, nosy, tmp_path / "run")
    frame = pl.read_parquet(tmp_path / "run" / "rows.parquet")
    assert frame.schema == run_schema(task.columns)
    assert frame.height == 120
    keys = [target.key for target in samples.part("test")]
    assert frame["sample"].to_list() == keys * 2
    assert found.variants["p-conv"].overall["mcc"].value == 0.0
    # Nobody who predicts is handed the truth.
    assert all(sample.target.score is None and not sample.target.text for sample in nosy.seen)
    # A second call has nothing left to do.
    nosy.seen.clear()
    run_threads(CORPUS, task, nosy, tmp_path / "run")
    assert not nosy.seen
    with refused(r"settings is .* there"):
        run_threads(CORPUS, ThreadTask(samples, ("p-conv",)), nosy, tmp_path / "run")
    with refused("a run of thread tasks, not of"):
        Run.load(tmp_path / "run", "persona simulation")


def test_what_is_not_clean_is_said(tmp_path: Path) -> None:
    open_ = Draw("impact", Protocol(with_scores=True), limit=40).samples(CORPUS)
    shown = ThreadTask(open_, ("p-conv",))
    run = run_threads(CORPUS, shown, make_predictor("parent"), tmp_path / "p")
    assert run.name == "parent [with scores]"
    assert any("as of the crawl" in note for note in run.cautions)
    leaky = Protocol(leaks=("sign-shown",))
    told = ThreadTask(Draw("impact", leaky, limit=40).samples(CORPUS), ("p-conv",))
    run = run_threads(CORPUS, told, make_predictor("mean"), tmp_path / "m")
    assert run.name == "mean (log) [clean+sign-shown]"
    assert any("leaks" in note for note in run.cautions)
    with refused("`with_scores=True`"):
        run_threads(CORPUS, told, make_predictor("parent"), tmp_path / "x")
    assert not (tmp_path / "x").exists()


class Small(Regression):
    at_once, solved = 16, 0

    def solve(self, shown: Any, progress: Any = silent) -> Any:
        self.solved += len(shown)
        return super().solve(shown, progress)


def test_a_run_that_was_cut_off_says_so_and_goes_on_to_equal_rows(tmp_path: Path) -> None:
    """In the midst of a block, and of a row: what a kill leaves of the rows."""
    task = ThreadTask(Draw("impact").samples(CORPUS), ("p-conv",))
    run_threads(CORPUS, task, Small(texts=False), tmp_path)
    rows, table = tmp_path / "rows.jsonl", tmp_path / "rows.parquet"
    whole, steady = rows.read_bytes(), table.read_bytes()
    there = b"".join(whole.splitlines(keepends=True)[:25])
    table.unlink()
    rows.write_bytes(whole[: len(there) + 40])
    assert any("25 of 160 predictions" in note for note in Run.load(tmp_path).cautions)
    rest = Small(texts=False)
    run_threads(CORPUS, task, rest, tmp_path)
    assert rest.solved == 160 - 16  # a block that is there is not solved again
    assert rows.read_bytes() == whole and table.read_bytes() == steady
