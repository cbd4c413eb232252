"""A reading of several chats → a folder: one page for each chat, and a list of them.

    write_chats(reading, Path("pages"), PortraitOptions())
    → pages/index.html, pages/Mara.html, pages/Theo.html

Nothing is added up over chats: the list says of each who is in it, how much was written and when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from realtalk.describe.counting import describe
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import file_stem
from realtalk.formats.reading import ReadCorpus
from realtalk.pages.chat_page import PortraitOptions, make_portrait, write_portrait
from realtalk.pages.frame import check_page, made_with, write_page
from realtalk.pages.sections import render
from realtalk.pages.values import Section, TableView
from realtalk.pages.wording import Wording
from realtalk.text.languages import ENGLISH

INDEX = "index.html"


@dataclass(frozen=True)
class ChatFolder:
    """The list that was written, and a row of figures for each page."""

    index: Path
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"pages": list(self.rows)}


def write_chats(
    reading: ReadCorpus,
    folder: Path,
    options: PortraitOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> ChatFolder:
    """The fullest chat comes first; a chat without messages has no page."""
    check_page(folder / INDEX)
    chats = [chat for chat in describe(reading.tables).per_chat if chat.messages]
    if not chats:
        raise RealtalkError("holds no message, so there is nothing to show")
    labeller = None
    if options.labels:
        from realtalk.ei.embedded import EmbeddedLabeller

        labeller = EmbeddedLabeller()  # one for all: it takes its time to load
    names = UniqueNames("{}-{}", ["index"], is_file=True)
    rows: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    for number, chat in enumerate(sorted(chats, key=lambda chat: (-chat.messages, chat.id)), 1):
        own = replace(options, chat=chat.id)
        portrait = make_portrait(reading, own, labeller=labeller, say=say, progress=progress)
        shown = f"Chat {number}" if options.anonymous else chat.id
        file = f"{names.free(file_stem(shown))}.html"
        write_portrait(portrait, folder / file)
        notes |= dict.fromkeys(portrait.notes)
        rows.append(
            {
                "chat": shown,
                "page": file,
                "people": len([who for who in chat.speakers if who.messages]),
                "messages": chat.messages,
                "first": chat.first and chat.first.date().isoformat(),
                "last": chat.last and chat.last.date().isoformat(),
            }
        )
    words = Wording.load(options.language or ENGLISH)
    heads = {"messages": words.say("columns", "messages")} | {
        name: words.say("labels", name) for name in ("chat", "people", "first", "last")
    }
    shown_columns = [name for name in rows[0] if name != "page"]
    heading = words.say("titles", "chats")
    table = TableView(
        heading,
        tuple(heads[name] for name in shown_columns),
        tuple(tuple(row[name] for name in shown_columns) for row in rows),
        find=len(rows) > 12,
        links=tuple(row["page"] for row in rows),
    )
    sections = [Section("chats", heading, words.say("what", "chats"), (table,))]
    title = options.title or words.counted(len(rows), "chat")
    index = write_page(folder / INDEX, render(title, sections, made=made_with()))
    return ChatFolder(index, tuple(rows), tuple(notes))
