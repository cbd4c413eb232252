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

Real turns of two people → which of them a text is taken for.

    judge = WhoWroteIt.learn(own=["haha no", "lol ok"], others=["Good evening.", "I agree."])
    judge.shares(["haha lol"])       → [0.71], how much it looks like the first
    trial = hold_trial(corpus, task) → Trial(judge, ceiling=…, floor=…, learned_own=129, …)

Logistic regression on TF-IDF of characters and words, both people weighing the same. It learns
from turns outside the tested chat: the speaker's in the chat that is learned from, the partner's
in their other chats. Where the partner has no other chat, the first half of their sessions in
the tested one is learned from and only the second is asked about. The speaker's turns in the
tested chat are never learned from. `ceiling` is how often they are taken for the speaker,
`floor` how often the partner's are; chance is .5. A simulator may give back a turn that was
learned from word for word: such a text is judged by a model that was not told its writer. Even
so it carries the topics of the learned chat, so that `retrieve` may pass the ceiling.

    guesser = ByStyle()                     # "classifier"
    guesser.prepare(task.learning)
    guesser.solve([lineup])                 → [Answer(2)], the place of the reply

Two ways to guess who wrote it without a language model: `classifier` takes the reply that looks
most like the speaker's turns, `nearness` the one whose meaning is nearest to what was said before,
to what the speaker wrote elsewhere, or to both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from realtalk.chat import Chat, Corpus
from realtalk.ei.encoder_choice import ENGLISH_ENCODER, EncoderName
from realtalk.ei.labels import (
    Label,
    Labeller,
    TurnInput,
    chat_encoder,
    turn_text,
    version_for,
    versions_of,
)
from realtalk.ei.told_apart import sparse_features
from realtalk.evals.values import Answer, PlainSolver, Row, Score, Settings, evenly, of_groups
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Encoder, Similarity, shipped_encoder
from realtalk.metrics.statistics import (
    SEED,
    Estimate,
    bootstrap_interval,
    cohen_kappa,
    jensen_shannon,
    wilson,
)
from realtalk.metrics.texts import distinct, length_ratio, overlap
from realtalk.persona.bertscore import BertScore
from realtalk.persona.lineups import Lineup
from realtalk.persona.simulators import gist, refuse_empty
from realtalk.persona.values import Learning, PersonaTask, PersonaTurn
from realtalk.registry import known_name
from realtalk.text.languages import turn_languages

AUTHORSHIP_VERSION = "1"
_FOLDS = 5
FEWEST_TURNS = 10  # turns of each side, below which nothing is learned
_TOO_FEW = f"fewer than {FEWEST_TURNS} turns of one side to learn from"


class WhoWroteIt:
    """Tells one person's turns from another's."""

    def __init__(self, features: Any, models: Sequence[Any], fold_of: Mapping[str, int]) -> None:
        self._features = features
        self._models = models
        self._fold_of = fold_of

    @classmethod
    def learn(cls, own: Sequence[str], others: Sequence[str]) -> WhoWroteIt:
        """Five models, each of which was not told who wrote a fifth of the texts."""
        from sklearn.linear_model import LogisticRegression

        fold_of: dict[str, int] = {}
        for side in (own, others):
            for at, text in enumerate(dict.fromkeys(side)):
                fold_of.setdefault(text, at % _FOLDS)
        texts = [*own, *others]
        whose = np.array([1] * len(own) + [0] * len(others))
        folds = np.array([fold_of[text] for text in texts])
        features = sparse_features()
        table = features.fit_transform(texts).tocsr()
        models = [
            LogisticRegression(
                C=4.0, class_weight="balanced", solver="liblinear", random_state=SEED
            ).fit(table[folds != fold], whose[folds != fold])
            for fold in range(_FOLDS)
        ]
        return cls(features, models, fold_of)

    def shares(self, texts: Sequence[str]) -> list[float]:
        """How much each text looks like the first person's: above .5 it is taken for theirs.

        A text that was learned from is judged by the model that was not told its writer, any
        other by the mean of all.
        """
        if not texts:
            return []
        table = self._features.transform(list(texts))
        chances = np.array([model.predict_proba(table)[:, 1] for model in self._models])
        return [
            float(chances[fold, at] if fold is not None else chances[:, at].mean())
            for at, fold in enumerate(self._fold_of.get(text) for text in texts)
        ]


class Trial(NamedTuple):
    """A judge for one speaker, and what real turns get from it. No judge: too little to learn."""

    judge: WhoWroteIt | None
    ceiling: Estimate
    floor: Estimate
    learned_own: int
    learned_others: int
    partner_from: str  # "other chats", or "the tested chat, first half"


def hold_trial(corpus: Corpus, task: PersonaTask) -> Trial:
    """Learns to tell the task's speaker from their partners in the tested chat."""
    partners = set(task.test.speakers) - {task.speaker}
    own = [turn.text for turn in task.learning.turns]
    # The chat to learn from may hold the same partner: their turns there are outside the test.
    elsewhere = [
        chat
        for chat in corpus.chats
        if chat.id != task.test.id and not partners.isdisjoint(chat.speakers)
    ]
    others = [text for chat in elsewhere for text in _texts_of(chat, partners)]
    partner_texts = _texts_of(task.test, partners)
    source = "other chats"
    if len(others) < FEWEST_TURNS:
        half = len(task.test.sessions) // 2
        early = {session.number for session in task.test.sessions[:half]}
        others = _texts_of(task.test, partners, early)
        partner_texts = partner_texts[len(others) :]
        source = "the tested chat, first half"
    if min(len(own), len(others)) < FEWEST_TURNS:
        none = Estimate(None, unscored=_TOO_FEW)
        return Trial(None, none, none, len(own), len(others), source)
    judge = WhoWroteIt.learn(own, others)
    truths = [turn.text for turn in task.turns if turn.text]
    return Trial(
        judge,
        share_taken(judge.shares(truths)),
        share_taken(judge.shares(partner_texts)),
        len(own),
        len(others),
        source,
    )


def _texts_of(chat: Chat, who: set[str], sessions: set[int] | None = None) -> list[str]:
    return [
        text
        for turn in chat.turns
        if turn.speaker in who
        and (sessions is None or turn.session in sessions)
        and (text := turn_text(turn)).strip()
    ]


def share_taken(shares: Sequence[float]) -> Estimate:
    """How often texts are taken for the speaker."""
    hits = [float(share > 0.5) for share in shares]
    if not hits:
        return Estimate(None, unscored="no text")
    low, high = wilson(hits)
    return Estimate(sum(hits) / len(hits), low, high, len(hits))


_TO = ("both", "context", "speaker")
_NEAREST = 5  # turns of the speaker that a reply is compared with


class ByStyle(PlainSolver):
    """By the classifier of authorship."""

    name = "classifier"

    def __init__(self) -> None:
        self._judge: WhoWroteIt | None = None

    @property
    def settings(self) -> Settings:
        return {"authorship": AUTHORSHIP_VERSION}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        progress(0, 0, f"reading {learning.chat.id}")
        own = [turn.text for turn in learning.turns]
        others = _texts_of(learning.chat, set(learning.chat.speakers) - {learning.speaker})
        enough = min(len(own), len(others)) >= FEWEST_TURNS
        self._judge = WhoWroteIt.learn(own, others) if enough else None

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:  # noqa: ARG002
        if self._judge is None:
            return [Answer(None, _TOO_FEW)] * len(shown)
        shares = iter(self._judge.shares([text for lineup in shown for text in lineup.replies]))
        return [Answer(int(np.argmax([next(shares) for _ in lineup.replies]))) for lineup in shown]


class ByMeaningNear(PlainSolver):
    """By the cosine of sentence vectors.

    `to` the context is to the last two turns, `to` the speaker to the nearest of their turns in
    the chat that is learned from; a reply that stands there word for word is not compared with
    itself.
    """

    name = "nearness"

    def __init__(self, *, to: str = "both", encoder: Encoder | None = None) -> None:
        known_name("side to be near to", to, _TO)
        self._to = to
        self._encoder = encoder or shipped_encoder()
        self._texts: list[str] = []

    @property
    def settings(self) -> Settings:
        return {"to": self._to, "nearness": f"encoder {self._encoder.version}"}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        refuse_empty(learning)
        progress(0, 0, f"reading {learning.chat.id}")
        self._texts = list(dict.fromkeys(turn.text for turn in learning.turns))
        self._own = self._encoder.embed(self._texts)

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:
        progress(0, len(shown), "finding the nearest reply")
        vectors = iter(self._encoder.embed([text for lineup in shown for text in lineup.replies]))
        contexts = self._encoder.embed([gist(lineup.prompt) for lineup in shown])
        answers = []
        for lineup, context in zip(shown, contexts, strict=True):
            replies = np.array(list(islice(vectors, len(lineup.replies))))
            near = np.zeros(len(replies))
            if self._to != "speaker":
                near += replies @ context
            if self._to != "context":
                cosines = replies @ self._own.T
                for row, text in zip(cosines, lineup.replies, strict=True):
                    if text in self._texts and len(self._texts) > 1:
                        row[self._texts.index(text)] = -1.0
                near += np.sort(cosines, axis=1)[:, -_NEAREST:].mean(axis=1)
            answers.append(Answer(int(np.argmax(near))))
        return answers


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
                row["left_out"].append(f"taken_for: {_TOO_FEW}")
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
