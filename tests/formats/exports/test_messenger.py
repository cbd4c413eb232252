"""Messenger and Instagram as JSON and HTML: told apart, parts joined, characters put right, and
what the app said itself."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment
from realtalk.formats.exports.meta import repair
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.registry import detect
from realtalk.formats.source import Source
from refusals import refused
from shown import check
from text_tables import cases

START = 1714548600000


def broken(text: str) -> str:
    """As the download writes it: every byte a character."""
    return text.encode("utf-8").decode("latin-1")


def entry(number: int, **values: Any) -> dict[str, Any]:
    return {
        "sender_name": "Ann Berg",
        "timestamp_ms": START + number * 1000,
        "content": f"text {number}",
    } | values


def thread(*items: Any, **values: Any) -> dict[str, Any]:
    return {
        "participants": [{"name": "Ann Berg"}, {"name": "Bo"}],
        "messages": list(items)[::-1],
        "title": "Ann Berg",
        "thread_path": "inbox/annberg_1",
    } | values


def read(folder: Path, export: Any, **options: Any) -> ReadCorpus:
    if isinstance(export, dict):
        export = "\ufeff" + json.dumps(export)
    return exported.read(folder, {"facebook-message_1.json": export}, "messenger", **options)


@cases("""
    name                   | values                 | expected
    message_1.json         | {}                     | instagram
    message_1.json         | {"joinable_mode": {"mode": 1}, "magic_words": []} | instagram
    message_1.json         | {"thread_type": "Regular"} | messenger
    your_instagram_activity/messages/inbox/a_1/message_1.json | {"ip": "x"}            | instagram
    your_facebook_activity/messages/inbox/a_1/message_1.json | {}                     | messenger
    # A link of Instagram's in a chat of Messenger's does not mislead.
    message_1.json         | {"ip": "https://www.instagram.com/p/1"} | messenger
""")
def test_which_of_the_two(tmp_path: Path, name: str, values: dict[str, Any], expected: str) -> None:
    path = exported.write(tmp_path / "x", {name: thread(entry(1), **values)})
    assert detect(Source.open(tmp_path / "x" if "/" in name else path)) == expected


@pytest.mark.parametrize("text", ["café", "прывітанне", "ÃÃ", "naïve"])
def test_correct_text_is_left_alone(text: str) -> None:
    assert repair(text) == text


def test_names_title_and_reactions_are_put_right_too(tmp_path: Path) -> None:
    name = broken("Zoë")
    marks = [{"reaction": broken("❤"), "actor": broken("Łuk")}]
    item = entry(1, sender_name=name, content=broken("tschüß"), reactions=marks)
    check(
        read(tmp_path, thread(item, title=name, participants=[{"name": name}])),
        """
        Zoë (Zoë) {"participants":["Zoë"],"thread_path":"inbox/annberg_1"}
        session 1, 2024-05-01 07:30:01
        D1:1 2024-05-01 07:30:01 Zoë: tschüß
            {"reactions":[{"by":["Łuk"],"count":1,"emoji":"❤"}]}
        1 entries = 1 in messages + 0 system + 0 left over
        messages whose characters were put right: 1
        """,
    )


def test_parts_are_joined_across_a_download_in_the_right_order(tmp_path: Path) -> None:
    path = tmp_path / "facebook-ann.zip"
    base = "your_facebook_activity/messages"
    files: dict[str, Any] = {f"ads/{number}.json": {} for number in range(70)}
    files[f"{base}/autofill_information.json"] = {"label_values": []}
    for number in range(1, 12):  # part 11 holds the oldest; names sort 1, 10, 11, 2
        first = START + (11 - number) * 10_000
        said = "abc" if number == 11 else [str(number)] * 2
        # All of one part have one time, so that only their places tell what came first.
        items = [entry(0, timestamp_ms=first, content=text) for text in said]
        files[f"{base}/inbox/annberg_1/message_{number}.json"] = thread(*items)
    other = thread(entry(1), title="Bo", thread_path="archived_threads/bo_2")
    files[f"{base}/archived_threads/bo_2/message_1.json"] = other
    empty = thread(title="Nobody", thread_path="inbox/nobody_3")
    files[f"{base}/inbox/nobody_3/message_1.json"] = empty
    with ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, json.dumps(content))
    opened = open_reading(path)
    assert opened.format == "messenger"
    bo, ann = opened.reading.corpus.chats
    assert (bo.id, ann.id) == ("Bo", "Ann Berg")
    parts = [str(number) for number in range(10, 0, -1) for _ in range(2)]
    assert [message.text for message in ann.messages] == [*"abc", *parts]


@cases("""
    values                                   | expected
    {"photos": [{"uri": "m/a.jpg"}]}         | ["image", "a.jpg", "m/a.jpg"]
    {"videos": [{"uri": "m/a.mp4"}]}         | ["video", "a.mp4", "m/a.mp4"]
    {"audio_files": [{"uri": "m/a.mp4"}]}    | ["audio", "a.mp4", "m/a.mp4"]
    {"gifs": [{"uri": "m/a.gif"}]}           | ["image", "a.gif", "m/a.gif"]
    {"files": [{"uri": "m/a.docx"}]}         | ["file", "a.docx", "m/a.docx"]
    {"sticker": {"uri": "m/a.png"}}          | ["sticker", "a.png", "m/a.png"]
    {"share": {"link": "a.org", "share_text": "T", "original_content_owner": "z"}} | ["link", "z", "a.org", "T"]
""")  # noqa: E501
def test_attachments(tmp_path: Path, values: dict[str, Any], expected: list[str]) -> None:
    notice = {"content": "Ann sent an attachment."}
    [message] = messages(read(tmp_path, thread(entry(1, **(notice | values)))))
    assert (message.text, message.attachments) == ("", (Attachment(*expected),))


@cases("""
    values
    {"call_duration": 0, "content": "Ann called you."}
    {"type": "Subscribe", "content": "Ann added Bo."}
    {"type": "Unsubscribe", "content": "Ann left."}
    {"content": "Ann named the group Garden club."}
    {"content": "You set the nickname for Bo to B."}
    {"content": "Reacted ❤ to your message "}
    {"content": "Liked a message"}
    {"content": "Ann Berg started a video chat"}
    {"content": "You missed a video call from Ann Berg"}
    {"content": "Ann missed your call"}
    {"content": "Bo missed a call from Ann."}
""")
def test_what_the_app_said_is_no_message(tmp_path: Path, values: dict[str, Any]) -> None:
    item = entry(2, **values | {"content": broken(values["content"])})
    reading = read(tmp_path, thread(entry(1), item))
    assert (texts(reading), reading.ledger.system) == (["text 1"], 1)


@cases("""
    text
    You missed the bus again.
    Bo left the group.
    You voted for that?
    You left the group because of me
    Ann is late again.
    Ann Berg here, new number.
    Mum pinned a message.
    someone created a poll: where to eat
    You sent me a photo.
    Bo started a fire
""")
def test_what_people_say_about_each_other_is(tmp_path: Path, text: str) -> None:
    assert texts(read(tmp_path, thread(entry(1, content=text)))) == [text]


def test_what_came_with_a_file_is_its_senders(tmp_path: Path) -> None:
    liked = entry(1, content="Liked a message", photos=[{"uri": "p/a.jpg"}])
    assert texts(read(tmp_path, thread(liked))) == ["Liked a message"]


def test_two_downloads_of_one_conversation_overlap(tmp_path: Path) -> None:
    parts = {2023: [entry(1), entry(2), entry(2)], 2024: [entry(2), entry(3)]}
    files = {
        f"facebook-{year}/messages/inbox/annberg_1/message_1.json": thread(*items)
        for year, items in parts.items()
    }
    reading = exported.read(tmp_path, files, "messenger")
    # Twice in one file is twice said; in another file it is the same once more.
    assert texts(reading) == ["text 1", "text 2", "text 2", "text 3"]
    [left] = reading.ledger.leftovers
    assert left.reason == "repeats a message of another file"


def test_unsent_messages_and_rubbish_are_accounted_for(tmp_path: Path) -> None:
    rubbish = (None, entry(2, content=None), entry(3, sender_name=None))
    late = entry(4, timestamp_ms="soon")
    check(
        read(tmp_path, thread(entry(1, is_unsent=True), *rubbish, late)),
        """
        Ann Berg (Ann Berg) {"participants":["Ann Berg","Bo"],"thread_path":"inbox/annberg_1"}
        session 1, 2024-05-01 07:30:01
        D1:1 2024-05-01 07:30:01 Ann Berg, deleted:
        D1:2 None Ann Berg: text 4
        5 entries = 2 in messages + 0 system + 3 left over
        facebook-message_1.json, messages[3]: not an object
        facebook-message_1.json, messages[1]: no sender
        facebook-message_1.json, messages[2]: neither text nor attachment
        messages without a readable time, left in their place: 1
        """,
    )


ENCRYPTED = """{"participants": ["Zoë Ã©", "Bo Lund"], "threadName": "Zoë_7", "messages": [
{"senderName": "Zoë Ã©", "timestamp": 1714548601000, "type": "text", "text": "one", "media": [],
 "isUnsent": false, "reactions": [{"actor": "Bo", "reaction": "❤"}]},
{"senderName": "Zoë Ã©", "timestamp": 1714548602000, "type": "media", "text": "",
 "media": [{"uri": "./media/a.jpeg"}]},
{"senderName": "Zoë Ã©", "timestamp": 1714548603000, "type": "media", "text": "",
 "media": [{"uri": "Failed to download media"}]},
{"senderName": "Zoë Ã©", "timestamp": 1714548604000, "type": "placeholder", "isUnsent": true,
 "text": "User unsent a message"},
{"senderName": "Zoë Ã©", "timestamp": 1714548605000, "type": "placeholder", "text": "Bo joined."},
{"senderName": "Zoë Ã©", "timestamp": 1714548606000, "messageText": "Zoë Ã© amebandika ujumbe."},
{"senderName": "Bo Lund", "timestamp": 1714548607000, "messageText": "Bo Lund amebandika ujumbe."}
]}"""


def test_encrypted_conversations(tmp_path: Path) -> None:
    # Names are correct as they stand.
    check(
        read(tmp_path, ENCRYPTED, timezone="Asia/Tokyo"),
        """
        Zoë_7 (Zoë Ã©) {"participants":["Zoë Ã©","Bo Lund"]}
        session 1, 2024-05-01 16:30:01
        D1:1 2024-05-01 16:30:01 Zoë Ã©: one
            {"reactions":[{"by":["Bo"],"count":1,"emoji":"❤"}]}
        D1:2 2024-05-01 16:30:02 Zoë Ã©:
            image a.jpeg ./media/a.jpeg
        D1:3 2024-05-01 16:30:03 Zoë Ã©:
            media
        D1:4 2024-05-01 16:30:04 Zoë Ã©, deleted:
        7 entries = 4 in messages + 3 system + 0 left over
        """,
    )


# --- downloads as HTML ---


BOX = "pam _3-95 _2ph- _a6-g uiBoxWhite noborder"


def html_message(name: str, body: str, stamp: str) -> str:
    return (
        f'<div class="{BOX}"><div class="_2ph_ _a6-h _a6-i">{name}</div><div class="_2ph_ _a6-p">'
        f"<div><div></div><div>{body}</div><div></div><div></div></div></div>"
        f'<div class="_3-94 _a6-o"><div class="_a72d">{stamp}</div></div></div>'
    )


def newer(name: str, body: str, stamp: str) -> str:
    """The same with other tags and other classes."""
    return (
        f'<section class="zz9"><h2 class="q1">{name}</h2><div class="q2"><div>{body}</div></div>'
        f'<footer class="q3">{stamp}</footer></section>'
    )


def html_page(*messages: str, title: str = "Ida Holm") -> str:
    styles = "._a6-g{color:red}" * 2000
    return (
        f"<html><head><style>{styles}</style><title>{title}</title></head><body class='_5vb_'>"
        f'<div class="_3a_u">{title}</div><div role="main"><div class="{BOX}"><div class="_a6-h">'
        f"Participants: {title} and Ben Roy</div></div>{''.join(messages)}</div>"
        "<div>Generated by Ben Roy on Wednesday, May 1, 2024 at 8:00 AM UTC</div></body></html>"
    )


LIKE = "<ul class='_a6-q'><li><span>🌱Ben Roy (May 1, 2024 7:40 AM)</span></li></ul>"
FIRST = [
    html_message("Ben Roy", "Ben Roy named the group Beds.", "May 1, 2024, 7:36 AM"),
    html_message(
        "Ida Holm", '<a href="https://x.org/a">https://x.org/a</a>', "May 1, 2024, 7:35 AM"
    ),
    html_message(
        "Ben Roy",
        '<div><a href="inbox/photos/bed.jpg"><img src="inbox/photos/bed.jpg"></a></div>'
        '<div><audio controls src="inbox/audio/a.aac"></audio></div>',
        "May 1, 2024, 7:34 AM",
    ),
    html_message("Ida Holm", "met May 1, 2024, 7:00 AM", "May 1, 2024, 7:33 AM"),
]
SECOND = [
    html_message("Ben Roy", "it did &lt;3", "May 1, 2024, 7:31 AM"),
    html_message("Ida Holm", f"did it rain?<br>or not{LIKE}", "May 1, 2024, 7:30 AM"),
]


@cases("""
    root                    | expected
    your_facebook_activity  | messenger
    your_instagram_activity | instagram
""")
def test_a_download(tmp_path: Path, root: str, expected: str) -> None:
    inbox = f"{root}/messages/inbox/idaholm_7"
    files = {
        f"part-1/{inbox}/message_1.html": html_page(*FIRST),
        f"part-2/{inbox}/message_2.html": html_page(*SECOND),
        "start_here.html": "<html><body>hello</body></html>",
    }
    check(
        exported.read(tmp_path, files, expected),
        """
        Ida Holm (Ida Holm, Ben Roy) {"participants":["Ben Roy","Ida Holm"]}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida Holm: did it rain?⏎or not
            {"reactions":[{"by":["Ben Roy"],"count":1,"emoji":"🌱"}]}
        D1:2 2024-05-01 07:31:00 Ben Roy: it did <3
        D1:3 2024-05-01 07:33:00 Ida Holm: met May 1, 2024, 7:00 AM
        D1:4 2024-05-01 07:34:00 Ben Roy:
            image bed.jpg inbox/photos/bed.jpg
            audio a.aac inbox/audio/a.aac
        D1:5 2024-05-01 07:35:00 Ida Holm: https://x.org/a
        6 entries = 5 in messages + 1 system + 0 left over
        a download as HTML tells no seconds and no calls apart; one as JSON does
        """,
    )


@cases("""
    later                          | earlier                        | expected
    14 mars 2021 à 22:41           | 14 mars 2021 à 22:40           | 2021-03-14 22:40:00
    14.03.2021, 22:41              | 14.03.2021, 22:40              | 2021-03-14 22:40:00
    mar. 14, 2021 10:41 pm         | mar. 14, 2021 10:40 pm         | 2021-03-14 22:40:00
    03/14/2021 22:41               | 03/04/2021 22:40               | 2021-03-04 22:40:00
    2021年3月14日 22:41            | 2021年3月14日 22:40            | 2021-03-14 22:40:00
    Tháng 3 14, 2021 10:41:07chiều | Tháng 3 14, 2021 10:40:07chiều | 2021-03-14 22:40:07
""")
def test_other_tags_and_languages(tmp_path: Path, later: str, earlier: str, expected: str) -> None:
    text = html_page(newer("Ben Roy", "two", later), newer("Ida Holm", "one", earlier))
    found = messages(exported.read(tmp_path, {"conversation.html": text}, "messenger"))
    assert [m.text for m in found] == ["one", "two"]
    assert str(found[0].time) == expected


def test_a_language_whose_months_are_not_known(tmp_path: Path) -> None:
    stamps = ("१४ मार्च २०२१, १०:४१", "१४ मार्च २०२१, १०:४०")
    text = html_page(newer("Ben Roy", "two", stamps[0]), newer("Ida Holm", "one", stamps[1]))
    reading = exported.read(tmp_path, {"message_1.html": text})
    assert [(m.text, m.time) for m in messages(reading)] == [("one", None), ("two", None)]
    assert any("without a readable time" in note for note in reading.notes)


def test_an_order_of_dates_is_the_users(tmp_path: Path) -> None:
    text = html_page(newer("Ben", "x", "03/04/2021 22:41"), newer("Ida", "y", "03/04/2021 22:40"))
    first, _ = messages(exported.read(tmp_path, {"message_1.html": text}, dates="mdy"))
    assert first.time == datetime(2021, 3, 4, 22, 40)


def test_a_page_of_something_else_is_not_taken(tmp_path: Path) -> None:
    page = html_page(newer("News", "of the day", "May 1, 2024, 7:36 AM"))
    with refused("a web page of no exporter"):
        exported.read(tmp_path, {"x.html": page})
