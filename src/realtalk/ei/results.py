"""A corpus → labels of every turn → eleven facets of every speaker; and two labellings compared.

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
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.evals.tables import ResultTable, frame_of
from realtalk.files.progress import Progress, silent
from realtalk.notebook import counted, table_html, table_text

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.ei.labels import Labeller
    from realtalk.ei.languages import Languages
    from realtalk.ei.values import SpeakerFacets

_SPEAKERS = 4  # shown side by side


class Facets:
    """Eleven facets of every speaker in every chat, each with its 95 % interval."""

    def __init__(self, speakers: Sequence[SpeakerFacets], cautions: Sequence[str] = ()) -> None:
        self.speakers = tuple(speakers)
        self.cautions = tuple(cautions)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per chat and speaker: `empathy`, `empathy_low`, `empathy_high`, …"""
        from realtalk.ei.values import speakers_frame

        return speakers_frame(self.speakers)

    def to_json(self) -> dict[str, Any]:
        """Everything about the speakers, with the settings it was made with."""
        from realtalk.ei.values import speakers_json

        return speakers_json(self.speakers) | {"cautions": list(self.cautions)}

    def __len__(self) -> int:
        return len(self.speakers)

    def __repr__(self) -> str:
        headings, rows = self._grid()
        return table_text("facets of speakers", headings, rows, self._notes())

    def _repr_html_(self) -> str:
        headings, rows = self._grid()
        return table_html("facets of speakers", headings, rows, self._notes())

    def _notes(self) -> tuple[str, ...]:
        left = len(self.speakers) - _SPEAKERS
        more = (f"… and {counted(left, 'speaker')} more in .frame",) if left > 0 else ()
        return (*more, *self.cautions)

    def _grid(self) -> tuple[list[str], list[list[Any]]]:
        """One row per facet and one column per speaker: few speakers, eleven facets."""
        from realtalk.ei.values import FACETS, facet_text

        several = len({who.chat for who in self.speakers}) > 1
        shown = self.speakers[:_SPEAKERS]
        names = [f"{who.speaker}, {who.chat}" if several else who.speaker for who in shown]
        rows = [
            [
                facet.heading,
                *(facet_text(facet, who) for who in shown),
            ]
            for facet in FACETS.values()
        ]
        if any(who.is_graded for who in shown):
            rows.append(["Language, grade", *(who.grade_text for who in shown)])
        return ["facet", *names], rows


class Labels:
    """Labels of every turn of a corpus; what could not be made is null with its reason."""

    def __init__(
        self,
        labels: pl.DataFrame | Path,
        corpus: str,
        format: str,
        protocol: str = "turns",
        cautions: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._labels = labels  # or the folder of a finished run, which is read when it is needed
        self.corpus = corpus
        self.format = format
        self.protocol = protocol
        self._cautions = cautions
        self._settings = settings

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per turn."""
        from realtalk.ei.label_files import read_labels

        return read_labels(self._labels) if isinstance(self._labels, Path) else self._labels

    def frames(self) -> Iterator[pl.DataFrame]:
        """The same some whole chats at a time; of a run by an engine, not more is held."""
        from realtalk.ei.label_files import chat_frames

        if isinstance(self._labels, Path) and "frame" not in self.__dict__:
            yield from chat_frames(self._labels)
        else:
            yield self.frame

    @classmethod
    def load(cls, folder: str | PathLike[str], protocol: str | None = None) -> Labels:
        """Labels that `realtalk ei PATH --out`, `label(out=…)` or `save` wrote.

        `protocol` reads them by another one than theirs, where their turns allow it.
        """
        from realtalk.ei.label_files import labels_about, read_labels, refuse_other_units
        from realtalk.ei.labelling import stored_settings

        place = Path(folder)
        frame, about = read_labels(place), labels_about(place)
        if protocol is not None:
            refuse_other_units(frame, protocol, str(folder))
        if about is None:
            return cls(frame, place.resolve().name, "", protocol or "turns")
        used = protocol or about.protocol
        return cls(frame, about.corpus, about.format, used, settings=stored_settings(place))

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the labels depend on: corpus, protocol, and who labelled."""
        from realtalk.ei.labelling import label_settings

        if self._settings is not None:
            return {**self._settings, "protocol": self.protocol}
        corpus = {"name": self.corpus, "format": self.format}
        ways = self.frame.select("measure", "version").unique(maintain_order=True).rows()
        measure, version = ways[0] if ways else ("", "")
        return label_settings(corpus, self.protocol, measure, version)

    @property
    def measure(self) -> str:
        """How the turns were measured: embedded, hub or judge."""
        return ", ".join(self.frame["measure"].unique(maintain_order=True).to_list())

    @cached_property
    def languages(self) -> tuple[Languages, ...]:
        """What every chat is written in, its encoder, and that encoder's `.grade()` there."""
        from realtalk.ei.languages import chat_languages

        return tuple(each for part in self.frames() for each in chat_languages(part))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Chats in other languages than English, with their grades, and chats learned from."""
        from realtalk.ei.languages import language_notes

        if self._cautions is not None:
            return tuple(self._cautions)
        return tuple(language_notes(self.languages))

    def caution(self, lines: Sequence[str]) -> None:
        """Adds what only the corpus tells: which chats were learned from."""
        self.cautions = (*self.cautions, *lines)

    @cached_property
    def _speakers(self) -> tuple[SpeakerFacets, ...]:
        from realtalk.ei.speakers import speakers

        return tuple(each for part in self.frames() for each in speakers(part, self.protocol))

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
        return self._agreement(other) if shared.height else self._comparison(other)

    def _agreement(self, other: Labels) -> ResultTable:
        from realtalk.ei.agreement import agreement

        found = agreement(self.frame, other.frame)
        rows = [
            {
                "measure": each.measure,
                "score": name,
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": each.n,
                "unscored": max(each.unscored_first, each.unscored_second),
            }
            for each in found.measures
            for name, estimate in each.estimates()
        ]
        columns = ("measure", "score", "estimate", "low", "high", "n", "unscored")
        title = f"agreement: {found.first} against {found.second}"
        notes = (found.coverage, *_both(self, other))
        return ResultTable(title, frame_of(columns, rows), notes, found.to_json())

    def _comparison(self, other: Labels) -> ResultTable:
        from realtalk.ei import finding_rows
        from realtalk.ei.comparison import compare

        found = compare(self._speakers, other._speakers, (self.corpus, other.corpus))
        rows: list[Mapping[str, Any]] = [
            {
                "facet": each.facet,
                "first": each.first.mean,
                "second": each.second.mean,
                "delta": each.delta.value,
                "low": each.delta.low,
                "high": each.delta.high,
                "p": each.p_shift,
                "p_holm": each.p_shift_holm,
                "n": each.first.n + each.second.n,
            }
            for each in found.facets
        ]
        columns = ("facet", "first", "second", "delta", "low", "high", "p", "p_holm", "n")
        title = f"facets: {self.corpus} (first) beside {other.corpus} (second)"
        held = [" ".join(str(cell) for cell in row if cell) for row in finding_rows(found)[1]]
        notes = (*found.doubts, *(f"what holds: {line}" for line in held), *_both(self, other))
        return ResultTable(title, frame_of(columns, rows), notes, found.to_json())

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
        from realtalk.ei.labelling import store_labels

        place = Path(folder)
        store_labels(self.frame, self.settings, place)
        self.save_speakers(place)
        return place

    def save_speakers(self, folder: Path) -> None:
        """Writes speakers.parquet beside labels that are there."""
        from realtalk.ei.label_files import SPEAKER_FILE
        from realtalk.files.writing import write_parquet

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
        from realtalk.ei.label_files import unscored_reasons
        from realtalk.ei.labels import MEASURES

        total = self.frame.height
        scored = {name: total - self.frame[name].null_count() for name in MEASURES}
        reasons = [
            f"unscored: {measure} for {counted(count, 'turn')} ({reason})"
            for measure, reason, count in unscored_reasons(self.frame)
        ]
        rows = [(name, count, total - count) for name, count in scored.items()]
        return table_html(
            f"labels of {self.corpus}, by {self.measure}",
            ("measure", "turns", "unscored"),
            rows,
            (*self.cautions, *reasons),
        )


def _both(first: Labels, second: Labels) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first.cautions, *second.cautions)))


def label_by(
    labeller: Labeller,
    corpus: Corpus,
    protocol: str = "turns",
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Labels:
    """The same by a labeller that is made already."""
    from realtalk.ei.by_engine import WORK
    from realtalk.ei.labelling import label_cautions, labels_for

    run = labels_for(corpus, labeller, protocol=protocol, out=out, fresh=fresh, progress=progress)
    cautions = label_cautions(run.frame, corpus)
    labels = Labels(run.frame, corpus.name, corpus.format, protocol, cautions, run.settings)
    if out is not None:
        labels.save_speakers(out)
        rmtree(out / WORK, ignore_errors=True)  # of a run by an engine that was stopped
    return labels
