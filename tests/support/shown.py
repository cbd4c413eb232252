"""What was read as a person would note it down, for tests that compare whole readings.

check(reading, '''
    general (Ann, Bo) {"guild":"Gardeners"}
    D1:1 2024-05-01 09:30:00 Ann: hi
    D1:2 2024-05-01 09:31:00 Bo, to D1:1, edited: look⏎there
        image a.png https://cdn/a.png
    3 entries = 2 in messages + 0 system + 1 left over
    general.json, messages[2]: not an object
''')
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap

from realtalk.chat import Chat, Message
from realtalk.formats.reading import ReadCorpus


def check(reading: ReadCorpus, expected: str) -> None:
    """Every field of a reading, its ledger and its notes."""
    lines = [line for chat in reading.corpus.chats for line in _chat(chat)]
    lines.append(str(reading.ledger))
    lines += [f"{left.where}: {left.reason}" for left in reading.ledger.leftovers]
    _compare([*lines, *reading.notes], expected)


def renamed(reading: ReadCorpus, name: str) -> ReadCorpus:
    """The same reading of one chat, under the name that other files of the test give it."""
    [chat] = reading.corpus.chats
    corpus = replace(reading.corpus, chats=(replace(chat, id=name),))
    return ReadCorpus(corpus=corpus, ledger=reading.ledger, notes=reading.notes)


def check_chat(chat: Chat, expected: str) -> None:
    """Every field of a chat."""
    _compare(list(_chat(chat)), expected)


def _compare(lines: list[str], expected: str) -> None:
    pieces = (wrap(line, 88, subsequent_indent="    ", break_on_hyphens=False) for line in lines)
    assert [piece for line in pieces for piece in line] == inspect.cleandoc(expected).split("\n")


def _chat(chat: Chat) -> Iterator[str]:
    yield f"{chat.id} ({', '.join(chat.speakers)}) {chat.extra}"
    for session in chat.sessions:
        yield f"session {session.number}, {session.time}"
        for message in session.messages:
            yield from _message(message)
    for event in chat.events:
        date = f" ({event.date})" if event.date else ""
        about = f"{event.kind} {event.session} of {event.speaker}{date}: {event.text}"
        yield " ".join((about, *event.evidence, event.extra))
    for question in chat.questions:
        yield f"{question.id} {question.category}: {question.text} {question.answer}"
        named = (question.evidence, question.unresolved, question.stated)
        yield f"    {' | '.join(map(', '.join, named))} {question.asked} {question.extra}"
    for alias in chat.aliases:
        yield f"{alias.name} is {alias.speaker} by {alias.source}"


def _message(message: Message) -> Iterator[str]:
    reply = f", to {message.reply_to}" if message.reply_to else ""
    marks = ", edited" * message.edited + ", deleted" * message.deleted
    text = message.text.replace("\n", "⏎")
    yield f"{message.id} {message.time} {message.speaker}{reply}{marks}: {text}"
    for file in message.attachments:
        yield f"    {file.kind} {file.name} {file.url} {file.caption}"
    if message.extra:
        yield f"    {message.extra}"
