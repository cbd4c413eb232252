"""Predictors that need no language model, and what they may look at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from realtalk.evals.values import Answer
from realtalk.threads.baselines import (
    Majority,
    Mean,
    Nearest,
    Outcomes,
    Parent,
    Regression,
    counts,
    split_latest,
    texts,
)
from realtalk.threads.benchmark import ThreadTask
from realtalk.threads.predictors import (
    Predictor,
    Value,
    hide_truth,
)
from realtalk.threads.sampling import Draw
from realtalk.threads.values import Case, Protocol, Task
from refusals import refused
from thread_items import item, shown
from thread_trees import small_forum

_COUNTS = """
words questions exclamations links capitals quotes lines thanks has_text depth answers_post
own_post own_before answers_self minutes_since_parent minutes_since_post parent_words post_words
voices parent_score parent_score_known hour_sin hour_cos weekend history history_words earlier
earlier_log earlier_positive last_log hint
""".split()  # noqa: SIM905 - words read better than quotes


def _values(found: list[Answer[Value]]) -> list[object]:
    return [each.value for each in found]


def _counted(sample: Case, known: Outcomes) -> dict[str, float]:
    return dict(zip(_COUNTS, counts(sample, known), strict=True))


def test_a_blinded_sample_holds_nothing_of_the_truth() -> None:
    sample = item(1, 4.0, text="secret", task="next_text")
    blind = hide_truth(sample)
    assert "secret" not in repr(blind)
    assert blind.target.score is None
    assert blind.key == sample.key
    kept = hide_truth(item(1, 4.0, text="given"))
    assert kept.text == "given"  # where the task gives it, it stays


def test_outcomes_are_those_before_the_moment_only() -> None:
    known = Outcomes([item(3, -2.0), item(1, 5.0), item(2, None), item(1, 9.0, user="otto")])

    def before(sample: Case) -> list[float]:
        return [outcome.score for outcome in known.before(sample)]

    assert [before(item(hours, 0)) for hours in (0, 3, 4)] == [[], [5.0], [5.0, -2.0]]
    assert before(item(9, 0, user="nobody")) == before(item(9, 0, setting="np-conv")) == []
    assert known.median == 5.0
    assert known.positive == pytest.approx(2 / 3)


def test_the_majority() -> None:
    train = [item(1, 3.0, text="ok"), item(2, 1.0, text="ok"), item(3, -4.0, text="no")]
    cases: dict[Task, object] = {"sentiment": True, "impact": 1.0, "next_text": "ok"}
    for task, wanted in cases.items():
        made = Majority()
        made.prepare(train)
        asked = hide_truth(item(9, -9.0, text="hm", task=task))
        assert _values(made.solve([asked])) == [wanted]
    empty = Majority()
    empty.prepare([item(1, None, text=" ")])
    with refused("no reply of the train part has a score"):
        empty.solve([item(9, 1.0)])
    with refused("has words"):
        empty.solve([item(9, 1.0, task="next_text")])


def test_the_parent_says_when_it_is_hidden() -> None:
    talk = (shown("a post", score=4.0), shown("rude", hours=1, score=-3.0))
    hidden = (shown("a post"), shown("rude", hours=1))
    made = Parent()
    assert _values(made.solve([item(9, 1, conversation=talk)])) == [False]
    assert _values(made.solve([item(9, 1, task="impact", conversation=talk)])) == [-3.0]
    assert _values(made.solve([item(9, 1, task="next_text", conversation=hidden)])) == ["rude"]
    blind, none = made.solve([item(9, 1, conversation=hidden), item(8, 1)])
    assert (blind.value, blind.unscored) == (None, "the parent's score is hidden or unknown")
    assert (none.value, none.unscored) == (None, "the parent is not shown")


def test_the_mean_is_of_the_person_shown_and_before() -> None:
    train = [item(1, 9.0), item(2, 9.0), item(8, -99.0), item(1, -4.0, user="otto")]
    asked = [
        item(5, None, task="impact"),
        item(5, None, task="impact", setting="np-conv", history=(shown("x", "otto"),)),
        item(5, None, task="impact", user="new"),
    ]
    for scale, everybody in (("raw", -21.25), ("median", 2.5)):
        made = Mean(scale=scale)
        made.prepare(train)
        assert _values(made.solve(asked)) == pytest.approx([9.0, -4.0, everybody])
    log = Mean()
    log.prepare(train)
    assert log.solve(asked)[0].value == pytest.approx(9.0)
    signs = [replace(each, task="sentiment") for each in asked]
    assert _values(log.solve(signs)) == [True, False, False]
    with refused("unknown-scale"):
        Mean(scale="logg")


def test_the_nearest_own_reply() -> None:
    train = [
        item(1, 7.0, text="my cat sleeps on the warm radiator all day"),
        item(2, -5.0, text="taxes are far too high in this country"),
        item(1, 50.0, text="my cat sleeps on the radiator", user="otto"),
    ]
    made = Nearest()
    made.prepare(train)
    asked = item(9, None, text="the cat was asleep on the radiator again", task="impact")
    money = item(8, None, text="they raised the tax on income once more", task="impact")
    nobody = item(7, None, text="hello", task="impact", user="new")
    assert _values(made.solve([asked, money, nobody])) == [7.0, -5.0, 7.0]
    past = (shown("tax again", "mara", 1), shown("cats sleep a lot", "mara", 2))
    talk = (shown("why does my kitten sleep so much?"),)
    words = item(9, None, task="next_text", history=past, conversation=talk)
    silent = item(8, None, task="next_text", history=past[::-1], setting="p-nonconv")
    nothing = item(7, None, task="next_text")
    found = made.solve([words, silent, nothing])
    assert _values(found) == ["cats sleep a lot", "tax again", None]
    assert found[2].unscored == "no history is shown"
    # Of equally near ones the latest.
    made.prepare([item(at, float(at), text="so true") for at in (1, 2, 3)])
    assert _values(made.solve([item(3, None, text="so true", task="impact")])) == [2.0]


def test_counts_are_of_what_is_shown() -> None:
    known = Outcomes([item(1, 5.0), item(2, -1.0)])
    talk = (shown("a post", "mara", 0, title="Cats"), shown("who?", hours=2))
    sample = item(3, 8.0, text="WHY? see www.cats.org", conversation=talk)
    found = _counted(sample, known)
    assert found["questions"] == pytest.approx(np.log(2))
    assert found["links"] == 1.0
    assert found["capitals"] == pytest.approx(3 / 16)
    assert (found["own_post"], found["answers_self"], found["answers_post"]) == (1.0, 0.0, 0.0)
    assert found["minutes_since_parent"] == pytest.approx(np.log1p(60))
    assert found["earlier"] == pytest.approx(np.log(3))
    # One of two was liked, as of everybody's: five of everybody's count beside the own ones.
    assert found["earlier_positive"] == pytest.approx(0.5)
    assert found["last_log"] == pytest.approx(-np.log(2))
    assert found["hint"] == 0.0
    assert counts(hide_truth(sample), known).tolist() == list(found.values())
    assert texts(sample) == ("WHY? see www.cats.org", "who?", "Cats")
    assert texts(item(3, 8.0, text="x " * 200))[0] == " ".join(["x"] * 64)
    alone = _counted(item(3, 8.0, setting="p-nonconv"), known)
    assert alone["depth"] == alone["minutes_since_post"] == 0.0


def test_few_earlier_replies_count_little_beside_everybodys() -> None:
    others = [item(at, -1.0, user=f"u{at}") for at in range(8)]
    known = Outcomes([item(1, 7.0), item(2, 7.0), *others])
    found = _counted(item(9, None), known)
    assert found["earlier_positive"] == pytest.approx((2 + 5 * 0.2) / (2 + 5))
    log = (2 * np.log(8) - 8 * np.log(2)) / 10
    assert found["earlier_log"] == pytest.approx((2 * np.log(8) + 5 * log) / 7)
    new = _counted(item(9, None, user="new"), known)
    assert (new["earlier_positive"], new["earlier_log"]) == pytest.approx((0.2, log))


def test_the_moment_is_a_turn_of_the_clock_and_a_weekend() -> None:
    known = Outcomes([item(1, 1.0)])
    rows = [_counted(item(24 * day, None), known) for day in range(7)]
    assert [row["weekend"] for row in rows] == [0.0] * 5 + [1.0] * 2  # from a Monday on
    early, late = (_counted(item(at, None), known) for at in (-8, 4))
    assert (early["hour_sin"], early["hour_cos"]) == pytest.approx((0.0, 1.0))  # midnight
    assert (late["hour_sin"], late["hour_cos"]) == pytest.approx((0.0, -1.0))  # noon


def test_what_chooses_is_measured_by_what_came_before_it() -> None:
    """The held part is the latest fifth, in units of the earlier four: nothing of it leaks back."""
    table = np.zeros((50, 1), np.float32)
    table[:40, 0] = [1.0, 3.0] * 20
    table[40:, 0] = 102.0
    early, late = split_latest(table)
    assert len(early) == 40 and len(late) == 10
    assert (early.mean(), early.std()) == pytest.approx((0.0, 1.0), abs=1e-6)
    assert late[:, 0].tolist() == pytest.approx([100.0] * 10)


def _planted(task: Task, n: int, seed: int) -> list[Case]:
    """Questions are disliked, and late answers have small scores."""
    draws = np.random.default_rng(seed)
    made = []
    for at in range(n):
        asks, wait = draws.random() < 0.3, float(draws.integers(1, 200))
        good = (draws.random() < 0.9) != asks
        score = float(np.round((30 / wait + 1) * (1 if good else -1)))
        text = "is that so?" if asks else "that is so."
        talk = (shown("post", hours=at - wait),)
        sample = item(at, score, text=text, user=f"u{at % 9}", conversation=talk)
        made.append(replace(sample, task=task))
    return made


@pytest.mark.parametrize("task", ["sentiment", "impact"])
def test_a_regression_finds_what_is_there(task: Task) -> None:
    made = Regression(texts=False)
    made.prepare(_planted(task, 400, 1))
    asked = _planted(task, 200, 2)
    found = [float(each.value or 0) for each in made.solve([hide_truth(each) for each in asked])]
    truth = [each.target.score or 0.0 for each in asked]
    if task == "sentiment":
        right = [bool(said) == (real > 0) for said, real in zip(found, truth, strict=True) if real]
        assert sum(right) / len(right) > 0.85
    else:
        assert np.corrcoef(np.sign(found), np.sign(truth))[0, 1] > 0.6
        seen = [each.target.score or 0.0 for each in _planted(task, 400, 1)]
        assert min(seen) <= min(found) <= max(found) <= max(seen)
    again = Regression(texts=False)
    again.prepare(_planted(task, 400, 1)[::-1])  # the order of the samples does not matter
    assert [float(each.value or 0) for each in again.solve(asked)] == found


def test_a_regression_reads_texts() -> None:
    draws = np.random.default_rng(4)
    cats = ["my cat is lovely", "what a sweet kitten", "the cat purrs", "kittens are the best"]
    rude = ["you are an idiot", "shut up you fool", "what a stupid thing to say", "pathetic liar"]
    train = [
        item(at, 3.0 if at % 2 else -3.0, text=str(draws.choice(cats if at % 2 else rude)))
        for at in range(60)
    ]
    made = Regression(counts=False)
    made.prepare(train)
    asked = [item(99, None, text="such a lovely kitten"), item(98, None, text="you stupid fool")]
    assert _values(made.solve(asked)) == [True, False]


def test_what_a_regression_cannot_learn_from() -> None:
    with refused("3 solved replies are too few"):
        Regression().prepare([item(at, 1.0) for at in range(3)])
    with refused("same class"):
        Regression(texts=False).prepare([item(at, 1.0) for at in range(40)])
    with refused("on nothing"):
        Regression(texts=False, counts=False)


def test_a_predictor_that_cannot_do_the_task_is_refused() -> None:
    corpus = small_forum()

    def refuse(predictor: Predictor, task: Task, **rules: Any) -> None:
        samples = Draw(task, Protocol(**rules)).samples(corpus)
        ThreadTask(samples, ("p-conv",)).refuse_predictor(predictor, corpus)

    with refused("mean does not do next_text"):
        refuse(Mean(), "next_text")
    with refused("`with_scores=True`"):
        refuse(Parent(), "sentiment")
    refuse(Parent(), "sentiment", with_scores=True, test_share=0.5)
    refuse(Parent(), "next_text", test_share=0.5)
