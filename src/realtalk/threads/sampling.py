"""A corpus of threads → the samples of one task in all settings.

    samples = Draw("sentiment", CLEAN, limit=1000, seed=0).samples(corpus)
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

    draw = Draw("sentiment", protocol("clean"), limit=200)    # refused at once where wrong
    draw.samples(corpus)     → Samples; also of a corpus' tables, with less memory
    draw.record              → {"limit": 200, "train_limit": None, "seed": 0}

The command, Python and Inspect share these decisions.

Everything that was written → the replies to ask about, split in time.

    TargetRows.rows, TargetRows.test    → [12, 31, 40, …], [False, False, True, …]
    TargetRows.skipped                  → {"has no score": 4, "its user has fewer than 3": 31_204}

A reply is eligible whatever became of it: the draw of `limit` goes by a hash of seed and key.
Equal times are not before one another, so replies of one time are never on two sides of a split.

Which replies the released code asks about, and what it shows of them.

    one_a_thread(forest, eligible, "impact")   → rows: each post author's most extreme reply
    without_lower_half(forest, rows)           → without the lower half of the positive ones
    cut_short(conversation)                    → the post to 500 characters, the parent to 100

Only its habits are in these; values.py names each. Replies are the post author's own, in the
author's own thread.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import chats_in
from realtalk.formats.tables import Tables
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Truth, Whole
from realtalk.registry import at_least
from realtalk.threads.forest import NO_TIME, Forest
from realtalk.threads.histories import Histories
from realtalk.threads.values import (
    CLEAN,
    PARTS,
    Case,
    Counts,
    Part,
    Protocol,
    Setting,
    ShownEntry,
    SolvedExample,
    Target,
    Task,
    known_setting,
    known_task,
)

_PEOPLE = 3  # a thread must have more
_REPLIES = 2  # of the post's author: must be more
_SCORE = 3  # the target's absolute score must be larger
_BRANCHES = 1  # of a thread in which the author takes part and somebody answers: next_text
_POST_TEXT = 500
_PARENT_TEXT = 100


def _authors_own(forest: Forest) -> Truth:
    """Comments of a thread's post author, deleted ones apart."""
    by_post = forest.author[forest.posts[:-1]][forest.thread]
    own: Truth = (forest.parent >= 0) & (forest.author == by_post) & (by_post >= 0) & ~forest.gone
    return own


def _rank(forest: Forest, rows: Whole, task: Task) -> Whole:
    """Rows by thread; in each the code's first choice first."""
    size = np.zeros(len(rows)) if task == "next_text" else np.abs(forest.score[rows])
    return rows[np.lexsort((rows, -forest.time[rows], -size, forest.thread[rows]))]


def one_a_thread(forest: Forest, eligible: Whole, task: Task) -> Whole:
    """One target per thread of the eligible rows, where the code asks about the thread at all."""
    own = _authors_own(forest)
    count = len(forest.threads)
    is_target = np.bincount(forest.thread[own], minlength=count) > _REPLIES
    if task == "next_text":
        is_target &= _branches(forest, own) > _BRANCHES
    else:
        # Nobody (-1) is one more participant: the code counts "[deleted]" as a name.
        pairs = np.unique(np.stack([forest.thread, forest.author]), axis=1)
        is_target &= np.bincount(pairs[0], minlength=count) > _PEOPLE
    rows = eligible[own[eligible] & is_target[forest.thread[eligible]]]
    if task != "next_text":
        rows = rows[~_wordless(forest)[forest.parent[rows]]]
    ranked = _rank(forest, rows, task)
    _, firsts = np.unique(forest.thread[ranked], return_index=True)
    best: Whole = ranked[firsts]
    return best if task == "next_text" else best[np.abs(forest.score[best]) > _SCORE]


def _wordless(forest: Forest) -> Truth:
    """Deleted, or a post that has a title only: no target answers one of them."""
    wordless = forest.gone.copy()
    for row in forest.posts[:-1].tolist():
        wordless[row] |= forest.text(row) == forest.post(row).title
    return wordless


def _branches(forest: Forest, own: Truth) -> Whole:
    """Answers to the post that were answered and under which the author wrote, a thread."""
    order = forest.order
    top = np.empty_like(order)  # on a page, the last answer to the post above a comment is its own
    places = np.where(forest.depth[order] == 1, np.arange(len(order)), 0)
    top[order] = order[np.maximum.accumulate(places)]
    top_answers = np.unique(top[own])
    answered = np.isin(top_answers, forest.parent)
    return np.bincount(forest.thread[top_answers[answered]], minlength=len(forest.threads))


def without_lower_half(forest: Forest, rows: Whole) -> Whole:
    """The rows without the lower half of those that have a positive score."""
    positive = rows[forest.score[rows] > 0]
    ordered = positive[np.lexsort((positive, forest.score[positive]))]
    return rows[~np.isin(rows, ordered[: len(ordered) // 2])]


def next_largest(forest: Forest, row: int, task: Task) -> int | None:
    """The reply that the code solves as an example: the next choice of the author's thread."""
    rows = np.arange(*forest.rows_of(row))
    own = (forest.author[rows] == forest.author[row]) & (forest.parent[rows] >= 0)
    own &= ~forest.gone[rows] & (rows != row)
    if task != "next_text":
        own &= np.isfinite(forest.score[rows])
    ranked = _rank(forest, rows[own], task)
    return int(ranked[0]) if len(ranked) else None


def cut_short(conversation: tuple[ShownEntry, ...]) -> tuple[ShownEntry, ...]:
    """The post and the parent alone, each cut as the code's prompt cuts it."""
    ends = conversation if len(conversation) < 2 else (conversation[0], conversation[-1])
    return tuple(
        entry if len(entry.text) <= most else replace(entry, text=entry.text[:most] + "...")
        for entry, most in zip(ends, (_POST_TEXT, _PARENT_TEXT), strict=False)
    )


class TargetRows(NamedTuple):
    """Targets as rows of the forest, by time and key."""

    rows: Whole
    test: Truth
    learned: Whole  # the whole train part, before `train_limit`: what examples are taken from
    skipped: Mapping[str, int]  # reason → comments


def _eligible(forest: Forest, task: Task, rules: Protocol, skipped: Counter[str]) -> Whole:
    rows: Whole = np.flatnonzero(forest.parent >= 0)
    for reason, fits in (
        ("has no named author", forest.author >= 0),
        ("is deleted or empty", ~forest.gone),
        ("has no time", forest.time != NO_TIME),
        *((("has no score", np.isfinite(forest.score)),) if task != "next_text" else ()),
    ):
        rows = _less(rows, rows[fits[rows]], reason, skipped)
    parent = forest.time[forest.parent[rows]]
    before = (parent != NO_TIME) & (parent < forest.time[rows])
    rows = _less(rows, rows[before], "its parent is not known to be from before it", skipped)
    many = np.bincount(forest.author[rows], minlength=len(forest.names)) >= rules.least
    reason = f"its user has fewer than {rules.least}"
    return _less(rows, rows[many[forest.author[rows]]], reason, skipped)


def _less(before: Whole, after: Whole, reason: str, skipped: Counter[str]) -> Whole:
    if len(before) > len(after):
        skipped[reason] += len(before) - len(after)
    return after


def _last(forest: Forest, rows: Whole, rules: Protocol) -> Truth:
    """The last share of all replies; or of each user's, at least one, with one left to learn."""
    times = forest.time[rows]
    if rules.split == "global":
        after: Truth = times >= times[min(len(rows) - 1, int(len(rows) * (1 - rules.test_share)))]
        return after
    places = grouped((author, at) for at, author in enumerate(forest.author[rows].tolist()))
    test = np.zeros(len(rows), np.bool_)
    for own in places.values():
        count = max(1, int(len(own) * rules.test_share + 0.5))
        first = max(min(1, len(own) - 1), len(own) - count)
        test[own] = times[own] >= times[own[first]]
    return test


def _lot(forest: Forest, row: int, seed: int) -> bytes:
    """A draw of the seed and the reply's name alone."""
    name = f"{seed}\0{forest.key(row)}"
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_BLOCK = 256  # samples whose texts are embedded at once
_LOOKED_AT = 500  # replies that are looked at to find examples
_NEAREST = 10  # ancestors of an example that must be strangers


class Samples:
    """Targets of one task, and the samples that each setting makes of them."""

    def __init__(self, forest: Forest, task: Task, rules: Protocol, chosen: TargetRows) -> None:
        self.task = task
        self.protocol = rules
        self._forest = forest
        self._rows_of_targets = chosen
        self._rows: list[int] = chosen.rows.tolist()
        self._histories = Histories(forest, rules, task)
        self.targets: tuple[Target, ...] = tuple(
            self._target(row, "test" if test else "train")
            for row, test in zip(self._rows, chosen.test.tolist(), strict=True)
        )

    def part(self, part: Part) -> tuple[Target, ...]:
        """The targets of one part, in order."""
        return tuple(self.targets[at] for at in self._places_of(part))

    def _places_of(self, part: Part | None) -> list[int]:
        return [at for at, target in enumerate(self.targets) if part is None or target.part == part]

    def of(
        self, setting: str, part: Part | None = None, progress: Progress = silent
    ) -> SettingSamples:
        """A setting's samples in the order of `targets`; each is made when it is asked for."""
        return SettingSamples(self, known_setting(setting), self._places_of(part), progress)

    @cached_property
    def counts(self) -> Counts:
        """What was there, what was taken, and why the rest was not."""
        forest = self._forest
        parts = {part: self.part(part) for part in PARTS} | {"all": self.targets}
        liked = {
            part: [target.score > 0 for target in some if target.score is not None]
            for part, some in parts.items()
        }
        train = liked["train"]
        labels = {"positive": sum(train), "negative": len(train) - sum(train)}
        tested = (self._rows[at] for at in self._places_of("test"))
        return Counts(
            threads=len(forest.threads),
            comments=int((forest.parent >= 0).sum()),
            users=len({target.user for target in self.targets}),
            train=len(parts["train"]),
            test=len(parts["test"]),
            positive={part: sum(some) / len(some) for part, some in liked.items() if some},
            weights={label: len(train) / (2 * n) for label, n in labels.items() if n},
            domains=dict(sorted(Counter(target.domain for target in parts["test"]).items())),
            without_history=sum(not self._histories.number(row, talk=True) for row in tested),
            skipped=self._rows_of_targets.skipped,
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
            self._histories.show(row, own=own, talk=talk, ready=ready),
            self._examples(place, own, talk),
            hint,
        )

    def prepare(self, places: Sequence[int], setting: Setting, progress: Progress = silent) -> None:
        """Work that many samples share; `make` is right without it, but may be slower."""
        self._histories.prepare([self._rows[place] for place in places], setting, progress)

    def near_texts(self, setting: Setting, part: Part) -> list[str]:
        """The texts that are compared to choose history by nearness, but for strangers'."""
        rows = [self._rows[at] for at in self._places_of(part)]
        return self._histories.near_texts(rows, setting)

    def _target(self, row: int, part: Part) -> Target:
        forest, entry = self._forest, self._forest.entries[row]
        assert entry.time is not None  # a reply without a time is not eligible
        return Target(
            forest.key(row),
            forest.threads[forest.plain.thread[row]],
            entry.id,
            forest.name(row),
            forest.post(row).domain,
            entry.time,
            entry.text,
            _finite(forest.score[row]),
            part,
        )

    def _entries(self, rows: Iterable[int]) -> tuple[ShownEntry, ...]:
        return tuple(self._forest.shown_entry(row, self.protocol.shows_scores) for row in rows)

    @property
    def _is_flat(self) -> bool:
        return "flat-tree" in self.protocol.leaks and self.task != "next_text"

    def _earlier(self, rows: Iterable[int], row: int) -> list[int]:
        time = self._forest.plain.time
        return [candidate for candidate in rows if NO_TIME < time[candidate] < time[row]]

    def _conversation(self, row: int) -> tuple[ShownEntry, ...]:
        forest, rules = self._forest, self.protocol
        rows = forest.path(row, rules.conversation)
        if self._is_flat:
            # The released prompt prints the post's score and not the parent's.
            parents = tuple(forest.shown_entry(parent) for parent in rows[1:])
            return cut_short((*self._entries(rows[:1]), *parents))
        if "later-comments" not in rules.leaks:
            return self._entries(self._earlier(rows, row))
        # The rest of the page between the post and the way down to the parent, which is last.
        way = set(rows)
        rest = [other for other in forest.around(row, rules.conversation) if other not in way]
        first = int(len(rows) > 1)
        return self._entries((*rows[:first], *rest, *rows[first:]))

    def _in_any_case(self, row: int) -> tuple[ShownEntry, ...]:
        """What the leak `post-always-shown` shows of a conversation that is not to be shown."""
        if "post-always-shown" not in self.protocol.leaks:
            return ()
        post, *others = self._forest.path(row, self.protocol.conversation)
        if self.task != "next_text":
            return cut_short(self._entries((post,)))
        return self._entries((post, *others[-1:]))

    def _before(self, row: int, target: int) -> tuple[ShownEntry, ...]:
        """What an example answered, without the target where that is among it."""
        rows = self._forest.path(row, min(self.protocol.conversation, _NEAREST))
        entries = self._entries(other for other in self._earlier(rows, row) if other != target)
        return cut_short(entries) if self._is_flat else entries

    def _examples(self, place: int, own: bool, talk: bool) -> tuple[SolvedExample, ...]:
        forest, row = self._forest, self._rows[place]
        if "example-by-outcome" in self.protocol.leaks:
            rows = self._solved_by_outcome(place, own) if talk else []
        else:
            rows = [*islice(self._recent_examples(row), self.protocol.shots)][::-1]
        return tuple(
            SolvedExample(
                forest.key(example),
                self._before(example, row) if talk else (),
                forest.text(example),
                _finite(forest.score[example]),
            )
            for example in rows
        )

    def _recent_examples(self, row: int) -> Iterator[int]:
        """Replies of others in the domain, from the train part, before the cutoff, latest first."""
        forest, plain = self._forest, self._forest.plain
        excluded = {plain.author[row], self._histories.stranger(row)}
        rows = self._train_rows.get(forest.post(row).domain, [])
        stop = bisect_left(rows, plain.time[row], key=plain.time.__getitem__)
        for candidate in reversed(rows[max(0, stop - _LOOKED_AT) : stop]):
            # Neither by the user nor in answer to them: it would tell about the person.
            around = (*forest.path(candidate, _NEAREST), candidate)
            others = excluded.isdisjoint(plain.author[each] for each in around)
            if others and plain.thread[candidate] != plain.thread[row]:
                yield candidate

    @cached_property
    def _train_rows(self) -> dict[str, list[int]]:
        """The train part by domain, oldest first."""
        learned = self._rows_of_targets.learned.tolist()
        return grouped((self._forest.post(row).domain, row) for row in learned)

    def _solved_by_outcome(self, place: int, own: bool) -> list[int]:
        """As released: from the same thread, or for np from the next target's thread."""
        forest, row = self._forest, self._rows[place]
        after = (self._rows[(place + step) % len(self._rows)] for step in range(1, 9))
        others = (
            other
            for other in after
            if forest.author[other] != forest.author[row]
            and forest.thread[other] != forest.thread[row]
        )
        start = row if own else next(others, None)
        best = None if start is None else next_largest(forest, start, self.task)
        return [] if best is None else [best]


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
            # The whole block is prepared when the first of its histories is chosen.
            ready = cache(partial(self._samples.prepare, block, self.setting, self._progress))
            for place in block:
                yield self._samples.make(place, self.setting, ready)


@dataclass(frozen=True)
class Draw:
    """Which replies are to be predicted, and by which rules; checked when it is made.

    `limit` and `train_limit` keep so many test and train targets, drawn by `seed` and id.
    """

    task: str
    rules: Protocol = CLEAN
    limit: int | None = None
    train_limit: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn before anything is read."""
        known_task(self.task)
        for name, value in self.record.items():
            option = f"the {name.replace('_', ' ')}"
            if name != "seed":
                at_least(1, **{option: value})
            if value is not None and not -(2**63) <= value < 2**63:
                raise RealtalkError(f"{option} is too large a number", fix="64 bits are enough")

    @property
    def record(self) -> dict[str, int | None]:
        """How the samples were drawn, for a run's settings."""
        return {"limit": self.limit, "train_limit": self.train_limit, "seed": self.seed}

    def samples(self, corpus: Corpus | Tables, progress: Progress = silent) -> Samples:
        """Targets chosen by the rules, with what each setting shows of them."""
        task = known_task(self.task)
        chats = corpus.chats if isinstance(corpus, Corpus) else chats_in(corpus)
        forest = Forest.grow(chats, progress, len(corpus.chats))
        if not forest.threads:
            raise RealtalkError("holds no thread that can be read", where=corpus.name)
        return Samples(forest, task, self.rules, self._choose(forest, task))

    def _choose(self, forest: Forest, task: Task) -> TargetRows:
        rules, skipped = self.rules, Counter[str]()
        rows = _eligible(forest, task, rules, skipped)
        if "target-by-outcome" in rules.leaks:
            rows = _less(rows, one_a_thread(forest, rows, task), "leak target-by-outcome", skipped)
        if "positives-halved" in rules.leaks and task != "next_text":
            rows = _less(rows, without_lower_half(forest, rows), "leak positives-halved", skipped)
        if not len(rows):
            reasons = ", ".join(f"{reason}: {n:,}" for reason, n in skipped.most_common(3))
            raise RealtalkError(
                "no reply can be asked about" + (f" ({reasons})" if reasons else ""),
                fix="threads need authors, times and scores, "
                f"and people who replied {rules.least} times or more",
            )
        rows = rows[np.lexsort((rows, forest.time[rows]))]
        test = _last(forest, rows, rules)
        keep = np.ones(len(rows), np.bool_)
        for part, most in ((test, self.limit), (~test, self.train_limit)):
            places = np.flatnonzero(part).tolist()
            if most is not None and len(places) > most:
                places.sort(key=lambda at: _lot(forest, int(rows[at]), self.seed))
                keep[places[most:]] = False
                skipped["not drawn"] += len(places) - most
        return TargetRows(rows[keep], test[keep], rows[~test], dict(skipped))


def _finite(score: float) -> float | None:
    return float(score) if math.isfinite(score) else None


Tabled: TypeAlias = tuple[str, tuple[str, ...], list[tuple[Any, ...]]]


def count_tables(counts: Counts) -> list[Tabled]:
    """(title, headings, rows): what there is, class weights and domains, and what was left."""
    whole: Mapping[str, float] = {
        "threads": counts.threads,
        "comments": counts.comments,
        "users": counts.users,
        "train replies": counts.train,
        "test replies": counts.test,
        "test replies without earlier history": counts.without_history,
        **{f"{part}: share of scores above 0": round(x, 4) for part, x in counts.positive.items()},
        **{f"class weight, {name}": round(x, 3) for name, x in counts.weights.items()},
    }
    tables: list[tuple[str, tuple[str, ...], Mapping[str, float]]] = [
        ("what there is to predict", ("what", "count"), whole),
        ("domains of the test part", ("domain", "replies"), counts.domains),
        ("comments not asked about", ("why", "comments"), counts.skipped),
        ("threads left out", ("why", "threads"), counts.left_out),
    ]
    return [
        (title, headings, [(name or "(none)", count) for name, count in counted.items()])
        for title, headings, counted in tables
        if counted
    ]
