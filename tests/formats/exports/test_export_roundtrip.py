"""Random chats written as each messenger would, read back equal; broken ones end cleanly."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from email.header import Header
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.formats.reading import Format, ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Member, Source
from refusals import refused
from said import Files, Said
from tries import tries
from written_chats import FORMS

ANSWERS = """
    imessage | telegram | discord | slack | chatlab | chatlab lines | teams | google chat |
    whatsapp database | whatsapp exporter"""
CATCH_ALLS = ("jsonl", "csv")
NAMES = ("Ann Berg", "Bo", "Зоя", "李雷", "o'Neil: jr")
SHORT = tuple(name[:2] for name in NAMES)
BEFORE_A_COLON = ("signal text", "whatsapp", "whatsapp iphone")


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
# U+FFFC stands for an attachment in Apple's texts, and is no text there.
apple_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffc"), min_size=1, max_size=60
)
# What a text file can hold: no line end of its own kind, and a last line that is not empty.
tame = texts.map(lambda text: text.replace("\r", " ")).filter(lambda text: text[-1] != "\n")

# Nothing that WhatsApp itself would write.
LETTERS = (
    "abc 0123456789 äöß ñ 😂👍🏽 مرحبا שלום नमस्ते 你好 -–.,;!?'\"()*_~/\\@#%&+=|{}[]: \u2028\x0b\t"
)
typed = (
    st.lists(st.text(LETTERS, max_size=40), min_size=1, max_size=4)
    .map("\n".join)
    .filter(lambda text: text == text.strip() and text != "" and "\n[" not in text)
)

# What a page keeps: no characters that HTML has none of, and no space around.
visible = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Cn"]), min_size=1)


@st.composite
def chats(draw: st.DrawFn, app: App) -> list[Said]:
    names = SHORT if app.name in BEFORE_A_COLON else NAMES
    said: list[Said] = []
    seconds = 0
    for index in range(draw(st.integers(1, 12))):
        seconds += 60 * draw(st.sampled_from((0, 0, 1, 7, 1000)))
        answers = draw(st.none() | st.integers(0, index - 1)) if index else None
        said.append(Said(draw(st.sampled_from(names)), seconds, draw(app.words), answers))
    return said


def threaded_mails(said: list[Said]) -> Files:
    """Mails of one thread, in base64: a text of any kind is safe in it."""
    mails = [
        f"From {index}@xxx {one.time:%a %b %d %H:%M:%S} +0000 {one.time:%Y}\n"
        f"From: {Header(one.who, 'utf-8').encode()} <p{NAMES.index(one.who)}@x.org>\n"
        f"Date: {one.time:%a, %d %b %Y %H:%M:%S} +0000\nSubject: x\nMessage-ID: <{index}@x.org>\n"
        f"References: <0@x.org>\nIn-Reply-To: <{one.reply or 0}@x.org>\n"
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
        f"{base64.b64encode(one.text.encode()).decode()}\n\n"
        for index, one in enumerate(said)
    ]
    return {"box.mbox": "".join(mails).encode()}


@dataclass(frozen=True)
class App:
    name: str
    words: st.SearchStrategy[str]

    @property
    def format(self) -> Format:
        return FORMATS[FORMS[self.name].format]

    def files(self, said: list[Said]) -> Files:
        return threaded_mails(said) if self.name == "mbox" else FORMS[self.name].write(said)

    def source(self, said: list[Said]) -> Source:
        return source_of(self.files(said))


# The apps that keep texts of one kind.
KINDS = (
    (apple_texts, "imessage"),
    (tame, "imessage text | imessage html | line | kakaotalk | kakaotalk pc | viber table"),
    (tame.filter(lambda text: text[0] != "\n"), "signal text"),
    (texts, "signal lines | signal frames | signal desktop | telegram | discord | discord table"),
    (texts, "slack | messenger | instagram | messenger encrypted | chatlab | chatlab lines"),
    (texts, "google chat | claude | whatsapp exporter"),
    (typed, "whatsapp | whatsapp iphone"),
    (texts.filter(lambda text: "\0" not in text), "whatsapp database"),
    (texts.filter(lambda text: "\ue200" not in text), "chatgpt"),
    (visible.filter(lambda text: ">" not in text), "mbox"),
    (visible, "discord html | messenger html | teams | skype"),
)
APPS = {name: App(name, words) for words, names in KINDS for name in names.split(" | ")}
each_app = pytest.mark.parametrize("app", APPS.values(), ids=list(APPS))


def source_of(files: dict[str, bytes]) -> Source:
    members = tuple(
        Member(name, len(data), partial(io.BytesIO, data), name)
        for name, data in sorted(files.items())
    )
    return Source(Path("export.zip"), members)


@each_app
@settings(max_examples=tries(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sampled=st.data())
def test_written_and_read_back(app: App, sampled: st.DataObject) -> None:
    said = sampled.draw(chats(app))
    reading = app.format.read(app.source(said), ReadOptions())
    [chat] = reading.corpus.chats
    found = list(chat.messages)
    expected = [(one.who, one.time, one.text) for one in said]
    if app.name == "signal desktop":
        # There a message is named by its time: two equal ones of one moment are one.
        expected = list(dict.fromkeys(expected))
    assert [
        (m.speaker, m.time.replace(microsecond=0) if m.time else None, m.text) for m in found
    ] == expected
    assert chat.speakers == tuple(dict.fromkeys(name for name, _, _ in expected))
    if reading.ledger.unit == "entries":
        assert reading.ledger.in_messages == len(found)
    if app.name in map(str.strip, ANSWERS.split("|")):
        ids = [message.id for message in found]
        assert [m.reply_to for m in found] == [
            None if one.reply is None else ids[one.reply] for one in said
        ]


@each_app
def test_no_other_reader_claims_it(app: App) -> None:
    source = app.source([Said("Ann Berg", 0, "hi"), Said("Bo", 60, "ho", 0)])
    claims = [FORMATS[name] for name in FORMATS if FORMATS[name].sniff(source)]
    # Generic tables and lines of JSON come last, and take what nobody else does.
    assert claims[:1] == [app.format]
    assert {claim.title for claim in claims[1:]} <= {FORMATS[name].title for name in CATCH_ALLS}


@each_app
def test_errors_name_the_file_and_never_the_text(app: App) -> None:
    files = app.files([Said("Ann Berg", 0, "word")])
    with refused() as caught:
        app.format.read(source_of(dict.fromkeys(files, b'{"messages": "a secret"}')), ReadOptions())
    assert "secret" not in str(caught.value)
    assert any(name in str(caught.value) for name in (*files, "export.zip"))
