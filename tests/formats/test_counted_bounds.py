"""What holds nothing but very many tags, rows or files is refused by their count, at once."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile_files import archive, packed, repeated
from realtalk.formats.opening import open_reading
from refusals import refused
from text_tables import cases
from work_done import lines_run

PAGES = {
    "telegram": b'<html><div class="page_wrap"><div class="message default" id="m1">'
    b'<div class="from_name">A</div><div class="text">',
    "discord": b"<html><div class=preamble></div><div class=chatlog__message-group>"
    b"<div class=chatlog__message data-message-id=1><span class=chatlog__author data-user-id=1>A"
    b"</span><div class=chatlog__content>",
    "imessage": b'<html><div class="message"><div class="received"><span class="timestamp">'
    b'May 17, 2022 5:29:42 PM</span><span class="sender">A</span><div class="attachment">',
}
WORKBOOK = {
    "xl/workbook.xml": b'<workbook xmlns:r="x"><sheet name="a" sheetId="1" r:id="r1"/></workbook>',
    "xl/_rels/workbook.xml.rels": b'<Relationships><Relationship Id="r1" Type="x/worksheet" '
    b'Target="worksheets/sheet1.xml"/></Relationships>',
}


def refusal(path: Path, format_name: str | None = None) -> tuple[str, int]:
    """What is said, and how much work it took."""

    def read() -> None:
        with refused() as caught:
            open_reading(path, format_name)
        said.append(str(caught.value))

    said: list[str] = []
    work = lines_run(read)
    return said[0], work


@pytest.mark.parametrize("name", PAGES)
def test_tags_inside_tags(name: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    work = []
    for size in (50_000, 500_000):
        path.write_bytes(repeated(b"<div>", size, PAGES[name]))
        said, lines = refusal(path, name)
        assert "page.html: holds more than 200 tags inside each other" in said
        work.append(lines)
    assert work[1] < 2 * work[0]


def test_a_page_that_leaves_tags_open_is_read(tmp_path: Path) -> None:
    bubble = (
        b'<div class="message default" id="message%d"><div class="body"><div class="date details" '
        b'title="01.05.2024 09:30:%02d">x</div><div class="from_name">Ann</div>'
        b'<div class="text">it is %d<tt></div></div></div>'
    )
    said = b"".join(bubble % (place, place, place) for place in range(40))
    path = tmp_path / "messages.html"
    path.write_bytes(b'<html><div class="page_wrap">' + said + b"</div></html>")
    assert open_reading(path).reading.tables.messages.height == 40


def test_rows_of_nothing(tmp_path: Path) -> None:
    def sheet(rows: int) -> Iterator[bytes]:
        yield b"<worksheet><sheetData>"
        yield b"<row><c/></row>" * rows
        yield b"</sheetData></worksheet>"

    work = []
    for rows in (60_000, 600_000):
        files = {name: [data] for name, data in WORKBOOK.items()}
        path = packed(files | {"xl/worksheets/sheet1.xml": sheet(rows)}, tmp_path / "a.xlsx")
        said, lines = refusal(path, "sheet")
        assert "a.xlsx: has more than 50,000 rows" in said
        work.append(lines)
    assert work[1] < 2 * work[0]


@pytest.mark.parametrize("cell", [b'<c r="XFD1048576"/>', b"<x:c r = 'xfd1048576'/>"])
def test_a_cell_far_off(cell: bytes, tmp_path: Path) -> None:
    files = {name: [data] for name, data in WORKBOOK.items()}
    rows = (
        b'<sheetData><row><c t="str" r="A1"><v>x</v></c></row><row>' + cell + b"</row></sheetData>"
    )
    sheet = {"xl/worksheets/sheet1.xml": [b"<worksheet>" + rows + b"</worksheet>"]}
    said, _ = refusal(packed(files | sheet, tmp_path / "a.xlsx"), "sheet")
    assert "a.xlsx: has more than 3,000,000 cells" in said


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are looked into."""
    names: list[str] = []
    real = zipfile.ZipFile.open

    def noting(self: zipfile.ZipFile, name: Any, *given: Any, **named: Any) -> Any:
        names.append(str(name))
        return real(self, name, *given, **named)

    monkeypatch.setattr(zipfile.ZipFile, "open", noting)
    return names


@cases("""
    ending
    txt
    json
    html
    csv
    eml
""")
def test_empty_files(ending: str, tmp_path: Path, opened: list[str]) -> None:
    path = archive(tmp_path / "a.zip", {f"{place}.{ending}": b"" for place in range(3_000)})
    opened.clear()
    with refused("holds empty files and nothing else"):
        open_reading(path)
    assert not opened


def test_blank_files_are_no_chats(tmp_path: Path, opened: list[str]) -> None:
    path = archive(tmp_path / "a.zip", {f"{place}.txt": b"\n" for place in range(3_000)})
    opened.clear()
    with refused("unknown-format"):
        open_reading(path)
    assert len(set(opened)) < 300  # those that tell what a folder is


@pytest.mark.parametrize("ending", ["jpg", "opus", "webp"])
def test_a_chat_among_very_many_media_files(ending: str, tmp_path: Path, opened: list[str]) -> None:
    chat = b"[20.06.19, 15:58:47] Mara: hi\n[21.06.19, 15:58:48] Theo: ho\n"
    media = {f"0000{place}-PHOTO.{ending}": b"x" for place in range(3_000)}
    path = archive(tmp_path / "a.zip", {"_chat.txt": chat} | media)
    opened.clear()
    assert open_reading(path).reading.tables.messages.height == 2
    assert len(set(opened)) < 300
