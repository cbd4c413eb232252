"""Stored runs → their figures, side by side, what failed, and scores made anew.

show("probe-recent")                     figures of a run, or one of its samples
table(["recent", "mine=probe-mine"])     runs side by side
failures(["probe-recent"], most=10)      rows worth reading
gate("new", against="base", score="any@5")   → Gate: may the new run take its place?
rescore("probe-recent")                  → Run, by the present formulas
contexts("sample", out="shown.jsonl")    what each question would be shown, for readers elsewhere
score("sample", "answers.jsonl")         → Run of answers that came from anywhere
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.benchmarks import compare as compare  # noqa: PLC0414  one of the verbs
from realtalk.api.choices import (
    Model,
    Readable,
    Reading,
    as_corpus,
    as_path,
    budgets_of,
    make_judge,
    memory_of,
    questions_of,
    semantics_of,
    value_object,
)
from realtalk.errors import RealtalkError
from realtalk.files.naming import named_run
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.comparing import Gate
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable
    from realtalk.evals.values import Row

_LOG = logging.getLogger("realtalk")


@dataclass(frozen=True)
class RunsView:
    """Runs side by side, rows worth reading, or one sample, and what to say of them."""

    runs: Sequence[Run]
    tables: Sequence[ResultTable] = ()
    rows: Sequence[Row] | None = None
    evidence: Sequence[Sequence[str]] = ()  # lines below each row

    @property
    def notes(self) -> list[str]:
        """How tables are read, cautions, and what is unscored with its reasons."""
        notes = [line for table in self.tables for line in table.notes]
        is_several = len(self.runs) > 1
        for run in self.runs:
            notes += [f"{run.name}: {line}" if is_several else line for line in run.cautions]
            notes += run.remarks() if self.rows is None else []
        return list(dict.fromkeys(notes))

    def to_json(self) -> Any:
        """The rows, or every figure of each run."""
        return [run.to_json() for run in self.runs] if self.rows is None else list(self.rows)


def load_named(runs: Sequence[str | PathLike[str]]) -> list[Run]:
    """Runs in the order given, by names that tell them apart; those of one name joined."""
    from realtalk.evals.run import Run, join_runs, named_runs

    runs_by_name: dict[str, list[Run]] = {}
    for text in runs:
        name, folder = named_run(str(text))
        run = Run.load(folder)
        runs_by_name.setdefault(name or f"/{len(runs_by_name)}", []).append(
            run.with_name(name) if name else run
        )
    several = [
        same_name[0] if len(same_name) == 1 else join_runs(name, same_name)
        for name, same_name in runs_by_name.items()
    ]
    return list(named_runs(several).values())


def show(
    run: str | PathLike[str],
    *,
    sample: str | None = None,
    corpus: Readable | None = None,
    groups: bool = False,
) -> RunsView:
    """Show a stored run, or one of its samples.

    Args:
        run: Folder of a run.
        sample: One sample: Q3 or Chat_1:Q3.
        corpus: Corpus of the run: what its messages say.
        groups: Also by category, speaker or domain.

    Example:
        rt.runs.show("probe-recent")
        rt.runs.show("probe-recent", sample="Q3")
        rt.runs.show("probe-recent", sample="Chat_1:Q3", corpus="sample")
    """
    (loaded,) = load_named([run])
    if sample is None:
        return RunsView([loaded], loaded.table(groups=groups))

    def key(row: Row) -> tuple[Any, ...]:
        return row["group"], row["sample"], row["variant"]

    why = {key(row): row["why"] for row in loaded.failing_rows}
    rows = [{"why": why.get(key(row)), **row} for row in loaded.find(sample)]
    chats = None if corpus is None else as_corpus(corpus)
    return RunsView([loaded], (), rows, [loaded.benchmark.evidence(row, chats) for row in rows])


def table(
    runs: Sequence[str | PathLike[str]],
    *,
    groups: bool = False,
    published: bool = True,
    best_of: bool = False,
    figures: str | PathLike[str] | None = None,
) -> RunsView:
    """Show stored runs side by side, with the paper's rows.

    There is one table per kind of score, with the paper's rows below. Runs of one name are joined:
    an adapter is for one speaker, so ten runs make one row.

    Args:
        runs: Folders of runs, or NAME=FOLDER.
        groups: Also by category, speaker or domain.
        published: Whether to show the paper's rows.
        best_of: Threads: also the best, by the truth.
        figures: Folder for charts: PNG, SVG and HTML.

    Example:
        rt.runs.table(["probe-recent", "probe-events"])
        rt.runs.table(["old=probe-recent", "new=probe-events"], published=False)
        rt.runs.table(["probe-recent", "probe-events"], figures="pictures")
    """
    loaded = load_named(runs)
    if best_of:
        from realtalk.threads.benchmark import best_of as best

        loaded.append(best(loaded))
    parts = dict.fromkeys(run.benchmark.part_of(run.settings) for run in loaded)
    tables: list[ResultTable] = []
    for part in parts:
        same = [run for run in loaded if run.benchmark.part_of(run.settings) == part]
        tables += same[0].table(*same[1:], groups=groups, published=published)
    if figures is not None:
        from realtalk.describe.figures import save_figures

        charts = loaded[0].benchmark.charts({run.name: run for run in loaded})
        _LOG.info("wrote %d files to %s", len(save_figures(charts, Path(figures))), figures)
    return RunsView(loaded, tables)


def compare_variants(run: str | PathLike[str], first: str, second: str) -> ResultTable:
    """Compare two budgets or settings of one stored run.

    The same samples are compared under both.

    Args:
        run: Folder of a run.
        first: Budget or setting, e.g. p-nonconv.
        second: Another of the run, e.g. p-conv.

    Example:
        rt.runs.compare_variants("probe-recent", "1000t", "2000t")
        rt.runs.compare_variants("regression", "p-nonconv", "p-conv")
        rt.runs.compare_variants("regression", "np-conv", "p-conv")
    """
    (loaded,) = load_named([run])
    return loaded.compare(variant=f"{first},{second}")


def gate(
    new: Run | str | PathLike[str],
    *,
    against: Run | str | PathLike[str],
    score: str,
    drop: float = 0.0,
    variant: str | None = None,
) -> Gate:
    """Check that a new run lost nothing against another.

    The same samples are compared, by whole groups (chats, speakers, users). It fails, and the
    command exits with 1, where the score drops by more than allowed and the whole 95 % interval
    is a drop; a larger drop within chance is told and passes.

    Args:
        new: Run that would take the other's place.
        against: Run that it is held against.
        score: Score, e.g. any@5.
        drop: Largest drop that passes.
        variant: Budget or setting (default: every common one).

    Returns:
        A gate: `.passed`, `.lines`, `.to_json()`.

    Example:
        rt.runs.gate("probe-new", against="probe-main", score="any@5", drop=0.02)
        rt.runs.gate("new", against="main", score="all@budget", variant="2000w")
        rt.runs.gate("regression", against="mean", score="mcc")
    """
    from realtalk.evals.comparing import gate as hold
    from realtalk.evals.run import Run

    sides = [side if isinstance(side, Run) else load_named([side])[0] for side in (new, against)]
    return hold(sides[0], sides[1], score, drop, variant)


def failures(
    runs: Sequence[str | PathLike[str]],
    *,
    most: int = 10,
    page: str | PathLike[str] | None = None,
    corpus: Readable | None = None,
) -> RunsView:
    """Show what failed and why, worst first. Prints texts.

    Args:
        runs: Folders of runs, or NAME=FOLDER.
        most: Rows to show.
        page: HTML page to write, runs side by side.
        corpus: Corpus of the runs: what messages say.

    Example:
        rt.runs.failures(["probe-recent"])
        rt.runs.failures(["probe-recent"], most=5, corpus="sample")
        rt.runs.failures(["probe-recent", "probe-events"], page="failures.html")
    """
    loaded = load_named(runs)
    chats = None if corpus is None else as_corpus(corpus)
    if page is not None:
        from realtalk import __version__
        from realtalk.pages.frame import check_page, write_page
        from realtalk.pages.runs import failures_page
        from realtalk.pages.sections import render

        file = Path(page)
        check_page(file)
        runs_by_name = {run.name: run for run in loaded}
        sections = failures_page(runs_by_name, most=most, corpus=chats)
        versions = {"realtalk": __version__}
        write_page(
            file, render("What failed", sections, made=versions, lead=" · ".join(runs_by_name))
        )
        _LOG.info("wrote %s", file)
    rows = [
        {**({"run": run.name} if len(loaded) > 1 else {}), **row}
        for run in loaded
        for row in run.failures(most).to_dicts()
    ]
    return RunsView(loaded, (), rows)


def rescore(
    run: str | PathLike[str],
    corpus: Readable | None = None,
    *,
    judge: str | None = None,
    prompts: str | PathLike[str] | None = None,
    audit: str | PathLike[str] | None = None,
    bertscore: str | None = None,
    bertscore_layer: int | None = None,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Score a stored run again by the present formulas.

    The stored answers are scored; nobody is asked again. Says what changed. What is no longer in
    the corpus keeps the scores that it has.

    Args:
        run: Folder of a run.
        corpus: Corpus of the run (samples need none).
        judge: Memory: model that judges answers; same: the reader.
        prompts: Memory: folder with prompts of your own.
        audit: Memory: corrected audit, as the studio exports it.
        bertscore: Persona: hub model for semantic similarity.
        bertscore_layer: Persona: layer of that model.
        model: How the judge is asked.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.runs.rescore("probe-recent")
        rt.runs.rescore("probe-recent", judge="openai/gpt-4o-mini")
        rt.runs.rescore("constant", "data/realtalk")
    """
    from realtalk.evals.run import Run

    folder, stored = Path(run), Run.load(run)

    def chats() -> Any:
        name = corpus or stored.settings["corpus"].get("name", "")
        from realtalk.formats.opening import SAMPLES

        if corpus is None and name not in SAMPLES:
            raise RealtalkError(
                "the corpus of the run is needed", where=str(folder), fix="name it after the run"
            )
        return as_corpus(name, reading, progress)

    if stored.kind == "memory probing":
        changes = _rescore_memory(folder, judge, prompts, audit, model, progress)
    elif stored.kind == "persona simulation":
        from realtalk.persona.benchmark import rescore_persona
        from realtalk.persona.scoring import TurnScorer

        scorer = TurnScorer(
            corpus_read := chats(), bertscore=semantics_of(bertscore, bertscore_layer)
        )
        changes = rescore_persona(folder, corpus_read, scorer=scorer, progress=progress).lines
    elif stored.kind == "thread tasks":
        from realtalk.threads.benchmark import rescore_threads

        changes = rescore_threads(folder, chats).lines
    else:
        raise RealtalkError(f"figures of {stored.kind} are always by the present formulas")
    for line in changes:
        _LOG.info("%s", line)
    return Run.load(run)


def _rescore_memory(
    folder: Path,
    judge: str | None,
    prompts: str | PathLike[str] | None,
    audit: str | PathLike[str] | None,
    model: Model | str | None,
    progress: Progress,
) -> Sequence[str]:
    from realtalk.evals.run import Run
    from realtalk.formats.audit import Audit
    from realtalk.memory.benchmark import answering, judge_run, rescore_run, same_formulas

    if judge is None and prompts is not None:
        raise RealtalkError("`prompts=` is for a judge", fix="name one with `judge=`")
    probed = Run.load(folder)
    place = as_path(prompts)
    judging = make_judge(judge, answering(probed), value_object(Model, model), prompts=place)
    corrected = None if audit is None else Audit.read(Path(audit))
    lines: Sequence[str] = ()
    if judging is None or corrected is not None or not same_formulas(probed):
        probed, changes = rescore_run(folder, corrected)
        lines = changes.lines
    if judging is not None:
        judge_run(probed, judging, progress)
    return lines


def share(runs: Sequence[str | PathLike[str]], *, out: str | PathLike[str]) -> tuple[Path, ...]:
    """Copy runs without texts: settings, versions and scores.

    Args:
        runs: Folders of runs, or NAME=FOLDER.
        out: Folder for the copies.

    Example:
        rt.runs.share(["probe-recent"], out="results")
        rt.runs.share(["tuned", "untuned=base"], out="results/persona")
        rt.runs.share(["sweep/budget-500", "sweep/budget-1000"], out="results/budgets")
    """
    from realtalk.evals.run import Run

    folders = []
    for text in runs:
        name, folder = named_run(str(text))
        place = Path(out) / (name or Path(folder).name)
        copy = Run.load(folder).share(place)
        _LOG.info("%d rows without texts in %s", len(copy.rows), place)
        folders.append(place)
    return tuple(folders)


def contexts(
    corpus: Readable,
    *,
    out: str | PathLike[str],
    memory: str = "retrieved",
    budget: str | int | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    questions: str = "own",
    categories: Sequence[str] = (),
    limit: int | None = None,
    golds: str | PathLike[str] = "published",
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Path:
    """Write the context of each question, for a model elsewhere.

    One line per question: chat, id, budget, category, question, context, tokens, words and
    message_ids.

    Args:
        corpus: Chat, corpus or sample name.
        out: JSONL file to write.
        memory: Memory under test.
        budget: Context size, e.g. 1000, 2000w or all.
        settings: Setting of the memory, e.g. around=3.
        protocol: Rules of the memory: clean or paper.
        questions: The corpus's own, or swapped: of another person.
        categories: Only these categories, e.g. temporal,multi_hop.
        limit: Questions to ask.
        golds: Golds that swapped questions are made from.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.memory.contexts("sample", out="contexts.jsonl")
        rt.memory.contexts("sample", memory="recent", out="recent.jsonl")
        rt.memory.contexts("sample", budget="500,1000", out="budgets.jsonl")
    """
    from realtalk.files.json_objects import write_objects
    from realtalk.memory.asking import Plan
    from realtalk.memory.asking import contexts as recall
    from realtalk.memory.remembering import NoReader

    file = Path(out)
    chats, right = questions_of(questions, as_corpus(corpus, reading, progress), str(golds))
    plan = Plan(
        chats,
        memory_of(memory, settings, protocol),
        NoReader(),
        budgets_of(memory, "llm", budget),
        tuple(dict.fromkeys(categories)) or None,
        limit,
        right,
    )
    if file.is_dir():
        raise RealtalkError("is a folder", where=str(file), fix="name a file: contexts.jsonl")
    return write_objects(file, recall(plan, progress))


def score(
    corpus: Readable,
    answers: str | PathLike[str],
    *,
    judge: str | None = None,
    prompts: str | PathLike[str] | None = None,
    questions: str = "own",
    golds: str | PathLike[str] = "published",
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Score answers that a model or a person gave elsewhere.

    A question without an answer, or with an empty one, is unscored, not wrong. Lines that
    `contexts` wrote with an `answer` will do: their budget and message_ids are taken over.

    Args:
        corpus: Chat, corpus or sample name.
        answers: JSONL with chat, id and answer per line.
        judge: Model that judges answers.
        prompts: Folder with prompts of your own.
        questions: The corpus's own, or swapped: of another person.
        golds: Right answers: published, audited, lmeb or a file.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: How the judge is asked.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.memory.score("sample", "answers.jsonl")
        rt.memory.score("sample", "answers.jsonl", out="scored")
        rt.memory.score("sample", "answers.jsonl", judge="openai/gpt-4o-mini")
    """
    from realtalk.memory.answers_elsewhere import read_answers, score_answers
    from realtalk.memory.benchmark import judge_run

    chats, right = questions_of(questions, as_corpus(corpus, reading, progress), str(golds))
    place = as_path(prompts)
    judging = make_judge(judge, {}, value_object(Model, model), prompts=place)
    folder = as_path(out)
    answers_read = read_answers(Path(answers))
    probed = score_answers(chats, answers_read, folder, fresh=fresh, golds=right)
    if judging is not None:
        probed = judge_run(probed, judging, progress)
    return probed
