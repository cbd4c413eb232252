"""Whatever a user points at, as a Reading.

open_reading("sample")             a corpus that ships with the package
open_reading("my-corpus/")         a stored corpus
open_reading("corpora/")           a folder of stored corpora, as one
open_reading("WhatsApp Chat.zip")  a raw export or published file, format found by itself
open_reading("-")                  the same from standard input
open_reading("s3://bucket/corpus") any of these in a store, from a copy that goes with the process
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from realtalk.corpora.formats import FORMATS, detect
from realtalk.corpora.reading import Reading, ReadOptions
from realtalk.corpora.source import Source
from realtalk.corpora.store import is_stored, load
from realtalk.corpora.streaming import is_collection, load_collection
from realtalk.local.stores import local_copy, place_of

SAMPLES = ("sample", "sample-simulated", "sample-threads")


@dataclass(frozen=True)
class Opened:
    """A reading and, where it was read just now, the source and format it came from."""

    reading: Reading
    source: Source | None
    format: str


def open_reading(
    path: str | Path, format_name: str | None = None, options: ReadOptions | None = None
) -> Opened:
    """A stored corpus, a sample's name, or anything that a reader knows."""
    options = options or ReadOptions()
    place = local_copy(path)
    # A file of the user's own wins over a sample of the same name.
    if str(path) in SAMPLES and not place.exists():
        with as_file(files("realtalk.corpora") / "samples" / str(path)) as folder:
            return _read(Source.open(folder), format_name, options)
    if str(path) and place.is_dir():
        stored = load(place) if is_stored(place) else None
        if stored is None and is_collection(place):
            stored = load_collection(place)
        if stored is not None:
            return Opened(stored, None, stored.tables.format)
    copied = place if isinstance(place_of(path), str) else path
    return _read(Source.open(copied), format_name, options)


def _read(source: Source, format_name: str | None, options: ReadOptions) -> Opened:
    name = format_name or detect(source)
    with _without_collecting():
        if len(source.members) > 1:
            from realtalk.corpora.beside import read_every  # which joins what is opened here

            return read_every(source, name, options, alone=format_name is not None)
        return Opened(FORMATS[name].read(source, options), source, name)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A reader makes millions of values that all stay: looking for garbage among them is in vain.

    It takes a sixth of the time of a large file.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
