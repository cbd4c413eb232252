"""What an audit found of published questions, known by what a chat and a question say.

    audit = Audit.load_shipped()
    audit.of(chat)                       → {"Q3": AuditedQuestion("wrong", answer="full-time", …)}
    audit.of(another_chat)               → {}: a chat that was not audited is never taken for one
    Audit.read(Path("corrected.jsonl"))  → one that people corrected in the studio

    Audit.read(Path("errors.json"))      → LoCoMo's, corrected by others (`data get locomo-audit`)

LoCoMo's corrections name a chat and a question by their place, with what was asked: a chat is taken
for one of them only where all of its questions are found there. Questions that they do not name
were found right; they leave out LoCoMo's adversarial ones.

A chat is known by the ids and letters of all its messages, a question by its own letters and
those of its published answer: not by the name of a file. A question whose answer was changed
since is another one, of which the audit says nothing. The shipped file holds hashes, message ids
and short answers and reasons that are ours, no text of the chats; docs/results/audit.md tells how
it was made and where it is weak.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import orjson

from realtalk.chat import Chat, Question
from realtalk.errors import RealtalkError
from realtalk.files.json_objects import parse_objects, read_whole
from realtalk.formats.json_input import mapping
from realtalk.formats.questions import resolve

Verdict = Literal["ok", "wrong", "incomplete", "ambiguous", "unanswerable", "malformed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
# What a score cannot be made of: there is no right answer to hold another against.
UNSCORABLE: frozenset[str] = frozenset({"unanswerable", "malformed"})

MEANINGS: Mapping[Verdict, str] = MappingProxyType(
    {
        "ok": "the chat says so",
        "wrong": "the chat says otherwise, or it is about another person",
        "incomplete": "it misses or adds items that matter",
        "ambiguous": "several answers are equally supported",
        "unanswerable": "the chat does not tell",
        "malformed": "it is no answer at all",
    }
)
_LARGEST = 16 << 20  # bytes of a file that people give


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """What the audit says of one published question.

    `answer` is what an auditor would answer, `accept` other answers that are also right,
    `evidence` the messages that are needed. `date_basis` says with what a gold date agrees: the
    message's clock, its session's day, the first day of its block of ids, or neither. `reviewed`
    is who looked at it in the studio, `comment` what they said.
    """

    verdict: Verdict
    answer: str = field(repr=False)
    accept: tuple[str, ...] = field(default=(), repr=False)
    evidence: tuple[str, ...] = ()
    why: str = field(default="", repr=False)
    date_basis: str = "none"
    evidence_changed: bool = False
    reviewed: str = ""
    comment: str = field(default="", repr=False)


# Of LoCoMo: chat's number → question's place → what was found, beside what was asked.
Corrections = dict[str, dict[int, tuple[str, AuditedQuestion]]]


@dataclass(frozen=True)
class Audit:
    """Audited questions: chat's key → question's key → what was found. `name` is for records."""

    name: str
    chats: Mapping[str, Mapping[str, AuditedQuestion]] = field(repr=False)
    corrections: Corrections = field(default_factory=dict, repr=False)

    @staticmethod
    @cache
    def load_shipped() -> Audit:
        """The audit of REALTALK's 728 questions that comes with the package."""
        packed = files("realtalk.formats").joinpath("audit.jsonl.gz").read_bytes()
        return _parse_audit(gzip.decompress(packed), "audited", "audit.jsonl.gz")

    @staticmethod
    def read(path: Path) -> Audit:
        """A file that the studio exported. Its name in records is a hash of what it holds."""
        if path.is_file() and path.stat().st_size > _LARGEST:
            raise RealtalkError("is too large to be an audit", where=str(path))
        data = read_whole(path)
        name = f"audited {hashlib.sha256(data).hexdigest()[:12]}"
        if data.lstrip().startswith(b"["):
            if corrections := _corrections(data, str(path)):
                return Audit(name, {}, corrections)
            raise RealtalkError("holds no audited question", where=str(path))
        return _parse_audit(data, name, str(path))

    def with_fetched(self, folder: Path) -> Audit:
        """With the corrections that lie in a folder, where there are any."""
        joined: Corrections = {}
        for path in sorted(folder.glob("*.json")):
            joined |= _corrections(read_whole(path), str(path))
        return replace(self, corrections=joined) if joined else self

    def of(self, chat: Chat) -> dict[str, AuditedQuestion]:
        """The audited questions of a chat by their ids; empty where it was not audited."""
        if not chat.questions:
            return {}
        if self.corrections and (corrected := _corrected(chat, self.corrections)):
            return corrected
        verdicts = self.chats.get(chat_key(chat))
        if not verdicts:
            return {}
        keys = ((question.id, question_key(question)) for question in chat.questions)
        return {id_: verdicts[key] for id_, key in keys if key in verdicts}

    def lines(self) -> list[dict[str, Any]]:
        """One object per question, as `read` takes it."""
        return [
            {"chat": chat, "question": question, **asdict(audit)}
            for chat, questions in self.chats.items()
            for question, audit in questions.items()
        ]


def chat_key(chat: Chat) -> str:
    """A hash of a chat's messages: their ids and their letters and digits."""
    digest = hashlib.blake2b(digest_size=12)
    for message in chat.messages:
        digest.update(f"{message.id}\t{_letters(message.text)}\n".encode())
    return digest.hexdigest()


def question_key(question: Question) -> str:
    """A hash of a question and its published answer: a verdict is about both."""
    line = f"{_letters(question.text)}\t{_letters(question.answer or '')}"
    return hashlib.blake2b(line.encode(), digest_size=8).hexdigest()


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded))


def counts(questions: Iterable[AuditedQuestion]) -> dict[str, int]:
    """How many questions have which verdict, in the order of the verdicts."""
    totals = Counter(question.verdict for question in questions)
    return {verdict: totals[verdict] for verdict in VERDICTS if totals[verdict]}


_ERRORS: Mapping[str, Verdict] = MappingProxyType(
    {"WRONG_CITATION": "ok", "AMBIGUOUS": "ambiguous", "INCOMPLETE": "incomplete"}
)
_PLACE = re.compile(r"locomo_(\d+)_qa(\d+)")
_ADVERSARIAL = "adversarial"


def _corrections(data: bytes, where: str) -> Corrections:
    try:
        entries = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise RealtalkError("not valid JSON", where=where) from error
    chats: Corrections = {}
    for at, texts in enumerate(map(mapping, entries if isinstance(entries, list) else [entries])):
        place = _PLACE.fullmatch(str(texts.get("question_id")))
        evidence = texts.get("correct_evidence")
        if place is None or not isinstance(evidence, list) or "error_type" not in texts:
            raise RealtalkError(
                "not a correction of LoCoMo", where=f"{where}[{at}]", fix="give errors_conv_N.json"
            )
        chats.setdefault(place[1], {})[int(place[2])] = (
            _letters(str(texts.get("question", ""))),
            AuditedQuestion(
                _ERRORS.get(texts["error_type"], "wrong"),
                str(texts.get("correct_answer", "")),
                evidence=tuple(map(str, evidence)),
                why=str(texts.get("reasoning", "")),
                evidence_changed=evidence != texts.get("cited_evidence"),
            ),
        )
    return chats


def _corrected(chat: Chat, corrections: Corrections) -> dict[str, AuditedQuestion]:
    """A chat of LoCoMo by those corrections that are about it; empty where none are."""
    asked = [_letters(question.text) for question in chat.questions]
    for found in corrections.values():
        if not all(at < len(asked) and asked[at] == text for at, (text, _) in found.items()):
            continue
        audits: dict[str, AuditedQuestion] = {}
        for at, question in enumerate(chat.questions):
            if at in found:
                audit = found[at][1]
                evidence, _ = resolve(audit.evidence, chat.by_id)
                audits[question.id] = replace(audit, evidence=evidence)
            elif question.category != _ADVERSARIAL:
                evidence = question.evidence
                audits[question.id] = AuditedQuestion("ok", question.answer or "", (), evidence)
        return audits
    return {}


def _parse_audit(data: bytes, name: str, where: str) -> Audit:
    chats: dict[str, dict[str, AuditedQuestion]] = {}
    for place, entry in parse_objects(data, where):
        if not all(isinstance(entry.get(key), str) for key in ("chat", "question", "answer")):
            raise RealtalkError(
                "not a line of an audit", where=place, fix="give a file that the studio exported"
            )
        chats.setdefault(entry["chat"], {})[entry["question"]] = _entry(entry, place)
    if not chats:
        raise RealtalkError("holds no audited question", where=where)
    return Audit(name, chats)


def _entry(entry: Mapping[str, Any], where: str) -> AuditedQuestion:
    if entry.get("verdict") not in VERDICTS:
        raise RealtalkError("no such verdict", where=where, fix=f"known: {', '.join(VERDICTS)}")
    values: dict[str, Any] = {}
    for column in fields(AuditedQuestion):
        value = entry.get(column.name, column.default)
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            value = tuple(value)
        if type(value) is not type(column.default) and column.default is not MISSING:
            raise RealtalkError(f"{column.name} is of another kind", where=where)
        values[column.name] = value
    return AuditedQuestion(**values)
