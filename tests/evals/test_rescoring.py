"""Stored runs scored again by today's formulas: what changes, what stays, what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_chats import ines, ines_choice, light_scorer
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.persona.benchmark import PersonaBenchmark, rescore_persona
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of
from realtalk.threads.baselines import Majority
from realtalk.threads.benchmark import ThreadTask, rescore_threads, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import make_samples
from realtalk.threads.values import PROTOCOLS, Case, protocol, stored_protocol
from refusals import refused
from samples import read_sample

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
    samples = make_samples(POSTS, "next_text", limit=8, seed=5)
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
    task = ThreadTask(make_samples(POSTS, "sentiment", limit=8), ("p-conv",))
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
