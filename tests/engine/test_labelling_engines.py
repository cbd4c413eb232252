"""Labels by every engine: the bytes of a run without one, after every kind of end."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from engine_work import tree
from file_modes import open_to_others
from realtalk.api.choices import as_reading
from realtalk.chat import Corpus
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labelling import WORK, labels_for
from realtalk.ei.results import chat_frames
from realtalk.formats.store import store
from samples import read_sample

BLOCK = 16


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks of a small corpus; a worker takes blocks as they are."""
    monkeypatch.setattr(EmbeddedLabeller, "at_once", 4 * BLOCK)


def talk(chats: int = 3) -> Corpus:
    """The first chats of the sample with fifteen turns or so each."""
    found = read_sample().chats[:2]
    made = []
    for number in range(chats):
        chat = found[number % len(found)]
        session = replace(chat.sessions[0], messages=chat.sessions[0].messages[: 20 - number])
        made.append(
            replace(chat, id=f"chat {number}", sessions=(session,), questions=(), events=())
        )
    return Corpus("talk", "realtalk", tuple(made))


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    corpus = talk()
    reading = as_reading(corpus)
    return store(reading, tmp_path / "parts", most=20)


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, bytes]:
    """What a run without an engine writes of the corpus."""
    rt.label(talk(), out=tmp_path / "whole")
    return tree(tmp_path / "whole")


@pytest.mark.slow
def test_every_engine_writes_the_same_run(
    tmp_path: Path, parts: Path, whole: dict[str, bytes]
) -> None:
    assert {"run.json", "labels.jsonl", "labels.parquet", "speakers.parquet"} == set(whole)
    streamed = rt.label(parts, out=tmp_path / "streamed")
    several = rt.label(parts, out=tmp_path / "several", engine=rt.Engine("processes", workers=2))
    given = rt.label(talk(), out=tmp_path / "given", engine="inline")
    for name in ("streamed", "several", "given"):
        assert tree(tmp_path / name) == whole, name
    assert open_to_others(tmp_path / "several") == {}
    plain = rt.label(talk())
    for labels in (streamed, several, given):
        assert labels.facets().to_json() == plain.facets().to_json()
        assert labels.cautions == plain.cautions
        assert labels.frame.equals(plain.frame)


def test_what_is_labelled_is_not_labelled_again(
    run: Any, tmp_path: Path, parts: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, seen = tmp_path / "labels", []
    kept = tree(Path(os.environ["REALTALK_CACHE"]) / "labels")
    plain = EmbeddedLabeller.label

    def label(self: EmbeddedLabeller, inputs: Any, *more: Any) -> Any:
        seen.append(len(inputs))
        if len(seen) == 2:
            raise KeyboardInterrupt
        return plain(self, inputs, *more)

    monkeypatch.setattr(EmbeddedLabeller, "label", label)
    rt.label(parts, out=tmp_path / "kept", engine="inline")
    assert not seen, "what is in the cache is not labelled again"
    assert tree(tmp_path / "kept") == whole
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "other cache"))
    with pytest.raises(KeyboardInterrupt):
        rt.label(parts, out=out, engine="inline")
    assert (out / WORK / "labels" / "block-00000").is_dir()
    assert not (out / "labels.parquet").exists()
    rt.label(parts, out=out, engine="inline")
    total = len(whole["labels.jsonl"].splitlines())
    assert run(f"ei {parts}")[0] == run(f"report {parts} --out page.html")[0] == 0
    assert sum(seen) == total + BLOCK, "only what was under way is done again"
    assert tree(tmp_path / "other cache" / "labels") == kept, "to the last bit"
    assert tree(out) == whole
    (out / WORK).mkdir()  # what a run by an engine left that was stopped
    (out / "labels.jsonl").unlink()
    labels_for(talk(), EmbeddedLabeller(), out=out)
    rt.label(talk(), out=out)
    assert tree(out) == whole


def test_chats_come_whole_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = rt.label(talk(5), out=tmp_path / "labels")
    for size in (1, 7, 15, 16, 1000):
        monkeypatch.setattr("realtalk.ei.results._AT_ONCE", size)
        frames = list(chat_frames(tmp_path / "labels"))
        assert pl.concat(frames).equals(labels.frame)
        chats = [chat for frame in frames for chat in frame["chat"].unique().to_list()]
        assert sorted(chats) == sorted(set(chats)), "no chat is in two frames"
