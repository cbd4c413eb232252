"""A report over many runs: how long it takes to make, how large it is, how soon it opens.

    python bench/report.py runs/ [more/ …] [--chromium /usr/bin/chromium] [--json figures.json]
    → {"runs": 13, "tables": 28, "charts": 15, "make_seconds": 9.1, "megabytes": 1.4,
       "open_seconds": 0.4, "first_chart_seconds": 0.9,
       "promises": {"megabytes": {"kept": true, …}, …}}

The page is opened from its file in a fresh Chromium profile, five times; figures are medians.
`open` ends when the page is loaded and painted, `first_chart` when the topmost chart is drawn
after it was scrolled to. The exit status is 0 where every promise is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from realtalk.pages.report import make_report, write_report

MOST = {"megabytes": 6.0, "open_seconds": 2.0}
OPENED = 5
BUSY = 1.0  # processes running beside this one: the figures will be off
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length > 0"


def opened(page: Path, chromium: str) -> dict[str, float]:
    """Median seconds until the page is there, and until its first chart is."""
    from playwright.sync_api import sync_playwright

    whole: list[float] = []
    drawn: list[float] = []
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(OPENED):
            context = browser.new_context(viewport={"width": 1360, "height": 900})
            tab = context.new_page()
            began = time.perf_counter()
            tab.goto(page.as_uri(), wait_until="load")
            tab.wait_for_function(_PAINTED)
            whole.append(time.perf_counter() - began)
            chart = tab.locator("figure.chart").first
            if chart.count():
                began = time.perf_counter()
                chart.scroll_into_view_if_needed()
                chart.locator("svg").wait_for()
                drawn.append(time.perf_counter() - began)
            context.close()
        browser.close()
    found = {"open_seconds": round(statistics.median(whole), 3)}
    if drawn:
        found["first_chart_seconds"] = round(statistics.median(drawn), 3)
    return found


def measure(folders: list[Path], chromium: str | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        made = make_report(folders)
        page = write_report(made, Path(place) / "report.html")
        found: dict[str, Any] = {
            "runs": len(made.sections[0].tables[0].rows),
            "tables": sum(len(section.tables) for section in made.sections),
            "charts": sum(len(section.charts) for section in made.sections),
            "make_seconds": round(time.perf_counter() - began, 1),
            "megabytes": round(page.stat().st_size / 1e6, 2),
        }
        if chromium is not None:
            found |= opened(page, chromium)
    found["promises"] = {
        name: {"promised": most, "found": found[name], "kept": found[name] < most}
        for name, most in MOST.items()
        if name in found
    }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    busy = os.getloadavg()[0]
    if busy > BUSY:
        print(f"note: {busy:.1f} processes run beside this one", file=sys.stderr)
    if given.chromium is None:
        print("note: no chromium here, so opening is not measured", file=sys.stderr)
    found = measure(given.folders, given.chromium)
    text = json.dumps(found, indent=2)
    print(text)
    if given.json is not None:
        given.json.write_text(text + "\n")
    return 0 if all(each["kept"] for each in found["promises"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
