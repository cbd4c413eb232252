"""Calls: notices in every app, counted by who made them, and no message in any figure."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

import exported
from realtalk.chat import Call, Chat, calls_in
from realtalk.describe import describe
from realtalk.formats.merging import joined_calls
from realtalk.formats.opening import OpenedSource, add, open_reading, together
from realtalk.formats.reading import ReadOptions
from realtalk.formats.store import load, store
from realtalk.pages.chat_page import PortraitOptions, make_portrait

TELEGRAM = """{"name": "Bo", "type": "personal_chat", "id": 7, "messages": [
{"id": 1, "type": "message", "date": "2024-05-01T09:30:00", "from": "Ann", "from_id": "userAnn",
 "text": "hello"},
{"id": 2, "type": "message", "date": "2024-05-02T09:30:00", "from": "Bo", "from_id": "userBo",
 "text": "hello"},
{"id": 9, "type": "service", "date": "2024-05-01T10:00:00", "actor": "Ann", "actor_id": "userAnn",
 "action": "phone_call", "text": ""},
{"id": 9, "type": "service", "date": "2024-05-01T10:00:00", "actor": "Ann", "actor_id": "userAnn",
 "action": "phone_call", "text": ""}]}"""
BUBBLE = """<div class="message default clearfix" id="message{}"><div class="body">
<div class="pull_right date details" title="01.05.2024 10:00:00">10:00</div>
<div class="from_name">{}</div>{}</div></div>"""
HELLO = '<div class="text">hello</div>'
RANG = '<div class="media_wrap"><div class="media media_call"><div class="body"></div></div></div>'
BUBBLES = ((1, "Ann", HELLO), (2, "Bo", HELLO), (3, "Ann", RANG))
TELEGRAM_PAGE = f"""<html><body><div class="page_wrap"><div class="page_header">
<div class="text bold">Bo</div></div>
{"".join(BUBBLE.format(*each) for each in BUBBLES)}</div></body></html>"""
MESSENGER = """{"participants": [{"name": "Ann"}, {"name": "Bo"}], "title": "Bo",
"thread_path": "inbox/bo_1", "messages": [
{"sender_name": "Ann", "timestamp_ms": 1714557600000, "content": "hi", "type": "Generic"},
{"sender_name": "Bo", "timestamp_ms": 1714557609000, "content": "ho", "type": "Generic"},
{"sender_name": "Ann", "timestamp_ms": 1714557600000, "content": "called", "call_duration": 61}]}"""
DISCORD = """{"guild": {"id": "0", "name": "x"}, "channel": {"id": "7", "name": "bo"}, "messages": [
{"id": "1", "type": "Default", "timestamp": "2024-05-01T10:00:00+00:00", "content": "hi",
 "author": {"id": "1", "name": "Ann"}},
{"id": "2", "type": "Default", "timestamp": "2024-05-01T10:00:00+00:00", "content": "ho",
 "author": {"id": "2", "name": "Bo"}},
{"id": "3", "type": "Call", "timestamp": "2024-05-01T10:00:00+00:00",
 "content": "Started a call that lasted 3 minutes.", "author": {"id": "1", "name": "Ann"}}]}"""
DISCORD_TABLE = """AuthorID,Author,Date,Content,Attachments,Reactions
1,Ann,2024-05-01T10:00:00,hi,,
2,Bo,2024-05-01T10:00:00,ho,,
1,Ann,2024-05-01T10:00:00,Started a call that lasted 3 minutes.,,
"""
SIGNAL = """{"date": "2024-05-01 10:00:00", "sender": "Ann", "body": "hi  ", "attachments": []}
{"date": "2024-05-01 10:00:00", "sender": "Bo", "body": "ho  ", "attachments": []}
{"date": "2024-05-01 10:00:00", "sender": "Ann", "body": "Outgoing call  ", "attachments": []}
"""
TEAMS = """{"userId": "8:ann", "exportDate": "2024-05-02", "conversations": [
{"id": "8:bo", "displayName": "Bo", "MessageList": [
{"id": "1", "displayName": "Ann", "originalarrivaltime": "2024-05-01T10:00:00Z",
 "messagetype": "RichText", "content": "hi", "from": "8:ann", "properties": null},
{"id": "2", "displayName": "Bo", "originalarrivaltime": "2024-05-01T10:00:00Z",
 "messagetype": "RichText", "content": "ho", "from": "8:bo", "properties": null},
{"id": "3", "displayName": "Ann", "originalarrivaltime": "2024-05-01T10:00:00Z", "from": "8:ann",
 "messagetype": "Event/Call", "content": "<partlist type=\\"started\\"><part/></partlist>"},
{"id": "4", "displayName": "Ann", "originalarrivaltime": "2024-05-01T10:00:00Z", "from": "8:ann",
 "messagetype": "Event/Call", "content": "<partlist type=\\"ended\\"><part/></partlist>"}]}]}"""
TEAMS_GRAPH = """[
{"id": "1", "chatId": "19:x", "messageType": "message", "createdDateTime": "2024-05-01T10:00:00Z",
 "from": {"user": {"id": "ann", "displayName": "Ann"}}, "attachments": [], "reactions": [],
 "body": {"contentType": "text", "content": "hi"}},
{"id": "2", "chatId": "19:x", "messageType": "message", "createdDateTime": "2024-05-01T10:00:00Z",
 "from": {"user": {"id": "bo", "displayName": "Bo"}},
 "body": {"contentType": "text", "content": "ho"}},
{"id": "3", "chatId": "19:x", "messageType": "systemEventMessage", "from": null,
 "createdDateTime": "2024-05-01T10:00:00Z", "eventDetail": {
 "@odata.type": "#microsoft.graph.callStartedEventMessageDetail", "callId": "c1",
 "initiator": {"user": {"id": "ann", "displayName": "Ann"}}}},
{"id": "4", "chatId": "19:x", "messageType": "systemEventMessage", "from": null,
 "createdDateTime": "2024-05-01T10:00:00Z", "eventDetail": {
 "@odata.type": "#microsoft.graph.callEndedEventMessageDetail", "callId": "c1",
 "initiator": {"user": {"id": "ann", "displayName": "Ann"}}}}]"""
GOOGLE_CHAT = """{"messages": [
{"creator": {"name": "Ann", "email": "ann@x.example", "user_type": "Human"}, "text": "hi",
 "created_date": "Wednesday, May 1, 2024 at 10:00:00 AM UTC", "topic_id": "t1", "message_id": "m1"},
{"creator": {"name": "Bo", "email": "bo@x.example", "user_type": "Human"}, "text": "ho",
 "created_date": "Wednesday, May 1, 2024 at 10:00:00 AM UTC", "topic_id": "t2", "message_id": "m2"},
{"creator": {"name": "Ann", "email": "ann@x.example", "user_type": "Human"}, "text": "",
 "created_date": "Wednesday, May 1, 2024 at 10:00:00 AM UTC", "topic_id": "t3", "message_id": "m3",
 "annotations": [{"video_call_metadata": {"meeting_space": {"meeting_url": "m"}}}]}]}"""
CHATLAB = """{"chatlab": {"version": "0.0.1", "exportedAt": 1714557600},
"meta": {"name": "Bo", "platform": "wechat", "type": "private"}, "members": [
{"platformId": "Ann", "accountName": "Ann"}, {"platformId": "Bo", "accountName": "Bo"}],
"messages": [
{"sender": "Ann", "accountName": "Ann", "timestamp": 1714557600, "type": 0, "content": "hi"},
{"sender": "Bo", "accountName": "Bo", "timestamp": 1714557601, "type": 0, "content": "ho"},
{"sender": "Ann", "accountName": "Ann", "timestamp": 1714557600, "type": 23, "content": "call"}]}"""
WHATSAPP = """01/05/2024, 10:00 - Ann: hi
01/05/2024, 10:00 - Bo: ho
01/05/2024, 10:00 - Ann: Missed voice call
01/05/2024, 10:00 - Bo: Missed voice call again?
"""
IPHONE = """[21/05/2024, 10:00:00] Ann: hi
[21/05/2024, 10:00:00] Bo: ho
[21/05/2024, 10:00:00] Ann: \u200eVoice call, \u200e3 min
[21/05/2024, 10:00:00] Bo: \u200eimage omitted
"""
APPS = {
    "result.json": TELEGRAM,
    "messages.html": TELEGRAM_PAGE,
    "messages/inbox/bo_1/message_1.json": MESSENGER,
    "bo.json": DISCORD,
    "bo.csv": DISCORD_TABLE,
    "Bo/data.json": SIGNAL,
    "teams/messages.json": TEAMS,
    "graph/messages.json": TEAMS_GRAPH,
    "Groups/DM 7/messages.json": GOOGLE_CHAT,
    "chatlab.json": CHATLAB,
    "WhatsApp Chat with Bo.txt": WHATSAPP,
    "_chat.txt": IPHONE,
}


def read(folder: Path, name: str, text: str) -> OpenedSource:
    return open_reading(exported.write(folder, {name: text}))


@pytest.mark.parametrize("app", APPS)
def test_a_call_is_counted_for_its_caller_and_is_no_message(app: str, tmp_path: Path) -> None:
    opened = read(tmp_path, app, APPS[app])
    reading = opened.reading
    [row] = reading.tables.chats
    [call] = calls_in(row.extra)
    assert call.speaker == "Ann" and call.time is not None
    assert (call.time.month, call.time.hour, call.time.minute) == (5, 10, 0)
    assert reading.ledger.system >= 1
    texts = [message.text for message in reading.corpus.chats[0].messages]
    assert not any(text in ("Missed voice call", "called") for text in texts)
    people = make_portrait(reading, PortraitOptions(labels=False)).aggregates.by_person
    assert dict(people.select("speaker", "calls").rows()) == {"Ann": 1, "Bo": 0}
    assert people["messages"].sum() == len(texts) == describe(reading.tables).total("messages")
    # It stays beside the chat when that is stored.
    store(reading, tmp_path / "stored", opened.source)
    assert load(tmp_path / "stored").corpus.chats[0].calls == (call,)


def test_other_notices_are_no_calls(tmp_path: Path) -> None:
    pinned = TELEGRAM.replace("phone_call", "pin_message")
    assert read(tmp_path, "result.json", pinned).reading.corpus.chats[0].calls == ()


BACKUP = """{"version": "1", "backupTimeMs": "1714557600000"}
{"account": {"givenName": "Ann", "familyName": ""}}
{"recipient": {"id": "1", "self": {}}}
{"recipient": {"id": "2", "contact": {"profileGivenName": "Bo"}}}
{"chat": {"id": "9", "recipientId": "2"}}
{"chatItem": {"chatId": "9", "authorId": "1", "standardMessage": {"text": {"body": "hi"}}}}
{"chatItem": {"chatId": "9", "authorId": "2", "standardMessage": {"text": {"body": "hi"}}}}
{"chatItem": {"chatId": "9", "updateMessage": {"individualCall": {"direction": "OUTGOING"}}}}
{"chatItem": {"chatId": "9", "updateMessage": {"individualCall": {"direction": "INCOMING"}}}}
{"chatItem": {"chatId": "9", "updateMessage": {"groupCall": {"startedCallRecipientId": "2"}}}}
{"chatItem": {"chatId": "9", "updateMessage": {"simpleUpdate": {"type": "JOINED_SIGNAL"}}}}
"""


def test_backups_of_signal_tell_who_called(tmp_path: Path) -> None:
    text = BACKUP.replace('"chatId"', '"dateSent": "1714557600000", "chatId"')
    chat = read(tmp_path, "main.jsonl", text).reading.corpus.chats[0]
    assert [call.speaker for call in chat.calls] == ["Ann", "Bo", "Bo"]


def test_calls_of_two_exports_are_joined(tmp_path: Path) -> None:
    lines = ["Ann: hi", "Bo: ho", "Ann: Missed voice call", "Bo: how are you these days?"]
    text = "".join(f"01/05/2024, 10:0{n} - {line}\n" for n, line in enumerate(lines))
    more = "02/05/2024, 09:00 - Bo: Missed voice call\n02/05/2024, 09:01 - Ann: sorry, I slept\n"
    first = read(tmp_path / "a", "WhatsApp Chat with Bo.txt", text)
    then = read(tmp_path / "b", "WhatsApp Chat with Bo.txt", text + more)
    whole = [Call("Ann", datetime(2024, 5, 1, 10, 2)), Call("Bo", datetime(2024, 5, 2, 9, 0))]
    assert list(together([first, then], ReadOptions()).reading.corpus.chats[0].calls) == whole
    store(first.reading, tmp_path / "stored", first.source)
    add(tmp_path / "stored", [then], ReadOptions())
    assert list(load(tmp_path / "stored").corpus.chats[0].calls) == whole
    assert not add(tmp_path / "stored", [then], ReadOptions()).written


def test_names_clocks_and_seconds_of_another_export() -> None:
    known = Chat("a", (), (), extra='{"calls":{"Ann":["2024-05-01T10:00:00"]},"id":"7"}')
    new = '{"calls":{"Mum":["2024-05-01T09:00:12","2024-05-01T09:00:40","2024-05-01T09:30:00"]}}'
    joined = joined_calls(known.extra, new, {"Mum": "Ann"}, timedelta(hours=1))
    times = [(call.speaker, call.time and call.time.minute) for call in calls_in(joined)]
    assert times == [("Ann", 0), ("Ann", 0), ("Ann", 30)]
    assert '"id":"7"' in joined


@pytest.mark.parametrize(
    "extra", ['{"calls"', '{"calls":[1]}', '{"calls":{"Ann":"x"}}', '{"calls":{"Ann":[3,"x"]}}']
)
def test_what_is_no_call_is_passed_over(extra: str) -> None:
    assert calls_in(extra) == ()


def test_a_call_outside_of_the_messages_days_moves_no_day(tmp_path: Path) -> None:
    lines = "01/05/2024, 10:00 - Ann: Missed voice call\n03/05/2024, 10:00 - Ann: hi\n"
    lines += "04/05/2024, 10:00 - Bo: ho\n09/05/2024, 10:00 - Ann: Missed voice call\n"
    reading = read(tmp_path, "WhatsApp Chat with Bo.txt", lines).reading
    made = make_portrait(reading, PortraitOptions(labels=False)).aggregates.to_json()
    assert made["first"] == "2024-05-03" and max(made["rows"]["day"]) == 1
    assert min(made["rows"]["day"]) == 0 and sum(made["rows"]["calls"]) == 2
