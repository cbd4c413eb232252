"""Telegram Desktop's JSON and pages: who, when, what, and what is no message."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import exported
from exported import messages, texts
from realtalk.chat import Attachment, Message, unpack_extra
from realtalk.formats.reading import ReadCorpus
from shown import check
from text_tables import cases


def entry(number: int, **values: Any) -> dict[str, Any]:
    item = {
        "id": number,
        "type": "message",
        "date": f"2024-05-01T09:{30 + number}:00",
        "date_unixtime": str(1714548600 + 60 * number),
        "from": "Ann",
        "from_id": "user1",
        "text": f"text {number}",
    } | values
    return {key: value for key, value in item.items() if value is not ...}


def chat(*items: Any, **values: Any) -> dict[str, Any]:
    return {"name": "Ann", "type": "personal_chat", "id": 7, "messages": list(items)} | values


def read(folder: Path, export: Any, **options: Any) -> ReadCorpus:
    return exported.read(folder, {"result.json": export}, "telegram", **options)


def only(folder: Path, **values: Any) -> Message:
    [message] = messages(read(folder, chat(entry(1, **values))))
    return message


@cases("""
    pieces | expected
    ["half", {"type": "bold", "text": "way"}, " on, ", {"type": "link", "text": "a.org"}] | halfway on, a.org
    # An address right behind styled text gets a space.
    [{"type": "bold", "text": "See:"}, {"type": "link", "text": "https://a.org"}] | See: https://a.org
    [{"type": "bold", "text": "("}, {"type": "link", "text": "https://a.org"}] | (https://a.org
    ["(see:", {"type": "link", "text": "https://a.org"}, ")"] | (see:https://a.org)
""")  # noqa: E501
def test_pieces_of_text_are_joined_as_they_stand(
    tmp_path: Path, pieces: list[Any], expected: str
) -> None:
    assert only(tmp_path, text=pieces).text == expected


def test_a_hidden_link_is_kept_beside_the_text(tmp_path: Path) -> None:
    piece = {"type": "text_link", "text": "here", "href": "https://a.org/x"}
    message = only(tmp_path, text=["look ", piece])
    assert message.text == "look here"
    assert message.attachments == (Attachment("link", "here", "https://a.org/x"),)


@cases("""
    values                                   | expected
    {"photo": "photos/a.jpg"}                | ["image", "a.jpg", "photos/a.jpg"]
    {"photo": "(File not included.)"}        | ["image"]
    {"file": "v/a.ogg", "media_type": "voice_message", "mime_type": "audio/ogg"} | ["audio", "a.ogg", "v/a.ogg"]
    {"file": "r/a.mp4", "media_type": "video_message"} | ["video", "a.mp4", "r/a.mp4"]
    {"file": "(File exceeds size)", "media_type": "video_file", "file_name": "t.mov"} | ["video", "t.mov"]
    {"file": "s/a.webp", "media_type": "sticker", "sticker_emoji": "🐝"} | ["sticker", "a.webp", "s/a.webp", "🐝"]
    {"file": "f/a.pdf", "file_name": "p.pdf", "mime_type": "application/pdf"} | ["file", "p.pdf", "f/a.pdf"]
    {"contact_information": {"first_name": "Ida", "last_name": "B", "phone_number": "+1"}} | ["contact", "Ida B", "", "+1"]
    {"location_information": {"latitude": 1.5, "longitude": -2.25}, "place_name": "Pier"} | ["location", "Pier", "geo:1.5,-2.25"]
    {"game_title": "Chess", "game_link": "https://t.example/x"} | ["link", "Chess", "https://t.example/x"]
    {"paid_media": [{"photo": "(File not included.)"}]} | ["media"]
""")  # noqa: E501
def test_attachments(tmp_path: Path, values: dict[str, Any], expected: list[str]) -> None:
    message = only(tmp_path, text="", **values)
    assert (message.text, message.attachments) == ("", (Attachment(*expected),))


@cases("""
    values                                   | text   | extra
    {"poll": {"question": "When?", "answers": [{"text": "now", "voters": 1}]}} | When?  | {"poll": ["now"]}
    {"poll": {"question": {"text": "where?"}, "answers": [{"text": ["Os", "lo"]}]}} | where? | {"poll": ["Oslo"]}
    {"todo_list": {"title": "buy", "answers": [{"id": 1, "text": "milk"}]}} | buy    | {"tasks": ["milk"]}
    {"invoice_information": {"title": "Tea", "amount": 3}} | Tea    | {}
""")  # noqa: E501
def test_what_a_poll_a_list_or_an_invoice_is_headed_with(
    tmp_path: Path, values: dict[str, Any], text: str, extra: dict[str, Any]
) -> None:
    message = only(tmp_path, text="", **values)
    assert message.text == text
    assert unpack_extra(message.extra) == {"id": "1"} | extra


HEART = [{"type": "emoji", "count": 2, "emoji": "❤", "recent": [{"from": "Bo"}]}]


def test_replies_edits_forwards_and_reactions(tmp_path: Path) -> None:
    export = chat(
        entry(1, reactions=HEART),
        entry(2, reply_to_message_id=1, edited="2024-05-02T10:00:00", via_bot="@pic"),
        entry(3, reply_to_message_id=999, edited="1970-01-01T01:00:00"),
        entry(4, reply_to_message_id=1, reply_to_peer_id="channel5", forwarded_from="Ida"),
    )
    check(
        read(tmp_path, export),
        """
        Ann (Ann) {"authors":{"Ann":"user1"},"id":"7","type":"personal_chat"}
        session 1, 2024-05-01 09:31:00
        D1:1 2024-05-01 09:31:00 Ann: text 1
            {"id":"1","reactions":[{"by":["Bo"],"count":2,"emoji":"❤"}]}
        D1:2 2024-05-01 09:32:00 Ann, to D1:1, edited: text 2
            {"edited":"2024-05-02T10:00:00","id":"2","via_bot":"@pic"}
        D1:3 2024-05-01 09:33:00 Ann: text 3
            {"edited":"1970-01-01T01:00:00","id":"3","reply_to":"999"}
        D1:4 2024-05-01 09:34:00 Ann: text 4
            {"forwarded_from":"Ida","id":"4"}
        4 entries = 4 in messages + 0 system + 0 left over
        """,
    )


def test_service_entries_and_rubbish_are_accounted_for(tmp_path: Path) -> None:
    actions = ("pin_message", "phone_call", "group_call", "invite_members")
    told = [{"type": "service", "actor": "Ann", "action": action} for action in actions]
    rubbish = ["not an entry", entry(2, text=""), entry(3, **{"from": None, "from_id": None})]
    check(
        read(tmp_path, chat(*told, entry(1), *rubbish, entry(1))),
        """
        Ann (Ann) {"authors":{"Ann":"user1"},"id":"7","type":"personal_chat"}
        session 1, 2024-05-01 09:31:00
        D1:1 2024-05-01 09:31:00 Ann: text 1
            {"id":"1"}
        9 entries = 1 in messages + 4 system + 4 left over
        result.json, messages[5]: not an object
        result.json, messages[6]: neither text nor attachment
        result.json, messages[7]: no sender
        result.json, messages[8]: repeats message 1
        """,
    )


def test_the_exporters_clock_is_used_until_a_zone_is_asked_for(tmp_path: Path) -> None:
    export = chat(entry(1, date="2024-05-01T09:30:00", date_unixtime="1714548600"))
    assert messages(read(tmp_path, export))[0].time == datetime(2024, 5, 1, 9, 30)
    zoned = read(tmp_path, export, timezone="Asia/Tokyo")
    assert messages(zoned)[0].time == datetime(2024, 5, 1, 16, 30)
    assert zoned.notes == ()


def test_where_one_entry_lacks_the_local_time_all_use_utc(tmp_path: Path) -> None:
    # What is no message needs no time.
    export = chat(entry(1), {"id": 3, "type": "unsupported"})
    reading = read(tmp_path, export)
    assert ([m.time for m in messages(reading)], reading.notes) == (
        [datetime(2024, 5, 1, 9, 31)],
        (),
    )
    export["messages"].append(entry(2, date=...))
    reading = read(tmp_path, export)
    assert [m.time for m in messages(reading)] == [
        datetime(2024, 5, 1, 7, 31),
        datetime(2024, 5, 1, 7, 32),
    ]
    [note] = reading.notes
    assert "no local time" in note


def test_a_whole_account(tmp_path: Path) -> None:
    export = {
        "about": "Here is the data you requested. Remember: Telegram is ad free.",
        "personal_information": {"first_name": "Ann"},
        "contacts": {"list": []},
        "chats": {"about": "x", "list": [chat(entry(1)), chat(entry(2)), chat(name="Empty")]},
        "left_chats": {"list": [chat(entry(3), name=None, type="private_group")]},
    }
    reading = read(tmp_path, export)
    assert [one.id for one in reading.corpus.chats] == ["Ann", "Ann (2)", "Private group"]
    assert reading.ledger.total == 3


def test_two_exports_of_one_chat_are_one_chat(tmp_path: Path) -> None:
    files = {"a/result.json": chat(entry(1), entry(2)), "b/result.json": chat(entry(2), entry(3))}
    reading = exported.read(tmp_path, files, "telegram")
    assert texts(reading) == ["text 1", "text 2", "text 3"]
    assert len(reading.corpus.chats) == 1
    assert reading.ledger.leftovers[0].reason == "repeats message 2"


# --- Desktop's pages: the same chat, as far as they go ---


HEAD = """<!DOCTYPE html><html><head><meta charset="utf-8"/><title>Exported Data</title>
<link href="css/style.css" rel="stylesheet"/></head><body onload="CheckLocation();">
<div class="page_wrap"><div class="page_header"><div class="content">
<div class="text bold">
Garden &amp; Co
</div></div></div><div class="page_body chat_page"><div class="history">
<div class="message service" id="message-1"><div class="body details">
1 May 2024
</div></div>"""
END = "</div></div></div></body></html>"


def bubble(number: int, inside: str, sender: str = "", minute: int = 30) -> str:
    name = f'<div class="from_name">\n{sender}\n       </div>' if sender else ""
    joined = "" if sender else " joined"
    return f"""
<div class="message default clearfix{joined}" id="message{number}">
 <div class="pull_left userpic_wrap"><div class="userpic userpic3"><div class="initials">
A
 </div></div></div>
 <div class="body">
  <div class="pull_right date details" title="01.05.2024 09:{minute}:07 UTC+02:00">
09:{minute}
  </div>
  {name}{inside}
 </div>
</div>"""


def words(said: str) -> str:
    return f'<div class="text">\n{said}\n       </div>'


def read_page(
    folder: Path, *bubbles: str, name: str = "messages.html", **options: Any
) -> ReadCorpus:
    page = HEAD + "".join(bubbles) + END
    return exported.read(folder, {name: page}, "telegram", **options)


def test_who_when_what_and_to_whom(tmp_path: Path) -> None:
    reply = (
        '<div class="reply_to details">In reply to '
        '<a href="#go_to_message41" onclick="return GoToMessage(41)">this message</a></div>'
    )
    reading = read_page(
        tmp_path,
        bubble(41, words("hi<br>there &lt;3 <strong>you</strong>"), "Ann"),
        bubble(42, words("still me"), minute=31),
        bubble(43, reply + words("yes"), "Ben", minute=32),
        '<div class="message service" id="message44"><div class="body details">Ann pinned'
        " a message</div></div>",
    )
    check(
        reading,
        """
        Garden & Co (Ann, Ben)
        session 1, 2024-05-01 09:30:07
        D1:1 2024-05-01 09:30:07 Ann: hi⏎there <3 you
            {"id":"41"}
        D1:2 2024-05-01 09:31:07 Ann: still me
            {"id":"42"}
        D1:3 2024-05-01 09:32:07 Ben, to D1:1: yes
            {"id":"43"}
        4 entries = 3 in messages + 1 system + 0 left over
        Telegram's HTML export tells no ids of people and no edits; its JSON export does
        """,
    )


def test_the_offset_is_used_where_a_clock_is_asked_for(tmp_path: Path) -> None:
    # One page may have another name.
    reading = read_page(tmp_path, bubble(1, words("x"), "Ann"), name="ann.html", timezone="UTC")
    assert messages(reading)[0].time == datetime(2024, 5, 1, 7, 30, 7)


@cases("""
    inside | expected
    <a class="photo_wrap clearfix pull_left" href="photos/photo_1.jpg"><img/></a> | ["image", "photo_1.jpg", "photos/photo_1.jpg"]
    <div class="media clearfix pull_left media_photo"><div class="body"><div class="title bold">Photo</div><div class="status details">Not included</div></div></div> | ["image"]
    <div class="media clearfix pull_left media_photo"><div class="body"><div class="title bold">Sticker</div><div class="status details">😂</div></div></div> | ["sticker", "", "", "😂"]
    <a class="media clearfix pull_left block_link media_voice_message" href="v/a1.ogg"><div class="body"><div class="title bold">Voice message</div></div></a> | ["audio", "a1.ogg", "v/a1.ogg"]
    <a class="media clearfix pull_left block_link media_file" href="files/Plan.pdf"><div class="body"><div class="title bold">Plan.pdf</div></div></a> | ["file", "Plan.pdf", "files/Plan.pdf"]
    <div class="media clearfix pull_left media_contact"><div class="body"><div class="title bold">Zed</div><div class="status details">+49 1</div></div></div> | ["contact", "Zed", "", "+49 1"]
""")  # noqa: E501
def test_media(tmp_path: Path, inside: str, expected: list[str]) -> None:
    wrapped = f'<div class="media_wrap clearfix">{inside}</div>'
    reading = read_page(tmp_path, bubble(1, wrapped + words("look"), "Ann"))
    [message] = messages(reading)
    assert (message.text, message.attachments) == ("look", (Attachment(*expected),))


def test_links_forwards_polls_and_reactions(tmp_path: Path) -> None:
    link = '<a href="https://x.example/a">https://x.example/a</a> <a href="https://y.example">y</a>'
    forwarded = (
        '<div class="pull_left forwarded userpic_wrap"></div><div class="forwarded body">'
        '<div class="from_name">Zed <span class="date details" title="01.04.2024 09:00:00">'
        " 01.04.2024 09:00:00</span></div>" + words("old news") + "</div>"
    )
    poll = (
        '<div class="media_wrap clearfix"><div class="media_poll"><div class="question bold">tea?'
        '</div><div class="details">Anonymous poll</div><div class="answer">- yes</div>'
        '<div class="answer">- no</div></div></div>'
    )
    reactions = (
        '<span class="reactions"><span class="reaction"><span class="emoji">👍</span>'
        '<span class="count">2</span></span><span class="reaction"><span class="emoji">❤</span>'
        '<span class="userpics"><div class="userpic"><div class="initials">B</div></div></span>'
        "</span></span>"
    )
    reading = read_page(
        tmp_path,
        bubble(1, words(link) + reactions, "Ann"),
        bubble(2, forwarded, "Ben"),
        bubble(3, poll),
    )
    check(
        reading,
        """
        Garden & Co (Ann, Ben)
        session 1, 2024-05-01 09:30:07
        D1:1 2024-05-01 09:30:07 Ann: https://x.example/a y
            link  https://y.example
        {"id":"1","reactions":[{"by":[],"count":2,"emoji":"👍"},{"by":[],"count":1,"emoji":"❤"}]}
        D1:2 2024-05-01 09:30:07 Ben: old news
            {"forwarded_from":"Zed","id":"2"}
        D1:3 2024-05-01 09:30:07 Ben: tea?
            {"id":"3","poll":["yes","no"]}
        3 entries = 3 in messages + 0 system + 0 left over
        Telegram's HTML export tells no ids of people and no edits; its JSON export does
        """,
    )


def test_pages_are_joined_in_order_and_chats_kept_apart(tmp_path: Path) -> None:
    pages = {
        "a/messages10.html": bubble(3, words("three"), minute=40),
        "a/messages2.html": bubble(2, words("two"), "Ben", minute=35),
        "a/messages.html": bubble(1, words("one"), "Ann"),
        "b/messages.html": bubble(1, words("other"), "Zed"),
    }
    files = {name: HEAD + bubbles + END for name, bubbles in pages.items()}
    reading = exported.read(tmp_path, files, "telegram")
    told = [[(m.speaker, m.text) for m in chat.messages] for chat in reading.corpus.chats]
    assert told == [[("Ann", "one"), ("Ben", "two"), ("Ben", "three")], [("Zed", "other")]]
