"""Stored labels → a run as `realtalk runs` reads one: shares and means, and what is unscored.

    run = Run.load("labels")        what `realtalk ei PATH --out labels` wrote
    run.summary()                   reflective .31, joy .22, empathy 1.4, … each with its interval
    run.failures()                  turns without a label, or without one that was asked for

A sample is a turn, a group its chat, a slice its speaker. Labels have no truth: nothing is wrong,
and of two labellings none is better. They are made in a loop of their own (`labelling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from realtalk.chat import Corpus
from realtalk.ei.label_files import KIND, add_key, read_labels, why_unscored
from realtalk.ei.labels import ANSWERS, LABELS, MEASURED, NOT_ASKED, Label, TurnInput, TurnMeasure
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder
from realtalk.evals.rows import KEY
from realtalk.evals.run import Run
from realtalk.evals.values import COUNTS, Benchmark, Parts, Row, Score, column
from realtalk.metrics.statistics import Array


def _scores(measure: TurnMeasure) -> Iterator[Score]:
    for word in measure.words:
        parts = _share(measure.name, word)
        yield Score(word, word, 0, parts, proportion=True, table=measure.name)
    if not measure.words:
        for name in (measure.name, *measure.parts):
            yield Score(name, name.replace("_", " "), 0, proportion=not measure.is_score)


def _share(measure: str, word: str) -> Parts:
    def parts(rows: Sequence[Row]) -> Array:
        labels = [row[measure] for row in rows]
        return column(word)([{word: None if said is None else said == word} for said in labels])

    return parts


class LabelBenchmark(Benchmark[TurnInput, None, Label]):
    """What a run of labels says; `labelling` makes it."""

    name, group, sample, solver, variant = KIND, "chat", "turn", "labeller", "protocol"
    scores = tuple(score for measure in MEASURED for score in _scores(measure))
    columns = {  # noqa: RUF012  of the class, as of every benchmark
        **dict.fromkeys(("speaker", "language", "measure", "version"), str),
        "message_ids": list[str],
        **{name: LABELS[name].to_python() for name in ANSWERS},
    }
    slices = "speaker"
    failing = ("group", "sample", "speaker", "message_ids")
    reading = "shares of turns, and means of scores; labels have no truth: no figure is better"

    @classmethod
    def rows_in(cls, stored: RunFolder) -> list[Row]:
        assert stored.folder is not None  # it was loaded from one
        protocol, rows = stored.settings["protocol"], list[Row]()
        for label in read_labels(stored.folder).iter_rows(named=True):
            row = add_key(label, protocol)
            rows.append(
                {
                    **{name: row[name] for name in (*KEY, *cls.columns)},
                    **dict.fromkeys(("answer", "untold")),
                    **dict.fromkeys(COUNTS, 0),
                    "unscored": why_unscored(row),
                    "left_out": [
                        f"{entry['measure']}: {entry['reason']}"
                        for entry in row["unscored"]
                        if entry["reason"] != NOT_ASKED
                    ],
                }
            )
        return rows

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:  # noqa: ARG003
        return row["unscored"] or ", ".join(row["left_out"])

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        return language_notes(chat_languages(run.frame.rename({"group": "chat"})))

    @classmethod
    def headline(cls, run: Run) -> str:  # noqa: ARG003
        return ""

    @classmethod
    def refuse(cls, first: Run, second: Run) -> None:  # noqa: ARG003
        raise RealtalkError("labels have no truth to be better by", fix="compare their folders")

    @classmethod
    def evidence(cls, row: Row, corpus: Corpus | None) -> list[str]:
        return [
            f"{message.id} {message.speaker}: {message.text}"
            for chat in (corpus.chats if corpus else ())
            for message in chat.messages
            if chat.id == row["group"] and message.id in row["message_ids"]
        ]
