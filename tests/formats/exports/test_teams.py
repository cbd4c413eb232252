"""Teams as Microsoft Graph gives it, and the download of a personal account of Teams or Skype."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import exported
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from refusals import refused
from shown import check
from text_tables import records

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


def read(folder: Path, value: Any, **options: Any) -> ReadCorpus:
    return exported.read(folder, {"messages.json": value}, "teams", **options)


PEOPLE = {"ida": IDA, "ben": BEN, "bot": BOT, "nobody": None}
ITEMS = [
    graph(row["number"], PEOPLE[row["sender"]], row["content"], **row["more"])
    for row in records("""
    number | sender | content | more
    9 | nobody | <systemEventMessage/> | {"messageType": "systemEventMessage", "eventDetail": {"@odata.type": "#microsoft.graph.callEndedEventMessageDetail"}}
    6 | nobody | "" | {"deletedDateTime": "2024-05-01T08:00:00Z"}
    5 | ben | "" | {"deletedDateTime": "2024-05-01T08:00:00Z"}
    4 | bot | <p>who waters?</p> | {}
    3 | ida | <p>plan <a href="https://example.org/p">here</a></p><img src="https://g/1" alt="bed"> | {"attachments": [{"contentType": "reference", "contentUrl": "https://s/x.pdf", "name": "x.pdf"}], "lastEditedDateTime": "2024-05-01T08:00:00Z"}
    2 | ben | <attachment id="0"></attachment><p>yes &amp; soon</p> | {"attachments": [{"contentType": "messageReference", "id": "0", "content": "{\\"messageId\\": \\"0\\"}"}]}
    1 | ida | plain <b> | {"body": {"contentType": "text", "content": "plain <b>"}}
    0 | ida | <div>did it <b>rain</b>?<br>here <emoji alt="🌧"></emoji></div> | {"reactions": [{"reactionType": "like", "user": {"user": {"id": "u2", "displayName": "Ben Roy"}}}]}
    """)  # noqa: E501
]


def test_graph(tmp_path: Path) -> None:
    check(
        read(tmp_path, {"value": ITEMS}),
        """
        messages (Ida Holm, Ben Roy, Polly) {"authors":{"Ben Roy":"u2","Ida
            Holm":"u1","Polly":"a1"},"id":"19:garden@thread.v2"}
        session 1, 2024-05-01 07:30:00.250000
        D1:1 2024-05-01 07:30:00.250000 Ida Holm: did it rain?⏎here 🌧
            {"id":"0","reactions":[{"by":["Ben Roy"],"count":1,"emoji":"like"}]}
        D1:2 2024-05-01 07:31:00.250000 Ida Holm: plain <b>
            {"id":"1"}
        D1:3 2024-05-01 07:32:00.250000 Ben Roy, to D1:1: yes & soon
            {"id":"2"}
        D1:4 2024-05-01 07:33:00.250000 Ida Holm, edited: plan here
            file x.pdf https://s/x.pdf
            image bed https://g/1
            link here https://example.org/p
            {"id":"3"}
        D1:5 2024-05-01 07:34:00.250000 Polly: who waters?
            {"bot":true,"id":"4"}
        D1:6 2024-05-01 07:35:00.250000 Ben Roy, deleted:
            {"id":"5"}
        8 entries = 6 in messages + 1 system + 1 left over
        messages.json, value[1]: no sender
        """,
    )


def test_several_chats_are_named_after_their_people(tmp_path: Path) -> None:
    other = graph(1, BEN, "<p>x</p>", chatId="19:other")
    check(
        read(tmp_path, [ITEMS[-1], other, 7], timezone="Europe/Berlin"),
        """
        Ida Holm (Ida Holm) {"authors":{"Ida Holm":"u1"},"id":"19:garden@thread.v2"}
        session 1, 2024-05-01 09:30:00.250000
        D1:1 2024-05-01 09:30:00.250000 Ida Holm: did it rain?⏎here 🌧
            {"id":"0","reactions":[{"by":["Ben Roy"],"count":1,"emoji":"like"}]}
        Ben Roy (Ben Roy) {"authors":{"Ben Roy":"u2"},"id":"19:other"}
        session 1, 2024-05-01 09:31:00.250000
        D1:1 2024-05-01 09:31:00.250000 Ben Roy: x
            {"id":"1"}
        3 entries = 2 in messages + 0 system + 1 left over
        messages.json, [2]: not an object
        """,
    )


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
    skype(row["number"], f"8:live:{row['who']}", row["content"], row["kind"], **row["more"])
    for row in records(f"""
    number | who | content | kind | more
    7 | ben | <partlist type="ended"><part/></partlist> | Event/Call | {{}}
    6 | ben | <addmember/> | ThreadActivity/AddMember | {{}}
    5 | ben | "" | RichText | {{"properties": {{"deletetime": "1714549000000"}}}}
    4 | ida | <URIObject uri="https://v"/> | RichText/Media_AudioMsg | {{}}
    3 | ben | {PICTURE} | RichText/UriObject | {{}}
    2 | ida | "two\\nlines <ss type=\\"smile\\">:)</ss><e_m ts=\\"1\\" t=\\"61\\"/>" | RichText | {{}}
    1 | ben | {json.dumps(QUOTE)} | RichText | {{}}
    0 | ida | did it rain? | RichText | {{"properties": {{"emotions": [{{"key": "heart", "users": [{{"mri": "8:live:ben"}}]}}]}}}}
    """)  # noqa: E501
]


def test_a_personal_account(tmp_path: Path) -> None:
    check(
        personal(tmp_path, {"id": "8:live:ida", "displayName": "Ida Holm", "MessageList": LIST}),
        """
        Ida Holm (Ida Holm, live:ben) {"authors":{"Ida
            Holm":"8:live:ida","live:ben":"8:live:ben"},"id":"8:live:ida","owner":"8:live:ben"}
        session 1, 2024-05-01 07:30:00.123000
        D1:1 2024-05-01 07:30:00.123000 Ida Holm: did it rain?
            {"id":"1714548600000","reactions":[{"by":[],"count":1,"emoji":"heart"}]}
        D1:2 2024-05-01 07:31:00.123000 live:ben, to D1:1: it did <3
            {"id":"1714548601000"}
        D1:3 2024-05-01 07:32:00.123000 Ida Holm, edited: two⏎lines :)
            {"id":"1714548602000"}
        D1:4 2024-05-01 07:33:00.123000 live:ben:
            image bed.jpg https://api.asm.skype.com/v1/objects/0-w
            {"id":"1714548603000"}
        D1:5 2024-05-01 07:34:00.123000 Ida Holm:
            audio v https://v
            {"id":"1714548604000"}
        D1:6 2024-05-01 07:35:00.123000 live:ben, deleted:
            {"id":"1714548605000"}
        8 entries = 6 in messages + 2 system + 0 left over
        """,
    )


def personal(folder: Path, *conversations: Any) -> ReadCorpus:
    return read(folder, {"userId": "8:live:ben", "conversations": conversations})


LOG = '{"callId": "7", "callDirection": "incoming", "originatorParticipant": {"id": "8:live:ida"}}'


def test_the_lists_of_the_app_are_no_conversations(tmp_path: Path) -> None:
    lists = [
        {"id": f"48:{name}", "MessageList": [skype(8, "8:live:ida", LOG, "Text")]}
        for name in ("calllogs", "notifications", "whatever_comes_later")
    ]
    notes = {"id": "48:notes", "MessageList": [skype(9, "8:live:ben", "buy seeds", "Text")]}
    check(
        personal(tmp_path, *lists, notes),
        """
        48:notes (live:ben)
            {"authors":{"live:ben":"8:live:ben"},"id":"48:notes","owner":"8:live:ben"}
        session 1, 2024-05-01 07:39:00.123000
        D1:1 2024-05-01 07:39:00.123000 live:ben: buy seeds
            {"id":"1714548609000"}
        4 entries = 1 in messages + 3 system + 0 left over
        """,
    )


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
    reading = personal(tmp_path, {"id": "8:live:ida", "MessageList": items})
    assert reading.corpus.speakers == ("Ida Holm", "Ben & Co")
    assert reading.ledger.system == 1


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("x")
    with refused("messages of Microsoft Teams"):
        open_reading(tmp_path / "y.txt", "teams")
    (tmp_path / "x.json").write_text('{"value": 7}')
    with refused("no list of messages"):
        open_reading(tmp_path / "x.json", "teams")


CHANNEL: dict[str, Any] = {"teamId": "t1", "channelId": "19:beds@thread.tacv2"}


def channel(number: int, sender: Any, content: str, **more: Any) -> dict[str, Any]:
    """A message of a channel, as `/channels/…/messages?$expand=replies` lists it."""
    more = {"chatId": None, "channelIdentity": CHANNEL, "replyToId": None} | more
    return graph(number, sender, f"<p>{content}</p>", **more)


def test_replies_of_a_channel(tmp_path: Path) -> None:
    answers = [
        channel(9, IDA, "beans it is", replyToId="1"),
        channel(4, BEN, "beans"),
        "broken",
        channel(3, None, "", messageType="systemEventMessage"),
    ]
    newest_first = [
        channel(8, BEN, "who has the key?", replies=[]),
        channel(1, IDA, "what do we sow?", replies=answers),
    ]
    check(
        read(tmp_path, {"@odata.context": "x", "value": newest_first}),
        """
        messages (Ida Holm, Ben Roy) {"authors":{"Ben Roy":"u2","Ida
            Holm":"u1"},"id":"19:beds@thread.tacv2"}
        session 1, 2024-05-01 07:31:00.250000
        D1:1 2024-05-01 07:31:00.250000 Ida Holm: what do we sow?
            {"id":"1"}
        D1:2 2024-05-01 07:34:00.250000 Ben Roy, to D1:1: beans
            {"id":"4"}
        D1:3 2024-05-01 07:38:00.250000 Ben Roy: who has the key?
            {"id":"8"}
        D1:4 2024-05-01 07:39:00.250000 Ida Holm, to D1:1: beans it is
            {"id":"9"}
        6 entries = 4 in messages + 1 system + 1 left over
        messages.json, value[1].replies[2]: not an object
        """,
    )


def test_pages_in_one_list(tmp_path: Path) -> None:
    pages: list[Any] = [
        {"@odata.nextLink": "y", "value": [channel(5, BEN, "late")]},
        {"value": []},
        {"value": [channel(1, IDA, "early")]},
        None,
    ]
    check(
        read(tmp_path, pages),
        """
        messages (Ida Holm, Ben Roy) {"authors":{"Ben Roy":"u2","Ida
            Holm":"u1"},"id":"19:beds@thread.tacv2"}
        session 1, 2024-05-01 07:31:00.250000
        D1:1 2024-05-01 07:31:00.250000 Ida Holm: early
            {"id":"1"}
        D1:2 2024-05-01 07:35:00.250000 Ben Roy: late
            {"id":"5"}
        3 entries = 2 in messages + 0 system + 1 left over
        messages.json, [3]: not an object
        """,
    )


@pytest.mark.parametrize("mark", [{"replies@odata.nextLink": "y"}, {"replies@odata.count": 2}])
def test_replies_that_are_elsewhere_are_noted(tmp_path: Path, mark: dict[str, Any]) -> None:
    root = channel(1, IDA, "what do we sow?", replies=[channel(2, BEN, "beans")])
    assert not read(tmp_path, {"value": [root]}).notes
    [note] = read(tmp_path, {"value": [root | mark]}).notes
    assert "does not hold every reply: 1 (the first is 1)" in note
