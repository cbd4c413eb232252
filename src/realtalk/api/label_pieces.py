"""A corpus in parts, or an engine's name → labels by that engine, as a run like the others.

pieces = pieces_of("archive", "embedded", asked=True)                     → CorpusStream
label_pieces(pieces, build, choose("processes", 4), out=Path("labels"))   → Labels
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from realtalk.api.sources import Readable, as_corpus, as_stream
from realtalk.ei.results import Labels
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.ei.labels import Labeller
    from realtalk.engine.jobs import Engine
    from realtalk.formats.store import CorpusStream


def pieces_of(corpus: Readable, measure: str, *, asked: bool) -> Corpus | CorpusStream | None:
    """What an engine labels: anything where one is asked for, else a corpus in several parts."""
    stream = as_stream(corpus)
    if asked:
        return as_corpus(corpus) if stream is None else stream
    return stream if stream and len(stream.pieces) > 1 and measure != "judge" else None


def label_pieces(
    source: Corpus | CorpusStream,
    build: Callable[[], Labeller],
    engine: Engine,
    protocol: str = "turns",
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Labels:
    """Labels by an engine; a run in a folder is read when it is needed."""
    from realtalk.ei.by_engine import TurnSource, label_blocks
    from realtalk.ei.label_files import read_labels

    turns = TurnSource.of(source)
    with label_blocks(turns, build, engine, protocol, out, fresh=fresh, progress=progress) as run:
        labels = run.folder if out is not None else read_labels(run.folder)
        made = Labels(labels, turns.name, turns.format, protocol, settings=run.settings)
        made.caution(run.learned)
    if out is not None:
        made.save_speakers(out)
    return made
