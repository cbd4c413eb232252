"""Settings with several values each → one run per combination, in a folder of its own, and a table.

    axes = {"predictor": "mean,majority", "shots": "0,2", "limit": "200"}
    found = sweep("predict", "sample-threads", axes=axes, out="sweep")
    found.runs            → {"predictor-mean+shots-0": Run, "predictor-mean+shots-2": Run, …}
    found.summary()       one row per combination, variant and score

A key is a parameter of the run (`limit` of `predict`), or else a setting of whom it tests. A
folder is called by what differs between the runs; those that are there already go on.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import Readable, Reading, as_corpus, as_path
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress, Trouble, silent
from realtalk.registry import kind_in, known_name, read_value

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable

_OWN = frozenset({"corpus", "out", "fresh", "progress", "settings"})  # what a sweep decides itself
_ALIASES = {"leak": "leaks"}  # options whose parameter is called otherwise
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Sweep:
    """Runs of one benchmark by the names of their folders, and what differs between them."""

    runs: Mapping[str, Run]
    values: Mapping[str, Mapping[str, Any]]

    def summary(self) -> ResultTable:
        """One row per combination, variant and score: estimate, low, high, n, unscored."""
        import polars as pl

        from realtalk.evals.tables import ResultTable

        frames = []
        for name, run in self.runs.items():
            columns = [pl.lit(str(value)).alias(key) for key, value in self.values[name].items()]
            figures = run.summary().frame
            frames.append(figures.select(*columns, *figures.columns))
        cautions = dict.fromkeys(line for run in self.runs.values() for line in run.cautions)
        return ResultTable("one run per combination", pl.concat(frames), tuple(cautions))

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Headings and rows: one line per combination and variant, one column per score.

        What differs stands in the first column, so that every part of a wide table says it.
        """
        from realtalk.evals.tables import figure_text

        scores: dict[str, None] = {}
        lines: dict[tuple[str, str], dict[str, Any]] = {}
        for name, run in self.runs.items():
            for row in run.summary().frame.to_dicts():
                line = lines.setdefault((name, row["variant"]), {"n": 0, "unscored": 0})
                line["n"] = max(line["n"], row["n"])
                line["unscored"] = max(line["unscored"], row["unscored"])
                line[row["score"]] = figure_text(row)
                scores[row["score"]] = None
        columns = ["n", "unscored", *scores]
        keys = next(iter(self.values.values()))
        rows = [
            [", ".join(map(str, self.values[name].values())), variant, *map(line.get, columns)]
            for (name, variant), line in lines.items()
        ]
        return [", ".join(keys), "variant", *columns], rows

    def to_json(self) -> list[dict[str, Any]]:
        """What was set, the folder, and every figure of each run."""
        return [
            {
                "set": {key: str(value) for key, value in self.values[name].items()},
                "run": name,
                "figures": run.summary().frame.to_dicts(),
            }
            for name, run in self.runs.items()
        ]


def sweep(
    run: Callable[..., Run] | str,
    corpus: Readable,
    *,
    axes: Mapping[str, Sequence[Any]],
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    reading: Reading | str | None = None,
    progress: Progress = silent,
    **fixed: Any,
) -> Sweep:
    """Run a benchmark once for every combination of values.

    A key is a parameter of the benchmark, or else a setting of whom it tests. A text may name
    another key in braces: adapter=adapters/{context_sessions}. Each run has its folder below
    `out`, called by its values; those that are there already go on.

    Args:
        run: Benchmark: probe, simulate, predict or who_wrote_it.
        corpus: Chat, corpus or sample name.
        axes: Values to sweep, e.g. budget=500,1000.
        out: Folder for the runs.
        fresh: Delete the existing runs and start over.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.sweep("probe", "sample", axes={"budget": "500,1000"})
        rt.sweep("probe", "sample", axes={"memory": "recent,events", "budget": "500,1000"})
        rt.sweep("predict", "sample-threads", axes={"predictor": "majority,mean"}, out="all")
    """
    from realtalk.evals.folder import refuse_other_runs
    from realtalk.memory.registry import BUDGETLESS

    function = _benchmark(run) if isinstance(run, str) else run
    axes = {key.replace("-", "_"): _values(choices) for key, choices in axes.items()}
    if not axes or not all(axes.values()):
        raise RealtalkError("nothing is swept", fix="write `axes=limit=10,20`")
    place = as_path(out)
    if place is not None:
        refuse_other_runs(place)
    parameters = inspect.signature(function).parameters
    differing = [key for key, choices in axes.items() if len(choices) > 1] or list(axes)
    combinations = [
        {key: _convert(parameters, key, value) for key, value in zip(axes, values, strict=True)}
        for values in itertools.product(*axes.values())
    ]
    chats = as_corpus(corpus, reading, progress)
    names = UniqueNames("{}-{}")  # of values that differ only in what no folder can be called
    runs: dict[str, Run] = {}
    values: dict[str, Mapping[str, Any]] = {}
    for number, combination in enumerate(combinations):
        differences = {key: combination[key] for key in differing}
        name = names.free(folder_name(differences))

        def advance(done: int, total: int, what: str, head: str = f"{number + 1}: {name}") -> None:
            progress(done, total, what if isinstance(what, Trouble) else f"{head}: {what}")

        arguments = _arguments(parameters, combination, fixed)
        if arguments.get("memory") in BUDGETLESS:  # others of the sweep may have one
            arguments.pop("budget", None)
        folder = None if place is None else place / name
        runs[name] = function(chats, **arguments, out=folder, fresh=fresh, progress=advance)
        values[name] = differences
    return Sweep(runs, values)


def _benchmark(name: str) -> Callable[..., Run]:
    from realtalk.api import benchmarks, persona

    by_name: dict[str, Callable[..., Run]] = {
        "probe": benchmarks.probe,
        "simulate": benchmarks.simulate,
        "predict": benchmarks.predict,
        "who_wrote_it": persona.who_wrote_it,
    }
    return by_name[known_name("benchmark", name, by_name)]


def _values(axis: Any) -> tuple[Any, ...]:
    """The values of one key; a text holds them with commas."""
    if isinstance(axis, str):
        axis = [part.strip() for part in axis.split(",") if part.strip()]
    return tuple(dict.fromkeys(axis))


def folder_name(combination: Mapping[str, Any]) -> str:
    """`{"budget": 500, "model": "openai/gpt"}` as budget-500+model-openai-gpt."""
    return "+".join(
        _UNSAFE.sub("-", f"{key}-{value}").strip("-") for key, value in combination.items()
    )


def _convert(parameters: Mapping[str, inspect.Parameter], key: str, value: Any) -> Any:
    """A value as its parameter takes it; what is no parameter is a setting, which is read later."""
    name = _ALIASES.get(key, key)
    if name in _OWN:
        raise RealtalkError(f"'{key}' is not to be swept", fix="give it as an option")
    if name not in parameters or not isinstance(value, str):
        return value
    annotation = str(parameters[name].annotation)
    if annotation.startswith("Sequence"):
        return (value,)
    return read_value(value, kind_in(annotation), f"setting {key}")


def _arguments(
    parameters: Mapping[str, inspect.Parameter],
    combination: Mapping[str, Any],
    fixed: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments of one run: parameters by name, all else among its settings."""
    arguments = {key: value for key, value in fixed.items() if key != "settings"}
    settings = dict(fixed.get("settings") or {})
    for key, value in combination.items():
        name = _ALIASES.get(key, key)
        (arguments if name in parameters else settings)[name] = value
    filled = {key: _fill(value, combination) for key, value in settings.items()}
    return {**arguments, "settings": filled}


def _fill(value: Any, combination: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        for key, choice in combination.items():
            value = value.replace(f"{{{key}}}", str(choice))
    return value
