"""The text in Apple's typedstream, in which newer versions of Messages keep what was written.

    b"\\x04\\x0bstreamtyped ... NSString\\x01\\x94\\x84\\x01+\\x02hi\\x86 ..." → "hi"

A string's class is followed by `+`, its length and its bytes. A length takes one byte, or after
0x81 two and after 0x82 four, the lowest first. Of all that the stream holds only the first string
is wanted: what comes after it is how the text looks.
"""

from __future__ import annotations

_CLASS = b"NSString"
_PLUS = b"\x84\x01+"
_NEAR = 40  # bytes between the class and its string
_WIDE = {0x81: 2, 0x82: 4}


def typed_text(blob: bytes) -> str | None:
    """The text; None where the bytes are no such stream, or end too early."""
    if not blob.startswith(b"\x04\x0bstreamtyped"):
        return None
    named = blob.find(_CLASS)
    start = blob.find(_PLUS, named, named + _NEAR) if named >= 0 else -1
    if start < 0:
        return None
    start += len(_PLUS)
    first = blob[start : start + 1]
    if not first:
        return None
    width = _WIDE.get(first[0], 0)
    length = int.from_bytes(blob[start + 1 : start + 1 + width], "little") if width else first[0]
    begin = start + 1 + width
    text = blob[begin : begin + length]
    return text.decode("utf-8", "replace") if len(text) == length else None
