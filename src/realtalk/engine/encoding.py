"""Texts of thread tasks → their vectors in the cache, a thousand at a time, by any engine.

    encode_by(foreseen_texts(samples, settings, predictor), Processes(4), Path("out/.texts"))
    → how many were encoded; those that the cache had are not counted

Learning and predicting stay in one process: a regression is learned from all replies at once, and
its sums would differ in their last bits if it were cut in pieces. What comes before, encoding, is
nearly all of the time, and there every text stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from realtalk.engine.jobs import Engine, Job
from realtalk.engine.running import run_job
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import atomic_path, private_folder, write_bytes
from realtalk.metrics.similarity import shipped_encoder
from realtalk.threads.vectors import shipped_store

_JOB = "encoding texts"
_AT_ONCE = 1024  # texts of a shard: some seconds of work


class ShardEncoder:
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
    engine: Engine,
    place: Path,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> int:
    """Encodes what the cache does not have; `place` is where shards and vectors are kept so long.

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
    shards = [missing[start : start + _AT_ONCE] for start in range(0, len(missing), _AT_ONCE)]
    inputs = []
    private_folder(place / "shards")
    for number, shard in enumerate(shards, 1):
        path = place / "shards" / f"{number:06}.json"
        inputs.append(write_bytes(path, orjson.dumps(shard)))
    job = Job(_JOB, tuple(inputs), ShardEncoder, place / "vectors", {"encoder": version}, ".npy")
    report = run_job(job, engine, fresh=fresh, progress=progress)
    if report.problems:
        raise RealtalkError(
            f"{len(report.problems):,} files of texts could not be encoded, this one: "
            f"{report.problems[0][1]}",
            where=report.problems[0][0],
            fix="run it again with the same --out: what is done stays",
        )
    for row, shard in zip(report.rows, shards, strict=True):
        store.put(shard, np.load(report.out / row["part"], allow_pickle=False))
    return len(missing)


def _is_whole(text: str) -> bool:
    """Whether a text can be written: some that people posted end in half of an emoji."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
