"""Statistics by every engine: the figures of the whole, kept part by part, gone on with."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import realtalk as rt
from engine_work import tree
from file_modes import open_to_others
from realtalk.formats.opening import open_reading
from realtalk.formats.store import store
from refusals import refused
from samples import read_sample


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """The sample's chats in three parts."""
    return store(open_reading("sample-threads").reading, tmp_path / "parts", most=80)


@pytest.fixture
def whole() -> bytes:
    return orjson.dumps(rt.stats("sample-threads").to_json())


def test_every_engine_gives_the_figures_of_the_whole(
    tmp_path: Path, parts: Path, whole: bytes
) -> None:
    assert orjson.dumps(rt.stats(parts).to_json()) == whole
    assert orjson.dumps(rt.stats(parts, engine="inline").to_json()) == whole
    one = rt.stats(parts, engine="inline", out=tmp_path / "one")
    two = rt.stats(parts, engine=rt.Engine("processes", workers=2), out=tmp_path / "two")
    assert orjson.dumps(one.to_json()) == orjson.dumps(two.to_json()) == whole
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert (tmp_path / "two" / "part-00002.json").is_file()
    assert open_to_others(tmp_path / "two") == {}


def test_a_damaged_part_leaves_no_figures(parts: Path) -> None:
    (parts / "messages" / "part-00001.parquet").write_bytes(b"PAR1")
    with refused(r"part-00001\.parquet: is not a readable Parquet"):
        rt.stats(parts, engine="inline")
    with refused("works on stored corpora"):
        rt.stats(read_sample(), engine="inline")
