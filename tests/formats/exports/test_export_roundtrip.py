"""Random chats written as each messenger would, read back equal; broken ones end cleanly."""

from __future__ import annotations

import base64
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

from realtalk.errors import RealtalkError
from realtalk.formats.exports import mbox
from realtalk.formats.exports.meta import INSTAGRAM, MESSENGER
from realtalk.formats.reading import Format, ReadCorpus, ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Member, Source
from realtalk.formats.tables import from_corpus, to_corpus
from said import START as WRITTEN_FROM
from said import Said as Written
from tries import tries
from written_chats import FORMS

START = datetime(2024, 5, 1, 7, 30)
ANSWERS = (
    *("imessage", "telegram", "discord", "slack", "chatlab", "chatlab lines"),
    *("teams", "google chat", "whatsapp database", "whatsapp exporter"),
)
CATCH_ALLS = ("jsonl", "csv")
NAMES = ("Ann Berg", "Bo", "Зоя", "李雷", "o'Neil: jr")
SHORT = tuple(name[:2] for name in NAMES)  # where a colon ends the name


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


def form_files(said: list[Said], form: str) -> Files:
    """As the writers of all formats do it."""
    names = SHORT if form == "signal text" else NAMES
    written = [
        Written(names[s.who], int((s.time - WRITTEN_FROM).total_seconds()), s.text, s.answers)
        for s in said
    ]
    return dict(FORMS[form].write(written))


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
    "messenger parts": App(MESSENGER, meta_files),
    "instagram parts": App(INSTAGRAM, meta_files),
    "mbox": App(mbox.FORMAT, mbox_file, visible.filter(lambda text: ">" not in text)),
} | {
    name: App(FORMATS[FORMS[name].format], partial(form_files, form=name), words, name in ANSWERS)
    for name, words in {
        "imessage": apple_texts,
        **dict.fromkeys(("imessage text", "imessage html", "line"), tame),
        "signal text": tame.filter(lambda text: text[0] != "\n"),
        **dict.fromkeys(("kakaotalk", "kakaotalk pc", "viber table"), tame),
        **dict.fromkeys(("signal lines", "signal frames", "signal desktop"), texts),
        **dict.fromkeys(("telegram", "discord", "discord table", "slack"), texts),
        **dict.fromkeys(("messenger encrypted", "chatlab", "chatlab lines"), texts),
        **dict.fromkeys(("google chat", "claude", "whatsapp exporter"), texts),
        "whatsapp database": texts.filter(lambda text: "\0" not in text),
        "chatgpt": texts.filter(lambda text: "\ue200" not in text),
        **dict.fromkeys(("discord html", "messenger html", "teams", "skype"), visible),
    }.items()
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


def outcome(app: App, source: Source) -> ReadCorpus | RealtalkError:
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
    names = SHORT if app is APPS["signal text"] else NAMES
    reading = app.format.read(source, ReadOptions())
    [chat] = reading.corpus.chats
    found = list(chat.messages)
    expected = [(names[one.who], one.time, one.text) for one in said]
    if app is APPS["signal desktop"]:
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


SAMPLE = [Said(i % 3, START + timedelta(minutes=i), f"word {i}", i - 1 or None) for i in range(4)]


@each_app
def test_errors_name_the_file_and_never_the_text(app: App) -> None:
    files = dict.fromkeys(app.write(SAMPLE), b'{"messages": "a secret"} a secret')
    error = outcome(app, source_of(files))
    assert isinstance(error, RealtalkError)
    assert "secret" not in str(error)
    assert any(name in str(error) for name in (*files, "export.zip"))
