"""What people check of a corpus, each in a file of its own beside the annotations.

    reviews = AuditReviews.open(Path("annotations.audit.json"), Audit.load_shipped())
    reviews.decide(chat, "Q3", "Ana", CardDecision("reject", comment="she says so in D4:7"))
    reviews.of(chat)["Q3"]        → {"Ana": CardDecision("reject", …)}
    reviews.correct([chat])       → Audit in which Q3 is as published

    reviews = DraftReviews.open(Path("annotations.drafts.json"), Drafts.read(file))
    reviews.decide(chat, "draft-3f2a91", "Ana", CardDecision("correct", verdict="ok", answer="two"))
    reviews.chosen(chat)          → the drafts that are to be questions, as they were mended

    review = NameReview(corpus, Path("annotations.names.csv"))
    review.rows                                    → None while names are still looked for
    review.decide(NameDecision("Ingrid", "person", False))      kept: Ingrid stays

Of the audit's verdicts, *accept* keeps what the audit says, with who looked at it. *Reject* puts
the published answer and evidence back as ok. A corrected `verdict` or `answer` replaces the
audit's. Where two people disagree, the audit stays as it is and the comment says so. Of drafts,
*accept* makes a question, *correct* one with another text or answer, and *reject*, by anybody,
none. The file holds keys and what people typed, no text of the chats. Of names it is the table of
`realtalk redact --review`: the command takes it as it lies there. All are their owner's only, and
what is not on the disk was not said.

Annotations out to REALTALK JSON and the XLSX sheet, and in from them.

    export_file(open_chat, items, "sheet")       → ("Chat_1.xlsx", b"PK…")
    import_file(open_chat, "other.json", b"{…}") → UploadContent(bodies=(("event", {…}), …), …)

The corpora's own writers and readers do the work: what is exported is the chat with the chosen
annotator's events and questions in place of its own.
"""

from __future__ import annotations

import io
import tempfile
import threading
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, cast, get_args

import orjson

from realtalk.chat import Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.files.writing import write_json
from realtalk.formats.audit import VERDICTS, Audit, AuditedQuestion, Verdict, chat_key, question_key
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import FORMATS, detect
from realtalk.formats.source import Source
from realtalk.memory.drafting import Drafts
from realtalk.redaction.candidates import MentionSource, NameCandidate
from realtalk.redaction.redact import find_candidates
from realtalk.redaction.review import BETWEEN, NameDecision, read_review, review_rows, write_review
from realtalk.text.folding import fold
from realtalk.web.library import OpenChat
from realtalk.web.values import Body, ItemKind, StudioItem, body_of, event_of, question_of

LAYOUTS = {"realtalk": "REALTALK JSON", "sheet": "annotation sheet (XLSX)", "jsonl": "JSON Lines"}
LARGEST_UPLOAD = 32 << 20
_LARGEST_UNPACKED = 512 << 20
_SUFFIXES = (".json", ".xlsx")


class UploadContent(NamedTuple):
    """What an uploaded file holds for this chat."""

    bodies: tuple[tuple[ItemKind, Body, None], ...]
    notes: tuple[str, ...]


def annotate(open_chat: OpenChat, items: Sequence[StudioItem]) -> Chat:
    """The chat with these events and questions instead of its own."""
    events = [event_of(item.body) for item in items if item.kind == "event"]
    # Observations and summaries are not annotated here: they stay as they are.
    events += [event for event in open_chat.chat.events if event.kind != "event"]
    questions_noted = [item for item in items if item.kind == "question"]
    questions = [question_of(item.body, f"Q{at}") for at, item in enumerate(questions_noted, 1)]
    return replace(open_chat.chat, events=tuple(events), questions=tuple(questions))


def export_file(open_chat: OpenChat, items: Sequence[StudioItem], layout: str) -> tuple[str, bytes]:
    """A file's name and bytes."""
    if layout not in LAYOUTS:
        raise RealtalkError("no such layout", fix=f"known: {', '.join(LAYOUTS)}")
    write = FORMATS[layout].write
    assert write is not None
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(open_chat.chat.id, "realtalk", (annotate(open_chat, items),))
        (path, *_) = write(corpus, Path(folder))
        return path.name, path.read_bytes()


def import_file(open_chat: OpenChat, name: str, data: bytes) -> UploadContent:
    """Events and questions of an uploaded file about the same chat."""
    suffix = Path(name).suffix.lower()
    if suffix not in _SUFFIXES:
        raise RealtalkError("not a file to import", fix="a REALTALK .json or an .xlsx sheet")
    if suffix == ".xlsx":
        _refuse_bomb(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            detected = detect(Source.open(path))
            chats = open_reading(path, detected).reading.corpus.chats
        except RealtalkError as error:
            # The message may name the temporary place, which says nothing to the reader.
            raise RealtalkError(f"the file cannot be read: {error.what}", fix=error.fix) from error
    return _fitting(open_chat, chats[0])


def _refuse_bomb(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(info.file_size for info in archive.infolist())
    except zipfile.BadZipFile as error:
        raise RealtalkError("the file is not a spreadsheet") from error
    if size > _LARGEST_UNPACKED:
        raise RealtalkError("the spreadsheet unpacks to more than this reader takes")


def _fitting(open_chat: OpenChat, chat: Chat) -> UploadContent:
    """The file's annotations where it is about this chat; the notes name what does not fit."""
    theirs = {message.id for message in chat.messages}
    shared = len(theirs & set(open_chat.place))
    if shared < len(theirs) / 2:
        raise RealtalkError(
            f"the file is about another chat: {shared:,} of its {len(theirs):,} messages are here"
        )
    numbers = {session.number for session in open_chat.chat.sessions}
    bodies: list[tuple[ItemKind, Body, None]] = []
    dropped = lost = 0
    for event in chat.events:
        if event.kind != "event":
            continue
        if event.session in numbers and event.speaker in open_chat.chat.speakers:
            bodies.append(("event", body_of(event), None))
        else:
            dropped += 1
    for question in chat.questions:
        evidence = tuple(id_ for id_ in question.evidence if id_ in open_chat.place)
        lost += len(question.evidence) - len(evidence)
        bodies.append(("question", body_of(replace(question, evidence=evidence)), None))
    notes = []
    if dropped:
        notes.append(f"{dropped} events belong to no session or speaker of this chat")
    if lost:
        notes.append(f"{lost} pieces of evidence name no message of this chat")
    return UploadContent(tuple(bodies), tuple(notes))


Choice = Literal["accept", "reject", "correct"]


@dataclass(frozen=True, slots=True)
class CardDecision:
    """What one person says of one card; `verdict`, `answer` and `text` are of a correction."""

    choice: Choice
    comment: str = ""
    verdict: str = ""
    answer: str = ""
    text: str = ""  # of the question, where it was drafted

    def __post_init__(self) -> None:
        if self.choice not in get_args(Choice):
            raise RealtalkError("no such choice", fix=f"known: {', '.join(get_args(Choice))}")
        if self.choice == "correct" and self.verdict not in VERDICTS:
            raise RealtalkError("no such verdict", fix=f"known: {', '.join(VERDICTS)}")


Checked = TypeVar("Checked")  # an audit, or drafts


class CardReviews(ABC, Generic[Checked]):
    """What people say of questions, kept in one file; several pages may write at once."""

    page: str  # that shows them

    def __init__(self, path: Path, source: Checked, decisions: dict[str, dict[str, Any]]) -> None:
        self.path = path
        self.source = source
        self._said = decisions  # "chat question" → reviewer → decision
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, source: Checked) -> Self:
        """The reviews in the file; none where there is no file yet."""
        try:
            decisions_by_chat = orjson.loads(path.read_bytes())
            for decisions in decisions_by_chat.values():
                for decision in decisions.values():
                    CardDecision(**decision)
        except FileNotFoundError:
            decisions_by_chat = {}
        except OSError as error:
            raise RealtalkError(f"cannot be read ({error.strerror})", where=str(path)) from error
        except (ValueError, TypeError, AttributeError, RealtalkError) as error:
            raise RealtalkError("not a file of reviews", where=str(path)) from error
        return cls(path, source, decisions_by_chat)

    @abstractmethod
    def questions(self, chat: Chat) -> Sequence[Question]:
        """The questions that can be reviewed."""

    def of(self, chat: Chat) -> dict[str, dict[str, CardDecision]]:
        """What everybody says of a chat's questions, by their ids."""
        key = chat_key(chat)
        return {
            question.id: {
                who: CardDecision(**decision)
                for who, decision in self._said.get(f"{key} {question_key(question)}", {}).items()
            }
            for question in self.questions(chat)
        }

    def decide(self, chat: Chat, id_: str, who: str, decision: CardDecision) -> None:
        """Keeps what somebody says; the last word of each person counts."""
        question = next((each for each in self.questions(chat) if each.id == id_), None)
        if question is None:
            raise RealtalkError("there is no such question to review", where=f"chat {chat.id}")
        key = f"{chat_key(chat)} {question_key(question)}"
        with self._lock:
            decisions = self._said.get(key, {}) | {who: asdict(decision)}
            changed = self._said | {key: decisions}
            write_json(self.path, changed)
            self._said = changed


class DraftReviews(CardReviews[Drafts]):
    """The reviews of drafted questions."""

    page = "drafts"

    def questions(self, chat: Chat) -> Sequence[Question]:
        return self.source.of(chat)

    def chosen(self, chat: Chat) -> list[Question]:
        """Those that somebody wants and nobody rejects, in the words of who mended them last."""
        decisions, questions = self.of(chat), []
        for question in self.questions(chat):
            said = [*decisions[question.id].values()]
            if said and all(decision.choice != "reject" for decision in said):
                last = next((each for each in reversed(said) if each.choice == "correct"), None)
                text, answer = (last.text.strip(), last.answer.strip()) if last else ("", "")
                answer = answer or question.answer or ""
                questions.append(replace(question, text=text or question.text, answer=answer))
        return questions


class AuditReviews(CardReviews[Audit]):
    """The reviews of an audit."""

    page = "audit"

    def questions(self, chat: Chat) -> Sequence[Question]:
        audited = self.source.of(chat)
        return [question for question in chat.questions if question.id in audited]

    def correct(self, chats: Iterable[Chat]) -> Audit:
        """The audit of these chats as people corrected it."""
        corrected: dict[str, dict[str, AuditedQuestion]] = {}
        for chat in chats:
            if audited := self.source.of(chat):
                decisions = self.of(chat)
                corrected[chat_key(chat)] = {
                    question_key(question): _settle(
                        question, audited[question.id], decisions[question.id]
                    )
                    for question in self.questions(chat)
                }
        if not corrected:
            raise RealtalkError("no chat here was audited", fix="open one of REALTALK's chats")
        return Audit("corrected", corrected)


def _settle(
    question: Question, audited: AuditedQuestion, decisions: Mapping[str, CardDecision]
) -> AuditedQuestion:
    if not decisions:
        return audited
    comment = "; ".join(
        f"{name}: {decision.comment}" for name, decision in decisions.items() if decision.comment
    )
    reviewed = replace(audited, reviewed=", ".join(decisions), comment=comment)
    first, *others = (replace(decision, comment="") for decision in decisions.values())
    if any(decision != first for decision in others):
        choices = ", ".join(f"{name} {decision.choice}s" for name, decision in decisions.items())
        return replace(reviewed, comment=f"disagreed: {choices}. {comment}".strip())
    if first.choice == "reject":
        return replace(
            reviewed,
            verdict="ok",
            answer=question.answer or audited.answer,
            accept=(),
            evidence=question.evidence or audited.evidence,
            evidence_changed=not question.evidence,
        )
    if first.choice == "correct":
        answer = first.answer.strip() or audited.answer
        accept = tuple(form for form in audited.accept if form != answer)
        verdict = cast("Verdict", first.verdict)
        return replace(reviewed, verdict=verdict, answer=answer, accept=accept)
    return reviewed


class NameReview:
    """The names of one corpus, for all pages that show them."""

    def __init__(
        self, corpus: Corpus, path: Path, sources: Sequence[MentionSource] | None = None
    ) -> None:
        self.path = path
        self._corpus = corpus
        self._sources = sources
        decisions = read_review(path) if path.exists() else []
        self._decisions = {fold(decision.form): decision for decision in decisions}
        self._candidates: list[NameCandidate] | None = None
        self._problem: RealtalkError | None = None
        self._lock = threading.Lock()

    @property
    def rows(self) -> list[dict[str, str]] | None:
        """One row per name, likely ones first; None while names are looked for."""
        with self._lock:
            _ = self._search
            if self._problem is not None:
                raise self._problem
            if self._candidates is None:
                return None
            return review_rows(self._candidates, self._decisions.values())

    def decide(self, decision: NameDecision) -> None:
        """Keeps whether a name goes; one that was not found is added."""
        if not decision.form.strip():
            raise RealtalkError("a name has letters")
        key = fold(decision.form)
        with self._lock:
            if self._candidates is None:
                raise RealtalkError("names are still looked for", fix="wait a moment")
            decisions = dict(self._decisions)
            rows = review_rows(self._candidates, decisions.values())
            row = next((row for row in rows if fold(row["form"]) == key), None)
            if row is not None:
                forms = tuple(row["forms"].split(BETWEEN))
                decision = replace(decision, forms=forms, same_as=row["same_as"])
                # Of a name there is one decision, whichever of its forms was decided on before.
                for form in forms:
                    decisions.pop(fold(form), None)
            decisions[key] = decision
            write_review(self.path, self._candidates, decisions.values())
            self._decisions = decisions

    @cached_property
    def _search(self) -> threading.Thread:
        """Looks for names, once; a long chat takes some seconds."""
        thread = threading.Thread(target=self._find, daemon=True)
        thread.start()
        return thread

    def _find(self) -> None:
        from realtalk.redaction.sources import name_sources

        try:
            sources = name_sources() if self._sources is None else self._sources
            self._candidates = find_candidates(self._corpus, sources=sources)
        except RealtalkError as error:
            self._problem = error
