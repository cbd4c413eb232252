"""The pictures of the README, made from the commands that it shows: `make docs`.

A terminal session becomes an SVG (rich draws it), the sample's figures a PNG each.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from research.results import DOCS

IMAGES = DOCS / "images"
WIDTH = 118


def session(name: str, *commands: str) -> None:
    """What a person sees who types these commands, as docs/images/<name>.svg."""
    screen = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    environment = {
        **os.environ,
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            screen.print(Text(f"$ {command}", style="bold"))
            done = subprocess.run(
                ["bash", "-c", f"{command} 2>&1"],
                capture_output=True,
                text=True,
                check=True,
                cwd=folder,
                env=environment,
            )
            screen.print(Text.from_ansi(done.stdout))
    svg = screen.export_svg(title="realtalk")
    # Rich names fonts on a server; the reader's own monospace serves as well, offline.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


def figures() -> None:
    """The sample's figures as `realtalk stats sample --figures` draws them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from realtalk.cli.main import main; main()"]
        subprocess.run([*command, "stats", "sample", "--figures", folder], check=True)
        for name in ("response_gaps", "activity"):
            shutil.copy(Path(folder) / f"{name}.png", IMAGES / f"{name}.png")
        subprocess.run([*command, "ei", "sample", "--figures", folder], check=True)
        shutil.copy(Path(folder) / "emotions_Chat_1_Mara_Theo.png", IMAGES / "emotions.png")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    session(
        "session", "realtalk read sample --out talk", "realtalk stats talk", "realtalk check talk"
    )
    figures()
