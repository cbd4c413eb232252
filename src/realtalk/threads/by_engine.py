"""Texts of a run of thread tasks, encoded by workers before it begins.

    encode_ahead(corpus, task, Regression(), Processes(4), Path("out"))   # before run_threads
    foreseen_texts(samples, ("p-conv",), Regression())    → {"phew": None, "did you sleep": None, …}
    encode_by(texts, Processes(4), Path("out/.texts"))
    → how many texts were encoded, a thousand at a time; those that the cache had are not counted

Learning and predicting stay in one process: a regression is learned from all replies at once, and
its sums would differ in their last bits if it were cut in pieces. What comes before, encoding, is
nearly all of the time, and there every text stands for itself: a vector depends on the text alone.
Not foreseen are texts that only the run's own choices name: the writings of strangers that
nearness chooses, and predicted words. A text that is missing here is encoded by the run itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import orjson

from realtalk.chat import Corpus
from realtalk.engine.jobs import Backend, Job, run_job, workplace
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path, private_folder, write_bytes
from realtalk.metrics.similarity import shipped_encoder
from realtalk.threads.baselines import Baseline
from realtalk.threads.predictors import BASELINES, Predictor
from realtalk.threads.sampling import Samples
from realtalk.threads.values import PARTS, Setting
from realtalk.threads.vectors import shipped_store

if TYPE_CHECKING:
    from realtalk.threads.benchmark import ThreadTask

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
