"""Sources of training rows → the sets of the terms file, or a stop where one is not named there.

    set_ids("multilingual/parallel.xpersona.train.jsonl.gz")    → {"xpersona"}
    set_ids("parallel.xpersona.train"), set_ids("btc")          → {"xpersona"}, {"btc"}
    refuse_unnamed("names", (row["src"] for row in rows))       stops at a set that names lacks

A source is a set's id, or a file below the data folder; those of `ei` and `multilingual` may leave the
folder out. Whoever packs rows to train on asks here, row by row, so that nothing is learned unnamed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import cache

from realtalk.encoders.shipped import terms

SETS = {id_: it for model in terms().values() for id_, it in model.sets.items()}


def set_ids(source: str) -> set[str]:
    """The sets that a source's texts are of; several where a file mixes them, none if unknown."""
    if source in SETS:
        return {source}
    below = posixpath.normpath(f"multilingual/{source}")
    paths = (source, f"ei/{source}", below, f"names/{source}.")
    return {id_ for id_, it in SETS.items() if any(path.startswith(it.files) for path in paths)}


def unnamed(model: str, sources: Iterable[str]) -> set[str]:
    """The sources that the model's entry lacks."""
    own = set(terms()[model].sets)
    found = {source: set_ids(source) for source in set(sources)}
    return {source for source, ids in found.items() if not ids or not ids <= own}


def refuse_unnamed(model: str, sources: Iterable[str]) -> None:
    """Stops a training script that would learn from what the model's entry does not name."""
    if lacking := unnamed(model, sources):
        raise SystemExit(f"{model}: not in src/realtalk_models/terms.toml: {sorted(lacking)}")


@cache
def is_open(source: str) -> bool:
    """Whether the source is known and all of its sets are open."""
    ids = set_ids(source)
    return bool(ids) and all(SETS[id_].is_open for id_ in ids)


def refuse_narrow(sources: Iterable[str]) -> None:
    """Stops a script that would learn from what is not open: for models that shall be."""
    if narrow := {source for source in set(sources) if not is_open(source)}:
        raise SystemExit(f"not open by src/realtalk_models/terms.toml: {sorted(narrow)}")
