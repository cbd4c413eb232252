"""Archives are opened and unpacked once, within the same bounds."""

from __future__ import annotations

import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hostile_files import archive, zipped
from realtalk.formats import source
from realtalk.formats.source import Source
from refusals import refused


def nested(path: Path, inner: int, files: int) -> Path:
    one = {f"{n:03d}.json": b'[{"n": %d}]' % n for n in range(files)}
    return archive(path, {f"export {n}.zip": zipped(one) for n in range(inner)})


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every archive that is opened, in order."""
    made: list[Any] = []

    class Counted(zipfile.ZipFile):
        def __init__(self, file: Any, *settings: Any) -> None:
            if not settings:  # else it is being written
                made.append(file)
            super().__init__(file, *settings)

    monkeypatch.setattr(zipfile, "ZipFile", Counted)
    return made


def test_an_archive_in_an_archive_is_unpacked_once(tmp_path: Path, openings: list[Any]) -> None:
    found = Source.open(nested(tmp_path / "x.zip", 1, 300))
    heads = [member.head(4) for member in found.members]
    texts = [member.read() for member in found.members]
    assert heads == [b'[{"n'] * 300
    assert texts[299] == b'[{"n": 299}]'
    assert len(openings) == 2


def test_only_a_few_stay_open(
    tmp_path: Path, openings: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_OPEN", 3)
    found = Source.open(nested(tmp_path / "x.zip", 6, 2))
    first = found.members[0].open()
    assert [member.read() for member in found.members] == [b'[{"n": 0}]', b'[{"n": 1}]'] * 6
    assert first.read() == b'[{"n": 0}]'  # lives on when its archive was put away
    assert len(openings) > 7


@pytest.mark.parametrize("bound", [10, 400, 1 << 20])
def test_what_is_kept_is_bounded_and_the_rest_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: int
) -> None:
    monkeypatch.setattr(source, "MAX_KEPT_BYTES", bound)
    found = Source.open(nested(tmp_path / "x.zip", 3, 3))
    texts = [member.read() for member in found.members]
    assert texts == [b'[{"n": %d}]' % n for n in range(3)] * 3


def test_only_one_archive_deep(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a.zip": zipped({"b.zip": zipped({"c.txt": b"hi"})})})
    assert [member.name for member in Source.open(path).members] == ["a/b.zip"]


def test_members_are_read_side_by_side(tmp_path: Path) -> None:
    big = {f"{n}.txt": bytes([65 + n]) * 300_000 for n in range(8)}
    path = archive(tmp_path / "x.zip", {"inner.zip": zipped(big)})
    members = Source.open(path).members
    wrong: list[str] = []

    def read(place: int) -> None:
        with members[place].open() as stream:
            while piece := stream.read(999):
                if set(piece) != {65 + place}:
                    wrong.append(members[place].name)

    threads = [threading.Thread(target=read, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_damaged_inner_archive_is_an_error_of_one_line(tmp_path: Path) -> None:
    good = zipped({"inner.zip": zipped({"a.txt": b"words " * 400}), "x.jpg": b"x"})
    place = good.index(b"inner.zip") + 40
    path = tmp_path / "x.zip"
    path.write_bytes(good[:place] + b"\xff" * 12 + good[place + 12 :])
    with refused(r"x\.zip/inner\.zip"):
        Source.open(path)


def test_names_in_utf8_that_do_not_say_so(tmp_path: Path) -> None:
    """As macOS writes them: the flag is missing, the bytes are UTF-8."""
    data = zipped({"Zoë и دانا.txt": b"hi"})
    unflagged = bytearray(data)
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(head) + flags
        unflagged[at : at + 2] = b"\0\0"
    path = tmp_path / "x.zip"
    path.write_bytes(bytes(unflagged))
    [member] = Source.open(path).members
    assert (member.stem, member.read()) == ("Zoë и دانا", b"hi")
