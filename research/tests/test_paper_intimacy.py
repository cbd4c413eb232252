"""The scale of Table 7's intimacy is found again, and the ways of alignment differ."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from research.papers import intimacy
from research.papers.alignments import alignment_rows
from research.papers.intimacy import (
    CENTRINGS,
    SCALE_NOTE,
    as_printed,
    course_note,
    course_rows,
    courses,
)
from research.papers.published import TABLE_7

MEAN = 0.561  # what the printed columns' ratio tells
SESSIONS = 21


def labels() -> pl.DataFrame:
    """Messages whose intimacy, after a sigmoid, rises by session as Table 7 has it."""
    rows = []
    begin = datetime(2026, 4, 1, 9, 0)
    for (chat, speaker), printed in TABLE_7.items():
        for session in range(1, SESSIONS + 1):
            through = MEAN + printed["intimacy_linear"] / 1000 * (session - SESSIONS / 2)
            for each in range(2):
                rows.append(
                    {
                        **{"chat": chat, "speaker": speaker, "session": session},
                        "turn": 4 * session + each,
                        "time": begin + timedelta(days=2 * session, minutes=each),
                        "intimacy": float(np.log(through / (1 - through))),
                        "sentiment": "positive" if each else "neutral",
                        "emotion": "joy",
                    }
                )
    return pl.DataFrame(rows).with_columns(pl.col("intimacy").cast(pl.Float64))


def test_the_scale_is_found() -> None:
    rows = {(row[0], row[1]): list(map(str, row)) for row in course_rows(labels()).rows}
    _, _, ratio, linear, _, concordance, exponential, _, other = rows[
        "session", "through a sigmoid"
    ]
    # Signed: a mean of absolute values would make of five who rise and eleven who fall a level.
    assert (linear, concordance) == ("+0.031 (5 of 16)", "1.00")
    assert float(ratio) == pytest.approx(MEAN, abs=0.01)
    assert signed(exponential) == pytest.approx(0.038, abs=0.03)
    assert float(other) > 0.99
    # By the days, two to a session, the level is half; as scored it is four times as much.
    assert signed(rows["day", "through a sigmoid"][3]) == pytest.approx(0.031 / 2, abs=1e-3)
    assert signed(rows["session", "as scored, 0 to 1"][3]) == pytest.approx(4 * 0.031, abs=0.02)
    assert rows["Table 7", None][2:4] == ["0.561", "+0.031 (5 of 16)"]
    assert rows["Table 7", None][6] == "+0.038 (5 of 16)"


def signed(cell: str) -> float:
    return float(cell.partition(" ")[0])


def test_centring_moves_no_slope_and_leaves_no_exponent() -> None:
    made = courses(labels(), tuple(CENTRINGS), ("session",))
    found = {(each.scale, each.centring): each for each in made}
    plain_one = found["through a sigmoid", "none"]
    centred = found["through a sigmoid", "less the speaker's mean"]
    part = found["through a sigmoid", "as a part of the speaker's mean"]
    assert centred.linear == pytest.approx(plain_one.linear)
    assert centred.exponential is None
    assert part.exponential == pytest.approx(plain_one.exponential)
    assert part.linear == pytest.approx(plain_one.linear / MEAN, rel=0.02)


def test_labels_go_through_one_sigmoid() -> None:
    given = pl.DataFrame({"intimacy": [0.0, None, 1.0]}, schema={"intimacy": pl.Float32})
    found = as_printed(given)
    assert found.columns == ["intimacy"]
    assert found["intimacy"].to_list() == pytest.approx([0.5, None, 0.7310586], abs=1e-6)


def test_the_note_has_the_runs_own_numbers() -> None:
    note = course_note(labels())
    assert "stand in the ratio 0.561" in note
    assert "linear +0.031 (5 of 16) against +0.031 (5 of 16)" in note
    assert re.search(r"exponential \+0\.0\d+ \(\d of 16\) against \+0\.038 \(5 of 16\)", note)


def test_the_scale_is_told_as_a_conjecture_in_one_place() -> None:
    """Whoever says how the paper's scores came about says that it is not known."""
    assert "conjecture" in SCALE_NOTE and "picked by its fit" in SCALE_NOTE
    head = " ".join((intimacy.__doc__ or "").split())
    assert "is a conjecture" in head and "Against it" in head and "picked" in head
    for page in ("reproduced.md",):
        text = (Path(__file__).parents[2] / "docs" / "results" / page).read_text("utf-8")
        assert SCALE_NOTE in text and "as the printed columns did" not in text


def chat_of_two() -> pl.DataFrame:
    """In every chat A B B, A B B …: of B's messages only the first follows A's directly."""
    chats: dict[str, list[str]] = {}
    for chat, speaker in TABLE_7:
        chats.setdefault(chat, []).append(speaker)
    rows = []
    for chat, (one, other) in chats.items():
        for at in range(9):
            who = one if at % 3 == 0 else other
            feels = "positive" if at % 3 < 2 else "neutral"
            rows.append(
                {"chat": chat, "speaker": who, "session": 1, "turn": at}
                | {"sentiment": feels, "emotion": "joy"}
            )
    return pl.DataFrame(rows)


def test_ways_of_dividing_differ() -> None:
    grid = alignment_rows(chat_of_two())
    assert grid is not None
    found = {(row[0], row[1]): row[2] for row in grid.rows}
    latest, direct = "the partner's latest", "the message directly before, if the partner's"
    every = "all messages of the speaker (§4.3)"
    # A: two pairs of three messages, never alike with the neutral one before; B: three of six.
    assert found[latest, "pairs"] == "0.25"
    assert found[latest, every] == "0.25"
    assert found[direct, "pairs"] == "0.50"
    assert found[direct, every] == "0.25"
    assert alignment_rows(chat_of_two().filter(pl.col("chat") != "Chat_1_Emi_Elise")) is None
