"""Files that try to take all time or memory of whoever reads them, in any size.

RAW["deep lists"](400_000)            → b"[[[[..." of that many bytes
TALK["many speakers"](7)              → the eighth message of such a chat
packed({"chat.txt": lines}, path)     → a zip whose parts come out of a generator, at any length
"""

from __future__ import annotations

import io
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from written_chats import Said

_DAY = 86_400
_LAST = 200_000_000_000  # seconds after the start: the year 8361


def repeated(unit: bytes, size: int, before: bytes = b"", after: bytes = b"") -> bytes:
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


Contents = tuple[Callable[[int], bytes], Sequence[str]]  # of a size, and the endings of its file
_TABLE = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text("utf-8"))
_HEADS = {name: head.encode() for name, head in _TABLE["heads"].items()}


def _raw(
    endings: str, unit: bytes | str, head: str = "", before: bytes | str = b"", after: str = ""
) -> Contents:
    repeats, begins = (part.encode() if isinstance(part, str) else part for part in (unit, before))
    start = _HEADS.get(head, b"") + begins
    return lambda size: repeated(repeats, size, start, after.encode()), endings.split()


def _keys(size: int) -> bytes:
    return b"{" + b",".join(b'"k%d":0' % number for number in range(size // 12)) + b"}"


def _wide(size: int) -> bytes:
    return "12/07/2017, 22:35 - M: x\n".encode("utf-16") * (size // 50)


_NESTED = b"".join(
    b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(150)
)
RAW: dict[str, Contents] = {
    **{name: _raw(**entry) for name, entry in _TABLE["contents"].items()},
    "deep and closed": (lambda size: b"[" * (size // 2) + b"]" * (size // 2), ("json", "jsonl")),
    "keys": (_keys, ("json", "jsonl")),
    "tags closed": _raw("html", "</b>", "bubble", "<b>" * 150),
    "deep mail": _raw("mbox", "xxx\n", "mail", _NESTED),
    "marks in lines": _raw("txt", "1.1.1" + "\u200e" * 500 + "\n", "head"),
    "spaces in lines": _raw("txt", "12/07/2017" + " " * 500 + "x\n", "head"),
    "guests": _raw("txt", "님이 님을 " * 40 + "\n", "kakao", "[A] [3:05 PM] x\n"),
    "names in brackets": _raw("txt", "[" * 90 + "] [3:05 PM] x\n", "kakao"),
    "invalid text": _raw("txt csv md json", b"\xff\xfe\xc3(", "head"),
    "wide text": (_wide, ("txt",)),
}

# One message after another; `write` of any form makes files of them.
TALK: dict[str, Callable[[int], Said]] = {
    "plain": lambda i: Said(f"p{i % 2}", i * 60, f"hello there {i}"),
    "many speakers": lambda i: Said(f"Ann{i} B", i * 60, "I'm Kate, and so on."),
    "many sessions": lambda i: Said(f"p{i % 2}", min(i * _DAY, _LAST), "x"),
    "many chats": lambda i: Said(f"p{i % 2}", i * 60, "x", chat=f"chat {i}"),
    "one id": lambda i: Said(f"p{i % 2}", i * 60, "x", id="D1:1"),
    "one moment": lambda i: Said(f"p{i % 2}", 0, "x"),
    "backwards": lambda i: Said(f"p{i % 2}", 10**9 - i * 60, "x"),
    "answers to itself": lambda i: Said(f"p{i % 2}", i * 60, "x", reply=i, id=f"i{i}"),
    "names in texts": lambda i: Said(f"Ann Be{i} C", i * 60, f"hey Be{i}, my name is Zo{i}e"),
    "own names": lambda i: Said(f"Ann B{i}", i * 60, f"Ann B{i} did w{i} some thing here."),
    "nicknames": lambda i: Said(f"Ann B{i}", i * 60, f"Ann B{i} set the nickname for Ann to C{i}."),
    "polls": lambda i: Said(f"p{i}", i * 60, f"p{i} voted for {'a in the poll: ' * 20}{i}."),
}

# One message that is as long as the file, of these.
LONG = {
    **{sign: sign for sign in '[<(@"\\,:+.>*_~`1aé\u200e\u0301\t\n '},
    **{sign: sign for sign in ("a ", "a.", "<@", "<a:", "()", "[](media/", "I'm Kate. ")},
    **{sign: sign for sign in ("\n> x", "\n(- a", "http://", "www.", "x@a.", "Aa", "D1:1-D1:999,")},
    "spaces and D": " " * 50 + "D",
}


def packed(parts: Mapping[str, Iterable[bytes]], path: Path) -> Path:
    """A zip of parts that need not fit into memory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, pieces in parts.items():
            with archive.open(name, "w", force_zip64=True) as stream:
                for piece in pieces:
                    stream.write(piece)
    return path


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of small files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def archive(path: Path, files: Mapping[str, bytes]) -> Path:
    """The same in a file."""
    path.write_bytes(zipped(files))
    return path
