"""What people say of the audit's verdicts → a file of reviews, and the corrected audit.

    reviews = AuditReviews.open(Path("annotations.audit.json"), Audit.shipped())
    reviews.decide(chat, "Q3", "Ana", AuditDecision("reject", comment="she says so in D4:7"))
    reviews.of(chat)["Q3"]        → {"Ana": AuditDecision("reject", …)}
    reviews.corrected([chat])     → Audit in which Q3 is as published

*Accept* keeps what the audit says, with who looked at it. *Reject* puts the published answer and
evidence back as ok. A corrected `verdict` or `answer` replaces the audit's. Where two people
disagree, the audit stays as it is and the comment says so. The file holds keys and what people
typed, no text of the chats, and is its owner's only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from realtalk.chat import Chat, Question
from realtalk.errors import RealtalkError
from realtalk.files.writing import write_json
from realtalk.formats.audit import VERDICTS, Audit, AuditedQuestion, chat_key, question_key

Choice = Literal["accept", "reject", "correct"]
_CHOICES: tuple[str, ...] = get_args(Choice)
_LONGEST = 2_000  # letters of a comment or an answer


@dataclass(frozen=True, slots=True)
class AuditDecision:
    """What one person says of one verdict; `verdict` and `answer` are of a correction."""

    choice: Choice
    comment: str = ""
    verdict: str = ""
    answer: str = ""

    def __post_init__(self) -> None:
        if self.choice not in _CHOICES:
            raise RealtalkError("no such choice", fix=f"known: {', '.join(_CHOICES)}")
        if self.choice == "correct" and self.verdict not in VERDICTS:
            raise RealtalkError("no such verdict", fix=f"known: {', '.join(VERDICTS)}")
        if max(len(self.comment), len(self.answer)) > _LONGEST:
            raise RealtalkError(f"a comment or an answer has at most {_LONGEST:,} letters")


class AuditReviews:
    """The reviews of an audit, kept in one file; several pages may write at once."""

    def __init__(self, path: Path, audit: Audit, known: dict[str, dict[str, Any]]) -> None:
        self.path = path
        self.audit = audit
        self._known = known  # "chat question" → reviewer → decision
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, audit: Audit) -> AuditReviews:
        """The reviews in the file; none where there is no file yet."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return cls(path, audit, {})
        except OSError as error:
            raise RealtalkError(f"cannot be read ({error.strerror})", where=str(path)) from error
        try:
            known = orjson.loads(data)
            for said in known.values():
                for each in said.values():
                    AuditDecision(**each)
        except (ValueError, TypeError, AttributeError, RealtalkError) as error:
            raise RealtalkError("not a file of reviews", where=str(path)) from error
        return cls(path, audit, known)

    def of(self, chat: Chat) -> dict[str, dict[str, AuditDecision]]:
        """What everybody says of a chat's audited questions, by their ids."""
        key = chat_key(chat)
        with self._lock:
            return {
                question.id: {
                    who: AuditDecision(**each)
                    for who, each in self._known.get(_place(key, question), {}).items()
                }
                for question in chat.questions
            }

    def decide(self, chat: Chat, id_: str, who: str, decision: AuditDecision) -> None:
        """Keeps what somebody says; the last word of each person counts."""
        questions = {question.id: question for question in chat.questions}
        if id_ not in questions or id_ not in self.audit.of(chat):
            raise RealtalkError("the audit has no such question", where=f"chat {chat.id}")
        key = chat_key(chat)
        with self._lock:
            said = self._known.setdefault(_place(key, questions[id_]), {})
            before = said.get(who)
            said[who] = asdict(decision)
            try:
                write_json(self.path, self._known)
            except OSError:
                # What is not on the disk was not said.
                said.pop(who)
                if before is not None:
                    said[who] = before
                raise

    def corrected(self, chats: Iterable[Chat]) -> Audit:
        """The audit of these chats as people corrected it."""
        made: dict[str, dict[str, AuditedQuestion]] = {}
        for chat in chats:
            found, said = self.audit.of(chat), self.of(chat)
            if found:
                made[chat_key(chat)] = {
                    question_key(question): _settled(question, found[question.id], said)
                    for question in chat.questions
                    if question.id in found
                }
        if not made:
            raise RealtalkError("no chat here was audited", fix="open one of REALTALK's chats")
        return Audit("corrected", made)


def _place(chat: str, question: Question) -> str:
    return f"{chat} {question_key(question)}"


def _settled(
    question: Question,
    found: AuditedQuestion,
    said: Mapping[str, Mapping[str, AuditDecision]],
) -> AuditedQuestion:
    decisions = said.get(question.id, {})
    if not decisions:
        return found
    who = ", ".join(decisions)
    comment = "; ".join(
        f"{name}: {each.comment}" for name, each in decisions.items() if each.comment
    )
    first, *others = decisions.values()
    same = all(
        (each.choice, each.verdict, each.answer) == (first.choice, first.verdict, first.answer)
        for each in others
    )
    if not same:
        told = ", ".join(f"{name} {each.choice}s" for name, each in decisions.items())
        return replace(found, reviewed=who, comment=f"disagreed: {told}. {comment}".strip())
    marked = replace(found, reviewed=who, comment=comment)
    if first.choice == "reject":
        return replace(
            marked,
            verdict="ok",
            answer=question.answer or found.answer,
            accept=(),
            evidence=question.evidence or found.evidence,
            evidence_changed=not question.evidence,
        )
    if first.choice == "correct":
        answer = first.answer.strip() or found.answer
        kept = tuple(each for each in found.accept if each != answer)
        return replace(marked, verdict=_verdict(first.verdict), answer=answer, accept=kept)
    return marked


def _verdict(name: str) -> Any:
    return next(each for each in VERDICTS if each == name)
