"""Files, folders and archives, and what hostile ones get."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from realtalk.corpora import source
from realtalk.corpora.source import Source
from realtalk.errors import RealtalkError


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def test_members_of_each_kind(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt").write_bytes(b"bee")
    (folder / "deep" / "a.json.gz").write_bytes(gzip.compress(b"{}"))
    (folder / ".hidden").write_bytes(b"no")
    names = [(m.name, m.stem, m.suffix, m.read()) for m in Source.open(folder).members]
    assert names == [("b.txt", "b", ".txt", b"bee"), ("deep/a.json.gz", "a", ".json", b"{}")]
    zipped = archive(tmp_path / "x.zip", {"c/d.txt": b"dee", "__MACOSX/._d.txt": b"no"})
    (member,) = Source.open(zipped).members
    assert (member.name, member.stem, member.read(), member.head(2)) == (
        "c/d.txt",
        "d",
        b"dee",
        b"de",
    )
    assert member.sha256() == hashlib.sha256(b"dee").hexdigest()
    assert Source.open(folder).name == "in"
    assert Source.open(zipped).name == "x"


def test_a_path_inside_an_archive_writes_nowhere(tmp_path: Path) -> None:
    zipped = archive(tmp_path / "x.zip", {"../../evil.txt": b"hi"})
    before = sorted(tmp_path.rglob("*"))
    (member,) = Source.open(zipped).members
    assert member.read() == b"hi"
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "evil.txt").exists()


def test_a_bomb_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_MEMBER_BYTES", 1 << 20)
    bomb = archive(tmp_path / "x.zip", {"big.txt": bytes(4 << 20)})
    with pytest.raises(RealtalkError, match="larger than the reading limit"):
        Source.open(bomb).members[0].read()
    packed = tmp_path / "big.txt.gz"
    packed.write_bytes(gzip.compress(bytes(4 << 20)))
    with pytest.raises(RealtalkError, match="larger than the reading limit"):
        Source.open(packed).members[0].read()


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_FILES", 3)
    many = archive(tmp_path / "x.zip", {f"{n}.txt": b"x" for n in range(5)})
    with pytest.raises(RealtalkError, match="more than 3 files"):
        Source.open(many)


def test_damaged_archives(tmp_path: Path) -> None:
    good = archive(tmp_path / "x.zip", {"a.txt": b"words and words " * 500}).read_bytes()
    middle = bytearray(good)
    middle[60:70] = b"\xff" * 10
    (tmp_path / "y.zip").write_bytes(bytes(middle))
    with pytest.raises(RealtalkError, match="cannot be unpacked"):
        Source.open(tmp_path / "y.zip").members[0].read()
    (tmp_path / "z.txt.gz").write_bytes(gzip.compress(b"abc" * 1000)[:-20])
    with pytest.raises(RealtalkError, match="cannot be unpacked"):
        Source.open(tmp_path / "z.txt.gz").members[0].read()


@pytest.mark.parametrize("kind", ["missing", "empty", "empty folder", "empty zip"])
def test_nothing_to_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "empty":
        path.touch()
    elif kind == "empty folder":
        path.mkdir()
    elif kind == "empty zip":
        path = archive(tmp_path / "x.zip", {})
    with pytest.raises(RealtalkError):
        Source.open(path)
