"""The vectors' file: within its limit, the oldest by last use first, safe beside other runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from realtalk.files.caches import remove, survey
from realtalk.threads.vectors import VectorStore

WIDE = 384
DAY = 86_400


def texts(start: int, count: int) -> list[str]:
    return [f"words number {n}" for n in range(start, start + count)]


def rows(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.ones((count, WIDE), np.float32)


def place_in(folder: Path, version: str = "1") -> Path:
    return folder / "threads" / f"vectors-{version}.sqlite"


def test_the_file_stays_within_its_limit(tmp_path: Path) -> None:
    place, limit = place_in(tmp_path), 2_000_000
    for start in range(0, 4000, 200):
        VectorStore(place, limit).put(texts(start, 200), rows(200))
        assert place.stat().st_size <= limit + 500_000
    held = VectorStore(place, limit).get(texts(0, 4000))
    assert set(texts(3800, 200)) <= set(held)  # just written
    assert not set(texts(200, 1000)) & set(held)


def test_files_of_other_encoders_go_first_oldest_first(tmp_path: Path) -> None:
    for version, days in (("old", 9), ("older", 20), ("new", 0)):
        path = place_in(tmp_path, version)
        VectorStore(path).put(texts(0, 500), rows(500))
        os.utime(path, (time.time() - days * DAY,) * 2)
    size = place_in(tmp_path, "new").stat().st_size
    VectorStore(place_in(tmp_path, "new"), int(size * 2.5)).put(["one more"], rows(1))
    assert not place_in(tmp_path, "older").exists() and place_in(tmp_path, "old").exists()
    assert len(VectorStore(place_in(tmp_path, "new")).get(texts(0, 500))) == 500


def test_a_store_outlives_its_file(tmp_path: Path) -> None:
    store = VectorStore(place_in(tmp_path))
    store.put(texts(0, 5), rows(5))
    remove(survey(tmp_path))
    assert store.get(texts(0, 5)) == {}
    store.put(texts(0, 5), rows(5))
    assert len(store.get(texts(0, 5))) == 5
    assert store.path.stat().st_mode & 0o777 == 0o600


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from realtalk.threads.vectors import VectorStore

for start in range(0, 3000, 100):
    texts = [f"{sys.argv[2]} {n}" for n in range(start, start + 100)]
    store = VectorStore(Path(sys.argv[1]), 600_000)
    store.get(texts)
    store.put(texts, np.full((100, 384), float(sys.argv[2]), np.float32))
"""


def test_two_runs_and_a_clearing_at_once_break_nothing(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    runs = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(place), number], stderr=subprocess.PIPE)
        for number in ("1", "2")
    ]
    while any(run.poll() is None for run in runs):
        remove(survey(tmp_path))
        time.sleep(0.05)
    for run in runs:
        _, said = run.communicate()
        assert (run.returncode, said) == (0, b"")
    last = [f"1 {n}" for n in range(3000)]
    found = VectorStore(place).get(last)
    assert all(vector[0] == 1 for vector in found.values())
    assert not place.is_file() or place.stat().st_size < 1_500_000
