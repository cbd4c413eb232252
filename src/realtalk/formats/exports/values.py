"""Values inside an export, of whatever type they turn out to be, into what a message needs.

    scalar(3)                     → "3"          scalar({"a": 1}) → ""
    text_at({"nick": "", "name": "Ann"}, "nick", "name") → "Ann"
    text_at({"author": {"id": 7}}, "author/id")         → "7"
    objects_at({"files": [{"a": 1}, None]}, "files")   → [{"a": 1}]
    from_stamp("2024-05-01T09:30:00+02:00", None) → datetime(2024, 5, 1, 9, 30)
    from_number("1714548600", None)               → datetime(2024, 5, 1, 7, 30)
    make_attachment("media/song.opus")   → Attachment("audio", "song.opus", "media/song.opus")

Nothing here raises: what cannot be used is empty or None, and the caller says what that means.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.json_input import Fields, Zone, as_list, mapping
from realtalk.text.written_days import from_epoch

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


def from_number(value: Any, tz: Zone, per_second: int = 1) -> datetime | None:
    """An epoch stamp, number or digits: UTC, or the clock of `tz`."""
    try:
        return from_epoch(float(scalar(value)) / per_second, tz)
    except (ValueError, OverflowError):
        return None


def from_stamp(value: Any, tz: Zone) -> datetime | None:
    """An ISO stamp as the clock it was written in, or the clock of `tz` if it states its offset."""
    try:
        moment = datetime.fromisoformat(scalar(value).strip())
        if moment.tzinfo is not None and tz is not None:
            moment = moment.astimezone(tz)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=None)


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
