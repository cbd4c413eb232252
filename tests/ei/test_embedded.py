"""The embedded encoder: its answers on the samples, on REALTALK and beside LoCoMo."""

from __future__ import annotations

import io
import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import (
    COMPONENTS,
    LABELS,
    MEASURES,
    TurnInput,
    label_frame,
    turn_inputs,
)
from realtalk.formats.opening import open_reading
from samples import read_sample
from short_chats import chat_of

FULL = Path(__file__).with_name("ei_fp32.json")


@pytest.fixture(scope="module")
def labeller() -> EmbeddedLabeller:
    return EmbeddedLabeller()


def labelled(labeller: EmbeddedLabeller, inputs: list[TurnInput]) -> pl.DataFrame:
    return label_frame(inputs, labeller.label(inputs), labeller)


def test_the_samples_are_labelled_whole(labeller: EmbeddedLabeller) -> None:
    frame = labelled(labeller, turn_inputs(read_sample())[::6])
    assert frame.schema == LABELS
    assert frame["unscored"].list.len().sum() == 0  # replies of an emoji alone are read by name
    assert frame["intimacy"].is_between(0, 1).all()
    assert frame["empathy"].is_between(0, 6).all()
    assert set(frame["sentiment"]) == {"negative", "neutral", "positive"}
    assert frame["emotion"].n_unique() >= 5
    for name in ("reflective", "grounding"):
        assert 0 < frame[name].cast(pl.Float64).to_numpy().mean() < 0.6
        assert frame[f"{name}_p"].is_between(0.5, 1).all()
    # Such answers are right for about every second emotion and three of four sentiments.
    sure = [float(frame[f"{name}_p"].to_numpy().mean()) for name in ("emotion", "sentiment")]
    assert 0.45 < sure[0] < sure[1] < 0.85


def test_messages_stand_alone_where_asked() -> None:
    corpus = read_sample()
    alone = turn_inputs(corpus, joined=False)
    assert all(len(given.ids) == 1 for given in alone)
    said = [id_ for given in turn_inputs(corpus) for id_ in given.ids]
    words = [m for c in corpus.chats for m in c.messages if m.text or m.attachments]
    assert len(alone) == len(words) <= len(said)
    for before, now in itertools.pairwise(alone):
        if before.session == now.session and before.speaker != now.speaker:
            assert now.previous == before.text


def turn(text: str, previous: str = "") -> TurnInput:
    return TurnInput("c", 1, 0, "Ada", ("D1:1",), None, text, previous)


def test_what_it_says_makes_sense(labeller: EmbeddedLabeller) -> None:
    """Plain cases that any labeller must get right."""
    asks: Any
    own: Any
    asks, sad, glad, flat, own = labeller.label(
        [
            turn("oh no, what did the doctor say?", "my dad is in the hospital again"),
            turn("this is the worst day of my life, i can't stop crying"),
            turn("WE WON!!! i am so so happy, best night ever"),
            turn("the bus leaves at 8.15"),
            turn("i realised i get defensive because i'm scared of losing you"),
        ]
    )
    assert asks.grounding and not flat.grounding
    assert own.reflective and not flat.reflective
    assert (sad.sentiment, glad.sentiment) == ("negative", "positive")
    assert (sad.emotion, glad.emotion) == ("sadness", "joy")
    assert asks.empathy > flat.empathy
    assert own.intimacy > flat.intimacy


@pytest.mark.slow
def test_eight_bits_answer_as_fp32(labeller: EmbeddedLabeller) -> None:
    full = json.loads(FULL.read_text("utf-8"))
    names: list[str] = full.pop("answers")
    same: dict[str, list[bool]] = {name: [] for name in names}
    for sample, rows in full.items():
        labels = labeller.label(turn_inputs(open_reading(sample).reading.corpus))
        for label, row in zip(labels, rows, strict=True):
            if label.unscored:
                continue  # fp32 was asked all the same
            for name, answer in zip(names, row, strict=True):
                same[name].append(getattr(label, name) == answer)
    everything = [value for values in same.values() for value in values]
    assert np.mean(everything) >= 0.99
    assert min(np.mean(values) for values in same.values()) >= 0.975


def test_the_same_bytes_every_time(labeller: EmbeddedLabeller) -> None:
    inputs = turn_inputs(read_sample())[:30]

    def written(one: EmbeddedLabeller) -> bytes:
        buffer = io.BytesIO()
        labelled(one, inputs).write_parquet(buffer, compression="zstd", compression_level=1)
        return buffer.getvalue()

    assert written(labeller) == written(EmbeddedLabeller(threads=1))


def test_components_add_up_to_empathy(labeller: EmbeddedLabeller) -> None:
    inputs = turn_inputs(read_sample())[:60]
    frame = label_frame(inputs, labeller.label(inputs), labeller)
    known = frame.drop_nulls("empathy")
    one, two, three = (known[name] for name in COMPONENTS)
    assert known.height > 50 and (one + two + three == known["empathy"]).all()
    levels = [known[f"{name}_level"] for name in COMPONENTS]
    # These do not add up, which is why they have names of their own.
    assert (sum(levels[1:], levels[0]) != known["empathy"]).any()
    for name, level in zip(COMPONENTS, levels, strict=True):
        assert known[name].is_between(0, 2).all() and level.is_in([0, 1, 2]).all()


def test_what_it_cannot_read_it_does_not_label(labeller: EmbeddedLabeller) -> None:
    """All it lacks is one unknown token to it: a label would be made up."""
    before = "my dad is in the hospital again"
    unread = [turn(text, before) for text in ("🇫🇷", "\u200b", "\ufe0f", "ខ្មែរ", " 🇯🇵 \n")]
    for label in labeller.label(unread):
        assert set(label.unscored) == set(MEASURES)
        assert label.emotion is None and label.empathy is None
    words = ["😂 ok", "👍", "???", "https://example.org/a", "привет", "東京", "word " * 10_000, "4"]
    read = [turn(text, before) for text in words]
    assert all(not label.unscored for label in labeller.label(read))
    # The same text gives the same label beside any other.
    mixed = labeller.label([*unread, *read, *read])
    assert mixed[len(unread) : len(unread) + len(read)] == mixed[len(unread) + len(read) :]
    assert mixed[len(unread) :][: len(read)] == labeller.label(read)


def test_an_emoji_alone_is_read_by_its_name(labeller: EmbeddedLabeller) -> None:
    tear, laugh, heart = labeller.label([turn(text, "") for text in ("😢", "😂😂", "❤️")])
    assert (tear.sentiment, tear.emotion) == ("negative", "sadness")
    assert (laugh.emotion, heart.sentiment) == ("joy", "positive")


def test_a_photo_beside_blanks_is_what_it_shows() -> None:
    photo = (Attachment("image", caption="a red bicycle"),)
    said = (Message("D1:1", "Ada", None, " \n", photo), Message("D1:2", "Ada", None, "mine", photo))
    corpus = Corpus("x", "test", (Chat("c", ("Ada",), (Session(1, None, said),)),))
    assert [given.text for given in turn_inputs(corpus)] == ["[a red bicycle]\nmine"]
    assert [given.text for given in turn_inputs(corpus, False)] == ["[a red bicycle]", "mine"]


@pytest.mark.slow
def test_a_session_that_never_pauses_fits_into_memory() -> None:
    """20,000 turns in one session: each knows its past, and none holds a copy of it."""
    lines = (f"{('Ada', 'Bo')[n % 2]}: line {n}" for n in range(20_000))
    corpus = Corpus("x", "test", (chat_of(*lines),))
    tracemalloc.start()
    inputs = turn_inputs(corpus)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 100_000_000
    assert tuple(inputs[3].history) == (("Ada", "line 0"), ("Bo", "line 1"), ("Ada", "line 2"))
    assert len(inputs[-1].history) == 19_999
