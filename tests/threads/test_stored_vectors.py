"""The vectors' file: within its limit, the oldest by last use first, safe beside other runs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from realtalk.errors import RealtalkError
from realtalk.local.caches import LIMIT, VECTORS, forget, remove, survey, units
from realtalk.threads import stored
from realtalk.threads.stored import VectorStore

WIDE = 384
DAY = 86_400


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The store's clock, in seconds, to be set."""
    moment = [time.time() - 100 * DAY]
    monkeypatch.setattr(stored, "_now", lambda: int(moment[0] * 1_000_000))
    return moment


def texts(start: int, count: int) -> list[str]:
    return [f"words number {n}" for n in range(start, start + count)]


def rows(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.ones((count, WIDE), np.float32)


def place_in(folder: Path, version: str = "1") -> Path:
    return folder / "threads" / f"vectors-{version}.sqlite"


def test_the_file_stays_within_its_limit_and_the_oldest_go(
    tmp_path: Path, clock: list[float]
) -> None:
    place, limit = place_in(tmp_path), 2_000_000
    for start in range(0, 4000, 200):
        clock[0] += 2 * DAY
        VectorStore(place, limit).put(texts(start, 200), rows(200))
        if start >= 200:
            VectorStore(place, limit).get(texts(0, 50))  # the first are used every day
        assert place.stat().st_size <= limit + 500_000
    assert place.stat().st_size <= limit
    held = VectorStore(place, limit).get(texts(0, 4000))
    assert set(texts(0, 50)) <= set(held)  # old, but in use
    assert set(texts(3800, 200)) <= set(held)  # just written
    assert not set(texts(200, 1000)) & set(held)
    assert len(held) > 500


def test_what_was_just_written_stays_though_it_is_too_much(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    VectorStore(place, 1).put(texts(0, 300), rows(300))
    assert len(VectorStore(place, 1).get(texts(0, 300))) == 300
    VectorStore(place, 1).put(texts(300, 10), rows(10))
    assert list(VectorStore(place, 1).get(texts(0, 310))) == texts(300, 10)


def test_files_of_other_encoders_go_first_oldest_first(tmp_path: Path) -> None:
    for version, days in (("old", 9), ("older", 20), ("new", 0)):
        path = place_in(tmp_path, version)
        VectorStore(path).put(texts(0, 500), rows(500))
        os.utime(path, (time.time() - days * DAY,) * 2)
    size = place_in(tmp_path, "new").stat().st_size
    VectorStore(place_in(tmp_path, "new"), int(size * 2.5)).put(["one more"], rows(1))
    assert not place_in(tmp_path, "older").exists() and place_in(tmp_path, "old").exists()
    assert len(VectorStore(place_in(tmp_path, "new")).get(texts(0, 500))) == 500


def test_a_file_of_an_older_version_is_read_bounded_and_shrunk(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    place.parent.mkdir()
    keys = [hashlib.blake2b(t.encode(), digest_size=16).digest() for t in texts(0, 2000)]
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(
            "CREATE TABLE vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        lines = [(key, rows(1).tobytes()) for key in keys]
        connection.executemany("INSERT INTO vectors VALUES (?, ?)", lines)
    os.utime(place, (time.time() - 40 * DAY,) * 2)
    old = place.stat().st_size
    used = VectorStore(place).get(texts(0, 100))
    assert len(used) == 100 and used["words number 7"].shape == (WIDE,)
    (item,) = survey(tmp_path).items
    before = place.stat().st_size
    freed = forget([item], time.time() - 30 * DAY)
    assert freed.left == () and freed.size > 0.9 * old
    assert place.stat().st_size == before - freed.size
    assert list(VectorStore(place).get(texts(0, 2000))) == texts(0, 100)


def test_forgetting_leaves_what_was_used_since(tmp_path: Path, clock: list[float]) -> None:
    place = place_in(tmp_path)
    VectorStore(place).put(texts(0, 100), rows(100))
    clock[0] += 50 * DAY
    VectorStore(place).put(texts(100, 100), rows(100))
    VectorStore(place).get(texts(0, 10))
    assert forget(units(VECTORS, place.parent).items, clock[0] - DAY).left == ()
    assert list(VectorStore(place).get(texts(0, 200))) == texts(0, 10) + texts(100, 100)


def test_a_file_in_use_is_not_thinned_out_and_it_is_said(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    VectorStore(place).put(texts(0, 10), rows(10))
    (item,) = survey(tmp_path).items
    with closing(sqlite3.connect(place)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert forget([item], time.time() + 1).left == ((place, "being written"),)
    place.write_bytes(b"no database" * 100)
    assert forget([item], time.time() + 1).left == (
        (place, "cannot be thinned out (DatabaseError)"),
    )
    place.unlink()
    assert forget([item], time.time() + 1) == remove([])


def test_a_store_outlives_its_file(tmp_path: Path) -> None:
    store = VectorStore(place_in(tmp_path))
    store.put(texts(0, 5), rows(5))
    remove(survey(tmp_path).items)
    assert store.get(texts(0, 5)) == {}
    store.put(texts(0, 5), rows(5))
    assert len(store.get(texts(0, 5))) == 5
    assert store.path.stat().st_mode & 0o777 == 0o600


def test_a_wrong_limit_is_said_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "lots")
    with pytest.raises(RealtalkError, match="'lots' is not a size"):
        VectorStore(place_in(tmp_path))


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from realtalk.threads.stored import VectorStore

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
        remove(survey(tmp_path).items)
        time.sleep(0.05)
    for run in runs:
        _, said = run.communicate()
        assert (run.returncode, said) == (0, b"")
    last = [f"1 {n}" for n in range(3000)]
    found = VectorStore(place).get(last)
    assert all(vector[0] == 1 for vector in found.values())
    assert not place.is_file() or place.stat().st_size < 1_500_000
