"""Slack: a workspace's channels, people, threads and markup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import exported
from realtalk.chat import Attachment, Message
from realtalk.formats.reading import ReadCorpus
from shown import check

WORKSPACE: dict[str, Any] = json.loads("""{
"users.json": [
 {"id": "U1", "name": "ann.b", "profile": {"display_name": "ann", "real_name": "Ann Berg"}},
 {"id": "U2", "name": "bo", "profile": {"display_name": "", "real_name": "Bo Lund"}},
 {"id": "U3", "name": "cy", "profile": {}}],
"channels.json": [{"id": "C1", "name": "general", "members": ["U1"], "topic": {"value": "T"}}],
"dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
"integration_logs.json": []}""")


def entry(ts: str, **values: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": f"text {ts}", "ts": ts} | values


def read(folder: Path, days: dict[str, Any]) -> ReadCorpus:
    return exported.read(folder, WORKSPACE | days, "slack")


def only(path: Path, **values: Any) -> Message:
    reading = read(path, {"general/2024-05-01.json": [entry("1714548600.000100", **values)]})
    [message] = reading.corpus.chats[0].messages
    return message


def test_one_chat_a_channel_with_days_in_order(tmp_path: Path) -> None:
    days = {
        "general/2024-05-02.json": [entry("1714635000.000100", user="U3")],
        "general/2024-05-01.json": [entry("1714548600.000100")],
        "D1/2024-05-01.json": [entry("1714548600.000100", user="U2")],
    }
    check(
        read(tmp_path, days),
        """
        ann, Bo Lund (Bo Lund) {"authors":{"Bo
            Lund":"U2"},"id":"D1","kind":"dms","members":["ann","Bo Lund"]}
        session 1, 2024-05-01 07:30:00.000100
        D1:1 2024-05-01 07:30:00.000100 Bo Lund: text 1714548600.000100
            {"id":"1714548600.000100"}
        general (ann, cy) {"authors":{"ann":"U1","cy":"U3"},"id":"C1","kind":"channels","members
            ":["ann"],"topic":"T"}
        session 1, 2024-05-01 07:30:00.000100
        D1:1 2024-05-01 07:30:00.000100 ann: text 1714548600.000100
            {"id":"1714548600.000100"}
        session 2, 2024-05-02 07:30:00.000100
        D2:1 2024-05-02 07:30:00.000100 cy: text 1714635000.000100
            {"id":"1714635000.000100"}
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )


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
    rich = json.loads("""{"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": [
            {"type": "text", "text": "hello "}, {"type": "user", "user_id": "U2"},
            {"type": "emoji", "name": "wave"}, {"type": "link", "url": "https://x.example"}]},
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "bye"}]}]}""")
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
    day = [
        entry("1714548600.000100", subtype="channel_join"),
        entry("1714548601.000100", **bot, username="Deploys"),
        entry("1714548602.000100", **bot, bot_profile={"name": "Helper"}),
        # A tombstone does not say whose message it was, and it was not Slackbot's.
        entry("1714548603.000100", subtype="tombstone", user="USLACKBOT"),
        entry("1714548604.000100", subtype="me_message", edited={"ts": "1"}),
        entry("1714548605.000100", user="U9", user_profile={"real_name": "Zoe"}),
        entry("1714548606.000100", user=None),
        "rubbish",
    ]
    check(
        read(tmp_path, {"general/2024-05-01.json": day}),
        """
        general (Deploys, Helper, ann, Zoe) {"authors":{"Deploys":"B1/Deploys","Helper":"B1/Help
            er","Zoe":"U9","ann":"U1"},"id":"C1","kind":"channels","members":["ann"],"topic":"T"
            }
        session 1, 2024-05-01 07:30:01.000100
        D1:1 2024-05-01 07:30:01.000100 Deploys: text 1714548601.000100
            {"bot":true,"id":"1714548601.000100","subtype":"bot_message"}
        D1:2 2024-05-01 07:30:02.000100 Helper: text 1714548602.000100
            {"bot":true,"id":"1714548602.000100","subtype":"bot_message"}
        D1:3 2024-05-01 07:30:04.000100 ann, edited: text 1714548604.000100
            {"id":"1714548604.000100","subtype":"me_message"}
        D1:4 2024-05-01 07:30:05.000100 Zoe: text 1714548605.000100
            {"id":"1714548605.000100"}
        8 entries = 4 in messages + 2 system + 2 left over
        general/2024-05-01.json, [6]: no sender
        general/2024-05-01.json, [7]: not an object
        """,
    )


# Another entry has the first one's name, and nobody that of the eighth.
BOTS: list[dict[str, Any]] = (
    json.loads("""[{"bot_id": "B1"}, {"bot_id": "B1", "username": "Deploys"},
    {"bot_id": "B7"}, {"bot_id": "B9", "app_id": "A9"}, {"bot_id": "55"},
    {"user": "U8", "bot_id": "B8", "bot_profile": {"name": "Polls"}, "subtype": null},
    {"user": "U7"}, {"bot_id": "B0"}, {}]""")
)


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
                entry(f"{1714548600 + at}.000100", **(bot if "bot_id" in told else {}) | told)
                for at, told in enumerate(BOTS)
            ],
        },
    )
    [chat] = reading.corpus.chats
    names = " ".join(m.speaker for m in chat.messages)
    assert names == "Deploys Deploys helper Calendar Weather Polls helper B0 ann"
    assert ['"bot":true' in m.extra for m in chat.messages] == [True] * 8 + [False]


@pytest.mark.parametrize(
    "subtypes",
    [
        "channel_join group_leave channel_topic channel_convert_to_private pinned_item tombstone",
        "reminder_add huddle_thread sh_room_created bot_add file_mention joiner_notification",
        "channel_canvas_updated brand_new",
    ],
)
def test_notices_by_their_subtype(tmp_path: Path, subtypes: str) -> None:
    kinds = ["", *subtypes.split()]
    day = [entry(f"17145486{10 + n}.0001", subtype=kind) for n, kind in enumerate(kinds)]
    reading = read(tmp_path, {"general/2024-05-01.json": day})
    assert (reading.ledger.in_messages, reading.ledger.system) == (1, len(kinds) - 1)


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
    days = {
        "general/2024-05-01.json": [entry(root, thread_ts=root, reply_count=1)],
        "general/2024-05-02.json": [
            entry("1714635000.000100", thread_ts=root),
            entry("1714635001.000100", thread_ts="1000000000.000100"),
        ],
    }
    check(
        read(tmp_path, days),
        """
        general (ann)
            {"authors":{"ann":"U1"},"id":"C1","kind":"channels","members":["ann"],"topic":"T"}
        session 1, 2024-05-01 07:30:00.000100
        D1:1 2024-05-01 07:30:00.000100 ann: text 1714548600.000100
            {"id":"1714548600.000100"}
        session 2, 2024-05-02 07:30:00.000100
        D2:1 2024-05-02 07:30:00.000100 ann, to D1:1: text 1714635000.000100
            {"id":"1714635000.000100"}
        D2:2 2024-05-02 07:30:01.000100 ann: text 1714635001.000100
            {"id":"1714635001.000100","reply_to":"1000000000.000100"}
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )


def test_files_cards_and_reactions(tmp_path: Path) -> None:
    item = json.loads("""{"text": "", "files": [
        {"name": "a.bin", "mimetype": "image/png", "url_private": "https://s/a"},
        {"mode": "tombstone"}], "attachments": [
        {"title": "T &amp; U", "title_link": "https://a.org", "text": "D"}, {"id": 1}],
        "reactions": [{"name": "tada", "users": ["U2", "U7"], "count": 2}]}""")
    day = {"general/2024-05-01.json": [entry("1714548600.000100", **item)]}
    check(
        read(tmp_path, day),
        """
        general (ann)
            {"authors":{"ann":"U1"},"id":"C1","kind":"channels","members":["ann"],"topic":"T"}
        session 1, 2024-05-01 07:30:00.000100
        D1:1 2024-05-01 07:30:00.000100 ann:
            image a.bin https://s/a
            media
            link T & U https://a.org D
            {"id":"1714548600.000100","reactions":[{"by":["Bo
            Lund","U7"],"count":2,"emoji":"tada"}]}
        1 entries = 1 in messages + 0 system + 0 left over
        """,
    )


def test_a_single_day_file_has_ids_for_names(tmp_path: Path) -> None:
    day = {"2024-05-01.json": [entry("1714548600.000100", text="<@U2> hi")]}
    check(
        exported.read(tmp_path, day, "slack", timezone="Asia/Tokyo"),
        """
        2024-05-01 (U1) {"authors":{"U1":"U1"}}
        session 1, 2024-05-01 16:30:00.000100
        D1:1 2024-05-01 16:30:00.000100 U1: @U2 hi
            {"id":"1714548600.000100"}
        1 entries = 1 in messages + 0 system + 0 left over
        """,
    )


def test_a_channel_folder_alone(tmp_path: Path) -> None:
    day = [entry("1714548600.000100")]
    days = {"2024-05-01.json": day, "2024-05-02.json": day}
    reading = exported.read(tmp_path / "general", days, "slack")
    assert [chat.id for chat in reading.corpus.chats] == ["general"]
    assert (reading.ledger.in_messages, len(reading.ledger.leftovers)) == (1, 1)
