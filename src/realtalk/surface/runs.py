"""A finished run of any benchmark → rows, figures with intervals, comparisons, files.

    run = probe("sample")
    run                     → <Run memory probing: retrieved, read by extract; 51 rows, 0 unscored>
    run.summary()           one row per score and variant: estimate, low, high, n, unscored
    run.costs(prices)       one row per model: calls, tokens, money
    run.failures()          the rows that are worth reading, worst first
    run.compare(other)      paired differences with intervals that draw whole groups
    run.save("out")         the folder that the command would have written

Without a folder of its own a run lives in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.notebook import counted, plain
from realtalk.surface.run_kinds import KINDS
from realtalk.surface.run_rows import CHANGE, FIGURE
from realtalk.surface.tables import ResultTable, estimate_figure, frame_of

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.evals.prices import Usage
    from realtalk.evals.running import RunRecord

_RECORD = "run.json"
_FAILURES = 20  # rows


class Run:
    """A benchmark's run: of `probe`, `simulate`, `guess` or `predict`, or one to `load`."""

    def __init__(self, kind: str, record: RunRecord) -> None:
        self._kind = KINDS[kind]
        self._stored: Any = record

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Run:
        """A run that a command, `out=` or `save` wrote."""
        place = Path(folder)
        kind = _kind(place)
        return cls(kind, KINDS[kind].load(place))

    @property
    def kind(self) -> str:
        """memory probing, persona simulation, who wrote it or thread tasks."""
        return self._kind.kind

    @property
    def record(self) -> Any:
        """What is the benchmark's own: figures of each speaker, the task of threads."""
        return self._stored

    @property
    def name(self) -> str:
        """Who was tested: a memory and its reader, a simulator, a predictor."""
        return self._kind.name(self._stored)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the rows depend on: corpus, versions, options."""
        found: Mapping[str, Any] = self._stored.settings
        return found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per question and budget, per turn, per guess, or per reply and setting."""
        return list(self._stored.rows)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as a polars table."""
        import polars as pl

        return pl.DataFrame(self.rows, schema=self._kind.schema())

    @property
    def unscored(self) -> int:
        """Rows without an answer to score; their reason stands in the column `unscored`."""
        return sum(row["unscored"] is not None for row in self._stored.rows)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What has to be said beside every figure: in-sample parts, languages, leaks."""
        return tuple(self._kind.cautions(self._stored))

    def summary(self, *, groups: bool = False) -> ResultTable:
        """One row per score and variant: estimate, low, high, n, unscored.

        A variant is a budget, a setting or a simulator. Intervals are of 95 %. With `groups`
        also one row per category of questions, speaker or domain, named in `group`.
        """
        columns = FIGURE if groups else tuple(name for name in FIGURE if name != "group")
        return ResultTable(
            f"{self.kind}: {self.name}",
            frame_of(columns, [row for row in self._figures if groups or not row["group"]]),
            self.cautions,
        )

    @cached_property
    def _figures(self) -> list[dict[str, Any]]:
        return list(self._kind.figures(self._stored))

    @property
    def usage(self) -> list[Usage]:
        """What every model was asked for, in calls and tokens; empty where none was asked."""
        usage: list[Usage] = self._stored.usage
        return usage

    def costs(self, prices: str | PathLike[str] | Mapping[str, Any]) -> ResultTable:
        """What every model cost: a file of prices, or {"MODEL": {"input": 0.15, "output": 0.6}}.

        Prices are per million tokens, in USD unless they say `currency`. Without a price there
        is no cost, and `unpriced` says why.
        """
        import polars as pl

        from realtalk.evals.prices import cost_json, read_prices

        rows = [
            {**row, **(row["cost"] or {"amount": None, "currency": None})}
            for row in cost_json(self.usage, read_prices(prices))
        ]
        texts, counts = ("part", "model"), ("calls", "tokens_in", "tokens_out")
        schema = {
            **dict.fromkeys(texts, pl.String),
            **dict.fromkeys(counts, pl.Int64),
            "amount": pl.Float64,
            **dict.fromkeys(("currency", "unpriced"), pl.String),
        }
        frame = pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)
        return ResultTable(f"{self.kind}: {self.name}, what it cost", frame)

    def failures(self, most: int = _FAILURES) -> pl.DataFrame:
        """Rows worth reading, worst first: unscored, wrong, or far off. They hold texts."""
        import polars as pl

        found = self._kind.failures(self._stored, most)
        schema = self._kind.schema()
        names = list(found[0]) if found else ["unscored"]
        # `why` is told of a row, not kept in it.
        return pl.DataFrame(found, schema={name: schema.get(name, pl.String) for name in names})

    def compare(self, other: Run, variant: str | None = None) -> ResultTable:
        """The other run against this one, on the rows that both have.

        Differences are second minus first, with 95 % intervals; p is by whole groups (chats,
        speakers, users), `p_holm` corrected for the other scores; a note says how. `variant`
        chooses a budget or a setting where the runs have several.
        """
        if not isinstance(other, Run) or other.kind != self.kind:
            what = other.kind if isinstance(other, Run) else type(other).__name__
            raise RealtalkError(
                f"{self.kind} and {what} cannot be compared", fix="compare two runs of one kind"
            )
        changes, details = self._kind.changes(self._stored, other._stored, variant)
        names = (self.name, other.name)
        if names[0] == names[1]:
            names = ("the first run", "the second run")
        return ResultTable(
            f"{names[1]} (second) against {names[0]} (first)",
            frame_of(CHANGE, changes),
            tuple(dict.fromkeys((self._kind.paired, *self.cautions, *other.cautions))),
            details,
        )

    def figures(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Altair charts by name: the summary, and what the benchmark draws; also files."""
        from realtalk.stats.figures import save_figures

        charts = {"summary": estimate_figure(self.summary().frame, self.name)}
        charts |= self._kind.charts(self._stored, self.name)
        if folder is not None:
            save_figures(charts, Path(folder))
        return charts

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes the run as the command would have; nothing else may lie there."""
        from realtalk.evals import refuse_other_folder
        from realtalk.evals.running import write

        place = Path(folder)
        refuse_other_folder(place)
        if (place / _RECORD).exists():
            raise RealtalkError("has a run already", where=str(place), fix="name another folder")
        write(self._stored, self.kind, self._kind.schema(), place)
        return place

    def to_json(self) -> dict[str, Any]:
        """Every figure, as the command's --json prints it."""
        return self._kind.to_json(self._stored)

    def __len__(self) -> int:
        return len(self._stored.rows)

    def __repr__(self) -> str:
        rows = counted(len(self), "row")
        return f"<Run {self.kind}: {plain(self.name, None)}; {rows}, {self.unscored:,} unscored>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _kind(folder: Path) -> str:
    import orjson

    try:
        kind = orjson.loads((folder / _RECORD).read_bytes())["kind"]
    except FileNotFoundError as error:
        raise RealtalkError("no run here", where=str(folder), fix=f"it has no {_RECORD}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError("is not the record of a run", where=str(folder / _RECORD)) from error
    if kind not in KINDS:
        raise RealtalkError(f"a run of '{kind}' is not known", where=str(folder))
    return str(kind)
