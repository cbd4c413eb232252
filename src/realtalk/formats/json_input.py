"""JSON files of unknown origin into Python values, or one clear error.

    load(member)            → the parsed value
    items(member)           → the values of an outermost list, one at a time
    json_lines(member)      → (1, value), (2, BLANK), (3, BROKEN): every line and what it holds
    head_keys(member)       → {"name", "messages", "type"}: keys seen in the first 64 KB

Sniffing looks at key names in the head only, so a 1 GB file is recognised in a millisecond.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import ijson
import orjson

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.limits import DEEPEST
from realtalk.formats.source import EXPORT_AGAIN, Member, utf16
from realtalk.notebook import counted

Fields = dict[str, Any]  # a JSON object
Events = Iterator[tuple[str, Any]]  # of a parser
Zone = ZoneInfo | None  # the clock that was asked for
_UTC_ZONE = ZoneInfo("UTC")

_BOM = b"\xef\xbb\xbf"
# In place of the value of a line that has none, or of one that is nested too deeply.
BLANK, BROKEN, TOO_DEEP = object(), object(), object()
_NEW: dict[str, Callable[[], Any]] = {"start_map": dict, "start_array": list}
_ENDS = frozenset(("end_map", "end_array"))
NOT_TEXT = "its text is not text but another value"
# Many formats ask for the keys of one head after the other.
_find_keys = lru_cache(maxsize=8)(re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:').findall)
_MOST_NAMES, _LONGEST_NAME = 20, 30  # of fields or columns
# One word, or words that each begin with a capital: "sender_name", "Sender Name", not "see you".
_FIELD_NAME = re.compile(r"[\w.:#/-]+|column \d+|[A-Z0-9][\w.:]*(?: [A-Z0-9]\w*){1,2}")


def load(member: Member) -> Any:
    """The whole file, parsed. Byte-order marks are taken off; NaN and depth bombs are refused."""
    data = member.read()
    if utf16(data):
        data = decode(data).encode("utf-8", "replace")
    data = data.removeprefix(_BOM)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(error.doc.rstrip()):
            raise member.error(
                f"the JSON ends in the middle ({place})", f"the file was cut off: {EXPORT_AGAIN}"
            ) from error
        raise member.error(f"not valid JSON ({place})", EXPORT_AGAIN) from error


def load_list(member: Member) -> list[Any]:
    """The messages of a file that is nothing but a list of them."""
    value = load(member)
    if not isinstance(value, list):
        raise member.error("not a list of messages")
    return value


def load_export(member: Member) -> Fields:
    """The object of a file that holds its `messages` in a list."""
    export = mapping(load(member))
    if not isinstance(export.get("messages"), list):
        raise member.error("no list of 'messages'")
    return export


def load_beside(member: Member) -> Fields:
    """The object of a file beside messages, which can be read without it."""
    try:
        return mapping(load(member))
    except RealtalkError:
        return {}


@contextmanager
def json_events(member: Member, *, several: bool = False) -> Iterator[Events]:
    """What a parser meets in a file that may be larger than the memory, `several` values or one."""
    with member.open() as stream:
        if stream.peek(3)[:3] == _BOM:  # type: ignore[attr-defined]
            stream.read(3)
        try:
            yield ijson.basic_parse(
                stream, use_float=True, buf_size=1 << 20, multiple_values=several
            )
        # ijson's own message quotes the text around the fault.
        except (ijson.JSONError, ValueError, OverflowError) as error:
            raise member.error("not valid JSON") from error


def items(member: Member) -> Iterator[Any]:
    """The values of a list that may be larger than the memory."""
    with json_events(member) as events:
        if next(events, ("", None))[0] == "start_array":
            for value in list_values(events):
                if value is TOO_DEEP:
                    raise member.error("holds JSON nested too deeply")
                yield value
            for _ in events:  # whatever stands behind the list is a fault
                pass


def list_values(events: Events, deepest: int = DEEPEST) -> Iterator[Any]:
    """The values of a list that has begun, to its end."""
    for event, value in events:
        if event == "end_array":
            return
        yield build_value(event, value, events, deepest)


def build_value(begins: str, scalar: Any, events: Events, deepest: int = DEEPEST) -> Any:
    """One value, to its end; TOO_DEEP of what is nested deeper.

    Built here and not by the parser, whose memory grows with the square of the depth.
    """
    if begins not in _NEW:
        return scalar
    outer: list[tuple[Any, str]] = []  # what is around it, and under which key it goes there
    key, inner = "", _NEW[begins]()
    for event, value in events:
        if event == "map_key":
            key = value
            continue
        if (new := _NEW.get(event)) is not None:
            outer.append((inner, key))
            inner = new()
            if len(outer) > deepest:
                return TOO_DEEP
            continue
        complete = value
        if event in _ENDS:
            if not outer:
                return inner
            complete, (inner, key) = inner, outer.pop()
        if type(inner) is dict:
            inner[key] = complete
        else:
            inner.append(complete)
    return inner


def json_lines(member: Member) -> Iterator[tuple[int, Any]]:
    """Every line with its number: its value, BLANK, or BROKEN where it is no JSON."""
    with member.open() as stream:
        for number, line in enumerate(stream, 1):
            text = line.removeprefix(_BOM) if number == 1 else line
            try:
                yield number, orjson.loads(text) if text.strip() else BLANK
            except orjson.JSONDecodeError:
                yield number, BROKEN


def decode(data: bytes) -> str:
    """Text as UTF-8, or as UTF-16 where it is that; without its byte-order mark."""
    if wide := utf16(data):
        return data[: len(data) & ~1].decode(wide, "replace").removeprefix("\ufeff")
    return data.decode("utf-8-sig", "replace")


def head_text(member: Member) -> str:
    """The head as text, whatever its bytes are."""
    return decode(member.head())


def head_keys(member: Member) -> frozenset[str]:
    """Keys that appear in the head of a JSON file; empty where it does not look like one."""
    text = head_text(member).lstrip()
    return frozenset(_find_keys(text) if text[:1] in "{[" else ())


def with_keys(needed: str, others: str = "") -> Callable[[Member], bool]:
    """A check of heads: whether they have all keys that are needed, and one of the others."""
    names, further = word_set(needed), word_set(others)

    def check(member: Member) -> bool:
        keys = head_keys(member)
        return names <= keys and (not further or not further.isdisjoint(keys))

    return check


def word_pairs(lines: str) -> dict[str, str]:
    """A table of two columns: the first word of each line, and what follows it."""
    cells = (line.split(maxsplit=1) for line in lines.strip().splitlines())
    return {key: "".join(value) for key, *value in cells}


def word_set(words: str) -> frozenset[str]:
    """Words, parted by spaces, as a set."""
    return frozenset(words.split())


def list_fields(names: Sequence[str]) -> str:
    """Names of fields for an error; only their number where one could be a part of a message."""
    if not all(len(name) <= _LONGEST_NAME and _FIELD_NAME.fullmatch(name) for name in names):
        return f"{counted(len(names), 'name')}, not shown here: one may be a part of a message"
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def mapping(value: Any) -> Fields:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """A JSON scalar as text: None is "", 3 is "3"."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)


def is_odd(value: Any) -> bool:
    """Whether a value that should be text is something else: an object, a list, true or false.

    Such an entry is left over: its text is not known, which is another thing than no text.
    """
    return isinstance(value, dict | list | bool)


def odd_at(item: Fields, key: str) -> bool:
    """Whether such a value stands in a field."""
    return is_odd(item.get(key))


def zone(name: str | None) -> Zone:
    """The named time zone, or an error that says how names look."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise RealtalkError(
            f"unknown time zone '{name}'", fix="use a name such as Europe/Athens or UTC"
        ) from error


def from_utc(moment: datetime | None) -> datetime | None:
    """A time of an app that writes UTC, or states another clock beside it, as one of UTC."""
    moment = on_clock(moment, _UTC_ZONE)
    return moment.replace(tzinfo=UTC) if moment else None


def on_clock(moment: datetime | None, tz: Zone) -> datetime | None:
    """What the clock of `tz` shows, or the clock on which a time was written."""
    if moment is None or moment.tzinfo is None:
        return moment
    try:
        return (moment.astimezone(tz) if tz else moment).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


# Values inside an export, of whatever type they turn out to be, into what a message needs.
#
#     scalar(3)                     → "3"          scalar({"a": 1}) → ""
#     text_at({"nick": "", "name": "Ann"}, "nick", "name") → "Ann"
#     text_at({"author": {"id": 7}}, "author/id")         → "7"
#     objects_at({"files": [{"a": 1}, None]}, "files")   → [{"a": 1}]
#     from_stamp("2024-05-01T09:30:00+02:00") → datetime(2024, 5, 1, 9, 30), two hours before UTC
#     from_number("1714548600")               → datetime(2024, 5, 1, 7, 30) of UTC
#     make_attachment("media/song.opus")   → Attachment("audio", "song.opus", "media/song.opus")
#
# Nothing below raises: what cannot be used is empty or None, and the caller says what that means.

# Own table: the system's differs from machine to machine, and a reading must not.
_TYPES = mimetypes.MimeTypes(filenames=())
for _kind, _endings in {
    "image": "webp heic heif avif jfif",
    "video": "mkv m4v 3gp mts mp4 webm",
    "audio": "opus m4a aac amr oga flac weba caf ogg",
}.items():
    for _ending in _endings.split():
        _TYPES.add_type(f"{_kind}/x", f".{_ending}")


def scalar(value: Any) -> str:
    """Text and numbers as text; everything else, nested values above all, is ""."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(value)


def text_at(item: Mapping[str, Any], key: str, *others: str) -> str:
    """The first of an object's fields that holds text or a number, as text; "" where none does.

    "author/id" is the field `id` of the object in the field `author`.
    """
    value = item.get(key)
    if value is None and "/" in key:
        holder, _, last = key.rpartition("/")
        value = object_at(item, holder).get(last)
    # Most values are text or missing: they take no further call.
    text = value if isinstance(value, str) else "" if value is None else scalar(value)
    return text_at(item, *others) if others and not text else text


def whole(value: Any, default: int = 0) -> int:
    """A count, from a number or its digits."""
    try:
        return default if isinstance(value, bool) else int(float(scalar(value) or default))
    except (ValueError, OverflowError):
        return default


def object_at(item: Mapping[str, Any], path: str) -> Fields:
    """The object in a field, or in a field of an object in it ("a/b"), or an empty one."""
    for key in path.split("/"):
        item = mapping(item.get(key))
    return mapping(item)


def without(fields: Mapping[str, Any], names: Container[str]) -> Fields:
    """The fields of other names."""
    return {key: value for key, value in fields.items() if key not in names}


def drop_empty(fields: Fields) -> Fields:
    """The fields that hold something."""
    return {key: value for key, value in fields.items() if value}


def records(value: Any) -> list[Fields]:
    """The objects of a list; anything else is no object."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def objects_at(item: Mapping[str, Any], path: str) -> list[Fields]:
    """The objects of the list in a field, or in a field of an object in it ("a/b")."""
    holder, _, key = path.rpartition("/")
    return records((object_at(item, holder) if holder else item).get(key))


def from_number(value: Any, per_second: int = 1) -> datetime | None:
    """An epoch stamp, number or digits, as a time of UTC."""
    try:
        return datetime.fromtimestamp(float(scalar(value)) / per_second, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def from_stamp(value: Any) -> datetime | None:
    """An ISO stamp, with its offset from UTC where it states one."""
    try:
        return datetime.fromisoformat(scalar(value).strip())
    except (ValueError, OverflowError):
        return None


def _base_name(path: str) -> str:
    """The file name at the end of a path or address."""
    path = path.split("?", 1)[0].split("#", 1)[0]
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _file_kind(name: str, mime: str = "") -> str:
    """image, video, audio or file, from the stated type or the ending."""
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    guessed = mime or (_TYPES.guess_type(f"x.{ending}")[0] if ending.isalnum() else "") or ""
    kind = guessed.split("/", 1)[0]
    return kind if kind in ("image", "video", "audio") else "file"


def make_attachment(url: Any, kind: str = "", name: Any = "", mime: Any = "") -> Attachment:
    """A file of the export; its ending shows its kind where the app does not say."""
    address = scalar(url)
    label = scalar(name) or _base_name(address)
    return Attachment(kind or _file_kind(label, scalar(mime)), label, address)
