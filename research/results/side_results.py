"""research/results/rows/side-by-side.json → docs/results/side-by-side.md.

The rows are those of `python -m research.results.side_rows`. A row that was not run is left out,
and named below its table.
"""

from __future__ import annotations

import re
from pathlib import Path

from realtalk.metrics.statistics import Estimate
from research.papers.markdown import table as markdown
from research.results import PAGES
from research.results.page_words import told
from research.results.side_rows import MEMORIES, SCORES, SETS, Row, stored

HEADS = (
    *("memory", "any@5", "nDCG@10", "all in 2,000 words", "person@2000w", "words shown"),
    *("ms per question", "building, s per 1,000 messages", "questions"),
)


def figure(row: Row, score: str) -> str:
    one = row.get(score)
    return "–" if one is None else told(Estimate(one["value"], one["low"], one["high"], n=one["n"]))


def line(row: Row) -> tuple[str, ...]:
    cost, build = row["recall_ms"], row["build_s"]
    return (
        row["memory"] + (" (two chats)" if row["memory"] == "mem0" else ""),
        *(figure(row, score) for score in SCORES),
        f"{row['words']:,}",
        "–" if cost is None else f"{cost:.1f}",
        "–" if build is None else f"{build:.2f}",
        str(row["all@budget"]["n"]),
    )


def page(rows: list[Row]) -> str:
    by_key = {(row["set"], row["memory"]): row for row in rows}
    parts = []
    for name in SETS:
        here = [by_key[name, memory] for memory in MEMORIES if (name, memory) in by_key]
        if not here:
            parts.append(f"### {name}\n\nNot run yet.")
            continue
        about = f"{here[0]['chats']} chats, {here[0]['messages']:,} messages"
        lines = [line(row) for row in here]
        wanted = [each for each in MEMORIES if each != "mem0" or name.startswith("REALTALK")]
        missing = [memory for memory in wanted if (name, memory) not in by_key]
        beyond = f"\n\nNot run: {', '.join(missing)}." if missing else ""
        parts.append(f"### {name}\n\n{about}.\n\n{markdown(HEADS, lines)}{beyond}")
    text = (Path(__file__).parent / "side_page.md").read_text("utf-8")
    heads = ("memory", *SCORES, "words", "ms", "building", "questions")
    for (name, memory), row in by_key.items():
        for head, shown in zip(heads, line(row), strict=True):
            text = text.replace(f"<{memory}|{name}|{head}>", shown)
    return re.sub(r"<\w+\|[^>]*>", "–", text).replace("<tables>", "\n\n".join(parts))


def main() -> None:
    (PAGES / "side-by-side.md").write_text(page(stored()), "utf-8")


if __name__ == "__main__":
    main()
