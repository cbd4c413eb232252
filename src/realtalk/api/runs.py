"""Stored runs → their figures, side by side, what failed, and scores made anew.

show("probe-recent")                     → ResultTable
table(["recent", "mine=probe-mine"])     → ResultTable, one row per run, variant and score
failures("probe-recent", most=10)        → ResultTable with texts
rescore("probe-recent")                  → Run, by the present formulas
contexts("sample", out="shown.jsonl")    what each question would be shown, for readers elsewhere
score("sample", "answers.jsonl")         → Run of answers that came from anywhere
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.benchmarks import compare as compare  # noqa: PLC0414  one of the verbs
from realtalk.api.choices import budgets_of, make_judge, memory_of, semantics_of
from realtalk.api.options import Model, Reading, value_object
from realtalk.api.sources import Readable, as_corpus
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.surface.runs import Run
    from realtalk.surface.tables import ResultTable

_LOG = logging.getLogger("realtalk")


def show(run: str | PathLike[str], *, groups: bool = False) -> ResultTable:
    """Show the figures of a stored run: estimate, 95 % interval, n, unscored.

    Args:
        run: Folder of a run.
        groups: Also by category, speaker or domain.

    Example:
        rt.runs.show("probe-recent")
    """
    from realtalk.surface.runs import Run

    return Run.load(run).summary(groups=groups)


def table(runs: Sequence[str | PathLike[str]], *, groups: bool = False) -> ResultTable:
    """Show stored runs of one kind side by side, one line per run and variant.

    Args:
        runs: Folders of runs, or NAME=FOLDER.
        groups: Also by category, speaker or domain.

    Example:
        rt.runs.table(["probe-recent", "mine=probe-mine"])
    """
    import polars as pl

    from realtalk.local.naming import named_run
    from realtalk.report.finding import told_apart
    from realtalk.surface.runs import Run
    from realtalk.surface.tables import ResultTable

    given = [named_run(str(text)) for text in runs]
    loaded = [Run.load(folder) for _, folder in given]
    kinds = sorted({run.kind for run in loaded})
    if len(kinds) > 1:
        raise RealtalkError(f"runs of {' and '.join(kinds)}", fix="give runs of one kind")
    names = [name or run.name for (name, _), run in zip(given, loaded, strict=True)]
    names = told_apart(names, [folder for _, folder in given])
    frames = []
    for name, run in zip(names, loaded, strict=True):
        figures = run.summary(groups=groups).frame
        frames.append(figures.select(pl.lit(name).alias("run"), *figures.columns))
    notes = [
        f"{name}: {line}" for name, run in zip(names, loaded, strict=True) for line in run.cautions
    ]
    return ResultTable(f"{kinds[0]}: runs side by side", pl.concat(frames), notes)


def failures(run: str | PathLike[str], *, most: int = 10) -> ResultTable:
    """Show the rows of a stored run that are worth reading, worst first. Prints texts.

    Args:
        run: Folder of a run.
        most: Rows to show.

    Example:
        rt.runs.failures("probe-recent", most=5)
    """
    from realtalk.surface.runs import Run
    from realtalk.surface.tables import ResultTable

    loaded = Run.load(run)
    return ResultTable(f"{loaded.name}: what failed", loaded.failures(most), loaded.cautions)


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
    """Score a stored run's answers again by the present formulas; nobody is asked again.

    Says what changed. What is no longer in the corpus keeps the scores that it has.

    Args:
        run: Folder of a run.
        corpus: Corpus the run was made from (not needed for samples).
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
    from realtalk.surface.runs import Run

    folder, stored = Path(run), Run.load(run)

    def chats() -> Any:
        name = corpus or stored.settings["corpus"].get("name", "")
        from realtalk.corpora.opening import SAMPLES

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

        scorer = TurnScorer(found := chats(), bertscore=semantics_of(bertscore, bertscore_layer))
        changes = rescore_persona(folder, found, scorer=scorer, progress=progress).lines
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
    from realtalk.corpora.audit import Audit
    from realtalk.memory.benchmark import load_probe
    from realtalk.memory.rescoring import judge_run, rescore_run, same_formulas

    if judge is None and prompts is not None:
        raise RealtalkError("`prompts=` is for a judge", fix="name one with `judge=`")
    probed = load_probe(folder)
    place = None if prompts is None else Path(prompts)
    judging = make_judge(judge, probed.answering, value_object(Model, model), prompts=place)
    corrected = None if audit is None else Audit.read(Path(audit))
    lines: Sequence[str] = ()
    if judging is None or corrected is not None or not same_formulas(probed):
        probed, changes = rescore_run(folder, corrected)
        lines = changes.lines
    if judging is not None:
        judge_run(probed, judging, progress)
    return lines


def contexts(
    corpus: Readable,
    *,
    out: str | PathLike[str],
    memory: str = "retrieved",
    budget: str | int | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    categories: Sequence[str] = (),
    limit: int | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Path:
    """Write what each question would be shown, for readers elsewhere.

    One line per question: chat, id, budget, category, question, context, tokens, words and
    message_ids.

    Args:
        corpus: Chat, corpus or sample name.
        out: JSONL file to write.
        memory: Memory under test.
        budget: Context size, e.g. 1000, 2000w or all.
        settings: Setting of the memory, e.g. around=3.
        protocol: Rules of the memory: clean or paper.
        categories: Only these categories, e.g. temporal,multi_hop.
        limit: Questions to ask.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.memory.contexts("sample", memory="events", budget="2000", out="contexts.jsonl")
    """
    import orjson

    from realtalk.local.writing import atomic_path, check_holder
    from realtalk.memory.asking import Plan
    from realtalk.memory.asking import contexts as recall
    from realtalk.memory.readers import NoReader

    file = Path(out)
    plan = Plan(
        as_corpus(corpus, reading, progress),
        memory_of(memory, settings, protocol),
        NoReader(),
        budgets_of(memory, "llm", None if budget is None else str(budget)),
        tuple(dict.fromkeys(categories)) or None,
        limit,
    )
    if file.is_dir():
        raise RealtalkError("is a folder", where=str(file), fix="name a file: contexts.jsonl")
    with atomic_path(check_holder(file)) as temporary, temporary.open("wb") as stream:
        for row in recall(plan, progress):
            stream.write(orjson.dumps(row) + b"\n")
    return file


def score(
    corpus: Readable,
    answers: str | PathLike[str],
    *,
    judge: str | None = None,
    prompts: str | PathLike[str] | None = None,
    golds: str | PathLike[str] = "published",
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Score answers that came from anywhere: a batch API, another program, a person.

    A question without an answer, or with an empty one, is unscored, not wrong. Lines that
    `contexts` wrote with an `answer` will do: their budget and message_ids are taken over.

    Args:
        corpus: Chat, corpus or sample name.
        answers: JSONL with chat, id and answer per line.
        judge: Model that judges answers.
        prompts: Folder with prompts of your own.
        golds: Right answers: published, audited, lmeb or a file.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: How the judge is asked.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.memory.score("sample", "answers.jsonl")
    """
    from realtalk.memory.answers_elsewhere import read_answers, score_answers
    from realtalk.memory.benchmark import KIND
    from realtalk.memory.golds import golds_named
    from realtalk.memory.rescoring import judge_run
    from realtalk.surface.runs import Run

    chats = as_corpus(corpus, reading, progress)
    place = None if prompts is None else Path(prompts)
    judging = make_judge(judge, {}, value_object(Model, model), prompts=place)
    folder = None if out is None else Path(out)
    given = read_answers(Path(answers))
    probed = score_answers(chats, given, folder, fresh=fresh, golds=golds_named(str(golds)))
    if judging is not None:
        probed = judge_run(probed, judging, progress)
    return Run(KIND, probed)
