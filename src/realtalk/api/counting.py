"""A stored corpus → its statistics, part by part on any engine.

    describe_by(open_stream("archive"), Processes(4), Path("counted"))   → CorpusStats
    → counted/part-00000.json, …: what was counted of each part, and the job's record

Workers count, the driver adds up; figures are those of `stats.describe` to the last digit.
Without a folder the counts lie in a temporary one, and a job that was stopped begins anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from realtalk.describe.combining import StatsPart, combine
from realtalk.describe.values import CorpusStats
from realtalk.engine.jobs import Backend, Job, JobReport
from realtalk.engine.running import run_job
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import write_json
from realtalk.formats.store import CorpusPiece, CorpusStream

KIND = "statistics"


@dataclass(frozen=True)
class ChatCounter:
    """The function of a worker: counts the chats of one piece."""

    pieces: Mapping[Path, CorpusPiece]

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from realtalk.describe.counting import count_chats

        part = count_chats(self.pieces[source].tables())
        write_json(place, part.to_json())
        return {"chats": len(part.chats), "messages": sum(chat.messages for chat in part.chats)}


def describe_by(
    stream: CorpusStream,
    engine: Backend,
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> CorpusStats:
    """Every figure of the corpus; a part that cannot be read leaves none."""
    pieces = {piece.source: piece for piece in stream.pieces}
    place = TemporaryDirectory(prefix="realtalk-stats-") if out is None else nullcontext(str(out))
    with place as folder:
        settings = {"name": stream.name, "format": stream.format, "corpus": _record(stream)}
        make = partial(ChatCounter, pieces)
        job = Job(KIND, tuple(pieces), make, folder, settings, suffix=".json")
        report = run_job(job, engine, fresh=fresh, progress=progress)
        report.refuse_problems("statistics of the others would not be those of the corpus")
        return combine(stream.name, stream.format, _parts(report))


def _parts(report: JobReport) -> Iterator[StatsPart]:
    for row in report.rows:
        yield StatsPart.from_json(orjson.loads((Path(report.out) / row["part"]).read_bytes()))


def _record(stream: CorpusStream) -> str:
    """What the corpora's own records say, in short: another corpus is another job."""
    digest = hashlib.sha256()
    for folder in dict.fromkeys(piece.folder for piece in stream.pieces):
        digest.update(folder.name.encode() + b"\0")
        digest.update(hashlib.sha256((folder / "corpus.json").read_bytes()).digest())
    return digest.hexdigest()[:16]
