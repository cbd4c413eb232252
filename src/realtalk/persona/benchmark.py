"""Persona simulation as a benchmark: one stage and one group per speaker, one sample per turn.

    benchmark = PersonaBenchmark(corpus, tasks)
    running.run(benchmark, corpus, simulator, Path("out"))    → Run; without a folder it is not kept
    rescore_persona(Path("out"), corpus)                  → what today's formulas changed
    Run.load(Path("out")).variants[""].overall["empathy"] → Average(1.02, sd=0.11, n=10, …)

out/run.json  out/rows.jsonl, .parquet  out/groups.jsonl, .parquet: what is known of each speaker

A simulator learns from one chat of a speaker and is shown what was said before each of their
turns in another, never the turn itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import is_usable
from realtalk.ei.languages import Languages, language_notes, languages_json, merge_chats
from realtalk.errors import RealtalkError
from realtalk.evals.comparing import average, paired_lines
from realtalk.evals.run import Run
from realtalk.evals.running import RescoringReport, rescore
from realtalk.evals.tables import figure
from realtalk.evals.values import (
    Answer,
    Benchmark,
    Fact,
    Pairs,
    Reference,
    Row,
    Runs,
    Sample,
    Score,
    Stage,
)
from realtalk.files.progress import Progress, silent
from realtalk.metrics.statistics import Estimate, interval_after, pearson
from realtalk.persona.choosing import PUBLISHED_SCORES, TABLE_2, published_choice, published_speaker
from realtalk.persona.scoring import AGREEMENTS, COLUMNS, DIFFERENCES, SCORES, WHOLE, TurnScorer
from realtalk.persona.turns import stored_tasks, tasks_record
from realtalk.persona.values import PersonaTask, PersonaTurn, TurnPrompt
from realtalk.registry import at_least

KIND = "persona simulation"
READING = (
    "mean ± standard deviation over speakers [95 % interval of the mean], of one speaker the mean "
    "over turns [95 % interval]; more is better, but for "
    "intimacy and empathy, which are absolute differences. The paper's lexical is ROUGE (which one "
    "it does not say), its semantic BERTScore: ours is the same formula with another encoder, so "
    "compare our rows with each other there, and our EI labels come from another labeller"
)
_VARIETY = {"distinct_1": "distinct-1", "distinct_2": "distinct-2"} | {
    f"distinct_{n}_truth": f"distinct-{n}, the person" for n in (1, 2)
}
# What scores are measured by, as a run's settings have it.
_MEASURED = {
    "EI labels": "labels",
    "semantic similarity": "semantic",
    "similarity": "similarity",
    "authorship": "authorship",
}
_TINY = 1e-9  # a spread or a change that is only rounding


class PersonaBenchmark(Benchmark[TurnPrompt, PersonaTurn, str]):
    """The turns of every task. `limit` takes each speaker's first."""

    name = KIND
    version = "2"
    group = "speaker"
    sample = "turn"
    solver = "simulator"
    scores = (*SCORES.values(), *WHOLE.values())
    columns = COLUMNS
    texts = ("truth", "answer")
    slices = "group"
    group_facts = ("learn", "test", "consistency")
    title = "Persona"
    lead = (
        "Turns were written in somebody's place and set beside what the person wrote. A good "
        "simulator is taken for the speaker as often as the speaker's own turns are."
    )
    chance = dict.fromkeys((name for name in WHOLE if name.startswith("kappa")), 0.0)
    reading = READING
    joins = True  # an adapter is for one speaker
    failing = (
        *("group", "chat", "session", "sample", "truth", "answer", "unscored"),
        *(*AGREEMENTS, *DIFFERENCES, "semantic"),
    )

    def __init__(
        self,
        corpus: Corpus,
        tasks: Sequence[PersonaTask],
        scorer: TurnScorer | None = None,
        limit: int | None = None,
    ) -> None:
        if not tasks:
            raise RealtalkError("nobody to simulate", where=corpus.name)
        at_least(1, **{"the limit": limit})
        self._tasks = {task.speaker: replace(task, turns=task.turns[:limit]) for task in tasks}
        self._scorer = scorer or TurnScorer(corpus)
        self._limit = limit

    @property
    def settings(self) -> dict[str, Any]:
        return {
            **tasks_record(self._tasks.values()),
            "scoring": self._scorer.settings,
            "limit": self._limit,
        }

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the tasks are made from it already
        progress: Progress = silent,  # noqa: ARG002
    ) -> Iterator[Stage[TurnPrompt, PersonaTurn]]:
        for speaker, task in self._tasks.items():
            samples = [Sample(turn.id, speaker, "", turn.prompt, turn) for turn in task.turns]
            yield Stage(speaker, samples, lambda task=task: task.learning)  # type: ignore[misc]

    def score(
        self,
        samples: Sequence[Sample[TurnPrompt, PersonaTurn]],
        answers: Sequence[Answer[str]],
        progress: Progress = silent,
    ) -> list[Row]:
        turns = [sample.truth for sample in samples]
        return self._scorer.rows(self._tasks[samples[0].group], turns, answers, progress)

    def facts(self, stage: Stage[TurnPrompt, PersonaTurn], rows: Sequence[Row]) -> Row:
        return self._scorer.facts(self._tasks[stage.title], rows)

    def stored_answer(
        self, sample: Sample[TurnPrompt, PersonaTurn], row: Row
    ) -> Answer[str] | None:
        """What was simulated, where the row is of this very turn."""
        if row["truth"] != sample.truth.text:
            return None
        return Answer(row["answer"], row["unscored"] or "")

    def target(self, sample: Sample[TurnPrompt, PersonaTurn]) -> str:
        return sample.truth.text

    def about(self, sample: Sample[TurnPrompt, PersonaTurn]) -> dict[str, str]:
        return {"chat": sample.shown.chat}

    @classmethod
    def check(cls, run: Run) -> Run:
        """Speakers whose turns are all there: only they have their facts."""
        scored = {fact["group"] for fact in run.facts}
        rows = [row for row in run.rows if row["group"] in scored]
        if not rows:
            raise RealtalkError(
                "the run has no scores yet", where=run.place, fix="start it again: it goes on"
            )
        return replace(run, rows=rows)

    @classmethod
    def name_of(cls, settings: Mapping[str, Any]) -> str:
        """The simulator, its model and what it was told of the speaker."""
        simulator = settings["solver"]
        parts = [str(simulator["name"])]
        options = simulator["settings"]
        if options.get("model"):
            parts.append(str(options["model"]))
        if options.get("style"):
            parts.append("styled")
        elif options.get("examples") and "retrieved" not in parts[0].split():
            parts.append("retrieved")
        return " ".join(parts)

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> dict[str, Fact]:  # noqa: ARG003
        """How varied the turns are, and how often real turns are taken for the speaker's."""
        return {
            title: average(fact[name] for fact in run.facts) for name, title in _VARIETY.items()
        }

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:  # noqa: ARG003
        if row["unscored"] is not None:
            return "no turn"
        agreed = _agreement(row)
        return "feels otherwise" if agreed is not None and agreed <= 0.5 else ""

    @classmethod
    def severity(cls, row: Row, run: Run) -> float:  # noqa: ARG003
        if row["unscored"] is not None:
            return -1.0
        return (_agreement(row) or 0.0) + (row["semantic"] or 0.0) / 10

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        return language_notes(languages_of(run))

    @classmethod
    def references(cls, runs: Runs) -> Iterator[Reference]:
        """What the person and their partner really wrote; and the paper's rows."""
        facts = next(iter(runs.values())).facts
        kappas = dict.fromkeys(cls.chance, "0.00")
        ceiling, floor = (
            figure(average(Estimate(**fact[end]).value for fact in facts), 2)
            for end in ("ceiling", "floor")
        )
        best = dict.fromkeys(WHOLE, "0.00") | dict.fromkeys(kappas, "1.00")
        person = {**best, "length_ratio": "1.00", "taken_for": ceiling}
        yield Reference("the person (ceiling)", person, published=False)
        yield Reference("the partner's real turns", {"taken_for": floor}, published=False)
        yield Reference("chance", {**kappas, "taken_for": "0.50"}, published=False)
        if not all(are_published(run) for run in runs.values()):
            return
        printed = {score.published: name for name, score in SCORES.items() if score.published}
        for title, line in TABLE_2.items():
            cells = {
                printed[name]: f"{line.mean[name]:.2f} ± {line.sd[name]:.2f}"
                for name in PUBLISHED_SCORES
            }
            yield Reference(f"Table 2: {title}", cells)
        speakers = dict.fromkeys(fact["group"] for run in runs.values() for fact in run.facts)
        for who in speakers:
            if (row := published_speaker(who)) is None:
                continue
            about = {"learn": "-".join(row.learn), "test": "-".join(row.test)}
            about["consistency"] = f"{row.consistency:.2f}"
            for title, values in (("without", row.without), ("tuned", row.tuned)):
                cells = {printed[name]: f"{values[name]:.2f}" for name in PUBLISHED_SCORES}
                yield Reference(f"Table 8, {title}", {**about, **cells}, part=who)

    @classmethod
    def headline(cls, run: Run) -> str:
        usable = all(is_usable(spoken.grade("emotion")) for spoken in languages_of(run))
        return "kappa_emotion" if usable else ""

    @classmethod
    def details(cls, run: Run) -> dict[str, Any]:
        return {"languages": languages_json(languages_of(run)), "speakers": list(run.facts)}

    @classmethod
    def comparison_facts(cls, first: Run, second: Run, pairs: Pairs) -> dict[str, Any]:
        """For how many speakers the second side is better, and who gains over the six EI scores.

        A gain is in standard deviations of the first side's scores.
        """
        better: dict[str, tuple[int, int]] = {}
        gains: dict[str, list[float]] = {}
        for score in cls.scores:
            changes, spread = _of_speakers(pairs, score) if score.better else ({}, 0.0)
            if not changes:
                continue
            toward = np.array([score.better * change for change in changes.values()])
            better[score.name] = (int((toward > _TINY).sum()), int((toward < -_TINY).sum()))
            if score.family == "EI":
                for who, change in changes.items():
                    gain = score.better * change / spread if spread > _TINY else 0.0
                    gains.setdefault(who, []).append(gain)
        mean_gain = {who: float(np.mean(changes)) for who, changes in gains.items()}
        apart = {fact["group"]: fact["consistency"] for fact in first.facts}
        linked = pearson(list(mean_gain.values()), [apart[who] for who in mean_gain])
        return {
            "better": better,
            "gains": mean_gain,
            "gain_and_consistency": linked,
            "notes": [*_measured_apart(first, second), _gain_line(linked)],
        }


def _agreement(row: Row) -> float | None:
    """The share of the labels of both texts that are the same."""
    agreements = [row[name] for name in AGREEMENTS if row[name] is not None]
    return sum(agreements) / len(agreements) if agreements else None


def languages_of(run: Run) -> tuple[Languages, ...]:
    """Of the tested chats: their EI is labelled by a model that may know English alone."""
    return merge_chats(
        Languages(
            fact["test"],
            fact["measure"],
            {entry["language"]: entry["turns"] for entry in fact["by_language"]},
            fact.get("version", ""),  # runs of before have none
        )
        for fact in run.facts
    )


def are_published(run: Run) -> bool:
    """Whether the paper's tables are about these speakers and chats."""
    return all(
        published_choice(speaker, chats) is not None
        for speaker, chats in run.settings["chats"].items()
    )


def _measured_apart(*runs: Run) -> list[str]:
    """A line for everything that runs were not scored by alike."""
    lines = []
    for title, key in _MEASURED.items():
        ways = {str(run.settings["scoring"].get(key, "the shipped encoder")) for run in runs}
        if len(ways) > 1:
            lines.append(f"{title} is not comparable: by {' and by '.join(sorted(ways))}")
    return lines


def _of_speakers(pairs: Pairs, score: Score) -> tuple[dict[str, float], float]:
    """What changes for each speaker, and how far single turns of the first side spread."""
    assert score.parts is not None
    before, after, groups = paired_lines(pairs, score.parts)
    changes: dict[str, float] = {}
    for who, line in zip(groups, after - before, strict=True):
        changes[who] = changes.get(who, 0.0) + float(line[0])
    spread = float(np.std(before[:, 0] / before[:, 1])) if len(before) else 0.0
    return changes, spread


def _gain_line(r: Estimate) -> str:
    """Whether people who are alike in both chats gain more."""
    if r.value is None:
        return f"gain and persona consistency: not computed ({r.unscored})"
    interval = interval_after(r, "{:+.2f}".format)
    return (
        f"gain over the six EI scores and difference between a speaker's chats: r = "
        f"{r.value:+.2f}{interval}, {r.n} speakers (below zero: the more alike, the more is gained)"
    )


def rescore_persona(
    folder: Path, corpus: Corpus, *, scorer: TurnScorer | None = None, progress: Progress = silent
) -> RescoringReport:
    """Scores a stored run's turns by today's formulas; nobody is simulated again.

    `scorer` is needed where the run was scored by BERTScore.
    """
    record = Run.load(folder, KIND)
    tasks = stored_tasks(corpus, record.settings, record.facts)
    if not tasks:
        raise RealtalkError(
            "none of its chats is in this corpus",
            where=str(folder),
            fix="name the corpus it was of",
        )
    benchmark = PersonaBenchmark(corpus, tasks, scorer, record.settings.get("limit"))
    semantic = record.settings.get("scoring", {}).get("semantic")
    if semantic is not None and "semantic" not in benchmark.settings["scoring"]:
        raise RealtalkError(
            f"its semantic similarity is by {semantic}",
            where=str(folder),
            fix="name the model with `bertscore=`",
        )
    return rescore(record, benchmark, benchmark.stages(corpus), progress)
