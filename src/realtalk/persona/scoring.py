"""Simulated turns and what the person wrote → one row of scores per turn.

    scorer = TurnScorer(corpus)
    rows = scorer.rows(task, task.turns, simulator.solve(task.prompts))
    rows[0]["rouge_1"], rows[0]["emotion"], rows[0]["empathy"]    → 0.12, 1.0, 0.8
    scorer.facts(task, rows)["ceiling"]    → how often the person's real turns are taken for theirs

Both texts are labelled by the same measure, each after the turn that was really said before. A
turn that was not simulated is unscored with its reason, and so is a single score that cannot be
made. A turn in which the person wrote no words has no truth, and counts nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import ENGLISH_ENCODER, EncoderName
from realtalk.ei.labels import (
    Label,
    Labeller,
    TurnInput,
    chat_encoder,
    version_for,
    versions_of,
)
from realtalk.evals.values import Answer, Row
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity, encoder_shipped
from realtalk.metrics.texts import distinct, length_ratio, overlap
from realtalk.persona.authorship import AUTHORSHIP_VERSION, Trial, hold_trial
from realtalk.persona.bertscore import BertScore, Matched
from realtalk.persona.rows import AGREEMENTS, DIFFERENCES, SCORES, WORDLESS
from realtalk.persona.values import PersonaTask, PersonaTurn
from realtalk.text.languages import turn_languages

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
        self._similarity = similarity or (Similarity() if encoder_shipped() else None)
        self._bertscore = bertscore
        self._truths: dict[tuple[str, str], Label] = {}
        self._trials: dict[tuple[str, str, str], Trial] = {}

    @property
    def settings(self) -> dict[str, str]:
        """What the scores depend on."""
        return {
            "version": SCORING_VERSION,
            "labels": f"{self._labeller.name} "
            f"{versions_of(self._labeller, self._encoders.values())}",
            "similarity": "none" if self._similarity is None else self._similarity.version,
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
        scored = [(turn, row) for turn, row in zip(turns, rows, strict=True) if _can(row)]
        progress(0, len(scored), f"labelling {task.speaker}")
        self._label(scored)
        progress(0, len(scored), f"comparing {task.speaker}")
        self._compare([row for _, row in scored])
        progress(0, len(scored), f"who wrote it: {task.speaker}")
        self._judge(self._trial(task), [row for _, row in scored])
        progress(len(scored), len(scored), f"scored {task.speaker}")
        return rows

    def facts(self, task: PersonaTask, rows: Sequence[Row]) -> Row:
        """What is known of the speaker as a whole, from the rows of all turns."""
        return {**_facts(task, self._trial(task), rows), **self._spoken(task)}

    def _spoken(self, task: PersonaTask) -> Row:
        """What the tested turns are written in, on which their labels depend."""
        told = turn_languages((task.test.id, task.speaker, turn.text) for turn in task.turns)
        counts = Counter(told)
        return {
            "measure": self._labeller.name,
            "version": version_for(self._labeller, self._encoder(task.test.id)),
            "by_language": [{"language": name, "turns": n} for name, n in counts.items()],
        }

    def _label(self, scored: Sequence[tuple[PersonaTurn, Row]]) -> None:
        new = [(t, r) for t, r in scored if (t.prompt.speaker, t.id) not in self._truths]
        labels = self._labeller.label([self._input(turn, turn.text) for turn, _ in new])
        for (turn, _), label in zip(new, labels, strict=True):
            self._truths[turn.prompt.speaker, turn.id] = label
        said = self._labeller.label([self._input(turn, row["answer"]) for turn, row in scored])
        for (turn, row), label in zip(scored, said, strict=True):
            _agree(row, self._truths[turn.prompt.speaker, turn.id], label)

    def _input(self, turn: PersonaTurn, text: str) -> TurnInput:
        return _input(turn, text, self._encoder(turn.prompt.chat))

    def _encoder(self, chat: str) -> EncoderName:
        """The encoder of the tested chat: what is simulated of it is measured by the same."""
        return self._encoders.get(chat, ENGLISH_ENCODER)

    @cached_property
    def _encoders(self) -> dict[str, EncoderName]:
        return {chat.id: chat_encoder(chat) for chat in self._corpus.chats}

    def _compare(self, rows: Sequence[Row]) -> None:
        for row in rows:
            shared = overlap(row["answer"], row["truth"])
            if shared is None:
                row["left_out"] += [f"{name}: no word" for name in ("rouge_1", "rouge_l")]
            else:
                row |= {"rouge_1": shared.rouge_1, "rouge_l": shared.rouge_l}
            row["length_ratio"] = length_ratio(row["answer"], row["truth"])
            if row["length_ratio"] is None:
                row["left_out"].append("length_ratio: no word")
        pairs = [(row["answer"], row["truth"]) for row in rows]
        if self._similarity is None:
            for row in rows:
                row["left_out"] += [f"{name}: no encoder" for name in ("semantic", "cosine")]
        else:
            for row, near in zip(rows, self._similarity.scores(pairs), strict=True):
                if near is None:
                    row["left_out"] += [f"{name}: no token" for name in ("semantic", "cosine")]
                else:
                    row |= {"semantic": near.f1, "cosine": near.cosine}
        if self._bertscore is not None:
            for row, matched in zip(rows, self._bertscore.scores(pairs), strict=True):
                _put_in_place(row, matched)

    def _trial(self, task: PersonaTask) -> Trial:
        key = (task.speaker, task.learning.chat.id, task.test.id)
        if key not in self._trials:
            self._trials[key] = hold_trial(self._corpus, task)
        return self._trials[key]

    def _judge(self, trial: Trial, rows: Sequence[Row]) -> None:
        if trial.judge is None:
            for row in rows:
                row["left_out"].append(f"taken_for: {trial.unscored}")
            return
        shares = trial.judge.shares([row["answer"] for row in rows])
        for row, share in zip(rows, shares, strict=True):
            row |= {"looks_like": share, "taken_for": float(share > 0.5)}


def _empty(turn: PersonaTurn, answer: Answer[str]) -> Row:
    row: Row = {
        "unscored": None,
        "untold": None if turn.text.strip() else WORDLESS,
        "left_out": [],
        "chat": turn.prompt.chat,
        "session": turn.prompt.session,
        "truth": turn.text,
        "answer": answer.value,
        **dict.fromkeys(SCORES),
        "looks_like": None,
    }
    for name in (*AGREEMENTS, *DIFFERENCES):
        row |= {f"{name}_truth": None, f"{name}_simulated": None}
    if answer.value is None or not answer.value.strip():
        row["unscored"] = answer.unscored or "the simulator wrote nothing"
    return row


def _can(row: Row) -> bool:
    return row["unscored"] is None is row["untold"]


def _input(turn: PersonaTurn, text: str, encoder: EncoderName) -> TurnInput:
    """A text in the turn's place: what was said before is the same for truth and simulation."""
    prompt = turn.prompt
    history = tuple(
        (each.speaker, each.text) for each in prompt.context if each.session == prompt.session
    )
    place = int(prompt.id.rpartition("#")[2])
    return TurnInput(
        chat=prompt.chat,
        session=prompt.session,
        turn=place,
        speaker=prompt.speaker,
        ids=turn.message_ids,
        time=prompt.time,
        text=text,
        previous=prompt.previous,
        history=history,
        encoder=encoder,
    )


def _agree(row: Row, truth: Label, said: Label) -> None:
    for name in (*AGREEMENTS, *DIFFERENCES):
        real, made = getattr(truth, name), getattr(said, name)
        row |= {f"{name}_truth": real, f"{name}_simulated": made}
        if real is None or made is None:
            side = truth if real is None else said
            row["left_out"].append(f"{name}: {side.unscored.get(name, 'no label')}")
        elif name in AGREEMENTS:
            row[name] = float(real == made)
        else:
            row[name] = abs(real - made)


def _put_in_place(row: Row, matched: Matched | None) -> None:
    """BERTScore instead of the shipped encoder's token matching."""
    kept = [why for why in row["left_out"] if not why.startswith("semantic:")]
    row |= {"left_out": kept, "semantic": None if matched is None else matched.f1}
    if matched is None:
        row["left_out"].append("semantic: no token")


def _facts(task: PersonaTask, trial: Trial, rows: Sequence[Row]) -> Row:
    said = [row["answer"] for row in rows if _can(row)]
    truths = [row["truth"] for row in rows if _can(row)]
    varied: Mapping[str, Any] = {
        f"distinct_{n}{which}": distinct(texts, n)
        for n in (1, 2)
        for texts, which in ((said, ""), (truths, "_truth"))
    }
    return {
        "learn": task.learning.chat.id,
        "test": task.test.id,
        "consistency": task.settings.get("consistency"),
        "learned_turns": len(task.learning.turns),
        **varied,
        "ceiling": trial.ceiling.to_json(),
        "floor": trial.floor.to_json(),
        "judge_learned": [trial.learned_own, trial.learned_others],
        "judge_partner_from": trial.partner_from,
    }
