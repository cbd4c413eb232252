"""Runs of any benchmark: in memory, in a folder; a benchmark of one's own in one file; stored runs
scored again by today's formulas."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from inspect_tasks import evaluated_task
from persona_chats import ines, ines_choice, light_scorer
from realtalk.cli.own import command
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.evals.running import run
from realtalk.evals.values import Answer, run_schema
from realtalk.files.progress import Progress, silent
from realtalk.pages.report import make_report
from realtalk.persona.benchmark import PersonaBenchmark, rescore_persona
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of
from realtalk.threads.baselines import Majority
from realtalk.threads.benchmark import ThreadTask, rescore_threads, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw
from realtalk.threads.values import PROTOCOLS, Case, protocol, stored_protocol
from refusals import refused
from samples import read_sample

EXAMPLES = Path(__file__).parents[2] / "examples"


SAMPLE = read_sample()


def next_speaker() -> Any:
    """The benchmark that the documentation adds in one file."""
    spec = importlib.util.spec_from_file_location("next_speaker", EXAMPLES / "next_speaker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fourth_benchmark_is_one_short_file(tmp_path: Path) -> None:
    assert (EXAMPLES / "next_speaker.py").read_text("utf-8").count("\n") < 150
    own = next_speaker()
    benchmark = own.NextSpeaker()
    runs = {
        made.name: run(benchmark, SAMPLE, made, tmp_path / made.name)
        for made in (own.SameAgain(), own.TakingTurns())
    }
    frame = pl.read_parquet(tmp_path / "same-again" / "rows.parquet")
    assert frame.schema == run_schema(benchmark.columns)
    assert frame.height == sum(len(tuple(chat.messages)) - 10 for chat in SAMPLE.chats)
    same, turns = (made.variants[""].overall["accuracy"].value for made in runs.values())
    assert same is not None and turns is not None
    truth = [row["answer"] == row["speaker"] for row in runs["same-again"].rows]
    assert same == pytest.approx(sum(truth) / len(truth))
    changes = runs["same-again"].changes(runs["taking-turns"])[""].changes
    assert changes["accuracy"].difference.value == pytest.approx(turns - same)
    failed = runs["same-again"].failures(5)
    assert failed["why"].unique().to_list() == ["wrong"] and len(failed) == 5


def test_it_has_tables_a_page_and_a_command(tmp_path: Path) -> None:
    own = next_speaker()
    for name in ("same-again", "taking-turns"):
        arguments = ["run", "sample", "--solver", name, "--out", str(tmp_path / name)]
        assert command(own.NextSpeaker(), own.SOLVERS, arguments) == 0
    loaded = [Run.load(tmp_path / name) for name in ("same-again", "taking-turns")]
    summary, speakers = loaded[0].table(loaded[1], groups=True)
    assert summary.frame["solver"].to_list() == ["same-again", "taking-turns"]
    assert {"Mara", "Theo"} <= set(speakers.frame["speaker"])
    made = make_report([tmp_path])
    section = next(each for each in made.sections if each.id.startswith("next-speaker-sample"))
    assert [each.title for each in section.tables] == ["Next speaker", "Next speaker, by speaker"]
    assert "is the accuracy of" in made.key_figures[0].says and section.charts
    compared = ["compare", *(str(tmp_path / name) for name in ("same-again", "taking-turns"))]
    assert command(own.NextSpeaker(), own.SOLVERS, compared) == 0


def test_it_is_an_inspect_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    log, calls = evaluated_task(
        next_speaker().next_speaker("sample"), tmp_path, monkeypatch, lambda _call: "Mara", limit=5
    )
    assert log.status == "success" and len(calls) == 5
    assert all("Who writes next?" in call.prompt for call in calls)
    (plain,) = (score for score in log.results.scores if score.name == "plain")
    right = sum(sample.target == "Mara" for sample in log.samples)
    assert plain.metrics["accuracy"].value == pytest.approx(right / 5)


def test_a_solver_is_not_handed_the_truth() -> None:
    own = next_speaker()

    class Nosy(own.TakingTurns):  # type: ignore[misc, name-defined]
        def solve(self, shown: Any, progress: Any = None) -> Any:
            assert all(len(messages) == 10 for messages in shown)
            return super().solve(shown)

    assert run(own.NextSpeaker(), SAMPLE, Nosy()).rows


# --- scored again: what changes, what stays, what is refused ---


CORPUS = ines(4)


def as_ines(folder: Path) -> None:
    benchmark = PersonaBenchmark(CORPUS, tasks_of(CORPUS, [ines_choice()]), light_scorer(CORPUS))
    running.run(benchmark, CORPUS, Constant(), folder)


def rewrite(folder: Path, table: str, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """The table as earlier formulas would have left it."""
    path = folder / f"{table}.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    texts = [json.dumps(row | dict(changes.get(at, {}))) + "\n" for at, row in enumerate(lines)]
    path.write_text("".join(texts), "utf-8")


def test_turns_are_scored_again_and_what_changed_is_said(tmp_path: Path) -> None:
    as_ines(tmp_path / "run")
    straight = Run.load(tmp_path / "run")
    before = (tmp_path / "run" / "rows.jsonl").read_bytes()
    same = rescore_persona(tmp_path / "run", CORPUS, scorer=light_scorer(CORPUS))
    assert (same.changed_rows, same.changed, same.missing) == (0, {}, 0)
    assert (tmp_path / "run" / "rows.jsonl").read_bytes() == before
    rewrite(tmp_path / "run", "rows", {0: {"rouge_1": 0.77, "rouge_l": 0.9}, 3: {"rouge_1": 0.55}})
    rewrite(tmp_path / "run", "groups", {0: {"distinct_1": 0.123}})
    assert Run.load(tmp_path / "run").rows != straight.rows
    found = rescore_persona(tmp_path / "run", CORPUS, scorer=light_scorer(CORPUS))
    assert (found.changed_rows, found.changed) == (2, {"rouge_1": 2, "rouge_l": 1})
    assert found.lines == [
        "scored again: 2 of 12 rows changed",
        "changed: rouge_1 in 2, rouge_l in 1",
    ]
    again = Run.load(tmp_path / "run")
    assert list(again.rows) == list(straight.rows) and list(again.facts) == list(straight.facts)
    as_ines(tmp_path / "run")  # it can be gone on with: its settings are those of a run of today
    assert Run.load(tmp_path / "run").rows == straight.rows


def test_turns_that_are_gone_are_kept_and_counted(tmp_path: Path) -> None:
    as_ines(tmp_path / "run")
    rewrite(tmp_path / "run", "rows", {0: {"rouge_1": 0.77}, 11: {"rouge_1": 0.55}})
    boat = CORPUS.chats[1]
    shorter = replace(CORPUS, chats=(CORPUS.chats[0], replace(boat, sessions=boat.sessions[:3])))
    found = rescore_persona(tmp_path / "run", shorter, scorer=light_scorer(shorter))
    assert (found.changed_rows, found.missing) == (1, 3)
    assert "3 rows are of samples that are not in the corpus: kept as they were" in found.lines
    rows = Run.load(tmp_path / "run").rows
    assert rows[0]["rouge_1"] != 0.77 and rows[11]["rouge_1"] == 0.55
    # A turn under the same key that says something else is another turn.
    first = boat.sessions[0].messages
    other = replace(
        boat.sessions[0], messages=(first[0], replace(first[1], text="red"), *first[2:])
    )
    edited = replace(
        CORPUS, chats=(CORPUS.chats[0], replace(boat, sessions=(other, *boat.sessions[1:])))
    )
    assert rescore_persona(tmp_path / "run", edited, scorer=light_scorer(edited)).missing == 1


def test_runs_that_cannot_be_scored_again_are_refused(tmp_path: Path) -> None:
    as_ines(tmp_path / "run")
    kept = (tmp_path / "run" / "rows.jsonl").read_bytes()
    others = replace(CORPUS, chats=tuple(replace(chat, id=f"X{chat.id}") for chat in CORPUS.chats))
    with refused("none of its chats is in this corpus"):
        rescore_persona(tmp_path / "run", others, scorer=light_scorer(others))
    Run.load(tmp_path / "run").share(tmp_path / "shared")
    with refused("its rows have no answers"):
        rescore_persona(tmp_path / "shared", CORPUS, scorer=light_scorer(CORPUS))
    place = tmp_path / "run" / "run.json"
    told = json.loads(place.read_text("utf-8"))
    told["settings"]["scoring"]["semantic"] = "BERTScore roberta-large layer 17"
    place.write_text(json.dumps(told), "utf-8")
    with refused(r"by BERTScore roberta-large layer 17; .*bertscore"):
        rescore_persona(tmp_path / "run", CORPUS, scorer=light_scorer(CORPUS))
    assert (tmp_path / "run" / "rows.jsonl").read_bytes() == kept


POSTS = read_sample("sample-threads")


class Echoing(Majority):
    """Says of every reply what stands before it."""

    name = "echoing"

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Any]]:
        answers: list[Answer[Any]] = [Answer(case.conversation[-1].text) for case in shown]
        return [Answer(None, "timeout"), *answers[1:]]


def test_texts_are_scored_again(tmp_path: Path, run: Any) -> None:
    chosen = {"limit": 8, "train_limit": None, "seed": 5}
    samples = Draw("next_text", limit=8, seed=5).samples(POSTS)
    task = ThreadTask(samples, ("p-conv", "np-conv"), chosen)
    straight = run_threads(POSTS, task, Echoing(), tmp_path / "run")
    rewrite(tmp_path / "run", "rows", {2: {"bleu": 99.0, "left_out": ["bleu: none"]}})
    found = rescore_threads(tmp_path / "run", lambda: POSTS)
    assert (found.rows, found.missing) == (16, 0)
    assert found.changed == {"left_out": 1, "bleu": 1}
    assert Run.load(tmp_path / "run").rows == straight.rows
    rewrite(tmp_path / "run", "rows", {2: {"bleu": 99.0}})
    _, told, err = run("runs rescore run --json").done
    assert "scored again: 1 of 16 rows changed" in err
    assert "changed: bleu in 1" in err and json.loads(told)["name"] == "echoing"


def test_where_no_scores_are_stored_none_are_rescored(tmp_path: Path, run: Any) -> None:
    task = ThreadTask(Draw("sentiment", limit=8).samples(POSTS), ("p-conv",))
    run_threads(POSTS, task, make_predictor("majority"), tmp_path / "run")
    before = (tmp_path / "run" / "rows.jsonl").read_bytes()
    status, out, err = run("runs rescore run nowhere")  # the corpus is not read
    assert status == 0 and "nothing is stored to be rescored" in err and "accuracy" in out
    assert (tmp_path / "run" / "rows.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "rules",
    [
        *PROTOCOLS.values(),
        protocol("clean", leaks=("sign-shown", "later-history"), split="global", shots=2),
        protocol("clean", with_scores=True, chosen="near"),
    ],
)
def test_a_protocol_comes_back_from_a_runs_settings(rules: Any) -> None:
    again = stored_protocol(json.loads(json.dumps(rules.settings)))
    assert again.settings == rules.settings and again.leaks == rules.leaks
