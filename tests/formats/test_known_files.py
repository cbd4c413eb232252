"""Files that are not read say what they are and what to do instead."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from realtalk.formats.opening import open_reading
from refusals import refused
from text_tables import cases, rows, unescaped

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
