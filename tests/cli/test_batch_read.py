"""`batch read`: many exports, one stored corpus each, by any engine."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine_work import write_exports

CHAT = "13/02/2024, 10:0{0} - Mara: the tulips came up {0}\n13/02/2024, 10:1{0} - Theo: show me\n"


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    chats = {f"WhatsApp Chat with {number}.txt": CHAT.format(number) for number in range(3)}
    return write_exports(tmp_path / "exports", chats)


def test_run_again_it_does_what_is_missing(run: Any, exports: Path) -> None:
    words = f"batch read {exports / '*.txt'} --out corpora --json"
    assert run(words).told["worked"] == 3
    (exports / "WhatsApp Chat with 3.txt").write_text(CHAT.format(3), "utf-8")
    status, out, error = run(words)
    report = json.loads(out)
    assert (status, report["done"], report["failed"], report["worked"]) == (0, 4, 0, 1)
    assert report["parts"][3]["figures"]["messages"] == 2
    assert "4 of 4 in corpora (3 were there)" in error
    error = run(f"{words} --gap day").wrong
    assert "corpora: made with other settings (gap is 21600.0 there, day now)" in error
    assert run(f"{words} --gap day --fresh")[0] == 0


def test_a_folder_of_something_else_is_not_written_into(
    run: Any, tmp_path: Path, exports: Path
) -> None:
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("mine")
    error = run(f"batch read {exports} --out diary").wrong
    assert "diary: holds monday.txt but no run.json" in error


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed here")
def test_without_ray_its_cure_is_named(run: Any, exports: Path) -> None:
    error = run(f"batch read {exports} --out x --engine ray").wrong
    assert "--engine ray needs the extra 'ray'; install it with: " in error
    assert "[ray]" in error
