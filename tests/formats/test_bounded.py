"""No small file takes long or much memory, whoever made it and as whatever it is read.

Each reading has a process's time limit (RLIMIT_CPU) and its peak of memory measured. By default
files of a hundred kilobytes are tried, at which everything quadratic already takes far longer than
its limit; `pytest -m slow` tries five megabytes.
"""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from bounded_reads import Case, Cost, costs
from hostile_files import LONG, RAW, TALK, archive, packed, repeated, zipped
from realtalk.formats.limits import VARIABLE
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source
from refusals import refused
from said import Said, put
from text_tables import cases
from work_done import lines_run
from written_chats import FORMS

SMALL, LARGE = 100_000, 5_000_000
SECONDS, MEGABYTES = 20.0, 1_500
ENTRY = 150  # bytes of a zip for one file, beside its content
READ = ("check", "stats", "store")
MOST_OF_A_SHEET = 30_000  # letters of a cell


def held(cases: list[Case], seconds: float) -> list[Cost]:
    """Runs the cases; every one must end in time, with a reading or an error of one line."""
    found = []
    for cost in costs(cases, seconds=seconds):
        assert cost.outcome in ("read", "refused"), cost
        assert cost.seconds <= seconds, cost
        assert cost.megabytes <= MEGABYTES, cost
        assert "\n" not in cost.said
        found.append(cost)
    assert len(found) == len(cases)
    return found


def raw_cases(folder: Path, size: int, then: tuple[str, ...]) -> Iterator[Case]:
    for name, (make, endings) in RAW.items():
        for ending in endings:
            path = folder / f"{name}.{ending}"
            path.write_bytes(make(size))
            for format_name in (None, *FORMATS):
                yield Case(f"{name}.{ending} as {format_name}", str(path), format_name, then)


def written(folder: Path, form: str, kind: str, said: list[Said]) -> Case:
    """The messages in a form; several files of it in a zip."""
    files = FORMS[form].write(said)
    place = folder / form / kind.encode().hex()
    if len(files) > 1:
        files = {"all.zip": zipped(files)}
    path = put(place, files) / next(iter(files))
    return Case(f"{kind!r} in {form}", str(path), FORMS[form].format, READ)


def talk_cases(folder: Path, form: str, size: int) -> Iterator[Case]:
    for kind, make in TALK.items():
        files = FORMS[form].write([make(at) for at in range(200)])
        probe = sum(map(len, files.values())) / 200
        if len(files) > 1:
            probe += len(files) * ENTRY / 200  # the size is that of the zip
        count = int(size / probe)
        if (form == "sheet" and "name" in kind) or "speaker" in kind:
            count = min(count, 2_000)  # a column for each
        yield written(folder, form, kind, [make(at) for at in range(count)])
    for kind, unit in LONG.items():
        text = (unit * size)[: MOST_OF_A_SHEET if form == "sheet" else size]
        said = [Said("Mara", 0, "hi"), Said("Theo", 60, text), Said("Mara", 120, "ok")]
        yield written(folder, form, f"long {kind}", said)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("size", "seconds", "then"), [(SMALL, 6, READ), (LARGE, SECONDS, ())])
def test_any_content_in_every_reader(
    tmp_path: Path, size: int, seconds: float, then: tuple[str, ...]
) -> None:
    held(list(raw_cases(tmp_path, size, then)), seconds)


# The other forms, and what takes long to pack, are tried by `make slow`; of these every fifth.
QUICK = ("messenger", "objects")
STEP = 1 if os.environ.get("REALTALK_TRIES") == "all" else 5


def _by_default(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("form", _by_default(FORMS))
def test_small_chats_of_any_kind(tmp_path: Path, form: str) -> None:
    ended = held(list(talk_cases(tmp_path, form, SMALL // 2))[::STEP], 12)
    plain = next(cost for cost in ended if cost.case.name.startswith("'plain'"))
    assert plain.outcome == "read"  # or nothing was tried at all


def bombs() -> dict[str, Callable[[Path], Path]]:
    """Files of at most some megabytes that come to gigabytes."""
    line = b"x" * (1 << 20)
    talk = [b"12/07/2017, 22:35 - Mara: ", *repeat(line, 3000)]
    objects = [b'{"messages":[', *repeat(b"{}," * 100_000, 100)]
    said = b'{"participants":[],"messages":[{"sender_name":"A","timestamp_ms":1,"content":"'
    small = [said, line, b'"}]}']
    archives: dict[str, dict[str, list[bytes]]] = {
        "a line of three gigabytes": {"_chat.txt": talk},
        "lines": {"_chat.txt": [b"\n" * (1 << 20)] * 300},
        "objects": {"result.json": objects},
        "many files of one megabyte": {f"inbox/a_1/message_{n}.json": small for n in range(800)},
    }
    return {
        **{name: partial(_packed, parts) for name, parts in archives.items()},
        "an archive in an archive": _nested,
        "packed by gzip": lambda folder: _gzipped(folder / "chat.json.gz", line, 3000),
        "packed by gzip in a zip": lambda folder: _packed(
            {"chat.json.gz": [gzip.compress(line * 100)] * 20}, folder
        ),
    }


def _packed(parts: dict[str, list[bytes]], folder: Path) -> Path:
    return packed(parts, folder / "a.zip")


def _nested(folder: Path) -> Path:
    inner = packed({"_chat.txt": repeat(b"x" * (1 << 20), 1500)}, folder / "inner.zip")
    return _packed({"inner.zip": [inner.read_bytes()]}, folder)


def _gzipped(path: Path, piece: bytes, count: int) -> Path:
    with gzip.open(path, "wb") as stream:
        for _ in range(count):
            stream.write(piece)
    return path


@pytest.mark.parametrize("name", _by_default(bombs()))
def test_what_grows_out_of_proportion_is_refused(tmp_path: Path, name: str) -> None:
    path = bombs()[name](tmp_path)
    assert path.stat().st_size < LARGE
    cases = [Case(f"{name} as {each}", str(path), each, READ) for each in (None, *FORMATS)[::STEP]]
    ended = held(cases, SECONDS)
    assert {cost.outcome for cost in ended} == {"refused"}
    assert any("out of proportion" in cost.said for cost in ended)


def test_the_limits_are_raised_by_who_trusts_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = b"12/07/2017, 22:35 - Mara: hi\n13/07/2017, 22:35 - Theo: "
    path = packed({"_chat.txt": [chat, *repeat(b"x" * (1 << 20), 60)]}, tmp_path / "a.zip")
    with refused(f"out of proportion.*{VARIABLE}=10"):
        open_reading(path)
    for useless in ("nonsense", "-1", "0"):
        monkeypatch.setenv(VARIABLE, useless)
        with refused("out of proportion"):
            open_reading(path)
    monkeypatch.setenv(VARIABLE, "10")
    assert open_reading(path).reading.tables.messages.height == 2


def test_a_short_repetitive_chat_is_read_however_well_it_packs(tmp_path: Path) -> None:
    lines = b"".join(b"12/07/2017, 22:%02d - Mara: ok\n" % (at // 3000) for at in range(180_000))
    path = packed({"_chat.txt": [lines]}, tmp_path / "a.zip")
    assert len(lines) > 100 * path.stat().st_size
    assert open_reading(path).reading.tables.messages.height == 180_000


def test_the_same_file_counts_once_however_often_it_is_read(tmp_path: Path) -> None:
    path = packed({"a.txt": [b"x" * (20 << 20)]}, tmp_path / "a.zip")
    [member] = Source.open(path).members
    for _ in range(4):
        assert len(member.read()) == 20 << 20


def test_long_names_do_not_hide_what_was_read(tmp_path: Path) -> None:
    """Names are shortened; files that then are called alike must still count each."""
    files = {f"{n}/{'long' * 100}.txt": [b"x" * (1 << 20)] for n in range(60)}
    members = Source.open(packed(files, tmp_path / "a.zip")).members
    assert len({member.name for member in members}) == 1
    with refused("out of proportion"):
        for member in members:
            member.read()


def run(words: list[str], stdin: int | None = None) -> subprocess.CompletedProcess[str]:
    """The command with at most 20 s of processor time and 4 GB of addresses beyond its own."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (20, 25));"
        "from realtalk.cli.main import main; sys.argv[0] = 'realtalk'; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, stdin=stdin
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such devices here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_devices_are_no_files(device: str) -> None:
    with Path(device).open("rb") as stream:
        for done in (run(["stats", device]), run(["stats", "-"], stdin=stream.fileno())):
            assert done.returncode == 2 and "is a device, not a file" in done.stderr


def test_an_endless_pipe_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0.01")  # five megabytes instead of five hundred
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        done = run(["stats", "-"], stdin=endless.stdout.fileno())
        endless.kill()
    assert done.returncode == 2
    assert "came through the pipe" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_file_is_left_alone_or_said(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("12/07/2017, 22:35 - Mara: hi\n")
    os.mkfifo(folder / "pipe.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "deep" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "zero.txt").symlink_to("/dev/zero")
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    os.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("chats/s.txt")
        assert open_reading(folder).reading.tables.messages.height == 1
        with refused("cannot be opened"):
            Source.open(folder / "s.txt")
    for name in ("loop.txt", "gone.txt", "x\0y", "n" * 5000):
        with refused():
            Source.open(folder / name)


def test_overlapping_files_of_an_archive_count_each(tmp_path: Path) -> None:
    """Every entry of the list points to the same packed bytes."""
    path = packed({"0.txt": [b"x" * (8 << 20)]}, tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        [first] = archive.infolist()
        for number in range(1, 50):
            copy = zipfile.ZipInfo(f"{number}.txt")
            for name in ("compress_type", "compress_size", "file_size", "CRC", "header_offset"):
                setattr(copy, name, getattr(first, name))
            archive.filelist.append(copy)
            archive.NameToInfo[copy.filename] = copy
        archive._didModify = True  # type: ignore[attr-defined]
    with refused():
        for member in Source.open(path).members:
            member.read()


# --- very many tags, rows or files are refused by their count ---


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


def workbook(folder: Path, rows: bytes) -> Path:
    sheet = {"xl/worksheets/sheet1.xml": b"<worksheet>" + rows + b"</worksheet>"}
    return archive(folder / "a.xlsx", WORKBOOK | sheet)


def work_of(path: Path, format_name: str, why: str) -> int:
    """How much work it is to refuse a file."""

    def read() -> None:
        with refused(f"{path.name}: {why}"):
            open_reading(path, format_name)

    return lines_run(read)


@pytest.mark.parametrize("name", PAGES)
def test_tags_inside_tags(name: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    work = []
    for size in (50_000, 500_000):
        path.write_bytes(repeated(b"<div>", size, PAGES[name]))
        work.append(work_of(path, name, "holds more than 200 tags inside each other"))
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
    work = []
    for rows in (60_000, 600_000):
        path = workbook(tmp_path, b"<sheetData>" + b"<row><c/></row>" * rows + b"</sheetData>")
        work.append(work_of(path, "sheet", "has more than 50,000 rows"))
    assert work[1] < 2 * work[0]


@pytest.mark.parametrize("cell", [b'<c r="XFD1048576"/>', b"<x:c r = 'xfd1048576'/>"])
def test_a_cell_far_off(cell: bytes, tmp_path: Path) -> None:
    first = b'<row><c t="str" r="A1"><v>x</v></c></row>'
    path = workbook(tmp_path, b"<sheetData>" + first + b"<row>" + cell + b"</row></sheetData>")
    with refused("a.xlsx: has more than 3,000,000 cells"):
        open_reading(path, "sheet")


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
    ending | said
    txt    | holds empty files and nothing else
    json   | holds empty files and nothing else
    eml    | holds empty files and nothing else
    blank  | unknown-format
""")
def test_empty_and_blank_files(ending: str, said: str, tmp_path: Path, opened: list[str]) -> None:
    content = b"\n" if ending == "blank" else b""
    names = [f"{place}.{ending.replace('blank', 'txt')}" for place in range(3_000)]
    path = archive(tmp_path / "a.zip", dict.fromkeys(names, content))
    opened.clear()
    with refused(said):
        open_reading(path)
    assert len(set(opened)) < (300 if content else 1)  # some tell what a folder is


@pytest.mark.parametrize("ending", ["jpg", "opus", "webp"])
def test_a_chat_among_very_many_media_files(ending: str, tmp_path: Path, opened: list[str]) -> None:
    chat = b"[20.06.19, 15:58:47] Mara: hi\n[21.06.19, 15:58:48] Theo: ho\n"
    media = {f"0000{place}-PHOTO.{ending}": b"x" for place in range(3_000)}
    path = archive(tmp_path / "a.zip", {"_chat.txt": chat} | media)
    opened.clear()
    assert open_reading(path).reading.tables.messages.height == 2
    assert len(set(opened)) < 300
