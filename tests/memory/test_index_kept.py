"""Indexes on disk: private, within the limit, the one used longest ago goes first."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from realtalk.chat import Chat
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.files.caches import LIMIT
from realtalk.memory.index import ChatIndex, content_key
from refusals import refused
from short_chats import chat_of


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "memory"


def chat(number: int) -> Chat:
    return chat_of(*(f"Wren: the ferry {number} was late for the {n}th time" for n in range(4)))


def made(number: int, encoder: SentenceEncoder, kept: Path) -> Path:
    ChatIndex.of(chat(number), encoder)
    return kept / f"{content_key(chat(number), encoder.version)}.npz"


def test_the_oldest_by_use_go_and_come_again(
    encoder: SentenceEncoder, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [made(number, encoder, kept) for number in range(3)]
    for hours, path in zip((9, 5, 7), paths, strict=True):
        os.utime(path, (time.time() - hours * 3600,) * 2)
    ChatIndex.of(chat(0), encoder)  # read: no longer the oldest
    monkeypatch.setenv(LIMIT, f"{sum(path.stat().st_size for path in paths)}B")
    newest = made(3, encoder, kept)
    assert [path.exists() for path in (*paths, newest)] == [True, True, False, True]
    monkeypatch.setenv(LIMIT, "1B")
    assert made(2, encoder, kept).exists()  # just written, though it is too much
    assert [path.exists() for path in (*paths, newest)] == [False, False, True, False]


def test_a_wrong_limit_is_said_before_the_slow_part(
    encoder: SentenceEncoder, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "lots")
    with refused("'lots' is not a size"):
        made(0, encoder, kept)
    assert not kept.exists()
