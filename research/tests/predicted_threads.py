"""Invented predictions of thread tasks in four settings, for tests of claims about them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from realtalk.evals.values import Row
from realtalk.threads.values import SETTINGS, Task
from research.papers.shared_rows import PredictionKey

MODEL = "tiny-llm"


def key(task: Task, rules: str = "clean", predictor: str = MODEL, shots: int = 0) -> PredictionKey:
    return PredictionKey("forum", rules, shots, "recent", task, predictor)


def predicted(
    task: Task, right: Mapping[str, float], replies: int = 240, users: int = 40, seed: int = 3
) -> list[Row]:
    """Rows of settings with a share of right answers each, on the same replies of the same people.

    `right` names settings; one that it does not name is right by chance, half of the time.
    """
    draws = np.random.default_rng(seed)
    truth = np.where(draws.random(replies) < 0.7, draws.integers(1, 60, replies), -3.0)
    rows: list[Row] = []
    for setting in SETTINGS:
        share = right.get(setting, 0.5)
        hits = draws.random(replies) < share
        for at in range(replies):
            real, hit = float(truth[at]), bool(hits[at])
            row: Row = {
                "sample": f"t/{at}",
                "group": f"user {at % users}",
                "variant": setting,
                "domain": ("cats", "dogs")[at % 2],
                "truth": real,
                "predicted": None,
                "unscored": None,
                "untold": None,
                "left_out": (),
                "calls": 1,
                "tokens_in": 100 if setting.endswith("-nonconv") else 300,
                "tokens_out": 1,
                "answer": "what a model said",
                "truth_text": "what a person said",
                "positive": None,
                "taken": None,
            }
            if task == "sentiment":
                row["predicted"] = float((real > 0) == hit)
                row["positive"] = round(0.5 + (0.3 if row["predicted"] else -0.3), 2)
            elif task == "impact":
                row["predicted"] = real + (1 if hit else 30)
            likely = 0.6 if hit else 0.3
            words = ("rouge_1", "rouge_l", "meteor", "bleu", "cosine")
            row |= dict.fromkeys(words, likely if task == "next_text" else None)
            if task == "next_text":
                row["taken"] = likely
            rows.append(row)
    return rows
