"""A path on disk, or what comes through a pipe, as a list of readable members, safely.

Turns a file, a folder, a .zip or a .gz into members that a reader can look at
without caring which it was:

    Source.open("export.zip").members → (Member("_chat.txt", 3537), Member("photo.jpg", 146284))
    Source.open("-").members          → (Member("standard input", 3537),)

A folder or archive that holds archives and no text beside them is read as what is in
those. Nothing is ever extracted to disk, so a hostile archive cannot write anywhere;
sizes are bounded by what is really read, not by what the archive claims (`limits`).
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import re
import stat
import sys
import weakref
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import IO, NamedTuple, cast

import orjson

from realtalk.errors import RealtalkError
from realtalk.formats.limits import LONGEST_NAME, MOST_PIPED_BYTES, Allowance, scale
from realtalk.grouping import grouped

# What a file holds by its first bytes, for files whose name does not say it.
#
#     ending(b'{"name": "Ann", "messages": [')         → ".json"
#     ending(b'{"speaker": "Ann"}\n{"speaker": ...')   → ".jsonl"
#     ending(b"AuthorID,Author,Date,Content")          → ".csv"
#     ending(b"12/07/2017, 22:35 - Mara: hi")          → ".txt"
#     ending(b"SQLite format 3\0")                    → ".db"
#     ending(b"\x89PNG")                               → ""
#
# People rename exports, mail programs take the ending off, and a pipe has no name at all.

_DATABASE = b"SQLite format 3\0"
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{])")
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
# A line of column names: words, and nothing that a date or a sentence is made of.
_COLUMNS = re.compile(r'"?[^\W\d][\w \-]*"?(?:([,;\t])"?[^\W\d][\w \-]*"?)+\s*')


def utf16(data: bytes) -> str:
    """The byte order of UTF-16 text, also of one without a mark ("" for other text)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:512]
    if len(head) < 8:
        return ""
    # Dates, times and signs stand in one byte of the two; other text has no zero bytes.
    for encoding, low, high in (
        ("utf-16-le", head[0::2], head[1::2]),
        ("utf-16-be", head[1::2], head[0::2]),
    ):
        if high.count(0) * 3 > len(high) and not low.count(0):
            return encoding
    return ""


def ending(head: bytes) -> str:
    """The ending that a file with this head deserves; "" where it is no text."""
    if head.startswith(_DATABASE):
        return ".db"
    wide = utf16(head)
    if not wide and b"\0" in head:
        return ""
    text = head.decode(wide or "utf-8-sig", "replace")
    if _JSON.match(text):
        return ".jsonl" if _is_lines(text) else ".json"
    if _PAGE.match(text):
        return ".html"
    first = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    columns = _COLUMNS.fullmatch(first)
    if columns is not None and _goes_on(text.lstrip("\r\n"), columns[1]):
        return ".tsv" if columns[1] == "\t" else ".csv"
    return ".txt" if text.strip() else ""


def _is_lines(text: str) -> bool:
    """Whether the first line is an object of its own and another one follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False


def _goes_on(text: str, delimiter: str) -> bool:
    """Whether what follows the names of columns is a row; a chat may be titled "Ann,Bo"."""
    rows = [line for line in text.split("\n", 20)[1:20] if line.strip()]
    return not rows or delimiter in rows[0] or '"' in rows[0]


# Zip archives that many files are read from: each is opened, listed and unpacked once.
#
#     archives = Archives()
#     outer = Member("export.zip", 2_900_000, ...)
#     archives.list_files(outer)        → {"chats/inner.zip": ZipInfo, ...}
#     archives.open(outer, info)    → a stream of one file; several may be read side by side
#
# To list an archive takes as long as it has files, and an archive inside an archive must be
# unpacked to be listed: done anew for every file, a thousand files cost a million steps. So the
# last few stay open. What is unpacked stays in memory, up to a bound; an archive beyond it is read
# through its own archive, slowly, and nothing is ever written to disk.

MAX_OPEN = 16  # archives; each may be an open file, of which a process has few
MAX_KEPT_BYTES = 256 << 20  # of unpacked archives, all of them together

UNPACKING_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    KeyError,
    ValueError,
)
_NAMES_ARE_UTF8 = 0x800
_ENCRYPTED = 0x1


class Archives:
    """The archives of one source that were read last."""

    def __init__(self) -> None:
        self._lock = RLock()  # an archive in an archive asks for its own
        # By `id`: a member knows its opener, which knows this, which would never be let go.
        self._open: OrderedDict[int, tuple[zipfile.ZipFile, int]] = OrderedDict()
        weakref.finalize(self, _close, self._open)

    def list_files(self, place: Member) -> dict[str, zipfile.ZipInfo]:
        """The files of an archive by name, folders left out."""
        with self._lock:
            try:
                infos = self._archive(place).infolist()
            except UNPACKING_ERRORS as error:
                raise RealtalkError("not a readable zip archive", where=place.where) from error
        members = {_name(info): info for info in infos if not info.is_dir()}
        if any(info.flag_bits & _ENCRYPTED for info in members.values()):
            raise RealtalkError(
                "the archive is encrypted", where=place.where, fix="unpack it first, then read that"
            )
        return members

    def open(self, place: Member, info: zipfile.ZipInfo) -> IO[bytes]:
        """A stream of its own: it lives on when its archive is put away."""
        with self._lock:
            try:
                return self._archive(place).open(info)
            except UNPACKING_ERRORS as error:
                where = f"{place.where}/{_name(info)}"
                raise RealtalkError("cannot be unpacked", where=where) from error

    def _archive(self, place: Member) -> zipfile.ZipFile:
        if id(place) in self._open:
            self._open.move_to_end(id(place))
            return self._open[id(place)][0]
        stream, in_memory = _unpacked_archive(place)
        archive = zipfile.ZipFile(stream)
        self._open[id(place)] = archive, in_memory
        while len(self._open) > 1 and (
            len(self._open) > MAX_OPEN
            or sum(size for _, size in self._open.values()) > MAX_KEPT_BYTES
        ):
            _, (oldest, _) = self._open.popitem(last=False)
            oldest.close()  # zipfile keeps the file open while a stream of it lives
        return archive


def _close(opened: OrderedDict[int, tuple[zipfile.ZipFile, int]]) -> None:
    while opened:
        opened.popitem()[1][0].close()


def _unpacked_archive(place: Member) -> tuple[Path | IO[bytes], int]:
    """What to read an archive from, and how many bytes of it are kept in memory."""
    if place.path is not None:
        return place.path, 0
    measure, buffer = place.bound.measure(place.opener), io.BytesIO()
    with place.opener() as stream:
        while buffer.tell() <= MAX_KEPT_BYTES and (chunk := stream.read(1 << 20)):
            buffer.write(chunk)
            measure(chunk)
    if (size := buffer.tell()) <= MAX_KEPT_BYTES:
        return buffer, size
    return place.opener(), 0


def _name(info: zipfile.ZipInfo) -> str:
    """A file's name; many programs write UTF-8 and do not say so."""
    if info.flag_bits & _NAMES_ARE_UTF8 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


STANDARD_INPUT = "-"

MAX_MEMBER_BYTES = 4 << 30  # one text: a million messages is about 0.1 GB
MAX_FILES = 200_000
_HEAD = 1 << 16
_BUFFER = 1 << 17
_LOOKED_INTO = 256  # files, before a folder is called foreign
_TEXT_SUFFIXES = tuple(".txt .json .jsonl .ndjson .csv .tsv .xlsx .html .md".split())  # noqa: SIM905
_GZIP = b"\x1f\x8b"
EXPORT_AGAIN = "export, download or copy it again"


class _BoundedStream(io.RawIOBase):
    """A stream that refuses to yield more than `limit` bytes and reports decoding trouble."""

    def __init__(self, member: Member, raw: IO[bytes], packed: bool) -> None:
        self._opened = raw  # unpacking a .gz does not close what it unpacks
        self._raw = cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb")) if packed else raw
        self._left = scale(MAX_MEMBER_BYTES)
        self._where = member.where
        # The opener tells it from others, also where two names are equal.
        self._measure = member.bound.measure(member.opener)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._raw.read(len(view))
        except UNPACKING_ERRORS as error:
            raise RealtalkError(
                f"cannot be unpacked ({type(error).__name__})",
                where=self._where,
                fix="the archive looks damaged or uses an unsupported method; export it again",
            ) from error
        self._left -= len(data)
        if self._left < 0:
            raise RealtalkError("is larger than the reading limit", where=self._where)
        self._measure(data)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
            self._opened.close()
        super().close()


@dataclass(frozen=True)
class Member:
    """One file of a source: its name inside it, its size, and how to open it."""

    name: str
    size: int
    opener: Callable[[], IO[bytes]] = field(repr=False, compare=False)
    where: str = ""
    path: Path | None = None  # where it lies plainly on disk, for readers that can map it
    ending: str = ""  # from its content, where its name has none or a wrong one
    allowance: Allowance | None = field(default=None, repr=False, compare=False)  # of an archive
    on_read: Callable[[str], object] = field(default=len, repr=False, compare=False)

    @property
    def stem(self) -> str:
        """The file name without folders and known endings: the default chat id."""
        stem = self.name.rsplit("/", 1)[-1].removesuffix(".gz")
        return stem.rsplit(".", 1)[0] if "." in stem[1:] else stem

    @property
    def folder(self) -> str:
        """The folder that holds it, "" at the top."""
        return self.name.rpartition("/")[0]

    @property
    def suffix(self) -> str:
        if self.ending:
            return self.ending
        name = self.name.lower().removesuffix(".gz")
        dot = name.rfind(".")
        return name[dot:] if dot > name.rfind("/") + 1 else ""

    @property
    def bound(self) -> Allowance:
        """What it may unpack to: beside others of its archive, or alone."""
        return self.allowance or Allowance(self.size, self.where)

    def error(self, what: str, fix: str | None = None) -> RealtalkError:
        """What is wrong with it."""
        return RealtalkError(what, where=self.where, fix=fix)

    def open(self) -> IO[bytes]:
        """A fresh stream from the start; .gz is unpacked on the way."""
        self.on_read(self.name)
        return self._stream()

    def _stream(self, *, as_it_lies: bool = False) -> io.BufferedReader:
        packed = self.name.lower().endswith(".gz") and not as_it_lies
        return io.BufferedReader(_BoundedStream(self, self.opener(), packed), _BUFFER)

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()

    def head(self, size: int = _HEAD) -> bytes:
        """The first bytes, for telling formats apart."""
        with self._stream() as stream:
            return stream.read(size)

    def sha256(self) -> str:
        """Of the bytes as they lie (packed, for a .gz)."""
        with self._stream(as_it_lies=True) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class Source:
    """Where a corpus comes from; `members` are sorted by name."""

    path: Path
    members: tuple[Member, ...]

    @staticmethod
    def open(path: Path | str) -> Source:
        if str(path) == STANDARD_INPUT:
            return _read_pipe(sys.stdin.buffer, "standard input")
        if not str(path):
            raise RealtalkError("the path is empty", fix="name a file, a folder or a zip")
        path = Path(path)
        try:
            if path.is_dir():
                return Source(path, _folder(path))
            if not path.exists():
                from realtalk.files.download import DATASETS

                # A published corpus is named by its place.
                get = f'name it as "$(realtalk data get {path})"'
                raise RealtalkError(
                    "no such file or folder",
                    where=str(path),
                    fix=get if str(path) in DATASETS else "check the path",
                    code="missing-file",
                )
            if not path.is_file():
                with path.open("rb") as stream:
                    return _read_pipe(stream, path.name)
            if path.stat().st_size == 0:
                raise RealtalkError("the file is empty", where=str(path), fix=EXPORT_AGAIN)
            if zipfile.is_zipfile(path) and path.suffix.lower() != ".xlsx":
                return Source(path, _zip(_file(path, path.name), Archives()))
            return Source(path, (_with_ending(_file(path, path.name)),))
        except PermissionError as error:
            raise RealtalkError("permission denied", where=str(path)) from error
        except (OSError, ValueError) as error:  # a socket; a name with a NUL, or too long
            reason = getattr(error, "strerror", None) or "no such name is possible"
            raise RealtalkError(f"cannot be opened ({reason})", where=str(path)) from error

    @property
    def name(self) -> str:
        """A short name for the corpus made from it."""
        if self.path.is_dir():
            return self.path.resolve().name
        name = self.path.name
        for suffix in (".gz", ".zip", ".db", *_TEXT_SUFFIXES):
            if name.lower().endswith(suffix):
                name = name[: -len(suffix)]
        return name

    def error(self, what: str, fix: str | None = None) -> RealtalkError:
        """What is wrong with it."""
        return RealtalkError(what, where=str(self.path), fix=fix)

    def noting(self, names: set[str]) -> Source:
        """The same source, which adds to a set the names of members whose content is taken."""
        return Source(
            self.path, tuple(replace(member, on_read=names.add) for member in self.members)
        )

    def having(self, *suffixes: str) -> tuple[Member, ...]:
        """Members with one of these endings (".json"); .gz copies count as what they hold.

        Files without a single byte are none: an archive may hold any number of them.
        """
        places = (place for suffix in suffixes for place in self._by_suffix.get(suffix, ()))
        return tuple(self.members[place] for place in sorted(places))

    @cached_property
    def _by_suffix(self) -> dict[str, list[int]]:
        """Places of the members by their ending: every format asks for some."""
        return grouped((m.suffix, place) for place, m in enumerate(self.members) if m.size)


def matching(
    source: Source,
    suffixes: tuple[str, ...],
    check: Callable[[Member], bool],
    limit: int = _LOOKED_INTO,
    name: re.Pattern[str] | None = None,
) -> Iterator[Member]:
    """Members that pass a check of their head; trouble with one means that it does not.

    `name` narrows by name before the limit counts: an export may hold thousands of other files.
    """
    members = [
        member for member in source.having(*suffixes) if name is None or name.search(member.name)
    ]
    for member in members[: limit or None]:
        with suppress(RealtalkError, OSError, ValueError):
            if check(member):
                yield member


class FormatFiles(NamedTuple):
    """The files of a format: their endings, a check of their heads, and the error without any."""

    suffixes: tuple[str, ...]
    check: Callable[[Member], bool]
    missing: str = ""
    fix: str | None = None
    name: re.Pattern[str] | None = None  # how they are called, where there are several files
    most: int = _LOOKED_INTO  # files that are looked into, before a source is called foreign

    def find(self, source: Source, limit: int = 0) -> Iterator[Member]:
        """Those that pass the check, of all files or of so many."""
        name = self.name if len(source.members) > 1 else None
        return matching(source, self.suffixes, self.check, limit, name)

    def sniff(self, source: Source) -> bool:
        """Whether a source holds one."""
        return any(self.find(source, self.most))

    def members(self, source: Source) -> tuple[Member, ...]:
        """Every one; a file that stands alone is taken at the user's word."""
        members = tuple(self.find(source))
        members = members or (source.having(*self.suffixes) if len(source.members) == 1 else ())
        if self.missing and not members:
            raise source.error(self.missing, self.fix)
        return members


def _file(path: Path, name: str) -> Member:
    return Member(_short(name), path.stat().st_size, lambda: path.open("rb"), str(path), path)


def _short(name: str) -> str:
    """A name that a million messages can carry along; its end says what it is."""
    return name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return "__MACOSX" in parts or any(p.startswith(".") and p.strip(".") for p in parts)


def _bounded_count(names: Iterable[str], where: str) -> list[str]:
    listing = sorted(islice(names, MAX_FILES + 1))
    if len(listing) > MAX_FILES:
        raise RealtalkError(f"holds more than {MAX_FILES:,} files", where=where)
    return listing


def _with_ending(member: Member) -> Member:
    """A file that stands alone, with the ending that its content suggests."""
    # Text is what programs call anything; JSON in it is sure, and read as such.
    if member.suffix in _TEXT_SUFFIXES and member.suffix != ".txt":
        return member
    real_ending = ending(member.head())
    return replace(member, ending=real_ending) if real_ending not in ("", member.suffix) else member


def _read_pipe(stream: IO[bytes], name: str) -> Source:
    """What comes through a pipe: it can be read once only, so it is kept."""
    most = scale(MOST_PIPED_BYTES)
    if _is_device(stream):
        raise RealtalkError("is a device, not a file", where=name, fix="name a file or a folder")
    buffer = io.BytesIO()
    while chunk := stream.read(1 << 20):
        if buffer.tell() + len(chunk) > most:
            raise RealtalkError(
                f"more than {most / 1e6:,.0f} MB came through the pipe",
                where=name,
                fix="save it as a file and read that: files are not kept in memory",
            )
        buffer.write(chunk)
    data = buffer.getvalue()
    if not data:
        raise RealtalkError("nothing came through the pipe", where=name)
    packed = ".gz" if data.startswith(_GZIP) else ""
    member = Member(f"{name}{packed}", len(data), lambda: io.BytesIO(data), name)
    is_zip = zipfile.is_zipfile(io.BytesIO(data))
    return Source(Path(name), _zip(member, Archives()) if is_zip else (_with_ending(member),))


def _is_device(stream: IO[bytes]) -> bool:
    """Whether it is a disk or an endless source such as /dev/zero; terminals and /dev/null end."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return False  # what stands for a stream in a program
    if stat.S_ISCHR(status.st_mode):
        null = Path(os.devnull).stat()
        return not stream.isatty() and status.st_rdev != null.st_rdev
    return stat.S_ISBLK(status.st_mode)


def _folder(path: Path) -> tuple[Member, ...]:
    names = (
        str(file.relative_to(path).as_posix())
        for file in path.rglob("*")
        if file.is_file() and not _is_hidden(file.relative_to(path).as_posix())
    )
    members = tuple(_file(path / name, name) for name in _bounded_count(names, str(path)))
    if not members:
        raise RealtalkError("the folder holds no files", where=str(path), fix="check the path")
    return _unpack(members, Archives())


def _unpack(members: tuple[Member, ...], archives: Archives) -> tuple[Member, ...]:
    """Archives among the members opened, where there is no text beside them.

    Beside a chat an archive is something that was sent in it, and none of our business.
    """
    packed = [member for member in members if member.suffix == ".zip"]
    if not packed or any(member.suffix in _TEXT_SUFFIXES for member in members):
        return members
    opened = [member for member in members if member.suffix != ".zip"]
    for member in packed:
        inside = member.name[: -len(".zip")]
        for inner in _zip(member, archives, nested=True):
            opened.append(replace(inner, name=_short(f"{inside}/{inner.name}")))
    _bounded_count((member.name for member in opened), members[0].where)
    return tuple(sorted(opened, key=lambda member: member.name))


def _zip(place: Member, archives: Archives, *, nested: bool = False) -> tuple[Member, ...]:
    place = replace(place, allowance=place.bound)  # for all that is in it
    listed = archives.list_files(place)
    infos = {name: info for name, info in listed.items() if not _is_hidden(name)}
    if not infos:
        raise RealtalkError("the archive holds no files", where=place.where, fix=EXPORT_AGAIN)
    members = tuple(
        Member(
            _short(name),
            infos[name].file_size,
            partial(archives.open, place, infos[name]),
            f"{place.where}/{_short(name)}",
            allowance=place.allowance,
        )
        for name in _bounded_count(infos, place.where)
    )
    return members if nested else _unpack(members, archives)
