"""A corpus of threads → the samples of one task in all settings.

    samples = make_samples(corpus, "sentiment", protocol=CLEAN, limit=1000, seed=0)
    samples.counts.test, samples.counts.weights   → 1000, {"positive": 0.53, "negative": 8.9}
    samples.of("p-conv", "test")[0]               → Case(target, "sentiment", "p-conv", …)

Settings share their targets and differ in what stands beside them: the conversation or none, the
user's history or a stranger's. Solved examples are the same in all four: recent replies of other
people in the same domain, from the train part and before the cutoff; without the conversation
theirs is not shown either. Samples are made when they are asked for, so a setting takes no more
memory than its targets.

What there is to predict in a corpus → tables for people.

count_tables(counts)    → [("what there is to predict", ("what", "count"), rows), …]

Options as people give them → the replies to be predicted, drawn by these rules.

    draw = Draw(task="sentiment", protocol="clean", limit=200)    # refused at once where wrong
    draw.samples(corpus)     → Samples; also of a corpus' tables, with less memory
    draw.record              → {"limit": 200, "train_limit": None, "seed": 0}

The command, Python and Inspect share these decisions.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, overload

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import chats_in
from realtalk.formats.tables import Tables
from realtalk.threads.forest import NO_TIME, Forest
from realtalk.threads.histories import Histories
from realtalk.threads.targets import Chosen, choose, cut_short, key, next_largest
from realtalk.threads.values import (
    CLEAN,
    Case,
    Counts,
    Part,
    Protocol,
    Setting,
    Shown,
    SolvedExample,
    Target,
    Task,
    known_setting,
    known_task,
    protocol,
)

_BLOCK = 256  # samples whose texts are embedded at once
_LOOKED_AT = 500  # replies that are looked at to find examples
_NEAREST = 10  # ancestors of an example that must be strangers


class Samples:
    """Targets of one task, and the samples that each setting makes of them."""

    def __init__(self, forest: Forest, task: Task, rules: Protocol, chosen: Chosen) -> None:
        self.task = task
        self.protocol = rules
        self._forest = forest
        self._chosen = chosen
        self._rows: list[int] = chosen.rows.tolist()
        self._histories = Histories(forest, rules, task)
        self.targets: tuple[Target, ...] = tuple(
            self._target(row, "test" if test else "train")
            for row, test in zip(self._rows, chosen.test.tolist(), strict=True)
        )

    def part(self, part: Part) -> tuple[Target, ...]:
        """The targets of one part, in order."""
        return tuple(target for target in self.targets if target.part == part)

    def of(
        self, setting: str, part: Part | None = None, progress: Progress = silent
    ) -> SettingSamples:
        """A setting's samples in the order of `targets`; each is made when it is asked for."""
        places = [
            at for at, target in enumerate(self.targets) if part is None or target.part == part
        ]
        return SettingSamples(self, known_setting(setting), places, progress)

    @cached_property
    def counts(self) -> Counts:
        """What was there, what was taken, and why the rest was not."""
        forest, chosen = self._forest, self._chosen
        test = self.part("test")
        train = [target.score for target in self.part("train") if target.score is not None]
        labels = Counter("positive" if score > 0 else "negative" for score in train)
        without = sum(
            not self._histories.number(row, talk=True)
            for row, tested in zip(self._rows, chosen.test.tolist(), strict=True)
            if tested
        )
        shares = {
            "train": _positive(self.part("train")),
            "test": _positive(test),
            "all": _positive(self.targets),
        }
        return Counts(
            threads=len(forest.threads),
            comments=int((forest.parent >= 0).sum()),
            users=len({target.user for target in self.targets}),
            train=len(self.targets) - len(test),
            test=len(test),
            positive={part: share for part, share in shares.items() if share is not None},
            weights={
                label: len(train) / (2 * labels[label])
                for label in ("positive", "negative")
                if labels[label]
            },
            domains=dict(sorted(Counter(target.domain for target in test).items())),
            without_history=without,
            skipped=chosen.skipped,
            left_out=forest.left_out,
        )

    def make(self, place: int, setting: Setting, ready: Callable[[], None] = lambda: None) -> Case:
        """The sample of the target at a place. `ready` is called when its history is chosen."""
        row, target = self._rows[place], self.targets[place]
        talk, own = setting.endswith("-conv"), setting.startswith("p-")
        rules = self.protocol
        hint = ""
        if "sign-shown" in rules.leaks and self.task == "impact" and target.score:
            hint = "positive" if target.score > 0 else "negative"
        return Case(
            target,
            self.task,
            setting,
            None if self.task == "next_text" else target.text,
            self._conversation(row) if talk else self._in_any_case(row),
            self._histories.shown(row, own=own, talk=talk, ready=ready),
            self._examples(row, own, talk),
            rules.leaks,
            hint,
        )

    def prepare(self, places: Sequence[int], setting: Setting, progress: Progress = silent) -> None:
        """Work that many samples share; `make` is right without it, but may be slower."""
        rows = [self._rows[place] for place in places]
        strangers, talk = setting.startswith("np"), setting.endswith("-conv")
        self._histories.prepare(rows, strangers, talk, progress)

    def near_texts(self, setting: Setting, part: Part) -> list[str]:
        """The texts that are compared to choose history by nearness, but for strangers'."""
        chosen = zip(self._rows, self.targets, strict=True)
        rows = [row for row, target in chosen if target.part == part]
        talk = setting.endswith("-conv") or setting.startswith("np")
        return self._histories.near_texts(rows, talk)

    def _target(self, row: int, part: Part) -> Target:
        forest = self._forest
        thread, stamp = forest.plain.thread[row], forest.stamps[row]
        assert stamp is not None  # a reply without a time is not eligible
        return Target(
            key(forest, row),
            forest.threads[thread],
            forest.ids[row],
            forest.name(row),
            forest.domains[thread],
            stamp,
            forest.texts[row],
            _known(forest.score[row]),
            int(forest.depth[row]),
            part,
            _known(forest.score[forest.plain.parent[row]]),
        )

    def _conversation(self, row: int) -> tuple[Shown, ...]:
        forest, rules = self._forest, self.protocol
        rows = forest.path(row, rules.conversation)
        scored = rules.shows_scores
        if "flat-tree" in rules.leaks and self.task != "next_text":
            # The released prompt prints the post's score and not the parent's.
            shown = [forest.shown(each, scored and at == 0) for at, each in enumerate(rows)]
            return cut_short(tuple(shown))
        if "later-comments" in rules.leaks:
            # The rest of the page between the post and the way down to the parent, which is last.
            rest = forest.placed({*forest.around(row, rules.conversation)} - {*rows})
            rows = [*rows[:1], *rest, *rows[1:]] if len(rows) > 1 else [*rest, *rows]
        else:
            time = forest.plain.time
            rows = [each for each in rows if NO_TIME < time[each] < time[row]]
        return tuple(forest.shown(each, scored) for each in rows)

    def _in_any_case(self, row: int) -> tuple[Shown, ...]:
        """What the leak `post-always-shown` shows of a conversation that is not to be shown."""
        rules, forest = self.protocol, self._forest
        if "post-always-shown" not in rules.leaks:
            return ()
        path = forest.path(row, rules.conversation)
        if self.task != "next_text":
            return cut_short((forest.shown(path[0], rules.shows_scores),))
        ends = path if len(path) == 1 else [path[0], path[-1]]
        return tuple(forest.shown(each, rules.shows_scores) for each in ends)

    def _before(self, row: int, target: int) -> tuple[Shown, ...]:
        """What an example answered, without the target where that is among it."""
        forest, rules = self._forest, self.protocol
        rows = [
            each
            for each in forest.path(row, min(rules.conversation, _NEAREST))
            if each != target and NO_TIME < forest.time[each] < forest.time[row]
        ]
        shown = tuple(forest.shown(each, rules.shows_scores) for each in rows)
        flat = "flat-tree" in rules.leaks and self.task != "next_text"
        return cut_short(shown) if flat else shown

    def _examples(self, row: int, own: bool, talk: bool) -> tuple[SolvedExample, ...]:
        if "example-by-outcome" in self.protocol.leaks:
            rows = self._solved_by_outcome(row, own) if talk else []
        else:
            rows = self._solved(row)
        forest = self._forest
        return tuple(
            SolvedExample(
                key(forest, each),
                self._before(each, row) if talk else (),
                forest.texts[each],
                _known(forest.score[each]),
            )
            for each in rows
        )

    def _solved(self, row: int) -> list[int]:
        """The last replies of others in the domain, from the train part, before the cutoff."""
        wanted = self.protocol.shots
        if not wanted:
            return []
        forest, plain = self._forest, self._forest.plain
        known = {plain.author[row], self._histories.stranger(row)}
        rows = self._learned[forest.domains[plain.thread[row]]]
        stop = bisect_left(rows, plain.time[row], key=plain.time.__getitem__)
        found: list[int] = []
        for each in reversed(rows[max(0, stop - _LOOKED_AT) : stop]):
            # Neither by the user nor in answer to them: it would tell about the person.
            people = {plain.author[one] for one in (*forest.path(each, _NEAREST), each)}
            if plain.thread[each] != plain.thread[row] and not people & known:
                found.append(each)
                if len(found) == wanted:
                    break
        return found[::-1]

    @cached_property
    def _learned(self) -> dict[str, list[int]]:
        """The train part by domain, oldest first."""
        forest, rows = self._forest, self._chosen.learned
        found: dict[str, list[int]] = {domain: [] for domain in forest.domains}
        for row in rows.tolist():
            found[forest.domains[forest.plain.thread[row]]].append(row)
        return found

    def _solved_by_outcome(self, row: int, own: bool) -> list[int]:
        """As released: from the same thread, or for np from the next target's thread."""
        if not own:
            at = self._places[row]
            others = (self._rows[(at + step) % len(self._rows)] for step in range(1, 9))
            apart = (self._forest.author[row], self._forest.thread[row])
            row = next(
                (
                    each
                    for each in others
                    if self._forest.author[each] != apart[0]
                    and self._forest.thread[each] != apart[1]
                ),
                -1,
            )
        found = None if row < 0 else next_largest(self._forest, row, self.task)
        return [] if found is None else [found]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {row: at for at, row in enumerate(self._rows)}


class SettingSamples(Sequence[Case]):
    """The samples of one setting, made one by one."""

    def __init__(
        self,
        samples: Samples,
        setting: Setting,
        places: Sequence[int],
        progress: Progress = silent,
    ) -> None:
        self.setting = setting
        self._samples = samples
        self._places = places
        self._progress = progress

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> SettingSamples: ...
    def __getitem__(self, index: int | slice) -> Case | SettingSamples:
        if isinstance(index, slice):
            places = self._places[index]
            return SettingSamples(self._samples, self.setting, places, self._progress)
        return self._samples.make(self._places[index], self.setting)

    def __iter__(self) -> Iterator[Case]:
        for start in range(0, len(self._places), _BLOCK):
            block = self._places[start : start + _BLOCK]
            ready = self._once(block)
            for place in block:
                yield self._samples.make(place, self.setting, ready)

    def _once(self, block: Sequence[int]) -> Callable[[], None]:
        """Prepares the whole block when the first of its histories is chosen."""

        @cache
        def ready() -> None:
            self._samples.prepare(block, self.setting, self._progress)

        return ready


def make_samples(
    corpus: Corpus | Tables,
    task: str,
    *,
    protocol: Protocol = CLEAN,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Samples:
    """Targets chosen by the protocol, with what each setting shows of them.

    `limit` and `train_limit` keep so many test and train targets, drawn by `seed` and id.
    """
    wanted = known_task(task)
    chats = corpus.chats if isinstance(corpus, Corpus) else chats_in(corpus)
    forest = Forest.grow(chats, progress, len(corpus.chats))
    if not forest.threads:
        raise RealtalkError("holds no thread that can be read", where=corpus.name)
    chosen = choose(forest, wanted, protocol, limit=limit, train_limit=train_limit, seed=seed)
    return Samples(forest, wanted, protocol, chosen)


def _known(score: float) -> float | None:
    return float(score) if math.isfinite(score) else None


def _positive(targets: Sequence[Target]) -> float | None:
    scores = [target.score for target in targets if target.score is not None]
    return sum(score > 0 for score in scores) / len(scores) if scores else None


@dataclass(frozen=True)
class Draw:
    """Which replies are to be predicted, and by which rules; checked when it is made."""

    task: str
    protocol: str = "clean"
    leaks: tuple[str, ...] = ()
    with_scores: bool = False
    split: str = "user"
    history: str = "recent"
    shots: int = 0
    limit: int | None = None
    train_limit: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn before anything is read."""
        limits = {"limit": self.limit, "train limit": self.train_limit}
        for option, value in limits.items():
            if value is not None and value < 1:
                raise RealtalkError(f"the {option} must be 1 or more, not {value}")
        for option, value in {**limits, "seed": self.seed}.items():
            if value is not None and not -(2**63) <= value < 2**63:
                raise RealtalkError(f"the {option} is too large a number", fix="64 bits are enough")
        self._rules()

    def _rules(self) -> tuple[Task, Protocol]:
        return known_task(self.task), protocol(
            self.protocol,
            leaks=self.leaks,
            with_scores=self.with_scores,
            split=self.split,
            chosen=self.history,
            shots=self.shots,
        )

    @property
    def record(self) -> dict[str, int | None]:
        """How the samples were drawn, for a run's settings."""
        return {"limit": self.limit, "train_limit": self.train_limit, "seed": self.seed}

    def samples(self, corpus: Corpus | Tables, progress: Progress = silent) -> Samples:
        """The replies, drawn."""
        task, rules = self._rules()
        return make_samples(
            corpus,
            task,
            protocol=rules,
            limit=self.limit,
            train_limit=self.train_limit,
            seed=self.seed,
            progress=progress,
        )


def count_tables(counts: Counts) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    """(title, headings, rows): what there is, class weights and domains, and what was left."""
    shares = [
        (f"{part}: share of scores above 0", round(share, 4))
        for part, share in counts.positive.items()
    ]
    sizes: list[tuple[Any, ...]] = [
        ("threads", counts.threads),
        ("comments", counts.comments),
        ("users", counts.users),
        ("train replies", counts.train),
        ("test replies", counts.test),
        ("test replies without earlier history", counts.without_history),
        *shares,
        *((f"class weight, {name}", round(value, 3)) for name, value in counts.weights.items()),
    ]
    found: list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]] = [
        ("what there is to predict", ("what", "count"), sizes),
        ("domains of the test part", ("domain", "replies"), _pairs(counts.domains)),
    ]
    if counts.skipped:
        found.append(("comments not asked about", ("why", "comments"), _pairs(counts.skipped)))
    if counts.left_out:
        found.append(("threads left out", ("why", "threads"), _pairs(counts.left_out)))
    return found


def _pairs(counted: Mapping[str, int]) -> list[tuple[Any, ...]]:
    return [(name or "(none)", count) for name, count in counted.items()]
