"""Who wrote it: which of four replies did this person write here? A benchmark with chance .25.

    tasks = run_tasks(corpus, [Run.load(Path("tuned"))])         # or as `persona run` chooses
    four = GuessBenchmark(corpus, tasks, simulated={"tuned": texts})
    running.run(four, corpus, make_guesser("classifier"), Path("out"))    → Run
    Run.load(Path("out")).variants[""].overall["accuracy"]   → Estimate(0.44, 0.39, 0.5, …)

Three replies stand beside the real one: a partner's, another speaker's, and one that a simulator
wrote in this very place (without a persona run, a second one of other speakers). What a guesser
may learn is the speaker's chat to learn from; it is shown what was said before the turn and the
four replies, never which is real. One stage and one group per speaker.

A row is one guess: its sample is the turn, its variant who judges, where people do. `took_partner`,
`took_other` and `took_simulated` say whether such a reply was taken for the real one; they are None
where none stood there. Every speaker counts the same.

    found = people_figures(Run.load("sample-guesses").rows)      guesses of people, in the studio
    found.taken[0]       → TakenForReal("the person", "real", chance=0.25, all=Estimate(0.61, …), …)
    found.agreement[0]   → JudgesAgree("all 3", "Krippendorff's alpha", Estimate(0.42, …))
    people_tables(found) → simulators, judges, and how far the judges agree

A share is of the rounds in which the reply stood; a simulator that cannot be told from the person
is picked as often as the person is. Intervals draw whole rounds, which several judges share: they
are about other turns of these people, judged by these judges.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, islice
from typing import Any

import numpy as np
import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.comparing import estimate
from realtalk.evals.run import Run
from realtalk.evals.tables import figure
from realtalk.evals.values import (
    Answer,
    Benchmark,
    Fact,
    Lines,
    Pairs,
    Row,
    Runs,
    Sample,
    Score,
    Stage,
    by_column,
    evenly,
)
from realtalk.files.progress import Progress, silent
from realtalk.metrics.statistics import (
    Array,
    Estimate,
    cohen_kappa,
    grouped_estimates,
    krippendorff_alpha,
    ratio,
)
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
from realtalk.registry import at_least, suggest

GUESSES = "who wrote it"
PEOPLE = "people"  # the solver of a run that the studio keeps
_ORIGINS = {"partner": "a partner's", "other": "another speaker's", "simulated": "simulated"}
_PEOPLE = {"real": "the person", "partner": "a partner", "other": "another speaker"}
_ORDER = ("real", "simulated", "partner", "other")
_MOST_PAIRS = 10  # of judges that are shown one by one
_SHARE = Score("taken", "taken for real", proportion=True)


def _accuracy_strictly(rows: Sequence[Row]) -> Array:
    """What is unscored is wrong."""
    wrong = {"accuracy": 0.0}
    return evenly("accuracy")([row | wrong if row["unscored"] is not None else row for row in rows])


GUESS_SCORES: tuple[Score, ...] = (
    Score(
        "accuracy", "accuracy", parts=evenly("accuracy"), strict=_accuracy_strictly, proportion=True
    ),
    *(
        Score(f"took_{name}", f"took {name}", 0, evenly(f"took_{name}"), proportion=True)
        for name in _ORIGINS
    ),
)
# The columns of a guess beyond those of every run; null is unscored.
GUESS_COLUMNS: Mapping[str, Any] = {
    "chat": str,
    "session": int,
    **dict.fromkeys(("replies", "origins", "writers"), list[str]),
    **dict.fromkeys(("truth", "picked", "writer"), str),
    "chance": float,
    **{score.name: float for score in GUESS_SCORES},
    "judge": str,
    "knows": bool,  # whether a person who judges knows the chat
    "at": str,
}
READING = (
    "Accuracy is how often the real reply is found, with 95 % intervals that draw whole speakers "
    "(of fewer than five their turns); strict: an answer that cannot be read is wrong. Took "
    "partner, other, simulated: how often such a reply is picked instead, where one stands there."
)


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
        at_least(1, **{"the limit": limit})
        self._tasks = {task.speaker: task for task in tasks}
        self._limit = limit
        self._replies = replies_record(1 + len(FOUR), simulated or {}, seed)
        draw = LineupDraw(corpus, simulated=simulated or {}, seed=seed)
        self._lineups: dict[str, list[TurnLineup]] = {}
        for task in tasks:
            lineups = (
                draw.lineup(turn, test=task.test, learn=task.learning.chat.id, wanted=FOUR)
                for turn in task.turns
            )
            self._lineups[task.speaker] = list(islice(filter(None, lineups), limit))
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
            "replies": self._replies,
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
        options = solver["settings"]
        parts = [str(solver["name"])]
        parts += [str(options[name]) for name in ("model", "to") if options.get(name)]
        if options.get("style") is False:
            parts.append("unstyled")
        return " ".join(parts)

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> dict[str, Fact]:  # noqa: ARG003
        """What picking blindly gets right."""
        return {"chance": _chance(rows) if rows else None}

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        """What the replies beside the real one are."""
        counts = Counter(origin for row in run.rows for origin in row["origins"])
        parts = [f"{counts[name]:,} {title}" for name, title in _ORIGINS.items() if counts[name]]
        without = "" if run.settings["replies"]["simulated"] else "; nothing was simulated"
        return [f"replies beside the real one: {', '.join(parts)}{without}"]

    @classmethod
    def tables(cls, runs: Runs) -> dict[str, Lines]:
        """What people took for real, judge by judge, and how far they agree."""
        return {
            f"{name}: {title}": lines
            for name, run in runs.items()
            if by_people(run)
            for title, lines in people_tables(people_figures(run.rows)).items()
        }

    @classmethod
    def details(cls, run: Run) -> dict[str, Any]:
        return {"people": asdict(people_figures(run.rows))} if by_people(run) else {}

    @classmethod
    def comparison_facts(
        cls,
        first: Run,
        second: Run,
        pairs: Pairs,  # noqa: ARG003
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
    for run in (run for several in runs.values() for run in several):
        if run.rows and "answer" not in run.rows[0]:
            raise RealtalkError(
                "holds no texts", where=str(run.folder), fix="name the run that it is a copy of"
            )
    return {
        name: {
            (row["group"], row["sample"]): row["answer"]
            for run in several
            for row in run.rows
            if row["answer"]
        }
        for name, several in runs.items()
    }


def run_tasks(corpus: Corpus, runs: Sequence[Run], speaker: str | None = None) -> list[PersonaTask]:
    """The tasks that persona runs were tested on, or the speaker's, with the turns they have.

    Runs that tested a speaker in different chats cannot stand in one line-up.
    """
    tasks: dict[str, PersonaTask] = {}
    for run in runs:
        rows = {(row["group"], row["sample"]) for row in run.rows}
        for task in stored_tasks(corpus, run.settings, run.facts):
            first = tasks.setdefault(task.speaker, task)
            if first is task:
                turns = tuple(turn for turn in task.turns if (task.speaker, turn.id) in rows)
                tasks[task.speaker] = replace(task, turns=turns)
            elif (first.test.id, first.learning) != (task.test.id, task.learning):
                raise RealtalkError(
                    f"{task.speaker} was tested otherwise in another of the runs",
                    where=str(run.folder),
                    fix="give runs with the same choice of chats and the same contexts",
                )
    shared = [task for task in tasks.values() if task.turns]
    if not shared:
        raise RealtalkError(
            "the persona runs are not of this corpus", fix="name the corpus that they were of"
        )
    if speaker is not None:
        shared = [task for task in shared if task.speaker.casefold() == speaker.casefold()]
        if not shared:
            raise suggest("speaker of the persona runs", speaker, list(tasks))
    return shared


def guess_row(lineup: TurnLineup, place: int | None) -> Row:
    """The columns of a guess; `place` is the reply that was taken for real, if any was."""
    prompt, replies = lineup.turn.prompt, lineup.replies
    row: Row = {
        **dict.fromkeys(("answer", *GUESS_COLUMNS)),
        "chat": prompt.chat,
        "session": prompt.session,
        "replies": [reply.text for reply in replies],
        "origins": [reply.origin for reply in replies],
        "writers": [reply.writer for reply in replies],
        "truth": LETTERS[lineup.place],
        "chance": 1 / len(replies),
    }
    if place is not None:
        picked = replies[place]
        row |= {
            "answer": LETTERS[place],
            "picked": picked.origin,
            "writer": picked.writer,
            "accuracy": float(picked.origin == "real"),
        }
        beside = (name for name in _ORIGINS if name in row["origins"])
        row |= {f"took_{name}": float(picked.origin == name) for name in beside}
    return row


@dataclass(frozen=True, slots=True)
class TakenForReal:
    """How often one writer's replies were picked, where they stood.

    `difference` is that of people who know the chat less that of those who do not.
    """

    writer: str
    origin: str
    chance: float
    all: Estimate
    acquainted: Estimate
    strangers: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """One judge: whether they know the chat, and how often they were right."""

    judge: str
    knows: bool | None
    right: Estimate
    chance: float


@dataclass(frozen=True, slots=True)
class JudgesAgree:
    """How far judges pick the same reply beyond chance."""

    judges: str
    measure: str
    figure: Estimate


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """All that a table of people's guesses shows."""

    taken: tuple[TakenForReal, ...]
    judges: tuple[JudgeRecord, ...]
    agreement: tuple[JudgesAgree, ...]


def people_figures(rows: Sequence[Row]) -> PeopleFigures:
    """The figures of guesses by one or more judges."""
    guesses = [
        {**row, "group": f"{row['group']}\0{row['sample']}", "taken": row["accuracy"]}
        for row in rows
        if row["picked"] is not None
    ]
    by_writer: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for guess in guesses:
        picked = (guess["picked"], _PEOPLE.get(guess["picked"], guess["writer"]))
        pairs = zip(guess["origins"], guess["writers"], strict=True)
        for whose in {(origin, _PEOPLE.get(origin, name)) for origin, name in pairs}:
            by_writer[whose].append({**guess, "taken": float(whose == picked)})
    writers = []
    for origin, writer in sorted(by_writer, key=lambda key: (_ORDER.index(key[0]), key[1])):
        own = by_writer[origin, writer]
        sides = [[row for row in own if row["knows"] is side] for side in (True, False)]
        shares = [_share(own), *map(_share, sides), _difference(*sides)]
        writers.append(TakenForReal(writer, origin, _chance(own), *shares))
    records = [
        JudgeRecord(judge, own[-1]["knows"], _share(own), _chance(own))
        for judge, own in by_column(guesses, "variant").items()
    ]
    return PeopleFigures(tuple(writers), tuple(records), _agreement(guesses))


def _share(rows: Sequence[Row]) -> Estimate:
    return estimate(rows, [_SHARE])[_SHARE.name]


def _chance(rows: Sequence[Row]) -> float:
    return float(np.mean([row["chance"] for row in rows]))


def _difference(first: Sequence[Row], second: Sequence[Row]) -> Estimate:
    """The first share less the second; the same rounds are drawn for both."""
    if not first or not second:
        return Estimate(None, unscored="only one of the two sides judged")
    # Picks and guesses of each side: those of the other side are 0.
    lines = [[row["taken"], 1.0, 0.0, 0.0] for row in first]
    lines += [[0.0, 0.0, row["taken"], 1.0] for row in second]
    rounds = [row["group"] for row in (*first, *second)]
    figures = {"apart": lambda sums: ratio(sums[..., :2]) - ratio(sums[..., 2:])}
    found = grouped_estimates(np.array(lines), rounds, figures, whole=True)["apart"]
    return replace(found, n=len(set(rounds)))


def _agreement(guesses: Sequence[Row]) -> tuple[JudgesAgree, ...]:
    picks = {
        judge: {row["group"]: row["answer"] for row in own}
        for judge, own in by_column(guesses, "variant").items()
    }
    if len(picks) < 2:
        return ()
    rounds = dict.fromkeys(row["group"] for row in guesses)
    units = [[own[round_id] for own in picks.values() if round_id in own] for round_id in rounds]
    alpha = JudgesAgree(f"all {len(picks)}", "Krippendorff's alpha", krippendorff_alpha(units))
    pairs = [
        JudgesAgree(
            f"{first} and {second}",
            "Cohen's kappa",
            cohen_kappa(*(list(map(picks[judge].get, rounds)) for judge in (first, second))),
        )
        for first, second in islice(combinations(picks, 2), _MOST_PAIRS)
    ]
    return (alpha, *pairs)


def people_tables(found: PeopleFigures) -> dict[str, Lines]:
    """What people took for real, judge by judge, and how far they agree.

    Those who know the chat stand beside those who do not, where both judged.
    """
    both = any(writer.difference.value is not None for writer in found.taken)
    sides = ("who know the chat", "who do not", "difference") if both else ()
    knows = {None: "–", True: "yes", False: "no"}
    lines: dict[str, Lines] = {
        "taken for real": (("whose reply", "guesses", "chance", "all judges", *sides), []),
        "judges": (("judge", "knows the chat", "guesses", "right", "chance"), []),
        "agreement between judges": (("judges", "measure", "agreement", "rounds"), []),
    }
    taken, judges, agreement = (rows for _, rows in lines.values())
    for one in found.taken:
        cells = (one.all, one.acquainted, one.strangers, one.difference)[: 4 if both else 1]
        taken.append((one.writer, one.all.n, f"{one.chance:.2f}", *map(_cell, cells)))
    for judge in found.judges:
        right = judge.right
        row = (judge.judge, knows[judge.knows], right.n, figure(right), f"{judge.chance:.2f}")
        judges.append(row)
    for each in found.agreement:
        agreement.append((each.judges, each.measure, _cell(each.figure), each.figure.n))
    return {title: table for title, table in lines.items() if table[1]}


def _cell(found: Estimate) -> str | None:
    return figure(found) or (f"unscored: {found.unscored}" if found.unscored and found.n else None)
