"""The values: frozen, and turns derived."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import datetime

import pytest

from realtalk.chat import Alias, Chat, Message, Session, pack_extra, unpack_extra

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
