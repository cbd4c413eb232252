"""Files that try to take all time or memory of whoever reads them, in any size.

RAW["deep lists"](400_000)            → b"[[[[..." of that many bytes
TALK["many speakers"](7)              → the eighth message of such a chat
packed({"chat.txt": lines}, path)     → a zip whose parts come out of a generator, at any length
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from written_chats import Said

__all__ = ["LONG", "RAW", "TALK", "archive", "packed", "repeated", "zipped"]

_DAY = 86_400
_LAST = 200_000_000_000  # seconds after the start: the year 8361
_HEAD = b"12/07/2017, 22:35 - Mara: hi\n"


def repeated(unit: bytes, size: int, before: bytes = b"", after: bytes = b"") -> bytes:
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def _raw(
    unit: bytes, before: bytes = b"", after: bytes = b"", *endings: str
) -> tuple[Callable[[int], bytes], tuple[str, ...]]:
    return lambda size: repeated(unit, size, before, after), endings


_PAGE = b'<html><div class="page_wrap"><div class="from_name">'
_BUBBLE = (
    b'<html><div class="page_wrap"><div class="message default" id="m1">'
    b'<div class="from_name">A</div><div class="text">'
)
_APPLE = (
    b'<html><div class="message"><div class="received"><span class="timestamp">May 17, 2022 '
    b'5:29:42 PM</span><span class="sender">A</span><div class="attachment">'
)
_STAMP = b"May 17, 2022  5:29:42 PM"
_KAKAO = "------- 2024년 5월 1일 수요일 -------\n".encode()
_DISCORD = (
    b"<html><div class=preamble></div><div class=chatlog__message-group>"
    b"<div class=chatlog__message data-message-id=1><span class=chatlog__author data-user-id=1>A"
    b"</span><div class=chatlog__content>"
)
_MAIL = b"From a@b Wed May 01 07:30:00 2024\nFrom: A <a@b>\nDate: Wed, 1 May 2024 07:30:00 +0000\n"
_NESTED = b"".join(
    b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(150)
)
_TEAMS = (
    b'{"value":[{"messageType":"message","createdDateTime":"2024-05-01T07:30:00Z","from":{"user":'
    b'{"id":"1","displayName":"A"}},"body":{"contentType":"html","content":"'
)
_CHATLAB = b'{"_type":"header","chatlab":{"version":"1"},"meta":{"platform":"qq"}}\n'
_COLUMNS = b"speaker,text,time\n"
_SHEET = "xlsx"

# What repeats, what stands before and after it, and as which files it is read.
_CONTENTS = {
    "deep lists": _raw(b"[", b"", b"", "json", "jsonl", "txt", "md", "html", "csv", _SHEET),
    "deep objects": _raw(b'{"a":', b"", b"", "json", "jsonl"),
    "deep and closed": (lambda size: b"[" * (size // 2) + b"]" * (size // 2), ("json", "jsonl")),
    "deep messages": _raw(b'{"messages":[', b"", b"", "json"),
    "deep replies": _raw(b'{"title":"x","comments":[{"body":"x","replies":[', b"", b"", "json"),
    "deep elements": _raw(b'{"elements":[', b'[{"ts":"1","type":"message","blocks":[', b"", "json"),
    "empty lists": _raw(b"[],", b"[", b"0]", "json"),
    "empty objects": _raw(b"{},", b"[", b"0]", "json"),
    "small objects": _raw(b'{"":0},', b"[", b"0]", "json"),
    "numbers": _raw(b"1,", b"[", b"0]", "json"),
    "no messages": _raw(b"1,", b'{"messages":[', b"0]}", "json"),
    "empty messages": _raw(b"{},", b'{"messages":[', b"0]}", "json"),
    "many chats": _raw(
        b'{"messages":[0]},', b'{"about":"telegram","chats":{"list":[', b"0]}}", "json"
    ),
    "one digit": _raw(b"9", b'[{"ts":', b"}]", "json"),
    "one string": _raw(b"x", b'"', b'"', "json", "jsonl"),
    "keys": (lambda size: _keys(size), ("json", "jsonl")),
    "quotes": _raw(b'"', b"", b"", "json", "jsonl", "csv", "txt"),
    "backslashes": _raw(b"\\", b'{"a":"', b'"}', "json", "jsonl"),
    "lines of objects": _raw(b"{}\n", b"", b"", "jsonl", "json"),
    "lines of nothing": _raw(b"\n", b"", b"", "jsonl", "csv", "txt", "md", "json"),
    "returns": _raw(b"\r", b"", b"", "jsonl", "csv", "txt", "md"),
    "zeros": _raw(b"\0", b"", b"", "json", "jsonl", "csv", "txt", "md", "html", _SHEET),
    "spaces": _raw(b" ", b"", b"", "json", "csv", "txt", "md", "html"),
    "columns": _raw(b",", b"", b"", "csv"),
    "named columns": _raw(b"text,", b"speaker,", b"\nx,y", "csv"),
    "short rows": _raw(b"a\n", _COLUMNS, b"", "csv"),
    "rows": _raw(b"a,b,1\n", _COLUMNS, b"", "csv"),
    "wide row": _raw(b"a,", _COLUMNS, b"", "csv"),
    "semicolons": _raw(b";", b"", b"", "csv"),
    "tags": _raw(b"<div>", _PAGE, b"", "html"),
    "tags closed": _raw(b"</b>", _BUBBLE + b"<b>" * 150, b"", "html"),
    "comments": _raw(b"<!--", _BUBBLE, b"", "html"),
    "brackets": _raw(b"<", _BUBBLE, b"", "html"),
    "attributes": _raw(b' a="', _BUBBLE + b"<a", b"", "html"),
    "breaks": _raw(b"<br>", _BUBBLE, b"", "html"),
    "links": _raw(b'<a href="http://x">y</a>', _BUBBLE, b"", "html"),
    "entities": _raw(b"9", _BUBBLE + b"&#", b";", "html"),
    "boxes": _raw(b"<div><b>a</b><b>b</b><b>1.1.2021 1:11</b></div>", b"<html><body>", b"", "html"),
    "dates": _raw(b"<b>1.1.2021 1:11</b>", b"<html><body><div>", b"", "html"),
    "items": _raw(b"<li>x", b"<html><body><div><b>a</b><b>", b"", "html"),
    "plain attributes": _raw(b" a=b", b"<html><div", b">", "html"),
    "cards": _raw(b"<div class=chatlog__embed>", _DISCORD, b"", "html"),
    "reactions": _raw(b"<img class=chatlog__reaction alt=x>", _DISCORD, b"", "html"),
    "groups": _raw(b"<p data-message-id=1>x", _DISCORD, b"", "html"),
    "mails": _raw(_MAIL + b"\nx\n\n", b"", b"", "mbox"),
    "bare mails": _raw(b"From a b 1:11 2024\n\n", b"", b"", "mbox"),
    "mail parts": _raw(
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n", _MAIL, b"", "mbox", "eml"
    ),
    "deep mail": _raw(b"xxx\n", _MAIL + _NESTED, b"", "mbox"),
    "mail words": _raw(b"=?a?q?", _MAIL + b"Subject: ", b"\n\nx\n", "mbox"),
    "mail references": _raw(b"<a@b> ", _MAIL + b"References: ", b"\n\nx\n", "mbox"),
    "mail headers": _raw(b"X: y\n", _MAIL, b"\nx\n", "mbox"),
    "mail quotations": _raw(b"> x\n", _MAIL + b"\nx:\n", b"", "mbox"),
    "mail copies": _raw(b"To: x\n", _MAIL + b"\nx\n\n", b"", "mbox"),
    "mail page": _raw(b"<p>x", _MAIL + b"Content-Type: text/html\n\n", b"", "mbox"),
    "quotations": _raw(b"<quote>x", _TEAMS, b'"}}]}', "json"),
    "links in a message": _raw(b"<a href=x>y</a>", _TEAMS, b'"}}]}', "json"),
    "pictures": _raw(b"<img src=x>", _TEAMS, b'"}}]}', "json"),
    "members": _raw(b'{"_type":"member"}\n', _CHATLAB, b"", "jsonl"),
    "placeholders": _raw(
        b"[x", _CHATLAB + b'{"_type":"message","sender":"a","type":1,"content":"', b'"}', "jsonl"
    ),
    "marks": _raw("\u200e".encode(), b"12/07/2017" + "\u200e".encode(), b"", "txt"),
    "marks in lines": _raw(("1.1.1" + "\u200e" * 500 + "\n").encode(), _HEAD, b"", "txt"),
    "spaces in lines": _raw(b"12/07/2017" + b" " * 500 + b"x\n", _HEAD, b"", "txt"),
    "long line": _raw(b"x", _HEAD, b"", "txt", "md", "csv", "jsonl"),
    "bubbles": _raw(b'<div class="message"><div class="received">', _APPLE, b"", "html"),
    "sounds": _raw(b'<audio src="', _APPLE, b"", "html"),
    "edits": _raw(b'<div class="edited"><tr><td>', _APPLE, b"", "html"),
    "times": _raw(_STAMP + b"\n", b"", b"", "txt"),
    "times and names": _raw(b"\n" + _STAMP + b"\nMara\n", b"", b"", "txt"),
    "threads": _raw(b"    " + _STAMP + b"\n    A\n\n", _STAMP + b"\nA\nhi\n", b"", "txt"),
    "stickers": _raw(b"Sticker from : : ", _STAMP + b"\nA\nTapbacks:\n", b"", "txt"),
    "days": _raw(b"2024/05/01(Wed)\n", b"[LINE] x\n", b"", "txt"),
    "days and times": _raw(b"Wed, 05/01/2024\n15:05 a b c d e f\n", b"[LINE] x\n", b"", "txt"),
    "guests": _raw("님이 님을 ".encode() * 40 + b"\n", _KAKAO + b"[A] [3:05 PM] x\n", b"", "txt"),
    "names in brackets": _raw(b"[" * 90 + b"] [3:05 PM] x\n", _KAKAO, b"", "txt"),
    "rows of a table": _raw(b'="01/05/2024"\t15:05:11\t="', b"", b"", "txt", "csv"),
    "database": _raw(b"\0", b"SQLite format 3\0", b"", "db"),
    "headers": _raw(_HEAD, b"", b"", "txt"),
    "invalid text": _raw(b"\xff\xfe\xc3(", _HEAD, b"", "txt", "csv", "md", "json"),
    "wide text": (
        lambda size: "12/07/2017, 22:35 - M: x\n".encode("utf-16") * (size // 50),
        ("txt",),
    ),
}


def _keys(size: int) -> bytes:
    return b"{" + b",".join(b'"k%d":0' % number for number in range(size // 12)) + b"}"


RAW: dict[str, tuple[Callable[[int], bytes], tuple[str, ...]]] = dict(_CONTENTS)

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
