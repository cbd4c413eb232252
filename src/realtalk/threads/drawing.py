"""Options as people give them → the replies to be predicted, drawn by these rules.

    draw = Draw(task="sentiment", protocol="clean", limit=200)    # refused at once where wrong
    draw.samples(corpus)     → Samples; also of a corpus' tables, with less memory
    draw.record              → {"limit": 200, "train_limit": None, "seed": 0}

The command, Python and Inspect share these decisions.
"""

from __future__ import annotations

from dataclasses import dataclass

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.formats.tables import Tables
from realtalk.registry import suggest
from realtalk.threads.protocols import protocol
from realtalk.threads.sampling import Samples, make_samples
from realtalk.threads.values import Protocol, Task, known_task


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
        for what, given, known in (
            ("split", self.split, ["user", "global"]),
            ("history", self.history, ["recent", "near"]),
        ):
            if given not in known:
                raise suggest(what, given, known)
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
