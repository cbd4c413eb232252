"""The values: frozen, and turns derived."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from realtalk.chat import (
    Alias,
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Reaction,
    Session,
    pack_extra,
    unpack_extra,
)

NINE = datetime(2026, 3, 2, 9)


def chat() -> Chat:
    def said(id_: str, speaker: str, text: str) -> Message:
        return Message(id_, speaker, NINE, text)

    one = Session(
        1, NINE, (said("D1:1", "A", "hi"), said("D1:2", "A", "you?"), said("D1:3", "B", "no"))
    )
    two = Session(2, NINE, (said("D2:1", "B", "later"), said("D2:1", "A", "again")))
    return Chat(
        "c", ("A", "B"), (one, Session(3, None, ()), two), aliases=(Alias("Al", "A", "D1:1"),)
    )


def test_turns_end_with_the_session() -> None:
    turns = chat().turns
    assert [(t.session, t.speaker, t.ids) for t in turns] == [
        (1, "A", ("D1:1", "D1:2")),
        (1, "B", ("D1:3",)),
        (2, "B", ("D2:1",)),
        (2, "A", ("D2:1",)),
    ]
    assert turns[0].text == "hi\nyou?"
    assert turns[0].time == NINE


def test_lookups() -> None:
    assert chat().by_id["D2:1"].text == "later"  # of two, the first
    assert chat().names_of("A") == ("A", "Al")


def test_nothing_mutates() -> None:
    session = chat().sessions[0]
    for value, name in ((chat(), "id"), (session, "number"), (session.messages[0], "text")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")
    assert hash(chat()) == hash(chat())


def test_extra_is_canonical() -> None:
    assert pack_extra({"b": 1, "a": "é"}) == '{"a":"é","b":1}'
    assert pack_extra({}) == ""
    assert unpack_extra(pack_extra({"b": [1], "a": None})) == {"a": None, "b": [1]}
    assert unpack_extra("") == {}


def test_messages_are_a_sequence() -> None:
    made = chat()
    assert len(made.messages) == 5
    assert [message.id for message in made.messages[1:3]] == ["D1:2", "D1:3"]
    assert made.messages[-1].text == "again"
    assert made.messages is made.messages
    assert made == chat()  # what was derived is no part of the value


def test_a_frame_has_one_row_per_message() -> None:
    frame = Corpus("small", "jsonl", (chat(), chat())).frame
    assert frame.height == 10
    assert frame.row(1, named=True) == {
        "chat": "c",
        "session": 1,
        "id": "D1:2",
        "speaker": "A",
        "time": NINE,
        "text": "you?",
        "files": 0,
        "reply_to": None,
        "edited": False,
        "deleted": False,
    }
    assert Corpus("none", "jsonl").frame.height == 0


def test_what_is_printed_holds_counts_and_no_text() -> None:
    secret = "the key is under the mat"
    message = Message("D1:1", "Mara", NINE, secret, (Attachment("image", caption=secret),))
    session = Session(1, NINE, (message,))
    one = Chat(
        "c<b>",
        ("Mara",),
        (session,),
        (Event(1, "Mara", secret),),
        (Question("Q1", secret, secret, "temporal"),),
        extra=secret,
    )
    corpus = Corpus("mine", "jsonl", (one,))
    assert repr(corpus) == "<Corpus mine (jsonl): 1 chat, 1 speaker, 1 message>"
    assert repr(one) == "<Chat c<b>: 1 speaker, 1 session, 1 message, 1 event, 1 question>"
    assert repr(message) == "<Message 'D1:1' 'Mara' at 2026-03-02 09:00: 24 characters>"
    assert repr(session) == "<Session 1 at 2026-03-02 09:00: 1 message>"
    assert repr(one.turns[0]) == "<Turn 'Mara' in session 1 at 2026-03-02 09:00: 1 message>"
    page = corpus._repr_html_()
    assert "c&lt;b&gt;" in page
    assert "<b>" not in page
    values = (corpus, one, session, message, one.turns[0], *one.events, *one.questions)
    for value in (*values, *message.attachments):
        assert secret not in repr(value)
    assert secret not in page


def reacted(*marks: object) -> Message:
    return Message("D1:1", "A", NINE, "hi", extra=json.dumps({"reactions": list(marks)}))


def test_reactions_are_values() -> None:
    heart = {"emoji": "❤", "count": 3, "by": ["B", "C"]}
    one = reacted(heart, {"emoji": "👍", "by": ["B", "D"]}, {"emoji": "🎉"})
    assert one.reactions == (
        Reaction("❤", ("B", "C"), 3),
        Reaction("👍", ("B", "D"), 2),
        Reaction("🎉", (), 1),
    )
    assert chat().messages[0].reactions == ()
    assert len({one.reactions, one.reactions}) == 1


def test_odd_reactions_are_passed_over() -> None:
    one = reacted(
        *("❤", None, ["❤"], {}, {"emoji": ""}, {"emoji": 3}),
        {"emoji": "❤", "count": True, "by": "B"},
        {"emoji": "👍", "count": -2, "by": ["B", None, "", {"name": "C"}]},
    )
    assert one.reactions == (Reaction("❤", (), 1), Reaction("👍", ("B",), 1))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["reactions", "emoji", "by", "count", "x"]), inner, max_size=4
        )
    ),
)


@given(st.text() | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps({"reactions": value})))
@example('{"reactions":' + "[" * 100_000)
@example('["reactions"]')
@example('{"reactions":[{"emoji":"x","count":1e999}]}')
def test_foreign_extras_never_fail(extra: str) -> None:
    for one in Message("D1:1", "A", NINE, "hi", extra=extra).reactions:
        assert one.emoji
        assert one.count > 0
        assert all(one.by)
