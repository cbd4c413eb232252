"""Chats, a person and a period → what was felt, in labels of turns: counts, shares, means.

    feelings = Feelings()
    feelings.told(chats, person="Mara", period=Period.of("2026-03"), by="week", most=400)
    → Felt(rows=[{"chat": …, "person": "Mara", "turns": 51, "sentiment": {…}, …}], notes=[…])

Labels that `realtalk ei` stored beside a chat are taken as they are. Without them the encoder in
this package labels the turns of the period that nobody labelled before, at most so many, spread
evenly over it. A label that could not be made counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from realtalk.assistant.collection import ListedChat
from realtalk.assistant.periods import Period
from realtalk.chat import Corpus
from realtalk.ei.labelling import CachedLabels, label_cautions
from realtalk.ei.labels import MEASURED, WORDS, TurnInput, label_sums, labelled_frame, turn_inputs

if TYPE_CHECKING:
    import polars as pl

    from realtalk.ei.embedded import EmbeddedLabeller

By = Literal["whole", "month", "week", "day"]
MOST_TURNS = 1000  # labelled for one answer; a thousand take about half a minute on two cores
_FORMS = {"whole": "", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}


@dataclass(frozen=True)
class Felt:
    """One row per chat, person and part of the period, and what has to be said beside it."""

    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str]


class Feelings:
    """Labels of chats, read once or made turn by turn."""

    def __init__(self) -> None:
        self._stored: dict[ListedChat, pl.DataFrame | None] = {}
        self._turns: dict[ListedChat, list[TurnInput]] = {}
        self._kept: dict[ListedChat, CachedLabels] = {}

    @cached_property
    def _labeller(self) -> EmbeddedLabeller:
        from realtalk.ei.embedded import EmbeddedLabeller

        return EmbeddedLabeller()

    def told(
        self, chats: Sequence[ListedChat], person: str, period: Period, by: By, most: int
    ) -> Felt:
        """What the labels of a period say; at most `most` turns are labelled for it."""
        open_turns = {
            chat: turns
            for chat in chats
            if self._labels_of(chat) is None and (turns := self._meant(chat, person, period))
        }
        wanted = sum(map(len, open_turns.values()))
        step = max(1, -(-wanted // most))
        rows: list[dict[str, Any]] = []
        notes: list[str] = []
        count = 0
        for chat in chats:
            stored = self._labels_of(chat)
            if stored is None:
                chosen = open_turns.get(chat, [])[::step]
                count += len(chosen)
                frame = self._label(chat, chosen)
            else:
                frame = _of_period(chat, stored, person, period)
            if frame.height:
                origin = "made now" if stored is None else "stored"
                rows += [{**row, "labels": origin} for row in _summed(chat, frame, by)]
                own = Corpus("", "", (replace(chat.source, id=chat.id),))
                notes += label_cautions(frame, own)
        if step > 1:
            notes.insert(0, f"labelled now: {count:,} of {wanted:,} turns, spread evenly over all")
        return Felt(rows, notes)

    def _labels_of(self, chat: ListedChat) -> pl.DataFrame | None:
        """The stored labels of a chat, under the names that answers use."""
        import polars as pl

        if chat not in self._stored:
            frame = chat.labels.frame()
            own = None if frame is None else frame.filter(pl.col("chat") == chat.source.id)
            self._stored[chat] = None if own is None or not own.height else _renamed(chat, own)
        return self._stored[chat]

    def _meant(self, chat: ListedChat, person: str, period: Period) -> list[TurnInput]:
        """The turns of a person in a period."""
        if chat not in self._turns:
            self._turns[chat] = turn_inputs(Corpus("", "", (chat.source,)))
        times = {session.number: session.time for session in chat.source.sessions}
        return [
            turn
            for turn in self._turns[chat]
            if period.holds(turn.time or times.get(turn.session))
            and (not person or chat.stand_ins[turn.speaker] == person)
        ]

    def _label(self, chat: ListedChat, turns: Sequence[TurnInput]) -> pl.DataFrame:
        if chat not in self._kept:
            self._kept[chat] = CachedLabels(self._turns[chat], self._labeller)
        labels = self._kept[chat].label(turns)
        return _renamed(chat, labelled_frame(turns, labels, self._labeller))


def _renamed(chat: ListedChat, frame: pl.DataFrame) -> pl.DataFrame:
    """Labels of the source under the names that answers use."""
    import polars as pl

    names = [chat.stand_ins.get(name, "") for name in frame["speaker"].to_list()]
    return frame.with_columns(
        pl.lit(chat.id).alias("chat"), pl.Series("speaker", names, dtype=pl.String)
    )


def _of_period(chat: ListedChat, frame: pl.DataFrame, person: str, period: Period) -> pl.DataFrame:
    import polars as pl

    times = {session.number: session.time for session in chat.source.sessions}
    rows = frame.select("time", "session", "speaker").iter_rows()
    kept = [
        period.holds(time or times.get(session)) and (not person or speaker == person)
        for time, session, speaker in rows
    ]
    return frame.filter(pl.Series(kept, dtype=pl.Boolean))


def _summed(chat: ListedChat, frame: pl.DataFrame, by: By) -> Iterator[dict[str, Any]]:
    """One row per part of the period and person, oldest first."""
    import polars as pl

    times = {session.number: session.time for session in chat.source.sessions}
    moments = (time or times.get(at) for time, at in frame.select("time", "session").iter_rows())
    parts = [None if time is None else time.strftime(_FORMS[by]) for time in moments]
    timed = frame.with_columns(pl.Series("part", parts, dtype=pl.String).fill_null(""))
    for row in label_sums(timed, ("part", "speaker")).sort("part", "speaker").to_dicts():
        words = {name: dict(Counter(row[name]).most_common()) for name in WORDS}
        means = {
            f"{measure.name}_{'mean' if measure.is_score else 'share'}": round(
                row[measure.name] / row[f"{measure.name}_n"], 3
            )
            if row[f"{measure.name}_n"]
            else None
            for measure in MEASURED
            if not measure.words
        }
        yield {
            "chat": chat.id,
            "person": row["speaker"],
            **({} if by == "whole" else {by: row["part"] or None}),
            "turns": row["turns"],
            "unscored": row["unscored"],
            **words,
            **means,
        }
