"""Answers → right or wrong, by a language model that is not the one under test.

    judge = Judge(ModelConfig("openai/gpt-4o-mini"), load_wording())
    judge.judge(rows, keep=print)
    → {"sample": "Q3", "group": "Chat_1", "variant": "1000t", "judge": "openai/gpt-4o-mini",
       "wording": "lenient", "right": 1.0, "unscored": None, "of": "9f86d081884c7d65", ...}

Two wordings, two scores. `lenient` asks what the REALTALK paper's judge was asked: whether the
answer matches. `strict` wants every fact, and no other. The judge sees question, true answer and
answer: not the chat, and not who answered. A model is not its own judge unless that is asked for
(`own`), as in Table 3 of the paper: every table then says so. `of` is a hash of the answer: a
question that is answered anew is judged anew. `base_url` is where the judge was asked, without
keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.prompts import Prompts
from realtalk.evals.rows import JUDGED_KEY, row_key
from realtalk.evals.values import COUNTS, Row
from realtalk.files.progress import Progress, silent
from realtalk.metrics.answers import ABSTAINING
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask

WORDINGS = ("lenient", "strict")
SAME = "same"  # names the model under test as its own judge
UNTOLD = "The conversation does not tell this."
_REMINDERS = (
    "\n\nThe reply must be the one word CORRECT or the one word WRONG.",
    "\n\nThe reply must be CORRECT or WRONG. Explanations cannot be read: leave them out.",
)


def read_verdict(text: str) -> float | None:
    """1 for CORRECT, 0 for WRONG; None where the reply is neither, alone."""
    word = text.strip().strip("\"'`*.“”‘’<> \n").lower()
    return {"correct": 1.0, "wrong": 0.0}.get(word)


def refuse_own_judge(model: str | None, judge: str) -> None:
    """A model that judges its own answers is no judge, unless that is what somebody asked for."""
    if model is not None and model.strip("/") == judge.strip("/"):
        raise RealtalkError(
            f"{judge} would judge its own answers",
            fix=f"name another model with `judge=`, or say so: `judge={SAME}`",
        )


@dataclass(frozen=True, slots=True)
class Judge:
    """A model and the wordings it is asked with. `own` lets it judge its own answers."""

    config: ModelConfig
    wording: Prompts
    wordings: tuple[str, ...] = WORDINGS
    own: bool = False

    def refuse_own(self, model: str | None) -> None:
        """Raises where the judge would judge its own answers and nobody asked for that."""
        if not self.own:
            refuse_own_judge(model, self.config.model)

    def refuse_other_server(self, judgements: Iterable[Row], where: str) -> None:
        """Raises where a model of this name judged before, at another address."""
        before = [
            row.get("base_url")
            for row in judgements
            if (row["judge"], row["prompts"]) == (self.config.model, self.wording.version)
            and row["unscored"] is None  # what failed may have had a wrong address
        ]
        now = self.config.address
        address = next((address for address in before if address != now), now)
        if address != now:
            raise RealtalkError(
                f"{self.config.model} judged at another address there "
                f"({address or 'its own'}, now {now or 'its own'})",
                where=where,
                fix="set the address as it was, or score the answers in another folder",
            )

    def tasks(self, rows: Sequence[Row]) -> dict[tuple[Any, ...], tuple[Row, str]]:
        """Every judgement to be made by its key: a row and a wording, in the order of the rows."""
        return {
            self._key(row, wording): (row, wording)
            for wording in self.wordings
            for row in rows
            if _is_judgeable(row)
        }

    def judge(
        self,
        rows: Sequence[Row],
        keep: Callable[[Row], None],
        done: Container[tuple[Any, ...]] = (),
        progress: Progress = silent,
    ) -> None:
        """Judges every answer that is not judged yet, and hands each judgement on as it comes."""
        waiting = [task for key, task in self.tasks(rows).items() if key not in done]
        prompts = [
            Prompt(str(place), partial(self._prompt, *pair), _flaw, _REMINDERS)
            for place, pair in enumerate(waiting)
        ]

        def keep_judgement(place: str, reply: Reply) -> None:
            keep(self._judgement(*waiting[int(place)], reply))

        ask(prompts, self.config, keep_judgement, progress)

    def _key(self, row: Row, wording: str) -> tuple[Any, ...]:
        return (*row_key(row), self.config.model, wording, self.wording.version)

    def _prompt(self, row: Row, wording: str) -> str:
        return self.wording.fill(
            f"judge_{wording}",
            question=row["question"],
            gold=reference_answer(row["gold"], row.get("accept") or (), row["category"]),
            answer=row["answer"],
        )

    def _judgement(self, row: Row, wording: str, reply: Reply) -> Row:
        right = None if reply.text is None else read_verdict(reply.text)
        return {
            **dict(zip(JUDGED_KEY, self._key(row, wording), strict=True)),
            "right": right,
            "unscored": reply.reason or None,
            "of": _hash(row["answer"]),
            "base_url": self.config.address,
            **{name: getattr(reply, name) for name in COUNTS},
        }


def reference_answer(gold: str | None, accept: Sequence[str], category: str) -> str:
    """What the judge is told is right, with what the golds accept beside it."""
    if category in ABSTAINING or gold is None:
        return UNTOLD
    others = "; ".join(accept)
    return f"{gold} (also right: {others})" if others else gold


def _hash(answer: str) -> str:
    return hashlib.sha256(answer.encode()).hexdigest()[:16]


def judgement_key(judgement: Row) -> tuple[Any, ...]:
    """A judgement's key in a run."""
    return tuple(judgement[name] for name in JUDGED_KEY)


def current_judgements(judgements: Iterable[Row], rows: Iterable[Row]) -> list[Row]:
    """Those of the answers that the rows have."""
    answers = {row_key(row): row.get("answer") for row in rows}  # a shared run has none
    return [
        judgement
        for judgement in judgements
        if (answer := answers.get(row_key(judgement))) is not None
        and judgement["of"] == _hash(answer)
    ]


def _is_judgeable(row: Row) -> bool:
    """Whether a row has an answer and something to hold it against."""
    has_truth = row["gold"] is not None or row["category"] in ABSTAINING
    return row["answer"] is not None and not row.get("left_out") and has_truth


def _flaw(text: str) -> str:
    if read_verdict(text) is not None:
        return ""
    return "malformed answer" if text.strip() else "empty answer"


# The columns of judgements.parquet.
JUDGEMENT: Mapping[str, Any] = {
    **dict.fromkeys(JUDGED_KEY, str),
    "right": float,
    **dict.fromkeys(("unscored", "of", "base_url"), str),
    **dict.fromkeys(COUNTS, int),
}
