"""A corpus → EI labels of every turn, and what follows from them.

label("sample").facets()                           eleven facets of every speaker
speaker_consistency("sample")                      one person in two chats, facet by facet
distinguishability("mychats", "simulated").frame   one row per classifier: an AUC
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from realtalk.api.choices import (
    ASKED,
    Engine,
    Model,
    Readable,
    Reading,
    as_corpus,
    as_path,
    as_stream,
    is_path,
    make_labeller,
    value_object,
)
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.ei.results import Labels
    from realtalk.evals.tables import ResultTable


def label(
    corpus: Readable,
    *,
    measures: str = "embedded",
    classifiers: Sequence[str] = (),
    ask: Sequence[str] = ASKED,
    prompts: str | PathLike[str] | None = None,
    protocol: str = "turns",
    encoder: str = "auto",
    device: str = "cpu",
    figures: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    engine: Engine | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Labels:
    """Label each turn: emotion, empathy, intimacy and others.

    The measures of a turn are reflective, grounding, sentiment, emotion, intimacy and empathy. They
    are embedded (the encoders in this package; nothing leaves the machine), hub (classifiers that
    run here; extra train) or judge (a language model that you name, which is sent the chat; extra
    llm). Chats that are mostly English are labelled by the English encoder, others by the
    multilingual one; each language has a grade from its own figures. With `out` writes
    labels.parquet (one row per turn, unscored with the reason) and speakers.parquet. Call it again
    to resume.

    Args:
        corpus: Chat, corpus or sample name.
        measures: How turns are measured: embedded, hub or judge.
        classifiers: Hub: other classifier, e.g. sentiment=NAME.
        ask: Judge: measures to ask for.
        prompts: Judge: folder with rubrics of your own.
        protocol: How turns are joined: turns, paper or released.
        encoder: Embedded: auto, english or multilingual.
        device: Where the encoder runs: cpu or cuda.
        figures: Folder for charts: PNG, SVG and HTML.
        out: Folder for the labels.
        fresh: Delete the existing labels and start over.
        model: The judge.
        engine: Where the work is done.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        Labels: `.frame` (one row per turn), `.facets()`, `.compare(other)`, `.cautions`.

    Example:
        rt.label("sample")
        rt.label("my-chat.zip", out="labels", figures="pictures")
        rt.label("archive", out="labels", engine=Engine("processes", workers=4))
        rt.label("sample", measures="judge", model="openai/gpt-4o-mini", out="judged")
    """
    from realtalk.ei.labelling import WORK, label_blocks, labels_for, learned_lines
    from realtalk.ei.protocols import rules_of

    rules_of(protocol)
    model_options, spread = value_object(Model, model), value_object(Engine, engine)
    way = (measures, model_options, classifiers, as_path(prompts), ask, device, encoder)
    labeller = make_labeller(*way)
    folder = as_path(out)
    stream = as_stream(corpus)
    in_parts = stream is not None and len(stream.pieces) > 1 and measures != "judge"
    if spread or in_parts:
        if measures == "judge":
            raise RealtalkError(
                "a judge is asked, not run: `engine=` is not for it", fix="see `connections=`"
            )
        workers = spread.backend(device)
        build = partial(make_labeller, *way, workers.threads)  # what travels is no model
        source = stream or as_corpus(corpus)
        labels = label_blocks(
            source, build, workers, protocol, folder, fresh=fresh, progress=progress
        )
    else:
        chats = as_corpus(corpus, reading, progress)
        labels = labels_for(
            chats, labeller, protocol=protocol, out=folder, fresh=fresh, progress=progress
        )
        if labeller.name == "embedded":
            labels.caution(learned_lines(chats))
    if folder is not None:
        labels.save_speakers(folder)
        rmtree(folder / WORK, ignore_errors=True)  # of a run by an engine that was stopped
    if figures is not None:
        labels.figures(figures)
    return labels


def labels_of(source: Labels | Readable, protocol: str | None = None) -> Labels:
    """Labels, their folder, or a corpus, which is labelled now."""
    from realtalk.ei.results import Labels, is_labels
    from realtalk.evals.run import Run

    if isinstance(source, Labels):
        return source
    if isinstance(source, Run):
        raise RealtalkError("expected Labels, got a Run", fix="give labels or a corpus")
    if is_path(source) and is_labels(Path(source)):
        return Labels.load(source, protocol)
    return label(source, protocol=protocol or "turns")


def speaker_consistency(
    labels: Labels | Readable,
    *,
    protocol: str | None = None,
    figures: str | PathLike[str] | None = None,
) -> ResultTable:
    """Measure how much speakers differ between their chats.

    A speaker with two chats is compared with themselves, facet by facet.

    Args:
        labels: Labels, their folder, or a corpus, labelled first.
        protocol: How turns are joined (default: as labelled).
        figures: Folder for charts: PNG, SVG and HTML.

    Example:
        rt.ei.speaker_consistency("sample")
        rt.ei.speaker_consistency("labels", figures="pictures")
        rt.ei.speaker_consistency("labels", protocol="paper")
    """
    import polars as pl

    from realtalk.ei.languages import language_notes
    from realtalk.ei.speakers import consistency as measure
    from realtalk.ei.speakers import (
        consistency_doubts,
        consistency_json,
        consistency_languages,
        consistency_rows,
    )
    from realtalk.evals.tables import ResultTable

    side = labels_of(labels, protocol)
    pairs = measure(side.frame, side.protocol)
    columns, rows = consistency_rows(pairs).told_apart()
    frame = pl.DataFrame([list(map(str, row)) for row in rows], schema=list(columns), orient="row")
    notes = [*language_notes(consistency_languages(pairs)), *consistency_doubts(pairs)]
    if not pairs:
        notes.append("no speaker has two chats")
    elif figures is not None:
        from realtalk.describe.figures import save_figures
        from realtalk.ei.figures import draw_consistency

        save_figures(draw_consistency(pairs).charts, Path(figures))
    return ResultTable("the same person in two chats", frame, notes, consistency_json(pairs))


def distinguishability(
    first: Readable,
    second: Readable,
    *,
    labels: tuple[Labels, Labels] | None = None,
    progress: Progress = silent,
) -> ResultTable:
    """Test how well a classifier tells two corpora apart.

    Two figures: by words and letters, and by EI labels and style. Each is an AUC with a 95 %
    interval by bootstrap over chats; .5 means that the corpora cannot be told apart. The classifier
    is tested on people whom it never saw, and a person is the same in both corpora ("Mara
    (simulated)" is Mara). With fewer than three chats on one side, or too few people to hold out,
    both are unscored.

    Args:
        first: Chat, corpus or sample name.
        second: The other.
        labels: Labels of both: saves labelling.

    Example:
        rt.ei.distinguishability("sample", "sample-simulated")
        rt.ei.distinguishability("mara", "mara-simulated")
        rt.ei.distinguishability("data/realtalk", "locomo10.json")
    """
    from realtalk.ei.protocols import rules_of
    from realtalk.ei.told_apart import WAYS, told_apart
    from realtalk.evals.tables import ResultTable, frame_of

    both = (as_corpus(first), as_corpus(second))
    first_labels, second_labels = labels or tuple(label(side, progress=progress) for side in both)
    frames = (first_labels.frame, second_labels.frame)
    joins_messages = rules_of(first_labels.protocol).joined
    tests = told_apart(*both, frames, joined=joins_messages, progress=progress)
    rows = [
        {
            "score": way,
            "estimate": test.auc.value,
            "low": test.auc.low,
            "high": test.auc.high,
            "n": test.auc.n,
            "groups": sum(test.chats),
        }
        for way, test in tests.items()
    ]
    notes = tuple(
        f"{WAYS[way]}: unscored, {test.auc.unscored}"
        for way, test in tests.items()
        if test.auc.unscored
    )
    columns = ("score", "estimate", "low", "high", "n", "groups")
    details = {way: test.to_json() for way, test in tests.items()}
    title = f"told apart: {both[0].name} and {both[1].name}"
    return ResultTable(title, frame_of(columns, rows), notes, details)
