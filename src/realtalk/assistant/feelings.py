"""Chats, a person and a period → what was felt, in labels of turns: counts, shares, means.

    Feelings().summarise(chats, person="Mara", period=Period.of("2026-03"), by="week", most=400)
    → ([{"chat": …, "person": "Mara", "turns": 51, "sentiment": {…}, …}], ["what to say beside it"])

Labels that `realtalk ei` stored beside a chat are taken as they are. Without them the encoder in
this package labels the turns of the period that nobody labelled before, at most so many, spread
evenly over it. A label that could not be made counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from realtalk.assistant.answers import JsonObject, Period
from realtalk.assistant.chats import ListedChat
from realtalk.chat import Corpus
from realtalk.ei.labelling import CachedLabels, label_cautions
from realtalk.ei.labels import MEASURED, WORDS, label_frame, label_sums

if TYPE_CHECKING:
    import polars as pl

    from realtalk.ei.embedded import EmbeddedLabeller

By = Literal["whole", "month", "week", "day"]
MOST_TURNS = 1000  # labelled for one answer; a thousand take about half a minute on two cores
_FORMS = {"whole": "", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}


class Feelings:
    """Labels of chats: those that are stored, and others as they are asked for."""

    def __init__(self) -> None:
        self._labels: dict[ListedChat, CachedLabels] = {}

    @cached_property
    def _labeller(self) -> EmbeddedLabeller:
        from realtalk.ei.embedded import EmbeddedLabeller

        return EmbeddedLabeller()

    def summarise(
        self, chats: Sequence[ListedChat], person: str, period: Period, by: By, most: int
    ) -> tuple[list[JsonObject], list[str]]:
        """A row per chat, person and part of the period, and what has to be said beside them.

        At most `most` turns are labelled for it.
        """
        import polars as pl

        def is_meant(chat: ListedChat, who: str, session: int, time: datetime | None) -> bool:
            is_theirs = not person or chat.stand_ins.get(who) == person
            return is_theirs and period.holds(time or chat.session_times.get(session))

        waiting = {
            chat: [
                turn for turn in chat.turns if is_meant(chat, turn.speaker, turn.session, turn.time)
            ]
            for chat in chats
            if chat.stored_labels is None
        }
        for chat in waiting:
            if chat not in self._labels:
                self._labels[chat] = CachedLabels(chat.turns, self._labeller)
        total = sum(map(len, waiting.values()))
        # What the page or a command labelled is taken whole.
        is_made = all(
            self._labels[chat].find(turn) for chat, turns in waiting.items() for turn in turns
        )
        step = 1 if is_made else max(1, -(-total // most))
        rows: list[JsonObject] = []
        notes: list[str] = []
        count = 0
        for chat in chats:
            if chat.stored_labels is not None:
                origin, frame = "stored", chat.stored_labels
                places = frame.select("speaker", "session", "time").iter_rows()
                is_chosen = [is_meant(chat, *place) for place in places]
                frame = frame.filter(pl.Series(is_chosen, dtype=pl.Boolean))
            elif turns := waiting[chat][::step]:
                origin = "kept" if is_made else "made now"
                count += len(turns)
                labels = list(self._labels[chat].label(turns))
                frame = label_frame(turns, labels, self._labeller)
            else:
                continue
            if frame.height:
                frame = frame.with_columns(chat=pl.lit(chat.id))
                rows += [{**row, "labels": origin} for row in _sum_rows(chat, frame, by)]
                own = Corpus("", "", (replace(chat.source, id=chat.id),))
                notes += label_cautions(frame, own)
        if step > 1:
            notes.insert(0, f"labelled now: {count:,} of {total:,} turns, spread evenly over all")
        return rows, notes


def _sum_rows(chat: ListedChat, frame: pl.DataFrame, by: By) -> Iterator[JsonObject]:
    """One row per part of the period and person, oldest first, under the names of answers."""
    import polars as pl

    people, parts = [], []
    for who, session, time in frame.select("speaker", "session", "time").iter_rows():
        moment = time or chat.session_times.get(session)
        people.append(chat.stand_ins.get(who, ""))
        parts.append("" if moment is None else moment.strftime(_FORMS[by]))
    parted = frame.with_columns(
        pl.Series("speaker", people, pl.String), pl.Series("part", parts, pl.String)
    )
    for row in label_sums(parted, ("part", "speaker")).sort("part", "speaker").to_dicts():
        answer = {"chat": chat.id, "person": row["speaker"]}
        if by != "whole":
            answer[by] = row["part"] or None
        answer |= {"turns": row["turns"], "unscored": row["unscored"]}
        answer |= {name: dict(Counter(row[name]).most_common()) for name in WORDS}
        for measure in MEASURED:
            if not measure.words:
                n = row[f"{measure.name}_n"]
                name = f"{measure.name}_{'mean' if measure.is_score else 'share'}"
                answer[name] = round(row[measure.name] / n, 2) if n else None
        yield answer
