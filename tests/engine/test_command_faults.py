"""Commands of many inputs come to the same bytes whatever is killed, and name what is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_faults import COMMANDS, SEVERAL, kill_driver, kill_workers, write_exports

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found by /proc"),
]
KILLS = 10


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["check", "redact", "report"])
def test_one_corrupt_input_among_a_thousand(tmp_path: Path, name: str) -> None:
    command = COMMANDS[name]
    exports = write_exports(tmp_path / "in", 999)
    (exports / "broken.zip").write_bytes(b"PK\x03\x04 the tulips are behind the shed")
    done = command.run(exports, tmp_path / "out", *SEVERAL)
    assert done.returncode == 1
    assert "note: broken.zip: the format is not recognised" in done.stderr
    assert " 999 of 1,000 in " in done.stderr
    assert "tulips" not in done.stdout + done.stderr
    assert not (tmp_path / "out" / ".unfinished").exists()
    if name == "check":
        command.run(exports, tmp_path / "one")
        assert command.written(tmp_path / "out") == command.written(tmp_path / "one")


@pytest.mark.parametrize("name", COMMANDS)
def test_workers_that_are_killed_at_random(tmp_path: Path, name: str) -> None:
    command = COMMANDS[name]
    exports = write_exports(tmp_path / "in", command.inputs)
    line = command.line(exports, tmp_path / "out", *SEVERAL)
    status, killed = kill_workers(line, KILLS, seed=18)
    assert killed
    if status:  # one input lost its worker three times: it is named, and the next call does it
        assert command.run(exports, tmp_path / "out", *SEVERAL).returncode == 0
    assert command.run(exports, tmp_path / "one").returncode == 0
    assert command.written(tmp_path / "out") == command.written(tmp_path / "one")
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_driver_that_is_killed_three_times(tmp_path: Path, name: str) -> None:
    command = COMMANDS[name]
    exports = write_exports(tmp_path / "in", command.inputs)
    line = command.line(exports, tmp_path / "out", *SEVERAL)
    rows = 0
    for _ in range(3):
        rows = max(rows, kill_driver(line, tmp_path / "out" / command.table, rows + 1))
    assert command.run(exports, tmp_path / "out", *SEVERAL).returncode == 0
    assert command.run(exports, tmp_path / "one").returncode == 0
    assert command.written(tmp_path / "out") == command.written(tmp_path / "one")
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
