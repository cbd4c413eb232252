"""The JSON that WhatsApp-Chat-Exporter makes of WhatsApp's databases, into chats.

    {"1555@s.whatsapp.net": {"name": "Ann", "type": "android", "messages": {
      "7": {"from_me": false, "timestamp": 1714548600, "key_id": "3EB0", "data": "hi",
            "meta": false, "media": false, "sender": null, "reply": null, "caption": null}}}}
    → Chat("Ann") with one message "hi" of Ann; "Me" for the owner

The tool writes all chats in one file, or one file for each. What it says (`meta`) is English:
a message that was deleted and a file that is missing are known by its words.
"""

from __future__ import annotations

from functools import partial

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.json_input import (
    Fields,
    from_number,
    load,
    make_attachment,
    mapping,
    object_at,
    odd_at,
    text_at,
    with_keys,
)
from realtalk.formats.source import FormatFiles

_OWNER = "Me"


_FILES = FormatFiles(
    (".json",),
    with_keys("messages from_me key_id timestamp data meta"),
    "no JSON of WhatsApp-Chat-Exporter found",
    "have the tool write JSON, and give that file",
)


def _read(export: Export) -> None:
    rest = Draft("")
    for member in export:
        for jid, chat in mapping(load(member)).items():
            if not isinstance(chat, dict):
                rest.leave(member.name, "not an object")
                continue
            number, _, server = jid.partition("@")
            name = text_at(chat, "name") or (f"+{number}" if number.isdigit() else number)
            draft = export.draft(jid, name, id=jid)
            partner = "" if server == "g.us" else name
            read_entry = partial(_entry, partner=partner)
            draft.fill(object_at(chat, "messages").values(), f"{member.name}, {jid}", read_entry)
    export.drafts[None] = rest


def _entry(item: Fields, partner: str) -> Entry | None:
    """A message; None for what the app or the tool says by itself."""
    said, is_media = text_at(item, "data"), item.get("media") is True
    deleted = item.get("meta") is True and said == "Message deleted"
    place = item.get("meta") is True and said.startswith("Location shared")
    if item.get("meta") is True and not (deleted or place or is_media):
        return None
    file = Attachment("location") if place else None
    if is_media:
        missing = item.get("meta") is True
        kind = "sticker" if item.get("sticker") is True else "media" if missing else ""
        file = make_attachment("" if missing else said, kind, mime=item.get("mime"))
    is_bare = deleted or file is not None
    # Where the app breaks a line the tool writes a tag, on Android after a space.
    text = text_at(item, "caption") if is_bare else said
    marks = object_at(item, "reactions").items()
    return Entry(
        "",
        _OWNER if item.get("from_me") else text_at(item, "sender") or partner,
        from_number(item.get("timestamp")),
        "" if deleted else text.replace(" <br>", "\n").replace("<br>", "\n"),
        id=text_at(item, "key_id"),
        attachments=(file,) if file else (),
        reply_to=text_at(item, "reply"),
        deleted=deleted,
        extra=reactions(
            (emoji, [_OWNER if who == "You" else who], 1)
            for who, emoji in marks
            if isinstance(emoji, str)
        ),
        odd=odd_at(item, "data"),
    )


FORMAT = export_format("WhatsApp-Chat-Exporter (JSON)", "whatsapp-exporter", _FILES, _read)
