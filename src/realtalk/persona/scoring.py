"""Simulated turns and what the person wrote → one row of scores per turn.

    scorer = TurnScorer(corpus)
    rows = scorer.rows(task, task.turns, simulator.solve(task.prompts))
    rows[0]["rouge_1"], rows[0]["emotion"], rows[0]["empathy"]    → 0.12, 1.0, 0.8
    scorer.facts(task, rows)["ceiling"]    → how often the person's real turns are taken for theirs

Both texts are labelled by the same measure, each after the turn that was really said before. A
turn that was not simulated is unscored with its reason, and so is a single score that cannot be
made. A turn in which the person wrote no words has no truth, and counts nowhere.

    SCORES["empathy"]        → Score("empathy", "empathy difference", better=-1, family="EI", …)
    WHOLE["kappa_emotion"]   → Score("kappa_emotion", "emotion kappa", whole=True, …)
    COLUMNS                  → chat | session | truth | rouge_1 | … | emotion_simulated

A row is one turn: its sample is the turn, its group the speaker, its answer what was simulated.
SCORES are of single turns, WHOLE of all turns of a speaker together. The figure of a run is the
average of its speakers' own figures, as Table 2 of the paper is made from Table 8: everybody
counts the same however much they wrote. `better` is 0 where neither more nor less is: a length
ratio is best at 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import ENGLISH_ENCODER, EncoderName
from realtalk.ei.labels import Label, Labeller, TurnInput, chat_encoder, version_for, versions_of
from realtalk.evals.values import Answer, Row, Score, evenly, of_groups
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    cohen_kappa,
    jensen_shannon,
    wilson,
)
from realtalk.metrics.texts import distinct, length_ratio, overlap
from realtalk.persona.authorship import AUTHORSHIP_VERSION, Trial, hold_trial
from realtalk.persona.bertscore import BertScore
from realtalk.persona.values import PersonaTask, PersonaTurn
from realtalk.text.languages import turn_languages

AGREEMENTS = ("reflective", "grounding", "sentiment", "emotion")
DIFFERENCES = ("intimacy", "empathy")
WORDLESS = "the person wrote no words"
_KAPPAS = {f"kappa_{name}": name for name in AGREEMENTS}
_DISTANCES = {f"js_{name}": name for name in ("emotion", "sentiment")}


_SKEWED = frozenset({"length_ratio"})  # one long answer to a short turn would outweigh all
_BINARY = frozenset({*AGREEMENTS, "taken_for"})
_BEYOND = "what raw agreement does not show"
_DIGITS = 2


def turn_score(name: str, rows: Sequence[Row]) -> Estimate:
    """The mean of one speaker's turns that have the score; of length ratios the median."""
    scores = [row[name] for row in rows if row[name] is not None]
    left_out = len(rows) - len(scores)
    if not scores:
        return Estimate(None, left_out=left_out, unscored="no turn has this score")
    middle = np.median if name in _SKEWED else np.mean
    if name in _BINARY:
        low, high = wilson(scores)
    else:
        low, high = bootstrap_interval((scores,), middle)
    return Estimate(float(middle(scores)), low, high, len(scores), left_out)


def _turns(
    name: str, title: str, family: str, better: Literal[-1, 0, 1] = 1, published: str = ""
) -> Score:
    return Score(
        name,
        title,
        better,
        evenly(name),
        alone=partial(turn_score, name),
        digits=_DIGITS,
        family=family,
        table=_BEYOND if family == "beyond" else "",
        published=published,
    )


_OF_TURNS = (
    _turns("rouge_1", "ROUGE-1", "content", published="lexical"),
    _turns("rouge_l", "ROUGE-L", "content"),
    _turns("semantic", "token matching F1", "content", published="semantic"),
    _turns("cosine", "cosine", "content"),
    *(_turns(name, name, "EI", published=name) for name in AGREEMENTS),
    *(_turns(name, f"{name} difference", "EI", -1, name) for name in DIFFERENCES),
    _turns("taken_for", "taken for the speaker", "beyond"),
    _turns("length_ratio", "length ratio", "beyond", 0),
)
SCORES: Mapping[str, Score] = {score.name: score for score in _OF_TURNS}


def label_score(name: str, rows: Sequence[Row], *, interval: bool = True) -> Estimate:
    """A figure of WHOLE over the turns that have both labels; the others are counted."""
    measure = _KAPPAS.get(name) or _DISTANCES[name]
    truth, simulated = (
        [row[f"{measure}_{side}"] for row in rows] for side in ("truth", "simulated")
    )
    if name in _KAPPAS:
        return cohen_kappa(truth, simulated, interval=interval)
    # Only turns that have both: the two sides are to differ by the writer alone.
    both = [pair for pair in zip(truth, simulated, strict=True) if None not in pair]
    distance = jensen_shannon(
        *([pair[side] for pair in both] for side in (0, 1)), interval=interval
    )
    return replace(distance, n=len(both), left_out=len(rows) - len(both))


def _whole(name: str, measure: str, title: str, better: Literal[-1, 1]) -> Score:
    sides = (f"{measure}_truth", f"{measure}_simulated")
    return Score(
        name,
        title,
        better,
        of_groups(
            lambda rows: label_score(name, rows, interval=False).value,
            lambda row: all(row[side] is not None for side in sides),
        ),
        alone=partial(label_score, name),
        whole=True,
        digits=_DIGITS,
        family="beyond",
        table=_BEYOND,
    )


WHOLE: Mapping[str, Score] = {
    name: _whole(name, measure, f"{measure} kappa", 1) for name, measure in _KAPPAS.items()
} | {name: _whole(name, of, f"{of} JS (bits)", -1) for name, of in _DISTANCES.items()}


_LABELS: Mapping[str, Any] = {
    **dict.fromkeys(("reflective", "grounding"), bool),
    **dict.fromkeys(("sentiment", "emotion"), str),
    **dict.fromkeys(DIFFERENCES, float),
}
# The columns of a turn beyond those of every run; null is unscored, `left_out` says why.
COLUMNS: Mapping[str, Any] = {
    "chat": str,
    "session": int,
    "truth": str,
    **dict.fromkeys(SCORES, float),
    "looks_like": float,  # what the judge of authorship gives, 0..1
    **{f"{name}_truth": kind for name, kind in _LABELS.items()},
    **{f"{name}_simulated": kind for name, kind in _LABELS.items()},
}

SCORING_VERSION = "1"


class TurnScorer:
    """Labels, compares and judges. Keeps what is known of the truth between simulators."""

    def __init__(
        self,
        corpus: Corpus,
        labeller: Labeller | None = None,
        similarity: Similarity | None = None,
        bertscore: BertScore | None = None,
    ) -> None:
        if labeller is None:
            from realtalk.ei.embedded import EmbeddedLabeller

            labeller = EmbeddedLabeller()
        self._corpus = corpus
        self._labeller = labeller
        self._similarity = similarity or Similarity()
        self._bertscore = bertscore
        self._trials: dict[tuple[str, str, str], Trial] = {}

    @property
    def settings(self) -> dict[str, str]:
        """What the scores depend on."""
        return {
            "version": SCORING_VERSION,
            "labels": f"{self._labeller.name} "
            f"{versions_of(self._labeller, self._encoders.values())}",
            "similarity": self._similarity.version,
            "authorship": AUTHORSHIP_VERSION,
            **({} if self._bertscore is None else {"semantic": self._bertscore.version}),
        }

    def rows(
        self,
        task: PersonaTask,
        turns: Sequence[PersonaTurn],
        answers: Sequence[Answer[str]],
        progress: Progress = silent,
    ) -> list[Row]:
        """The columns of turns of the task, in order."""
        rows = [_empty(turn, answer) for turn, answer in zip(turns, answers, strict=True)]
        scored = [
            (turn, row)
            for turn, row in zip(turns, rows, strict=True)
            if row["unscored"] is None is row["untold"]
        ]
        progress(0, len(scored), f"labelling {task.speaker}")
        truths, answered = (
            self._labeller.label([self._input(turn, row[side]) for turn, row in scored])
            for side in ("truth", "answer")
        )
        for (_, row), truth, said in zip(scored, truths, answered, strict=True):
            _agree(row, truth, said)
        progress(0, len(scored), f"comparing {task.speaker}")
        self._compare([row for _, row in scored])
        progress(0, len(scored), f"who wrote it: {task.speaker}")
        trial = self._trial(task)
        if trial.judge is None:
            for _, row in scored:
                row["left_out"].append(f"taken_for: {trial.unscored}")
        else:
            shares = trial.judge.shares([row["answer"] for _, row in scored])
            for (_, row), share in zip(scored, shares, strict=True):
                row |= {"looks_like": share, "taken_for": float(share > 0.5)}
        progress(len(scored), len(scored), f"scored {task.speaker}")
        return rows

    def facts(self, task: PersonaTask, rows: Sequence[Row]) -> Row:
        """What is known of the speaker as a whole, from the rows of all turns."""
        trial = self._trial(task)
        scored = [row for row in rows if row["unscored"] is None is row["untold"]]
        # What the tested turns are written in, on which their labels depend.
        languages = Counter(
            turn_languages((task.test.id, task.speaker, turn.text) for turn in task.turns)
        )
        return {
            "learn": task.learning.chat.id,
            "test": task.test.id,
            "consistency": task.consistency,
            "learned_turns": len(task.learning.turns),
            **{
                f"distinct_{n}{which}": distinct([row[side] for row in scored], n)
                for n in (1, 2)
                for side, which in (("answer", ""), ("truth", "_truth"))
            },
            "ceiling": trial.ceiling.to_json(),
            "floor": trial.floor.to_json(),
            "judge_learned": [trial.learned_own, trial.learned_others],
            "judge_partner_from": trial.partner_from,
            "measure": self._labeller.name,
            "version": version_for(self._labeller, self._encoder(task.test.id)),
            "by_language": [{"language": name, "turns": n} for name, n in languages.items()],
        }

    def _input(self, turn: PersonaTurn, text: str) -> TurnInput:
        """A text in the turn's place: what was said before is the same for truth and simulation."""
        prompt = turn.prompt
        return TurnInput(
            chat=prompt.chat,
            session=prompt.session,
            turn=prompt.place,
            speaker=prompt.speaker,
            ids=turn.message_ids,
            time=prompt.time,
            text=text,
            previous=prompt.previous,
            history=tuple(
                (earlier.speaker, earlier.text)
                for earlier in prompt.context
                if earlier.session == prompt.session
            ),
            encoder=self._encoder(prompt.chat),
        )

    def _encoder(self, chat: str) -> EncoderName:
        """The encoder of the tested chat: what is simulated of it is measured by the same."""
        return self._encoders.get(chat, ENGLISH_ENCODER)

    @cached_property
    def _encoders(self) -> dict[str, EncoderName]:
        return {chat.id: chat_encoder(chat) for chat in self._corpus.chats}

    def _compare(self, rows: Sequence[Row]) -> None:
        pairs = [(row["answer"], row["truth"]) for row in rows]
        near = self._similarity.scores(pairs)
        # BERTScore stands instead of the shipped encoder's token matching.
        matched: list[float | None] = [None if it is None else it.f1 for it in near]
        if self._bertscore is not None:
            matched = self._bertscore.scores(pairs)
        for row, pair, similar, semantic in zip(rows, pairs, near, matched, strict=True):
            shared = overlap(*pair)
            by_words = {
                "rouge_1": shared and shared.rouge_1,
                "rouge_l": shared and shared.rouge_l,
                "length_ratio": length_ratio(*pair),
            }
            by_tokens = {"semantic": semantic, "cosine": similar and similar.cosine}
            for scores, reason in ((by_words, "no word"), (by_tokens, "no token")):
                row.update(scores)
                row["left_out"] += [f"{it}: {reason}" for it, x in scores.items() if x is None]

    def _trial(self, task: PersonaTask) -> Trial:
        key = (task.speaker, task.learning.chat.id, task.test.id)
        if key not in self._trials:
            self._trials[key] = hold_trial(self._corpus, task)
        return self._trials[key]


def _empty(turn: PersonaTurn, answer: Answer[str]) -> Row:
    unscored = None
    if answer.value is None or not answer.value.strip():
        unscored = answer.unscored or "the simulator wrote nothing"
    return {
        **dict.fromkeys(COLUMNS),
        "unscored": unscored,
        "untold": None if turn.text.strip() else WORDLESS,
        "left_out": [],
        "chat": turn.prompt.chat,
        "session": turn.prompt.session,
        "truth": turn.text,
        "answer": answer.value,
    }


def _agree(row: Row, truth: Label, said: Label) -> None:
    for name in (*AGREEMENTS, *DIFFERENCES):
        real, simulated = getattr(truth, name), getattr(said, name)
        row |= {f"{name}_truth": real, f"{name}_simulated": simulated}
        if real is None or simulated is None:
            side = truth if real is None else said
            row["left_out"].append(f"{name}: {side.unscored.get(name, 'no label')}")
        elif name in AGREEMENTS:
            row[name] = float(real == simulated)
        else:
            row[name] = abs(real - simulated)
