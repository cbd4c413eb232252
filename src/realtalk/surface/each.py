"""Many inputs, each by itself → one part per input in a folder, by any engine.

    parts = each(rt.check, ["corpora/", "more/*.zip"], out="checks", engine="processes", workers=2)
    parts.frame         one row per input: part, size, hash, figures, or what went wrong
    parts.problems      → (("broken.zip", "the format is not recognised…"),)

What `realtalk read`, `check`, `redact` and `report` do with --each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.engine.jobs import JobReport
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.registry import suggest
from realtalk.surface.sources import read_options

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

_READING = ("format", "gap", "dates", "timezone", "columns")


class EachResult:
    """What became of every input. `folder` holds the parts, and parts.parquet about them."""

    def __init__(self, report: JobReport) -> None:
        self._report = report
        self.folder = report.out

    @property
    def frame(self) -> pl.DataFrame:
        """One row per input, in their order: part, input, bytes, sha256, figures, problem."""
        import polars as pl

        return pl.DataFrame(list(self._report.rows), infer_schema_length=None)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The parts that are there."""
        return tuple(self.folder / row["part"] for row in self._report.rows if not row["problem"])

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """The inputs that have no part, by name, each with its reason."""
        return self._report.problems

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        total = len(self._report.rows)
        return f"<EachResult in {self.folder}: {len(self):,} of {total:,} inputs>"


def each(
    function: str | Callable[..., Any],
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    out: str | PathLike[str],
    engine: str = "inline",
    workers: int | None = None,
    address: str | None = None,
    fresh: bool = False,
    progress: Progress = silent,
    **options: Any,
) -> EachResult:
    """Carries out `read`, `check`, `redact` or `report` on every input, into one folder.

    `inputs` are exports and stored corpora, folders of such, folders that an earlier `each` wrote,
    and patterns. `engine` is "inline" (this process), "processes" or "ray", with so many
    `workers`; `address` names a Ray cluster that is running. The same call again does what is
    missing. What cannot be read is in `problems`, and the rest is done.

    `options` are those of the function: for all of them `format`, `gap`, `dates`, `timezone` and
    `columns`; for redact `names`, `keep` and `keys`, a folder for one
    private key per corpus; for report `labels`, `quick`, `words`, `anonymous`, `chat`, `title`.
    """
    from realtalk.engine.choosing import choose
    from realtalk.engine.inputs import gathered
    from realtalk.engine.opening import InputReading

    name = function if isinstance(function, str) else function.__name__.rpartition(".")[2]
    if name not in _WORKS:
        raise suggest("function of many inputs", name, list(_WORKS))
    given = [inputs] if isinstance(inputs, str) or hasattr(inputs, "__fspath__") else list(inputs)
    reading = {key: options.pop(key) for key in _READING if key in options}
    way = InputReading(reading.pop("format", None), read_options(**reading))
    make, known = _WORKS[name]
    for option in options:
        if option not in known:
            raise suggest(f"option of {name}", option, [*_READING, *known])
    place = Path(out)
    chosen = choose(engine, workers, address)
    found = gathered([str(path) for path in given], place)
    work, more = make(options)
    return EachResult(work(found, place, way, chosen, fresh=fresh, progress=progress, **more))


_Work = tuple[Callable[..., JobReport], dict[str, Any]]


def _read(_: Mapping[str, Any]) -> _Work:
    from realtalk.engine.exports import read_each

    return read_each, {}


def _check(_: Mapping[str, Any]) -> _Work:
    from realtalk.engine.checks import check_each

    return check_each, {}


def _redact(options: Mapping[str, Any]) -> _Work:
    from realtalk.engine.redactions import redact_each

    keys = options.get("keys")
    return redact_each, {
        "names": tuple(_listed(options, "names")),
        "keep": frozenset(_listed(options, "keep")),
        "keys": None if keys is None else Path(keys),
    }


def _listed(options: Mapping[str, Any], name: str) -> Sequence[str]:
    value = options.get(name, ())
    if isinstance(value, str):
        raise RealtalkError(f"{name} is one text", fix=f"give a list: {name}=[…]")
    return list(value)


def _report(options: Mapping[str, Any]) -> _Work:
    from realtalk.portrait.build import PortraitOptions
    from realtalk.portrait.many import write_pages

    return write_pages, {"options": PortraitOptions(**options)}


_WORKS: Mapping[str, tuple[Callable[[Mapping[str, Any]], _Work], tuple[str, ...]]] = {
    "read": (_read, ()),
    "check": (_check, ()),
    "redact": (_redact, ("names", "keep", "keys")),
    "report": (_report, ("labels", "quick", "words", "anonymous", "chat", "title")),
}
