"""Telegram Desktop's JSON export, of one chat or of the whole account, into chats.

    {"name": "Ann", "type": "personal_chat", "id": 7, "messages": [
      {"id": 41, "type": "message", "date": "2024-05-01T09:30:00",
       "date_unixtime": "1714548600", "from": "Ann", "from_id": "user7",
       "text": ["look: ", {"type": "link", "text": "https://x.org"}]}]}
    → Chat("Ann") with one message "look: https://x.org"

`date` is the exporter's own wall clock and is used as long as every entry has one and no
time zone is requested; otherwise `date_unixtime`, in UTC or the zone, wherever it stands.
The HTML export is read too; where both lie side by side, the JSON is.
Exports of one chat made at different times are joined, and a message that stands in two
of them is taken once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Entry, Export, export_format, reactions
from realtalk.formats.exports.html_tags import Element, page_elements
from realtalk.formats.json_input import (
    Fields,
    as_list,
    from_number,
    from_stamp,
    head_keys,
    head_text,
    is_odd,
    load,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    records,
    scalar,
    text_at,
    word_pairs,
    word_set,
)
from realtalk.formats.source import FormatFiles, Member
from realtalk.text.words import one_line

# Telegram Desktop's HTML export, which it offers first, into drafts of chats.
#
#     ChatExport_2024-05-01/messages.html, messages2.html      one chat, in pages
#     <div class="message default clearfix" id="message41"> ... title="01.05.2024 09:30:00
#     UTC+02:00" ... <div class="from_name">Ann</div> <div class="text">look: x.org</div>
#     → Draft("Ann") with one entry "look: x.org", id 41
#
# The pages say less than the JSON export: no ids of people, so two of one name are one
# speaker, and no sign that a message was edited. The reader says so.

_PAGE = re.compile(r"(?:^|/)messages(\d*)\.html$")
_PAGES_NOTE = "Telegram's HTML export tells no ids of people and no edits; its JSON export does"
_STAMP = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?", re.ASCII)
_ANSWERED = re.compile(r"#go_to_message(\d+)", re.ASCII)
_SORTS = ("default", "service")
# What stands in an element of such a class is not of the one around it.
_ASIDE = word_set("""
    details initials from_name text emoji count question answer title status
    """)
_MOST_SEARCHED = 100_000_000  # letters: a message of a hundred thousand links keeps them all
# What kind of file an element of such a class is; the first are the whole of it.
_WRAPS = word_pairs("""
    photo_wrap      image
    video_file_wrap video
    animated_wrap   video
    sticker_wrap    sticker
""")
_FILES = _WRAPS | word_pairs("""
    media_photo         image
    media_video         video
    media_voice_message audio
    media_audio_file    audio
    media_contact       contact
    media_location      location
    media_live_location location
    media_venue         location
    media_call          call
""")


def _is_telegram_page(member: Member) -> bool:
    """Whether the head of a page is that of a chat."""
    text = head_text(member)
    return "page_wrap" in text and ("from_name" in text or "message service" in text)


def _is_part(element: Element, _: list[Element]) -> bool:
    """Whether it is a message, a notice or the title of a page."""
    classes = element.classes
    return "page_header" in classes or (
        element.name == "div" and "message" in classes and not classes.isdisjoint(_SORTS)
    )


def _read_pages(members: Iterable[Member], export: Export) -> None:
    """One chat per folder, its pages in order."""
    last: dict[str, str] = {}
    for member in sorted(members, key=_place):
        folder = member.folder
        draft = export.draft(folder, "")
        for part in page_elements(member, _is_part):
            number = part.get("id").removeprefix("message")
            if "page_header" in part.classes:
                draft.name = draft.name or part.line()
            elif "service" in part.classes:
                # The lines between two days are of the page, not of the chat.
                draft.notice(not number.startswith("-"))
            else:
                entry = _page_entry(part, number)
                # Below the first of several bubbles in a row the name is not repeated.
                entry.name = last[folder] = entry.name or last.get(folder, "")
                draft.take(entry, f"{member.name}, message {number}")
        draft.name = draft.name or folder.rsplit("/", 1)[-1] or member.stem


def _place(member: Member) -> tuple[str, int]:
    match = _PAGE.search(member.name)
    return member.folder, int(match[1] or 1) if match else 0


def _said(elements: Iterable[Element]) -> str:
    """What stands in some elements, without what is something else."""
    texts = (element.without(_ASIDE) for element in elements)
    return "".join(texts).strip()


def _page_entry(bubble: Element, number: str) -> Entry:
    texts = [element for element in bubble.having("text") if "bold" not in element.classes]
    text = _said(texts) or _said(bubble.having("question"))
    forwarded = dict.fromkeys(
        name for part in bubble.having("forwarded") for name in part.having("from_name")
    )
    names = [name for name in bubble.having("from_name") if name not in forwarded]
    stamps = [
        element.get("title") for element in bubble.having("date") if "pull_right" in element.classes
    ]
    date = _STAMP.match("".join(stamps[-1:]))
    answers = (link for element in bubble.having("reply_to") for link in element.links())
    answered = _ANSWERED.search(" ".join(answers))
    extra = {
        "forwarded_from": one_line(_said(forwarded)),
        "poll": [answer.text().strip().removeprefix("- ") for answer in bubble.having("answer")],
    }
    marks = (
        (_said(mark.having("emoji")[:1]), (), _said(mark.having("count")[:1]))
        for mark in bubble.having("reaction")
    )
    files = [
        file for file in bubble.inside() if "media" in file.classes or file.classes & _WRAPS.keys()
    ]
    links = [link for element in texts for link in element.links()]
    attachments = (*map(_page_file, files), *_page_links(links, text))
    return Entry(
        "",
        one_line(_said(names)),
        from_stamp(date.expand(r"\3-\2-\1T\4\5") if date else ""),
        text,
        id=number,
        attachments=attachments,
        reply_to=answered[1] if answered else "",
        extra=reactions(marks) | extra,
        # A call stands on a page as a bubble of the caller.
        call=not text and [file.kind for file in attachments] == ["call"],
    )


def _page_file(file: Element) -> Attachment:
    kind = next((kind for name, kind in _FILES.items() if name in file.classes), "")
    url = file.get("href")
    is_framed = "media" in file.classes
    title, status = (
        one_line(_said(file.having(name))) if is_framed else "" for name in ("title", "status")
    )
    if kind == "image" and title == "Sticker":
        return Attachment("sticker", url=url, caption=status)
    if kind in ("contact", "location"):
        return Attachment(kind, title, url, status)
    return Attachment(kind) if kind == "call" else make_attachment(url, kind, "" if kind else title)


def _page_links(links: list[str], text: str) -> Iterator[Attachment]:
    searched = len(links) * len(text) <= _MOST_SEARCHED
    for url in links:
        # A plain address is in the text already; one behind words is not.
        is_shown = searched and url.split("://", 1)[-1].rstrip("/") in text
        if url.startswith("http") and not is_shown:
            yield Attachment("link", url=url)


_MARKS = word_set("date_unixtime from_id text_entities actor_id")
_RESULT = re.compile(r"(^|/)result[^/]*\.json(\.gz)?$")
_MEDIA = word_pairs("""
    voice_message audio
    audio_file    audio
    video_message video
    video_file    video
    animation     video
    sticker       sticker
""")
_PLAIN_EXTRA = word_set("""
    forwarded_from via_bot saved_from author signature edited duration_seconds game_title
    self_destruct_period_seconds
    """)
# What a poll, a list or an invoice is headed with: the words of its sender.
_TITLES = word_pairs("""
    poll                question
    todo_list           title
    invoice_information title
""")


def _is_export(member: Member) -> bool:
    keys = head_keys(member)
    if "messages" in keys:
        return bool(keys & {"from", "actor"}) and bool(keys & _MARKS)
    # A whole account tells about its owner first; its chats may start megabytes later.
    account = {"personal_information", "profile_pictures", "frequent_contacts", "contacts", "chats"}
    return bool(keys & account) and "about" in keys and "telegram" in head_text(member).lower()


_RESULTS = FormatFiles((".json",), _is_export, name=_RESULT)
_PAGES = FormatFiles((".html",), _is_telegram_page, name=_PAGE, most=64)
_JSON = FormatFiles(
    (".json",),
    _is_export,
    "no Telegram export",
    "in Telegram Desktop choose Export chat history, format: machine-readable JSON",
)


def _read(export: Export) -> None:
    source = export.source
    if not any(_JSON.find(source)) and (pages := list(_PAGES.find(source))):
        export.notes.append(_PAGES_NOTE)
        _read_pages(pages, export)
        return
    for member in export:
        here: Counter[tuple[str, str]] = Counter()
        for chat, where in _chats(mapping(load(member)), member):
            kind, number = text_at(chat, "type"), text_at(chat, "id")
            # Only what stands in another file can be the same chat once more.
            here[kind, number] += 1
            name = text_at(chat, "name") or kind.replace("_", " ").capitalize()
            draft = export.draft(
                (kind, number or where, here[kind, number]),
                name,
                extra={"type": kind, "id": number},
            )
            items = as_list(chat.get("messages"))
            # What is no message may have no time at all, and must not move those of the others.
            dated = [item for item in records(items) if _is_said(item)]
            local = all(from_stamp(item.get("date")) for item in dated)
            read_entry = partial(_entry, clock=local and export.options.timezone is None)
            draft.fill(items, f"{where}, messages", read_entry)
            if not local and any("date" in item for item in dated):
                export.notes.append(
                    f"{where}: some entries have no local time; UTC (or `timezone=`) stamps are "
                    "used where they stand, local ones elsewhere"
                )


def _chats(export: Fields, member: Member) -> Iterator[tuple[Fields, str]]:
    if isinstance(export.get("messages"), list):
        yield export, member.name
        return
    lists = {part: object_at(export, part).get("list") for part in ("chats", "left_chats")}
    for part, chats in lists.items():
        for index, chat in enumerate(records(chats)):
            yield chat, f"{member.name}, {part}[{index}]"
    if not any(isinstance(chats, list) for chats in lists.values()):
        raise member.error("neither 'messages' nor 'chats' found: not a Telegram export")


def _is_said(item: Fields) -> bool:
    """Whether an entry is somebody's message; calls, pins and the like are "service"."""
    return scalar(item.get("type", "message")) == "message"


def _entry(item: Fields, clock: bool) -> Entry | None:
    stamp = None if clock else from_number(item.get("date_unixtime"))
    time, number = stamp or from_stamp(item.get("date")), text_at(item, "id")
    if not _is_said(item):
        # A call by whoever made it; None for any other notice.
        if text_at(item, "action") != "phone_call":
            return None
        caller = text_at(item, "actor_id")
        return Entry(caller, text_at(item, "actor"), time, "", id=number, call=True)
    author = text_at(item, "from_id")
    extra: Fields = {key: text_at(item, key) for key in item.keys() & _PLAIN_EXTRA}
    extra |= reactions(
        (
            text_at(reaction, "emoji", "document_id", "type"),
            [text_at(person, "from") for person in objects_at(reaction, "recent")],
            reaction.get("count"),
        )
        for reaction in objects_at(item, "reactions")
    )
    if poll := object_at(item, "poll"):
        extra["poll"] = [_words(answer.get("text")) for answer in objects_at(poll, "answers")]
    if tasks := objects_at(item, "todo_list/answers"):
        extra["tasks"] = [_words(task.get("text")) for task in tasks]
    # Old exports stamp what was never edited with the first second of 1970.
    edited = not text_at(item, "edited").startswith(("1970-01-01", "1969-12-31"))
    here = "reply_to_peer_id" not in item  # else the answer is to another chat's message
    texts = (item.get("text"), item.get("text_entities"))
    text = next(filter(None, (_text(value) for value in texts if not _is_odd(value))), "")
    titles = (_words(object_at(item, key).get(title)) for key, title in _TITLES.items())
    return Entry(
        author,
        text_at(item, "from") or ("Deleted Account" if author else ""),
        time,
        text or next(filter(None, titles), ""),
        id=number,
        attachments=tuple(_attachments(item)),
        reply_to=text_at(item, "reply_to_message_id") if here else "",
        edited=bool(extra.get("edited")) and edited,
        extra=extra,
        odd=not text and any(map(_is_odd, texts)),
    )


def _is_odd(value: Any) -> bool:
    """Whether a text, or a piece of it, is no text."""
    if not isinstance(value, list):
        return is_odd(value)
    return any(is_odd(piece.get("text") if isinstance(piece, dict) else piece) for piece in value)


def _words(value: Any) -> str:
    """Text that newer exports write as an object or as pieces."""
    return _text(mapping(value).get("text", value))


def _text(value: Any) -> str:
    """Text pieces joined as they are: real exports keep every space inside a piece.

    One seam is mended: an address right behind another styled piece ("Link:" in bold, then
    a link) would run into it, so it gets a space.
    """
    if not isinstance(value, list):
        return scalar(value)
    text = ""
    styled = False
    for piece in value:
        entity = mapping(piece)
        kind = text_at(entity, "type")
        added = text_at(entity, "text") if entity else scalar(piece)
        if kind == "link" and styled and (text[-1:].isalnum() or text[-1:] in set(":;,.!?")):
            text += " "
        text += added
        styled = kind not in ("", "plain") and bool(added)
    return text


def _path(value: Any) -> str:
    """A path inside the export; "(File not included...)" and the like is none."""
    path = scalar(value)
    return "" if path.startswith("(") else path


def _attachments(item: Fields) -> Iterator[Attachment]:
    if "photo" in item:
        yield make_attachment(_path(item["photo"]), "image")
    if "file" in item or "media_type" in item:
        unnamed = "file_name" not in item and "mime_type" not in item
        kind = _MEDIA.get(text_at(item, "media_type"), "media" if unnamed else "")
        file = make_attachment(
            _path(item.get("file")), kind, item.get("file_name"), item.get("mime_type")
        )
        yield Attachment(file.kind, file.name, file.url, text_at(item, "sticker_emoji"))
    if contact := object_at(item, "contact_information"):
        parts = (text_at(contact, "first_name"), text_at(contact, "last_name"))
        phone = text_at(contact, "phone_number")
        yield Attachment("contact", " ".join(filter(None, parts)), caption=phone)
    if place := object_at(item, "location_information"):
        at = f"geo:{text_at(place, 'latitude')},{text_at(place, 'longitude')}"
        yield Attachment("location", text_at(item, "place_name"), at, text_at(item, "address"))
    if game := text_at(item, "game_title"):
        caption = text_at(item, "game_description")
        yield Attachment("link", game, text_at(item, "game_link"), caption)
    for paid in objects_at(item, "paid_media"):
        yield make_attachment(_path(paid.get("photo") or paid.get("file")), "media")
    for piece in records(item.get("text_entities") or item.get("text")):
        if piece.get("type") == "text_link" and (address := text_at(piece, "href")):
            yield Attachment("link", text_at(piece, "text"), address)


FORMAT = export_format(
    "Telegram (JSON or HTML export)", "telegram", _JSON, _read, _RESULTS.sniff, _PAGES.sniff
)
