"""Memory probing as a benchmark: one group per chat, one sample per question and budget.

    run_probe(plan, Path("out"))    → Run
    run_probe(plan)                 → the same, and nothing is written
    Run.load(Path("out"))           → what is there
    probe_and_judge(plan, judge=judge)
    judge_run(probed, judge)        → the run with a judge's verdicts; the reader is not asked
    rescore_run(Path("out"))        → (the run by the present formulas, what changed)

out/run.json  out/rows.jsonl, .parquet  out/timings.…  out/preparations.…: what memories took
out/judgements.…: what a judge said of the answers
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from realtalk.chat import Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.comparing import match_rows
from realtalk.evals.folder import RunFolder, stored_settings
from realtalk.evals.run import Run
from realtalk.evals.running import RescoringReport, store_rescored
from realtalk.evals.values import (
    COUNTS,
    JUDGED_KEY,
    KEY,
    Answer,
    Benchmark,
    Fact,
    Reference,
    Row,
    RowKey,
    Runs,
    Sample,
    Score,
    Stage,
    row_key,
    schema_of,
)
from realtalk.files.progress import Progress, silent
from realtalk.formats.audit import Audit, question_key
from realtalk.formats.questions import is_by_session
from realtalk.memory.asking import Plan
from realtalk.memory.golds import (
    JUDGEMENT,
    LMEB,
    PUBLISHED,
    TABLE_3,
    Gold,
    InSample,
    Judge,
    are_published,
    current_judgements,
    in_sample,
    judgement_key,
    learned_lines,
    learning_parts,
    names_in,
    reference_answer,
)
from realtalk.memory.pictures import draw_sweep
from realtalk.memory.remembering import NO_CONTEXT, WORDING_VERSION
from realtalk.memory.rows import (
    AUDIT_COLUMNS,
    AUDITED_SCORES,
    BUDGET_SCORES,
    COLUMNS,
    RANK_SCORES,
    RIGHT,
    SCORES,
    SCORING_VERSION,
    WHO_COLUMNS,
    People,
    audit_columns,
    audited_columns,
    category_of,
    rescored_columns,
    row_columns,
    session_names,
)
from realtalk.memory.values import RecalledAnswer, ShownQuestion, label, parse_budgets
from realtalk.metrics.answers import SWAPPED

KIND = "memory probing"
READING = (
    "An answer is wrong where its date-aware F1 is below one half and it equals no accepted "
    "answer. In brackets 95 % intervals; whole chats are drawn where there are enough of them."
)
_RANKING = "ranking"
_SESSION = re.compile(r"D\d+")


class MemoryBenchmark(Benchmark[ShownQuestion, Question, RecalledAnswer]):
    """The questions of a plan."""

    name = KIND
    version = SCORING_VERSION
    group = "chat"
    sample = "question"
    solver = "memory"
    variant = "budget"
    slices = "category"
    scores = SCORES
    columns = COLUMNS
    later = tuple(WHO_COLUMNS)
    title = "Memory"
    lead = "Evidence is scored without any model: was what the answer needs in the context?"
    price = "context tokens"
    reading = READING
    failing = (
        *("group", "sample", "variant", "category", "question", "gold", "answer", "unscored"),
        *("verdict", "audit_answer", "audit_why", "date_f1", "f1", "recall@budget", "evidence"),
    )

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._chats = {chat.id: chat for chat in plan.corpus.chats}
        self._people = {chat.id: People(chat) for chat in plan.corpus.chats}
        memory = plan.memory
        self._in_sample = InSample(learning_parts(memory.name, memory.settings))

    @property
    def settings(self) -> dict[str, Any]:
        plan = self._plan
        golds = {} if plan.golds.name == PUBLISHED else {"golds": plan.golds.name}
        return {
            "budgets": [label(budget) for budget in plan.budgets],
            "categories": list(plan.categories) if plan.categories else None,
            "limit": plan.limit,
            "scoring": SCORING_VERSION,
            **golds,
        }

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the plan chose from it already
        progress: Progress = silent,  # noqa: ARG002
    ) -> Iterator[Stage[ShownQuestion, Question]]:
        return self._plan.stages()

    def score(
        self,
        samples: Sequence[Sample[ShownQuestion, Question]],
        answers: Sequence[Answer[RecalledAnswer]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return [self._row(sample, answer) for sample, answer in zip(samples, answers, strict=True)]

    def _row(self, sample: Sample[ShownQuestion, Question], answer: Answer[RecalledAnswer]) -> Row:
        chat, question = self._chats[sample.group], sample.truth
        recalled = answer.value or RecalledAnswer(NO_CONTEXT)
        gold = self._gold(sample)
        audited = self._plan.audit_of(chat).get(question.id)
        beside = () if audited is None else (audited.answer, *audited.accept)
        texts = (question.text, gold.answer or "", recalled.text or "", *gold.accept, *beside)
        return row_columns(
            question,
            recalled,
            answer.unscored,
            gold,
            audited,
            learned=self._in_sample.of(chat, question),
            names=names_in(chat, *texts),
            sessions=session_names(chat) if is_by_session(question) else None,
            people=self._people[chat.id],
        )

    def target(self, sample: Sample[ShownQuestion, Question]) -> str:
        gold = self._gold(sample)
        return reference_answer(gold.answer, gold.accept, category_of(sample.truth))

    def about(self, sample: Sample[ShownQuestion, Question]) -> dict[str, str]:
        left_out = self._gold(sample).left_out
        return {
            "question": sample.truth.text,
            "category": category_of(sample.truth),
            **({"left_out": left_out} if left_out else {}),
        }

    def _gold(self, sample: Sample[ShownQuestion, Question]) -> Gold:
        return self._plan.gold(self._chats[sample.group], sample.truth)

    @classmethod
    def check(cls, run: Run) -> Run:
        """With the judgements that are of the answers it has now."""
        parts = run.settings["solver"].get("settings")
        for name in ("memory", "reader"):
            part = parts.get(name) if isinstance(parts, Mapping) else None
            if not isinstance(part, Mapping) or not isinstance(part.get("name"), str):
                raise RealtalkError(f"its settings lack '{name}'", where=run.place)
        return replace(run, judgements=current_judgements(run.judgements, run.rows))

    @classmethod
    def name_of(cls, settings: Mapping[str, Any]) -> str:
        parts = settings["solver"]["settings"]
        reader = parts["reader"]
        who = (reader.get("settings") or {}).get("model") or reader["name"]
        golds = settings.get("golds", PUBLISHED)
        what = "questions" if golds.startswith(SWAPPED) else "golds"
        beside = "" if golds == PUBLISHED else f", {golds} {what}"
        return f"{parts['memory']['name']}, read by {who}{beside}"

    @classmethod
    def scored_rows(cls, run: Run) -> list[Row]:
        """With the scores by the audited golds, and a column per judge and wording.

        What a judge said was said of the golds in use.
        """
        by_audit = golds_of(run) == PUBLISHED and any(row["verdict"] for row in run.rows)
        names = dict.fromkeys(map(_judged_as, run.judgements))
        verdicts: dict[tuple[str, ...], Row] = {}
        for judgement in run.judgements:
            verdicts.setdefault(row_key(judgement), {})[_judged_as(judgement)] = judgement["right"]
        return [
            {
                **row,
                **(audited_columns(row) if by_audit else {}),
                **dict.fromkeys(names),
                **verdicts.get(row_key(row), {}),
            }
            for row in run.rows
        ]

    @classmethod
    def scores_of(cls, run: Run) -> tuple[Score, ...]:
        """Those that some question has: nobody may have answered, a memory may rank nothing."""
        judged = dict.fromkeys(map(_judged_as, run.judgements))
        by_judges = [Score(name, name, proportion=True, table="answers") for name in judged]
        return tuple(
            score
            for score in (*SCORES, *AUDITED_SCORES, *by_judges)
            if any(row.get(score.name) is not None for row in run.scored_rows)
        )

    @classmethod
    def variants_of(cls, run: Run) -> dict[str, tuple[Sequence[Row], Sequence[Score]]]:
        """The memory's own order, which no budget changes; then what each budget shows."""
        budgets = super().variants_of(run)
        ranked = [score for score in run.scores if score.name.partition(",")[0] in RANK_SCORES]
        others = [score for score in run.scores if score not in ranked]
        first = next(iter(budgets.values()))[0]
        order = {_RANKING: (first, ranked)} if ranked else {}
        return {**order, **{name: (rows, others) for name, (rows, _) in budgets.items()}}

    @classmethod
    def averages_of(cls, run: Run, scores: Sequence[Score]) -> dict[str, Sequence[Score]]:
        """Of the board's golds also the mean of the categories' means, as boards average."""
        names = (*RANK_SCORES, *BUDGET_SCORES)
        means = [score.evenly("category") for score in scores if score.name in names]
        return {"mean of categories": means} if means and golds_of(run) == LMEB else {}

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> dict[str, Fact]:
        """What a question costs on average, and building the memories in all."""
        if variant == _RANKING:
            return {}
        times = [row for row in run.timings if row["variant"] == variant]
        spent = {name: sum(row[name] + row[f"memory_{name}"] for row in rows) for name in COUNTS}
        building_cost = building(run) or dict.fromkeys(COUNTS, 0)
        return {
            "context tokens": fmean(row["tokens"] for row in rows),
            "context words": fmean(row["words"] for row in rows),
            **{name.replace("_", " "): float(total) or None for name, total in spent.items()},
            "recall ms": fmean(row["recall_ms"] for row in times) if times else None,
            "reader s": fmean(row["reader_seconds"] for row in times) or None if times else None,
            "build calls": float(building_cost["calls"]) or None,
            "build tokens": float(building_cost["tokens_in"] + building_cost["tokens_out"]) or None,
            "build s": building_cost.get("seconds"),
        }

    @classmethod
    def variant_named(cls, text: str) -> str:
        return label(parse_budgets(text)[0])

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:
        """The first that holds: nobody answered, the gold is doubtful, or what was shown."""
        if row["unscored"] is not None:
            return "no answer"
        if cls.severity(row, run) >= (RIGHT if _asks(run) else 1):
            return ""
        # The audit doubts published golds, not its own.
        if golds_of(run) == PUBLISHED and row["verdict"] not in (None, "ok"):
            return f"gold doubtful ({row['verdict']})"
        recall = row["recall@budget"]
        if recall is None:
            return "shows no message"
        if recall <= 0:
            return "not retrieved"
        return "partly retrieved" if recall < 1 else "retrieved and not read"

    @classmethod
    def severity(cls, row: Row, run: Run) -> float:
        """The date-aware F1, or how much evidence was found where nobody was to answer."""
        if row["unscored"] is not None:
            return -1.0
        value = row["date_f1"] if _asks(run) else row["recall@budget"]
        right = value is None or (_asks(run) and row["accepted"] == 1)
        return 1.0 if right else float(value)

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        lines = learned_lines(run.rows, run.settings)
        model = answering(run).get("model")
        if any(judgement["judge"] == model for judgement in run.judgements):
            lines.append(
                f"judged by the model that answered, {model}: models favour their own answers"
            )
        left_out = (building(run) or {}).get("unscored", ())
        unscored = Counter(entry["reason"] for entry in left_out)
        for reason, count in unscored.items():
            lines.append(f"not remembered: {count:,} sessions ({reason})")
        by_session = {
            (r["group"], r["sample"])
            for r in run.rows
            if any(map(_SESSION.fullmatch, r["evidence"]))
        }
        if by_session:
            lines.append(
                f"evidence: of {len(by_session):,} questions it is whole sessions; their scores "
                "count sessions, not messages"
            )
        partly = {(r["group"], r["sample"]) for r in run.rows if r["evidence"] and r["unresolved"]}
        if partly:
            lines.append(
                f"evidence: of {len(partly):,} questions a piece names no message; they are scored "
                "on the rest"
            )
        return lines

    @classmethod
    def references(cls, runs: Runs) -> Iterator[Reference]:
        """Table 3 of the paper, category by category, where these are its chats."""
        if not are_published(row["group"] for run in runs.values() for row in run.rows):
            return
        scores = dict.fromkeys(score.name for run in runs.values() for score in run.scores)
        lenient = next((name for name in scores if name.startswith("lenient")), "lenient")
        for line in TABLE_3:
            for category, f1 in line.f1.items():
                judged = f"{line.accuracy[category]:.3f}"
                cells = {"f1": f"{f1:.3f}", lenient: judged}
                yield Reference(f"Table 3: {line.model}", cells, line.memory, category)

    @classmethod
    def charts(cls, runs: Runs) -> dict[str, Any]:
        return draw_sweep(runs)

    @classmethod
    def headline(cls, run: Run) -> str:
        """Nothing of an oracle, which is told the evidence."""
        return "" if solver_part(run, "memory")["name"] == "oracle" else "recall@budget"

    @classmethod
    def details(cls, run: Run) -> dict[str, Any]:
        return {
            "in_sample": in_sample(run.rows, run.settings),
            "building": building(run),
            "unscored_questions": [
                {**{name: row[name] for name in KEY}, "reason": reason}
                for row in run.rows
                for reason in (row["unscored"], *row["left_out"])
                if reason is not None
            ],
        }

    @classmethod
    def refuse(cls, first: Run, second: Run) -> None:
        if first.settings.get("scoring") != second.settings.get("scoring"):
            older = second if same_formulas(first) else first
            raise RealtalkError(
                "the runs were scored by different formulas",
                where=older.place,
                fix=f"bring it up to date: realtalk runs rescore {older.place}",
            )
        if golds_of(first) != golds_of(second):
            raise RealtalkError(
                f"the runs are scored by different golds ({golds_of(first)} and "
                f"{golds_of(second)})",
                where=second.place,
                fix="compare runs by the same golds",
            )
        for row, match in match_rows(first.rows, second.rows):
            if (row["question"], row["gold"]) != (match["question"], match["gold"]):
                raise RealtalkError(
                    f"the runs ask different questions under '{row['sample']}'",
                    where=row["group"],
                    fix="compare runs over the same corpus",
                )

    @classmethod
    def evidence(cls, row: Row, corpus: Corpus | None) -> list[str]:
        """A line per message of the evidence, the published and the audit's."""
        chats = {chat.id: chat for chat in corpus.chats} if corpus else {}
        messages = chats[row["group"]].by_id if row["group"] in chats else {}
        shown_ids, ranked = set(row["message_ids"]), row["ranked"] or []
        shown_ids |= {id_.partition(":")[0] for id_ in shown_ids}  # evidence may be sessions
        audited = row["audit_evidence"] or []
        lines = []
        for id_ in dict.fromkeys((*row["evidence"], *audited)):
            marks = ["shown" if id_ in shown_ids else "not shown"]
            if id_ in ranked:
                marks.append(f"rank {ranked.index(id_) + 1}")
            if audited and (id_ in audited) != (id_ in row["evidence"]):
                marks.append("by the audit alone" if id_ in audited else "not by the audit")
            message = messages.get(id_)
            text = f" {message.speaker}: {' '.join(message.text.split())}" if message else ""
            lines.append(f"evidence {id_} ({', '.join(marks)}){text}")
        return lines


def building(run: Run) -> dict[str, Any] | None:
    """What building the memories took, which no question's cost holds.

    `unscored` are the sessions that a memory could not take in, each with the reason. `seconds`
    are this machine's. None where building took no model, and nobody measured how long it took.
    """
    seconds = [row["build_seconds"] for row in run.timings if row.get("build_seconds") is not None]
    if not run.preparations and not seconds:
        return None
    return {
        **{name: sum(row[name] for row in run.preparations) for name in COUNTS},
        "unscored": [
            {"chat": row["stage"], **entry} for row in run.preparations for entry in row["unscored"]
        ],
        "seconds": sum(seconds) if seconds else None,
    }


def solver_part(run: Run, name: str) -> Mapping[str, Any]:
    """The record of the memory, or of the reader."""
    part: Mapping[str, Any] = run.settings["solver"]["settings"][name]
    return part


def answering(run: Run) -> Mapping[str, Any]:
    """The settings of the reader; `model` among them where one answered."""
    settings: Mapping[str, Any] = solver_part(run, "reader").get("settings") or {}
    return settings


def golds_of(run: Run) -> str:
    """What the rows are scored by: published, audited, lmeb, or a corrected audit."""
    return str(run.settings.get("golds", PUBLISHED))


def _asks(run: Run) -> bool:
    return bool(solver_part(run, "reader")["name"] != "none")


def _judged_as(judgement: Row) -> str:
    """The column of a judgement: its wording, with the version where prompts were not ours."""
    version, wording = judgement["prompts"], str(judgement["wording"])
    name = wording if version == WORDING_VERSION else f"{wording}, prompts {version}"
    return f"{name} by {judgement['judge']}"


def run_probe(
    plan: Plan,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
    solved: Sequence[Run] = (),
) -> Run:
    """Asks what the folder has no row of yet. What failed in an earlier run is asked again.

    So are all questions about a chat of which a memory could not take in every session: what
    they were shown lacked it. `solved` are runs of single chats, made in this sitting.
    """
    solver = plan.solver
    if folder is not None and not fresh:
        refuse_earlier_formulas(folder)
        rows = folder / "rows.jsonl"  # what failed is asked again, alone
        solver.proven = rows.is_file() and rows.stat().st_size > 0
    return running.run(
        MemoryBenchmark(plan),
        plan.corpus,
        solver,
        folder,
        fresh=fresh,
        progress=progress,
        solved=solved,
    )


def same_formulas(probed: Run) -> bool:
    """Whether a run's answers were scored by the present formulas."""
    return probed.settings.get("scoring") == SCORING_VERSION


def refuse_earlier_formulas(folder: Path) -> None:
    """A run cannot go on by other formulas: half of its rows would mean something else."""
    settings = stored_settings(folder, KIND)
    if settings is not None and settings.get("scoring") != SCORING_VERSION:
        raise RealtalkError(
            "its answers were scored by earlier formulas",
            where=str(folder),
            fix=f"bring it up to date: realtalk runs rescore {folder}",
        )


def probe_and_judge(
    plan: Plan,
    folder: Path | None = None,
    *,
    judge: Judge | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Runs a plan and has its answers judged. A judge who cannot is refused before it costs."""
    if judge is None:
        return run_probe(plan, folder, fresh=fresh, progress=progress)
    judge.refuse_own(plan.reader.settings.get("model"))
    if folder is not None and not fresh and (folder / "run.json").is_file():
        judgements = RunFolder.load(folder, KIND).rows("judgements", JUDGED_KEY)
        judge.refuse_other_server(judgements, str(folder))
    return judge_run(run_probe(plan, folder, fresh=fresh, progress=progress), judge, progress)


def judge_run(probed: Run, judge: Judge, progress: Progress = silent) -> Run:
    """Judges a run's answers without asking for them again; earlier judgements stay."""
    judge.refuse_own(answering(probed).get("model"))
    if all(row["answer"] is None for row in probed.rows):
        raise RealtalkError(
            "the run has no answers to judge", where=probed.place, fix="run it with a reader"
        )
    with (
        RunFolder.open(None, KIND, probed.settings)
        if probed.folder is None
        else RunFolder.load(probed.folder, KIND)
    ) as run:
        table = run.table("judgements", JUDGED_KEY)
        judge.refuse_other_server(table.rows, probed.place)
        current = current_judgements(table.rows, probed.rows)
        keys = {judgement_key(row) for row in current if row["unscored"] is None}
        judge.judge(probed.rows, table.add, keys, progress)
        earlier = map(judgement_key, probed.judgements)
        order = list(dict.fromkeys((*earlier, *judge.tasks(probed.rows))))
        judgements = table.finish(order, schema_of(JUDGEMENT))
    return replace(probed, judgements=current_judgements(judgements, probed.rows))


def rescore_run(folder: Path, audit: Audit | None = None) -> tuple[Run, RescoringReport]:
    """Scores a run's answers by the present formulas; nobody is asked. And what changed.

    The rows hold all that the formulas need, so no corpus is asked for; what was retrieved stays.
    A corrected `audit` takes the place of the one that the run's questions were held against.
    """
    run = Run.load(folder, KIND)
    rows = run.rows if audit is None else _audited_anew(run, audit)
    changes = store_rescored(run, map(_score_anew, rows), COLUMNS, SCORING_VERSION)
    return Run.load(folder, KIND), changes


def _score_anew(row: Row) -> tuple[RowKey, Row]:
    audited = {name: row[name] for name in AUDIT_COLUMNS}
    return row_key(row), audited | rescored_columns(row, row["answer"])


def _audited_anew(probed: Run, audit: Audit) -> list[Row]:
    """The rows with what a corrected audit says of those questions that were audited before."""
    if golds_of(probed) != PUBLISHED:
        raise RealtalkError(
            f"the run is scored by {golds_of(probed)} golds",
            where=probed.place,
            fix="a corrected audit stands beside published golds; probe anew with `golds=FILE`",
        )
    by_key = {
        key: judgement for questions in audit.chats.values() for key, judgement in questions.items()
    }
    changed = []
    for row in probed.rows:
        question = Question(row["sample"], row["question"], row["gold"], row["category"])
        entry = by_key.get(question_key(question))
        # The chat was recognised when the run was made: without that, a question alone is none.
        changed.append(row if row["verdict"] is None else row | audit_columns(entry))
    if not any(row["verdict"] for row in changed):
        raise RealtalkError("the audit is not of this run's chats", where=probed.place)
    return changed
