"""Statistics: by hand on small chats, against plain Python, against the paper on its data, and part
by part."""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_strategies import corpora
from realtalk.api.choices import as_reading
from realtalk.cells import Grid
from realtalk.chat import Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.describe import CorpusStats, chat_rows, corpus_rows, describe
from realtalk.describe.counting import StatsPart, count_chats, count_words, describe_stream
from realtalk.formats.opening import open_reading
from realtalk.formats.store import open_stream, store
from realtalk.formats.tables import Tables, from_corpus
from short_chats import chat_of
from tries import tries

MONDAY = datetime(2026, 3, 2, 18, 0)


def stats_of(*chats: Chat) -> CorpusStats:
    return describe(from_corpus(Corpus("toy", "whatsapp", chats)))


def at(minutes: float) -> datetime:
    return MONDAY + timedelta(minutes=minutes)


def small() -> Corpus:
    photo = Attachment("image", "a.jpg")
    first = (
        Message("D1:1", "Mara", at(0), "did you sleep"),
        Message("D1:2", "Mara", at(1), "at all", (photo, Attachment("audio"))),
        Message("D1:3", "Theo", at(4), "no"),
        Message("D1:4", "Mara", at(4.5), "oh no"),
        Message("D1:5", "Theo", None, "it is fine"),
        Message("D1:6", "Mara", at(30), ""),
    )
    second = (
        Message("D2:1", "Mara", at(2 * 1440), "better"),
        Message("D2:2", "Theo", at(2 * 1440 - 5), "stamped too early", (photo,)),
    )
    one = Chat(
        "one",
        ("Mara", "Theo"),
        (Session(1, MONDAY, first), Session(2, None, second), Session(3, None, ())),
        (
            Event(1, "Mara", "sleeps badly"),
            Event(1, "Theo", ""),
            Event(1, None, "all of it", kind="summary"),
        ),
        (Question("Q1", "?", "x", "temporal"), Question("Q2", "?", None, "multi_hop")),
    )
    two = Chat("two", ("Juno", "Ola"), (Session(1, None, (Message("D1:1", "Juno", None, "a b"),)),))
    return Corpus("toy", "realtalk", (one, two, Chat("empty", ("Ida",), ())))


@pytest.fixture(scope="module")
def toy() -> CorpusStats:
    return describe(from_corpus(small()))


def test_one_chat_by_hand(toy: CorpusStats) -> None:
    one = toy.per_chat[0]
    assert (one.messages, one.turns, one.sessions, one.empty_sessions) == (8, 7, 2, 1)
    assert one.words == 3 + 2 + 1 + 2 + 3 + 0 + 1 + 3
    assert (one.days, one.span_days, one.words_per_day) == (2, 3, 7.5)
    assert (one.images, dict(one.attachments)) == (2, {"audio": 1, "image": 2})
    assert (one.events, one.questions) == (2, (("multi_hop", 1), ("temporal", 1)))
    assert one.messages_without_time == 1
    assert [(who.name, who.messages, who.turns, who.words) for who in one.speakers] == [
        ("Mara", 5, 4, 8),
        ("Theo", 3, 3, 7),
    ]
    # Theo after three minutes and Mara after half a minute; the message without a time
    # measures nothing on either side, and the answer before its question is set apart.
    assert one.response_gaps.n == 2
    assert one.response_gaps.mean == pytest.approx(1.75)
    assert one.response_gaps.max == 3
    assert toy.gaps_backwards == 1
    assert (one.runs.n, one.runs.max, one.runs.median) == (7, 2, 1)


def test_nothing_to_measure_is_none_not_zero(toy: CorpusStats) -> None:
    two, empty = toy.per_chat[1:]
    assert (two.days, two.span_days, two.words_per_day, two.first) == (None, None, None, None)
    assert (two.response_gaps.n, two.response_gaps.mean, two.response_gaps.max) == (0, None, None)
    assert [(who.name, who.messages) for who in two.speakers] == [("Juno", 1), ("Ola", 0)]
    assert (empty.messages, empty.runs.mean, empty.sessions) == (0, None, 0)
    nobody = stats_of()
    assert nobody.messages_per_chat is None
    told = json.loads(json.dumps(nobody.to_json()))
    assert told["intervals"]["messages_per_chat"] is None
    assert told["response_gap_minutes"]["n"] == 0


def test_intervals_are_the_same_every_time_and_shrink_with_chats() -> None:
    def words(number: int) -> Any:
        made = (chat_of("Mara: " + "a " * (index % 10), id=f"c{index}") for index in range(number))
        return stats_of(*made).intervals["words_per_chat"]

    few_words, many_words = words(10), words(1000)
    assert few_words == words(10)
    assert few_words[0] < many_words[0] < 4.5 < many_words[1] < few_words[1]
    # The normal interval of a mean of 1000 draws from 0..9.
    half = 1.96 * statistics.pstdev(range(10)) / 1000**0.5
    assert many_words == pytest.approx((4.5 - half, 4.5 + half), abs=0.05)


def test_every_kind_of_space_parts_words() -> None:
    signs = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    odd = [sign for sign in signs if sign.isspace() or not sign.isprintable() or sign.isdigit()]
    texts = [f"a{sign}b{sign}{sign}" for sign in odd]
    counted = pl.DataFrame({"text": texts}).select(count_words(pl.col("text")))["text"].to_list()
    assert counted == [len(text.split()) for text in texts]


SAID = st.tuples(
    st.sampled_from(["Mara", "Theo", "Juno"]),
    st.none() | st.integers(0, 5000).map(lambda tenths: at(tenths / 10)),
    st.text(alphabet="ab \n\t\x1f\u3000\u200bé", max_size=8),
)


@given(st.lists(st.lists(st.lists(SAID, min_size=1, max_size=8), max_size=3), max_size=4))
@settings(max_examples=tries(120))
def test_columns_count_as_plain_python_does(
    said: list[list[list[tuple[str, datetime | None, str]]]],
) -> None:
    chats = tuple(
        Chat(
            f"c{index}",
            (),
            tuple(
                Session(number, None, tuple(Message("D", *entry) for entry in session))
                for number, session in enumerate(chat, 1)
            ),
        )
        for index, chat in enumerate(said)
    )
    stats = stats_of(*chats)
    gaps: list[float] = []
    backwards = 0
    for chat, told in zip(chats, stats.per_chat, strict=True):
        messages = list(chat.messages)
        assert told.messages == len(messages)
        assert told.words == sum(len(message.text.split()) for message in messages)
        assert told.turns == told.runs.n == len(chat.turns)
        assert told.sessions == len(chat.sessions)
        days = {message.time.date() for message in messages if message.time}
        assert told.days == (len(days) or None)
        for before, after in zip(chat.turns, chat.turns[1:], strict=False):
            start, end = after.messages[0].time, before.messages[-1].time
            if before.session == after.session and start and end:
                minutes = (start - end).total_seconds() / 60
                if minutes < 0:
                    backwards += 1
                else:
                    gaps.append(minutes)
    lengths = [len(turn.messages) for chat in chats for turn in chat.turns]
    assert (stats.response_gaps.n, stats.gaps_backwards) == (len(gaps), backwards)
    if gaps:
        found = (stats.response_gaps.mean, stats.response_gaps.median, stats.response_gaps.max)
        expected = statistics.fmean(gaps), statistics.median(gaps), max(gaps)
        assert found == pytest.approx(expected)
    for each in stats.gap_bins:
        inside = sum(each.low - 1e-12 <= gap < each.high - 1e-12 for gap in gaps)
        assert each.count == inside
    if lengths:
        assert (stats.runs.median, stats.runs.max) == (statistics.median(lengths), max(lengths))
        assert sum(length * count for length, count in stats.run_counts) == sum(lengths)


def answered(gaps: Sequence[float], name: str = "c") -> Chat:
    """Two people who answer each other after so many seconds."""
    moment = datetime(2026, 3, 2)
    messages = [Message("D1:0", "Mara", moment, "a")]
    for at, gap in enumerate(gaps, 1):
        moment += timedelta(seconds=gap)
        messages.append(Message(f"D1:{at}", ("Mara", "Theo")[at % 2], moment, "a"))
    return Chat(name, ("Mara", "Theo"), (Session(1, None, tuple(messages)),))


@pytest.mark.parametrize("seconds", [1, 10, 100, 1000, 10_000, 100_000])
def test_a_power_of_ten_begins_its_own_bin(seconds: int) -> None:
    stats = stats_of(answered([seconds]))
    *below, last = stats.gap_bins
    assert last.low == pytest.approx(seconds / 60) and last.count == 1
    assert not any(each.count for each in below)
    just_below = stats_of(answered([seconds * 0.999]))
    assert just_below.gap_bins[-1].high == pytest.approx(seconds / 60)


def test_the_interval_of_a_mean_gap_weighs_chats_by_their_answers() -> None:
    """A hundred answers of a minute outweigh one of a hundred minutes in every draw."""
    chats = [answered([60] * 100, f"busy {at}") for at in range(12)]
    chats += [answered([6000], f"slow {at}") for at in range(12)]
    stats = stats_of(*chats)
    interval = stats.intervals["response_gap_minutes"]
    assert stats.response_gaps.mean == pytest.approx(200 / 101)
    assert interval is not None and interval[0] < 200 / 101 < interval[1] < 5


def test_sessions_stored_in_pieces_are_put_together() -> None:
    tables = from_corpus(small())
    mixed = tables.messages[[0, 8, 6, 1, 2, 7, 3, 4, 5]]
    assert figures(replace(tables, messages=mixed)) == figures(tables)


def test_realtalk_as_published(data: Path) -> None:
    told = describe(open_reading(data / "realtalk").reading.tables).to_json()
    # Table 6 counts every annotated event, also those whose text is empty.
    events = [chat["events"] for chat in told["per_chat"]]
    assert events == [44, 41, 51, 61, 61, 84, 90, 83, 29, 56]


def test_rows_of_one_name_are_told_apart_by_what_comes_next() -> None:
    twice = Grid(["speaker", "chat", "n"], [["Mara", "a", 1], ["Mara", "b", 2]])
    told = twice.told_apart()
    assert told == Grid(["speaker, chat", "n"], [["Mara, a", 1], ["Mara, b", 2]])
    for names in (("Mara", "Theo"), ("Mara", "Mara"), ()):
        same = Grid(["speaker", "chat"], [[name, "a"] for name in names])
        assert same.told_apart() == same


def test_media_of_an_untold_kind_are_not_no_images() -> None:
    def chat(id_: str, kind: str) -> Chat:
        message = Message("D1:1", "Mara", MONDAY, "", (Attachment(kind, ""),))
        return Chat(id_, ("Mara",), (Session(1, MONDAY, (message,)),))

    told = stats_of(chat("a", "image"))
    assert (told.images, told.to_json()["images"]) == (1, 1)
    untold = stats_of(chat("a", "image"), chat("b", "media"))
    assert [each.images for each in untold.per_chat] == [1, None]
    assert untold.to_json()["images"] is None
    headings, rows = chat_rows(untold)
    assert [row[headings.index("images")] for row in rows] == [1, None]
    figures = {row[0]: row[1] for row in corpus_rows(untold).rows}
    assert figures["images"] is None
    assert figures["media of a kind that is not told"] == 1
    assert "media of a kind that is not told" not in {row[0] for row in corpus_rows(told).rows}


# --- part by part ---


def talk(chats: int = 12, most: int = 40) -> Corpus:
    """Chats of all sizes with gaps that no float holds exactly."""
    draw = random.Random(5)
    made = []
    for number in range(chats):
        moment = datetime(2024, 2, 3, 9)
        sessions = []
        for session in range(1, draw.randint(1, 4)):
            messages = []
            for at in range(draw.randint(1, most)):
                moment += timedelta(microseconds=draw.choice([7, 1_234_567, 61_000_003, 10**10]))
                files = (Attachment("image", "a.jpg"),) if draw.random() < 0.1 else ()
                speaker = draw.choice(["Mara", "Theo", "Juno"])
                text = "well " * draw.randint(0, 9)
                messages.append(Message(f"D{session}:{at}", speaker, moment, text, files))
            sessions.append(Session(session, None, tuple(messages)))
        made.append(Chat(f"chat {number}", ("Mara", "Theo", "Juno"), tuple(sessions)))
    return Corpus("talk", "realtalk", tuple(made))


def figures(tables: Tables) -> bytes:
    return orjson.dumps(describe(tables).to_json())


def streamed(folder: Path) -> bytes:
    stream = open_stream(folder)
    assert stream is not None
    return orjson.dumps(describe_stream(stream).to_json())


def test_parts_and_the_whole_have_the_same_figures(tmp_path: Path) -> None:
    corpus = talk()
    folder = store(as_reading(corpus), tmp_path / "c", most=30)
    stream = open_stream(folder)
    assert stream is not None and len(stream.pieces) > 2
    whole = figures(from_corpus(corpus))
    assert streamed(folder) == figures(open_reading(folder).reading.tables) == whole


@settings(max_examples=tries(15))
@given(corpus=corpora(), most=st.integers(1, 4))
def test_any_corpus_has_the_figures_of_its_parts(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, most: int
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    parts = store(as_reading(corpus), folder / "parts", most=most)
    assert streamed(parts) == figures(as_reading(corpus).tables)
    part = count_chats(as_reading(corpus).tables)
    again = StatsPart.from_json(orjson.loads(orjson.dumps(part.to_json())))
    assert again.chats == part.chats
    assert again.gaps.equals(part.gaps)
    assert again.to_json() == part.to_json()


def test_a_chat_whose_sessions_lie_apart_does_not_move_the_others() -> None:
    tables = as_reading(talk(2, 3)).tables
    first = tables.messages.filter(chat="chat 0")
    second = tables.messages.filter(chat="chat 1")
    # The first chat's sessions are in pieces; the second one's are whole, the latest first.
    torn = first[[*range(1, first.height), 0]]
    latest = second.sort("session", descending=True, maintain_order=True)
    apart = replace(tables, messages=torn.vstack(latest))
    alone = replace(tables, messages=latest, chats=tables.chats[1:])
    assert describe(apart).per_chat[1] == describe(alone).per_chat[0]


def test_a_folder_of_corpora_has_the_figures_of_one(tmp_path: Path) -> None:
    corpus = talk(6)
    for number, chat in enumerate(corpus.chats):
        alone = Corpus("x", "realtalk", (chat,))
        store(as_reading(alone), tmp_path / "corpora" / f"export {number}", most=20)
    tables = open_reading(tmp_path / "corpora").reading.tables
    assert streamed(tmp_path / "corpora") == figures(tables)
    whole = describe(tables)
    assert whole.response_gaps == describe(from_corpus(corpus)).response_gaps
    assert [chat.id for chat in whole.per_chat][:2] == ["export 0/chat 0", "export 1/chat 1"]
