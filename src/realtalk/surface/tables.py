"""A result as a table: a polars frame with a title and notes, for a prompt and for a notebook.

    made = ResultTable("retrieved: scores", frame, ("2 questions are unscored",))
    made.frame          one row per score and variant
    print(made)         the same in plain letters
    made.to_json()      → {"title": …, "rows": [{"score": "f1", "estimate": 0.31, …}], "notes": […]}

Cells are written as the command and the page write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.notebook import table_html, table_text

if TYPE_CHECKING:
    import polars as pl

_KINDS = {"n": "Int64", "groups": "Int64", "unscored": "Int64"}
_TEXTS = frozenset({"variant", "group", "score", "measure", "facet", "first_label"})


class ResultTable:
    """A table of figures. `frame` is polars; `.to_pandas()` is one call away."""

    def __init__(
        self,
        title: str,
        frame: pl.DataFrame,
        notes: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.title = title
        self.frame = frame
        self.notes = tuple(notes)
        self._details = details

    def __len__(self) -> int:
        return self.frame.height

    def to_json(self) -> dict[str, Any]:
        """The title, every row, the notes, and whatever else is known of the figures."""
        return {
            "title": self.title,
            "rows": self.frame.to_dicts(),
            "notes": list(self.notes),
            **(self._details or {}),
        }

    def __repr__(self) -> str:
        return table_text(self.title, self.frame.columns, self.frame.rows(), self.notes)

    def _repr_html_(self) -> str:
        return table_html(self.title, self.frame.columns, self.frame.rows(), self.notes)


def frame_of(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with these columns: names are text, counts whole, all else numbers."""
    import polars as pl

    def kind(name: str) -> Any:
        return pl.String if name in _TEXTS else getattr(pl, _KINDS.get(name, "Float64"))

    schema = {name: kind(name) for name in columns}
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=schema)


def with_intervals(frame: pl.DataFrame) -> tuple[list[str], list[list[Any]]]:
    """Headings and rows of a table, each estimate and its interval in one cell."""
    rows = frame.to_dicts()
    if not {"score", "estimate", "low", "high"} <= set(frame.columns):
        return frame.columns, [list(row.values()) for row in rows]
    columns = [name for name in frame.columns if name not in ("low", "high")]
    written = [row | {"estimate": figure_text(row)} for row in rows]
    headings = ["figure" if name == "estimate" else name for name in columns]
    return headings, [[row[name] for name in columns] for row in written]


def figure_text(row: Mapping[str, Any]) -> str | None:
    """The figure of a row of a summary with its interval in one cell, as every table has them."""
    from realtalk.evals.tables import figure
    from realtalk.evals.values import Score
    from realtalk.metrics.statistics import Estimate

    score = Score(row["score"], row["score"])
    return figure(Estimate(row["estimate"], row["low"], row["high"]), score)


def estimate_figure(frame: pl.DataFrame, title: str) -> Any:
    """One dot per score with its 95 % interval, one colour per variant."""
    import altair as alt

    from realtalk.stats.figures import styled

    kept = frame.drop_nulls("estimate")
    data = alt.InlineData(values=kept.to_dicts())
    base = alt.Chart(data).encode(
        y=alt.Y("score:N", sort=kept["score"].unique(maintain_order=True).to_list(), title=None),
        yOffset="variant:N",
        color=alt.Color("variant:N"),
    )
    bars = base.mark_rule().encode(
        x=alt.X("low:Q", title="estimate, with 95 % interval"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="estimate:Q",
        tooltip=["variant:N", "score:N", "estimate:Q", "low:Q", "high:Q", "n:Q", "unscored:Q"],
    )
    most = int(kept["n"].cast(int).max() or 0)  # type: ignore[arg-type]
    return styled(
        alt.layer(bars, dots).properties(width=480, height=alt.Step(22, **{"for": "position"})),
        title,
        [f"n up to {most:,}"],
    )
