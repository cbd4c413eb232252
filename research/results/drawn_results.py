"""Pictures of the pages that are written by hand: docs/results/audit.svg and elsewhere.svg.

`python -m research.results drawn` takes the figures from the tables of these pages.
"""

from __future__ import annotations

import re

import altair as alt
import polars as pl
import vl_convert

from realtalk.describe.figures import style_chart
from realtalk.metrics.statistics import Estimate
from research.results import PAGES
from research.results.page_pictures import draw_estimates

_ROW = re.compile(
    r"^\| \**([^|*]+?)\**(?: \(([^|]*)\))?(?:, `retrieved`[^|]*)? \| (\.\d+)(?: \[(\.\d+), (\.\d+)\])? \|"
)


def draw_audit() -> None:
    """How many questions of each category have which verdict, from the page's own table."""
    lines = (PAGES / "audit.md").read_text("utf-8").splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    start = next(
        at for at, cells in enumerate(table) if cells[:3] == ["category", "questions", "ok"]
    )
    verdicts = table[start][2:8]
    rows = [
        {"category": cells[0], "verdict": verdict, "questions": int(count), "place": place}
        for cells in table[start + 2 : start + 5]
        for place, (verdict, count) in enumerate(zip(verdicts, cells[2:8], strict=True))
    ]
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar()
        .encode(
            y=alt.Y("category:N", title=None, sort=None),
            x=alt.X("questions:Q", title="questions"),
            color=alt.Color("verdict:N", title=None, sort=verdicts),
            order=alt.Order("place:Q"),
        )
        .properties(width=480, height=110)
    )
    picture = vl_convert.vegalite_to_svg(style_chart(chart, "Verdicts of the audit", []).to_dict())
    (PAGES / "audit.svg").write_text(picture, "utf-8")


def draw_board() -> None:
    """nDCG@10 of the board's rows and ours."""
    points = []
    for line in (PAGES / "elsewhere.md").read_text("utf-8").splitlines():
        if found := _ROW.match(line):
            name, _, value, low, high = found.groups()
            numbers = [float(each) if each else None for each in (value, low, high)]
            points.append((name.strip(), "", Estimate(numbers[0], numbers[1], numbers[2])))
    notes = ["679 questions of REALTALK; the board gives no intervals"]
    draw_estimates(PAGES / "elsewhere.svg", "nDCG@10, mean of three categories", points, notes)


def main() -> None:
    draw_audit()
    draw_board()


if __name__ == "__main__":
    main()
