"""Scores without texts → the pages of docs/results: `make results` makes them all.

rows/            what was measured: tables of scores, ids and counts, no text of a chat
*_rows.py        runs and answers → rows; these need the corpora, some of them a day
*_results.py     rows → a page; *_page.md beside them is a page with places for figures
"""

from pathlib import Path

ROWS = Path(__file__).parent / "rows"
DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "results"
