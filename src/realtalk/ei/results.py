"""Labels of every turn → eleven facets of every speaker; and two labellings compared.

labels = label("sample")
labels.frame                 one row per turn: reflective, grounding, sentiment, emotion, …
labels.facets()              one row per chat and speaker, each facet with its interval
labels.compare(label("sample-simulated"))   two corpora, facet by facet
labels.compare(label("sample", "hub"))      two labellings of the same turns: agreement
labels.cautions              what has to be said beside every figure made from them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.ei.agreement import agreement
from realtalk.ei.comparison import compare
from realtalk.ei.label_files import (
    SPEAKER_FILE,
    chat_frames,
    labels_about,
    read_labels,
    refuse_other_units,
    store_labels,
    stored_settings,
    unscored_reasons,
)
from realtalk.ei.labels import MEASURES
from realtalk.ei.languages import Languages, chat_languages, language_notes
from realtalk.ei.speakers import speakers
from realtalk.ei.values import (
    FACETS,
    People,
    SpeakerFacets,
    facet_text,
    speakers_frame,
    speakers_json,
)
from realtalk.errors import RealtalkError
from realtalk.evals.tables import ResultTable, frame_of
from realtalk.evals.values import Lines
from realtalk.files.writing import write_parquet
from realtalk.notebook import counted, table_html

_SPEAKERS = 4  # shown side by side


class Facets(ResultTable):
    """Eleven facets of every speaker in every chat, each with its 95 % interval.

    `frame` has one row per chat and speaker: `empathy`, `empathy_low`, `empathy_high`, …
    """

    def __init__(self, speakers: People, cautions: Sequence[str] = ()) -> None:
        hidden = len(speakers) - _SPEAKERS
        more = (f"… and {counted(hidden, 'speaker')} more in .frame",) if hidden > 0 else ()
        super().__init__("facets of speakers", speakers_frame(speakers), (*more, *cautions))
        self.speakers = tuple(speakers)
        self.cautions = tuple(cautions)

    def to_json(self) -> dict[str, Any]:
        """Everything about the speakers, with the settings it was made with."""
        return speakers_json(self.speakers) | {"cautions": list(self.cautions)}

    @property
    def lines(self) -> Lines:
        """One row per facet and one column per speaker: few speakers, eleven facets."""
        several = len({who.chat for who in self.speakers}) > 1
        visible = self.speakers[:_SPEAKERS]
        names = (f"{who.speaker}, {who.chat}" if several else who.speaker for who in visible)
        rows: list[tuple[Any, ...]] = [
            (facet.heading, *(facet_text(facet, who) for who in visible))
            for facet in FACETS.values()
        ]
        if any(who.is_graded for who in visible):
            rows.append(("Language, grade", *(who.grade_text for who in visible)))
        return ("facet", *names), rows


class Labels:
    """Labels of every turn of a corpus; what could not be made is null with its reason."""

    def __init__(self, labels: pl.DataFrame | Path, settings: Mapping[str, Any]) -> None:
        self._labels = labels  # or the folder of a finished run, which is read when it is needed
        self.settings = settings  # what they depend on: corpus, protocol, and who labelled

    @property
    def corpus(self) -> str:
        """The name of what was labelled."""
        return str(self.settings["corpus"]["name"])

    @property
    def protocol(self) -> str:
        """How turns were joined."""
        return str(self.settings["protocol"])

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per turn."""
        return read_labels(self._labels) if isinstance(self._labels, Path) else self._labels

    def frames(self) -> Iterator[pl.DataFrame]:
        """The same some whole chats at a time; of a run by an engine, not more is held."""
        if isinstance(self._labels, Path) and "frame" not in self.__dict__:
            yield from chat_frames(self._labels)
        else:
            yield self.frame

    @classmethod
    def load(cls, folder: str | PathLike[str], protocol: str | None = None) -> Labels:
        """Labels that `realtalk ei PATH --out`, `label(out=…)` or `save` wrote.

        `protocol` reads them by another one than theirs, where their turns allow it.
        """
        place = Path(folder)
        frame, settings = read_labels(place), stored_settings(place)
        if protocol is not None:
            refuse_other_units(frame, protocol, str(folder))
        if settings is None:
            about = labels_about(place) or {"corpus": place.resolve().name, "format": ""}
            corpus = {"name": about["corpus"], "format": about["format"]}
            ways = frame.select("measure", "version").unique(maintain_order=True).rows()
            measure, version = ways[0] if ways else ("", "")
            solver = {"name": measure, "version": version, "settings": {}}
            protocol = protocol or about.get("protocol", "turns")
            settings = {"corpus": corpus, "protocol": protocol, "solver": solver}
        return cls(frame, {**settings, "protocol": protocol or settings["protocol"]})

    @property
    def measure(self) -> str:
        """How the turns were measured: embedded, hub or judge."""
        return ", ".join(self.frame["measure"].unique(maintain_order=True).to_list())

    @cached_property
    def languages(self) -> tuple[Languages, ...]:
        """What every chat is written in, its encoder, and that encoder's `.grade()` there."""
        return tuple(language for part in self.frames() for language in chat_languages(part))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Chats in other languages than English, with their grades, and chats learned from."""
        return tuple(language_notes(self.languages))

    def caution(self, lines: Sequence[str]) -> None:
        """Adds what only the corpus tells: which chats were learned from."""
        self.cautions = (*self.cautions, *lines)

    @cached_property
    def _speakers(self) -> tuple[SpeakerFacets, ...]:
        return tuple(speaker for part in self.frames() for speaker in speakers(part, self.protocol))

    def facets(self) -> Facets:
        """Eleven facets of every speaker in every chat."""
        return Facets(self._speakers, self.cautions)

    def compare(self, other: Labels) -> ResultTable:
        """Two labellings of the same turns → their agreement; of others → facet by facet.

        Agreement is kappa, quadratic weighted kappa and Pearson per measure. Two corpora are
        compared by chats, each the mean of its speakers: Cliff's delta with its interval and
        Mann-Whitney's p, corrected by Holm; positive means that the first has more.
        """
        if not isinstance(other, Labels):
            raise RealtalkError(
                f"labels and {type(other).__name__} cannot be compared",
                fix="compare two Labels",
            )
        turns = ("chat", "message_ids")
        shared = self.frame.select(turns).join(other.frame.select(turns), on=turns, how="semi")
        cautions = tuple(dict.fromkeys((*self.cautions, *other.cautions)))
        if not shared.height:
            return self._comparison(other, cautions)
        comparison = agreement(self.frame, other.frame)
        rows = [
            {
                "measure": measure.measure,
                "score": name,
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": measure.n,
                "unscored": max(measure.unscored_first, measure.unscored_second),
            }
            for measure in comparison.measures
            for name, estimate in measure.estimates()
        ]
        title = f"agreement: {comparison.first} against {comparison.second}"
        notes = (comparison.coverage, *cautions)
        return ResultTable(title, frame_of(list(rows[0]), rows), notes, comparison.to_json())

    def _comparison(self, other: Labels, cautions: Sequence[str]) -> ResultTable:
        if self.protocol != other.protocol:
            raise RealtalkError(
                f"{self.corpus} was labelled by the protocol '{self.protocol}', "
                f"{other.corpus} by '{other.protocol}'",
                fix="label both by one",
            )
        comparison = compare(self._speakers, other._speakers, (self.corpus, other.corpus))
        rows = [
            {
                "facet": facet.facet,
                "first": facet.first.mean,
                "second": facet.second.mean,
                "delta": facet.delta.value,
                "low": facet.delta.low,
                "high": facet.delta.high,
                "p": facet.p_shift,
                "p_holm": facet.p_shift_holm,
                "n": facet.first.n + facet.second.n,
            }
            for facet in comparison.facets
        ]
        title = f"facets: {self.corpus} (first) beside {other.corpus} (second)"
        findings = (
            f"what holds: {finding.claim} {finding.verdict} {finding.because}"
            for finding in comparison.findings
        )
        notes = (*comparison.doubts, *findings, *cautions)
        return ResultTable(title, frame_of(list(rows[0]), rows), notes, comparison.to_json())

    def figures(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Altair charts by name: emotions and intimacy over time, per chat; also files."""
        from realtalk.describe.figures import save_figures
        from realtalk.ei.figures import draw_timelines

        charts = dict(draw_timelines(self.frame, self._speakers).charts)
        if folder is not None:
            save_figures(charts, Path(folder))
        return charts

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes the folder that `realtalk ei PATH --out` does: a run and speakers.parquet."""
        place = Path(folder)
        store_labels(self.frame, self.settings, place)
        self.save_speakers(place)
        return place

    def save_speakers(self, folder: Path) -> None:
        """Writes speakers.parquet beside labels that are there."""
        write_parquet(folder / SPEAKER_FILE, self.facets().frame)

    def to_json(self) -> dict[str, Any]:
        """The speakers' facets with the settings they were made with."""
        return self.facets().to_json()

    def __len__(self) -> int:
        return sum(part.height for part in self.frames())

    def __repr__(self) -> str:
        chats = counted(self.frame["chat"].n_unique(), "chat")
        turns = counted(self.frame.height, "turn")
        return f"<Labels of {self.corpus}: {turns} in {chats}, by {self.measure}>"

    def _repr_html_(self) -> str:
        missing = {name: self.frame[name].null_count() for name in MEASURES}
        rows = [(name, self.frame.height - count, count) for name, count in missing.items()]
        reasons = (
            f"unscored: {measure} for {counted(count, 'turn')} ({reason})"
            for measure, reason, count in unscored_reasons([self.frame])
        )
        title = f"labels of {self.corpus}, by {self.measure}"
        headings = ("measure", "turns", "unscored")
        return table_html(title, headings, rows, (*self.cautions, *reasons))
