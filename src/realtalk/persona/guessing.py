"""Who wrote it: which of four replies did this person write here? A benchmark with chance .25.

    tasks = run_tasks(corpus, [Run.load(Path("tuned"))])         # or as `persona run` chooses
    four = GuessBenchmark(corpus, tasks, simulated={"tuned": texts})
    running.run(four, corpus, make_guesser("classifier"), Path("out"))    → Run
    Run.load(Path("out")).variants[""].overall["accuracy"]   → Estimate(0.44, 0.39, 0.5, …)

Three replies stand beside the real one: a partner's, another speaker's, and one that a simulator
wrote in this very place (without a persona run, a second one of other speakers). What a guesser
may learn is the speaker's chat to learn from; it is shown what was said before the turn and the
four replies, never which is real. One stage and one group per speaker.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, Benchmark, Fact, Lines, Row, Sample, Stage
from realtalk.files.progress import Progress, silent
from realtalk.persona.guess_people import people_figures, people_tables
from realtalk.persona.guess_rows import GUESS_COLUMNS, GUESS_SCORES, READING, guess_row
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

GUESSES = "who wrote it"
PEOPLE = "people"  # the solver of a run that the studio keeps
_ORIGINS = {"partner": "a partner's", "other": "another speaker's", "simulated": "simulated"}


class GuessBenchmark(Benchmark[Lineup, TurnLineup, int]):
    """Line-ups of the turns of every task. `limit` takes each speaker's first."""

    name = GUESSES
    group = "speaker"
    sample = "turn"
    solver = "guesser"
    variant = "judge"
    slices = "group"
    scores = GUESS_SCORES
    columns = GUESS_COLUMNS
    texts = ("replies", "judge", "knows", "at")
    title = "Who wrote it"
    lead = (
        "The reply that somebody really wrote is to be picked from several that others, or "
        "simulators, wrote. A simulator that cannot be told from the person is taken for real as "
        "often as the person is."
    )
    reading = READING
    failing = (
        *("group", "chat", "session", "sample", "judge", "replies", "origins", "writers"),
        *("truth", "answer", "unscored"),
    )

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

    @classmethod
    def check(cls, run: Run) -> Run:
        if run.settings.get("replies") is None:
            raise RealtalkError("its settings lack 'replies'", where=run.place)
        return run

    @classmethod
    def name_of(cls, settings: Mapping[str, Any]) -> str:
        """The guesser, what sets it apart, and its model."""
        solver = settings["solver"]
        given = solver["settings"]
        parts = [str(solver["name"])]
        parts += [str(given[name]) for name in ("model", "to") if given.get(name)]
        if given.get("style") is False:
            parts.append("unstyled")
        return " ".join(parts)

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> dict[str, Fact]:  # noqa: ARG003
        """What picking blindly gets right."""
        chances = [row["chance"] for row in rows]
        return {"chance": float(np.mean(chances)) if chances else None}

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        """What the replies beside the real one are."""
        counts = Counter(origin for row in run.rows for origin in row["origins"])
        parts = [f"{counts[name]:,} {title}" for name, title in _ORIGINS.items() if counts[name]]
        without = "" if run.settings["replies"]["simulated"] else "; nothing was simulated"
        return [f"replies beside the real one: {', '.join(parts)}{without}"]

    @classmethod
    def tables(cls, runs: Mapping[str, Run]) -> dict[str, Lines]:
        """What people took for real, judge by judge, and how far they agree."""
        return {
            f"{name}: {title}": lines
            for name, run in runs.items()
            if by_people(run)
            for title, lines in people_tables(people_figures(run.rows)).items()
        }

    @classmethod
    def details(cls, run: Run) -> dict[str, Any]:
        return {"people": people_figures(run.rows).to_json()} if by_people(run) else {}

    @classmethod
    def compared(
        cls,
        first: Run,
        second: Run,
        pairs: Sequence[tuple[Row, Row]],  # noqa: ARG003
    ) -> dict[str, Any]:
        if first.settings["replies"] == second.settings["replies"]:
            return {}
        line = "the replies to choose from differ: other simulators, another seed or another number"
        return {"notes": [line]}


def by_people(run: Run) -> bool:
    """Whether people guessed, in the studio."""
    return bool(run.settings["solver"]["name"] == PEOPLE)


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


def simulated_texts(runs: Mapping[str, Sequence[Run]]) -> dict[str, SimulatedTexts]:
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


def run_tasks(corpus: Corpus, runs: Sequence[Run], speaker: str | None = None) -> list[PersonaTask]:
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
