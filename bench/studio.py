"""A chat of 100,000 messages in the studio: opening, scrolling, searching, saving, each timed.

    python bench/studio.py [--messages 100000] [--json figures.json]
    → {"search_ms": {"median": 9.1, "worst": 84.0}, "piece_ms": …, "promises": {…}}

The server is the real command in a process of its own, asked over loopback as a browser asks.
Where chromium and playwright are there, a real page scrolls through the chat as well. The exit
status is 0 where every promise is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

MOST = {"search_ms": 200.0, "piece_ms": 200.0}
WORDS = (
    *("harbour", "kettle", "sister", "train", "rain", "bread", "lamp", "window", "garden"),
    *("music", "letter", "morning", "coffee", "running", "bicycle", "theatre", "island"),
    *("doctor", "market", "winter", "ticket", "holiday", "neighbour", "painting", "the", "a"),
    *("to", "and", "of", "in", "it", "is", "was", "for", "on", "that", "you", "with", "at"),
)
QUERIES = (
    *("kettle", "sister train", "the", "t", "harb", "neighbour painting island", "zzz"),
    *("coffee morning", "a", "lamp window garden music", "港", "%"),
)


def corpus(folder: Path, messages: int) -> Path:
    """Made-up messages of two people, one a minute or so, as JSON Lines."""
    chance = random.Random(7)
    time_ = datetime(2020, 1, 1)
    path = folder / "long.jsonl"
    with path.open("w") as stream:
        for number in range(messages):
            time_ += timedelta(minutes=1 if chance.random() < 0.98 else 600)
            text = " ".join(chance.choices(WORDS, k=chance.randint(1, 24)))
            who = "Ilse" if chance.random() < 0.5 else "Omar"
            row = {"chat": "long", "speaker": who, "time": time_.isoformat(), "text": text}
            stream.write(json.dumps(row | {"id": f"m{number}"}) + "\n")
    return path


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def spread(times: list[float]) -> dict[str, float]:
    return {"median": round(statistics.median(times), 1), "worst": round(max(times), 1)}


def asked(client: httpx.Client, messages: int) -> dict[str, Any]:
    """What a reader and an annotator wait for."""
    first = timed(lambda: client.get("/chat/0").raise_for_status())
    index = timed(lambda: client.get("/chat/0/search?q=kettle").raise_for_status())
    search = [
        timed(lambda q=query: client.get("/chat/0/search", params={"q": q}).raise_for_status())  # type: ignore[misc]
        for query in QUERIES * 3
    ]
    chance = random.Random(1)
    places = [chance.randrange(messages // 50) for _ in range(40)]
    pieces = [
        timed(lambda p=place: client.get(f"/chat/0/messages/{p}").raise_for_status())  # type: ignore[misc]
        for place in places
    ]
    saves = []
    for number in range(40):
        form = {
            "kind": "question",
            "fields": {"text": f"question {number}"},
            "request": f"bench-{number:05}",
        }
        saves.append(timed(lambda f=form: client.post("/chat/0/items", json=f).raise_for_status()))  # type: ignore[misc]
    return {
        "open_ms": round(first, 1),
        "first_search_ms": round(index, 1),
        "search_ms": spread(search),
        "piece_ms": spread(pieces),
        "save_ms": spread(saves),
    }


def scrolled(url: str, messages: int) -> dict[str, Any] | None:
    """A real page: jumps all over the chat, and how many messages the page ever held."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    base = url.partition("?")[0]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.wait_for_selector(".book")
        opened = timed(lambda: (page.goto(f"{base}chat/0"), page.wait_for_selector(".row")))
        jumps, held = [], 0
        for share in (0.1, 0.9, 0.5, 0.99, 0.3, 0.0, 0.75):
            script = (
                "share => new Promise(done => { const r = document.getElementById('reader');"
                "r.scrollTo(0, r.scrollHeight * share); const look = () => {"
                "const b = r.getBoundingClientRect();"
                "const e = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);"
                "e && e.closest('.piece') && !e.closest('.empty') ? done() : "
                "requestAnimationFrame(look); }; requestAnimationFrame(look); })"
            )
            jumps.append(timed(lambda s=script, x=share: page.evaluate(s, x)))  # type: ignore[misc]
            held = max(held, page.locator(".row").count())
        browser.close()
    return {
        "open_ms": round(opened, 1),
        "jump_ms": spread(jumps),
        "most_messages_in_page": held,
        "of": messages,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = corpus(folder, given.messages)
        began = time.perf_counter()
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from realtalk.cli.main import main; main()"),
                *("studio", str(path), "--no-browser", "--annotations"),
                str(folder / "notes.sqlite"),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "REALTALK_CACHE": str(folder / "cache")},
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("studio: ").strip()
            started = time.perf_counter() - began
            parts = urlsplit(url)
            with httpx.Client(base_url=f"http://{parts.netloc}", timeout=60) as client:
                client.get(f"/?{parts.query}").raise_for_status()
                client.headers["x-csrf-token"] = client.get("/csrf").json()["csrf"]
                figures = asked(client, given.messages)
            figures["browser"] = scrolled(url, given.messages)
        finally:
            process.kill()
            process.wait()
    figures |= {"messages": given.messages, "start_s": round(started, 1)}
    figures |= {"machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    figures["load"] = round(os.getloadavg()[0], 1)
    figures["promises"] = {
        name: {"kept": figures[name]["worst"] <= most, "most": most} for name, most in MOST.items()
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")
    return 0 if all(promise["kept"] for promise in figures["promises"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
