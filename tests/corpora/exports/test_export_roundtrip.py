"""Random chats written as each messenger would, read back equal; broken ones end cleanly."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.header import Header
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.corpora.exports import (
    chatlab,
    discord,
    google_chat,
    imessage,
    kakaotalk,
    line,
    mbox,
    signal,
    slack,
    teams,
    telegram,
    viber,
)
from realtalk.corpora.exports.meta import INSTAGRAM, MESSENGER
from realtalk.corpora.formats import FORMATS
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source
from realtalk.corpora.tables import from_corpus, to_corpus
from realtalk.errors import RealtalkError
from said import START as WRITTEN_FROM
from said import Said as Written
from tries import tries
from written_chats import FORMS

START = datetime(2024, 5, 1, 7, 30)
CATCH_ALLS = ("jsonl", "csv")
NAMES = ("Ann Berg", "Bo", "Зоя", "李雷", "o'Neil: jr")


@dataclass(frozen=True)
class Said:
    who: int
    time: datetime
    text: str
    answers: int | None = None


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
# U+FFFC stands for an attachment in Apple's texts, and is no text there.
apple_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffc"), min_size=1, max_size=60
)
# What a text file can hold: no line end of its own kind, and a last line that is not empty.
tame = texts.map(lambda text: text.replace("\r", " ")).filter(lambda text: text[-1] != "\n")

# What a page keeps: no characters that HTML has none of, and no space around.
visible = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Cn"]), min_size=1)
# What a text in HTML begins with is a tag.
untagged = texts.filter(lambda text: not text.startswith("<"))


@st.composite
def chats(draw: st.DrawFn, words: st.SearchStrategy[str] = texts) -> list[Said]:
    said: list[Said] = []
    time = START
    for index in range(draw(st.integers(1, 12))):
        time += timedelta(minutes=draw(st.sampled_from((0, 0, 1, 7, 1000))))
        answers = draw(st.none() | st.integers(0, index - 1)) if index else None
        who = draw(st.integers(0, len(NAMES) - 1))
        said.append(Said(who, time, draw(words), answers))
    return said


Files = dict[str, Any]


def millis(moment: datetime) -> int:
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)


def telegram_files(said: list[Said], pieces: bool = False) -> Files:
    def text(words: str) -> Any:
        half = len(words) // 2
        return [words[:half], {"type": "italic", "text": words[half:]}] if pieces else words

    items = [
        {
            "id": 100 + index,
            "type": "message",
            "date": one.time.isoformat(),
            "date_unixtime": str(millis(one.time) // 1000 + 7200),
            "from": NAMES[one.who],
            "from_id": f"user{one.who}",
            "text": text(one.text),
        }
        | ({} if one.answers is None else {"reply_to_message_id": 100 + one.answers})
        for index, one in enumerate(said)
    ]
    return {"result.json": {"name": "x", "type": "personal_chat", "id": 1, "messages": items}}


def signal_text(said: list[Said]) -> Files:
    lines = [f"[{s.time:%Y-%m-%d, %H:%M}] {NAMES[s.who][:2]}: {s.text}\n" for s in said]
    return {"chat.txt": "".join(lines)}


def signal_lines(said: list[Said]) -> Files:
    rest: dict[str, Any] = {"quote": "", "sticker": None, "reactions": [], "attachments": []}
    items = [
        {"date": s.time.isoformat(), "sender": NAMES[s.who], "body": s.text + "  "} | rest
        for s in said
    ]
    return {"Ann/data.json": "".join(json.dumps(item) + "\n" for item in items)}


def signal_frames(said: list[Said]) -> Files:
    frames: list[Any] = [{"version": "1", "backupTimeMs": "1"}]
    frames += [
        {"recipient": {"id": str(i), "contact": {"profileGivenName": name}}}
        for i, name in enumerate(NAMES)
    ]
    frames += [
        {
            "chatItem": {
                "chatId": "1",
                "authorId": str(s.who),
                "dateSent": str(millis(s.time)),
                "standardMessage": {"text": {"body": s.text}, "reactions": []},
            }
        }
        for s in said
    ]
    return {"main.jsonl": "".join(json.dumps(frame) + "\n" for frame in frames)}


def signal_desktop(said: list[Said]) -> Files:
    people = [
        {"id": f"p{i}", "serviceId": f"s{i}", "name": name, "type": "private"}
        for i, name in enumerate(NAMES)
    ]
    items = [
        {
            "conversationId": "g",
            "type": "incoming",
            "sourceServiceId": f"s{s.who}",
            "sent_at": millis(s.time),
            "body": s.text,
        }
        for s in said
    ]
    group = {"id": "g", "type": "group", "name": "G"}
    return {"dump.json": {"conversations": [*people, group], "messages": items}}


def discord_files(said: list[Said]) -> Files:
    items = [
        {
            "id": str(100 + index),
            "type": "Default" if one.answers is None else "Reply",
            "timestamp": one.time.isoformat() + "+00:00",
            "content": one.text,
            "author": {"id": str(one.who), "name": "x", "nickname": NAMES[one.who]},
            "attachments": [],
            "reactions": [{"emoji": {"name": "👍"}, "count": 1}],
        }
        | ({} if one.answers is None else {"reference": {"messageId": str(100 + one.answers)}})
        for index, one in enumerate(said)
    ]
    place = {"guild": {"id": "0"}, "channel": {"id": "5", "name": "general"}}
    return {"general.json": place | {"messages": items}}


def discord_table(said: list[Said]) -> Files:
    out = io.StringIO(newline="")
    table = csv.writer(out, quoting=csv.QUOTE_ALL)
    table.writerow(["AuthorID", "Author", "Date", "Content", "Attachments", "Reactions"])
    for s in said:
        table.writerow([s.who, NAMES[s.who], s.time.isoformat() + "+00:00", s.text, "", ""])
    return {"general.csv": out.getvalue()}


def slack_files(said: list[Said]) -> Files:
    users = [{"id": f"U{i}", "profile": {"real_name": name}} for i, name in enumerate(NAMES)]
    files: Files = {"users.json": users, "channels.json": [{"id": "C1", "name": "general"}]}
    stamps = [f"{millis(s.time) // 1000}.{index:06}" for index, s in enumerate(said)]
    for one, stamp in zip(said, stamps, strict=True):
        text = one.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        item = {"type": "message", "user": f"U{one.who}", "ts": stamp, "text": text}
        if one.answers is not None:
            item["thread_ts"] = stamps[one.answers]
        files.setdefault(f"general/{one.time:%Y-%m-%d}.json", []).append(item)
    return files


def meta_files(said: list[Said], part: int = 5) -> Files:
    def broken(text: str) -> str:
        return text.encode("utf-8").decode("latin-1")

    items = [
        {
            "sender_name": broken(NAMES[s.who]),
            "timestamp_ms": millis(s.time),
            "content": broken(s.text),
            "reactions": [{"reaction": broken("❤"), "actor": "x"}],
            "photos": [],
        }
        for s in reversed(said)
    ]
    return {
        f"inbox/ann_1/message_{number}.json": {
            "participants": [{"name": broken(name)} for name in NAMES],
            "messages": items[first : first + part],
            "thread_path": "inbox/ann_1",
        }
        for number, first in enumerate(range(0, len(items), part), 1)
    }


def encrypted_files(said: list[Said]) -> Files:
    items = [
        {"senderName": NAMES[s.who], "text": s.text, "timestamp": millis(s.time), "type": "text"}
        for s in said
    ]
    return {"Ann_1.json": {"participants": list(NAMES), "threadName": "A", "messages": items}}


def form_files(said: list[Said], form: str) -> Files:
    """As the writers of all formats do it."""
    written = [
        Written(NAMES[s.who], int((s.time - WRITTEN_FROM).total_seconds()), s.text, s.answers)
        for s in said
    ]
    return dict(FORMS[form].write(written))


def chatlab_files(said: list[Said]) -> Files:
    items = [
        {
            "sender": f"wx{one.who}",
            "accountName": NAMES[one.who],
            "timestamp": millis(one.time) // 1000,
            "type": 0,
            "content": one.text,
            "platformMessageId": f"m{index}",
        }
        | ({} if one.answers is None else {"replyToMessageId": f"m{one.answers}"})
        for index, one in enumerate(said)
    ]
    meta = {"name": "x", "platform": "qq", "type": "group"}
    return {"x.json": {"chatlab": {"version": "0.0.2"}, "meta": meta, "messages": items}}


def chatlab_lines(said: list[Said]) -> Files:
    whole = chatlab_files(said)["x.json"]
    head = {"_type": "header", "chatlab": whole["chatlab"], "meta": whole["meta"]}
    lines = [head, *({"_type": "message", **item} for item in whole["messages"])]
    return {"x.jsonl": "".join(json.dumps(line) + "\n" for line in lines)}


def google_files(said: list[Said]) -> Files:
    items = [
        {
            "creator": {"name": NAMES[one.who], "email": f"{one.who}@x.org"},
            "created_date": f"{one.time:%A, %B %d, %Y at %I:%M:%S %p} UTC",
            "text": one.text,
            "message_id": f"m{index}",
        }
        | (
            {}
            if one.answers is None
            else {"quoted_message_metadata": {"message_id": f"m{one.answers}"}}
        )
        for index, one in enumerate(said)
    ]
    return {"Groups/DM 1/messages.json": {"messages": items}}


def teams_files(said: list[Said]) -> Files:
    items = [
        {
            "id": f"m{index}",
            "messageType": "message",
            "createdDateTime": one.time.isoformat() + "Z",
            "from": {"user": {"id": f"u{one.who}", "displayName": NAMES[one.who]}},
            "body": {"contentType": "text", "content": one.text},
            "replyToId": None if one.answers is None else f"m{one.answers}",
        }
        for index, one in reversed(list(enumerate(said)))
    ]
    return {"messages.json": {"value": items}}


def skype_files(said: list[Said]) -> Files:
    items = [
        {
            "id": str(index),
            "displayName": NAMES[one.who],
            "originalarrivaltime": one.time.isoformat() + "Z",
            "messagetype": "Text",
            "content": one.text,
            "from": f"8:p{one.who}",
            "properties": {"emotions": [{"key": "like", "users": [{"mri": "8:p1"}]}]},
        }
        for index, one in reversed(list(enumerate(said)))
    ]
    chat = {"id": "19:x", "displayName": "x", "MessageList": items}
    return {"messages.json": {"userId": "8:p0", "conversations": [chat]}}


def discord_page(said: list[Said]) -> Files:
    groups = "".join(
        "<div class=chatlog__message-group><div class=chatlog__message-container "
        f"data-message-id={((millis(one.time) - 1420070400000) << 22) + index}>"
        f"<span class=chatlog__author data-user-id={one.who}>{html.escape(NAMES[one.who])}</span>"
        f"<div class=chatlog__content>{html.escape(one.text)}</div></div></div>"
        for index, one in enumerate(said)
    )
    return {"x.html": f"<!DOCTYPE html><html><div class=preamble></div>{groups}</html>"}


def meta_page(said: list[Said]) -> Files:
    boxes = "".join(
        f'<div class="x"><div>{html.escape(NAMES[one.who])}</div><div><div>'
        f"{html.escape(one.text)}</div></div><div>{one.time:%b %d, %Y, %I:%M:%S %p}</div></div>"
        for one in reversed(said)
    )
    page = f"<html><head><title>x</title></head><body>{boxes}</body></html>"
    return {"facebook/inbox/x_1/message_1.html": page}


def mbox_file(said: list[Said]) -> Files:
    """Mails of one thread, in base64: a text of any kind is safe in it."""
    mails = [
        f"From {index}@xxx {one.time:%a %b %d %H:%M:%S} +0000 {one.time:%Y}\n"
        f"From: {Header(NAMES[one.who], 'utf-8').encode()} <p{one.who}@x.org>\n"
        f"Date: {one.time:%a, %d %b %Y %H:%M:%S} +0000\nSubject: x\nMessage-ID: <{index}@x.org>\n"
        f"References: <0@x.org>\nIn-Reply-To: <{0 if one.answers is None else one.answers}@x.org>\n"
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
        f"{base64.b64encode(one.text.encode()).decode()}\n\n"
        for index, one in enumerate(said)
    ]
    return {"box.mbox": "".join(mails)}


@dataclass(frozen=True)
class App:
    format: Format
    write: Callable[[list[Said]], Files]
    words: st.SearchStrategy[str] = texts
    answers: bool = False


APPS = {
    "imessage": App(
        imessage.FORMAT, partial(form_files, form="imessage"), apple_texts, answers=True
    ),
    "imessage text": App(imessage.FORMAT, partial(form_files, form="imessage text"), tame),
    "imessage html": App(imessage.FORMAT, partial(form_files, form="imessage html"), tame),
    "viber table": App(viber.FORMAT, partial(form_files, form="viber table"), tame),
    "line": App(line.FORMAT, partial(form_files, form="line"), tame),
    "kakaotalk": App(kakaotalk.FORMAT, partial(form_files, form="kakaotalk"), tame),
    "kakaotalk pc": App(kakaotalk.FORMAT, partial(form_files, form="kakaotalk pc"), tame),
    "telegram": App(telegram.FORMAT, telegram_files, answers=True),
    "telegram pieces": App(telegram.FORMAT, partial(telegram_files, pieces=True), answers=True),
    "signal text": App(signal.FORMAT, signal_text, tame),
    "signal lines": App(signal.FORMAT, signal_lines),
    "signal frames": App(signal.FORMAT, signal_frames),
    "signal desktop": App(signal.FORMAT, signal_desktop),
    "discord": App(discord.FORMAT, discord_files, answers=True),
    "discord table": App(discord.FORMAT, discord_table),
    "slack": App(slack.FORMAT, slack_files, answers=True),
    "messenger": App(MESSENGER, meta_files),
    "instagram": App(INSTAGRAM, meta_files),
    "messenger encrypted": App(MESSENGER, encrypted_files),
    "chatlab": App(chatlab.FORMAT, chatlab_files, answers=True),
    "chatlab lines": App(chatlab.FORMAT, chatlab_lines, answers=True),
    "discord page": App(discord.FORMAT, discord_page, visible),
    "messenger page": App(MESSENGER, meta_page, visible),
    "mbox": App(mbox.FORMAT, mbox_file, visible.filter(lambda text: ">" not in text)),
    "teams": App(teams.FORMAT, teams_files, answers=True),
    "skype": App(teams.FORMAT, skype_files, untagged),
    "google chat": App(google_chat.FORMAT, google_files, answers=True),
}
each_app = pytest.mark.parametrize("app", APPS.values(), ids=list(APPS))


def packed(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8")


def source_of(files: dict[str, bytes]) -> Source:
    members = tuple(
        Member(name, len(data), partial(io.BytesIO, data), name)
        for name, data in sorted(files.items())
    )
    return Source(Path("export.zip"), members)


def outcome(app: App, source: Source) -> Reading | RealtalkError:
    """A reading whose both forms can be made, or the one exception that is allowed."""
    app.format.sniff(source)
    try:
        reading = app.format.read(source, ReadOptions(timezone="America/New_York"))
    except RealtalkError as error:
        return error
    assert to_corpus(from_corpus(reading.corpus)) == reading.corpus
    assert reading.ledger.in_messages >= sum(1 for c in reading.corpus.chats for _ in c.messages)
    return reading


@each_app
@settings(max_examples=tries(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sampled=st.data())
def test_written_and_read_back(app: App, sampled: st.DataObject) -> None:
    said = sampled.draw(chats(app.words))
    source = source_of({name: packed(value) for name, value in app.write(said).items()})
    names = [name[:2] for name in NAMES] if app.write is signal_text else NAMES
    reading = app.format.read(source, ReadOptions())
    [chat] = reading.corpus.chats
    found = list(chat.messages)
    expected = [(names[one.who], one.time, one.text) for one in said]
    if app.write in (signal_frames, signal_desktop):
        # There a message is named by its time: two equal ones of one moment are one.
        expected = list(dict.fromkeys(expected))
    assert [
        (m.speaker, m.time.replace(microsecond=0) if m.time else None, m.text) for m in found
    ] == expected
    assert chat.speakers == tuple(dict.fromkeys(name for name, _, _ in expected))
    if reading.ledger.unit == "entries":
        assert reading.ledger.in_messages == len(found)
    if app.answers:
        ids = [message.id for message in found]
        assert [m.reply_to for m in found] == [
            None if one.answers is None else ids[one.answers] for one in said
        ]


@pytest.mark.parametrize("app", APPS.values(), ids=list(APPS))
def test_no_other_reader_claims_it(app: App) -> None:
    said = [Said(0, START, "hi"), Said(1, START + timedelta(minutes=1), "ho", 0)]
    source = source_of({name: packed(value) for name, value in app.write(said).items()})
    claims = [FORMATS[name] for name in FORMATS if FORMATS[name].sniff(source)]
    meta = app.write is meta_files  # nothing in it tells the two apart, so Instagram takes it
    # Generic tables and lines of JSON come last, and take what nobody else does.
    assert claims[:1] == [INSTAGRAM if meta else app.format]
    assert {claim.title for claim in claims[1:]} <= {FORMATS[name].title for name in CATCH_ALLS}


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


odd_values = st.sampled_from(
    (
        *(None, True, 0, -1, 1e300, -62135596800000, [], {}, [[]], [None], {"": {}}, deep(600)),
        *({"id": []}, {"name": {"a": 1}}, ["a", {"text": []}], "", "x", "\0", "<@|>", "9" * 400),
        *("-62135596800", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
        "1969-12-31T23:59:59+99:99",
    )
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        found += places(child, (*path, key))
    return found


def swapped(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = swapped(copy[path[0]], path[1:], new)
    return copy


SAMPLE = [Said(i % 3, START + timedelta(minutes=i), f"word {i}", i - 1 or None) for i in range(4)]


@each_app
@settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sampled=st.data())
def test_any_value_anywhere_ends_cleanly(app: App, sampled: st.DataObject) -> None:
    files = {}
    for name, value in app.write(SAMPLE).items():
        if isinstance(value, bytes):
            files[name] = value
            continue
        lines = isinstance(value, str) and name.endswith((".json", ".jsonl"))
        parsed = [json.loads(line) for line in value.splitlines()] if lines else value
        for _ in range(sampled.draw(st.integers(0, 3))):
            spots = places(parsed)
            if spots:
                spot = spots[sampled.draw(st.integers(0, len(spots) - 1))]
                parsed = swapped(parsed, spot, sampled.draw(odd_values))
        files[name] = packed(
            "".join(json.dumps(item) + "\n" for item in parsed) if lines else parsed
        )
    outcome(app, source_of(files))


@each_app
@settings(max_examples=tries(40), deadline=None)
@given(sampled=st.data())
def test_damaged_bytes_end_cleanly(app: App, sampled: st.DataObject) -> None:
    files = {}
    for name, value in app.write(SAMPLE).items():
        data = packed(value)
        for _ in range(sampled.draw(st.integers(0, 4))):
            start = sampled.draw(st.integers(0, len(data)))
            end = min(len(data), start + sampled.draw(st.integers(0, 20)))
            data = data[:start] + sampled.draw(st.binary(max_size=8)) + data[end:]
        files[name] = data
    outcome(app, source_of(files))


@each_app
@settings(max_examples=tries(25), deadline=None)
@given(noise=st.binary(max_size=200))
def test_arbitrary_bytes_end_cleanly(app: App, noise: bytes) -> None:
    files = dict.fromkeys(app.write(SAMPLE), noise)
    outcome(app, source_of(files))


@each_app
def test_errors_name_the_file_and_never_the_text(app: App) -> None:
    files = dict.fromkeys(app.write(SAMPLE), b'{"messages": "a secret"} a secret')
    error = outcome(app, source_of(files))
    assert isinstance(error, RealtalkError)
    assert "secret" not in str(error)
    assert any(name in str(error) for name in (*files, "export.zip"))
