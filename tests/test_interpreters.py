"""Every Python at hand compiles the whole tree, and the newest one that can runs the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from text_tables import cases

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "bench", "examples", "research")
OLDEST = (3, 11)
pytestmark = pytest.mark.slow  # minutes; ruff holds the syntax of the oldest in `make test`

# Read and compiled in memory: nothing is written, and a warning (an unknown escape) is an error.
COMPILE = """
import sys, warnings
from pathlib import Path
warnings.simplefilter("error")
for path in map(Path, sys.stdin.read().splitlines()):
    try:
        compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except Exception as error:
        print(f"{path}: {type(error).__name__}: {error}")
"""
VERSION = "import sys; print(*sys.version_info[:2])"
CAN_RUN = "import onnxruntime, polars, cyclopts"


def _answer(python: Path, code: str, stdin: str = "") -> str | None:
    """What an interpreter prints, or None where it does not run or ends with an error."""
    try:
        done = subprocess.run(
            [python, "-I", "-c", code], input=stdin, capture_output=True, text=True, timeout=300
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def interpreters() -> dict[tuple[int, int], list[Path]]:
    """Python by version, from 3.11 on: this one, those of the tree's environments, pyenv, PATH."""
    places = [Path(sys.executable)]
    places += sorted(ROOT.glob(".venv*/bin/python"))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places += sorted(pyenv.glob("versions/*/bin/python"))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and "shims" not in folder:
            named = Path(folder).glob("python3.*")
            places += sorted(path for path in named if re.fullmatch(r"python3\.\d+", path.name))
    by_version: dict[tuple[int, int], list[Path]] = {}
    for python in dict.fromkeys(places):
        if version := _answer(python, VERSION):
            major, minor = map(int, version.split())
            if (major, minor) >= OLDEST:
                by_version.setdefault((major, minor), []).append(python)
    return by_version


def test_every_interpreter_at_hand_compiles_the_whole_tree() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 100
    for version, pythons in interpreters().items():
        flaws = _answer(pythons[0], COMPILE, "\n".join(map(str, files)))
        assert flaws == "", f"Python {version}: {flaws}"


@pytest.fixture(scope="module")
def newest() -> Path:
    """The newest Python in which what the package needs is installed."""
    for _, pythons in sorted(interpreters().items(), reverse=True):
        for python in pythons:
            if _answer(python, CAN_RUN) is not None:
                return python
    raise AssertionError("the tests' own interpreter can run the commands")


@cases("""
    arguments                                | shown
    --help                                   | Usage
    stats sample                             | messages
    probe run sample --reader none --limit 3 | any@5
    redact chat.txt --review names.csv       | names.csv
    report chat.txt --out page.html          | page.html
""")
def test_the_newest_runs_the_commands(
    arguments: str, shown: str, newest: Path, tmp_path: Path
) -> None:
    (tmp_path / "chat.txt").write_text(
        "".join(
            f"[0{day}.03.2026, 18:0{minute}:00] {name}: {text}\n"
            for day in (2, 3)
            for minute, (name, text) in enumerate(
                [("Ana", "are you at home, Bela?"), ("Bela", "on my way 🙂"), ("Ana", "good!")]
            )
        ),
        "utf-8",
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    done = subprocess.run(
        [newest, "-W", "error::SyntaxWarning", "-m", "realtalk", *arguments.split()],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout + done.stderr
