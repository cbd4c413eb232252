"""Random chats in random header styles are read back equal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from realtalk.formats.exports.whatsapp.reader import FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from realtalk.formats.tables import MESSAGES
from tries import tries


@dataclass(frozen=True)
class Style:
    name: str
    header: Callable[[datetime], str]
    seconds: bool = False

    def __repr__(self) -> str:
        return self.name


def half(t: datetime) -> int:
    return t.hour % 12 or 12


def arabic(text: str) -> str:
    return text.translate({ord("0") + n: chr(0x660 + n) for n in range(10)})


def part(t: datetime, before: str, after: str) -> str:
    return before if t.hour < 12 else after


STYLES = [
    Style("gb", lambda t: f"{t:%d/%m/%Y, %H:%M} - "),
    Style("us", lambda t: f"{t.month}/{t.day}/{t:%y}, {half(t)}:{t:%M}\u202f{t:%p} - "),
    Style("de", lambda t: f"{t:%d.%m.%y, %H:%M} - "),
    Style("es", lambda t: f"{t.day}/{t.month}/{t:%y} {t.hour}:{t:%M} - "),
    Style("mx", lambda t: f"{t:%d/%m/%Y} {half(t)}:{t:%M} {part(t, 'a', 'p')}.\u00a0m. - "),
    Style("sv", lambda t: f"{t:%Y-%m-%d %H:%M} - "),
    Style("cs", lambda t: f"{t.day}. {t.month}. {t.year} {t.hour}:{t:%M} - "),
    Style("ko", lambda t: f"{t:%Y. %m. %d.} {part(t, '오전', '오후')} {half(t)}:{t:%M} - "),
    Style("zh", lambda t: f"{t:%Y/%m/%d} {part(t, '上午', '下午')}{half(t)}:{t:%M} - "),
    Style("fi", lambda t: f"{t.day}.{t.month}.{t.year} klo {t.hour}.{t:%M} - "),
    Style("th", lambda t: f"{t.day}/{t.month}/{t.year + 543} {t:%H:%M} - "),
    Style(
        "ar",
        lambda t: arabic(
            f"{t.day}\u200f/{t.month}\u200f/{t.year}، {half(t)}:{t:%M} {part(t, 'ص', 'م')} - "
        ),
    ),
    Style("ios-gb", lambda t: f"[{t:%d/%m/%Y, %H:%M:%S}] ", True),
    Style("ios-us", lambda t: f"[{t.month}/{t.day}/{t:%y}, {half(t)}:{t:%M:%S} {t:%p}] ", True),
    Style("ios-de", lambda t: f"\u200e[{t:%d.%m.%y, %H:%M:%S}] ", True),
    Style("ios-da", lambda t: f"[{t:%d.%m.%Y %H.%M.%S}] ", True),
]

# Nothing that WhatsApp itself would write.
LETTERS = (
    "abc 0123456789 äöß ñ 😂👍🏽 مرحبا שלום नमस्ते 你好 -–.,;!?'\"()*_~/\\@#%&+=|{}[]: \u2028\x0b\t"
)
line = st.text(alphabet=LETTERS, max_size=40).filter(lambda s: not s.lstrip().startswith("["))
words = (
    st.lists(line, min_size=1, max_size=4)
    .map("\n".join)
    .filter(lambda s: s == s.strip() and s != "")
)
speaker = st.text(alphabet="abcdef 😂-+.&éΩ漢", min_size=1, max_size=12).filter(
    lambda s: s == s.strip() and s != ""
)


@st.composite
def chats(draw: st.DrawFn) -> list[tuple[str, datetime, str]]:
    names = draw(st.lists(speaker, min_size=1, max_size=4, unique=True))
    start = draw(st.datetimes(datetime(2012, 1, 1), datetime(2022, 1, 1))).replace(microsecond=0)
    steps = draw(st.lists(st.integers(0, 200_000), min_size=1, max_size=12))
    messages = []
    for step in steps:
        start += timedelta(seconds=step)
        messages.append((draw(st.sampled_from(names)), start, draw(words)))
    # Days that tell day from month, as any longer chat has.
    for day in (14, 15, 16):
        start = (start + timedelta(days=31)).replace(day=day)
        messages.append((names[0], start, "x"))
    return messages


def parse(data: bytes) -> ReadCorpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.txt"
        path.write_bytes(data)
        return FORMAT.read(Source.open(path), ReadOptions())


@settings(max_examples=tries(60), deadline=None)
@given(chat=chats(), style=st.sampled_from(STYLES), end=st.sampled_from(["\n", "\r\n"]))
def test_round_trip(chat: list[tuple[str, datetime, str]], style: Style, end: str) -> None:
    text = "".join(f"{style.header(t)}{name}: {said}\n" for name, t, said in chat)
    reading = parse(text.replace("\n", end).encode())
    expected = [(n, t if style.seconds else t.replace(second=0), said) for n, t, said in chat]
    messages = list(reading.corpus.chats[0].messages)
    assert [(m.speaker, m.time, m.text) for m in messages] == expected
    assert reading.corpus.chats[0].speakers == tuple(dict.fromkeys(n for n, _, _ in chat))
    assert reading.ledger.total == reading.ledger.in_messages == text.count("\n")
    assert reading.tables.messages.schema == MESSAGES


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_many_messages_take_the_fast_way_and_agree(style: Style) -> None:
    start = datetime(2019, 1, 5, 7, 7, 7)
    times = [start + timedelta(minutes=631 * n) for n in range(3000)]
    text = "".join(f"{style.header(t)}S{n % 7}: text {n}\n" for n, t in enumerate(times))
    frame = parse(text.encode()).tables.messages
    exact = [t if style.seconds else t.replace(second=0) for t in times]
    assert frame["time"].to_list() == exact
    assert frame["text"].to_list() == [f"text {n}" for n in range(3000)]
