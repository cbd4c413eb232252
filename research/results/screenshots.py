"""Pictures of what a browser shows: `python -m research.results.screenshots [studio] [report] [runs]`.

All show the sample corpora, so that nobody's chat is in a picture. Needs chromium, playwright
and the extra `studio`; writes docs/images/studio.png, report.png and runs.png.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from research.results import DOCS

IMAGES = DOCS / "images"
COMMAND = [sys.executable, "-c", "from realtalk.cli.main import main; main()"]
LARGEST = 400 << 10  # bytes
SIZE = (1280, 850)


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """A running studio of the sample, with its labels made; its link."""
    subprocess.run([*COMMAND, "ei", "sample", "--out", str(folder / "labels")], check=True)
    words = ["--no-browser", "--annotator", "Ana", "--labels", str(folder / "labels")]
    process = subprocess.Popen(
        [*COMMAND, "studio", "sample", *words, "--annotations", str(folder / "notes.sqlite")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("studio: ").strip()
    finally:
        process.kill()
        process.wait()


def keep(page: Page, name: str) -> None:
    """A picture, small enough for the repository."""
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path} is larger than {LARGEST:,} bytes")
    print(f"{path}: {path.stat().st_size:,} bytes")


def picture_studio(browser: Browser, folder: Path) -> None:
    """A question being annotated, its evidence marked, and one message's measures."""
    with studio(folder) as url:
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.goto(url)
        page.wait_for_selector(".book")
        page.goto(f"{url.partition('?')[0]}chat/0")
        page.wait_for_selector("[data-copy-all]")
        page.locator("[data-copy-all]").click()
        page.wait_for_selector("[data-new-question]")
        page.locator("#questions summary").first.click()
        page.locator("#questions .chip button").first.click()
        page.wait_for_selector(".row.current.evidence .ei")
        page.locator(".row.current .ei").hover()
        page.wait_for_timeout(3500)  # until the flash and the notice are gone
        keep(page, "studio")


def picture_report(browser: Browser, folder: Path) -> None:
    """The first screen of the page about one chat."""
    chat = ["--chat", "Chat_1_Mara_Theo", "--out", str(folder / "own.html")]
    subprocess.run([*COMMAND, "report", "sample", *chat], check=True)
    page = browser.new_page(viewport={"width": SIZE[0], "height": 1260})  # all cards of the glance
    page.goto((folder / "own.html").as_uri())
    page.wait_for_timeout(500)
    keep(page, "report")


def picture_runs(browser: Browser, folder: Path) -> None:
    """The first screen of the page about runs that `realtalk demo` ends with."""
    environment = {**os.environ, "COLUMNS": "100"}
    subprocess.run([*COMMAND, "demo", "--all"], cwd=folder, check=True, env=environment)
    found = next(iter(sorted(folder.rglob("runs.html"))), None)
    if found is None:
        raise SystemExit("the demo made no runs.html")
    page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
    page.goto(found.as_uri())
    page.wait_for_timeout(2000)
    keep(page, "runs")


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("no chromium on this machine")
    wanted = sys.argv[1:] or ["studio", "report", "runs"]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if "studio" in wanted:
            picture_studio(browser, Path(name))
        if "report" in wanted:
            picture_report(browser, Path(name))
        if "runs" in wanted:
            picture_runs(browser, Path(name))
        browser.close()


if __name__ == "__main__":
    main()
