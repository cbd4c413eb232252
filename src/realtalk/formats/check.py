"""What is odd about a corpus: every finding named, counted and placed.

    check(corpus) → CheckReport(findings=(CheckFinding("evidence-unresolved", "warning",
                                                  "Chat_9_Fahim_Akib", "Q14", "D2:31: ..."), ...))

An *error* makes some result wrong or impossible, a *warning* may, a *note* is worth knowing.
The details hold ids and counts, and the reasons of the audit, never message text.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import chain
from typing import Any, Literal

from realtalk.chat import Chat, Corpus
from realtalk.formats.audit import Audit
from realtalk.formats.questions import known_categories
from realtalk.formats.reading import Ledger

Severity = Literal["error", "warning", "note"]

_TABLE = files("realtalk.formats").joinpath("rules.toml").read_text("utf-8")
RULES: dict[str, tuple[Severity, str]] = {
    rule: (severity, meaning) for rule, (severity, meaning) in tomllib.loads(_TABLE).items()
}


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One oddity: which rule, where, and the particulars."""

    rule: str
    severity: Severity
    chat: str
    where: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Every finding, in the order of the corpus."""

    findings: tuple[CheckFinding, ...]

    def counts(self) -> dict[str, int]:
        """Findings by rule, in the order of RULES, without zeros."""
        by_rule = Counter(finding.rule for finding in self.findings)
        return {rule: by_rule[rule] for rule in RULES if by_rule[rule]}

    def severity(self) -> Severity | None:
        """The gravest severity among the findings."""
        present = {finding.severity for finding in self.findings}
        order: tuple[Severity, ...] = ("error", "warning", "note")
        return next((level for level in order if level in present), None)

    def to_json(self) -> dict[str, Any]:
        levels = Counter(finding.severity for finding in self.findings)
        return {
            "severity": self.severity(),
            "errors": levels["error"],
            "warnings": levels["warning"],
            "notes": levels["note"],
            "counts": self.counts(),
            "findings": [asdict(finding) for finding in self.findings],
        }


def check(corpus: Corpus, ledger: Ledger | None = None) -> CheckReport:
    """Looks at every chat; the ledger adds what the reader could not place."""
    categories = known_categories(corpus.format)
    hits: list[tuple[str, RuleHit]] = []
    for chat in corpus.chats:
        found = chain(
            _messages(chat),
            _events(chat),
            _questions(chat, categories),
            _audit_hits(chat),
            (("alias", alias.source, f"{alias.name} is {alias.speaker}") for alias in chat.aliases),
        )
        hits += ((chat.id, hit) for hit in found)
    for leftover in ledger.leftovers if ledger else ():
        hits.append(("", ("left-over", leftover.where, leftover.reason)))
    return CheckReport(
        tuple(
            CheckFinding(rule, RULES[rule][0], chat, where, detail)
            for chat, (rule, where, detail) in hits
        )
    )


RuleHit = tuple[str, str, str]  # rule, where, detail


def _messages(chat: Chat) -> Iterator[RuleHit]:
    ids: set[str] = set()
    listed = frozenset(chat.speakers)
    untimed = foreign = total = 0
    last_session = None
    for session in chat.sessions:
        where = f"session {session.number}"
        if not session.messages:
            yield "session-empty", where, ""
        if session.time and last_session and session.time < last_session:
            yield "session-order", where, f"{session.time} after {last_session}"
        last_session = session.time or last_session
        last = None
        for message in session.messages:
            total += 1
            if message.id in ids:
                yield "duplicate-id", message.id, where
            ids.add(message.id)
            if message.speaker not in listed:
                yield "speaker-unlisted", message.id, ""
            if not (message.text.strip() or message.attachments or message.deleted):
                yield "message-empty", message.id, ""
            if message.time is None:
                untimed += 1
            elif last and message.time < last:
                yield "out-of-order", message.id, f"{message.time} after {last}"
            last = message.time or last
            head, colon, _ = message.id.partition(":")
            foreign += bool(colon) and head[:1] == "D" and head != f"D{session.number}"
    if untimed:
        yield "time-missing", "messages", f"{untimed:,} of {total:,}"
    if foreign:
        yield "id-session", "messages", f"{foreign:,} of {total:,}"


def _events(chat: Chat) -> Iterator[RuleHit]:
    numbers = {session.number for session in chat.sessions}
    for event in chat.events:
        where = f"session {event.session}"
        if event.session not in numbers:
            yield "event-session-missing", where, ""
        if not event.text.strip():
            yield "event-empty", where, event.speaker or ""


def _questions(chat: Chat, categories: frozenset[str]) -> Iterator[RuleHit]:
    order = {message.id: message for message in chat.messages}
    for question in chat.questions:
        if not question.text.strip():
            yield "question-empty", question.id, ""
        if categories and question.category not in categories:
            yield "category-unknown", question.id, question.category or "(none)"
        if not (question.answer or "").strip() and question.category != "adversarial":
            yield "answer-missing", question.id, ""
        if not any(piece.strip() for piece in question.stated or question.evidence):
            yield "evidence-missing", question.id, ""
        for piece in question.unresolved:
            yield "evidence-unresolved", question.id, f"{piece}{_beside_photo(piece, order)}"
        if question.stated and set(question.evidence) - set(question.stated):
            mistyped = [piece for piece in question.stated if piece and piece not in order]
            yield "evidence-repaired", question.id, ", ".join(mistyped)


def _audit_hits(chat: Chat) -> Iterator[RuleHit]:
    """What the shipped audit found of published questions; its reasons are its own words."""
    for id_, audit in Audit.load_shipped().of(chat).items():
        if audit.verdict != "ok":
            yield f"gold-{audit.verdict}", id_, audit.why
        if audit.evidence_changed:
            yield "evidence-audited", id_, ", ".join(audit.evidence)


def _beside_photo(piece: str, messages: dict[str, Any]) -> str:
    """Where the id of a photo-only bubble went: published chats gave the photo to a neighbour."""
    day, colon, number = piece.partition(":")
    if not (colon and number.isdigit()):
        return ""
    for near in (f"{day}:{int(number) + 1}", f"{day}:{int(number) - 1}"):
        message = messages.get(near)
        if message is not None and any(file.kind == "image" for file in message.attachments):
            return f" (next to {near}, which carries a photo)"
    return ""
