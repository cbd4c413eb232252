"""rows/reproduced.json → docs/results/reproduced.md, and the same table for a terminal.

    page(json.loads(STORED.read_text()))    → "# The papers, reproduced\\n\\n…"
    terminal(rows)                          → a table of 80 columns

The rows are made by `python -m research.papers.reproduce --record`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from realtalk.files.writing import write_text
from research.papers.markdown import table
from research.papers.rule import DUMMY_TOO, RULE, WORDS
from research.results import PAGES, ROWS

STORED = ROWS / "reproduced.json"
_HEADINGS = ("result", "the paper", "ours", "word", "dummy")
_WIDTHS = (14, 16, 21, 14, 11)  # 80 with the spaces between
_PAPERS = {
    "REALTALK": "REALTALK (arXiv:2502.13270)",
    "PersonaConvBench": "PersonaConvBench (arXiv:2505.14106)",
}
_PROTOCOL = (
    "Made by `python -m research.papers.reproduce --data DATA --record`, with REALTALK and LoCoMo in "
    "DATA; `make results` makes this page again from the committed rows. The exit status is 1 where "
    "a word is not the committed one.",
    "EI labels are our encoder's; the paper's come from GPT-4o-mini and RoBERTa. Table 7 is set beside "
    "single messages, as the released code has it; what is said of both corpora is tested in single "
    "messages and in joined turns (§4.1), by chats. The encoder learned from LoCoMo's chats and from "
    "two of REALTALK's ten (2 and 6; Table 7 has neither).",
    "Tables 2 and 8 and Figure 7 are of stored runs of Qwen2.5-1.5B (docs/results/persona.md), Table 3 "
    "of stored answers of Qwen2.5-Coder-1.5B (docs/results/memory.md), PersonaConvBench of stored "
    "predictions of the same model on other threads (docs/results/threads.md).",
    "The dummies: each chat's printed mean (Table 7), each circle of friends' (Table 8), the column's "
    "(Tables 5 and 6), the other corpus (Table 1); a program that always gives the same answer "
    "(Table 2); a reader without memory (Table 3); a program that copies the message that it answers "
    "(next texts); else a side that does not change.",
)


_MODELS = ("Table 2, ", "Table 3, ", "Table 8, ", "Figure 7, ")  # what models do, in REALTALK


def _findings(papers: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Three sentences, the weakest that hold, from the rows alone."""
    rows, threads = papers["REALTALK"], papers["PersonaConvBench"]
    counts = _counts([*rows, *threads])
    trivial = sum(row["reason"] == DUMMY_TOO for row in (*rows, *threads))
    facets = [row for row in rows if row["where"].startswith("Table 7, ")][:-1]
    seven = _counts(facets)
    models = [row for row in rows if row["where"].startswith(_MODELS)]
    models = [*models, *(row for row in threads if row["ours"] != "–")]
    agreeing = [row["where"] for row in models if row["word"] in WORDS[:2]]
    return (
        f"Of {len(rows)} printed results of REALTALK and {len(threads)} of PersonaConvBench "
        f"{counts['agrees']} agree, {counts['agrees in order']} agree in order, "
        f"{counts['differs']} differ and {counts['cannot be compared']} cannot be compared, "
        f"{trivial} of them because a dummy gets them too. By our labels "
        f"{seven['agrees'] + seven['agrees in order']} of the {len(facets)} facets of Table 7 order "
        f"the two partners of a chat as printed, {seven['agrees']} of them nearer to the printed "
        "numbers than a dummy that knows each chat's mean. Of what the papers say of models, "
        f"{len(agreeing)} of {len(models)} results agree, at least in order: {'; '.join(agreeing)}."
    )


def _counts(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(row["word"] for row in rows)


def page(study: Mapping[str, Any]) -> str:
    """The whole page: findings, picture, rule, a table per paper, protocol."""
    papers = study["papers"]
    parts = [
        "# The papers, reproduced",
        _findings(papers),
        "![Table 7 beside ours, facet by facet](reproduced.svg)",
        "## The rule",
        *RULE,
    ]
    for name, title in _PAPERS.items():
        counts = _counts(papers[name])
        line = ", ".join(f"{counts[word]} {word}" for word in WORDS)
        rows = [
            [row["where"], row["paper"], row["ours"], _verdict(row), row["dummy"]]
            for row in papers[name]
        ]
        parts += [f"## {title}", f"{len(rows)} rows: {line}.", table(_HEADINGS, rows)]
    made = ", ".join(f"{name} {version}" for name, version in study["made"].items())
    parts += [
        "## Protocol",
        *_PROTOCOL,
        *(f"- {note}" for note in study["notes"]),
    ]
    parts.append(
        f"Made with {made}. On another kind of processor figures by labels may differ in the second or "
        "third decimal."
    )
    return "\n\n".join(parts) + "\n"


def _verdict(row: Mapping[str, Any]) -> str:
    return f"{row['word']}: {row['reason']}" if row["reason"] else str(row["word"])


def terminal(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same table in 80 columns."""
    lines = [_HEADINGS, tuple("-" * width for width in _WIDTHS)]
    lines += [
        (row["where"], row["paper"], row["ours"], _verdict(row), row["dummy"] or "–")
        for row in rows
    ]
    text = []
    for cells in lines:
        columns = [wrap(cell, width) for cell, width in zip(cells, _WIDTHS, strict=True)]
        for parts in zip_longest(*columns, fillvalue=""):
            text.append(
                " ".join(
                    f"{part:{width}}" for part, width in zip(parts, _WIDTHS, strict=True)
                ).rstrip()
            )
    return "\n".join(text)


def main() -> None:
    """Writes the page from the committed rows."""
    write_text(PAGES / "reproduced.md", page(json.loads(STORED.read_text("utf-8"))))


if __name__ == "__main__":
    main()
