"""The words of the thread tasks: what is asked about, what is shown, and by which rules.

    Target("post-000001/D1:3", "post-000001", "D1:3", "mara", "cats", time, "phew", 2.0, …)
    Case(target, "sentiment", "p-conv", "phew", conversation, history, examples)
    samples = Draw("sentiment").samples(corpus)            # realtalk.threads.sampling
    samples.of("p-conv", "test")    → a sequence of Case, each made when it is asked for

A target is one reply that somebody wrote, with the truth about it. A sample is a target as one
setting shows it; nothing of the target but `Case.text` may reach a prompt. The targets of all
settings are the same, in the same order, so that settings can be compared pair by pair.

Names of protocols → by which rules samples are made.

    protocol("clean")                         → no leak; the default
    protocol("released")                      → every leak, as the released code has them
    protocol("clean", leaks=("sign-shown",))  → clean but for one, to see what it is worth
    describe(protocol("clean"))               → ("cutoff: the target's own time; …", …)

`clean`. A target's cutoff is its own time. What was written at the cutoff or after it, or at an
unknown time, is not shown; a reply whose parent is not from before it is not asked about. Scores
are those of the crawl, so even an earlier comment's comes from later: hidden, unless
`with_scores`. Every reply of a user is eligible and none is chosen by its outcome. The test part
is the last share of each user's replies in time (`split="user"`), or what came after one moment
(`split="global"`): with the first, one person's training replies may be younger than another's
test, so nothing learned over all users is free of look-ahead, while with the second it is.

`released`. Read from the public code of the benchmark (PERSONA-bench/PERSONA: its three prompt
makers), each habit by the name of `LEAKS`:

target-by-outcome   In each thread of more than three people, where the post's author replied more
                    than twice, the author's reply with the largest absolute score, the latest of
                    equals, if above 3. For next_text the author's last reply.
positives-halved    The targets with a positive score are sorted by it and the lower half dropped.
flat-tree           sentiment and impact: the tree is written into a data store beside the prompt,
                    and only the prompt is sent. It holds 500 characters of the post and 100 of the
                    parent. The mask over the target's score is put into that store as well, so
                    that it never applies to anything a model reads.
post-always-shown   "Without conversation" the post's title and text are shown all the same, and for
                    next_text what is answered: settings differ by less than their names say.
sign-shown          impact: "the score is expected to be positive" or "negative".
later-comments      Everything in the thread but the target and the answers to it is context,
                    whenever it was written. What flat-tree cuts is cut first.
later-history       Other posts count as history whenever they were written.
own-thread-only     History is what the person wrote in the same thread, and without conversation
                    there is none. Only next_text without conversation takes other posts (not
                    comments).
example-by-outcome  With conversation, one solved example: the author's reply of the next largest
                    score in the same thread (next_text: the last but one), its outcome told. In
                    the np settings it is taken from another author's thread.
scores-shown        Scores stand beside the post and, where the tree is shown, every comment.

The code has no training part; ours splits its targets like any others. It answers np-conv with an
example from another thread, and has no np-nonconv: there we show what p-nonconv shows of another
person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.evals.values import Settings
from realtalk.registry import known_name

Task: TypeAlias = Literal["sentiment", "impact", "next_text"]
Setting: TypeAlias = Literal["p-conv", "p-nonconv", "np-conv", "np-nonconv"]
Part: TypeAlias = Literal["train", "test"]

TASKS: tuple[Task, ...] = ("sentiment", "impact", "next_text")
SETTINGS: tuple[Setting, ...] = ("p-conv", "p-nonconv", "np-conv", "np-nonconv")
PARTS: tuple[Part, ...] = ("train", "test")

# What the released code lets through or filters out, by name; told in full above.
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
    """The task of this name."""
    return known_name("task", name, TASKS)


def known_setting(name: str) -> Setting:
    """The setting of this name."""
    return known_name("setting", name, SETTINGS)


def outcome_in_words(task: Task, score: float | None) -> str:
    """What became of a reply, as the task asks for it."""
    if score is None:
        return "unknown"
    if task == "impact":
        return f"{score:g}"
    return "positive" if score > 0 else "negative"


@dataclass(frozen=True, slots=True)
class ShownEntry:
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
    part: Part


class SolvedExample(NamedTuple):
    """A solved item: somebody's earlier reply, what it answered, and what became of it."""

    key: str
    shown: tuple[ShownEntry, ...]
    text: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Case:
    """A target as one setting shows it."""

    target: Target
    task: Task
    setting: Setting
    text: str | None  # the target's own text, where the task gives it
    conversation: tuple[ShownEntry, ...]  # from the post to the parent; () without conversation
    history: Sequence[ShownEntry]  # oldest first; a tuple, or a `History` that is chosen when read
    examples: tuple[SolvedExample, ...] = ()
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
            known_name("leak", leak, LEAKS)
        known_name("split", self.split, ("user", "global"))
        known_name("choice of history", self.chosen, ("recent", "near"))
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
    def settings(self) -> Settings:
        """For a run's record, as plain values."""
        values = {name: value for name, value in asdict(self).items() if name != "leaks"}
        return {"protocol": self.name, **values, "with_scores": self.shows_scores}


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


CLEAN = Protocol()
RELEASED = Protocol(leaks=tuple(LEAKS), least=1, conversation=1000)
_LOOKING_AHEAD = ("later-comments", "later-history", "example-by-outcome")
PROTOCOLS = {"clean": CLEAN, "released": RELEASED}


def protocol(name: str = "clean", *, leaks: tuple[str, ...] = (), **settings: Any) -> Protocol:
    """A protocol by name, with further leaks and settings changed."""
    rules = PROTOCOLS[known_name("protocol", name, PROTOCOLS)]
    on = {*rules.leaks, *leaks}
    ordered = dict.fromkeys(leak for leak in (*LEAKS, *leaks) if leak in on)
    return replace(rules, leaks=tuple(ordered), **settings)


def stored_protocol(settings: Mapping[str, Any]) -> Protocol:
    """The protocol that a run's settings tell of: the way back from `Protocol.settings`."""
    name, *leaks = str(settings["protocol"]).split("+")
    active = RELEASED.leaks if name == "released" else leaks
    others = {key: value for key, value in settings.items() if key != "protocol"}
    return Protocol(leaks=tuple(leak for leak in LEAKS if leak in active), **others)


def describe(rules: Protocol) -> tuple[str, ...]:
    """What a table made by these rules must say, a line each."""
    split = (
        f"test: the last {rules.test_share:.0%} of each user's replies in time"
        if rules.split == "user"
        else f"test: the last {rules.test_share:.0%} of all replies in time"
    )
    later = any(leak in rules.leaks for leak in _LOOKING_AHEAD)
    lines = [
        f"protocol: {rules.name}",
        "cutoff: none, what came later is shown"
        if later
        else "cutoff: the target's own time; nothing from then or later is shown",
        split,
        f"history: at most {rules.history}, the most "
        + ("recent" if rules.chosen == "recent" else "similar"),
    ]
    if rules.shows_scores:
        lines.append("scores are shown; they are those of the crawl, later than any cutoff")
    if rules.shots:
        lines.append(f"{rules.shots} solved examples; their scores are those of the crawl")
    lines += [f"leak {leak}: {LEAKS[leak]}" for leak in rules.leaks]
    return tuple(lines)
