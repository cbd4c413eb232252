"""Answers of a model that ran elsewhere → research/results/rows/threads-model-rows.parquet, without texts.

    python -m research.results.threads_answers ../shared/data/reddit/persona_like.json.gz \\
        ../shared/data/reddit/rumoureval.json --answers run/answers.jsonl --report run/report.json
    → corpus | rules | shots | history | task | predictor | setting | reply | user | … | tokens_in

Prompts are those of research/experiments/threads_prepare.py, answers those of research/experiments/threads_run.py; where it
was called several times, both options are repeated. Each answer is read and scored by the package's own code, and beside the model stand the
predictors without one, on the very same replies. What the machine reported, what was drawn and what
could not be read is in threads-model.json. `research/results/threads_results.py` makes the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost, Row, Sample, row_of
from realtalk.formats.opening import open_reading
from realtalk.threads.asking import read_answer
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import Value, make_predictor
from realtalk.threads.sampling import Draw
from realtalk.threads.values import SETTINGS, TASKS, Setting, Target, Task, protocol
from research.experiments.threads_prepare import RULES, TRAIN, corpus_name
from research.papers.shared_rows import PredictionKey, shared_frame, write_shared
from research.results import ROWS
from research.results.threads_authors import Authors
from research.results.threads_rows import BUILD, Planned

OUT = ROWS / "threads-model-rows.parquet"
ABOUT = ROWS / "threads-model.json"
MODEL = "Qwen2.5-Coder-1.5B"
ITSELF = "the reply itself"
LIMIT = 1000
TALK: tuple[Setting, ...] = ("p-conv",)
PEOPLE: tuple[Setting, ...] = ("p-conv", "np-conv")  # what knows no conversation
ENDS: tuple[Setting, ...] = ("p-conv", "np-nonconv")  # all that is shown, and least
Answers = Mapping[tuple[str, str], Row]  # by set and id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "paths", nargs="+", type=Path, help="as research/experiments/threads_prepare.py had it"
    )
    parser.add_argument("--answers", type=Path, action="append", required=True)
    parser.add_argument("--report", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, default=LIMIT, help="replies per task and rules")
    parser.add_argument("--without", default="", help="predictors to leave out (regression)")
    parser.add_argument("--partly", action="store_true", help="take sets that lack answers")
    given = parser.parse_args()
    answers = read_answers(given.answers)
    about = reported([json.loads(path.read_text("utf-8")) for path in given.report], answers)
    frames: list[pl.DataFrame] = []
    for path in given.paths:
        corpus = open_reading(path).reading.corpus
        without = given.without.split(",")
        frames += scored(corpus, corpus_name(path), answers, about, given.limit, without)
    if (lacking := sum(about["lacking"].values())) and not given.partly:
        raise SystemExit(f"{lacking:,} prompts have no answer: {about['lacking']}")
    height = write_shared(frames, OUT)
    ABOUT.write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{height:,} rows, {OUT.stat().st_size:,} bytes: {OUT}\n")


def read_answers(paths: Iterable[Path]) -> dict[tuple[str, str], Row]:
    """By set and reply; of two the later."""
    found = {}
    for path in paths:
        with path.open(encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                found[row["set"], row["id"]] = row
    return found


def reported(reports: Sequence[Row], answers: Answers) -> Row:
    """What ran, and what each set took; seconds are those of calls that came to their end."""
    about: Row = {"model": MODEL}
    for report in reports:
        about |= {name: value for name, value in report.items() if name not in ("sets", "left")}
    about["seconds"] = round(
        sum(each["seconds"] for report in reports for each in report["sets"].values()), 1
    )
    sets: dict[str, Counter[str]] = {}
    for (title, _), row in answers.items():
        spent = {name: row[name] for name in ("tokens_in", "tokens_out")}
        sets.setdefault(title, Counter()).update({"prompts": 1, **spent})
    about["sets"] = {title: dict(each) for title, each in sets.items()}
    return about | {name: {} for name in ("counts", "unread", "cut", "lacking", "authors")}


def scored(
    corpus: Corpus,
    name: str,
    answers: Answers,
    about: Row,
    limit: int,
    without: Sequence[str] = (),
) -> Iterator[pl.DataFrame]:
    """The rows of every set, and of the predictors on the same replies."""
    for rules in dict.fromkeys(each.protocol for each in RULES):
        for task_name in TASKS:
            samples = Draw(task_name, protocol(rules), limit=limit, train_limit=TRAIN).samples(
                corpus
            )
            task = ThreadTask(samples, SETTINGS)
            about["counts"][f"{name} {rules} {task_name}"] = asdict(samples.counts)
            about["scoring"] = {**about.get("scoring", {}), **task.settings["scoring"]}
            authors = Authors(corpus, samples.part("test")) if task_name == "next_text" else None
            for each in (each for each in RULES if each.protocol == rules):
                title = f"{name} {each.name} {task_name}"
                rows = answered(task, title, answers, about)
                if not rows:
                    continue
                key = PredictionKey(name, rules, each.shots, each.history, task_name, MODEL)
                yield shared_frame(key, judged(rows, authors))
            for plan in planned(rules, task_name):
                if plan.title in without:
                    continue
                key = PredictionKey(name, plan.rules, 0, "recent", plan.task, plan.title)
                rows = predicted(corpus, name, task, plan)
                if rows:
                    yield shared_frame(key, judged(rows, authors))
            if authors is not None:
                about["authors"][f"{name} {rules}"] = authors.known
                key = PredictionKey(name, rules, 0, "recent", task_name, ITSELF)
                yield shared_frame(key, judged(themselves(task), authors))


def answered(task: ThreadTask, title: str, answers: Answers, about: Row) -> list[Row]:
    """The rows of a set in every setting, as a run of the package has them."""
    found: list[Row] = []
    for stage in task.truths():
        whole = f"{title} {stage.title}"
        given = [answers.get((whole, sample.id)) for sample in stage.samples]
        pairs = [
            (sample, answer)
            for sample, answer in zip(stage.samples, given, strict=True)
            if answer is not None
        ]
        if lacking := len(given) - len(pairs):
            about["lacking"][whole] = lacking
        if not pairs:
            continue
        samples = [sample for sample, _ in pairs]
        said = [value(task.samples.task, answer) for _, answer in pairs]
        rows = rows_of(task, samples, said)
        for row, (_, answer) in zip(rows, pairs, strict=True):
            row["positive"] = answer.get("positive")
        unread = Counter(row["unscored"] for row in rows if row["unscored"])
        about["unread"][whole] = dict(unread)
        about["cut"][whole] = sum(not answer["ended"] for _, answer in pairs)
        found += rows
        sys.stdout.write(f"{whole}: {len(rows):,} rows, {unread.total():,} unread\n")
        sys.stdout.flush()
    return found


def value(task: Task, answer: Row) -> Answer[Value]:
    """What an answer means, read as an answer to `threads run` is, with what it cost."""
    read = read_answer(task, answer["answer"])
    cost = Cost(calls=1, tokens_in=answer["tokens_in"], tokens_out=answer["tokens_out"])
    return Answer(read.value, read.unscored, cost)


def rows_of(
    task: ThreadTask, samples: Sequence[Sample[None, Target]], said: Sequence[Answer[Value]]
) -> list[Row]:
    # Scoring looks at the truth of a sample alone.
    columns = task.score(samples, said)  # type: ignore[arg-type]
    return [row_of(*each) for each in zip(samples, said, columns, strict=True)]


def judged(rows: list[Row], authors: Authors | None) -> list[Row]:
    """With `taken` where words were written: how much they look like the person's."""
    if authors is not None:
        written: dict[str, list[Row]] = {}
        for row in rows:
            if row["unscored"] is None is row["untold"]:
                written.setdefault(row["group"], []).append(row)
        for user, own in written.items():
            shares = authors.shares(user, [row["answer"] for row in own])
            for row, share in zip(own, shares, strict=True):
                row["taken"] = share
    return rows


def planned(rules: str, task: Task) -> Iterator[Planned]:
    """Predictors without a language model; for a score the parent needs scores to be shown."""
    yield Planned(rules, task, "majority", TALK)
    if task == "next_text":
        yield Planned(rules, task, "parent", TALK)
        yield Planned(rules, task, "nearest", SETTINGS)
        return
    yield Planned("with-scores" if rules == "clean" else rules, task, "parent", TALK)
    yield Planned(rules, task, "mean", PEOPLE)
    yield Planned(rules, task, "nearest", PEOPLE)
    yield Planned(rules, task, "regression", SETTINGS, {"texts": "false"})
    yield Planned(rules, task, "regression", ENDS)


def predicted(corpus: Corpus, name: str, task: ThreadTask, plan: Planned) -> list[Row]:
    """A run of one predictor; none where there is too little to learn from."""
    samples = task.samples
    if plan.rules == "with-scores":
        tested = len(samples.part("test"))
        samples = Draw(
            plan.task, protocol(with_scores=True), limit=tested, train_limit=TRAIN
        ).samples(corpus)
    title = plan.title.replace(" ", "-")
    folder = BUILD / "same" / f"{name}-{plan.rules}-{plan.task}-{title}"
    predictor = make_predictor(plan.predictor, dict(plan.given))
    try:
        run = run_threads(corpus, ThreadTask(samples, plan.settings), predictor, folder)
    except RealtalkError as error:
        sys.stdout.write(f"{name}, {plan.rules}, {plan.task}, {plan.title}: {error}\n")
        return []
    sys.stdout.write(f"{name}, {plan.rules}, {plan.task}, {plan.title}: {len(run.rows):,}\n")
    sys.stdout.flush()
    return [dict(row) for row in run.rows]


def themselves(task: ThreadTask) -> list[Row]:
    """The replies that people wrote, in the place of an answer: what who-wrote-it says of those."""
    stage = next(iter(task.truths()))
    said: list[Answer[Value]] = [Answer(sample.truth.text) for sample in stage.samples]
    return rows_of(task, stage.samples, said)


if __name__ == "__main__":
    main()
