"""What counts as right: the published golds, audited ones, or those of a public board.

    golds = golds_named("audited")         # "published", "audited", "lmeb", or a corrected file
    golds.of(chat)["Q3"]                   → Gold("full-time", accept=("40 hours a week",), …)
    golds.of(chat)["Q7"].left_out          → "the audit calls it unanswerable"
    names_in(chat, "Nessa's oven")         → ("Nessa=Ines",)

`published` takes what the corpus says. `audited` takes the evidence of the audit
(`corpora.audit`); its answer where it finds the published one wanting, else the published one,
so that a figure moves only where a gold was wrong; and other answers that are also right.
`lmeb` takes the questions of MTEB's LMEB board: those with a piece of evidence that equals a
message's id as published, without any normalising, and these messages alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from realtalk.chat import Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.formats.audit import UNSCORABLE, Audit, AuditedQuestion
from realtalk.registry import suggest
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

    def audited(self, chat: Chat) -> Mapping[str, AuditedQuestion]:
        """What the audit says of a chat's questions, by their ids."""
        return {} if self.audit is None else self.audit.of(chat)

    def of(self, chat: Chat) -> dict[str, Gold]:
        """The golds of a chat's questions by their ids; what the set does not ask is missing."""
        known = self.audited(chat)
        golds = {q.id: self._gold(chat, q, known.get(q.id)) for q in chat.questions}
        return {id_: gold for id_, gold in golds.items() if gold is not None}

    def refuse_unknown(self, corpus: Corpus) -> None:
        """Raises where the set has nothing to say of any chat."""
        if self.kind == AUDITED and not any(self.audited(chat) for chat in corpus.chats):
            raise RealtalkError(
                "no chat here was audited",
                where=corpus.name,
                fix="the audit knows the ten REALTALK chats; use `golds=published`",
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
        return published_gold(question)


def published_gold(question: Question) -> Gold:
    """What the corpus itself says."""
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
        return Golds(name, Audit.shipped())
    path = Path(name)
    if path.suffix or len(path.parts) > 1 or path.exists():
        corrected = Audit.read(path)
        return Golds(corrected.name, corrected)
    raise suggest("set of golds", name, [*GOLDS, "a corrected file"])


def names_in(chat: Chat, *texts: str) -> tuple[str, ...]:
    """Aliases of the chat that stand in some text, each as "alias=speaker": the same person."""
    said = set(plain_words(" ".join(texts).casefold()))
    return tuple(
        dict.fromkeys(
            f"{alias.name}={alias.speaker}"
            for alias in chat.aliases
            if set(plain_words(alias.name.casefold())) & said
        )
    )
