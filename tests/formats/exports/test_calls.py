"""Calls: notices in every app, counted by who made them, and no message in any figure."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Call, Chat, calls_in
from realtalk.describe import describe
from realtalk.formats.merging import joined_calls
from realtalk.formats.opening import add, open_reading, together
from realtalk.formats.reading import ReadOptions
from realtalk.formats.store import load, store
from realtalk.pages.chat_page import PortraitOptions, make_portrait, people_frame

ANN = {"id": "1", "name": "Ann"}


def telegram(action: str = "phone_call") -> dict[str, str]:
    said = [
        {"id": n, "type": "message", "date": f"2024-05-0{n}T09:30:00", "from": who}
        | {"from_id": f"user{who}", "text": "hello there"}
        for n, who in ((1, "Ann"), (2, "Bo"))
    ]
    call = {"id": 9, "type": "service", "date": "2024-05-01T10:00:00", "actor": "Ann"}
    call |= {"actor_id": "userAnn", "action": action, "text": ""}
    chat = {"name": "Bo", "type": "personal_chat", "id": 7, "messages": [*said, call, call]}
    return {"result.json": json.dumps(chat)}


def telegram_page() -> dict[str, str]:
    def bubble(number: int, who: str, inside: str) -> str:
        return (
            f'<div class="message default clearfix" id="message{number}"><div class="body">'
            f'<div class="pull_right date details" title="01.05.2024 10:00:00">10:00</div>'
            f'<div class="from_name">{who}</div>{inside}</div></div>'
        )

    call = '<div class="media_wrap"><div class="media media_call"><div class="body"></div></div>'
    text = '<div class="text">hello</div>'
    page = bubble(1, "Ann", text) + bubble(2, "Bo", text) + bubble(3, "Ann", f"{call}</div>")
    head = '<div class="page_wrap"><div class="page_header"><div class="text bold">Bo</div></div>'
    return {"messages.html": f"<html><body>{head}{page}</div></body></html>"}


def messenger() -> dict[str, str]:
    stamp = 1714557600000  # 10:00 on 1 May 2024
    items = [
        {"sender_name": "Ann", "timestamp_ms": stamp, "content": "hi", "type": "Generic"},
        {"sender_name": "Bo", "timestamp_ms": stamp + 9000, "content": "ho", "type": "Generic"},
        {"sender_name": "Ann", "timestamp_ms": stamp, "call_duration": 61, "content": "called"},
    ]
    people = [{"name": "Ann"}, {"name": "Bo"}]
    export = {"participants": people, "messages": items, "title": "Bo", "thread_path": "inbox/bo_1"}
    return {"messages/inbox/bo_1/message_1.json": json.dumps(export)}


def discord() -> dict[str, str]:
    def entry(number: int, kind: str, who: dict[str, str], content: str) -> dict[str, Any]:
        stamp = "2024-05-01T10:00:00+00:00"
        return {"id": str(number), "type": kind, "timestamp": stamp, "content": content} | {
            "author": who
        }

    bo = {"id": "2", "name": "Bo"}
    items = [entry(1, "Default", ANN, "hi"), entry(2, "Default", bo, "ho")]
    items.append(entry(3, "Call", ANN, "Started a call that lasted 3 minutes."))
    export = {"guild": {"id": "0", "name": "x"}, "channel": {"id": "7", "name": "bo"}}
    return {"bo.json": json.dumps(export | {"messages": items, "messageCount": 3})}


def discord_table() -> dict[str, str]:
    rows = ["AuthorID,Author,Date,Content,Attachments,Reactions"]
    rows += ['1,Ann,2024-05-01T10:00:00,"hi",,', '2,Bo,2024-05-01T10:00:00,"ho",,']
    rows.append('1,Ann,2024-05-01T10:00:00,"Started a call that lasted 3 minutes.",,')
    return {"bo.csv": "\n".join(rows) + "\n"}


def signal() -> dict[str, str]:
    item = {"date": "2024-05-01 10:00:00", "sender": "Ann", "body": "hi  ", "quote": ""}
    item |= {"sticker": "", "reactions": [], "attachments": []}  # type: ignore[dict-item]
    call = item | {"body": "Outgoing call  "}
    lines = [item, item | {"sender": "Bo", "body": "ho  "}, call]
    return {"Bo/data.json": "".join(json.dumps(line) + "\n" for line in lines)}


def teams() -> dict[str, str]:
    def item(number: int, who: str, content: str, kind: str = "RichText") -> dict[str, Any]:
        stamp = "2024-05-01T10:00:00Z"
        return {"id": str(number), "displayName": who, "originalarrivaltime": stamp} | {
            "messagetype": kind,
            "content": content,
            "from": f"8:{who.lower()}",
            "properties": None,
        }

    started, ended = (f'<partlist type="{how}"><part/></partlist>' for how in CALL_EVENTS)
    items = [item(1, "Ann", "hi"), item(2, "Bo", "ho"), item(3, "Ann", started, "Event/Call")]
    items.append(item(4, "Ann", ended, "Event/Call"))
    conversation = {"id": "8:bo", "displayName": "Bo", "MessageList": items}
    export = {"userId": "8:ann", "exportDate": "2024-05-02", "conversations": [conversation]}
    return {"messages.json": json.dumps(export)}


CALL_EVENTS = ("started", "ended")


def teams_graph() -> dict[str, str]:
    def item(number: int, who: str, **more: Any) -> dict[str, Any]:
        user = {"user": {"id": who.lower(), "displayName": who}}
        return {
            "id": str(number),
            "chatId": "19:x",
            "messageType": "message",
            "createdDateTime": "2024-05-01T10:00:00Z",
            "from": user,
            "body": {"contentType": "text", "content": "hi"},
            "attachments": [],
            "reactions": [],
        } | more

    def event(number: int, kind: str) -> dict[str, Any]:
        detail = {"@odata.type": f"#microsoft.graph.{kind}EventMessageDetail", "callId": "c1"}
        detail |= {"initiator": {"user": {"id": "ann", "displayName": "Ann"}}}  # type: ignore[dict-item]
        return item(number, "Ann") | {
            "messageType": "systemEventMessage",
            "from": None,
            "eventDetail": detail,
        }

    items = [item(1, "Ann"), item(2, "Bo"), event(3, "callStarted"), event(4, "callEnded")]
    return {"messages.json": json.dumps(items)}


def google_chat() -> dict[str, str]:
    def item(number: int, who: str, text: str, **more: Any) -> dict[str, Any]:
        creator = {"name": who, "email": f"{who.lower()}@x.example", "user_type": "Human"}
        stamp = "Wednesday, May 1, 2024 at 10:00:00 AM UTC"
        return {"creator": creator, "created_date": stamp, "text": text} | {
            "topic_id": f"t{number}",
            "message_id": f"m{number}",
            **more,
        }

    space = {"video_call_metadata": {"meeting_space": {"meeting_url": "m"}}}
    items = [item(1, "Ann", "hi"), item(2, "Bo", "ho"), item(3, "Ann", "", annotations=[space])]
    return {"Groups/DM 7/messages.json": json.dumps({"messages": items})}


def chatlab() -> dict[str, str]:
    def item(number: int, who: str, content: str, kind: int = 0) -> dict[str, Any]:
        return {"sender": who, "accountName": who, "timestamp": 1714557600 + number} | {
            "type": kind,
            "content": content,
        }

    export = {
        "chatlab": {"version": "0.0.1", "exportedAt": 1714557600},
        "meta": {"name": "Bo", "platform": "wechat", "type": "private"},
        "members": [{"platformId": who, "accountName": who} for who in ("Ann", "Bo")],
        "messages": [item(0, "Ann", "hi"), item(1, "Bo", "ho"), item(0, "Ann", "call", 23)],
    }
    return {"bo.json": json.dumps(export)}


def whatsapp() -> dict[str, str]:
    lines = ["Ann: hi", "Bo: ho", "Ann: Missed voice call", "Bo: Missed voice call again?"]
    return {"WhatsApp Chat with Bo.txt": "".join(f"01/05/2024, 10:00 - {x}\n" for x in lines)}


def iphone() -> dict[str, str]:
    mark = "\u200e"
    lines = ["Ann: hi", "Bo: ho", f"Ann: {mark}Voice call, {mark}3 min", f"Bo: {mark}image omitted"]
    return {"_chat.txt": "".join(f"[21/05/2024, 10:00:00] {line}\n" for line in lines)}


APPS = {
    each.__name__: each
    for each in (
        telegram,
        telegram_page,
        messenger,
        discord,
        discord_table,
        signal,
        teams,
        teams_graph,
        google_chat,
        chatlab,
        whatsapp,
        iphone,
    )
}


def read(folder: Path, files: dict[str, str]) -> Any:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return open_reading(folder / name if len(files) == 1 else folder)


@pytest.mark.parametrize("app", APPS)
def test_a_call_is_counted_for_its_caller_and_is_no_message(app: str, tmp_path: Path) -> None:
    opened = read(tmp_path, APPS[app]())
    reading = opened.reading
    [row] = reading.tables.chats
    [call] = calls_in(row.extra)
    assert call.speaker == "Ann" and call.time is not None
    assert (call.time.month, call.time.hour, call.time.minute) == (5, 10, 0)
    assert reading.ledger.system >= 1
    texts = [message.text for message in reading.corpus.chats[0].messages]
    assert not any(text in ("Missed voice call", "called") for text in texts)
    people = people_frame(make_portrait(reading, PortraitOptions(labels=False)).aggregates)
    assert dict(people.select("speaker", "calls").rows()) == {"Ann": 1, "Bo": 0}
    assert people["messages"].sum() == len(texts) == describe(reading.tables).total("messages")
    # It stays beside the chat when that is stored.
    store(reading, tmp_path / "stored", opened.source)
    assert load(tmp_path / "stored").corpus.chats[0].calls == (call,)


def test_other_notices_are_no_calls(tmp_path: Path) -> None:
    assert read(tmp_path, telegram("pin_message")).reading.corpus.chats[0].calls == ()


def test_backups_of_signal_tell_who_called(tmp_path: Path) -> None:
    def item(author: str, **what: Any) -> dict[str, Any]:
        return {"chatItem": {"chatId": "9", "authorId": author, "dateSent": "1714557600000"} | what}

    def call(**told: str) -> dict[str, Any]:
        return {"updateMessage": {"individualCall": told}}

    hello = {"standardMessage": {"text": {"body": "hi"}}}
    frames = [
        {"version": "1", "backupTimeMs": "1714557600000"},
        {"account": {"givenName": "Ann", "familyName": ""}},
        {"recipient": {"id": "1", "self": {}}},
        {"recipient": {"id": "2", "contact": {"profileGivenName": "Bo"}}},
        {"chat": {"id": "9", "recipientId": "2"}},
        item("1", **hello),
        item("2", **hello),
        item("2", **call(direction="OUTGOING")),
        item("2", **call(direction="INCOMING")),
        item("2", **call(direction="INCOMING")),
        item("2", updateMessage={"simpleUpdate": {"type": "JOINED_SIGNAL"}}),
    ]
    text = "".join(json.dumps(frame) + "\n" for frame in frames)
    chat = read(tmp_path, {"main.jsonl": text}).reading.corpus.chats[0]
    assert [call.speaker for call in chat.calls] == ["Ann", "Bo", "Bo"]


def test_calls_of_two_exports_are_joined(tmp_path: Path) -> None:
    lines = ["Ann: hi", "Bo: ho", "Ann: Missed voice call", "Bo: how are you these days?"]
    text = "".join(f"01/05/2024, 10:0{n} - {line}\n" for n, line in enumerate(lines))
    more = "02/05/2024, 09:00 - Bo: Missed voice call\n02/05/2024, 09:01 - Ann: sorry, I slept\n"
    first = read(tmp_path / "a", {"WhatsApp Chat with Bo.txt": text})
    then = read(tmp_path / "b", {"WhatsApp Chat with Bo.txt": text + more})
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
    reading = read(tmp_path, {"WhatsApp Chat with Bo.txt": lines}).reading
    made = make_portrait(reading, PortraitOptions(labels=False)).aggregates.to_json()
    assert made["first"] == "2024-05-03" and max(made["rows"]["day"]) == 1
    assert min(made["rows"]["day"]) == 0 and sum(made["rows"]["calls"]) == 2
