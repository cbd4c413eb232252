"""A run of thread tasks whose texts are encoded by workers before it begins.

    predict_by(corpus, task, predictor, Processes(4), Path("out"))
    → with the rows that `run_threads` writes
    encode_by(foreseen_texts(samples, settings, predictor), Processes(4), Path("out/.texts"))
    → how many texts were encoded, a thousand at a time; those that the cache had are not counted

Learning and predicting stay in one process: a regression is learned from all replies at once, and
its sums would differ in their last bits if it were cut in pieces. What comes before, encoding, is
nearly all of the time, and there every text stands for itself.

A run of thread tasks → the texts that it is going to encode, as far as they are known before.

    foreseen_texts(samples, ("p-conv",), Regression())    → {"phew": None, "did you sleep": None, …}

Encoding is what a run spends its time on, and a text's vector depends on the text alone: whoever
encodes these first (by_engine.py) leaves the run the rest. Not foreseen are texts that
only the run's own choices name: the writings of strangers that nearness chooses, and predicted
words. A text that is missing here is encoded by the run itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import orjson

from realtalk.chat import Corpus
from realtalk.engine.jobs import Backend, Job
from realtalk.engine.running import run_job, workplace
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path, private_folder, write_bytes
from realtalk.metrics.similarity import encoder_shipped, shipped_encoder
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import BASELINES, Predictor
from realtalk.threads.sampling import Samples
from realtalk.threads.values import PARTS, Case, Part, Setting
from realtalk.threads.vectors import shipped_store

_JOB = "encoding texts"
_PLACE = ".texts"
_AT_ONCE = 1024  # texts of a block: some seconds of work


def predict_by(
    corpus: Corpus,
    task: ThreadTask,
    predictor: Predictor,
    engine: Backend,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Encodes by an engine, then runs as ever; rows and settings are those of `run_threads`."""
    if predictor.name not in BASELINES:
        raise RealtalkError(
            "an engine splits what needs no language model",
            fix="leave `engine=` out, or take one of " + ", ".join(BASELINES),
        )
    task.refuse_predictor(predictor, corpus)
    running.claim(task, corpus, predictor, folder, fresh=fresh)
    with workplace(folder, _PLACE, engine) as place:
        texts = foreseen_texts(task.samples, task.shown_settings, predictor, progress)
        encode_by(texts, engine, place, fresh=fresh, progress=progress)
        return run_threads(corpus, task, predictor, folder, progress=progress)


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
    wanted = [text for text in texts if _is_whole(text)]
    missing: list[str] = []
    for start in range(0, len(wanted), _AT_ONCE):
        block = wanted[start : start + _AT_ONCE]
        known = store.get(block)
        missing += [text for text in block if text not in known]
    blocks = [missing[start : start + _AT_ONCE] for start in range(0, len(missing), _AT_ONCE)]
    inputs = []
    private_folder(place / "texts")
    for number, block in enumerate(blocks, 1):
        path = place / "texts" / f"{number:06}.json"
        inputs.append(write_bytes(path, orjson.dumps(block)))
    job = Job(_JOB, tuple(inputs), BlockEncoder, place / "vectors", {"encoder": version}, ".npy")
    report = run_job(job, engine, fresh=fresh, progress=progress)
    if report.problems:
        raise RealtalkError(
            f"{len(report.problems):,} files of texts could not be encoded, this one: "
            f"{report.problems[0][1]}",
            where=report.problems[0][0],
            fix="run it again with the same `out=`: what is done stays",
        )
    for row, block in zip(report.rows, blocks, strict=True):
        store.put(block, np.load(Path(report.out) / row["part"], allow_pickle=False))
    return len(missing)


def _is_whole(text: str) -> bool:
    """Whether a text can be written: some that people posted end in half of an emoji."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@runtime_checkable
class Encoding(Protocol):
    """A predictor that encodes texts."""

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:
        """The texts of cases that it will encode, where they are of that part."""


def foreseen_texts(
    samples: Samples,
    settings: Sequence[Setting],
    predictor: Predictor,
    progress: Progress = silent,
) -> dict[str, None]:
    """Each text once, in the order in which it is first needed; those without words are none."""
    found: dict[str, None] = {}
    for setting in settings:
        for part in PARTS:
            progress(0, 0, f"looking for texts of {setting}, {part}")
            near = samples.near_texts(setting, part)
            cases = samples.of(setting, part)
            read = predictor.encodes(cases, part) if isinstance(predictor, Encoding) else ()
            for texts in (near, read):
                found.update((text, None) for text in texts if text.strip())
    if samples.task == "next_text" and encoder_shipped():
        told = (target.text for target in samples.part("test"))
        found.update((text, None) for text in told if text.strip())
    return found
