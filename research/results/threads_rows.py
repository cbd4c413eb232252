"""Reddit-like threads → research/results/rows/threads-rows.parquet, one row per prediction, without texts.

    python -m research.results.threads_rows ../shared/data/reddit/persona_like.json.gz
    → rules | task | predictor | setting | reply | user | domain | truth | predicted

Every run behind docs/results/threads.md: predictors without a language model under `clean`, and
the regression without texts with each leak of the released code turned on alone. The runs are
kept in build/threads, so that a stopped one goes on. `research/results/threads_results.py` makes the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from realtalk.formats.opening import open_reading
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw
from realtalk.threads.values import LEAKS, SETTINGS, Setting, protocol
from research.papers.shared_rows import PredictionKey, shared_frame, write_shared
from research.results import ROWS

BUILD = Path(__file__).parent / "build" / "threads"
OUT = ROWS / "threads-rows.parquet"
COUNTS = ROWS / "threads-counts.json"
CORPUS = "persona_like"
CONV: tuple[Setting, ...] = ("p-conv",)
TEST, TRAIN = 5000, 12000


@dataclass(frozen=True)
class Planned:
    """One run. `rules` is `clean`, `released`, `with-scores` or the name of one leak."""

    rules: str
    task: str
    predictor: str
    settings: tuple[Setting, ...] = CONV
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The predictor and what was set, as the page calls it."""
        told = {"texts=false": "counts only", "scale=raw": "raw", "scale=median": "median"}
        extra = ", ".join(told[f"{key}={value}"] for key, value in self.given.items())
        return f"{self.predictor} ({extra})" if extra else self.predictor


def planned() -> Iterator[Planned]:
    """The quick ones first."""
    counts = {"texts": "false"}
    for task in ("sentiment", "impact"):
        yield Planned("clean", task, "majority")
        yield Planned("clean", task, "mean", SETTINGS)
        yield Planned("clean", task, "regression", SETTINGS, counts)
    for scale in ("raw", "median"):
        yield Planned("clean", "impact", "mean", CONV, {"scale": scale})
    for task in ("sentiment", "impact"):
        yield Planned("with-scores", task, "parent")
    for rules in (*LEAKS, "released"):
        shown: tuple[Setting, ...] = ("p-nonconv",) if rules == "post-always-shown" else CONV
        for task in ("sentiment", "impact"):
            if (rules, task) != ("sign-shown", "sentiment"):  # it is in the prompt of impact only
                yield Planned(rules, task, "regression", shown, counts)
                yield Planned(rules, task, "majority", shown)
    for task in ("sentiment", "impact"):
        yield Planned("clean", task, "regression", SETTINGS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="threads in any format that is read")
    corpus = open_reading(parser.parse_args().path).reading.corpus
    made, counts = [], {}
    known: tuple[str, str] = ("", "")
    for plan in planned():
        if known != (plan.rules, plan.task):
            rules = (
                protocol("released")
                if plan.rules == "released"
                else protocol(
                    leaks=(plan.rules,) if plan.rules in LEAKS else (),
                    with_scores=plan.rules == "with-scores",
                )
            )
            samples = Draw(plan.task, rules, limit=TEST, train_limit=TRAIN).samples(corpus)
            known = (plan.rules, plan.task)
        counts[f"{plan.rules}, {plan.task}"] = asdict(samples.counts)
        folder = BUILD / f"{plan.rules}-{plan.task}-{plan.title.replace(' ', '-')}"
        predictor = make_predictor(plan.predictor, dict(plan.given))
        run = run_threads(corpus, ThreadTask(samples, plan.settings), predictor, folder)
        key = PredictionKey(CORPUS, plan.rules, 0, "recent", plan.task, plan.title)
        made.append(shared_frame(key, run.rows))
        sys.stdout.write(f"{plan.rules}, {plan.task}, {plan.title}: {len(run.rows):,}\n")
        sys.stdout.flush()
    write_shared(made, OUT)
    COUNTS.write_text(json.dumps(counts, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
