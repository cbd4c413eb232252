"""Many inputs, each by itself → one part per input in a folder, by any engine.

    parts = batch(rt.check, ["corpora/", "more/*.zip"], out="checks", engine="processes", workers=2)
    parts.frame         one row per input: part, size, hash, figures, or what went wrong
    parts.problems      → (("broken.zip", "the zip cannot be opened…"),)

`realtalk batch check corpora/ --out checks` does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import Engine, Reading, is_path, value_object
from realtalk.files.progress import Progress, silent
from realtalk.registry import known_name

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.api.batch_work import BatchResult


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
    from realtalk.api.batch_work import work_each

    name = function if isinstance(function, str) else function.__name__
    known_name("function of many inputs", name, OPTIONS)
    for option in options:
        known_name(f"option of {name}", option, OPTIONS[name])
    paths: list[Any] = [inputs] if is_path(inputs) else list(inputs)  # type: ignore[arg-type]
    return work_each(
        name,
        [str(path) for path in paths],
        str(out),
        value_object(Reading, reading),
        value_object(Engine, engine).backend(),
        fresh=fresh,
        progress=progress,
        **{name: value for name, value in options.items() if value is not None},
    )


# What a function takes beside what all have.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "read": (),
    "check": (),
    "redact": ("names", "keep", "key"),  # the key is a folder here
    "report": ("labels", "quick", "words", "anonymous", "chat", "title", "language"),
}
