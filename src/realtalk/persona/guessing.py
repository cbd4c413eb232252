"""Who wrote it: which of four replies did this person write here? A benchmark with chance .25.

    tasks = run_tasks(corpus, [load_persona(Path("tuned"))])         # or as `persona run` chooses
    four = GuessBenchmark(corpus, tasks, simulated={"tuned": texts})
    run_guess(corpus, four, make_guesser("classifier"), Path("out")) → GuessRun
    load_guess(Path("out")).summary.variants[""].overall["accuracy"] → Estimate(0.44, 0.39, 0.5, …)

Three replies stand beside the real one: a partner's, another speaker's, and one that a simulator
wrote in this very place (without a persona run, a second one of other speakers). What a guesser
may learn is the speaker's chat to learn from; it is shown what was said before the turn and the
four replies, never which is real. One stage and one group per speaker.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals import comparing, running
from realtalk.evals.comparing import Compared
from realtalk.evals.summaries import Summary, summarise
from realtalk.evals.values import Answer, Row, Sample, Score, Solver, Stage
from realtalk.local.progress import Progress, silent
from realtalk.persona.benchmark import SimulatedRun
from realtalk.persona.guess_rows import GUESS_SCORES, average_chance, guess_columns, guess_row
from realtalk.persona.lineups import (
    FOUR,
    LETTERS,
    LINEUPS_VERSION,
    Lineup,
    LineupDraw,
    SimulatedTexts,
    TurnLineup,
)
from realtalk.persona.turns import stored_tasks, tasks_record
from realtalk.persona.values import PersonaTask
from realtalk.registry import suggest

if TYPE_CHECKING:
    import polars as pl

GUESSES = "who wrote it"
PEOPLE = "people"  # the solver of a run that the studio keeps


class GuessBenchmark:
    """Line-ups of the turns of every task. `limit` takes each speaker's first."""

    name = GUESSES
    version = "1"
    group = "speaker"
    slices = "group"
    scores: tuple[Score, ...] = GUESS_SCORES

    def __init__(
        self,
        corpus: Corpus,
        tasks: Sequence[PersonaTask],
        *,
        simulated: Mapping[str, SimulatedTexts] | None = None,
        seed: int = 0,
        limit: int | None = None,
    ) -> None:
        if limit is not None and limit < 1:
            raise RealtalkError(f"the limit must be 1 or more, not {limit}")
        self._tasks = {task.speaker: task for task in tasks}
        self._simulated = dict(simulated or {})
        self._seed = seed
        self._limit = limit
        draw = LineupDraw(corpus, simulated=self._simulated, seed=seed)
        self._lineups = {
            task.speaker: [
                lineup
                for turn in task.turns
                if (
                    lineup := draw.lineup(
                        turn, test=task.test, learn=task.learning.chat.id, wanted=FOUR
                    )
                )
            ][:limit]
            for task in tasks
        }
        if not any(self._lineups.values()):
            raise RealtalkError(
                "no turn can stand beside three other replies",
                where=corpus.name,
                fix="there must be turns of somebody else than the speaker and their partner",
            )

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        return guess_columns()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            **tasks_record(self._tasks.values()),
            "replies": replies_record(1 + len(FOUR), self._simulated, self._seed),
            "limit": self._limit,
        }

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the line-ups are drawn from it already
        progress: Progress = silent,  # noqa: ARG002
    ) -> Iterator[Stage[Lineup, TurnLineup]]:
        for speaker, task in self._tasks.items():
            samples = [
                Sample(lineup.turn.id, speaker, "", lineup.shown, lineup)
                for lineup in self._lineups[speaker]
            ]
            yield Stage(speaker, samples, lambda task=task: task.learning)  # type: ignore[misc]

    def score(
        self,
        samples: Sequence[Sample[Lineup, TurnLineup]],
        answers: Sequence[Answer[int]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return [
            guess_row(sample.truth, answer.value)
            for sample, answer in zip(samples, answers, strict=True)
        ]

    def target(self, sample: Sample[Lineup, TurnLineup]) -> str:
        return LETTERS[sample.truth.place]

    def about(self, sample: Sample[Lineup, TurnLineup]) -> dict[str, str]:
        return {"chat": sample.shown.prompt.chat}


@dataclass(frozen=True)
class GuessRun(running.RunRecord):
    """A run of guesses, by a solver or by people."""

    @property
    def name(self) -> str:
        return guess_name(self.settings)

    @property
    def by_people(self) -> bool:
        return bool(self.settings["solver"]["name"] == PEOPLE)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the replies beside the real one are."""
        given = self.settings["replies"]
        counts = Counter(origin for row in self.rows for origin in row["origins"])
        parts = [
            f"{counts[name]:,} {title}"
            for name, title in (
                ("partner", "a partner's"),
                ("other", "another speaker's"),
                ("simulated", "simulated"),
            )
            if counts[name]
        ]
        without = "" if given["simulated"] else "; nothing was simulated"
        return (f"replies beside the real one: {', '.join(parts)}{without}",)

    @cached_property
    def summary(self) -> Summary:
        return summarise(
            self.name,
            self.rows,
            GUESS_SCORES,
            slices="group",
            facts=average_chance,
            notes=self.notes,
        )


def guess_name(settings: Mapping[str, Any]) -> str:
    """What a run is called in tables: its guesser, what sets it apart, and its model."""
    solver = settings["solver"]
    given = solver["settings"]
    parts = [str(solver["name"])]
    parts += [str(given[name]) for name in ("model", "to") if given.get(name)]
    if given.get("style") is False:
        parts.append("unstyled")
    return " ".join(parts)


def replies_record(
    count: int, simulated: Mapping[str, SimulatedTexts], seed: int
) -> dict[str, Any]:
    """What a run's line-ups depend on, for its settings; texts are known by their hash."""
    return {
        "version": LINEUPS_VERSION,
        "count": count,
        "seed": seed,
        "simulated": {
            name: hashlib.sha256(orjson.dumps(sorted(texts.items()))).hexdigest()[:16]
            for name, texts in simulated.items()
        },
    }


def simulated_texts(runs: Mapping[str, Sequence[SimulatedRun]]) -> dict[str, SimulatedTexts]:
    """What simulators wrote, by the name of each and by turn."""
    found: dict[str, SimulatedTexts] = {}
    for name, several in runs.items():
        texts: dict[tuple[str, str], str] = {}
        for run in several:
            if run.rows and "answer" not in run.rows[0]:
                raise RealtalkError(
                    "holds no texts", where=str(run.folder), fix="name the run that it is a copy of"
                )
            for row in run.rows:
                if row["answer"]:
                    texts[row["group"], row["sample"]] = row["answer"]
        found[name] = texts
    return found


def run_tasks(
    corpus: Corpus, runs: Sequence[SimulatedRun], speaker: str | None = None
) -> list[PersonaTask]:
    """The tasks that persona runs were tested on, or the speaker's, with the turns they have.

    Runs that tested a speaker in different chats cannot stand in one line-up.
    """
    found: dict[str, PersonaTask] = {}
    for run in runs:
        there = {(row["group"], row["sample"]) for row in run.rows}
        for task in stored_tasks(corpus, run.settings, run.facts):
            known = found.get(task.speaker)
            if known is None:
                turns = tuple(turn for turn in task.turns if (task.speaker, turn.id) in there)
                found[task.speaker] = replace(task, turns=turns)
            elif (known.test.id, known.learning) != (task.test.id, task.learning):
                raise RealtalkError(
                    f"{task.speaker} was tested otherwise in another of the runs",
                    where=str(run.folder),
                    fix="give runs with the same choice of chats and the same contexts",
                )
    if not any(task.turns for task in found.values()):
        raise RealtalkError(
            "the persona runs are not of this corpus", fix="name the corpus that they were of"
        )
    wanted = [
        task
        for task in found.values()
        if task.turns and (speaker is None or task.speaker.casefold() == speaker.casefold())
    ]
    if not wanted:
        raise suggest("speaker of the persona runs", str(speaker), list(found))
    return wanted


def run_guess(
    corpus: Corpus,
    benchmark: GuessBenchmark,
    guesser: Solver[Lineup, int],
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> GuessRun:
    """Guesses and scores what the folder does not have yet; in memory without a folder."""
    made = running.run(benchmark, corpus, guesser, folder, fresh=fresh, progress=progress)
    return GuessRun(**vars(made))


def compare_guesses(
    first: GuessRun,
    second: GuessRun,
    judge: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Compared:
    """Two runs on the same turns; of people's one judge is compared."""
    sides = [_one_side(run, judge) for run in (first, second)]
    return comparing.compare(sides[0], sides[1], GUESS_SCORES[:1], names, what="turn")


def drawn_apart(runs: Sequence[GuessRun]) -> str:
    """A line where runs did not choose between the same replies."""
    if len({orjson.dumps(run.settings["replies"]) for run in runs}) < 2:
        return ""
    return "the replies to choose from differ: other simulators, another seed or another number"


def _one_side(run: GuessRun, judge: str | None) -> list[Row]:
    judges = list(dict.fromkeys(row["variant"] for row in run.rows))
    if judge is not None and judge in judges:
        judges = [judge]
    if len(judges) > 1:
        raise RealtalkError(
            "several people judged", where=run.name, fix=f"name one of: {', '.join(judges)}"
        )
    return [row for row in run.rows if row["variant"] == judges[0]]


def load_guess(folder: Path) -> GuessRun:
    """A run's guesses, of one that was stopped as far as it got."""
    return GuessRun(**vars(running.load(folder, GUESSES, needed=("replies",))))
