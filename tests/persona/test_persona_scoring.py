"""Scores of turns, of speakers and of two simulators side by side; runs that go on where they were
stopped, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from persona_chats import RuleLabeller, WordEncoder, ines, ines_choice, light_scorer, sample_labels
from realtalk.ei.labels import Label, TurnInput, turn_inputs
from realtalk.evals import running
from realtalk.evals.comparing import RunComparison
from realtalk.evals.run import Run, join_runs
from realtalk.evals.tables import compared_table
from realtalk.evals.values import Answer, Row, row_of, run_schema
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.metrics.statistics import Estimate
from realtalk.persona.benchmark import PersonaBenchmark, languages_of
from realtalk.persona.scoring import (
    AGREEMENTS,
    COLUMNS,
    DIFFERENCES,
    SCORES,
    WORDLESS,
    TurnScorer,
    WhoWroteIt,
    hold_trial,
)
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, PersonaTurn, Simulator, TurnPrompt
from refusals import refused

CORPUS = ines(8)


def the_task() -> PersonaTask:
    return tasks_of(CORPUS, [ines_choice(24)])[0]


def score(task: PersonaTask, answers: Sequence[Answer[str]]) -> tuple[list[Row], Row]:
    """The rows that a run would have, and its facts."""
    benchmark = PersonaBenchmark(CORPUS, [task], light_scorer(CORPUS))
    (stage,) = benchmark.stages(CORPUS)
    columns = benchmark.score(stage.samples, answers)
    rows = list(map(row_of, stage.samples, answers, columns))
    return rows, {"group": task.speaker, **benchmark.facts(stage, rows)}


def scored(says: Callable[[PersonaTurn], str | None]) -> tuple[list[Row], Row]:
    task = the_task()
    return score(
        task, [Answer(said, "" if said else "no answer") for said in map(says, task.turns)]
    )


def simulated(name: str, rows: Sequence[Row], facts: Sequence[Row]) -> Run:
    settings = {"solver": {"name": name, "settings": {}}, "chats": {}, "scoring": {}}
    return Run(PersonaBenchmark, settings, rows, facts=facts)


def compare(one: Run, other: Run) -> RunComparison:
    return one.changes(other)[""]


def test_the_truth_itself_gets_the_best_of_every_score() -> None:
    rows, facts = scored(lambda turn: turn.text)
    for row in rows:
        for name in ("rouge_1", "rouge_l", "cosine", "semantic", *AGREEMENTS, "length_ratio"):
            assert row[name] == pytest.approx(1.0), name
        assert row["intimacy"] == row["empathy"] == 0.0
        assert row["unscored"] is None and row["left_out"] == []
        assert set(row) == set(run_schema(COLUMNS))
    one = simulated("truth", rows, [facts]).variants[""].slices["Ines"]
    assert one["kappa_sentiment"].value == pytest.approx(1.0)
    assert one["js_emotion"].value == pytest.approx(0.0)
    assert facts["distinct_1"] == facts["distinct_1_truth"]
    assert one["taken_for"].value == facts["ceiling"]["value"]


def test_scores_say_what_the_person_wrote_in() -> None:
    task = the_task()
    lines = ("mañana pintamos el barco otra vez", "no sé, hay que leer las reglas primero")
    turns = tuple(replace(turn, text=lines[at % 2]) for at, turn in enumerate(task.turns))
    rows, facts = score(replace(task, turns=turns), [Answer("ok then")] * len(turns))
    assert facts["by_language"] == [{"language": "es", "turns": len(turns)}]
    found = simulated("constant", rows, [facts | {"measure": "embedded"}])
    line = f"Boat: hardly any English in {len(turns)} turns; the English encoder labelled them"
    assert languages_of(found)[0].english == 0.0
    assert found.cautions[0].startswith(line)
    assert found.to_json()["languages"]["notes"][0].startswith(line)
    # The rules of this test's labeller are no model that learned a language.
    assert simulated("constant", rows, [facts]).cautions == ()


def test_what_was_not_simulated_is_unscored_and_counted() -> None:
    first = the_task().turns[0].id
    rows, facts = scored(lambda turn: None if turn.id == first else "haha ok")
    assert rows[0]["unscored"] == "no answer"
    assert all(rows[0][name] is None for name in SCORES)
    run = simulated("some", rows, [facts])
    found = run.variants[""]
    assert found.scored == len(rows) - 1 == found.overall["rouge_1"].n
    assert found.overall["rouge_1"].left_out == 1
    assert run.remarks() == ["some, unscored: 1 no answer"]
    # A label that cannot be made leaves only its own score out.
    (row, *_), _ = scored(lambda _: "haha really?")
    assert row["unscored"] is None and row["rouge_1"] is not None and row["emotion"] is None
    assert "emotion: a question" in row["left_out"]


def test_a_turn_without_words_has_no_truth() -> None:
    task = the_task()
    turns = (replace(task.turns[0], text=" "), *task.turns[1:])
    rows, facts = score(replace(task, turns=turns), [Answer("haha ok")] * len(turns))
    assert rows[0]["untold"] == WORDLESS and rows[0]["unscored"] is None
    assert rows[0]["rouge_1"] is None is rows[0]["emotion_simulated"]
    run = simulated("some", rows, [facts])
    found = run.variants[""]
    assert found.scored == len(rows) - 1 and found.unscored == {}
    assert run.remarks() == [f"some, without a truth: 1 {WORDLESS}"]


def test_the_judge_of_authorship_tells_people_apart() -> None:
    own = [f"haha lol {word} !!" for word in ("oven", "bread", "tea", "dough", "salt") * 4]
    others = [f"I should like to mention {word}." for word in ("rope", "paint", "wind", "oar") * 5]
    judge = WhoWroteIt.learn(own, others)
    mine, theirs = judge.shares(["haha lol cake !!", "I should like to mention cake."])
    assert mine > 0.7 and theirs < 0.3
    # One learned word for word is judged by the model that was not told its writer.
    odd = "paint the rope"
    taught = WhoWroteIt.learn([*own, odd], others)
    fold = len(set(own)) % 5
    unaware = taught._models[fold].predict_proba(taught._features.transform([odd]))[0, 1]
    assert taught.shares([odd]) == [pytest.approx(unaware)]
    assert judge.shares([]) == []


def test_a_trial_never_learns_from_the_tested_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    task = the_task()
    learned: list[str] = []
    real = WhoWroteIt.learn

    def listening(own: Any, others: Any) -> WhoWroteIt:
        learned.extend([*own, *others])
        return real(own, others)

    monkeypatch.setattr(WhoWroteIt, "learn", listening)
    trial = hold_trial(CORPUS, task)
    tested = {turn.text for turn in task.turns}
    assert learned and not tested & set(learned)
    assert trial.partner_from == "the tested chat, first half"  # Juno has no other chat
    asked = [text for text in learned if "Yellow" in text]
    assert asked and all("boatx" in text and text.split("x")[-2] in "1234" for text in asked)
    assert (trial.ceiling.n, trial.floor.n) == (24, 12)
    assert (trial.learned_own, trial.learned_others) == (24, 12)


@cache
def invented(better: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Rows of eight speakers, of which a part `better` agrees."""
    rng = np.random.default_rng(seed)
    rows, facts = [], []
    for who in range(8):
        for at in range(30):
            row: Row = dict.fromkeys(run_schema(COLUMNS))
            row |= {name: float(rng.random() < better) for name in AGREEMENTS}
            row |= {name: float(rng.random()) for name in ("rouge_1", "rouge_l", "cosine")}
            row |= {"semantic": 0.5, "intimacy": rng.random(), "empathy": 1 - better}
            row |= {"group": f"S{who}", "sample": f"C#{at}", "variant": "", "left_out": []}
            row |= dict.fromkeys(("taken_for", "length_ratio"), 1.0)
            row |= dict.fromkeys(("tokens_in", "tokens_out", "calls"), 0)
            for name in AGREEMENTS:
                label = str(rng.integers(0, 3))
                row |= {f"{name}_truth": label, f"{name}_simulated": label if row[name] else "x"}
            rows.append(row)
        fact: Row = {f"distinct_{n}{end}": 0.5 for n in (1, 2) for end in ("", "_truth")}
        whole = Estimate(0.5).to_json()
        fact |= {"group": f"S{who}", "learn": "A", "test": "C", "ceiling": whole}
        fact |= {"measure": "rules", "version": "1", "by_language": []}
        facts.append(fact | {"floor": whole, "consistency": 0.1 * who})
    return rows, facts


@cache
def summed(better: float, seed: int) -> Run:
    return simulated(f"{better}", *invented(better, seed))


def test_a_real_difference_is_found_and_chance_is_not() -> None:
    found = compare(summed(0.3, 1), summed(0.8, 2))
    test = found.changes["reflective"]
    assert (test.groups, test.n) == (8, 240) and found.further["better"]["reflective"] == (8, 0)
    change = test.difference
    assert change.value == pytest.approx((test.second or 0) - (test.first or 0))
    assert change.low is not None and change.low < (change.value or 0) < (change.high or 0)
    assert test.p == pytest.approx(2 / 2**8)
    assert found.further["better"]["empathy"] == (8, 0)  # less is better there
    assert found.changes["empathy"].difference.value == pytest.approx(-0.5)
    rouge = found.changes["rouge_1"]
    assert rouge.p_holm is not None and rouge.p_holm > 0.05
    ei = [found.changes[name] for name in (*AGREEMENTS, *DIFFERENCES)]
    clearest = min(ei, key=lambda change: change.p or 1)  # corrected within its family alone
    assert clearest.p_holm == pytest.approx(6 * (clearest.p or 0))
    assert found.changes["semantic"].p == 1.0  # no change at all
    assert found.further["better"]["semantic"] == (0, 0)
    assert found.further["better"]["js_emotion"] == (8, 0)
    few = [row for row in invented(0.8, 2)[0] if int(row["sample"].partition("#")[2]) < 10]
    shared = compare(summed(0.3, 1), simulated("few", few, invented(0.8, 2)[1]))
    assert shared.changes["kappa_sentiment"].n == 80  # of the shared turns, too
    assert "length_ratio" not in found.changes  # neither more nor less is better
    gains = list(found.further["gains"].values())
    expected = np.corrcoef(gains, [0.1 * who for who in range(8)])[0, 1]
    assert found.further["gain_and_consistency"].value == pytest.approx(expected)
    assert "8 speakers" in found.further["notes"][-1]


def test_a_gain_is_in_spreads_of_the_first_side_and_less_error_is_one() -> None:
    rows, facts = deepcopy(invented(0.5, 5))
    for at, row in enumerate(rows):
        row |= dict.fromkeys(SCORES)
        row |= {"intimacy": 0.2 + 0.4 * (at % 2), "emotion": float(at % 2)}
    others = deepcopy(rows)
    for row in others:
        row["intimacy"] -= 0.1  # nearer to the person by half a spread
        row["emotion"] = 1.0  # and so from a half to the whole, which is one spread
    found = compare(simulated("a", rows, facts), simulated("b", others, facts))
    assert list(found.further["gains"].values()) == pytest.approx([0.75] * 8)


def test_one_long_answer_does_not_outweigh_the_others() -> None:
    rows, facts = deepcopy(invented(0.5, 5))
    for row in rows[:30]:
        row["length_ratio"] = 0.5
    rows[0]["length_ratio"] = 300.0
    found = simulated("long", rows, facts).variants[""].slices["S0"]["length_ratio"]
    assert found.value == 0.5 and found.high == 0.5


def test_both_texts_are_labelled_in_the_place_of_the_turn() -> None:
    """After the same turns of its session, and nothing of the sessions before."""
    seen: list[TurnInput] = []

    class Listening(RuleLabeller):
        def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
            seen.extend(inputs)
            return super().label(inputs, progress)

    task = the_task()
    said = [Answer("haha ok")] * len(task.turns)
    TurnScorer(CORPUS, Listening(), Similarity(WordEncoder())).rows(task, task.turns, said)
    real, made = seen[: len(said)], seen[len(said) :]
    known = {(given.chat, given.ids): given for given in turn_inputs(CORPUS)}
    for truth, simulated in zip(real, made, strict=True):
        assert truth.text != simulated.text == "haha ok"
        assert replace(simulated, text=truth.text) == truth
        whole = known[truth.chat, truth.ids]
        assert (truth.previous, tuple(truth.history)) == (whole.previous, tuple(whole.history))
    assert {truth.session for truth in real} == set(range(1, 9))


def test_tables_stand_beside_the_paper_and_chance() -> None:
    a, b = summed(0.3, 1), summed(0.8, 2)
    summary, beyond, *_ = a.table(b, groups=True)
    assert summary.frame["simulator"].to_list()[:2] == ["0.3", "0.8"]
    assert "1.24 ± 0.12" in summary.frame.rows()[-1]
    ends = ["the person (ceiling)", "the partner's real turns", "chance"]
    assert beyond.frame["simulator"].to_list()[2:] == ends
    assert beyond.frame["taken for the speaker"].to_list()[-1] == "0.50"
    headings, _ = compared_table({"": compare(a, b)}, a.scores, samples="turns", groups="speakers")
    assert headings[-1] == "better for"


def test_a_distance_counts_the_turns_that_lack_a_label() -> None:
    rows, facts = deepcopy(invented(0.8, 2))
    rows[0]["emotion_simulated"] = rows[1]["emotion_truth"] = None
    found = simulated("gaps", rows, facts).variants[""].slices["S0"]
    for name in ("js_emotion", "kappa_emotion"):
        assert (found[name].n, found[name].left_out) == (28, 2)


# --- runs that go on where they were stopped, and the command ---


SHORT = ines(4)


def short_task(**context: int) -> PersonaTask:
    return tasks_of(SHORT, [ines_choice()], **context)[0]


def run_task(
    simulator: Simulator, folder: Path, task: PersonaTask | None = None, limit: int | None = None
) -> Run:
    scorer = light_scorer(SHORT)
    benchmark = PersonaBenchmark(SHORT, [task or short_task()], scorer, limit)
    return running.run(benchmark, SHORT, simulator, folder)


class Failing(Constant):
    name = "failing"
    asks = True

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        found = super().solve(shown, progress)
        return [Answer(None, "timeout"), *found[1:]] if self.fails else found


def test_what_failed_is_tried_again_and_facts_follow_the_rows(tmp_path: Path) -> None:
    first = run_task(Failing(True), tmp_path)
    stale = (tmp_path / "groups.jsonl").read_bytes()
    then = run_task(Failing(False), tmp_path)
    assert first.variants[""].unscored == {"timeout": 1} and not then.variants[""].unscored
    assert [fact["scored"] for fact in (*first.facts, *then.facts)] == [11, 12]
    with refused("no scores yet"):  # stopped among its rows
        PersonaBenchmark.check(replace(then, facts=()))
    for left in (stale, b""):  # killed after the last row, before what is known of the speaker
        (tmp_path / "groups.jsonl").write_bytes(left)
        run = run_task(Failing(False), tmp_path)
        assert list(run.rows) == list(then.rows) and list(run.facts) == list(then.facts)


def test_runs_of_one_speaker_are_not_joined_twice(tmp_path: Path) -> None:
    run = run_task(Constant(), tmp_path, limit=3)
    assert [row["sample"] for row in run.rows] == ["Boat#1", "Boat#3", "Boat#5"]
    assert join_runs("constant", [run]).rows == run.rows
    with refused("Ines is also in"):
        join_runs("constant", [run, run])


def test_a_shared_run_has_its_scores_and_no_text(tmp_path: Path) -> None:
    task = short_task()
    run = run_task(Constant(), tmp_path / "run")
    copy = run.share(tmp_path / "shared")
    assert copy.to_json() == run.to_json()
    assert copy.settings == run.settings and list(copy.versions) == list(run.versions) != []
    found = pl.read_parquet(tmp_path / "shared" / "rows.parquet")
    written = {turn.text for turn in task.turns} | {"ok"}
    for column in found:
        assert column.dtype != pl.String or not written & set(column)
    names = {path.name for path in (tmp_path / "shared").iterdir()}
    assert names == {"run.json", "rows.parquet", "groups.parquet"}
    for taken in ("shared", "run/run.json"):
        with refused("is not empty"):
            run.share(tmp_path / taken)


def test_the_command_from_turns_to_comparison(run: Any, tmp_path: Path) -> None:
    sample_labels().write_parquet(tmp_path / "labels.parquet")
    known = ("sample", "--labels", "labels.parquet")
    found = run("persona", "turns", *known, "--json", "--out", "turns.jsonl").told
    assert found["rows"][0]["speaker"] == "Mara" and found["turns"] > 100
    lines = (tmp_path / "turns.jsonl").read_text().splitlines()
    assert len(lines) == found["turns"] and set(json.loads(lines[0])) == {"speaker", "id", "prompt"}

    words = ("persona", "run", *known, "--limit", "12", "--simulator", "constant")
    out = run(*words, "--out", "constant").done.out
    assert "what raw agreement does not show" in out and "Table 2" not in out
    assert run("runs table flat=constant --json").told[0]["name"] == "flat"
    compared = run("runs compare constant constant --json").told["details"][""]
    rouge, kappa = (compared["changes"][name] for name in ("rouge_1", "kappa_sentiment"))
    assert (rouge["n"], rouge["groups"]) == (12, 1)
    assert rouge["p"] is kappa["p"] is None  # one speaker is no sample of people
    Path("constant").rename("k=3")  # a folder may be called like NAME=RUN
    assert run("runs table k=3 --json").told[0]["name"] == "constant"
