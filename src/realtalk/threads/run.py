"""Thread tasks as a run: samples, a predictor and a folder → rows and figures, resumable.

    run_threads(corpus, samples, predictor, Path("out"), ("p-conv", "p-nonconv"))
    → PredictedRun(folder, settings, rows); .summary has the figures
    load_threads(Path("out"))    → what is there

out/run.json  out/rows.jsonl, .parquet

Predictions are kept as they come. Blocks of replies are always the same ones, whatever is there
already: after a kill the rows come out equal to the last bit. What a language model failed to
answer is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import corpus_record
from realtalk.evals.folder import Run, Table
from realtalk.local.progress import Progress, silent
from realtalk.threads.predictors import Predictor, blinded
from realtalk.threads.registry import refuse_unfit
from realtalk.threads.rows import KEY, Row, row_schema
from realtalk.threads.sampling import Samples
from realtalk.threads.scoring import Scorer
from realtalk.threads.summaries import Summary, summarise
from realtalk.threads.values import SETTINGS, Sample, Setting, Task, known_task

__all__ = ["KIND", "PredictedRun", "load_threads", "run_name", "run_threads"]

KIND = "thread tasks"
_SETTINGS = {"task", "settings", "protocol", "predictor", "test"}  # what a table reads of them
_COLUMNS = {
    *(*KEY, "user", "domain", "truth", "predicted", "tokens_in", "tokens_out"),
    *("unscored", "untold", "left_out"),
}
_AT_ONCE = 1024  # replies handed to a predictor that does not say otherwise


@dataclass(frozen=True)
class PredictedRun:
    """A run as it is on disk."""

    folder: Path
    settings: Mapping[str, Any]
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        return run_name(self.settings)

    @property
    def task(self) -> Task:
        return known_task(self.settings["task"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a table made from this run has to say."""
        notes = []
        protocol = self.settings["protocol"]
        if protocol["protocol"] != "clean":
            notes.append(f"made with leaks: {protocol['protocol']}")
        if protocol["with_scores"]:
            notes.append("scores, which are as of the crawl, were shown")
        wanted = len(self.settings["settings"]) * self.settings["test"]
        if len(self.rows) < wanted:
            notes.append(f"{len(self.rows):,} of {wanted:,} predictions are there so far")
        return tuple(notes)

    @cached_property
    def summary(self) -> Summary:
        return summarise(self.name, self.task, self.rows, self.notes)


def run_name(settings: Mapping[str, Any]) -> str:
    """What a run is called in tables: its predictor, its model, and what is not clean about it."""
    predictor, protocol = settings["predictor"], settings["protocol"]
    parts = [str(predictor["name"])]
    told = predictor["settings"]
    if told.get("model"):
        parts.append(str(told["model"]))
    if told.get("scale") and settings["task"] == "impact":
        parts.append(f"({told['scale']})")
    parts += [f"(no {name})" for name in ("texts", "counts") if told.get(name) is False]
    if protocol["protocol"] != "clean":
        parts.append(f"[{protocol['protocol']}]")
    elif protocol["with_scores"]:
        parts.append("[with scores]")
    return " ".join(parts)


def run_threads(
    corpus: Corpus,
    samples: Samples,
    predictor: Predictor,
    folder: Path,
    settings: Sequence[Setting],
    *,
    chosen: Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> PredictedRun:
    """Predicts and scores what the folder does not have yet.

    `chosen` is how the samples were drawn (limit, seed), for the record.
    """
    refuse_unfit(predictor, samples.task, samples.protocol)
    if not samples.counts.test:
        raise RealtalkError(
            "there is no reply to predict",
            where=corpus.name,
            fix="a user needs several replies with a time; see `realtalk threads samples`",
        )
    scorer = Scorer(samples.task)
    record = {
        "corpus": corpus_record(corpus),
        "task": samples.task,
        "settings": list(settings),
        "protocol": dict(samples.protocol.settings),
        "chosen": dict(chosen or {}),
        "train": samples.counts.train,
        "test": samples.counts.test,
        "predictor": {
            "name": predictor.name,
            "version": predictor.version,
            "settings": dict(predictor.settings),
        },
        "scoring": scorer.settings,
    }
    with Run.open(folder, KIND, record, fresh=fresh) as run:
        rows = run.table("rows", KEY)
        order: list[tuple[str, str]] = []
        for setting in settings:
            asked = samples.of(setting, "test", progress)
            order += [(setting, target.key) for target in samples.part("test")]
            if any(_open(rows, setting, key, predictor) for _, key in order[-len(asked) :]):
                what = f"{predictor.name}, {setting}"
                progress(0, len(asked), f"{what}: learning")
                predictor.fit(samples.of(setting, "train", progress), progress)
                _predict(asked, setting, (predictor, scorer, rows), progress)
        rows.finish(order, row_schema())
    return load_threads(folder)


def _open(rows: Table, setting: str, key: str, predictor: Predictor) -> bool:
    row = rows.get((setting, key))
    return row is None or (row["unscored"] is not None and _asks(predictor))


def _asks(predictor: Predictor) -> bool:
    """Whether each reply is predicted by itself, by something that may fail and be asked again."""
    return bool(getattr(predictor, "asks", False))


def _predict(
    asked: Sequence[Sample],
    setting: str,
    tools: tuple[Predictor, Scorer, Table],
    progress: Progress,
) -> None:
    predictor, scorer, rows = tools
    what = f"{predictor.name}, {setting}"
    step = int(getattr(predictor, "at_once", _AT_ONCE))
    for start in range(0, len(asked), step):
        block = list(asked[start : start + step])
        waiting = {s.key for s in block if _open(rows, setting, s.key, predictor)}
        progress(start, len(asked), what)
        if not waiting:
            continue
        if _asks(predictor):
            block = [sample for sample in block if sample.key in waiting]
        made = predictor.predict(
            [blinded(sample) for sample in block],
            lambda done, _, __, at=start: progress(at + done, len(asked), what),
        )
        for row in scorer.rows(block, made):
            if row["key"] in waiting:
                rows.add(row)
    progress(len(asked), len(asked), what)


def load_threads(folder: Path) -> PredictedRun:
    """A run's rows, of one that was stopped as far as it got."""
    run = Run.load(folder, KIND)
    try:
        rows = run.rows("rows", KEY)
        whole = all(row.keys() >= _COLUMNS and row["setting"] in SETTINGS for row in rows)
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole or not run.settings.keys() >= _SETTINGS:
        what = "rows" if not whole else "settings"
        raise RealtalkError(
            f"not the {what} of a run of {KIND}", where=str(folder), fix="start anew with --fresh"
        )
    if not rows:
        raise RealtalkError(
            "the run has no rows yet", where=str(folder), fix="start it again: it goes on"
        )
    return PredictedRun(folder, run.settings, rows)
