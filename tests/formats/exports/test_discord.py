"""Discord: DiscordChatExporter's JSON, CSV and pages, and the data package."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages
from realtalk.chat import unpack_extra
from realtalk.formats.exports.discord import FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from shown import check
from text_tables import cases

ANN, BO = json.loads("""[{"id": "1", "name": "ann", "nickname": "Annie", "isBot": false},
    {"id": "2", "name": "bo", "nickname": "Bo", "isBot": false}]""")


def entry(number: int, **values: Any) -> dict[str, Any]:
    empty: dict[str, Any] = json.loads("""{"type": "Default", "timestampEdited": null,
        "isPinned": false, "attachments": [], "embeds": [], "stickers": [], "reactions": [],
        "mentions": []}""")
    stamp = f"2024-05-01T09:{30 + number % 30}:00.5+00:00"
    told = {"id": str(number), "timestamp": stamp, "content": f"text {number}", "author": ANN}
    return empty | told | values


def export(*items: Any) -> dict[str, Any]:
    about: dict[str, Any] = json.loads("""{"guild": {"id": "0", "name": "Gardeners"},
        "channel": {"id": "5", "type": "GuildTextChat", "name": "general", "topic": null},
        "dateRange": {"after": null, "before": null}}""")
    return about | {"messages": list(items)}


def read(folder: Path, files: dict[str, str], **options: Any) -> ReadCorpus:
    return exported.read(folder, files, "discord", **options)


def read_json(folder: Path, *items: Any, **options: Any) -> ReadCorpus:
    return read(folder, {"general.json": json.dumps(export(*items))}, **options)


def test_messages_replies_and_what_nobody_wrote(tmp_path: Path) -> None:
    reading = read_json(
        tmp_path,
        entry(1),
        entry(2, type="Reply", author=BO, reference={"messageId": "1"}, timestampEdited="2024"),
        *(entry(3 + i, type=kind) for i, kind in enumerate(["Call", "RecipientAdd", "18"])),
        entry(6, type="20", author=BO | {"isBot": True}),
        entry(7, content=""),
    )
    check(
        reading,
        """
        general (Annie, Bo) {"authors":{"Annie":"1","Bo":"2"},"calls":{"Annie":["2024-05-01T09:3
            3:00.500000"]},"guild":"Gardeners","id":"5","type":"GuildTextChat"}
        session 1, 2024-05-01 09:31:00.500000
        D1:1 2024-05-01 09:31:00.500000 Annie: text 1
            {"id":"1"}
        D1:2 2024-05-01 09:32:00.500000 Bo, to D1:1, edited: text 2
            {"edited":"2024","id":"2"}
        D1:3 2024-05-01 09:36:00.500000 Bo: text 6
            {"bot":true,"id":"6"}
        ann is Annie by the export
        bo is Bo by the export
        7 entries = 3 in messages + 3 system + 1 left over
        general.json, messages[6]: neither text nor attachment
        """,
    )


@pytest.mark.parametrize(
    "kinds",
    [
        "GuildMemberJoin ChannelPinnedMessage ThreadCreated ChannelNameChange",
        "7 8 11 12 21 22 24 25 27 44 46 99",
    ],
)
def test_notices_by_their_type(tmp_path: Path, kinds: str) -> None:
    notices = [entry(2, type=kind) for kind in kinds.split()]
    ledger = read_json(tmp_path, entry(1), *notices).ledger
    assert (ledger.in_messages, ledger.system) == (1, len(notices))


@cases("""
    words
    Pinned a message.
    Joined the server.
    Started a call that lasted 1,204 minutes.
    Added Bo to the group.
    Changed the channel name: flowers
    Started a thread.
""")
def test_notices_in_a_table(tmp_path: Path, words: str) -> None:
    table = (
        "AuthorID,Author,Date,Content,Attachments,Reactions\n"
        f'"1","ann","2024-05-01T09:30:00+00:00","{words}","",""\n'
        f'"1","ann","2024-05-01T09:31:00+00:00","so: {words}","",""\n'
    )
    reading = read(tmp_path, {"general.csv": table})
    assert [message.text for message in messages(reading)] == [f"so: {words}"]
    assert reading.ledger.system == 1


def test_mentions_by_id_are_shown_by_name(tmp_path: Path) -> None:
    reading = read_json(tmp_path, entry(1, content="<@2> <@!2> <@9> <@&2>", mentions=[BO]))
    assert messages(reading)[0].text == "@Bo @Bo <@9> <@&2>"


def test_attachments_stickers_embeds_and_forwards(tmp_path: Path) -> None:
    sent = json.loads("""{"content": "",
        "attachments": [{"url": "https://cdn/a.PNG?ex=1", "fileName": "a.PNG"}],
        "stickers": [{"name": "wave", "sourceUrl": "https://cdn/s.json"}],
        "embeds": [{"title": "T", "url": "https://a.org", "description": "D"}, {"color": 1}],
        "reactions": [{"emoji": {"name": "👍"}, "count": 3, "users": [{"nickname": "Bo"}]}],
        "mentions": [{"id": "2", "name": "bo", "nickname": "Bo"}]}""")
    forward = json.loads("""{"content": "", "reference": {"messageId": "1", "type": "Forward"},
        "forwardedMessage": {"content": "passed on", "attachments": [{"url": "b.mp3"}]}}""")
    check(
        read_json(tmp_path, entry(1, **sent), entry(2, **forward)),
        """
        general (Annie)
            {"authors":{"Annie":"1"},"guild":"Gardeners","id":"5","type":"GuildTextChat"}
        session 1, 2024-05-01 09:31:00.500000
        D1:1 2024-05-01 09:31:00.500000 Annie:
            image a.PNG https://cdn/a.PNG?ex=1
            sticker wave https://cdn/s.json
            link T https://a.org D
            {"id":"1","mentions":["Bo"],"reactions":[{"by":["Bo"],"count":3,"emoji":"👍"}]}
        D1:2 2024-05-01 09:32:00.500000 Annie: passed on
            audio b.mp3 b.mp3
            {"forwarded":true,"id":"2"}
        ann is Annie by the export
        2 entries = 2 in messages + 0 system + 0 left over
        """,
    )


def test_parts_of_a_channel_are_joined_and_overlaps_taken_once(tmp_path: Path) -> None:
    parts = {
        "general [part 2].json": json.dumps(export(entry(2), entry(3))),
        "general.json": json.dumps(export(entry(1), entry(2, author=ANN | {"nickname": "A."}))),
    }
    reading = read(tmp_path, parts)
    assert [message.text for message in messages(reading)] == ["text 1", "text 2", "text 3"]
    assert [left.reason for left in reading.ledger.leftovers] == ["repeats message 2"]


def test_times_keep_their_written_clock_unless_a_zone_is_asked_for(tmp_path: Path) -> None:
    item = entry(1, timestamp="2024-05-01T09:30:00+02:00")
    assert messages(read_json(tmp_path, item))[0].time == datetime(2024, 5, 1, 9, 30)
    [zoned] = messages(read_json(tmp_path, item, timezone="UTC"))
    assert zoned.time == datetime(2024, 5, 1, 7, 30)


@cases("""
    date                              | expected
    2024-05-13T09:30:00.0000000+00:00 | 2024-05-13 09:30:00
    13-May-24 09:30 PM                | 2024-05-13 21:30:00
    05/13/2024 12:05 AM               | 2024-05-13 00:05:00
    13/05/2024 21:30                  | 2024-05-13 21:30:00
    13.05.2024 21:30:07               | 2024-05-13 21:30:07
    soon                              | None
""")
def test_csv(tmp_path: Path, date: str, expected: str) -> None:
    text = (
        "AuthorID,Author,Date,Content,Attachments,Reactions\r\n"
        f'"1","ann#0001","{date}","one, ""two""\nthree","https://cdn/a.png,https://cdn/b.zip",'
        '"👍 (2),wave (1)"\r\n'
        '"2","bo"\r\n'
    )
    reading = read(tmp_path, {"general.csv": text})
    [message] = messages(reading)
    assert (message.speaker, message.text) == ("ann#0001", 'one, "two"\nthree')
    assert str(message.time) == expected
    assert [file.kind for file in message.attachments] == ["image", "file"]
    assert [r["count"] for r in unpack_extra(message.extra)["reactions"]] == [2, 1]
    assert len(reading.ledger.leftovers) == 1
    assert bool(reading.notes) == (expected == "None")


def test_the_data_package(tmp_path: Path) -> None:
    files = {
        "Account/user.json": '{"id": "1", "username": "ann", "global_name": "Ann"}',
        "Messages/index.json": '{"123": "general in Gardeners", "124": null}',
        "Messages/c123/channel.json": '{"id": "123"}',
        "Messages/c123/messages.json": """[
            {"ID": 42, "Timestamp": "2024-05-01 09:31:00", "Contents": "later", "Attachments": ""},
            {"ID": 41, "Timestamp": "2024-05-01 09:30:00", "Contents": "",
             "Attachments": "x/a.png"}, 7]""",
        "Messages/c124/messages.csv": "ID,Timestamp,Contents,Attachments\r\n"
        '7,2021-01-01 10:00:00.5+00:00,"a, b",\r\n',
    }
    check(
        read(tmp_path, files),
        """
        general in Gardeners (Ann) {"authors":{"Ann":"1"},"id":"123"}
        session 1, 2024-05-01 09:30:00
        D1:1 2024-05-01 09:30:00 Ann:
            image a.png x/a.png
            {"id":"41"}
        D1:2 2024-05-01 09:31:00 Ann: later
            {"id":"42"}
        channel 124 (Ann) {"authors":{"Ann":"1"},"id":"124"}
        session 1, 2021-01-01 10:00:00.500000
        D1:1 2021-01-01 10:00:00.500000 Ann: a, b
            {"id":"7"}
        4 entries = 3 in messages + 0 system + 1 left over
        Messages/c123/messages.json, [2]: not an object
        a Discord data package holds its owner's messages only
        not read, though it could be a chat: Messages/c123/channel.json (not recognised); read
            it alone to see why
        """,
    )
    tokyo = messages(FORMAT.read(Source.open(tmp_path), ReadOptions(timezone="Asia/Tokyo")))
    assert tokyo[0].time == datetime(2024, 5, 1, 18, 30)
    assert tokyo[2].time == datetime(2021, 1, 1, 19, 0, 0, 500000)


def test_the_data_package_without_its_owner(tmp_path: Path) -> None:
    row = {"ID": 41, "Timestamp": "2024-05-01T11:30:00+02:00", "Contents": "hi", "Attachments": ""}
    reading = read(tmp_path, {"messages.json": json.dumps([row])})
    assert reading.corpus.speakers == ("me",)
    assert messages(reading)[0].time == datetime(2024, 5, 1, 9, 30)


# --- pages, minified as DiscordChatExporter writes them ---


START = 1714548600000  # 2024-05-01 07:30 UTC


def number(minute: int) -> int:
    return (START + 60_000 * minute - 1_420_070_400_000) << 22


def bubble(minute: int, inside: str, aside: str = "") -> str:
    name = number(minute)
    return (
        f"<div id=chatlog__message-container-{name} class=chatlog__message-container "
        f"data-message-id={name}><div class=chatlog__message><div class=chatlog__message-aside>"
        f"{aside}</div><div class=chatlog__message-primary>{inside}</div></div></div>"
    )


def header(name: str, account: str, user: int, *, bot: bool = False) -> str:
    tag = "<span class=chatlog__author-tag>BOT</span>" if bot else ""
    return (
        f'<div class=chatlog__header><span class=chatlog__author style="color:rgb(1,2,3)" '
        f"title={account} data-user-id={user}>{name}</span>{tag} <span class=chatlog__timestamp>"
        f"<a href=#x>5/1/2024 7:30 AM</a></span></div>"
    )


def words(said: str, after: str = "") -> str:
    return (
        "<div class='chatlog__content chatlog__markdown'><span class=chatlog__markdown-preserve>"
        f"<!--wmm:ignore-->{said}<!--/wmm:ignore--></span>{after}</div>"
    )


EDITED = '<span class=chatlog__edited-timestamp title="5/1/2024 7:40 AM">(edited)</span>'
REPLY = (
    "<div class=chatlog__reply><div class=chatlog__reply-author title=ida>Ida</div><div "
    f'class=chatlog__reply-content><span class=chatlog__reply-link onclick="scrollToMessage(event, '
    f"'{number(0)}')\">did it rain?</span></div></div>"
)
FILES = (
    "<div class=chatlog__attachment><a href=https://cdn/bed.png><img "
    "class=chatlog__attachment-media src=https://cdn/bed.png title='Image: bed.png'></a></div>"
    "<div class=chatlog__attachment><div class=chatlog__attachment-generic><svg "
    "class=chatlog__attachment-generic-icon><use href=#attachment-icon /></svg><div "
    "class=chatlog__attachment-generic-name><a href=https://cdn/plan.pdf>plan.pdf</a></div></div></div>"
    "<div class=chatlog__embed><div class=chatlog__embed-text><div class=chatlog__embed-title><a "
    "class=chatlog__embed-title-link href=https://x.org/a><div class=chatlog__markdown>Beans</div>"
    "</a></div><div class=chatlog__embed-description>how to</div></div></div>"
    "<div class=chatlog__sticker title=wave><img class=chatlog__sticker--media src=https://cdn/w.png>"
    "</div>"
)
REACTIONS = (
    "<div class=chatlog__reactions><div class=chatlog__reaction title=seedling><img "
    "class='chatlog__emoji chatlog__emoji--small' alt=🌱 src=x><span "
    "class=chatlog__reaction-count>3</span></div></div>"
)
NOTICE = (
    "<span class=chatlog__system-notification-author title=ben data-user-id=2>Ben</span><span "
    "class=chatlog__system-notification-content><span>pinned a message</span></span>"
)
HEAD = (
    "<!DOCTYPE html><html lang=en><head><title>Gardeners - beds</title><style>"
    + ".chatlog__message-group{} .x{}" * 3000
    + "</style></head><body><div class=preamble><div class=preamble__entries-container><div "
    "class=preamble__entry>Gardeners</div><div class=preamble__entry>Outside / beds</div>"
    "</div></div><div class=chatlog>"
)


def page(*groups: str) -> str:
    joined = "".join(f"<div class=chatlog__message-group>{group}</div>" for group in groups)
    return f"{HEAD}{joined}</div><div class=postamble></div></body></html>"


WHOLE = page(
    bubble(0, header("Ida", "ida_h", 1) + words("did it rain?<br>here &lt;3 <img alt=🌧 src=x>"))
    + bubble(1, words("two\nlines", EDITED) + FILES),
    bubble(2, REPLY + header("Ben", "ben", 2) + words("it did") + REACTIONS),
    bubble(3, NOTICE),
    bubble(4, header("Polly", "polly", 3, bot=True) + words("poll!")),
    bubble(5, header("Ida", "ida_h", 1)),
)


def test_a_page(tmp_path: Path) -> None:
    reading = read(tmp_path, {"Gardeners - beds.html": WHOLE})
    check(
        reading,
        """
        beds (Ida, Ben, Polly) {"authors":{"Ben":"2","Ida":"1","Polly":"3"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida: did it rain?⏎here <3 🌧
            {"id":"1235131092172800000"}
        D1:2 2024-05-01 07:31:00 Ida, edited: two⏎lines
            image bed.png https://cdn/bed.png
            file plan.pdf https://cdn/plan.pdf
            link Beans https://x.org/a how to
            sticker w.png https://cdn/w.png
            {"id":"1235131343831040000"}
        D1:3 2024-05-01 07:32:00 Ben, to D1:1: it did
            {"id":"1235131595489280000","reactions":[{"by":[],"count":3,"emoji":"seedling"}]}
        D1:4 2024-05-01 07:34:00 Polly: poll!
            {"bot":true,"id":"1235132098805760000"}
        ida_h is Ida by the export
        ben is Ben by the export
        polly is Polly by the export
        6 entries = 4 in messages + 1 system + 1 left over
        Gardeners - beds.html, message 1235132350464000000: neither text nor attachment
        """,
    )


def test_written_dates_where_the_numbers_are_no_times(tmp_path: Path) -> None:
    text = WHOLE.replace(str(number(0)), "41").replace(str(number(1)), "42")
    [chat] = read(tmp_path, {"x.html": text}, timezone="Europe/Berlin").corpus.chats
    assert {"2024-05-01 07:30:00", "2024-05-01 09:32:00"} <= {str(m.time) for m in chat.messages}


def test_parts_of_one_channel_are_joined(tmp_path: Path) -> None:
    names = (f"Gardeners - beds [123456]{part}.html" for part in ("", " [part 2]"))
    found = read(tmp_path, dict.fromkeys(names, WHOLE))
    assert len(found.corpus.chats) == 1 and found.ledger.in_messages == 4


# --- up to 2.x: the author stands before the group ---------------------------------------


def old_page(*groups: str, head: str = "info") -> str:
    """The page of 2.0 to 2.13; later ones say "preamble", and the style names come first."""
    about = (
        '<div class="info"><div class="info__metadata"><div class="info__guild-name">Gardeners'
        '</div><div class="info__channel-name">beds</div></div></div>'
        if head == "info"
        else '<div class="preamble"><div class="preamble__entry">Gardeners</div>'
        '<div class="preamble__entry">beds</div></div>'
    )
    style = "<style>.chatlog__message-group{display:flex}.chatlog__author-name{color:red}</style>"
    inside = "\n".join(groups)
    return f'<html>{style}<body>{about}<div class="chatlog">{inside}</div></body></html>'


def old_group(name: str, about: str, stamp: str, *inside: str) -> str:
    return (
        '<div class="chatlog__message-group">\n<div class="chatlog__author-avatar-container"><img '
        'class="chatlog__author-avatar" src="https://cdn/a.png" /></div>\n'
        f'<div class="chatlog__messages">\n<span class="chatlog__author-name" {about}>{name}</span>'
        f'\n<span class="chatlog__timestamp">{stamp}</span>\n{"".join(inside)}</div></div>'
    )


def old_words(words: str, after: str = "") -> str:
    return f'<div class="chatlog__content">\n    {words}\n\n    {after}\n</div>'


OLD_EDITED = '<span class="chatlog__edited-timestamp" title="01-May-19 09:40 AM">(edited)</span>'
OLD_FILE = '<div class="chatlog__attachment"><a href="https://cdn/{0}">{1}</a></div>'
PICTURE = '<img class="chatlog__attachment-thumbnail" src="https://cdn/bed.png" />'
OLD_CARD = (
    '<div class="chatlog__embed"><div class="chatlog__embed-title"><a class='
    '"chatlog__embed-title-link" href="https://x.org/a">Beans</a></div></div>'
)
OLD_REACTIONS = (
    '<div class="chatlog__reactions"><div class="chatlog__reaction"><span '
    'class="chatlog__reaction-emoji">👍</span><span class="chatlog__reaction-count">3</span></div>'
    '<div class="chatlog__reaction"><span class="chatlog__reaction-emoji"><img class="emoji" '
    'title="bean" src="https://cdn/e.png" /></span><span class="chatlog__reaction-count">1</span>'
    "</div></div>"
)


def test_a_page_without_numbers(tmp_path: Path) -> None:
    text = old_page(
        old_group(
            "Ida",
            'title="ida#1234"',
            "01-May-19 09:30 AM",
            old_words("did it<br />rain?", OLD_EDITED),
            OLD_FILE.format("bed.png", PICTURE),
            OLD_REACTIONS,
            OLD_FILE.format("plan.pdf", "Attachment: plan.pdf (12 KB)"),
            old_words("second &amp; last"),
            OLD_CARD,
            old_words("Pinned a message."),
        ),
        old_group("Ida", 'title="other#9"', "01-May-19 09:45 PM", old_words("I am another Ida")),
    )
    check(
        read(tmp_path, {"beds.html": text}),
        """
        beds (ida#1234, other#9) {"authors":{"ida#1234":"ida#1234","other#9":"other#9"}}
        session 1, 2019-05-01 09:30:00
        D1:1 2019-05-01 09:30:00 ida#1234, edited: did it⏎rain?
            image bed.png https://cdn/bed.png
            {"reactions":[{"by":[],"count":3,"emoji":"👍"},{"by":[],"count":1,"emoji":"bean"}]}
        D1:2 2019-05-01 09:30:00 ida#1234:
            file plan.pdf https://cdn/plan.pdf
        D1:3 2019-05-01 09:30:00 ida#1234: second & last
            link Beans https://x.org/a
        session 2, 2019-05-01 21:45:00
        D2:1 2019-05-01 21:45:00 other#9: I am another Ida
        5 entries = 4 in messages + 1 system + 0 left over
        """,
    )


def test_a_page_with_numbers_and_the_author_before_them(tmp_path: Path) -> None:
    def said(minute: int, inside: str) -> str:
        return f'<div class="chatlog__message " data-message-id="{number(minute)}">{inside}</div>'

    bot = '<span class="chatlog__bot-tag">BOT</span>'
    markdown = '<div class="chatlog__content"><div class="markdown">{}</div></div>'
    text = old_page(
        old_group(
            "Ida",
            'title="ida#1" data-user-id="7"',
            "x",
            said(0, markdown.format("hi")),
            said(4, markdown.format("so?")),
        ),
        old_group(
            "Bert", 'title="b#2" data-user-id="8"', f"x{bot}", said(5, markdown.format("no"))
        ),
        head="preamble",
    )
    check(
        read(tmp_path, {"beds.html": text}),
        """
        beds (Ida, Bert) {"authors":{"Bert":"8","Ida":"7"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida: hi
            {"id":"1235131092172800000"}
        D1:2 2024-05-01 07:34:00 Ida: so?
            {"id":"1235132098805760000"}
        D1:3 2024-05-01 07:35:00 Bert: no
            {"bot":true,"id":"1235132350464000000"}
        ida#1 is Ida by the export
        b#2 is Bert by the export
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )


def test_a_page_of_the_first_years(tmp_path: Path) -> None:
    group = (
        '<div class="msg"><div class="msg-left"><img class="msg-avatar" src="a.png" /></div>'
        '<div class="msg-right"><span class="msg-user" title="ann#1">{}</span>\n'
        '<span class="msg-date">{}</span>{}</div></div>'
    )
    words = '<div class="msg-content">{}</div>'
    picture = (
        '<div class="msg-attachment"><a href="https://cdn/b.png"><img class="msg-attachment" '
        'src="https://cdn/b.png" /></a></div>'
    )
    text = (
        '<html><body><div id="info"><div class="info-right"><div class="guild-name">Gardeners</div>'
        '<div class="channel-name">beds</div></div></div><div id="log">'
        + group.format("Ann", "25.10.2017 09:30:05", words.format("hi") + words.format("you?"))
        + group.format("Ann", "26.10.2017 09:30:05", words.format("look") + picture)
        + "</div></body></html>"
    )
    check(
        read(tmp_path, {"beds.html": text}),
        """
        beds (Ann) {"authors":{"Ann":"ann#1"}}
        session 1, 2017-10-25 09:30:05
        D1:1 2017-10-25 09:30:05 Ann: hi
        D1:2 2017-10-25 09:30:05 Ann: you?
        session 2, 2017-10-26 09:30:05
        D2:1 2017-10-26 09:30:05 Ann: look
            image b.png https://cdn/b.png
        ann#1 is Ann by the export
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )
