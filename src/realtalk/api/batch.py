"""Many inputs, each by itself → one part per input in a folder, by any engine.

    parts = batch(rt.check, ["corpora/", "more/*.zip"], out="checks", engine="processes", workers=2)
    parts.frame         one row per input: part, size, hash, figures, or what went wrong
    parts.problems      → (("broken.zip", "the zip cannot be opened…"),)

`realtalk batch check corpora/ --out checks` does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.options import Engine, Reading, value_object
from realtalk.files.progress import Progress, silent
from realtalk.registry import suggest

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.engine.jobs import JobReport


class BatchResult:
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
        return f"<BatchResult in {self.folder}: {len(self):,} of {total:,} inputs>"

    @property
    def report(self) -> JobReport:
        """What the engine said of every part."""
        return self._report


def batch(
    function: Callable[..., Any] | str,
    inputs: Sequence[str | PathLike[str]] | str | PathLike[str],
    *,
    out: str | PathLike[str],
    fresh: bool = False,
    engine: Engine | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
    **options: Any,
) -> BatchResult:
    """Carry out `read`, `check`, `redact` or `report` on every input, into one folder.

    Inputs are exports and stored corpora, folders of such, folders that an earlier batch wrote,
    and patterns. What cannot be read is in `problems`, and the rest is done. Call it again to do
    what is missing. Other options are those of the function.

    Args:
        function: Function: read, check, redact or report.
        inputs: Files, folders of such, and patterns.
        out: Folder with one part per input.
        fresh: Delete the existing parts and start over.
        engine: Where the work is done.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.batch("read", ["exports/", "more/*.zip"], out="corpora", engine="processes")
    """
    from realtalk.api.batch_work import InputReading, work_each
    from realtalk.files.stores import place_of

    name = function if isinstance(function, str) else function.__name__
    if name not in OPTIONS:
        raise suggest("function of many inputs", name, list(OPTIONS))
    single = isinstance(inputs, str) or hasattr(inputs, "__fspath__")
    paths: list[Any] = [inputs] if single else list(inputs)  # type: ignore[arg-type]
    chosen_reading = value_object(Reading, reading)
    way = InputReading(chosen_reading.format, chosen_reading.read_options())
    for option in options:
        if option not in OPTIONS[name]:
            raise suggest(f"option of {name}", option, list(OPTIONS[name]))
    report = work_each(
        name,
        [str(path) for path in paths],
        place_of(str(out)),
        way,
        value_object(Engine, engine).backend(),
        fresh=fresh,
        progress=progress,
        **{name: value for name, value in options.items() if value is not None},
    )
    return BatchResult(report)


# What a function takes beside what all have.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "read": (),
    "check": (),
    "redact": ("names", "keep", "key"),  # the key is a folder here
    "report": ("labels", "quick", "words", "anonymous", "chat", "title", "language"),
}
