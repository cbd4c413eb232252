"""How long the page of a large chat takes to make, how large it is, and how soon it is usable.

    python bench/portrait.py --messages 50000 100000 300000

The chat is made up: two people and a group's worth of others, in English-like words, over three
years. Labels are not made. Where chromium and playwright are installed, the page is opened and
timed until its figures stand, and until a filter has changed them.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

SYLLABLES = ("ka", "lo", "mi", "ter", "un", "sha", "bre", "no", "ra", "to", "mis", "lek", "dor")
WORDS = ["".join(parts) for size in (1, 2, 3) for parts in product(SYLLABLES, repeat=size)]
WEIGHTS = [1 / (rank + 2) for rank in range(len(WORDS))]  # as words of a language fall off
PEOPLE = ["Ana", "Ben", *(f"Member {number}" for number in range(20))]


def export(path: Path, messages: int) -> None:
    """A WhatsApp export of a made-up chat."""
    draw = random.Random(7)
    moment = datetime(2022, 1, 1, 9, 0)
    gap = 3 * 365 * 86400 / messages
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(messages):
            moment += timedelta(seconds=draw.expovariate(1 / gap))
            name = PEOPLE[min(int(draw.expovariate(0.8)), len(PEOPLE) - 1)]
            text = " ".join(draw.choices(WORDS, WEIGHTS, k=draw.randint(1, 14)))
            stream.write(
                f"{moment:%d/%m/%Y, %H:%M} - {name}: {text}{draw.choice(('', '', ' 😂', '?'))}\n"
            )


def opened(page_file: Path) -> str:
    """Milliseconds until the page stands, and until a filter has changed it."""
    browser = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        return "not opened: no browser"
    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page()
        began = time.perf_counter()
        page.goto(page_file.as_uri())
        page.wait_for_selector("#glance-items .big")
        ready = time.perf_counter() - began
        filtered = page.evaluate(
            "() => { const began = performance.now();"
            "document.querySelectorAll('#filter-people button')[1].click();"
            "return performance.now() - began; }"
        )
        chromium.close()
    return f"usable after {ready:.2f} s, a filter takes {filtered:.0f} ms"


def main() -> None:
    from realtalk.api.choices import as_reading
    from realtalk.pages.chat_page import PortraitOptions, make_portrait, write_portrait

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, nargs="+", default=[50_000, 100_000, 300_000])
    for messages in parser.parse_args().messages:
        with tempfile.TemporaryDirectory() as folder:
            source, page = Path(folder, "chat.txt"), Path(folder, "page.html")
            export(source, messages)
            began, used = time.perf_counter(), time.process_time()
            reading = as_reading(source)
            read = time.perf_counter() - began
            write_portrait(make_portrait(reading, PortraitOptions(labels=False)), page)
            spent, cpu = time.perf_counter() - began, time.process_time() - used
            size = page.stat().st_size / 1e6
            print(
                f"{messages:,} messages: {spent:.1f} s ({read:.1f} s reading; {cpu:.1f} s of "
                f"processor), {size:.2f} MB, {opened(page)}"
            )


if __name__ == "__main__":
    main()
