"""Files, folders and archives, and what hostile ones get."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hostile_files import archive, zipped
from realtalk.formats import source
from realtalk.formats.opening import open_reading
from realtalk.formats.source import Source, ending
from refusals import refused
from text_tables import cases, rows, unescaped


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


@pytest.mark.parametrize("packing", ["zip", "zip in a zip", "gz"])
def test_a_bomb_stops_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    monkeypatch.setattr(source, "MAX_MEMBER_BYTES", 1 << 20)
    monkeypatch.setattr(source, "MAX_KEPT_BYTES", 1 << 20)
    inner = zipped({"big.txt": bytes(4 << 20)})
    path, data = {
        "zip": ("x.zip", inner),
        "zip in a zip": ("x.zip", zipped({"inner.zip": inner})),
        "gz": ("big.txt.gz", gzip.compress(bytes(4 << 20))),
    }[packing]
    (tmp_path / path).write_bytes(data)
    with refused("larger than the reading limit"):
        Source.open(tmp_path / path).members[0].read()


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_FILES", 3)
    many = archive(tmp_path / "x.zip", {f"{n}.txt": b"x" for n in range(5)})
    with refused("more than 3 files"):
        Source.open(many)


def test_damaged_archives(tmp_path: Path) -> None:
    good = archive(tmp_path / "x.zip", {"a.txt": b"words and words " * 500}).read_bytes()
    middle = bytearray(good)
    middle[60:70] = b"\xff" * 10
    (tmp_path / "y.zip").write_bytes(bytes(middle))
    with refused("cannot be unpacked"):
        Source.open(tmp_path / "y.zip").members[0].read()
    (tmp_path / "z.txt.gz").write_bytes(gzip.compress(b"abc" * 1000)[:-20])
    with refused("cannot be unpacked"):
        Source.open(tmp_path / "z.txt.gz").members[0].read()


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    archive(tmp_path / "x.zip", {})
    for name in ("missing", "empty", "folder", "x.zip"):
        with refused():
            Source.open(tmp_path / name)


CHAT = b"12/01/2024, 22:07 - Mara: hi\n13/01/2024, 22:07 - Theo: x\n"


def read_back(path: Path | str) -> tuple[str, int]:
    found = open_reading(path)
    return found.format, found.reading.tables.messages.height


@cases("""
    name
    chat
    chat.log
    chat.txt.bak
    WhatsApp Chat with Dr. Mara
""")
def test_a_name_that_tells_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CHAT)
    assert read_back(tmp_path / name) == ("whatsapp", 2)


CONTENTS = r"""
    .json  | {"name": "Ann", "messages": []}
    .json  | \xef\xbb\xbf [ {"a": 1},\n{"b": 2} ]
    .jsonl | {"speaker": "a", "text": "b"}\n{"speaker": "b"
    .txt   | [20.06.19, 15:58:47] Mara: hi
    .txt   | 12/07/2017, 22:35 - Mara: one, two
    .csv   | AuthorID,Author,Date,Content\n7,ann,x,y
    .tsv   | speaker\ttext\nann\thi
    .html  | <!DOCTYPE html><html>
           | \x89PNG\r\n\x1a\n\x00\x00\x00\r
           | \x20\n
"""


@pytest.mark.parametrize(("expected", "data"), rows(CONTENTS))
def test_what_the_content_says(expected: str, data: str) -> None:
    assert ending(unescaped(data)) == expected
    assert ending("12/07/2017, 22:35 - Mara: hi".encode("utf-16-le")) == ".txt"


def test_json_under_a_wrong_name(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text('{"speaker": "Ann", "text": "hi"}\n{"speaker": "Ben", "text": "ho"}\n')
    assert read_back(path) == ("jsonl", 2)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (CHAT, gzip.compress(CHAT), zipped({"_chat.txt": CHAT})):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_back("-") == ("whatsapp", 2)


def test_nothing_through_a_pipe_and_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with refused("nothing came through the pipe"):
        open_reading("-")
    with refused("the path is empty"):
        open_reading("")


def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(CHAT,))
    writer.start()
    assert read_back(pipe) == ("whatsapp", 2)
    writer.join()


def test_archives_in_a_folder_or_an_archive(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("Mara", "Theo"):
        archive(folder / f"WhatsApp Chat - {name}.zip", {"_chat.txt": CHAT, "a.jpg": b"x"})
    (folder / "cat.jpg").write_bytes(b"x")
    assert [member.name for member in Source.open(folder).members] == [
        *("WhatsApp Chat - Mara/_chat.txt", "WhatsApp Chat - Mara/a.jpg"),
        *("WhatsApp Chat - Theo/_chat.txt", "WhatsApp Chat - Theo/a.jpg"),
        "cat.jpg",
    ]
    assert read_back(folder) == ("whatsapp", 4)
    inner = {path.name: path.read_bytes() for path in folder.glob("*.zip")}
    assert read_back(archive(tmp_path / "outer.zip", inner)) == ("whatsapp", 4)


def test_an_archive_that_was_sent_in_a_chat_is_not_opened(tmp_path: Path) -> None:
    sent = archive(tmp_path / "sent.zip", {"secret/_chat.txt": CHAT}).read_bytes()
    outer = archive(tmp_path / "outer.zip", {"_chat.txt": CHAT, "sent.zip": sent})
    assert [member.name for member in Source.open(outer).members] == ["_chat.txt", "sent.zip"]


# --- archives: opened and unpacked once, within the same bounds ---


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
