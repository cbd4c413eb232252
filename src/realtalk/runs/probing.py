"""Memory probing as a run: a plan and a folder → rows, judgements and figures, resumable.

run_probe(plan, Path("out"))                       → Probed(rows, timings, judgements, …)
judge_run(Path("out"), Judge(asked, wording))      → the same run with a judge's scores
load_probe(Path("out"))                            → what is there
score_answers(corpus, answers, Path("out"))        → answers that came from elsewhere

out/run.json  out/rows.jsonl, .parquet  out/timings.…  out/judgements.…  out/memories.jsonl
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Chat, Corpus, Question
from realtalk.corpora.reading import Progress, silent
from realtalk.errors import RealtalkError
from realtalk.memory.values import Budget, Context
from realtalk.probing.asking import Plan, is_done, probe
from realtalk.probing.budgets import label
from realtalk.probing.judging import JUDGED_KEY, Judge, judgement_schema, refuse_own_judge
from realtalk.probing.rows import (
    KEY,
    Row,
    answer_scores,
    empty_row,
    row_key,
    row_schema,
    timing_schema,
)
from realtalk.probing.scoring import RunScores, score_run
from realtalk.runs.folder import Run, Table

__all__ = [
    "KIND",
    "Probed",
    "content_hash",
    "corpus_record",
    "judge_run",
    "load_probe",
    "read_answers",
    "run_probe",
    "score_answers",
]

KIND = "memory probing"
_MEMORY_KEY = ("chat", "messages")
_NOTHING = Context("", (), 0, 0)


@dataclass(frozen=True)
class Probed:
    """A run as it is on disk."""

    folder: Path
    settings: Mapping[str, Any]
    rows: Sequence[Row]
    timings: Sequence[Row]
    judgements: Sequence[Row]
    memories: Sequence[Row] = ()

    @property
    def scores(self) -> RunScores:
        return score_run(self.rows, self.timings, self.judgements, self.memories)

    @property
    def model(self) -> str | None:
        """The model that answered; None where none did."""
        found = self.settings["reader"]["settings"].get("model")
        return None if found is None else str(found)


def content_hash(corpus: Corpus) -> str:
    """What the rows depend on of a corpus: its chats, events and questions."""
    digest = hashlib.sha256()
    for chat in corpus.chats:
        # Field by field: a chat also carries what was derived from it so far.
        digest.update(orjson.dumps([getattr(chat, each.name) for each in fields(chat)]))
    return digest.hexdigest()[:16]


def corpus_record(corpus: Corpus) -> dict[str, str]:
    """A corpus among a run's settings."""
    return {"name": corpus.name, "format": corpus.format, "sha256": content_hash(corpus)}


def run_probe(
    plan: Plan,
    folder: Path,
    *,
    fresh: bool = False,
    judge: Judge | None = None,
    progress: Progress = silent,
) -> Probed:
    """Asks what the folder has no row of yet. What failed in an earlier run is asked again."""
    settings = {"corpus": corpus_record(plan.corpus), **plan.settings()}
    if judge is not None:
        refuse_own_judge(plan.reader.settings.get("model"), judge.asked.model)
    with Run.open(folder, KIND, settings, fresh=fresh) as run:
        rows = run.table("rows", KEY)
        timings = run.table("timings", KEY)

        def keep(row: Row, timing: Row) -> None:
            # The row last: it is what says that the question is done.
            timings.add(timing)
            rows.add(row)

        def done(key: tuple[Any, ...]) -> bool:
            row = rows.get(key)
            return row is not None and is_done(row)

        memories: list[Table] = []  # only models cost anything: other runs have no such file

        def remembered(row: Row) -> None:
            if not memories:
                memories.append(run.table("memories", _MEMORY_KEY))
            memories[0].add(row)

        probe(plan, keep, done, progress, remembered)
        order = plan.keys()
        rows.finish(order, row_schema())
        timings.finish(order, timing_schema())
    if judge is not None:
        return judge_run(folder, judge, progress)
    return load_probe(folder)


def load_probe(folder: Path) -> Probed:
    """A run's rows in their order; those of one that was stopped, as far as it got."""
    run = Run.load(folder, KIND)
    found = {
        name: _ordered(run, name, key)
        for name, key in (
            *(("rows", KEY), ("timings", KEY)),
            *(("judgements", JUDGED_KEY), ("memories", _MEMORY_KEY)),
        )
    }
    if not found["rows"]:
        raise RealtalkError(
            "the run has no row yet", where=str(folder), fix="start it again: it goes on"
        )
    return Probed(folder, run.settings, **found)


def _ordered(run: Run, name: str, key: Sequence[str]) -> list[Row]:
    """The latest rows, in the order of the table where it is written.

    The table alone would not do: a run that went on and was stopped has later rows.
    """
    import polars as pl

    rows = run.rows(name, key)
    path = run.folder / f"{name}.parquet"
    if not path.is_file():
        return rows
    try:
        known = pl.read_parquet(path, columns=list(key)).rows()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError(
            "not a readable Parquet file", where=str(path), fix="start the run again to mend it"
        ) from error
    place = {each: at for at, each in enumerate(known)}
    return sorted(rows, key=lambda row: place.get(tuple(row[part] for part in key), len(place)))


def judge_run(folder: Path, judge: Judge, progress: Progress = silent) -> Probed:
    """Judges a run's answers without asking for them again; earlier judgements stay."""
    known = load_probe(folder)
    refuse_own_judge(known.model, judge.asked.model)
    if all(row["answer"] is None for row in known.rows):
        raise RealtalkError(
            "the run has no answers to judge", where=str(folder), fix="run it with a reader"
        )
    with Run.load(folder, KIND) as run:
        table = run.table("judgements", JUDGED_KEY)

        def done(key: tuple[Any, ...]) -> bool:
            row = table.get(key)
            return row is not None and row["unscored"] is None

        earlier = [tuple(row[name] for name in JUDGED_KEY) for row in known.judgements]
        judge.judge(known.rows, table.add, done, progress)
        order = dict.fromkeys((*earlier, *judge.keys(known.rows)))
        table.finish(list(order), judgement_schema())
    return load_probe(folder)


def read_answers(path: Path) -> list[Row]:
    """Answers as JSONL: `id` and `answer` a line, and `chat` where ids repeat between chats."""
    found: list[Row] = []
    try:
        # Windows tools put a mark before the first line.
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=str(path)) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = orjson.loads(line)
        except ValueError:
            raise RealtalkError("not JSON", where=where, fix="write one object a line") from None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str | int):
            raise RealtalkError(
                "names no question",
                where=where,
                fix='write {"chat": "…", "id": "Q1", "answer": "…"} as in `probe contexts`',
            )
        if not isinstance(row.get("answer"), str | int | float | None):
            raise RealtalkError("the answer is no text", where=where)
        shown, size = row.get("message_ids"), row.get("tokens")
        if shown is not None and not (
            isinstance(shown, list) and all(isinstance(each, str) for each in shown)
        ):
            raise RealtalkError("message_ids is no list of ids", where=where)
        if size is not None and not (type(size) is int and size >= 0):
            raise RealtalkError("tokens is no count", where=where)
        found.append(row | {"where": where})
    return found


def score_answers(
    corpus: Corpus, answers: Iterable[Row], folder: Path, *, fresh: bool = False
) -> Probed:
    """Rows of answers that came from anywhere; a question without one is unscored."""
    by_chat, by_id = _questions(corpus)
    given: dict[tuple[str, str], Row] = {}
    for row in answers:
        key = _meant(row, by_chat, by_id)
        if key in given:
            raise RealtalkError(
                f"question '{key[1]}' of {key[0]} is answered twice", where=row.get("where")
            )
        given[key] = row
    told = [
        [*key, row.get("answer"), *(row[name] for name in ("message_ids", "tokens") if name in row)]
        for key, row in sorted(given.items())
    ]
    settings = {
        "corpus": corpus_record(corpus),
        "memory": {"name": "elsewhere", "version": "", "settings": {}},
        "reader": {"name": "elsewhere", "version": "", "settings": {}},
        "budgets": [label(Budget())],
        "answers": hashlib.sha256(orjson.dumps(told)).hexdigest()[:16],
    }
    with Run.open(folder, KIND, settings, fresh=fresh) as run:
        table = run.table("rows", KEY)
        for key, (chat, question) in by_chat.items():
            row = _given_row(chat, question, given.get(key))
            if table.get(row_key(chat, question, Budget())) != row:
                table.add(row)
        table.finish([row_key(chat, q, Budget()) for chat, q in by_chat.values()], row_schema())
    return load_probe(folder)


def _meant(
    row: Row,
    by_chat: Mapping[tuple[str, str], Any],
    by_id: Mapping[str, tuple[str, str] | None],
) -> tuple[str, str]:
    """The (chat, id) that an answer is about."""
    name = str(row["id"])
    key = by_id.get(name) if row.get("chat") is None else (str(row["chat"]), name)
    if key is not None and key in by_chat:
        return key
    if row.get("chat") is None and name in by_id:
        raise RealtalkError(
            f"question '{name}' is in several chats",
            where=row.get("where"),
            fix='name the chat too: {"chat": "…"}',
        )
    place = "" if row.get("chat") is None else f" in {row['chat']}"
    raise RealtalkError(
        f"no question '{name}'{place}", where=row.get("where"), fix="check the corpus"
    )


def _questions(
    corpus: Corpus,
) -> tuple[dict[tuple[str, str], tuple[Chat, Question]], dict[str, tuple[str, str] | None]]:
    by_chat = {(chat.id, q.id): (chat, q) for chat in corpus.chats for q in chat.questions}
    if not by_chat:
        raise RealtalkError("this corpus has no questions", where=corpus.name)
    by_id: dict[str, tuple[str, str] | None] = {}
    for key in by_chat:
        by_id[key[1]] = None if key[1] in by_id else key
    return by_chat, by_id


def _given_row(chat: Chat, question: Question, given: Row | None) -> Row:
    row = empty_row(chat, question, Budget(), _NOTHING)
    # What the answer's reader was shown is not known here unless it says so.
    shown = (given or {}).get("message_ids") or ()
    if shown:
        if unknown := [id_ for id_ in shown if id_ not in chat.by_id]:
            raise RealtalkError(
                f"no message '{unknown[0]}' in {chat.id}", where=(given or {}).get("where")
            )
        told = Context("", tuple(shown), (given or {}).get("tokens") or 0, 0)
        row = empty_row(chat, question, Budget(), told)
    else:
        row |= dict.fromkeys(("any@budget", "all@budget", "recall@budget"))
    answer = None if given is None or given.get("answer") is None else str(given["answer"]).strip()
    row |= {"answer": answer, **answer_scores(answer, question.answer, question.category)}
    if answer is None:
        row["unscored"] = "no answer was given"
    elif row["f1"] is None:
        row["unscored"] = "the question has no true answer"
    return row
