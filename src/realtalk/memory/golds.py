"""What counts as right: the published golds, audited ones, or those of a public board.

    golds = golds_named("audited")         # "published", "audited", "lmeb", or a corrected file
    golds.of(chat)["Q3"]                   → Gold("full-time", accept=("40 hours a week",), …)
    golds.of(chat)["Q7"].left_out          → "the audit calls it unanswerable"
    names_in(chat, "Nessa's oven")         → ("Nessa=Ines",)

`published` takes what the corpus says. `audited` takes the evidence of the audit
(`formats.audit`); its answer where it finds the published one wanting, else the published one,
so that a figure moves only where a gold was wrong; and other answers that are also right. Of LoCoMo
it takes the corrections that the user fetched (`data get locomo-audit`), which are not ours.
`lmeb` takes the questions of MTEB's LMEB board: those with a piece of evidence that equals a
message's id as published, without any normalising, and these messages alone.

Questions that shipped parts of a probe learned from: such scores are in-sample, and are told so.

    parts = learning_parts("retrieved", {"way": "fused"})
    → {"XPersona": ("the retrieval encoder", "its ranking weights"), …}
    InSample(parts).of(chat, question)        → "XPersona", or None
    learned_lines(rows, settings)             → ["in-sample: 12 of 728 questions …"]

Recognised by the content of chats and questions (`encoders.shipped`), whatever the file is called.

What the REALTALK paper reports of memory probing, to stand beside what is measured here.

    TABLE_3[0]    → PublishedLine("gpt-4o-mini", "whole", f1={"multi_hop": 0.301, ...}, ...)

Table 3 of arXiv:2502.13270: partial-match F1 and accuracy by gpt-4o-mini as judge, over the
728 questions of ten chats. It gives no intervals.

Answers → right or wrong, by a language model that is not the one under test.

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
import tomllib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.chat import Chat, Corpus, Question
from realtalk.encoders.shipped import LearnedTexts
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import Prompts, join_names
from realtalk.evals.values import COUNTS, JUDGED_KEY, Row, row_key
from realtalk.files.download import DATASETS, cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.formats.audit import UNSCORABLE, Audit, AuditedQuestion
from realtalk.metrics.answers import ABSTAINING
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask
from realtalk.registry import suggest
from realtalk.text.wordlists import data_text
from realtalk.text.words import plain_words

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
            row, wording = waiting[int(place)]
            judgement = {
                **dict(zip(JUDGED_KEY, self._key(row, wording), strict=True)),
                "right": None if reply.text is None else read_verdict(reply.text),
                "unscored": reply.reason or None,
                "of": _hash(row["answer"]),
                "base_url": self.config.address,
            }
            keep(judgement | {name: getattr(reply, name) for name in COUNTS})

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


PUBLISHED, AUDITED, LMEB = "published", "audited", "lmeb"
GOLDS = (PUBLISHED, AUDITED, LMEB)
NOT_AUDITED = "the audit does not cover it"


@dataclass(frozen=True, slots=True)
class Gold:
    """What one answer and one ranking are held against; `left_out` says why nothing is."""

    answer: str | None
    accept: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    unresolved: int = 0
    left_out: str = ""


@dataclass(frozen=True)
class Golds:
    """One of the sets. `audit` is what is known of questions, whichever set is scored by."""

    name: str = PUBLISHED
    audit: Audit | None = None

    @property
    def kind(self) -> str:
        """published, audited or lmeb: a corrected audit is an audited set too."""
        return AUDITED if self.name.startswith(AUDITED) else self.name

    def audit_of(self, chat: Chat) -> Mapping[str, AuditedQuestion]:
        """What the audit says of a chat's questions, by their ids."""
        return {} if self.audit is None else self.audit.of(chat)

    def of(self, chat: Chat) -> dict[str, Gold]:
        """The golds of a chat's questions by their ids; what the set does not ask is missing."""
        audit = self.audit_of(chat)
        golds = {q.id: self._gold(chat, q, audit.get(q.id)) for q in chat.questions}
        return {id_: gold for id_, gold in golds.items() if gold is not None}

    def refuse_unknown(self, corpus: Corpus) -> None:
        """Raises where the set has nothing to say of any chat."""
        if self.kind == AUDITED and not any(self.audit_of(chat) for chat in corpus.chats):
            raise RealtalkError(
                "no chat here was audited",
                where=corpus.name,
                fix="the audit knows REALTALK's ten chats, and LoCoMo's after `realtalk data get "
                "locomo-audit`; use `golds=published`",
            )
        if self.kind == LMEB and not any(self.of(chat) for chat in corpus.chats):
            raise RealtalkError(
                "no question here names a message by its id",
                where=corpus.name,
                fix="the board asks about the ten REALTALK chats; use `golds=published`",
            )

    def _gold(self, chat: Chat, question: Question, audited: AuditedQuestion | None) -> Gold | None:
        if self.kind == AUDITED:
            return audited_gold(question.answer, audited)
        if self.kind == LMEB:
            exact = tuple(dict.fromkeys(id_ for id_ in question.stated if id_ in chat.by_id))
            return Gold(question.answer, (), exact) if exact else None
        return Gold(question.answer, (), question.evidence, len(question.unresolved))


def audited_gold(published: str | None, audited: AuditedQuestion | None) -> Gold:
    """The audit's gold of a question whose published answer is given."""
    if audited is None:
        return Gold(published, left_out=NOT_AUDITED)
    if audited.verdict in UNSCORABLE:
        return Gold(published, left_out=f"the audit calls it {audited.verdict}")
    fine = audited.verdict == "ok" and published is not None
    answer = published if fine else audited.answer
    others = (audited.answer, *audited.accept) if fine else audited.accept
    return Gold(answer, others, audited.evidence)


def golds_named(name: str = PUBLISHED) -> Golds:
    """The set of that name, or the audit in a file that the studio exported."""
    if name in GOLDS:
        return Golds(name, Audit.load_shipped().with_fetched(cache_folder() / "locomo-audit"))
    path = Path(name)
    if path.suffix or len(path.parts) > 1 or path.exists():
        corrected = Audit.read(path)
        return Golds(corrected.name, corrected)
    raise suggest("set of golds", name, [*GOLDS, "a corrected file"])


def names_in(chat: Chat, *texts: str) -> tuple[str, ...]:
    """Aliases of the chat that stand in some text, each as "alias=speaker": the same person."""
    words = set(plain_words(" ".join(texts).casefold()))
    return tuple(
        dict.fromkeys(
            f"{alias.name}={alias.speaker}"
            for alias in chat.aliases
            if set(plain_words(alias.name.casefold())) & words
        )
    )


_ENCODER, _WEIGHTS = "the retrieval encoder", "its ranking weights"
# What the retriever learned from: no text of a benchmark.
_OWN = ("BConTrasT", "XPersona", "invented chats")


def learning_parts(memory: str, settings: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The sets that a memory learned from, each with the parts that did."""
    way = settings.get("way", "fused") if memory == "retrieved" else None
    parts = {"fused": (_ENCODER, _WEIGHTS), "encoder": (_ENCODER,)}.get(str(way), ())
    return dict.fromkeys(_OWN, parts) if parts else {}


class InSample:
    """Tells which questions the given parts learned from."""

    def __init__(self, parts: Mapping[str, tuple[str, ...]]) -> None:
        self._parts = parts
        self._chats: dict[str, str | None] = {}

    @cached_property
    def _training_texts(self) -> LearnedTexts:
        sets = LearnedTexts.of("memory", "memory_multilingual").sets
        return LearnedTexts({name: hashes for name, hashes in sets.items() if name in self._parts})

    def of(self, chat: Chat, question: Question) -> str | None:
        """The set that a question or its chat is part of; None where it is new to all parts."""
        if not self._parts:
            return None
        if chat.id not in self._chats:
            self._chats[chat.id] = self._training_texts.chat(
                message.text for message in chat.messages
            )
        return self._chats[chat.id] or self._training_texts.text(question.text)


def in_sample(rows: Iterable[Row], settings: Mapping[str, Any]) -> dict[str, Any]:
    """How many of a run's questions which parts learned from, by set; empty where none did."""
    memory = settings["solver"]["settings"]["memory"]
    parts = learning_parts(str(memory["name"]), memory.get("settings") or {})
    questions = {(row["group"], row["sample"]): row["learned"] for row in rows}
    names = dict.fromkeys(name for name in questions.values() if name is not None)
    return {
        name: {
            "questions": sum(set_name == name for set_name in questions.values()),
            "of": len(questions),
            "learned_by": list(parts.get(name, ())),
        }
        for name in names
    }


def learned_lines(rows: Iterable[Row], settings: Mapping[str, Any]) -> list[str]:
    """One line per set, for whoever reads the table."""
    return [
        f"in-sample: {facts['questions']:,} of {facts['of']:,} questions, or their chats, are "
        f"{name}, from which {join_names(facts['learned_by'])} learned: expect less on other chats"
        for name, facts in in_sample(rows, settings).items()
    ]


class PublishedLine(NamedTuple):
    """One line of the table. `memory` is our name for its input: C is whole, E is events."""

    model: str
    memory: str
    f1: Mapping[str, float]
    accuracy: Mapping[str, float]


_FILE = tomllib.loads(data_text("realtalk.memory", "published.toml"))
TABLE_3 = tuple(PublishedLine(**row) for row in _FILE["table_3"])


def are_published(chats: Iterable[str]) -> bool:
    """Whether these are the chats (or some of them) that the table is about."""
    names = {file.name.removesuffix(".json") for file in DATASETS["realtalk"].files}
    return names.issuperset(chats)
