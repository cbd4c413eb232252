"""Signal: text, signal-export, Desktop's messages and the plaintext export."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Attachment, Message, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.formats.exports.signal import FORMAT, looks_like_signal_text
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source


def read(path: Path, text: str, options: ReadOptions | None = None) -> ReadCorpus:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    source = Source.open(path)
    assert FORMAT.sniff(source)
    return FORMAT.read(source, options or ReadOptions())


def messages(reading: ReadCorpus) -> list[Message]:
    return [message for chat in reading.corpus.chats for message in chat.messages]


def lines(*items: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_with_lines_that_go_on(tmp_path: Path, end: str) -> None:
    written = (
        "[2024-05-01, 09:30] Ann: one",
        "two: three",
        "",
        "[2024-13-01, 09:30] no date",
        "[2024-05-01, 09:31] Group was renamed",
        "[2024-05-01, 09:32] Bo: ",
        "four",
    )
    reading = read(tmp_path / "chat.txt", end.join(written) + end)
    assert [(m.speaker, m.text) for m in messages(reading)] == [
        ("Ann", "one\ntwo: three\n\n[2024-13-01, 09:30] no date"),
        ("Bo", "\nfour"),
    ]
    assert messages(reading)[0].time == datetime(2024, 5, 1, 9, 30)
    assert str(reading.ledger) == "7 lines = 6 in messages + 1 system + 0 left over"


def test_what_stands_before_the_first_message_is_left_over(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("hello\n[2024-05-01, 09:30] Ann: one\n", encoding="utf-8")
    reading = FORMAT.read(Source.open(path), ReadOptions())
    assert [left.where for left in reading.ledger.leftovers] == ["chat.txt:1"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("[2024-05-01, 09:30] Ann: x", True),
        ("\ufeff[2024-05-01, 09:30] Ann: x", True),
        ("[2024-05-01, 09:30:12] Ann: x", False),  # WhatsApp in Sweden and Canada
        ("[01/05/2024, 09:30] Ann: x", False),
        ("2024-05-01, 09:30 - Ann: x", False),
        ("[2024-05-01, 09:30] nobody said this", False),
        ("", False),
    ],
)
def test_telling_signal_from_whatsapp(head: str, expected: bool) -> None:
    assert looks_like_signal_text(head) is expected


def test_markdown_of_signal_export(tmp_path: Path) -> None:
    text = (
        "[2024-05-01 09:30:12] Me: hello  \n\n"
        "[2024-05-01 09:30:40] Ann: \n\n> hello\n\nback  \n(- Me: ❤, Bo: 👍 -)\n"
        "[2024-05-01 09:31:00] Ann:   ![cat.jpg](./media/cat.jpg)  \n"
        "[2024-05-01 09:32:00] Ann: (This message was deleted)\n"
    )
    reading = read(tmp_path / "Ann" / "chat.md", text)
    first, second, third, fourth = messages(reading)
    assert [first.text, second.text, fourth.text] == ["hello", "back", ""]
    assert third.attachments == (Attachment("image", "cat.jpg", "media/cat.jpg"),)
    assert fourth.deleted
    assert first.time == datetime(2024, 5, 1, 9, 30, 12)
    extra = unpack_extra(second.extra)
    assert extra["quote"] == "hello"
    assert [one["by"] for one in extra["reactions"]] == [["Me"], ["Bo"]]


def exported(*told: tuple[str, str, str]) -> str:
    """As signal-export prints messages: two spaces end a body, an empty line follows."""
    return "".join(f"[{time}] {who}: {body}  \n\n" for time, who, body in told)


@pytest.mark.parametrize(
    "call",
    [
        *("Incoming call", "Outgoing call", "Missed voice call", "Missed call"),
        *("Incoming video call (accepted, 3m 4s)", "Outgoing voice call (declined by recipient)"),
        "Outgoing group call (unanswered)",
    ],
)
def test_calls_are_no_messages(tmp_path: Path, call: str) -> None:
    told = (("2024-05-01 09:30:12", "Ann", call), ("2024-05-01 09:31:12", "Ann", f"{call}, again"))
    reading = read(tmp_path / "Ann" / "chat.md", exported(*told))
    assert [message.text for message in messages(reading)] == [f"{call}, again"]
    assert str(reading.ledger) == "4 lines = 2 in messages + 2 system + 0 left over"
    item = {"date": "2024-05-01T09:30:12", "sender": "Ann", "quote": "", "attachments": []}
    data = lines(item | {"body": f"{call}  "}, item | {"body": "hi  "})
    reading = read(tmp_path / "Bo" / "data.json", data)
    assert str(reading.ledger) == "2 entries = 1 in messages + 1 system + 0 left over"


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("\n\n> one line\n\nanswer", "one line"),
        ("\n\n> first\n> \n> third\n\nanswer", "first\n\nthird"),
        ("\n\n> first\n>\n> third\n\nanswer", "first\n\nthird"),  # an editor took the space
        ("\n\n> [2024-04-01 10:00:00] Cleo: hello\n\nanswer", "[2024-04-01 10:00:00] Cleo: hello"),
    ],
)
def test_quotes_are_not_the_text(tmp_path: Path, quote: str, expected: str) -> None:
    told = (("2024-05-01 09:30:12", "Ann", quote), ("2024-05-01 09:31:12", "Bo", "> mine"))
    first, second = messages(read(tmp_path / "Ann" / "chat.md", exported(*told)))
    assert (first.text, unpack_extra(first.extra)["quote"]) == ("answer", expected)
    assert second.text == "> mine"  # typed, not quoted


def test_pasted_headers_make_no_speakers(tmp_path: Path) -> None:
    later = "look\n\n[2024-05-01 09:30:13] Cleo: hi\n[2025-01-01 00:00:00] INFO: started\nend"
    copied = "his file:\n[2021-02-03 08:00:00] Dan: hello  \n\n[2021-02-03 08:01:00] Eve: yes"
    told = (
        ("2024-05-01 09:30:12", "Ann", later),
        ("2024-05-01 09:31:12", "Bo", "oh"),
        ("2024-05-01 09:32:12", "Ann", copied),
        ("2024-05-01 09:33:12", "Bo", "well"),
    )
    reading = read(tmp_path / "Ann" / "chat.md", exported(*told))
    assert [(m.speaker, m.text) for m in messages(reading)] == [
        *(("Ann", later), ("Bo", "oh"), ("Ann", copied.replace("  \n", "\n")), ("Bo", "well"))
    ]
    assert reading.notes == ("dated lines inside messages, taken for pasted text: 4",)
    assert reading.ledger.in_messages == reading.ledger.total


def test_without_the_spaces_time_tells_what_was_pasted(tmp_path: Path) -> None:
    text = (
        "[2024-05-01, 09:30] Ann: look\n"
        "[2021-02-03, 08:00] Dan: hello\n"
        "[2021-02-03, 08:01] Eve: yes\n"
        "[2024-05-01, 09:31] Bo: oh\n"
        "[2024-05-01, 09:30] Cleo: late by a minute\n"
    )
    reading = read(tmp_path / "chat.txt", text)
    assert [m.speaker for m in messages(reading)] == ["Ann", "Cleo", "Bo"]
    assert reading.notes == ("dated lines inside messages, taken for pasted text: 2",)


def test_reactions_do_not_stand_for_spaces_that_an_editor_took(tmp_path: Path) -> None:
    text = "".join(
        f"[2024-05-01 09:{n}:12] Ann: {n}\n" + ("(- Bo: ❤ -)\n\n" if n % 3 else "\n")
        for n in range(10, 19)
    )
    found = messages(read(tmp_path / "Ann" / "chat.md", text))
    assert [m.text for m in found] == [str(n) for n in range(10, 19)]


def test_a_cut_export_still_tells_what_was_pasted(tmp_path: Path) -> None:
    told = [(f"2024-05-01 09:{n}:12", "Ann", f"{n}") for n in range(10, 14)]
    pasted = ("2024-05-01 09:15:00", "Bo", "see\n[2024-05-01 09:15:01] Cleo: hi")
    cut = exported(*told, pasted) + "[2024-05-01 09:16:00] Ann: and th"
    assert {m.speaker for m in messages(read(tmp_path / "chat.md", cut))} == {"Ann", "Bo"}


def test_two_files_put_together_and_the_newest_first_stay_whole(tmp_path: Path) -> None:
    hours = [f"[2024-05-{day:02}, 09:30] Ann: {day}\n" for day in range(1, 30)]
    two = read(tmp_path / "two.txt", "".join([*hours[15:], *hours[:15]]))
    back = read(tmp_path / "back.txt", "".join(hours[::-1]))
    expected = [str(day) for day in range(1, 30)]
    assert [m.text for m in messages(two)] == [m.text for m in messages(back)] == expected
    assert two.notes == back.notes == ()


def test_data_json_of_signal_export_wins_over_its_markdown(tmp_path: Path) -> None:
    item = {
        "date": "2024-05-01T09:30:12",
        "sender": "Ann",
        "body": "hi  ",
        "quote": "\n\n> earlier\n> line\n\n",
        "sticker": "",
        "reactions": [["Bo", "❤"]],
        "attachments": [{"name": "a.ogg", "path": "media/a.ogg"}],
    }
    bare: dict[str, Any] = {"quote": "", "reactions": [], "attachments": []}
    stuck = item | bare | {"body": "  ", "sticker": {"emoji": "🐝"}}
    gone = item | bare | {"body": "x", "deleted": True}
    call = item | bare | {"body": "Outgoing call", "call": True}
    folder = tmp_path / "export" / "Ann"
    folder.mkdir(parents=True)
    (folder / "data.json").write_text(lines(item, stuck, gone, call) + "{broken\n", "utf-8")
    (folder / "chat.md").write_text("[2024-05-01 09:30:12] Ann: hi  \n", encoding="utf-8")
    source = Source.open(tmp_path / "export")
    assert FORMAT.sniff(source)
    reading = FORMAT.read(source, ReadOptions())
    [chat] = reading.corpus.chats
    first, second, third = chat.messages
    assert chat.id == "Ann"
    assert first.text == "hi"
    assert first.attachments == (Attachment("audio", "a.ogg", "media/a.ogg"),)
    assert unpack_extra(first.extra)["quote"] == "earlier\nline"
    assert second.attachments == (Attachment("sticker", caption="🐝"),)
    assert (third.deleted, third.text) == (True, "")
    assert str(reading.ledger) == "5 entries = 3 in messages + 1 system + 1 left over"


def test_messages_of_signal_desktop(tmp_path: Path) -> None:
    export = {
        "conversations": [
            {"id": "c1", "type": "private", "name": "Ann", "e164": "+1", "serviceId": "s-ann"},
            {"id": "c2", "type": "group", "name": "Garden"},
            {"id": "c3", "type": "private", "profileFullName": "Bo Lund", "serviceId": "s-bo"},
        ],
        "messages": [
            *(
                {
                    "conversationId": "c1",
                    "type": "incoming",
                    "sent_at": 1714548600000,
                    "body": "hi",
                },
                {
                    "conversationId": "c1",
                    "type": "outgoing",
                    "sent_at": 1714548660000,
                    "body": "yes",
                    "quote": {"id": 1714548600000},
                    "reactions": [{"emoji": "❤", "fromId": "c1"}],
                },
                {"conversationId": "c1", "type": "call-history", "sent_at": 1714548670000},
                {
                    "conversationId": "c2",
                    "type": "incoming",
                    "sourceServiceId": "s-bo",
                    "timestamp": 1714548680000,
                    "attachments": [{"fileName": "a.png", "contentType": "image/png"}],
                },
                {
                    "conversationId": "c2",
                    "type": "incoming",
                    "source": "+1",
                    "sent_at": 1714548690000,
                    "deletedForEveryone": True,
                },
            ),
        ],
    }
    reading = read(tmp_path / "dump.json", json.dumps(export))
    ann, garden = reading.corpus.chats
    first, second = ann.messages
    assert (ann.id, garden.id) == ("Ann", "Garden")
    assert (first.speaker, second.speaker, second.reply_to) == ("Ann", "Me", first.id)
    assert unpack_extra(second.extra)["reactions"][0]["by"] == ["Ann"]
    assert garden.speakers == ("Bo Lund", "Ann")
    assert [message.deleted for message in garden.messages] == [False, True]
    assert str(reading.ledger) == "5 entries = 4 in messages + 1 system + 0 left over"


def frames() -> list[Any]:
    def item(sent: int, author: str, **what: Any) -> dict[str, Any]:
        return {"chatItem": {"chatId": "9", "authorId": author, "dateSent": str(sent)} | what}

    start = 1714548600000
    return [
        {"version": "1", "backupTimeMs": "1714999999000"},
        {"account": {"givenName": "Bo", "familyName": "Lund"}},
        {"recipient": {"id": "1", "self": {}}},
        {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann", "e164": "15550100"}}},
        {"recipient": {"id": "3", "group": {"snapshot": {"title": {"title": "Garden"}}}}},
        {"chat": {"id": "9", "recipientId": "3"}},
        item(start, "2", standardMessage={"text": {"body": "hi"}}),
        item(
            start + 1000,
            "1",
            revisions=[{}],
            standardMessage={
                "text": {"body": "ho"},
                "quote": {"targetSentTimestamp": str(start), "authorId": "2"},
                "reactions": [{"emoji": "❤", "authorId": "2"}],
                "attachments": [{"pointer": {"contentType": "audio/aac"}}],
                "linkPreview": [{"url": "https://a.org", "title": "A"}],
            },
        ),
        item(start + 2000, "2", stickerMessage={"sticker": {"emoji": "🐝"}}),
        item(start + 3000, "2", remoteDeletedMessage={}),
        item(start + 4000, "2", updateMessage={"simpleUpdate": {"type": "JOINED_SIGNAL"}}),
    ]


def test_the_plaintext_export(tmp_path: Path) -> None:
    reading = read(tmp_path / "main.jsonl", lines(*frames()))
    [chat] = reading.corpus.chats
    first, second, third, fourth = chat.messages
    assert (chat.id, chat.speakers) == ("Garden", ("Ann", "Bo Lund"))
    assert (first.time, first.text) == (datetime(2024, 5, 1, 7, 30), "hi")
    assert (second.reply_to, second.edited) == (first.id, True)
    assert second.attachments == (Attachment("audio"), Attachment("link", "A", "https://a.org"))
    assert unpack_extra(second.extra)["reactions"] == [{"emoji": "❤", "count": 1, "by": ["Ann"]}]
    assert third.attachments == (Attachment("sticker", caption="🐝"),)
    assert fourth.deleted
    assert str(reading.ledger) == "11 entries = 4 in messages + 7 system + 0 left over"


def test_quotations_payments_and_long_texts(tmp_path: Path) -> None:
    def item(sent: int, **what: Any) -> dict[str, Any]:
        stamp = str(1714548700000 + sent)
        return {"chatItem": {"chatId": "9", "authorId": "2", "dateSent": stamp} | what}

    gone = {"targetSentTimestamp": "0", "authorId": "1", "text": {"body": "lost words"}}
    more = [
        item(1, standardMessage={"text": {"body": "that"}, "quote": gone}),
        item(2, standardMessage={"text": {"body": "begun"}, "longText": {"contentType": "x"}}),
        item(3, paymentNotification={"amountMob": "1.5", "note": "for the seeds"}),
        item(4, paymentNotification={"amountMob": "1.5"}),
        item(5, giftBadge={"state": "OPENED"}),
        item(6, updateMessage={"individualCall": {"type": "AUDIO_CALL", "state": "MISSED"}}),
    ]
    reading = read(tmp_path / "main.jsonl", lines(*frames(), *more))
    that, begun, seeds = messages(reading)[-3:]
    assert (that.reply_to, unpack_extra(that.extra)["quote"]) == (None, "lost words")
    assert unpack_extra(begun.extra)["cut"] is True
    assert seeds.text == "for the seeds"
    assert str(reading.ledger) == "17 entries = 7 in messages + 10 system + 0 left over"


def test_mentions_are_shown_by_name(tmp_path: Path) -> None:
    told = frames()
    told[3]["recipient"]["contact"]["aci"] = "QUNJ"

    def said(sent: int, body: str, *accounts: str) -> dict[str, Any]:
        ranges = [{"start": n, "length": 1, "mentionAci": a} for n, a in enumerate(accounts)]
        text = {"body": body, "bodyRanges": [{"start": 0, "style": "BOLD"}, *ranges]}
        item = {"chatId": "9", "authorId": "1", "dateSent": str(sent)}
        return {"chatItem": item | {"standardMessage": {"text": text}}}

    told += [
        said(1714548700000, "\ufffc, look", "QUNJ"),
        said(1714548701000, "\ufffc and \ufffc", "QUNJ", "unknown"),
        {
            "chatItem": {
                **{"chatId": "9", "authorId": "2", "dateSent": "1714548702000"},
                "adminDeletedMessage": {},
            }
        },
    ]
    first, second, third = messages(read(tmp_path / "main.jsonl", lines(*told)))[-3:]
    assert (first.text, second.text) == ("@Ann, look", "@Ann and \ufffc")
    assert third.deleted


def test_a_zone_moves_stamps_but_not_written_times(tmp_path: Path) -> None:
    tokyo = ReadOptions(timezone="Asia/Tokyo")
    [first, *_] = messages(read(tmp_path / "main.jsonl", lines(*frames()), tokyo))
    assert first.time == datetime(2024, 5, 1, 16, 30)
    [only] = messages(read(tmp_path / "chat.txt", "[2024-05-01, 09:30] Ann: x", tokyo))
    assert only.time == datetime(2024, 5, 1, 9, 30)


def test_nothing_to_read_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl"
    path.write_text(lines({"version": "1", "backupTimeMs": "1"}), encoding="utf-8")
    with pytest.raises(RealtalkError, match="no message"):
        FORMAT.read(Source.open(path), ReadOptions())


def test_sample(data: Path) -> None:
    folder = data / "chat_exports" / "signal"
    target = json.loads((folder / "cm_target.json").read_text(encoding="utf-8"))[::-1]
    found = messages(FORMAT.read(Source.open(folder / "cm_test_export.txt"), ReadOptions()))
    # The expected parse turns a line break into a space; we keep what was written.
    assert [(m.speaker, m.time, m.text.replace("\n", " ")) for m in found] == [
        (t["author"], datetime.fromisoformat(t["timestamp"]), t["message"]) for t in target
    ]
