"""The link into the browser without its secret in the list of processes, which everybody can read.

    with in_browser(server.url, server.entered) as opened:
        server.wait()

The browser is started with the address of a file that only this user can read; the page in it
goes on to the studio. The file is removed once the studio was entered, or at the end.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0;url={url}"><title>realtalk studio</title>'
    '<a href="{url}">Open the studio</a>\n'
)


@contextmanager
def in_browser(url: str, entered: threading.Event) -> Iterator[bool]:
    """Opens the link, and says whether there is a browser to open it in."""
    import webbrowser

    page = _private_page(url)

    def remove() -> None:
        entered.wait()
        page.unlink(missing_ok=True)

    try:
        threading.Thread(target=remove, daemon=True).start()
        yield webbrowser.open(page.as_uri())
    finally:
        page.unlink(missing_ok=True)


def _private_page(url: str) -> Path:
    """In the home folder: browsers that are packed apart from the system see no other /tmp."""
    try:
        number, name = _new_file(Path.home())
    except (OSError, RuntimeError):  # nowhere to write, or a user without a home
        number, name = _new_file(None)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(_PAGE.format(url=escape(url)))
    return Path(name)


def _new_file(folder: Path | None) -> tuple[int, str]:
    return tempfile.mkstemp(
        prefix="realtalk-studio-", suffix=".html", dir=folder
    )  # 0600 from birth
