"""The words of the thread tasks: what is asked about, what is shown, and by which rules.

    Target("post-000001/D1:3", "post-000001", "D1:3", "mara", "cats", time, "phew", 2.0, …)
    Case(target, "sentiment", "p-conv", "phew", conversation, history, examples)
    samples = make_samples(corpus, "sentiment")            # realtalk.threads.sampling
    samples.of("p-conv", "test")    → a sequence of Case, each made when it is asked for

A target is one reply that somebody wrote, with the truth about it. A sample is a target as one
setting shows it; nothing of the target but `Case.text` may reach a prompt. The targets of all
settings are the same, in the same order, so that settings can be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.registry import suggest

Task: TypeAlias = Literal["sentiment", "impact", "next_text"]
Setting: TypeAlias = Literal["p-conv", "p-nonconv", "np-conv", "np-nonconv"]
Part: TypeAlias = Literal["train", "test"]

TASKS: tuple[Task, ...] = ("sentiment", "impact", "next_text")
SETTINGS: tuple[Setting, ...] = ("p-conv", "p-nonconv", "np-conv", "np-nonconv")
PARTS: tuple[Part, ...] = ("train", "test")

# What the released code lets through or filters out, by name; protocols.py tells each in full.
LEAKS: Mapping[str, str] = {
    "target-by-outcome": "one reply per thread, by its post's author: the one of the largest score",
    "positives-halved": "of the targets with a positive score, the lower half is left out",
    "flat-tree": "of the conversation only the post and the parent, both cut short, are shown",
    "post-always-shown": "without conversation the post is shown, for next_text the parent too",
    "sign-shown": "the prompt of impact tells the sign of the true score",
    "later-comments": "the rest of the thread is shown too, whenever it was written",
    "later-history": "history from any time, not only from before the target",
    "own-thread-only": "history from the same thread, none from elsewhere",
    "example-by-outcome": "the solved example is the next largest score of the same thread",
    "scores-shown": "scores, as of the crawl, stand beside what is shown",
}


def known_task(name: str) -> Task:
    """The task of this name, or an error with the nearest one."""
    for task in TASKS:
        if task == name:
            return task
    raise suggest("task", name, list(TASKS))


def known_setting(name: str) -> Setting:
    """The setting of this name, or an error with the nearest one."""
    for setting in SETTINGS:
        if setting == name:
            return setting
    raise suggest("setting", name, list(SETTINGS))


@dataclass(frozen=True, slots=True)
class Shown:
    """One post or comment as shown to a model; a score of None is hidden or unknown."""

    id: str
    thread: str
    author: str
    time: datetime | None
    text: str
    title: str = ""
    score: float | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """A reply to be judged or written, with the truth. It never reaches a prompt."""

    key: str  # thread/comment
    thread: str
    comment: str
    user: str
    domain: str
    time: datetime
    text: str
    score: float | None
    depth: int
    part: Part
    parent_score: float | None

    @property
    def positive(self) -> bool | None:
        """The truth of `sentiment`: a score above 0."""
        return None if self.score is None else self.score > 0


@dataclass(frozen=True, slots=True)
class SolvedExample:
    """A solved item: somebody's earlier reply, what it answered, and what became of it."""

    key: str
    shown: tuple[Shown, ...]
    text: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Case:
    """A target as one setting shows it."""

    target: Target
    task: Task
    setting: Setting
    text: str | None  # the target's own text, where the task gives it
    conversation: tuple[Shown, ...]  # from the post to the parent; () without conversation
    history: Sequence[Shown]  # oldest first; a tuple, or a `History` that is chosen when read
    examples: tuple[SolvedExample, ...] = ()
    leaks: tuple[str, ...] = ()  # names of LEAKS that are on
    hint: str = ""  # what the leak `sign-shown` tells: "positive" or "negative"

    @property
    def key(self) -> str:
        return self.target.key


@dataclass(frozen=True, slots=True)
class Protocol:
    """By which rules samples are made. Without leaks it is `clean`."""

    leaks: tuple[str, ...] = ()
    with_scores: bool = False  # show the scores of what was written before the cutoff
    split: Literal["user", "global"] = "user"  # the last share of each user, or after one day
    test_share: float = 0.3
    least: int = 3  # eligible replies that a user must have
    chosen: Literal["recent", "near"] = "recent"  # how history is chosen
    history: int = 10  # most entries of history
    conversation: int = 50  # most entries of conversation: the post and the nearest ancestors
    shots: int = 0  # solved examples per sample

    def __post_init__(self) -> None:
        for leak in self.leaks:
            if leak not in LEAKS:
                raise suggest("leak", leak, list(LEAKS))
        if self.split not in ("user", "global"):
            raise suggest("split", self.split, ["user", "global"])
        if self.chosen not in ("recent", "near"):
            raise suggest("choice of history", self.chosen, ["recent", "near"])
        if not 0 < self.test_share < 1:
            raise RealtalkError(
                f"a test share of {self.test_share} is not between 0 and 1", where="protocol"
            )
        for name, value, lowest in (
            ("least", self.least, 1),
            ("history", self.history, 0),
            ("conversation", self.conversation, 1),
            ("shots", self.shots, 0),
        ):
            if value < lowest:
                raise RealtalkError(f"{name} must be at least {lowest}", where="protocol")

    @property
    def name(self) -> str:
        """clean, released, or clean with the leaks that are on: clean+sign-shown."""
        if not self.leaks:
            return "clean"
        if set(self.leaks) == set(LEAKS):
            return "released"
        return "+".join(("clean", *sorted(self.leaks)))

    @property
    def shows_scores(self) -> bool:
        """Whether scores stand beside what is shown: then the parent's may be used."""
        return self.with_scores or "scores-shown" in self.leaks

    @property
    def settings(self) -> dict[str, str | int | float | bool]:
        """For a run's record, as plain values."""
        return {
            "protocol": self.name,
            "with_scores": self.shows_scores,
            "split": self.split,
            "test_share": self.test_share,
            "least": self.least,
            "chosen": self.chosen,
            "history": self.history,
            "conversation": self.conversation,
            "shots": self.shots,
        }


@dataclass(frozen=True, slots=True)
class Counts:
    """What was there, what was taken, and why the rest was not."""

    threads: int
    comments: int
    users: int  # with targets
    train: int
    test: int
    positive: Mapping[str, float]  # part or "all" → share of scores above 0
    weights: Mapping[str, float]  # class → n / (2 · n of class) in the train part
    domains: Mapping[str, int]  # domain → test targets
    without_history: int  # test targets whose user wrote nothing elsewhere before
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason → comments
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason → threads
