"""Signal conversations, as text or as JSON, into chats.

    [2024-05-01, 09:30] Ann: hi                     text export, to the minute
    [2024-05-01 09:30:12] Ann: hi                   chat.md of signal-export
    {"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "hi", ...}
                                                    data.json of signal-export
    → Chat with one message of Ann

A line that does not start a message belongs to the one before it; a dated line that somebody
pasted is told from one that starts a message. Three layouts are JSON:

    data.json of signal-export, one entry per line, one folder per chat:
        {"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "hi", "reactions": [["Ben", "❤"]]}
    messages as Signal Desktop keeps them, with or without its conversations:
        {"conversations": [{"id": "c1", "name": "Ann"}],
         "messages": [{"conversationId": "c1", "sent_at": 1714548612000, "type": "incoming",
                       "body": "hi"}]}
    Signal's own plaintext export (main.jsonl), one frame per line:
        {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann"}}}
        {"chat": {"id": "9", "recipientId": "2"}}
        {"chatItem": {"chatId": "9", "authorId": "2", "dateSent": "1714548612000",
                      "standardMessage": {"text": {"body": "hi"}}}}

Signal names a message by the millisecond it was sent, so that is its id and what quotes mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import (
    Draft,
    Entry,
    Export,
    export_format,
    reactions,
    runs_backwards,
)
from realtalk.formats.exports.text_entries import EARLY
from realtalk.formats.json_input import (
    BLANK,
    Fields,
    as_list,
    decode,
    from_number,
    from_stamp,
    head_keys,
    head_text,
    json_lines,
    load,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    odd_at,
    records,
    scalar,
    text_at,
    whole,
    word_set,
)
from realtalk.formats.source import FormatFiles, Member

# Which dated lines of a Signal text start a message, and which somebody pasted into one.
#
#     [2024-05-01 09:30:12] Ann: look what he wrote
#     [2021-02-03 08:00:00] Cleo: hi          → text of Ann: she pasted it
#     that is all␣␣
#                                             (␣ is a space)
#     [2024-05-01 09:31:00] Bo: oh            → a message of Bo
#
# signal-export ends every message with two spaces, its reactions, its sticker or the words for a
# deleted one, so a header stands behind such an end; lines inside a message have no such end. Where
# an editor has taken the spaces off, time tells: messages are in order, so a few lines that go back
# in time before it goes on are pasted.

_STAMP = r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] "
_HEADER = re.compile(rf"{_STAMP}(.*)", re.ASCII)
_DELETED = "(This message was deleted)"
_SLACK = timedelta(hours=1)  # messages arrive late
_MOST = 50  # dated lines that somebody pastes at once
_FEW = 3


class Header(NamedTuple):
    """A dated line: where it stands, its time, and what follows the date."""

    place: int
    time: datetime
    rest: str


def _headers(lines: Sequence[str]) -> Iterator[Header]:
    """The lines with a date."""
    for place, line in enumerate(lines):
        if match := _HEADER.fullmatch(line):
            with suppress(ValueError):  # no such day
                time = datetime.fromisoformat(f"{match[1]}T{match[2]}")
                yield Header(place, time, match[3])


def _starts(dated: Sequence[Header], lines: Sequence[str]) -> list[Header]:
    """Those that start a message."""
    behind = [
        head
        for head in dated[1:]
        if _before(lines, head.place).endswith(("  ", " -)", " ))", _DELETED))
    ]
    # An editor that takes spaces off leaves the other ends in place. Half of the lines is
    # enough: the others may all stand in one message.
    spaced = any(_before(lines, head.place).endswith("  ") for head in behind)
    exact = spaced and 2 * len(behind) >= len(dated) - 1
    return _in_time([*dated[:1], *behind] if exact else list(dated), sure=exact)


def _before(lines: Sequence[str], place: int) -> str:
    """The line before, or the one before that where an empty line parts messages."""
    return lines[place - 2] if not lines[place - 1] and place > 1 else lines[place - 1]


def _in_time(dated: list[Header], *, sure: bool) -> list[Header]:
    """Without the few lines that go back in time for a while."""
    if runs_backwards(head.time for head in dated):
        return dated
    run = dated[:1]
    place = 1
    while place < len(dated):
        earliest = run[-1].time - _SLACK
        later = (at for at in range(place, len(dated)) if dated[at].time >= earliest)
        back = next(later, len(dated))
        # At the end of a file nothing tells an old message from a pasted line but its form.
        pasted = back - place <= _MOST if back < len(dated) else back - place < _FEW and not sure
        if back > place and pasted:
            place = back
        else:
            run.append(dated[place])
            place += 1
    return run


# Frames of Signal's own plaintext export (main.jsonl) into drafts of chats.
#
#     {"account": {"givenName": "Ben"}}
#     {"recipient": {"id": "1", "self": {}}}
#     {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann"}}}
#     {"chat": {"id": "9", "recipientId": "2"}}
#     {"chatItem": {"chatId": "9", "authorId": "2", "dateSent": "1714548612000",
#                   "standardMessage": {"text": {"body": "hi"}}}}
#     → Draft("Ann") with one message of Ann and four entries that are no messages
#
# Numbers are written as text there, as protocol buffers do; all ids are compared as text.

_MENTIONED = "\ufffc"  # stands in a text for whoever is mentioned there
_People = dict[str, str]  # names by ids

_SAID = """
    standardMessage stickerMessage contactMessage viewOnceMessage poll directStoryReplyMessage
    remoteDeletedMessage adminDeletedMessage paymentNotification
""".split()  # noqa: SIM905 - words read better than quotes


def _objects(member: Member, draft: Draft) -> Iterator[tuple[str, Fields]]:
    """The place and the object of every line that has one; what is none is left over."""
    for number, value in json_lines(member):
        where = f"{member.name}:{number}"
        if isinstance(value, dict):
            yield where, value
        elif value is not BLANK:
            draft.leave(where, "not a JSON object")


def _frames(member: Member, export: Export) -> None:
    """One draft per chat, and one that counts the frames about the account itself."""
    rest = Draft("Signal")
    people: _People = {}
    chats: _People = {}
    items: list[tuple[str, Fields]] = []
    me, own = "Me", ""
    for where, frame in _objects(member, rest):
        if isinstance(frame.get("chatItem"), dict):
            items.append((where, frame["chatItem"]))
            continue
        rest.notice()
        me = _join_fields(frame, "account/givenName", "account/familyName") or me
        if recipient := object_at(frame, "recipient"):
            number = text_at(recipient, "id")
            name = "" if "self" in recipient else _recipient(recipient)
            own = number if "self" in recipient else own
            people[number] = name
            # Mentions name people by the id of their account.
            if account_id := text_at(recipient, "contact/aci"):
                people[account_id] = name
        if chat := object_at(frame, "chat"):
            chats[text_at(chat, "id")] = text_at(chat, "recipientId")
    people = {number: name or me for number, name in people.items()}
    for where, item in items:
        number = text_at(item, "chatId")
        partner = chats.get(number, "")
        draft = export.draft((member, number), people.get(partner) or f"Chat {number}")
        entry = _entry(item, people)
        if entry is None and (caller := _caller(item, own, partner)):
            time = from_number(text_at(item, "dateSent"), 1000)
            entry = Entry(caller, people.get(caller, ""), time, "", call=True)
        # A payment is told by the app; what was written beside it is somebody's.
        is_payment = "paymentNotification" in item and not (entry and entry.text)
        draft.take(None if is_payment else entry, where)
    export.drafts[member] = rest


def _caller(item: Fields, own: str, partner: str) -> str:
    """The id of whoever made a call; "" where the update tells of something else."""
    update = object_at(item, "updateMessage")
    if call := object_at(update, "individualCall"):
        sides = {"OUTGOING": own, "INCOMING": partner}
        return sides.get(text_at(call, "direction"), "") or text_at(item, "authorId")
    return text_at(update, "groupCall/startedCallRecipientId")


def _with_mentions(body: Any, ranges: Any, people: Mapping[str, str]) -> str:
    """A text in which whoever is mentioned stands by name."""
    text = scalar(body)
    if _MENTIONED not in text:
        return text
    names = [""]
    for mention in sorted(records(ranges), key=lambda mention: whole(mention.get("start"))):
        if account := text_at(mention, "mentionAci", "mentionUuid"):
            label = people.get(account) or text_at(mention, "replacementText")
            names.append(f"@{label}" if label else _MENTIONED)
    pieces = text.split(_MENTIONED)
    if len(pieces) != len(names):
        return text  # which of them is meant cannot be told
    return "".join(map("".join, zip(names, pieces, strict=True)))


def _join_fields(part: Fields, *keys: str) -> str:
    return " ".join(filter(None, (text_at(part, key).strip() for key in keys)))


# Where the name of a recipient may stand, the best first: fields that are one name, or parts of it.
_NAMES = """
    contact/nickname/given contact/nickname/family
    contact/systemGivenName contact/systemFamilyName
    contact/profileGivenName contact/profileFamilyName
    contact/username
    group/snapshot/title/title
    callLink/name
    distributionList/distributionList/name
""".strip().splitlines()


def _recipient(recipient: Fields) -> str:
    names = (_join_fields(recipient, *fields.split()) for fields in _NAMES)
    if name := next(filter(None, names), ""):
        return name
    if phone := text_at(recipient, "contact/e164"):
        return f"+{phone}"
    return "Signal" if "releaseNotes" in recipient else f"Recipient {text_at(recipient, 'id')}"


def _entry(item: Fields, people: _People) -> Entry | None:
    """What somebody said; None for an update."""
    author, sent = text_at(item, "authorId"), text_at(item, "dateSent")
    kind = next((key for key in _SAID if key in item), None)
    if kind is None:
        return None
    content = mapping(item[kind])
    story = object_at(content, "textReply")
    body = object_at(content, "text") or object_at(story, "text")
    text = _with_mentions(body.get("body"), body.get("bodyRanges"), people)
    extra = _reactions(content, people, "authorId")
    quote = object_at(content, "quote")
    answered = text_at(quote, "targetSentTimestamp")
    # What is quoted but was not there any more when it was quoted, stands nowhere else.
    if not whole(answered) and (words := text_at(quote, "text/body")):
        extra["quote"] = words
    if "longText" in content | story:
        extra["cut"] = True  # the rest lies in a file of the export
    if kind == "poll":
        extra["poll"] = [text_at(option, "option") for option in objects_at(content, "options")]
    stated = content.get("text", story.get("text"))
    return Entry(
        author,
        people.get(author, ""),
        from_number(sent, 1000),
        text or text_at(content, "question", "emoji", "note"),
        id=sent,
        attachments=tuple(_frame_attachments(kind, content)),
        reply_to=answered if whole(answered) else "",
        edited=bool(item.get("revisions")),
        deleted=kind in ("remoteDeletedMessage", "adminDeletedMessage"),
        extra=extra,
        odd=odd_at(body, "body") or not isinstance(stated, dict | None),
    )


def _reactions(item: Fields, people: Mapping[str, str], giver: str) -> Fields:
    return reactions(
        (text_at(mark, "emoji"), [people.get(text_at(mark, giver), "")], 1)
        for mark in objects_at(item, "reactions")
    )


def _frame_attachments(kind: str, content: Fields) -> Iterator[Attachment]:
    for file in objects_at(content, "attachments"):
        yield _file(file)
    for link in objects_at(content, "linkPreview"):
        caption = text_at(link, "description")
        yield Attachment("link", text_at(link, "title"), text_at(link, "url"), caption)
    if kind == "viewOnceMessage":
        yield _file(object_at(content, "attachment"))
    if kind == "stickerMessage":
        yield Attachment("sticker", caption=text_at(content, "sticker/emoji"))
    if kind == "contactMessage":
        contacts = content.get("contact")
        contact = mapping(contacts) or next(iter(records(contacts)), {})
        yield Attachment("contact", _join_fields(contact, "name/givenName", "name/familyName"))


def _file(file: Fields) -> Attachment:
    pointer = object_at(file, "pointer")
    name, mime = text_at(pointer, "fileName"), text_at(pointer, "contentType")
    if not name and not mime:
        return Attachment("media")
    return replace(make_attachment("", name=name, mime=mime), caption=text_at(pointer, "caption"))


# The tool's own English, whatever the language of the phone.
_CALL = re.compile(r"(?:Incoming|Outgoing|Missed) (?:[a-z]+ )?call(?: \([a-z0-9, ]{1,40}\))?")

_DESKTOP = word_set("conversationId sent_at sourceUuid received_at sourceServiceId")


def _reader(member: Member) -> Callable[[Member, Export], None] | None:
    """What reads the layout that a file has."""
    keys = head_keys(member)
    first = head_text(member).lstrip()[:1]
    if first == "{" and ("chatItem" in keys or {"version", "backupTimeMs"} <= keys):
        return _frames
    exported = {"date", "sender", "body", "attachments"} <= keys
    if first == "{" and exported and "messages" not in keys:
        return _read_export
    desktop = "conversationId" in keys and len(keys & _DESKTOP) > 1 and keys & {"body", "type"}
    return _desktop if desktop else None


def _draft(member: Member, export: Export, *usual: str, unit: str = "entries") -> Draft:
    """The chat of a file: it is called after its folder where its own name is a usual one."""
    folder = member.folder.rsplit("/", 1)[-1]
    name = folder if member.stem in usual and folder else member.stem
    return export.draft(member, name, unit=unit)


def _read_export(member: Member, export: Export) -> None:
    draft = _draft(member, export, "data")
    for where, item in _objects(member, draft):
        pairs = map(as_list, as_list(item.get("reactions")))
        extra = reactions(
            (scalar(pair[1]), [scalar(pair[0])], 1) for pair in pairs if len(pair) == 2
        )
        if quote := text_at(item, "quote").strip().removeprefix("> ").replace("\n> ", "\n"):
            extra["quote"] = quote
        gone = item.get("deleted") is True
        body = text_at(item, "body").removesuffix("  ")  # Markdown's line break
        entry = Entry(
            "",
            text_at(item, "sender"),
            from_stamp(item.get("date")),
            "" if gone else body,
            attachments=tuple(_files(item)),
            deleted=gone,
            extra=extra,
            odd=odd_at(item, "body"),
        )
        is_call_item = item.get("call") is True or item.get("missed") is True
        entry.call = is_call_item or _is_call(entry)
        draft.take(entry, where)


def _is_call(entry: Entry) -> bool:
    """Whether signal-export wrote this for a call; most of its versions only say so in words."""
    bare = not (entry.attachments or entry.extra or entry.deleted)
    return bare and _CALL.fullmatch(entry.text.strip()) is not None


def _files(item: Fields) -> Iterator[Attachment]:
    for file in objects_at(item, "attachments"):
        yield make_attachment(file.get("path"), name=file.get("name"))
    if sticker := item.get("sticker"):
        yield Attachment("sticker", caption=scalar(mapping(sticker).get("emoji", sticker)))


def _desktop(member: Member, export: Export) -> None:
    data = load(member)
    holder = mapping(data)
    # "messsages" is how one widespread tool spells it.
    items = data if isinstance(data, list) else holder.get("messages", holder.get("messsages"))
    people: _People = {}
    groups: set[str] = set()
    for conversation in objects_at(holder, "conversations"):
        name = text_at(conversation, "name", "profileFullName", "profileName", "e164", "id")
        for key in ("id", "e164", "uuid", "serviceId"):
            people.setdefault(text_at(conversation, key), name)
        if text_at(conversation, "type") == "group":
            groups.add(text_at(conversation, "id"))
    for index, item in enumerate(as_list(items)):
        where = f"{member.name}, messages[{index}]"
        fields = mapping(item)
        number = text_at(fields, "conversationId")
        name = people.get(number) or text_at(fields, "conversationName") or number
        draft = export.draft((member, number), name or member.stem)
        if not isinstance(item, dict):
            draft.leave(where, "not an object")
        elif item.get("type") not in ("incoming", "outgoing"):
            draft.notice()
        else:
            draft.take(_message(item, people, number not in groups), where)


def _message(item: Fields, people: _People, private: bool) -> Entry:
    if item["type"] == "outgoing":
        author, name = "", "Me"
    else:
        author = text_at(item, "sourceServiceId", "sourceUuid", "source", "conversationId")
        partner = people.get(text_at(item, "conversationId")) if private else ""
        name = people.get(author) or partner or text_at(item, "conversationName")
    sent = item.get("sent_at") or item.get("timestamp")
    gone = bool(item.get("deletedForEveryone"))
    return Entry(
        author,
        name,
        from_number(sent, 1000),
        "" if gone else _with_mentions(item.get("body"), item.get("bodyRanges"), people),
        id=scalar(sent),
        attachments=tuple(_attachments(item)),
        reply_to=text_at(item, "quote/id"),
        edited=bool(as_list(item.get("editHistory"))),
        deleted=gone,
        extra=_reactions(item, people, "fromId"),
        odd=odd_at(item, "body"),
    )


def _attachments(item: Fields) -> Iterator[Attachment]:
    for file in objects_at(item, "attachments"):
        yield make_attachment(
            file.get("path"), name=file.get("fileName"), mime=file.get("contentType")
        )
    if sticker := object_at(item, "sticker"):
        yield Attachment("sticker", caption=text_at(sticker, "emoji"))
    for link in objects_at(item, "preview"):
        yield Attachment("link", text_at(link, "title"), text_at(link, "url"))


_CUT = re.compile(r"\[\d{4}-\d\d-\d\d[\d:, ]*\]?", re.ASCII)  # a header without its end
# WhatsApp brackets its times too, but with seconds wherever it writes brackets.
_TEXT_HEAD = re.compile(r"\s*\[\d{4}-\d\d-\d\d, \d\d:\d\d\] [^\n:]+: ?", re.ASCII)
_MARKDOWN_HEAD = re.compile(r"\s*" + _STAMP + r"[^\n:]+: ?", re.ASCII)
_REACTIONS = re.compile(r"\n\(- (.*) -\)")
_STICKER = re.compile(r"\n\(\( (.*) \)\)")
# Names and paths are no longer than files have them: else every bracket looks to the end.
_FILE = re.compile(r"!?\[([^\]\n]{0,255}+)\]\((?:\./)?(media/[^)\n]{1,255})\) {0,2}")
_QUOTE = re.compile(r"\s*\n((?:>(?: .*)?(?:\n|\Z))+)\s*")


def _is_text(member: Member) -> bool:
    """Whether a text starts with a dated line as Signal's exports have, never WhatsApp's."""
    head = _MARKDOWN_HEAD if member.suffix == ".md" else _TEXT_HEAD
    return head.match(head_text(member)) is not None


_TEXTS = FormatFiles((".txt", ".md"), _is_text, most=64)
_JSON = FormatFiles((".json", ".jsonl"), lambda member: _reader(member) is not None)


def _read(export: Export) -> None:
    source, files = export.source, export.members
    alone = len(source.members) == 1
    for member in files:
        (_reader(member) or _read_export)(member, export)
    # signal-export writes every chat twice; the JSON says more than the text.
    in_json = {member.folder for member in files}
    texts = _TEXTS.find(source) if not alone else iter(() if export.drafts else source.members)
    pasted = sum(
        _read_text(member, export) for member in texts if alone or member.folder not in in_json
    )
    if not export.drafts:
        raise source.error("no Signal conversation found")
    if pasted:
        export.notes.append(f"dated lines inside messages, taken for pasted text: {pasted:,}")


def _read_text(member: Member, export: Export) -> int:
    """Reads the chat of one text file; how many dated lines in it start no message."""
    draft = _draft(member, export, "chat", "index", unit="lines")
    text = decode(member.read()).replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if not text.endswith("\n") and lines and _CUT.fullmatch(lines[-1]):
        draft.leave(f"{member.name}:{len(lines)}", "the export ends in the middle of this line")
        lines.pop()
    dated = list(_headers(lines))
    heads = _starts(dated, lines)
    starts = [*(head.place for head in heads), len(lines)]
    early = [*range(starts[0])]
    for head, end in zip(heads, starts[1:], strict=True):
        # An empty message may have lost the space behind its colon.
        speaker, colon, first_line = f"{head.rest} ".partition(": ")
        below = range(head.place + 1, end)
        if not colon:  # a dated line that nobody said
            draft.notice()
            early += below
            continue
        body = [first_line.removesuffix(" "), *(lines[place] for place in below)]
        entry = Entry("", speaker, head.time, "\n".join(body).rstrip("\n"), size=len(body))
        entry.where = f"{member.name}:{head.place + 1}"
        if member.suffix == ".md":
            _markdown(entry)
            entry.call = _is_call(entry)
        draft.add(entry)
    for place in early:
        draft.leave(f"{member.name}:{place + 1}", EARLY)
    return len(dated) - len(heads)


def _markdown(entry: Entry) -> None:
    """Takes what signal-export wrote into the text out of it again."""
    text = "\n" + entry.text
    pairs = [
        pair.rpartition(": ") for marks in _REACTIONS.findall(text) for pair in marks.split(", ")
    ]
    extra: Fields = reactions((emoji, [name], 1) for name, _, emoji in pairs)
    text = _REACTIONS.sub("", text)
    files: list[Attachment] = []
    if "](" in text:  # else a text of nothing but brackets would be searched at each of them
        files += [make_attachment(path, name=name) for name, path in _FILE.findall(text)]
        text = _FILE.sub("", text)
    files += [Attachment("sticker", caption=emoji) for emoji in _STICKER.findall(text)]
    text = _STICKER.sub("", text)
    quote = _QUOTE.match(text, 1)  # below an empty first line; what stands there was typed
    if quote is not None:
        extra["quote"] = "\n".join(line[2:].rstrip() for line in quote[1].strip().split("\n"))
        text = text[quote.end() :]
    # Two spaces at a line's end are how Markdown breaks a line.
    text = "\n".join(line.removesuffix("  ") for line in text.removeprefix("\n").split("\n"))
    entry.deleted = text.strip() == _DELETED
    entry.text = "" if entry.deleted else text.strip("\n")
    entry.attachments = tuple(files)
    entry.extra = extra


FORMAT = export_format(
    "Signal (text, signal-export, plaintext export)", "signal", _JSON, _read, _TEXTS.sniff
)
