"""History by nearness: the same choice as by encoding everything, for far fewer texts; the vectors'
file: within its limit, the oldest by last use first, safe beside other runs."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from realtalk.encoders.sentences import SentenceEncoder
from realtalk.files.caches import remove, survey
from realtalk.files.progress import Progress, silent
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw, Samples
from realtalk.threads.values import SETTINGS, Setting, protocol
from realtalk.threads.vectors import Vectors, VectorStore
from samples import read_sample

Rows = npt.NDArray[np.float32]
NEAR = protocol(chosen="near", history=2)


CORPUS = read_sample("sample-threads")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Every text that goes through the shipped encoder, with a cache of the test's own."""
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    seen: list[str] = []
    real = SentenceEncoder.embed

    def embed(self: SentenceEncoder, texts: Sequence[str], progress: Progress = silent) -> Rows:
        seen.extend(texts)
        return real(self, texts, progress)

    monkeypatch.setattr(SentenceEncoder, "embed", embed)
    return seen


def near() -> Samples:
    return Draw("sentiment", NEAR, limit=12, train_limit=12).samples(CORPUS)


def test_a_text_is_encoded_once_for_all_settings_and_runs(encoded: list[str]) -> None:
    first = near()
    kept = {setting: [list(each.history) for each in first.of(setting)] for setting in SETTINGS}
    assert encoded
    assert len(encoded) == len(set(encoded))
    encoded.clear()
    again = near()
    for setting in SETTINGS:
        assert [list(each.history) for each in again.of(setting)] == kept[setting]
    assert not encoded


def test_what_nobody_reads_is_not_encoded(encoded: list[str], tmp_path: Path) -> None:
    assert near().counts.without_history >= 0
    settings: tuple[Setting, ...] = ("p-conv", "np-conv")
    for at, name in enumerate(("majority", "mean")):
        # Whose history it is, which `mean` asks for, is known without choosing any of it.
        wanted = settings if name == "majority" else settings[:1]
        task = ThreadTask(near(), wanted)
        run_threads(CORPUS, task, make_predictor(name), tmp_path / str(at))
    assert encoded == []


class Counting:
    """An encoder of one number per text."""

    version = "c"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> Rows:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[Rows]:
        raise AssertionError("nearness needs no tokens")


def test_a_store_gives_back_what_was_put_without_the_text(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "vectors.sqlite"
    first, second = Counting(), Counting()
    wanted = Vectors(first, VectorStore(place)).of(
        ["phew", "", "four words in it", "phew", "\ud800"]
    )
    assert wanted[:, 0].tolist() == [4, 0, 16, 4, 1]
    again = Vectors(second, VectorStore(place)).of(["new", "four words in it", "\ud800"])
    assert again[:, 0].tolist() == [3, 16, 1]
    assert (first.asked, second.asked) == (["phew", "four words in it", "\ud800"], ["new"])
    assert b"phew" not in place.read_bytes()


@pytest.mark.parametrize("held", ["not a database" * 100, ""])
def test_a_broken_store_is_no_store(tmp_path: Path, held: str) -> None:
    place = tmp_path / "vectors.sqlite"
    place.write_text(held, "utf-8")
    for _ in range(2):
        assert Vectors(Counting(), VectorStore(place)).of(["phew"])[0, 0] == 4
    whole = Counting()
    Vectors(whole, VectorStore(place)).add(["phew"])
    assert whole.asked == []  # it has grown again


def test_a_store_that_cannot_be_written_or_is_locked_is_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    assert Vectors(Counting(), VectorStore(tmp_path / "file" / "v.sqlite")).of(["a"])[0, 0] == 1
    monkeypatch.setattr("realtalk.threads.vectors._WAIT", 0.01)
    place = tmp_path / "v.sqlite"
    VectorStore(place).put(["b"], np.ones((1, 2), np.float32))
    other = sqlite3.connect(place)
    other.execute("BEGIN EXCLUSIVE")
    assert Vectors(Counting(), VectorStore(place)).of(["a"])[0, 0] == 1
    other.close()
    assert list(VectorStore(place).get(["a", "b"])) == ["b"]  # not removed: it was only in use


# --- the vectors' file ---


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
