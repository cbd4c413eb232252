"""Arbitrary corpora for round trips."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from realtalk.chat import (
    Alias,
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Session,
    pack_extra,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
times = st.none() | st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1))
leaves = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts
# Keys that the layouts themselves use are among them on purpose.
keys = st.sampled_from(
    ["score", "text", "speaker", "realtalk", "convokit", "meta", "sample", "absent", "stated"]
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
extras = st.dictionaries(keys | names, values, max_size=2).map(pack_extra)
ids = st.sampled_from(["D1:1", "D1:2", "D2:1", "D3:7"]) | names


@st.composite
def chats(draw: Any, id_: str) -> Chat:
    speakers = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    numbers = sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=3)))
    unused = iter(draw(st.lists(ids, min_size=12, max_size=12, unique=True)))
    attachments = st.builds(Attachment, st.sampled_from(["image", "file"]), texts, texts, texts)
    sessions: list[Session] = []
    for number in numbers:
        messages = [
            Message(
                next(unused),
                draw(st.sampled_from(speakers)),
                draw(times),
                draw(texts),
                tuple(draw(st.lists(attachments, max_size=2))),
                draw(st.none() | ids),
                draw(st.booleans()),
                draw(st.booleans()),
                draw(extras),
            )
            for _ in range(draw(st.integers(0 if sessions else 1, 3)))
        ]
        sessions.append(Session(number, draw(times), tuple(messages)))
    evidence = st.lists(ids, max_size=2).map(tuple)
    events = st.builds(
        Event,
        st.integers(1, 40),
        st.none() | st.sampled_from(speakers),
        texts,
        st.sampled_from(["event", "observation", "summary"]),
        texts,
        evidence,
        extras,
    )
    questions = st.builds(
        Question,
        names,
        texts,
        st.none() | texts,
        st.sampled_from(["temporal", "commonsense", "7", ""]),
        *(evidence, evidence, evidence, times, extras),
    )
    return Chat(
        id_,
        tuple(speakers),
        tuple(sessions),
        tuple(draw(st.lists(events, max_size=3))),
        tuple(draw(st.lists(questions, max_size=2))),
        tuple(draw(st.lists(st.builds(Alias, names, names, names), max_size=1))),
        draw(extras),
    )


@st.composite
def corpora(draw: Any) -> Corpus:
    """One to three chats with everything that the model can hold."""
    chat_ids = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    format_ = draw(st.sampled_from(["realtalk", "whatsapp", "locomo"]))
    return Corpus(draw(names), format_, tuple(draw(chats(id_)) for id_ in chat_ids))
