"""Files, folders and archives, and what hostile ones get; files that are not read say what they are
and what to do instead."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sqlite3
import tarfile
import threading
import zipfile
from contextlib import closing
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


# --- files that are not read ---


# Its name, what is said that it is and what to do, and the bytes that it begins with.
KNOWN = r"""
    msgstore.db.crypt15 | WhatsApp's encrypted backup | export chat | \n&\x00\x81
    msgstore.db | WhatsApp's database, encrypted or damaged | wa-crypt-tools | \x9c\x00\x81\xfe
    signal-2024-05-01.backup | Signal's encrypted | signal-export | \x00\x00\x006\n4
    key_datas | Telegram Desktop's own storage | export chat history | TDF$\x01\x02
    EnMicroMsg.db | WeChat's database | ChatLab | \x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13
    chat.ichat | Apple's Messages | chat.db | bplist00\xd4\x01
    outlook.pst | an Outlook mailbox | mbox | !BDN\x01\x02
    a.msg | an Outlook message | .eml | \xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1
    a.doc | an old Office | .txt | \xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1
    talk.pdf | a PDF document | .txt | %PDF-1.7\n%\xe2\xe3
    screen.png | a picture | screenshot | \x89PNG\r\n\x1a\n\x00\x00\x00\r
    IMG_1.jpg | a picture | screenshot | \xff\xd8\xff\xe0\x00\x10JFIF
    IMG_1.heic | a picture | screenshot | \x00\x00\x00\x18ftypheic\x00\x00
    clip.mp4 | a sound or a video | export.md | \x00\x00\x00\x18ftypisom\x00\x00
    voice.opus | a sound or a video | export.md | OggS\x00\x02\x00\x00
    talk.rtf | rich text | .txt | {\\rtf1\\ansi
    x.7z | 7-Zip | unpack | 7z\xbc\xaf'\x1c\x00\x04
    x.rar | RAR | unpack | Rar!\x1a\x07\x01\x00
    chat_history.json | Snapchat | columns | {"a":[{"From":0,"Media Type":0,"Created":0}]}
    talk.json | Hangouts | Google | {"conversations":[{"conversation_id":0,"participant_data":0}]}
    direct-messages.js | X's archive | columns | window.YTD.direct_messages.part0 = [ {
    sms.xml | SMS messages in XML | columns | <?xml version='1.0'?>\n<smses count='2'>
    all.vcf | contacts | export | BEGIN:VCARD\nVERSION:3.0\n
    x.html | Slack exports | JSON | <html><head><title>Slack Export - x</title>
    x.html | a web page | export | <!DOCTYPE html><html><body>hello
"""


@pytest.mark.parametrize(("name", "what", "fix", "head"), rows(KNOWN))
def test_each_says_what_it_is(tmp_path: Path, name: str, what: str, fix: str, head: str) -> None:
    path = tmp_path / name
    path.write_bytes(unescaped(head))
    with refused() as caught:
        open_reading(path)
    assert what in str(caught.value) and fix in str(caught.value)


# Any other file tells its shape, and none of its words.
SHAPES = r"""
    empty.txt | the file is empty | export, download or copy it again |
    blank.txt | blank lines and nothing else | again | \n\n  \n
    half.json | the JSON ends in the middle (line 1, column 25) | cut off | {"text": "tulips", "id":
    other.json | not valid JSON (line 1, column 1) | again | the tulips are behind the shed
    keys.json | an object with version, entries | columns | {"version": 3, "entries": ["tulips"]}
    said.json | an object with 1 name, not shown | columns | {"the tulips, behind": 1}
    list.json | a list of 2 objects with a, b | columns | [{"a": "tulips"}, {"b": 2}]
    cut.zip | the zip cannot be opened | again | PK\x03\x04\x14 tulips
    no.zip | is not a zip | again | the tulips are behind the shed
    any.dat | binary data | export.md | \x01\x02\x00\x00tulips
    one.csv | a table of one column | speaker, text and time | tulips\nbehind the shed
    two.csv | no column is known | found: kiwi, mango | kiwi,mango\ntulips,shed
    plain.txt | has 16 characters and no date | 12/03/2024, 18:04 - Ana: hello | Ana: the tulips!
    dated.txt | has 20 characters and a date | `format=` | tulips on 12/03/2024
    wide.txt | has 6 characters and no date | 18:04 | \xff\xfet\x00u\x00l\x00i\x00p\x00s\x00
    tulip.parquet | a Parquet file | CSV | PAR1\x15\x04
    log.xml | an XML file | columns | <?xml version='1.0'?><log>tulips</log>
"""


@pytest.mark.parametrize(("name", "what", "fix", "head"), rows(SHAPES))
def test_each_tells_its_shape(tmp_path: Path, name: str, what: str, fix: str, head: str) -> None:
    test_each_says_what_it_is(tmp_path, name, what, fix, head)
    with refused() as caught:
        open_reading(tmp_path / name)
    assert "tulips" not in str(caught.value)


def test_a_folder_of_many_kinds(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# tulips", "utf-8")
    (tmp_path / "x.json").write_text("{}", "utf-8")
    with refused(r"2 files is a chat \(1 .md, 1 .json\).*x\.json") as error:
        open_reading(tmp_path)
    assert "tulips" not in str(error.value)
    (tmp_path / "x.json").unlink()
    with refused(r"notes\.md: not recognised: text.* 8 characters"):
        open_reading(tmp_path)


@cases("""
    name        | what
    msgstore.db | WhatsApp's
    x.sqlite    | SQLite
""")
def test_databases(tmp_path: Path, name: str, what: str) -> None:
    with closing(sqlite3.connect(tmp_path / name)) as database, database:
        database.execute("create table message (text)")
    with refused(what):
        open_reading(tmp_path / name)


def test_archives(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "8_live_ben_export.tar", "w") as archive:
        info = tarfile.TarInfo("messages.json")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"{}"))
    with refused(r"tar archive.*messages\.json"):
        open_reading(tmp_path / "8_live_ben_export.tar")
    with zipfile.ZipFile(tmp_path / "talk.docx", "w") as document:
        document.writestr("[Content_Types].xml", "<Types/>")
        document.writestr("word/document.xml", "<w:document/>")
    with refused("a Word document"):
        open_reading(tmp_path / "talk.docx")


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with refused("is a picture"):
        open_reading(tmp_path)
    (tmp_path / "x.bin").write_bytes(b"\0\1\2\3 whatever")
    with refused("unknown-format"):
        open_reading(tmp_path)
