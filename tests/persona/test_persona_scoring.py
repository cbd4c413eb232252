"""Scores of turns, of speakers and of two simulators side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from realtalk.evals.averaging import average
from realtalk.persona.comparing import compare
from realtalk.persona.summaries import Simulation, summarise
from realtalk.persona.tables import beyond, compared, gain_line, table_2, table_8, unscored_lines
from scipy import stats

from persona_chats import RuleLabeller, WordEncoder, ines, ines_choice, light_scorer
from realtalk.ei.labels import Label, TurnInput, turn_inputs
from realtalk.errors import RealtalkError
from realtalk.evals.rows import row_of, run_schema
from realtalk.evals.values import Answer, Row
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.metrics.statistics import Estimate
from realtalk.persona.authorship import WhoWroteIt, hold_trial
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.rows import (
    AGREEMENTS,
    DIFFERENCES,
    SCORES,
    WORDLESS,
    columns,
    earlier_row,
)
from realtalk.persona.scoring import TurnScorer
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, PersonaTurn

CORPUS = ines(8)


def the_task() -> PersonaTask:
    choice = ines_choice(24)
    return tasks_of(CORPUS, [choice])[0]


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


def test_the_truth_itself_gets_the_best_of_every_score() -> None:
    rows, facts = scored(lambda turn: turn.text)
    for row in rows:
        for name in ("rouge_1", "rouge_l", "cosine", "semantic", *AGREEMENTS, "length_ratio"):
            assert row[name] == pytest.approx(1.0), name
        assert row["intimacy"] == row["empathy"] == 0.0
        assert row["unscored"] is None and row["left_out"] == []
        assert set(row) == set(run_schema(columns()))
    one = summarise("truth", rows, [facts]).speakers["Ines"]
    assert one.scores["kappa_sentiment"].value == pytest.approx(1.0)
    assert one.scores["js_emotion"].value == pytest.approx(0.0)
    assert one.distinct["distinct_1"] == one.distinct["distinct_1_truth"]
    assert one.scores["taken_for"].value == one.ceiling.value


def test_scores_say_what_the_person_wrote_in() -> None:
    task = the_task()
    lines = ("mañana pintamos el barco otra vez", "no sé, hay que leer las reglas primero")
    turns = tuple(replace(turn, text=lines[at % 2]) for at, turn in enumerate(task.turns))
    rows, facts = score(replace(task, turns=turns), [Answer("ok then")] * len(turns))
    assert facts["by_language"] == [{"language": "es", "turns": len(turns)}]
    found = summarise("constant", rows, [facts | {"measure": "embedded"}])
    line = f"Boat: hardly any English in {len(turns)} turns; the English encoder labelled them"
    assert found.languages[0].english == 0.0
    assert found.to_json()["languages"]["notes"][0].startswith(line)
    both = compare(rows, found, rows, found)
    assert both.languages == (found.languages, found.languages)
    assert both.to_json()["languages"]["second"]["notes"][0].startswith(line)
    # The rules of this test's labeller are no model that learned a language.
    assert summarise("constant", rows, [facts]).to_json()["languages"]["notes"] == []
    old = {name: fact for name, fact in facts.items() if name not in ("measure", "by_language")}
    (note,) = summarise("constant", rows, [old]).to_json()["languages"]["notes"]
    assert note.startswith("Boat: not known")


def test_a_constant_agrees_often_and_knows_nothing() -> None:
    rows, facts = scored(lambda _: "ok")
    one = summarise("constant", rows, [facts]).speakers["Ines"]
    assert one.scores["reflective"].value == 1.0  # nobody reflects here
    assert one.scores["reflective"].low is not None and one.scores["reflective"].low < 1
    assert one.scores["grounding"].value == 0.0
    assert one.scores["kappa_sentiment"].value == pytest.approx(0.0)
    js = one.scores["js_emotion"].value
    assert js is not None and js > 0.4


def test_what_was_not_simulated_is_unscored_and_counted() -> None:
    first = the_task().turns[0].id
    rows, facts = scored(lambda turn: None if turn.id == first else "haha ok")
    assert rows[0]["unscored"] == "no answer"
    assert all(rows[0][name] is None for name in SCORES)
    found = summarise("some", rows, [facts])
    assert found.scored == len(rows) - 1 == found.speakers["Ines"].scores["rouge_1"].n
    assert found.speakers["Ines"].scores["rouge_1"].left_out == 1
    assert unscored_lines(found) == [f"some, unscored: 1 of {len(rows)} turns (no answer)"]


def test_a_label_that_cannot_be_made_leaves_only_its_score_out() -> None:
    rows, _ = scored(lambda _: "haha really?")
    assert rows[0]["unscored"] is None and rows[0]["rouge_1"] is not None
    assert rows[0]["emotion"] is None
    assert "emotion: a question" in rows[0]["left_out"]


def test_a_turn_without_words_has_no_truth() -> None:
    task = the_task()
    turns = (replace(task.turns[0], text=" "), *task.turns[1:])
    rows, facts = score(replace(task, turns=turns), [Answer("haha ok")] * len(turns))
    assert rows[0]["untold"] == WORDLESS and rows[0]["unscored"] is None
    assert rows[0]["rouge_1"] is None is rows[0]["emotion_simulated"]
    found = summarise("some", rows, [facts])
    assert found.scored == len(rows) - 1 and found.speakers["Ines"].unscored == {}
    assert unscored_lines(found) == [f"some, without a truth: 1 of 24 turns ({WORDLESS})"]
    old = {"speaker": "Ines", "id": "Boat#1", "simulated": "haha", "unscored": WORDLESS}
    new = earlier_row({**old, "left_out": [], "tokens_in": 0, "tokens_out": 0})
    assert (new["group"], new["sample"], new["answer"]) == ("Ines", "Boat#1", "haha")
    assert (new["unscored"], new["untold"], new["variant"]) == (None, WORDLESS, "")


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


def test_a_trial_never_learns_from_the_tested_turns() -> None:
    task = the_task()
    learned: list[str] = []
    real = WhoWroteIt.learn

    def listening(own: Any, others: Any) -> WhoWroteIt:
        learned.extend([*own, *others])
        return real(own, others)

    WhoWroteIt.learn = listening  # type: ignore[method-assign]
    try:
        trial = hold_trial(CORPUS, task)
    finally:
        WhoWroteIt.learn = real  # type: ignore[method-assign]
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
            row: Row = dict.fromkeys(run_schema(columns()))
            row |= {name: float(rng.random() < better) for name in AGREEMENTS}
            row |= {name: float(rng.random()) for name in ("rouge_1", "rouge_l", "cosine")}
            row |= {"semantic": 0.5, "intimacy": rng.random(), "empathy": 1 - better}
            row |= {"group": f"S{who}", "sample": f"C#{at}", "tokens_in": 1, "tokens_out": 2}
            row |= {"left_out": [], "taken_for": 1.0, "length_ratio": 1.0}
            for name in AGREEMENTS:
                label = str(rng.integers(0, 3))
                row |= {f"{name}_truth": label, f"{name}_simulated": label if row[name] else "x"}
            rows.append(row)
        fact: Row = {f"distinct_{n}{end}": 0.5 for n in (1, 2) for end in ("", "_truth")}
        whole = Estimate(0.5).to_json()
        fact |= {"group": f"S{who}", "learn": "A", "test": "C", "ceiling": whole}
        facts.append(fact | {"floor": whole, "consistency": 0.1 * who})
    return rows, facts


@cache
def summed(better: float, seed: int) -> Simulation:
    return summarise(f"{better}", *invented(better, seed))


def test_a_real_difference_is_found_and_chance_is_not() -> None:
    low, high = invented(0.3, 1), invented(0.8, 2)
    found = compare(low[0], summed(0.3, 1), high[0], summed(0.8, 2))
    test = found.changes["reflective"]
    assert (test.groups, test.n) == (8, 240) and found.better["reflective"] == (8, 0)
    change = test.difference
    assert change.value == pytest.approx((test.second or 0) - (test.first or 0))
    assert change.low is not None and change.low < (change.value or 0) < (change.high or 0)
    assert test.p == pytest.approx(2 / 2**8)
    assert found.better["empathy"] == (8, 0)  # less is better there
    assert found.changes["empathy"].difference.value == pytest.approx(-0.5)
    rouge = found.changes["rouge_1"]
    assert rouge.p_holm is not None and rouge.p_holm > 0.05
    assert found.changes["semantic"].p == 1.0  # no change at all
    assert found.better["semantic"] == (0, 0)
    assert found.better["js_emotion"] == (8, 0)
    assert "length_ratio" not in found.changes  # neither more nor less is better


def test_the_swaps_are_scipys_and_holm_stays_in_its_family() -> None:
    low, high = invented(0.5, 3), invented(0.55, 4)
    a, b = summed(0.5, 3), summed(0.55, 4)
    found = compare(low[0], a, high[0], b)
    changes = [
        (b.speakers[who].scores["emotion"].value or 0)
        - (a.speakers[who].scores["emotion"].value or 0)
        for who in a.speakers
    ]
    exact = stats.permutation_test(
        (changes,), np.mean, permutation_type="samples", n_resamples=2**8, vectorized=True
    )
    test = found.changes["emotion"]
    assert test.difference.value == pytest.approx(np.mean(changes))
    assert test.p == pytest.approx(exact.pvalue)
    ei = [found.changes[name] for name in (*AGREEMENTS, *DIFFERENCES)]
    smallest = min(ei, key=lambda test: test.p or 1)
    assert smallest.p_holm == pytest.approx(min(1, 6 * (smallest.p or 0)))
    swapped = compare(high[0], b, low[0], a).changes["emotion"]
    assert swapped.difference.value == pytest.approx(-(test.difference.value or 0))


def test_gain_is_set_beside_consistency() -> None:
    low, high = invented(0.3, 1), invented(0.8, 2)
    found = compare(low[0], summed(0.3, 1), high[0], summed(0.8, 2))
    gains = list(found.gains.values())
    expected = np.corrcoef(gains, [0.1 * who for who in range(8)])[0, 1]
    assert found.gain_and_consistency.value == pytest.approx(expected)
    assert "8 speakers" in gain_line(found)


def test_a_gain_is_in_spreads_of_the_first_side_and_less_error_is_one() -> None:
    rows, facts = deepcopy(invented(0.5, 5))
    for at, row in enumerate(rows):
        row |= dict.fromkeys(SCORES)
        row |= {"intimacy": 0.2 + 0.4 * (at % 2), "emotion": float(at % 2)}
    others = deepcopy(rows)
    for row in others:
        row["intimacy"] -= 0.1  # nearer to the person by half a spread
        row["emotion"] = 1.0  # and so from a half to the whole, which is one spread
    found = compare(rows, summarise("a", rows, facts), others, summarise("b", others, facts))
    assert list(found.gains.values()) == pytest.approx([0.75] * 8)


def test_one_long_answer_does_not_outweigh_the_others() -> None:
    rows, facts = deepcopy(invented(0.5, 5))
    for row in rows[:30]:
        row["length_ratio"] = 0.5
    rows[0]["length_ratio"] = 300.0
    found = summarise("long", rows, facts).speakers["S0"].scores["length_ratio"]
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


def test_only_turns_that_both_have_count() -> None:
    low, high = invented(0.3, 1), deepcopy(invented(0.8, 2))
    high[0][0]["emotion"] = None
    found = compare(low[0], summed(0.3, 1), high[0][:-1], summed(0.8, 2))
    assert found.changes["reflective"].n == 239 and found.alone == (1, 0)
    assert found.changes["emotion"].n == 238
    with pytest.raises(RealtalkError, match="share no turn"):
        compare([], summed(0.3, 1), high[0], summed(0.8, 2))


def test_averages_are_over_speakers_with_n_minus_one() -> None:
    found = average([0.2, 0.4, None, 0.9])
    assert found.mean == pytest.approx(0.5) and found.n == 3
    assert found.sd == pytest.approx(np.std([0.2, 0.4, 0.9], ddof=1))
    assert average([0.3]).sd is None and average([None]).mean is None


def test_tables_have_a_cell_for_every_heading() -> None:
    low, high = invented(0.3, 1), invented(0.8, 2)
    a, b = summed(0.3, 1), summed(0.8, 2)
    for headings, rows in (
        table_2([a, b], published=True),
        table_8(a, published=True),
        beyond([a, b]),
        compared(compare(low[0], a, high[0], b)),
    ):
        assert rows and {len(row) for row in rows} == {len(headings)}
    assert "1.24 ± 0.12" in table_2([a], published=True)[1][-1]


def test_figures_of_all_turns_together_are_of_the_shared_turns_too() -> None:
    low, high = invented(0.3, 1), deepcopy(invented(0.8, 2))
    few = [row for row in high[0] if int(row["sample"].partition("#")[2]) < 10]
    few[0]["emotion_simulated"] = None
    found = compare(low[0], summed(0.3, 1), few, summarise("few", few, high[1]))
    assert found.changes["js_emotion"].n == found.changes["kappa_emotion"].n == 79
    assert found.changes["kappa_sentiment"].n == 80
    shared = {(row["group"], row["sample"]) for row in few}
    alike = [row for row in low[0] if (row["group"], row["sample"]) in shared]
    expected = summarise("alike", alike, low[1]).averages["kappa_sentiment"].mean
    assert found.changes["kappa_sentiment"].first == pytest.approx(expected)
    assert expected != pytest.approx(summed(0.3, 1).averages["kappa_sentiment"].mean)


def test_a_distance_counts_the_turns_that_lack_a_label() -> None:
    rows, facts = deepcopy(invented(0.8, 2))
    rows[0]["emotion_simulated"] = rows[1]["emotion_truth"] = None
    found = summarise("gaps", rows, facts).speakers["S0"].scores
    assert (found["js_emotion"].n, found["js_emotion"].left_out) == (28, 2)
    assert (found["kappa_emotion"].n, found["kappa_emotion"].left_out) == (28, 2)
