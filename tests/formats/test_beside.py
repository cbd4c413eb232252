"""Several files in one folder or archive: all are read, or named."""

from __future__ import annotations

from pathlib import Path
from shutil import make_archive

import pytest

from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from said import Said, put
from written_chats import FORMS

SAID = {
    "whatsapp": [Said("Mara", 60 * at, f"bread {at}", id=str(at)) for at in range(4)],
    "kakaotalk": [Said("Theo", 60 * at, f"cheese {at}", id=str(at)) for at in range(5)],
    "telegram": [Said("Juno", 60 * at, f"wine {at}", id=str(at)) for at in range(6)],
    "csv": [Said("Nils", 60 * at, f"salt {at}", id=str(at)) for at in range(3)],
}
WHATSAPP = "[20.06.19, 15:58:47] Mara: hi\n[21.06.19, 15:58:48] Theo: ho\n"


def written(folder: Path, *formats: str) -> Path:
    for name in formats:
        put(folder, FORMS[name].write(SAID[name]))
    return folder


def read(path: Path) -> ReadCorpus:
    return open_reading(path).reading


@pytest.mark.parametrize("is_packed", [False, True], ids=["folder", "archive"])
def test_chats_of_several_apps(is_packed: bool, tmp_path: Path) -> None:
    folder = written(tmp_path / "chats", "whatsapp", "kakaotalk", "telegram")
    reading = read(Path(make_archive(str(folder), "zip", folder)) if is_packed else folder)
    said = sorted(reading.tables.messages["text"].to_list())
    assert said == sorted(one.text for name in SAID if name != "csv" for one in SAID[name])
    assert len(reading.tables.chats) == 3
    assert reading.ledger.in_messages == len(said)
    assert [note for note in reading.notes if note.startswith("read as")] == [
        "read as telegram, beside whatsapp: result.json",
        "read as kakaotalk, beside whatsapp: KakaoTalk 0.txt",
    ]
    assert not any("not read" in note for note in reading.notes)


def test_a_named_format_stands_alone(tmp_path: Path) -> None:
    folder = written(tmp_path / "chats", "whatsapp", "telegram")
    reading = open_reading(folder, "whatsapp").reading
    assert reading.tables.messages.height == len(SAID["whatsapp"])
    assert "not read, though it could be a chat: result.json (format telegram)" in reading.notes[-1]


def test_what_nobody_asked_for_is_named(tmp_path: Path) -> None:
    """Tables and mails beside a chat may be what somebody sent in it."""
    folder = written(tmp_path / "chats", "whatsapp", "csv")
    (folder / "notes.txt").write_text("milk\neggs\n")
    (folder / "older.zip").write_bytes(b"PK\5\6" + bytes(18))
    for place in range(30):
        (folder / f"IMG-{place}.jpg").write_bytes(b"x")
    reading = read(folder)
    assert reading.tables.messages.height == len(SAID["whatsapp"])
    [note] = [note for note in reading.notes if "not read" in note]
    [table] = [file.name for file in folder.glob("*.csv")]
    named = f"notes.txt (not recognised), older.zip (an archive), {table} (format csv)"
    assert note.startswith(f"not read, though it could be a chat: {named}")
    assert note.endswith("other files here: 30")


@pytest.mark.parametrize("first", ["[20.0", "\x00\x00\x00", "[2O.O6.19, l5:58] Mara: hi"])
def test_a_chat_whose_first_line_is_damaged(first: str, tmp_path: Path) -> None:
    chats = {"Mara": WHATSAPP, "Theo": f"{first}\n{WHATSAPP}"}
    put(tmp_path, {f"{name}/_chat.txt": text.encode() for name, text in chats.items()})
    reading = read(tmp_path)
    assert (len(reading.tables.chats), reading.tables.messages.height) == (2, 4)
    assert [left.where for left in reading.ledger.leftovers] == ["Theo/_chat.txt:1"]


def test_a_chat_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"Mara/_chat.txt": WHATSAPP.encode(), "Theo/_chat.txt": bytes(300)})
    [note] = read(tmp_path).notes[-1:]
    assert "Theo/_chat.txt (not recognised)" in note


def test_other_files_of_a_download_are_not_named(tmp_path: Path) -> None:
    """Settings, lists and pages in folders of their own."""
    said = [Said("Ann", 60 * at, f"tea {at}", id=str(at)) for at in range(4)]
    put(tmp_path, FORMS["messenger"].write(said))
    others = {
        "settings.json": b'{"settings": [{"name": "x"}]}',
        "no-data.txt": b"You have no data in this section",
        "index.html": b"<html>Settings</html>",
    }
    for place in range(40):
        put(tmp_path / "preferences" / f"{place}", others)
    reading = read(tmp_path)
    assert reading.tables.messages.height == 4
    assert reading.notes == ()
