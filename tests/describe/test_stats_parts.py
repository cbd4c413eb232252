"""However a corpus is cut into parts, its figures are the same to the last byte."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_strategies import corpora
from realtalk.api.choices import as_reading
from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from realtalk.describe import describe
from realtalk.describe.combining import StatsPart
from realtalk.describe.counting import count_chats, describe_stream
from realtalk.formats.opening import open_reading
from realtalk.formats.store import open_stream, store
from tries import tries


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


def streamed(folder: Path) -> bytes:
    stream = open_stream(folder)
    assert stream is not None
    return orjson.dumps(describe_stream(stream).to_json())


def test_parts_and_the_whole_have_the_same_figures(tmp_path: Path) -> None:
    corpus = talk()
    whole = orjson.dumps(describe(as_reading(corpus).tables).to_json())
    folder = store(as_reading(corpus), tmp_path / "c", most=30)
    stream = open_stream(folder)
    assert stream is not None
    assert len(stream.pieces) > 2
    assert streamed(folder) == whole
    assert orjson.dumps(describe(open_reading(folder).reading.tables).to_json()) == whole


@settings(max_examples=tries(15))
@given(corpus=corpora(), most=st.integers(1, 4))
def test_any_corpus_has_the_figures_of_its_parts(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, most: int
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    whole = orjson.dumps(describe(as_reading(corpus).tables).to_json())
    assert streamed(store(as_reading(corpus), folder / "parts", most=most)) == whole
    part = count_chats(as_reading(corpus).tables)
    again = StatsPart.from_json(orjson.loads(orjson.dumps(part.to_json())))
    assert again.chats == part.chats
    assert again.gaps.equals(part.gaps)
    assert again.to_json() == part.to_json()


def test_a_chat_whose_sessions_lie_apart_does_not_move_the_others() -> None:
    from dataclasses import replace

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
    whole = describe(open_reading(tmp_path / "corpora").reading.tables).to_json()
    assert streamed(tmp_path / "corpora") == orjson.dumps(whole)
    assert (
        whole["response_gap_minutes"]
        == describe(as_reading(corpus).tables).to_json()["response_gap_minutes"]
    )
    assert [row["chat"] for row in whole["per_chat"]][:2] == ["export 0/chat 0", "export 1/chat 1"]
