"""A corpus → labels of every turn → eleven facets of every speaker; and two labellings compared.

labels = label("sample")
labels.frame                 one row per turn: reflective, grounding, sentiment, emotion, …
labels.facets()              one row per chat and speaker, each facet with its interval
labels.compare(label("sample-simulated"))   two corpora, facet by facet
labels.compare(label("sample", "hub"))      two labellings of the same turns: agreement
labels.cautions              what has to be said beside every figure made from them
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.notebook import counted, table_html, table_text
from realtalk.surface.choices import ASKED, make_labeller
from realtalk.surface.sources import Readable, as_corpus
from realtalk.surface.tables import ResultTable, frame_of

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.ei.values import SpeakerFacets

_SPEAKERS = 4  # shown side by side

__all__ = ["Facets", "Labels", "label", "learned_lines"]


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
        from realtalk.ei.values import FACETS, interval_text

        several = len({who.chat for who in self.speakers}) > 1
        shown = self.speakers[:_SPEAKERS]
        names = [f"{who.speaker}, {who.chat}" if several else who.speaker for who in shown]
        rows = [
            [
                f"{facet.title}{' (1e-3)' if facet.scale == 1000 else ''}",
                *(interval_text(facet, who[facet.name]) for who in shown),
            ]
            for facet in FACETS.values()
        ]
        return ["facet", *names], rows


class Labels:
    """Labels of every turn of a corpus; what could not be made is null with its reason."""

    def __init__(
        self,
        frame: pl.DataFrame,
        corpus: str,
        format: str,
        protocol: str = "turns",
        learned: Sequence[str] = (),
    ) -> None:
        self.frame = frame
        self.corpus = corpus
        self.format = format
        self.protocol = protocol
        self._learned = tuple(learned)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Labels:
        """Labels that `realtalk ei PATH --out`, `label(out=…)` or `save` wrote."""
        from realtalk.ei.label_files import labels_about, read_labels

        place = Path(folder)
        frame, about = read_labels(place), labels_about(place)
        if about is None:
            return cls(frame, place.resolve().name, "")
        return cls(frame, about.corpus, about.format, about.protocol)

    @property
    def measure(self) -> str:
        """How the turns were measured: embedded, hub or judge."""
        return ", ".join(self.frame["measure"].unique(maintain_order=True).to_list())

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Chats in another language than the labels are for, and chats that were learned from."""
        from realtalk.ei.languages import chat_languages, language_notes

        return (*language_notes(chat_languages(self.frame)), *self._learned)

    @cached_property
    def _speakers(self) -> tuple[SpeakerFacets, ...]:
        from realtalk.ei.speakers import speakers

        return speakers(self.frame, self.protocol)

    def facets(self) -> Facets:
        """Eleven facets of every speaker in every chat."""
        return Facets(self._speakers, self.cautions)

    def compare(self, other: Labels) -> ResultTable:
        """Two labellings of the same turns → their agreement; of others → facet by facet.

        Agreement is kappa, quadratic weighted kappa and Pearson per measure. Two corpora are
        compared by Cliff's delta with its interval and Mann-Whitney's p, corrected by Holm;
        positive means that the first has more.
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
        notes = [
            f"{found.turns:,} turns are in both, {found.only_first:,} in the first only, "
            f"{found.only_second:,} in the second only"
        ]
        title = f"agreement: {found.first} against {found.second}"
        return ResultTable(
            title,
            frame_of(columns, rows),
            (*notes, *_both(self, other)),
            found.to_json(),
        )

    def _comparison(self, other: Labels) -> ResultTable:
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
        return ResultTable(
            f"facets: {self.corpus} (first) beside {other.corpus} (second)",
            frame_of(columns, rows),
            _both(self, other),
            found.to_json(),
        )

    def figures(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Altair charts by name: emotions and intimacy over time, per chat; also files."""
        from realtalk.ei.timelines import draw_timelines
        from realtalk.stats.figures import save_figures

        charts = dict(draw_timelines(self.frame, self._speakers).charts)
        if folder is not None:
            save_figures(charts, Path(folder))
        return charts

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes labels.parquet and speakers.parquet, as `realtalk ei PATH --out` does."""
        from realtalk.ei.label_files import refuse_other_labels, write_labels
        from realtalk.ei.values import speakers_frame
        from realtalk.local.writing import write_parquet

        place = Path(folder)
        ways = self.frame.select("measure", "version").unique().rows()
        sizes = self.frame["message_ids"].list.len().to_list()
        for measure, version in ways[:1]:
            turns = list(zip(self.frame["chat"].to_list(), sizes, strict=True))
            refuse_other_labels(place, measure, version, turns)
        write_labels(self.frame, place, Corpus(self.corpus, self.format), self.protocol)
        write_parquet(place / "speakers.parquet", speakers_frame(self._speakers))
        return place

    def to_json(self) -> dict[str, Any]:
        """The speakers' facets with the settings they were made with."""
        return self.facets().to_json()

    def __len__(self) -> int:
        return self.frame.height

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


def label(
    corpus: Readable,
    measure: str = "embedded",
    model: str | Sequence[str] | None = None,
    *,
    protocol: str = "turns",
    prompts: str | PathLike[str] | None = None,
    ask: str = ASKED,
    base_url: str | None = None,
    connections: int = 10,
    out: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> Labels:
    """Labels every turn: reflective, grounding, sentiment, emotion, intimacy, empathy.

    `measure` is "embedded" (the encoder in this package; nothing leaves the machine), "hub"
    (classifiers run here; `model` may name others as measure=name) or "judge" (the language model
    that `model` names is sent the chat, and asked what `ask` lists with our rubrics or those in
    the folder `prompts`). `protocol` is "turns", "paper" or "released".
    """
    from realtalk.ei.labels import label_frame, turn_inputs
    from realtalk.ei.protocols import rules_of

    rules = rules_of(protocol)
    models = [model] if isinstance(model, str) else list(model or ())
    place = None if prompts is None else Path(prompts)
    labeller = make_labeller(measure, models, place, ask, connections, base_url)
    chats = as_corpus(corpus)
    inputs = turn_inputs(chats, rules.joined)
    if out is not None:
        from realtalk.ei.label_files import refuse_other_labels

        turns = [(given.chat, len(given.ids)) for given in inputs]
        refuse_other_labels(Path(out), labeller.name, labeller.version, turns)
    answers = labeller.label(inputs, progress)
    frame = label_frame(inputs, answers, labeller.name, labeller.version)
    learned = learned_lines(chats) if measure == "embedded" else ()
    made = Labels(frame, chats.name, chats.format, protocol, learned)
    if out is not None:
        made.save(out)
    return made


def learned_lines(corpus: Corpus) -> tuple[str, ...]:
    """Which chats the shipped encoder learned from: its labels of others are worse."""
    from realtalk.encoders.learned import Learned

    known = Learned.of("ei")
    named = {
        chat.id: known.chat(message.text for message in chat.messages) for chat in corpus.chats
    }
    return tuple(
        f"{chat}: in-sample, the encoder learned from {name}; expect less on other chats"
        for chat, name in named.items()
        if name is not None
    )
