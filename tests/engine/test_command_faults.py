"""Commands of many inputs come to the same bytes whatever is killed, and name what is broken."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine_faults import (
    COMMANDS,
    ON_RAY,
    SEVERAL,
    Command,
    kill_driver,
    kill_workers,
)
from engine_work import SECRET

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found by /proc"),
]
KILLS = 10
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed (extra 'ray')"
)
EI_ON_RAY = pytest.param("ei", ON_RAY, marks=needs_ray)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, whose name is short enough for Ray's sockets."""
    with tempfile.TemporaryDirectory(prefix="rt-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def repeating(folder: Path) -> list[str]:
    """The files that hold what somebody wrote: logs of a Ray that nobody ended."""
    found = []
    for path in folder.rglob("*"):
        with suppress(OSError):  # it went on the way
            if path.is_file() and SECRET.encode() in path.read_bytes():
                found.append(path.name)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_workers_that_are_killed_at_random(tmp_path: Path, name: str) -> None:
    command = COMMANDS[name]
    given = command.given(tmp_path / "in")
    line = command.line(given, tmp_path / "out", *SEVERAL)
    status, killed = kill_workers(line, KILLS, seed=18)
    assert killed
    if status:  # one input lost its worker three times: it is named, and the next call does it
        assert command.run(given, tmp_path / "out", *SEVERAL).returncode == 0
    same_as_undisturbed(command, given, tmp_path)


@pytest.mark.parametrize(("name", "engine"), [*((name, SEVERAL) for name in COMMANDS), EI_ON_RAY])
def test_a_driver_that_is_killed_three_times(
    tmp_path: Path, temporary: Path, name: str, engine: tuple[str, ...]
) -> None:
    command = COMMANDS[name]
    given = command.given(tmp_path / "in")
    line = command.line(given, tmp_path / "out", *engine)
    rows = 0
    for _ in range(3):
        rows = max(rows, kill_driver(line, tmp_path / "out" / command.table, rows + 1))
        assert repeating(temporary) == []
    assert command.run(given, tmp_path / "out", *engine).returncode == 0
    same_as_undisturbed(command, given, tmp_path)
    assert list(temporary.iterdir()) == [], "what killed drivers left goes"


def same_as_undisturbed(command: Command, given: Path, folder: Path) -> None:
    assert command.run(given, folder / "one").returncode == 0
    assert command.written(folder / "out") == command.written(folder / "one")
    assert not [path for path in (folder / "out").iterdir() if path.name.startswith(".")]
