"""History by nearness: the same choice as by encoding everything, for far fewer texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from realtalk.encoders.sentences import SentenceEncoder
from realtalk.files.progress import Progress, silent
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Samples, make_samples
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
    return make_samples(CORPUS, "sentiment", protocol=NEAR, limit=12, train_limit=12)


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
