"""Annotations out to REALTALK JSON and the XLSX sheet, and in from them.

    export_file(open_chat, items, "sheet")       → ("Chat_1.xlsx", b"PK…")
    import_file(open_chat, "other.json", b"{…}") → UploadContent(bodies=(("event", {…}), …), …)

The corpora's own writers and readers do the work: what is exported is the chat with the chosen
annotator's events and questions in place of its own.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from realtalk.chat import Chat, Corpus
from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import FORMATS, detect
from realtalk.formats.source import Source
from realtalk.web.library import OpenChat
from realtalk.web.values import (
    Body,
    ItemKind,
    StudioItem,
    body_of,
    event_of,
    question_of,
)

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
