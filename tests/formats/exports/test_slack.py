"""Slack: a workspace's channels, people, threads and markup."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from realtalk.chat import Attachment, Chat, Message, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.formats.exports.slack import FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source

WORKSPACE: dict[str, Any] = {
    "users.json": [
        {"id": "U1", "name": "ann.b", "profile": {"display_name": "ann", "real_name": "Ann Berg"}},
        {"id": "U2", "name": "bo", "profile": {"display_name": "", "real_name": "Bo Lund"}},
        {"id": "U3", "name": "cy", "profile": {}},
    ],
    "channels.json": [{"id": "C1", "name": "general", "members": ["U1"], "topic": {"value": "T"}}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "integration_logs.json": [],
}


def entry(ts: str, **values: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": f"text {ts}", "ts": ts} | values


def read(path: Path, days: dict[str, Any], options: ReadOptions | None = None) -> ReadCorpus:
    archive_path = path / "Gardeners export.zip"
    with ZipFile(archive_path, "w") as archive:
        for name, value in (WORKSPACE | days).items():
            archive.writestr(name, json.dumps(value))
    source = Source.open(archive_path)
    assert FORMAT.sniff(source)
    return FORMAT.read(source, options or ReadOptions())


def only(path: Path, **values: Any) -> Message:
    reading = read(path, {"general/2024-05-01.json": [entry("1714548600.000100", **values)]})
    [message] = reading.corpus.chats[0].messages
    return message


def by_id(reading: ReadCorpus) -> dict[str, Chat]:
    return {chat.id: chat for chat in reading.corpus.chats}


def test_one_chat_a_channel_with_days_in_order(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        {
            "general/2024-05-02.json": [entry("1714635000.000100", user="U3")],
            "general/2024-05-01.json": [entry("1714548600.000100")],
            "D1/2024-05-01.json": [entry("1714548600.000100", user="U2")],
        },
    )
    chats = by_id(reading)
    assert set(chats) == {"general", "ann, Bo Lund"}
    assert chats["general"].speakers == ("ann", "cy")
    assert chats["ann, Bo Lund"].speakers == ("Bo Lund",)
    assert unpack_extra(chats["general"].extra)["topic"] == "T"
    assert next(iter(chats["general"].messages)).time == datetime(2024, 5, 1, 7, 30, 0, 100)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("hey <@U2> and <@U9|zoe> and <@U8>", "hey @Bo Lund and @zoe and @U8"),
        ("in <#C1> or <#C7|other>", "in #general or #other"),
        ("<!here> <!subteam^S1|@team> <!date^1^x|May 1>", "@here @team May 1"),
        ("1 &lt; 2 &amp;&amp; &amp;lt;", "1 < 2 && &lt;"),
        ("<https://a.org/?a=1&amp;b=2>", "https://a.org/?a=1&b=2"),
        ("<mailto:a@b.org|a@b.org>", "a@b.org"),
    ],
)
def test_markup(tmp_path: Path, written: str, shown: str) -> None:
    message = only(tmp_path, text=written)
    assert (message.text, message.attachments) == (shown, ())


def test_text_that_stands_in_blocks_only(tmp_path: Path) -> None:
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "hello "},
                    {"type": "user", "user_id": "U2"},
                    {"type": "emoji", "name": "wave"},
                    {"type": "link", "url": "https://x.example"},
                ],
            },
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "bye"}]},
        ],
    }
    plain = {"type": "section", "text": {"type": "mrkdwn", "text": "see <@U1>"}}
    message = only(tmp_path, text="", blocks=[rich, plain])
    assert message.text == "hello @Bo Lund:wave:https://x.example\nbye\nsee @ann"
    assert only(tmp_path, text="said", blocks=[rich]).text == "said"


def test_a_link_behind_words_is_kept(tmp_path: Path) -> None:
    message = only(tmp_path, text="see <https://a.org|the page>")
    assert message.text == "see the page"
    assert message.attachments == (Attachment("link", "the page", "https://a.org"),)


def test_system_entries_bots_and_deleted_messages(tmp_path: Path) -> None:
    bot = {"subtype": "bot_message", "bot_id": "B1", "user": None}
    reading = read(
        tmp_path,
        {
            "general/2024-05-01.json": [
                entry("1714548600.000100", subtype="channel_join"),
                entry("1714548601.000100", **bot, username="Deploys"),
                entry("1714548602.000100", **bot, bot_profile={"name": "Helper"}),
                entry("1714548603.000100", subtype="tombstone", user="USLACKBOT"),
                entry("1714548604.000100", subtype="me_message", edited={"ts": "1"}),
                entry("1714548605.000100", user="U9", user_profile={"real_name": "Zoe"}),
                entry("1714548606.000100", user=None),
                "rubbish",
            ]
        },
    )
    [chat] = reading.corpus.chats
    # A tombstone does not say whose message it was, and it was not Slackbot's.
    assert chat.speakers == ("Deploys", "Helper", "ann", "Zoe")
    assert [message.edited for message in chat.messages] == [False, False, True, False]
    assert str(reading.ledger) == "8 entries = 4 in messages + 2 system + 2 left over"


def test_bots_stand_under_the_names_that_the_archive_has_for_them(tmp_path: Path) -> None:
    bot: dict[str, Any] = {"subtype": "bot_message", "user": None}
    helper = {"id": "U7", "is_bot": True, "name": "helper", "profile": {"bot_id": "B7"}}
    reading = read(
        tmp_path,
        {
            "users.json": [*WORKSPACE["users.json"], helper],
            "integration_logs.json": [
                {"service_id": "55", "service_type": "Weather"},
                {"app_id": "A9", "app_type": "Calendar"},
            ],
            "general/2024-05-01.json": [
                entry("1714548600.000100", **bot, bot_id="B1"),  # another entry has its name
                entry("1714548601.000100", **bot, bot_id="B1", username="Deploys"),
                entry("1714548602.000100", **bot, bot_id="B7"),
                entry("1714548603.000100", **bot, bot_id="B9", app_id="A9"),
                entry("1714548604.000100", **bot, bot_id="55"),
                entry("1714548605.000100", user="U8", bot_id="B8", bot_profile={"name": "Polls"}),
                entry("1714548606.000100", user="U7"),
                entry("1714548607.000100", **bot, bot_id="B0"),  # nobody has
                entry("1714548608.000100"),
            ],
        },
    )
    [chat] = reading.corpus.chats
    said = [(m.speaker, unpack_extra(m.extra).get("bot", False)) for m in chat.messages]
    assert said == [
        *(("Deploys", True), ("Deploys", True), ("helper", True), ("Calendar", True)),
        *(("Weather", True), ("Polls", True), ("helper", True), ("B0", True), ("ann", False)),
    ]


@pytest.mark.parametrize(
    "subtype",
    [
        *("channel_join", "group_leave", "channel_topic", "channel_convert_to_private"),
        *("pinned_item", "reminder_add", "huddle_thread", "sh_room_created", "bot_add"),
        *(
            "joiner_notification",
            "file_mention",
            "tombstone",
            "channel_canvas_updated",
            "brand_new",
        ),
    ],
)
def test_notices_by_their_subtype(tmp_path: Path, subtype: str) -> None:
    day = [entry("1714548600.000100", subtype=subtype), entry("1714548601.000100")]
    reading = read(tmp_path, {"general/2024-05-01.json": day})
    assert str(reading.ledger) == "2 entries = 1 in messages + 1 system + 0 left over"


def test_what_a_person_typed_is_theirs_whatever_its_subtype(tmp_path: Path) -> None:
    assert only(tmp_path, subtype="brand_new", client_msg_id="c-1").speaker == "ann"


def test_comments_on_files(tmp_path: Path) -> None:
    file = {"name": "plan.pdf", "mimetype": "application/pdf", "url_private": "https://s/p"}
    comment = {"id": "Fc1", "user": "U2", "comment": "nice &amp; short"}
    told = "<@U2|bo> commented on <@U1|ann>'s file <https://s/p|plan.pdf>: nice &amp; short"
    message = only(
        tmp_path, subtype="file_comment", user=None, text=told, file=file, comment=comment
    )
    assert (message.speaker, message.text) == ("Bo Lund", "nice & short")
    assert message.attachments == (Attachment("file", "plan.pdf", "https://s/p"),)
    uploaded = "<@U1|ann> uploaded a file: <https://s/p|plan.pdf>"
    message = only(tmp_path, subtype="file_share", text=uploaded, file=file)
    assert (message.speaker, message.text) == ("ann", "")


def test_threads_reply_to_their_first_message(tmp_path: Path) -> None:
    root = "1714548600.000100"
    reading = read(
        tmp_path,
        {
            "general/2024-05-01.json": [entry(root, thread_ts=root, reply_count=1)],
            "general/2024-05-02.json": [
                entry("1714635000.000100", thread_ts=root),
                entry("1714635001.000100", thread_ts="1000000000.000100"),
            ],
        },
    )
    first, answer, stray = reading.corpus.chats[0].messages
    assert (first.reply_to, answer.reply_to, stray.reply_to) == (None, first.id, None)
    assert unpack_extra(stray.extra)["reply_to"] == "1000000000.000100"


def test_files_cards_and_reactions(tmp_path: Path) -> None:
    message = only(
        tmp_path,
        text="",
        files=[
            {"name": "a.bin", "mimetype": "image/png", "url_private": "https://s/a"},
            {"mode": "tombstone"},
        ],
        attachments=[{"title": "T &amp; U", "title_link": "https://a.org", "text": "D"}, {"id": 1}],
        reactions=[{"name": "tada", "users": ["U2", "U7"], "count": 2}],
    )
    assert message.attachments == (
        Attachment("image", "a.bin", "https://s/a"),
        Attachment("media"),
        Attachment("link", "T & U", "https://a.org", "D"),
    )
    expected = [{"emoji": "tada", "count": 2, "by": ["Bo Lund", "U7"]}]
    assert unpack_extra(message.extra)["reactions"] == expected


def test_a_single_day_file_has_ids_for_names(tmp_path: Path) -> None:
    path = tmp_path / "2024-05-01.json"
    path.write_text(json.dumps([entry("1714548600.000100", text="<@U2> hi")]), encoding="utf-8")
    source = Source.open(path)
    assert FORMAT.sniff(source)
    [chat] = FORMAT.read(source, ReadOptions(timezone="Asia/Tokyo")).corpus.chats
    [message] = chat.messages
    assert (chat.id, message.speaker, message.text) == ("2024-05-01", "U1", "@U2 hi")
    assert message.time == datetime(2024, 5, 1, 16, 30, 0, 100)


def test_a_channel_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "general"
    folder.mkdir()
    day = json.dumps([entry("1714548600.000100")])
    for name in ("2024-05-01.json", "2024-05-02.json"):
        (folder / name).write_text(day, encoding="utf-8")
    reading = FORMAT.read(Source.open(folder), ReadOptions())
    assert [chat.id for chat in reading.corpus.chats] == ["general"]
    assert (reading.ledger.in_messages, len(reading.ledger.leftovers)) == (1, 1)


def test_a_broken_day_is_named(tmp_path: Path) -> None:
    with pytest.raises(RealtalkError, match=r"2024-05-02\.json"):
        read(
            tmp_path,
            {
                "general/2024-05-01.json": [entry("1714548600.000100")],
                "general/2024-05-02.json": {"ok": False},
            },
        )
