"""Signal: text, signal-export, Desktop's messages and the plaintext export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages, texts
from realtalk.chat import unpack_extra
from realtalk.formats.exports.signal import FORMAT
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.source import Source
from shown import check
from text_tables import cases


def read(folder: Path, name: str, text: str, **options: Any) -> ReadCorpus:
    return exported.read(folder, {name: text}, "signal", **options)


def lines(*items: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


WRITTEN = """[2024-05-01, 09:30] Ann: one
two: three

[2024-13-01, 09:30] no date
[2024-05-01, 09:31] Group was renamed
[2024-05-01, 09:32] Bo:\x20
four
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_with_lines_that_go_on(tmp_path: Path, end: str) -> None:
    check(
        read(tmp_path, "chat.txt", WRITTEN.replace("\n", end)),
        """
        chat (Ann, Bo)
        session 1, 2024-05-01 09:30:00
        D1:1 2024-05-01 09:30:00 Ann: one⏎two: three⏎⏎[2024-13-01, 09:30] no date
        D1:2 2024-05-01 09:32:00 Bo: ⏎four
        7 lines = 6 in messages + 1 system + 0 left over
        """,
    )


def test_what_nobody_said_is_left_over(tmp_path: Path) -> None:
    text = "hello\n[2024-05-01, 09:29] renamed\nto Bees\n[2024-05-01, 09:30] Ann: one\n"
    path = exported.write(tmp_path, {"chat.txt": text})
    ledger = open_reading(path, "signal").reading.ledger
    assert [left.where for left in ledger.leftovers] == ["chat.txt:1", "chat.txt:3"]
    assert ledger.system == 1


@cases(r"""
    head                                 | expected
    [2024-05-01, 09:30] Ann: x           | true
    "\ufeff[2024-05-01, 09:30] Ann: x"   | true
    [2024-05-01, 09:30:12] Ann: x        | false  # WhatsApp in Sweden and Canada
    [01/05/2024, 09:30] Ann: x           | false
    2024-05-01, 09:30 - Ann: x           | false
    [2024-05-01, 09:30] nobody said this | false
""")
def test_telling_signal_from_whatsapp(tmp_path: Path, head: str, expected: bool) -> None:
    path = exported.write(tmp_path, {"chat.txt": head})
    assert FORMAT.sniff(Source.open(path)) is expected


MARKDOWN = """[2024-05-01 09:30:12] Me: hello\x20\x20

[2024-05-01 09:30:40] Ann:\x20

> hello

back\x20\x20
(- Me: ❤, Bo: 👍 -)
[2024-05-01 09:31:00] Ann:   ![cat.jpg](./media/cat.jpg)\x20\x20
[2024-05-01 09:32:00] Ann: (This message was deleted)
"""


def test_markdown_of_signal_export(tmp_path: Path) -> None:
    check(
        read(tmp_path, "Ann/chat.md", MARKDOWN),
        """
        chat (Me, Ann)
        session 1, 2024-05-01 09:30:12
        D1:1 2024-05-01 09:30:12 Me: hello
        D1:2 2024-05-01 09:30:40 Ann: back
            {"quote":"hello","reactions":[{"by":["Me"],"count":1,"emoji":"❤"},{"by":["Bo"],"coun
            t":1,"emoji":"👍"}]}
        D1:3 2024-05-01 09:31:00 Ann:
            image cat.jpg media/cat.jpg
        D1:4 2024-05-01 09:32:00 Ann, deleted:
        10 lines = 10 in messages + 0 system + 0 left over
        """,
    )


def printed(*told: tuple[str, str, str]) -> str:
    """As signal-export prints messages: two spaces end a body, an empty line follows."""
    return "".join(f"[2024-05-01 {time}] {who}: {body}  \n\n" for time, who, body in told)


@cases("""
    call
    Incoming call
    Missed voice call
    Incoming video call (accepted, 3m 4s)
    Outgoing voice call (declined by recipient)
    Outgoing group call (unanswered)
""")
def test_calls_are_no_messages(tmp_path: Path, call: str) -> None:
    text = printed(("09:30:12", "Ann", call), ("09:31:12", "Ann", f"{call}, again"))
    reading = read(tmp_path, "Ann/chat.md", text)
    assert texts(reading) == [f"{call}, again"]
    assert str(reading.ledger) == "4 lines = 2 in messages + 2 system + 0 left over"
    item = {"date": "2024-05-01T09:30:12", "sender": "Ann", "quote": "", "attachments": []}
    data = lines(item | {"body": f"{call}  "}, item | {"body": "hi  "})
    assert texts(read(tmp_path, "Bo/data.json", data)) == ["hi"]


@cases(r"""
    quote                               | expected
    > one line                          | one line
    "> first\n> \n> third"              | "first\n\nthird"
    "> first\n>\n> third"               | "first\n\nthird"  # an editor took the space
    > [2024-04-01 10:00:00] Cleo: hello | [2024-04-01 10:00:00] Cleo: hello
""")
def test_quotes_are_not_the_text(tmp_path: Path, quote: str, expected: str) -> None:
    text = printed(("09:30:12", "Ann", f"\n\n{quote}\n\nanswer"), ("09:31:12", "Bo", "> mine"))
    first, second = messages(read(tmp_path, "Ann/chat.md", text))
    assert (first.text, unpack_extra(first.extra)["quote"]) == ("answer", expected)
    assert second.text == "> mine"  # typed, not quoted


def test_pasted_headers_make_no_speakers(tmp_path: Path) -> None:
    later = "look\n\n[2024-05-01 09:30:13] Cleo: hi\n[2025-01-01 00:00:00] INFO: started\nend"
    copied = "his file:\n[2021-02-03 08:00:00] Dan: hello  \n\n[2021-02-03 08:01:00] Eve: yes"
    told = (
        ("09:30:12", "Ann", later),
        ("09:31:12", "Bo", "oh"),
        ("09:32:12", "Ann", copied),
        ("09:33:12", "Bo", "well"),
    )
    # A cut export still tells what was pasted.
    reading = read(tmp_path, "Ann/chat.md", printed(*told) + "[2024-05-01 09:34:00] Ann: and th")
    assert [(m.speaker, m.text) for m in messages(reading)] == [
        *((who, text.replace("  \n", "\n")) for _, who, text in told),
        ("Ann", "and th"),
    ]
    assert reading.notes == ("dated lines inside messages, taken for pasted text: 4",)
    assert reading.ledger.in_messages == reading.ledger.total


def test_without_the_spaces_time_tells_what_was_pasted(tmp_path: Path) -> None:
    text = """[2024-05-01, 09:30] Ann: look
[2021-02-03, 08:00] Dan: hello
[2021-02-03, 08:01] Eve: yes
[2024-05-01, 09:31] Bo: oh
[2024-05-01, 09:30] Cleo: late by a minute
"""
    reading = read(tmp_path, "chat.txt", text)
    assert [m.speaker for m in messages(reading)] == ["Ann", "Cleo", "Bo"]
    assert reading.notes == ("dated lines inside messages, taken for pasted text: 2",)


def test_reactions_do_not_stand_for_spaces_that_an_editor_took(tmp_path: Path) -> None:
    text = "".join(
        f"[2024-05-01 09:{n}:12] Ann: {n}\n" + ("(- Bo: ❤ -)\n\n" if n % 3 else "\n")
        for n in range(10, 19)
    )
    assert texts(read(tmp_path, "Ann/chat.md", text)) == [str(n) for n in range(10, 19)]


def test_two_files_put_together_and_the_newest_first_stay_whole(tmp_path: Path) -> None:
    days = [f"[2024-05-{day:02}, 09:30] Ann: {day}\n" for day in range(1, 30)]
    for order in ([*days[15:], *days[:15]], days[::-1]):
        reading = read(tmp_path, "chat.txt", "".join(order))
        assert texts(reading) == [str(day) for day in range(1, 30)]
        assert reading.notes == ()


DATA = """{"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "hi  ", \
"quote": "\\n\\n> earlier\\n> line\\n\\n", "sticker": "", "reactions": [["Bo", "❤"]], \
"attachments": [{"name": "a.ogg", "path": "media/a.ogg"}]}
{"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "  ", "sticker": {"emoji": "🐝"}}
{"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "x", "deleted": true}
{"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "Outgoing call", "call": true}
{broken
"""


def test_data_json_of_signal_export_wins_over_its_markdown(tmp_path: Path) -> None:
    files = {"export/Ann/data.json": DATA, "export/Ann/chat.md": MARKDOWN}
    check(
        exported.read(tmp_path, files, "signal"),
        """
        Ann (Ann) {"calls":{"Ann":["2024-05-01T09:30:12"]}}
        session 1, 2024-05-01 09:30:12
        D1:1 2024-05-01 09:30:12 Ann: hi
            audio a.ogg media/a.ogg
            {"quote":"earlier\\nline","reactions":[{"by":["Bo"],"count":1,"emoji":"❤"}]}
        D1:2 2024-05-01 09:30:12 Ann:
            sticker   🐝
        D1:3 2024-05-01 09:30:12 Ann, deleted:
        5 entries = 3 in messages + 1 system + 1 left over
        export/Ann/data.json:5: not a JSON object
        not read, though it could be a chat: export/Ann/chat.md (format signal); read it alone
            to see why
        """,
    )


DESKTOP = """{"conversations": [
 {"id": "c1", "type": "private", "name": "Ann", "e164": "+1", "serviceId": "s-ann"},
 {"id": "c2", "type": "group", "name": "Garden"},
 {"id": "c3", "type": "private", "profileFullName": "Bo Lund", "serviceId": "s-bo"}],
"messages": [
 {"conversationId": "c1", "type": "incoming", "sent_at": 1714548600000, "body": "hi"},
 {"conversationId": "c1", "type": "outgoing", "sent_at": 1714548660000, "body": "yes",
  "quote": {"id": 1714548600000}, "reactions": [{"emoji": "❤", "fromId": "c1"}]},
 {"conversationId": "c1", "type": "call-history", "sent_at": 1714548670000},
 {"conversationId": "c2", "type": "incoming", "sourceServiceId": "s-bo", "timestamp": 1714548680000,
  "attachments": [{"fileName": "a.png", "contentType": "image/png"}]},
 {"conversationId": "c2", "type": "incoming", "source": "+1", "sent_at": 1714548690000,
  "deletedForEveryone": true}]}"""


def test_messages_of_signal_desktop(tmp_path: Path) -> None:
    check(
        read(tmp_path, "dump.json", DESKTOP),
        """
        Ann (Ann, Me) {"authors":{"Ann":"c1"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ann: hi
            {"id":"1714548600000"}
        D1:2 2024-05-01 07:31:00 Me, to D1:1: yes
            {"id":"1714548660000","reactions":[{"by":["Ann"],"count":1,"emoji":"❤"}]}
        Garden (Bo Lund, Ann) {"authors":{"Ann":"+1","Bo Lund":"s-bo"}}
        session 1, 2024-05-01 07:31:20
        D1:1 2024-05-01 07:31:20 Bo Lund:
            image a.png
            {"id":"1714548680000"}
        D1:2 2024-05-01 07:31:30 Ann, deleted:
            {"id":"1714548690000"}
        5 entries = 4 in messages + 1 system + 0 left over
        """,
    )


HEADS = """{"version": "1", "backupTimeMs": "1714999999000"}
{"account": {"givenName": "Bo", "familyName": "Lund"}}
{"recipient": {"id": "1", "self": {}}}
{"recipient": {"id": "2", "contact": {"profileGivenName": "Ann", "e164": "155501", "aci": "QUNJ"}}}
{"recipient": {"id": "3", "group": {"snapshot": {"title": {"title": "Garden"}}}}}
{"chat": {"id": "9", "recipientId": "3"}}
"""


def frames(*items: str) -> str:
    """The plaintext export: items, of the second person where nothing else is said."""
    told = []
    for number, item in enumerate(items):
        head = {"chatId": "9", "authorId": "2", "dateSent": str(1714548600000 + 1000 * number)}
        told.append({"chatItem": head | json.loads(item)})
    return HEADS + lines(*told)


SAID = (
    '{"standardMessage": {"text": {"body": "hi"}}}',
    """{"authorId": "1", "revisions": [{}], "standardMessage": {"text": {"body": "ho"},
    "quote": {"targetSentTimestamp": "1714548600000", "authorId": "2"},
    "reactions": [{"emoji": "❤", "authorId": "2"}],
    "attachments": [{"pointer": {"contentType": "audio/aac"}}],
    "linkPreview": [{"url": "https://a.org", "title": "A"}]}}""",
    '{"stickerMessage": {"sticker": {"emoji": "🐝"}}}',
    '{"remoteDeletedMessage": {}}',
    '{"updateMessage": {"simpleUpdate": {"type": "JOINED_SIGNAL"}}}',
)


def test_the_plaintext_export(tmp_path: Path) -> None:
    check(
        read(tmp_path, "main.jsonl", frames(*SAID)),
        """
        Garden (Ann, Bo Lund) {"authors":{"Ann":"2","Bo Lund":"1"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ann: hi
            {"id":"1714548600000"}
        D1:2 2024-05-01 07:30:01 Bo Lund, to D1:1, edited: ho
            audio
            link A https://a.org
            {"id":"1714548601000","reactions":[{"by":["Ann"],"count":1,"emoji":"❤"}]}
        D1:3 2024-05-01 07:30:02 Ann:
            sticker   🐝
            {"id":"1714548602000"}
        D1:4 2024-05-01 07:30:03 Ann, deleted:
            {"id":"1714548603000"}
        11 entries = 4 in messages + 7 system + 0 left over
        """,
    )


def test_quotations_payments_mentions_and_long_texts(tmp_path: Path) -> None:
    text = frames(
        """{"standardMessage": {"text": {"body": "that"}, "quote":
        {"targetSentTimestamp": "0", "authorId": "1", "text": {"body": "lost words"}}}}""",
        '{"standardMessage": {"text": {"body": "begun"}, "longText": {"contentType": "x"}}}',
        '{"paymentNotification": {"amountMob": "1.5", "note": "for the seeds"}}',
        '{"paymentNotification": {"amountMob": "1.5"}}',
        '{"giftBadge": {"state": "OPENED"}}',
        '{"updateMessage": {"individualCall": {"type": "AUDIO_CALL", "state": "MISSED"}}}',
        """{"standardMessage": {"text": {"body": "\ufffc and \ufffc, look", "bodyRanges": [
        {"start": 0, "style": "BOLD"}, {"start": 6, "length": 1, "mentionAci": "unknown"},
        {"start": 0, "length": 1, "mentionAci": "QUNJ"}]}}}""",
        '{"standardMessage": {"text": {"body": "\ufffc, look"}}}',
        '{"adminDeletedMessage": {}}',
    )
    check(
        read(tmp_path, "main.jsonl", text),
        """
        Garden (Ann) {"authors":{"Ann":"2"},"calls":{"Ann":["2024-05-01T07:30:05"]}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ann: that
            {"id":"1714548600000","quote":"lost words"}
        D1:2 2024-05-01 07:30:01 Ann: begun
            {"cut":true,"id":"1714548601000"}
        D1:3 2024-05-01 07:30:02 Ann: for the seeds
            {"id":"1714548602000"}
        D1:4 2024-05-01 07:30:06 Ann: @Ann and ￼, look
            {"id":"1714548606000"}
        D1:5 2024-05-01 07:30:07 Ann: ￼, look
            {"id":"1714548607000"}
        D1:6 2024-05-01 07:30:08 Ann, deleted:
            {"id":"1714548608000"}
        15 entries = 6 in messages + 9 system + 0 left over
        """,
    )
