"""Label tables for tests: from a few words per turn, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import polars as pl
from hypothesis import strategies as st

from realtalk.ei.labels import EMOTIONS, LABELS, SENTIMENTS, Label, TurnInput, label_frame

START = datetime(2026, 3, 2, 18, 0)
Row = dict[str, Any]


def table(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a table of labels; turns are numbered, and what is not named is unscored."""
    counts: dict[str, int] = {}
    made = []
    for row in rows:
        chat = row.get("chat", "c")
        turn = counts[chat] = counts.get(chat, -1) + 1
        made.append(
            {
                **dict.fromkeys(LABELS),
                **{"chat": chat, "session": 1, "turn": turn, "speaker": "Mara"},
                **{"message_ids": [f"D1:{turn}"], "measure": "made up", "version": "1"},
                **{"unscored": []},
                **row,
            }
        )
    return pl.DataFrame(made, schema=LABELS)


def lively(
    chat: str, names: tuple[str, ...], seed: int, *, wide: bool = True, turns: int = 160
) -> list[Row]:
    """A chat of eight sessions. `wide` speakers use many emotions; others are kind and alike."""
    chance = random.Random(seed)
    own = {name: chance.random() for name in names}
    rows = []
    for place in range(turns):
        name, session = names[place % len(names)], place * 8 // turns + 1
        taste = own[name] if wide else 0.1
        emotions = EMOTIONS if wide else EMOTIONS[4:7]
        plain = chance.random() < 0.3 + 0.3 * taste
        rows.append(
            {
                "chat": chat,
                "session": session,
                "speaker": name,
                "time": START + timedelta(days=session, minutes=place),
                "reflective": chance.random() < 0.1 + 0.2 * taste,
                "grounding": chance.random() < 0.2 + 0.3 * taste,
                "sentiment": "positive" if plain else chance.choice(SENTIMENTS[0 if wide else 1 :]),
                "emotion": "joy" if plain else chance.choice(emotions),
                "intimacy": min(1.0, 0.2 + 0.02 * session * taste + chance.random() * 0.1),
                "empathy": chance.choice((0, 1, 2) if wide else (2, 3, 4)) + taste,
            }
        )
    return rows


@st.composite
def random_tables(draw: st.DrawFn, speakers: int = 3) -> pl.DataFrame:
    """Up to two chats of any shape, with unscored labels everywhere."""
    rows: list[Row] = []
    for chat in draw(st.sampled_from([("a",), ("a", "b")])):
        session = 1
        for _ in range(draw(st.integers(1, 24))):
            session += draw(st.sampled_from([0, 0, 0, 1, 3]))
            rows.append(
                {
                    "chat": chat,
                    "session": session,
                    "speaker": draw(st.sampled_from(["Mara", "Theo", "Ines"][:speakers])),
                    "reflective": draw(st.none() | st.booleans()),
                    "grounding": draw(st.none() | st.booleans()),
                    "sentiment": draw(st.none() | st.sampled_from(SENTIMENTS)),
                    "emotion": draw(st.none() | st.sampled_from(EMOTIONS[:5])),
                    "intimacy": draw(st.none() | st.sampled_from([0.25, 0.375, 0.5, 0.75])),
                    "empathy": draw(st.none() | st.sampled_from([0.0, 0.5, 1.0, 3.0, 6.0])),
                }
            )
    return table(rows)


def label_table(
    inputs: Sequence[TurnInput], labels: Sequence[Label], measure: str = "embedded"
) -> pl.DataFrame:
    """Turns and their labels as a table, by a labeller of that name."""
    labeller: Any = SimpleNamespace(name=measure, version="1")
    return label_frame(inputs, labels, labeller)


def label_settings(
    name: str, format_: str, protocol: str = "turns", measure: str = "made up"
) -> dict[str, Any]:
    """What run.json says of labels of a corpus."""
    solver = {"name": measure, "version": "1", "settings": {}}
    return {"corpus": {"name": name, "format": format_}, "protocol": protocol, "solver": solver}
