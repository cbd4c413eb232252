"""Discord: DiscordChatExporter's JSON and CSV, and the data package."""

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


def test_sample(data: Path) -> None:
    reading = FORMAT.read(
        Source.open(data / "chat_exports" / "discord" / "ca_DM_2A_2M.json"), ReadOptions()
    )
    assert (reading.ledger.in_messages, reading.ledger.system) == (2, 1)
    assert len(reading.corpus.speakers) == 2
