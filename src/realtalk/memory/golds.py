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
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.chat import Chat, Corpus, Question
from realtalk.encoders.shipped import LearnedTexts
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import join_names
from realtalk.evals.values import Row
from realtalk.files.download import DATASETS, cache_folder
from realtalk.formats.audit import UNSCORABLE, Audit, AuditedQuestion
from realtalk.registry import suggest
from realtalk.text.wordlists import data_text
from realtalk.text.words import plain_words

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
