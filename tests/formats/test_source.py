"""Files, folders and archives, and what hostile ones get."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import threading
from pathlib import Path

import pytest

from hostile_files import archive, zipped
from realtalk.formats import source
from realtalk.formats.opening import open_reading
from realtalk.formats.source import Source, ending
from refusals import refused
from text_tables import rows, unescaped


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


@pytest.mark.parametrize(
    "name", ["chat", "chat.log", "chat.txt.bak", "WhatsApp Chat with Dr. Mara"]
)
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
