"""Teams as Microsoft Graph gives it, and the download of a personal account of Teams or Skype."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Attachment, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.formats.opening import Opened, open_reading
from realtalk.formats.reading import ReadOptions

IDA = {"user": {"id": "u1", "displayName": "Ida Holm"}, "application": None}
BEN = {"user": {"id": "u2", "displayName": "Ben Roy"}}
BOT = {"user": None, "application": {"id": "a1", "displayName": "Polly"}}


def graph(number: int, sender: Any, content: str, **more: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "messageType": "message",
        "chatId": "19:garden@thread.v2",
        "createdDateTime": f"2024-05-01T07:{30 + number}:00.25Z",
        "from": sender,
        "body": {"contentType": "html", "content": content},
        "attachments": [],
        "reactions": [],
    } | more


def read(folder: Path, value: Any, **options: Any) -> Opened:
    path = folder / "messages.json"
    path.write_text(json.dumps(value), "utf-8")
    return open_reading(path, options=ReadOptions(**options))


REFERENCE = {"contentType": "messageReference", "id": "0", "content": '{"messageId": "0"}'}
ITEMS = [
    graph(
        9,
        None,
        "<systemEventMessage/>",
        messageType="systemEventMessage",
        eventDetail={"@odata.type": "#microsoft.graph.callEndedEventMessageDetail"},
    ),
    graph(6, None, "", deletedDateTime="2024-05-01T08:00:00Z"),
    graph(5, BEN, "", deletedDateTime="2024-05-01T08:00:00Z"),
    graph(4, BOT, "<p>who waters?</p>"),
    graph(
        3,
        IDA,
        '<p>plan <a href="https://example.org/p">here</a></p><img src="https://g/1" alt="bed">',
        attachments=[
            {"contentType": "reference", "contentUrl": "https://s/x.pdf", "name": "x.pdf"}
        ],
        lastEditedDateTime="2024-05-01T08:00:00Z",
    ),
    graph(2, BEN, '<attachment id="0"></attachment><p>yes &amp; soon</p>', attachments=[REFERENCE]),
    graph(1, IDA, "plain <b>", body={"contentType": "text", "content": "plain <b>"}),
    graph(
        0,
        IDA,
        '<div>did it <b>rain</b>?<br>here <emoji alt="🌧"></emoji></div>',
        reactions=[{"reactionType": "like", "user": BEN}],
    ),
]


def test_graph(tmp_path: Path) -> None:
    found = read(tmp_path, {"value": ITEMS})
    assert found.format == "teams"
    [chat] = found.reading.corpus.chats
    assert (chat.id, chat.speakers) == ("messages", ("Ida Holm", "Ben Roy", "Polly"))
    rain, plain, yes, plan, bot, gone = chat.messages
    assert (rain.text, rain.time) == (
        "did it rain?\nhere 🌧",
        datetime(2024, 5, 1, 7, 30, 0, 250000),
    )
    marks = unpack_extra(rain.extra)["reactions"]
    assert marks == [{"emoji": "like", "count": 1, "by": ["Ben Roy"]}]
    assert plain.text == "plain <b>"
    assert (yes.text, yes.reply_to) == ("yes & soon", rain.id)
    assert plan.edited and plan.text == "plan here"
    assert plan.attachments == (
        Attachment("file", "x.pdf", "https://s/x.pdf"),
        Attachment("image", "bed", "https://g/1"),
        Attachment("link", "here", "https://example.org/p"),
    )
    assert unpack_extra(bot.extra)["bot"] is True
    assert gone.deleted and gone.speaker == "Ben Roy"
    ledger = found.reading.ledger
    assert str(ledger) == "8 entries = 6 in messages + 1 system + 1 left over"
    assert ledger.leftovers[0].reason == "no sender"


def test_several_chats_are_named_after_their_people(tmp_path: Path) -> None:
    other = graph(1, BEN, "<p>x</p>", chatId="19:other")
    found = read(tmp_path, [ITEMS[-1], other, 7], timezone="Europe/Berlin")
    chats = found.reading.corpus.chats
    assert [chat.id for chat in chats] == ["Ida Holm", "Ben Roy"]
    assert chats[0].messages[0].time == datetime(2024, 5, 1, 9, 30, 0, 250000)
    assert [left.reason for left in found.reading.ledger.leftovers] == ["not an object"]


def skype(number: int, sender: str, content: str, kind: str = "RichText", **more: Any) -> Any:
    return {
        "id": f"171454860{number}000",
        "displayName": {"8:live:ida": "Ida Holm"}.get(sender),
        "originalarrivaltime": f"2024-05-01T07:3{number}:00.123Z",
        "messagetype": kind,
        "content": content,
        "from": sender,
        "properties": None,
    } | more


PICTURE = (
    '<URIObject type="Picture.1" uri="https://api.asm.skype.com/v1/objects/0-w"><OriginalName '
    'v="bed.jpg"></OriginalName>To view this shared photo, go to: <a href="https://l">https://l</a>'
    "</URIObject>"
)
QUOTE = (
    '<quote author="ida" authorname="Ida Holm" timestamp="1714548600" messageid="1714548600000">'
    "<legacyquote>[07:30] Ida Holm: </legacyquote>did it rain?<legacyquote>\n\n&lt;&lt;&lt; "
    "</legacyquote></quote>it did &lt;3"
)
LIST = [
    skype(7, "8:live:ben", '<partlist type="ended"><part/></partlist>', "Event/Call"),
    skype(6, "8:live:ben", "<addmember/>", "ThreadActivity/AddMember"),
    skype(5, "8:live:ben", "", properties={"deletetime": "1714549000000"}),
    skype(4, "8:live:ida", '<URIObject uri="https://v"/>', "RichText/Media_AudioMsg"),
    skype(3, "8:live:ben", PICTURE, "RichText/UriObject"),
    skype(2, "8:live:ida", 'two\nlines <ss type="smile">:)</ss><e_m ts="1" t="61"/>'),
    skype(1, "8:live:ben", QUOTE),
    skype(
        0,
        "8:live:ida",
        "did it rain?",
        properties={"emotions": [{"key": "heart", "users": [{"mri": "8:live:ben"}]}]},
    ),
]


def test_a_personal_account(tmp_path: Path) -> None:
    conversation = {"id": "8:live:ida", "displayName": "Ida Holm", "MessageList": LIST}
    empty: dict[str, Any] = {"id": "48:calllogs", "displayName": None, "MessageList": []}
    export = {
        "userId": "8:live:ben",
        "exportDate": "2024-05-02T10:00",
        "conversations": [conversation, empty],
    }
    found = read(tmp_path, export)
    assert found.format == "teams"
    [chat] = found.reading.corpus.chats
    assert (chat.id, chat.speakers) == ("Ida Holm", ("Ida Holm", "live:ben"))
    rain, did, lines, picture, voice, gone = chat.messages
    marks = unpack_extra(rain.extra)["reactions"]
    assert marks == [{"emoji": "heart", "count": 1, "by": []}]
    assert (did.text, did.reply_to) == ("it did <3", rain.id)
    assert (lines.text, lines.edited) == ("two\nlines :)", True)
    address = "https://api.asm.skype.com/v1/objects/0-w"
    assert (picture.text, picture.attachments) == ("", (Attachment("image", "bed.jpg", address),))
    assert [file.kind for file in voice.attachments] == ["audio"]
    assert gone.deleted
    assert str(found.reading.ledger) == "8 entries = 6 in messages + 2 system + 0 left over"


LOG = '{"callId": "7", "callDirection": "incoming", "originatorParticipant": {"id": "8:live:ida"}}'


def test_the_lists_of_the_app_are_no_conversations(tmp_path: Path) -> None:
    lists = [
        {"id": f"48:{name}", "MessageList": [skype(8, "8:live:ida", LOG, "Text")]}
        for name in ("calllogs", "notifications", "whatever_comes_later")
    ]
    said = {"id": "8:live:ida", "displayName": "Ida Holm", "MessageList": LIST[5:]}
    notes = {"id": "48:notes", "MessageList": [skype(9, "8:live:ben", "buy seeds", "Text")]}
    found = read(tmp_path, {"userId": "8:live:ben", "conversations": [*lists, said, notes]}).reading
    assert [len(chat.messages) for chat in found.corpus.chats] == [3, 1]
    assert found.corpus.chats[1].messages[0].text == "buy seeds"
    assert str(found.ledger) == "7 entries = 4 in messages + 3 system + 0 left over"


@pytest.mark.parametrize(
    "part",
    [
        '<part identity="live:.cid.7f3"><name>Ben &amp; Co</name><duration>6</duration></part>',
        '<part identity="8:live:.cid.7f3"><name>8:live:.cid.7f3</name>'
        "<displayName>Ben &amp; Co</displayName></part>",
    ],
)
def test_a_call_names_who_took_part(tmp_path: Path, part: str) -> None:
    call = f'<partlist type="ended" alt=""><part identity="live:ida"><name>ida7</name></part>{part}'
    items = [
        skype(2, "8:live:ida", f"{call}</partlist>", "Event/Call"),
        skype(1, "8:live:.cid.7f3", "it did"),
        skype(0, "8:live:ida", "did it rain?"),
    ]
    said = {"id": "8:live:ida", "displayName": "Ida Holm", "MessageList": items}
    found = read(tmp_path, {"userId": "8:live:.cid.7f3", "conversations": [said]}).reading
    assert found.corpus.chats[0].speakers == ("Ida Holm", "Ben & Co")
    assert str(found.ledger) == "3 entries = 2 in messages + 1 system + 0 left over"


def test_two_downloads_of_one_account_are_joined(tmp_path: Path) -> None:
    for name, part in (("a", LIST[2:]), ("b", LIST[:5])):
        conversation = {"id": "8:live:ida", "displayName": "Ida Holm", "MessageList": part}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"userId": "8:live:ben", "conversations": [conversation]}))
    found = open_reading(tmp_path).reading
    [chat] = found.corpus.chats
    assert len(chat.messages) == 6 and len(found.ledger.leftovers) == 3


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("x")
    with pytest.raises(RealtalkError, match="messages of Microsoft Teams"):
        open_reading(tmp_path / "y.txt", "teams")
    (tmp_path / "x.json").write_text('{"value": 7}')
    with pytest.raises(RealtalkError, match="no list of messages"):
        open_reading(tmp_path / "x.json", "teams")


CHANNEL: dict[str, Any] = {"teamId": "t1", "channelId": "19:beds@thread.tacv2"}


def channel(number: int, sender: Any, content: str, **more: Any) -> dict[str, Any]:
    """A message of a channel, as `/channels/…/messages?$expand=replies` lists it."""
    more = {"chatId": None, "channelIdentity": CHANNEL, "replyToId": None} | more
    return graph(number, sender, f"<p>{content}</p>", **more)


def test_replies_of_a_channel(tmp_path: Path) -> None:
    newest_first = [
        channel(8, BEN, "who has the key?", replies=[]),
        channel(
            1,
            IDA,
            "what do we sow?",
            replies=[
                channel(9, IDA, "beans it is", replyToId="1"),
                channel(4, BEN, "beans"),
                "broken",
                channel(3, None, "", messageType="systemEventMessage"),
            ],
        ),
    ]
    found = read(tmp_path, {"@odata.context": "x", "value": newest_first})
    [chat] = found.reading.corpus.chats
    said = {message.id: message.text for message in chat.messages}
    assert list(said.values()) == ["what do we sow?", "beans", "who has the key?", "beans it is"]
    answered = [said.get(message.reply_to or "") for message in chat.messages]
    assert answered == [None, "what do we sow?", None, "what do we sow?"]
    ledger = found.reading.ledger
    assert (ledger.total, ledger.in_messages, ledger.system) == (6, 4, 1)
    assert [left.where for left in ledger.leftovers] == ["messages.json, value[1].replies[2]"]
    assert found.reading.notes == ()


def test_pages_in_one_list(tmp_path: Path) -> None:
    pages: list[Any] = [
        {"@odata.context": "x", "@odata.nextLink": "y", "value": [channel(5, BEN, "late")]},
        {"@odata.context": "x", "value": []},
        {"@odata.context": "x", "value": [channel(1, IDA, "early")]},
        None,
    ]
    found = read(tmp_path, pages)
    assert found.reading.tables.messages["text"].to_list() == ["early", "late"]
    ledger = found.reading.ledger
    assert (ledger.total, ledger.in_messages) == (3, 2)
    assert [left.where for left in ledger.leftovers] == ["messages.json, [3]"]


@pytest.mark.parametrize("mark", [{"replies@odata.nextLink": "y"}, {"replies@odata.count": 2}])
def test_replies_that_are_elsewhere_are_noted(tmp_path: Path, mark: dict[str, Any]) -> None:
    root = channel(1, IDA, "what do we sow?", replies=[channel(2, BEN, "beans")])
    assert not read(tmp_path, {"value": [root]}).reading.notes
    [note] = read(tmp_path, {"value": [root | mark]}).reading.notes
    assert "does not hold every reply: 1 (the first is 1)" in note
