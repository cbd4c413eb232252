"""One task over the replies of a corpus, as a benchmark: a variant per setting, a group per user.

    task = ThreadTask(Draw("sentiment").samples(corpus), ("p-conv", "p-nonconv"))
    run_threads(corpus, task, make_predictor("mean"), Path("out"))    → Run
    rescore_threads(Path("out"), lambda: corpus)                      → what changed
    Run.load(Path("out")).variants["p-conv"].overall["mcc"]
    best_of([run, run_of_another_seed])       → a Run of the best of each, chosen by the truth

A predictor learns from the train part of each setting and is shown replies of the test part
without the truth about them.

Texts of a run of thread tasks, encoded by workers before it begins.

    encode_ahead(corpus, task, Regression(), Processes(4), Path("out"))   # before run_threads
    foreseen_texts(samples, ("p-conv",), Regression())    → {"phew": None, "did you sleep": None, …}
    encode_by(texts, Processes(4), Path("out/.texts"))
    → how many texts were encoded, a thousand at a time; those that the cache had are not counted

Learning and predicting stay in one process: a regression is learned from all replies at once, and
its sums would differ in their last bits if it were cut in pieces. What comes before, encoding, is
nearly all of the time, and there every text stands for itself: a vector depends on the text alone.
Not foreseen are texts that only the run's own choices name: the writings of strangers that
nearness chooses, and predicted words. A text that is missing here is encoded by the run itself.

Figures of runs → charts of domains: a dot with its interval for each predictor or setting.

    draw_runs([run, other])    → {"sentiment-p-conv-mcc": Chart, …}, one colour per run
    draw_runs([run])           → {"sentiment-mcc": Chart, …}, one colour per setting

Drawn are the scores to look at first (`scoring.HEADLINES`), as a run's summary draws its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson
import polars as pl

from realtalk.chat import Corpus
from realtalk.engine.jobs import Backend, Job, run_job, workplace
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.evals.running import RescoringReport, keeps_scores, rescore
from realtalk.evals.tables import estimate_figure
from realtalk.evals.values import (
    Answer,
    Benchmark,
    Fact,
    Pairs,
    Reference,
    Row,
    Runs,
    Sample,
    Score,
    Stage,
)
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path, private_folder, write_bytes
from realtalk.metrics.similarity import shipped_encoder
from realtalk.metrics.statistics import Estimate
from realtalk.threads.baselines import Baseline
from realtalk.threads.predictors import BASELINES, Predictor, Value, hide_truth
from realtalk.threads.published import TABLE, published_gain
from realtalk.threads.sampling import Draw, Samples
from realtalk.threads.scoring import (
    COLUMNS,
    HEADLINE,
    HEADLINES,
    READING,
    SCORES,
    TEXT_SCORES,
    ReplyScorer,
    scores_of,
)
from realtalk.threads.values import (
    PARTS,
    SETTINGS,
    TASKS,
    Case,
    Setting,
    Target,
    Task,
    known_task,
    outcome_in_words,
    stored_protocol,
)
from realtalk.threads.vectors import shipped_store

_FEWEST = 3  # domains: of fewer the tables say it all

Lines = Mapping[str, Mapping[str, Mapping[str, Estimate]]]  # line → domain → score → figure


def draw_runs(runs: Sequence[Run]) -> dict[str, Any]:
    """Every task and setting; of a task with one run its settings side by side."""
    charts: dict[str, Any] = {}
    for task in TASKS:
        same = [run for run in runs if run.settings["task"] == task]
        if len(same) == 1:
            lines = {name: scores.slices for name, scores in same[0].variants.items()}
            charts |= _charts(lines, task, task, same[0].name)
            continue
        for setting in SETTINGS:
            lines = {
                run.name: run.variants[setting].slices for run in same if setting in run.variants
            }
            charts |= _charts(lines, task, f"{task}-{setting}", setting)
    return charts


def _charts(lines: Lines, task: Task, prefix: str, subject: str) -> dict[str, Any]:
    domains = dict.fromkeys(domain for slices in lines.values() for domain in slices)
    charts: dict[str, Any] = {}
    for name in HEADLINES[task] if len(domains) >= _FEWEST else ():
        rows = [
            {
                "score": domain or "(none)",
                "variant": line,
                "estimate": figure.value,
                "low": figure.low,
                "high": figure.high,
                "n": figure.n,
                "unscored": figure.left_out,
            }
            for line, slices in lines.items()
            for domain in domains
            if (figure := slices.get(domain, {}).get(name)) and figure.value is not None
        ]
        if rows:
            frame = pl.DataFrame(rows, infer_schema_length=None)
            title = f"{SCORES[name].title}: {task}, {subject}"
            charts[f"{prefix}-{name}"] = estimate_figure(frame, title)
    return charts


KIND = "thread tasks"
_NEEDED = ("task", "settings", "protocol", "test")  # settings that a table reads


class ThreadTask(Benchmark[Case, Target, Value]):
    """The replies of the test part in each setting.

    `chosen` is how they were drawn (limit, seed), for the record.
    """

    name = KIND
    version = "2"
    group = "user"
    sample = "reply"
    solver = "predictor"
    variant = "setting"
    columns = COLUMNS
    texts = ("answer", "truth_text")
    slices = "domain"
    order = SETTINGS
    title = "Threads"
    lead = (
        "Is a reply liked, how much, and what does it say? p is with the writer's own history, np "
        "with another's; conv is with the conversation before it, nonconv without."
    )
    reading = READING
    failing = (
        *("variant", "sample", "group", "thread", "domain", "time"),
        *("truth_text", "answer", "rouge_l", "truth", "predicted", "unscored"),
    )

    def __init__(
        self,
        samples: Samples,
        settings: Sequence[Setting],
        chosen: Mapping[str, Any] | None = None,
    ) -> None:
        self.samples = samples
        self.shown_settings: tuple[Setting, ...] = tuple(settings)
        self._chosen = dict(chosen or {})
        self._scorer = ReplyScorer(samples.task)
        self.scores = scores_of(samples.task)

    @property
    def settings(self) -> dict[str, Any]:
        counts = self.samples.counts
        return {
            "task": self.samples.task,
            "settings": list(self.shown_settings),
            "protocol": dict(self.samples.protocol.settings),
            "chosen": self._chosen,
            "train": counts.train,
            "test": counts.test,
            "scoring": self._scorer.settings,
        }

    def refuse_predictor(self, predictor: Predictor, corpus: Corpus) -> None:
        """Raises where the predictor cannot do the task, or there is nothing to predict."""
        task = self.samples.task
        if task not in predictor.tasks:
            raise RealtalkError(
                f"the predictor {predictor.name} does not do {task}",
                fix=f"it does {' and '.join(predictor.tasks)}",
            )
        if predictor.needs_scores(task) and not self.samples.protocol.shows_scores:
            raise RealtalkError(
                f"the predictor {predictor.name} needs the scores of what is shown, "
                "which are hidden",
                fix="show those from before the cutoff with `with_scores=True`",
            )
        if not self.samples.counts.test:
            raise RealtalkError(
                "there is no reply to predict",
                where=corpus.name,
                fix="a user needs several replies with a time; see `realtalk threads samples`",
            )

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the samples are drawn from it already
        progress: Progress = silent,
    ) -> Iterator[Stage[Case, Target]]:
        for setting in self.shown_settings:
            samples = [
                Sample(case.key, case.target.user, setting, hide_truth(case), case.target)
                for case in self.samples.of(setting, "test", progress)
            ]
            yield Stage(setting, samples, partial(self.samples.of, setting, "train", progress))

    def score(
        self,
        samples: Sequence[Sample[Case, Target]],
        answers: Sequence[Answer[Value]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return self._scorer.rows([sample.truth for sample in samples], answers)

    def truths(self) -> Iterator[Stage[None, Target]]:
        """As `stages`, with nothing to show: conversations and histories are not made."""
        for setting in self.shown_settings:
            samples = [
                Sample(target.key, target.user, setting, None, target)
                for target in self.samples.part("test")
            ]
            yield Stage(setting, samples)

    def stored_answer(self, sample: Sample[Any, Target], row: Row) -> Answer[Value] | None:
        """What was predicted, where the row is of this very reply."""
        words = self.samples.task == "next_text"
        truth = sample.truth.text if words else sample.truth.score
        if row["truth_text" if words else "truth"] != truth:
            return None
        return Answer(row["answer" if words else "predicted"], row["unscored"] or "")

    def target(self, sample: Sample[Case, Target]) -> str:
        if self.samples.task == "next_text":
            return sample.truth.text
        return outcome_in_words(self.samples.task, sample.truth.score)

    def about(self, sample: Sample[Case, Target]) -> dict[str, str]:
        return {"domain": sample.truth.domain}

    @classmethod
    def check(cls, run: Run) -> Run:
        missing = [name for name in _NEEDED if run.settings.get(name) is None]
        if missing:
            raise RealtalkError(f"its settings lack '{missing[0]}'", where=run.place)
        return run

    @classmethod
    def name_of(cls, settings: Mapping[str, Any]) -> str:
        """The predictor, its model, and what is not clean about it."""
        predictor, protocol = settings["solver"], settings["protocol"]
        parts = [super().name_of(settings)]
        options = predictor["settings"]
        if options.get("scale") and settings["task"] == "impact":
            parts.append(f"({options['scale']})")
        parts += [f"(no {name})" for name in ("texts", "counts") if options.get(name) is False]
        if protocol["protocol"] != "clean":
            parts.append(f"[{protocol['protocol']}]")
        elif protocol["with_scores"]:
            parts.append("[with scores]")
        return " ".join(parts)

    @classmethod
    def part_of(cls, settings: Mapping[str, Any]) -> str:
        return str(known_task(settings["task"]))

    @classmethod
    def scores_of(cls, run: Run) -> tuple[Score, ...]:
        return scores_of(task_of(run))

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> dict[str, Fact]:  # noqa: ARG003
        """The share of scores above 0: what accuracy has to beat."""
        truths = [row["truth"] for row in rows if row["untold"] is None is not row["truth"]]
        return {"positive": sum(truth > 0 for truth in truths) / len(truths) if truths else None}

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:
        if row["untold"] is not None:
            return ""
        if row["unscored"] is not None:
            return "no prediction"
        task = task_of(run)
        if task == "next_text":
            return "other words" if row["rouge_l"] is not None and row["rouge_l"] < 0.5 else ""
        if task == "sentiment":
            return "" if (row["truth"] > 0) == (row["predicted"] > 0) else "the other class"
        return "off" if row["predicted"] != row["truth"] else ""

    @classmethod
    def severity(cls, row: Row, run: Run) -> float:
        if row["unscored"] is not None:
            return -math.inf
        task = task_of(run)
        if task == "next_text":
            return float(row["rouge_l"])
        return 0.0 if task == "sentiment" else -float(abs(row["predicted"] - row["truth"]))

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        notes = []
        protocol = run.settings["protocol"]
        if protocol["protocol"] != "clean":
            notes.append(f"made with leaks: {protocol['protocol']}")
        if protocol["with_scores"]:
            notes.append("scores, which are as of the crawl, were shown")
        expected = len(run.settings["settings"]) * run.settings["test"]
        if len(run.rows) < expected:
            notes.append(f"{len(run.rows):,} of {expected:,} predictions are there so far")
        return [*notes, *run.settings.get("notes", ())]

    @classmethod
    def references(cls, runs: Runs) -> Iterator[Reference]:
        """The paper's rows, which are of other data."""
        scores = scores_of(task_of(next(iter(runs.values()))))
        for model, settings in TABLE.items():
            for setting in (name for name in SETTINGS if name in settings):
                published = settings[setting]
                cells = {e.name: f"{published[e.published]:g}" for e in scores if e.published}
                yield Reference(f"paper: {model}", cells, setting)

    @classmethod
    def charts(cls, runs: Runs) -> dict[str, Any]:
        return draw_runs(list(runs.values()))

    @classmethod
    def headline(cls, run: Run) -> str:
        return HEADLINE[task_of(run)]

    @classmethod
    def refuse(cls, first: Run, second: Run) -> None:
        tasks = [task_of(run) for run in (first, second)]
        if tasks[0] != tasks[1]:
            raise RealtalkError(
                f"the first is of {tasks[0]}, the second of {tasks[1]}", fix="compare one task"
            )

    @classmethod
    def comparison_facts(
        cls,
        first: Run,
        second: Run,  # noqa: ARG003
        pairs: Pairs,
    ) -> dict[str, Any]:
        """The paper's relative gain beside ours, where these are its settings."""
        settings = {tuple(row["variant"] for row in pair) for pair in pairs}
        if task_of(first) != "sentiment" or settings != {("p-nonconv", "p-conv")}:
            return {}
        gain = published_gain("GPT-4.1", "mcc")
        line = f"the paper's GPT-4.1 gains {gain:+.0%} in MCC here, without an interval"
        return {"notes": [line]}


def task_of(run: Run) -> Task:
    """The task that a run is of."""
    return known_task(run.settings["task"])


def predictions(name: str, task: Task, rows: Sequence[Row], *notes: str) -> Run:
    """Predictions from anywhere as a run; `notes` are its cautions."""
    settings: dict[str, Any] = {
        "task": task,
        "solver": {"name": name, "settings": {}},
        "protocol": {"protocol": "clean", "with_scores": False},
        "settings": [],
        "test": 0,
        "notes": notes,
    }
    return Run(ThreadTask, settings, rows, title=name)


def run_threads(
    corpus: Corpus,
    task: ThreadTask,
    predictor: Predictor,
    folder: Path | None = None,
    *,
    engine: Backend | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Predicts and scores what the folder does not have yet; in memory without a folder.

    With an engine texts are encoded by its workers first.
    """
    task.refuse_predictor(predictor, corpus)
    if engine is not None:
        encode_ahead(corpus, task, predictor, engine, folder, fresh=fresh, progress=progress)
        fresh = False
    return running.run(task, corpus, predictor, folder, fresh=fresh, progress=progress)


def rescore_threads(
    folder: Path, corpus: Callable[[], Corpus], *, progress: Progress = silent
) -> RescoringReport:
    """Scores a stored run's predictions by today's formulas; nobody predicts again.

    The corpus is read only where the task's rows keep scores.
    """
    run = Run.load(folder, KIND)
    task = task_of(run)
    if not keeps_scores(scores_of(task), COLUMNS):
        return RescoringReport(len(run.rows), 0, {}, 0, stored=False)
    draw_settings: Mapping[str, Any] = run.settings.get("chosen") or {}
    draw = Draw(task, stored_protocol(run.settings["protocol"]), **draw_settings)
    replies = ThreadTask(draw.samples(corpus(), progress), run.settings["settings"], draw_settings)
    return rescore(run, replies, replies.truths(), progress)


def best_of(runs: Sequence[Run]) -> Run:
    """Of several predictions of a reply the best, chosen by the truth: what nobody could choose.

    For texts each score takes its own best, as the released code does. A table must say so.
    """
    if len(runs) < 2:
        raise RealtalkError("the best of one run is that run", fix="name two runs or more")
    task = task_of(runs[0])
    for run in runs:
        ThreadTask.refuse(runs[0], run)
    by_key = [{(row["variant"], row["sample"]): row for row in run.rows} for run in runs]
    shared = [key for key in by_key[0] if all(key in rows for rows in by_key)]
    if not shared:
        raise RealtalkError("the runs share no reply", fix="give runs of one corpus and task")
    note = "each reply's best is chosen by the truth, which nobody has: not a score of a predictor"
    rows = [_best([rows[key] for rows in by_key], task) for key in shared]
    return predictions(f"best of {len(runs)}", task, rows, note)


def _best(rows: Sequence[Row], task: Task) -> Row:
    good = [row for row in rows if row["unscored"] is None]
    if not good or rows[0]["untold"] is not None:
        return rows[0]
    if task == "next_text":
        best = dict(good[0])
        for name in TEXT_SCORES:
            best[name] = max((row[name] for row in good if row[name] is not None), default=None)
        return best
    truth = good[0]["truth"]
    if task == "sentiment":
        return max(good, key=lambda row: (row["predicted"] > 0) == (truth > 0))
    return min(good, key=lambda row: abs(row["predicted"] - truth))


_JOB = "encoding texts"
_PLACE = ".texts"
_AT_ONCE = 1024  # texts of a block: some seconds of work


def encode_ahead(
    corpus: Corpus,
    task: ThreadTask,
    predictor: Predictor,
    engine: Backend,
    folder: Path | None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> None:
    """Encodes what a run will need, by an engine; the run's rows are the same without."""
    if predictor.name not in BASELINES:
        raise RealtalkError(
            "an engine splits what needs no language model",
            fix="leave `engine=` out, or take one of " + ", ".join(BASELINES),
        )
    running.claim(task, corpus, predictor, folder, fresh=fresh)
    with workplace(folder, _PLACE, engine) as place:
        texts = foreseen_texts(task.samples, task.shown_settings, predictor, progress)
        encode_by(texts, engine, place, fresh=fresh, progress=progress)


class BlockEncoder:
    """The function of a worker: a file of texts becomes a file of vectors."""

    def __init__(self) -> None:
        self._encoder = shipped_encoder()

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        texts: list[str] = orjson.loads(source.read_bytes())
        vectors = self._encoder.embed(texts)
        with atomic_path(place) as temporary, temporary.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
        return {"texts": len(texts)}


def encode_by(
    texts: Iterable[str],
    engine: Backend,
    place: Path,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> int:
    """Encodes what the cache does not have; `place` is where texts and vectors are kept so long.

    A text that no file can hold (half of a letter) is left to the run.
    """
    version = shipped_encoder().version
    store = shipped_store(version)
    missing: list[str] = []
    for block in _blocks([text for text in texts if _is_whole(text)]):
        stored = store.get(block)
        missing += [text for text in block if text not in stored]
    blocks = _blocks(missing)
    private_folder(place / "texts")
    inputs = tuple(
        write_bytes(place / "texts" / f"{number:06}.json", orjson.dumps(block))
        for number, block in enumerate(blocks, 1)
    )
    job = Job(_JOB, inputs, BlockEncoder, place / "vectors", {"encoder": version}, ".npy")
    report = run_job(job, engine, fresh=fresh, progress=progress)
    report.refuse_problems("run it again with the same `out=`: what is done stays")
    for row, block in zip(report.rows, blocks, strict=True):
        store.put(block, np.load(Path(report.out) / row["part"], allow_pickle=False))
    return len(missing)


def _blocks(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]


def _is_whole(text: str) -> bool:
    """Whether a text can be written: some that people posted end in half of an emoji."""
    return text == text.encode(errors="ignore").decode()


def foreseen_texts(
    samples: Samples,
    settings: Sequence[Setting],
    predictor: Predictor,
    progress: Progress = silent,
) -> dict[str, None]:
    """Each text once, in the order in which it is first needed; those without words are none."""
    baseline = cast(Baseline, predictor)
    texts: dict[str, None] = {}
    for setting in settings:
        for part in PARTS:
            progress(0, 0, f"looking for texts of {setting}, {part}")
            near = samples.near_texts(setting, part)
            needed = baseline.encodes(samples.of(setting, part), part)
            texts |= dict.fromkeys((*near, *needed))
    if samples.task == "next_text":
        texts |= dict.fromkeys(target.text for target in samples.part("test"))
    return {text: None for text in texts if text.strip()}
