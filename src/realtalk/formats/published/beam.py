"""BEAM's folders, one per chat, to a Corpus; sizes 100K, 500K, 1M and 10M.

    100K/1/chat.json               [{"batch_number": 1, "turns": [[
        {"role": "user", "id": 0, "content": "hi ->-> 1,1", "time_anchor": "March-15-2024"}]]}]
    100K/1/probing_questions/probing_questions.json
        {"knowledge_update": [{"question": "…?", "answer": "…",
                               "source_chat_ids": {"original_info": [0], "updated_info": [4]}}]}
    → Chat("100K-1", ("User", …)) with Message("0", "User", None, "hi"), and
      Question("knowledge_update-1", …, evidence=("0", "4"))

A batch is a session; the chats of 10M are plans of batches. The tail of a text that only repeats
its place is taken off. Roles are written as names: a question about "user feedback" names nobody.
Of two copies of a chat the shortened one is read, which is what its questions were written for.
Where numbers begin anew in a chat (some of 1M do), nobody can tell which message is meant: such
evidence is unresolved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from realtalk.chat import Question, Session
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import as_list, load, mapping, text_of, with_keys
from realtalk.formats.published.record import (
    Part,
    by_number,
    chat_part,
    extra_of,
    gather,
    known_evidence,
    spelled_time,
    spoken_turns,
)
from realtalk.formats.reading import Format, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source

_TAIL = re.compile(r"\s*->->\s*[\d.,\s]*$")
_SHORTENED = "chat_trunecated"  # the publication's spelling
_QUESTIONS = ("probing_questions/probing_questions.json", "probing_questions.json")
_MESSAGE = frozenset({"role", "id", "content"})
_GOLDS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")


_FILES = FormatFiles(
    (".json",), with_keys("turns role content", "batch_number time_anchor"), "no chat of BEAM found"
)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    chats: dict[str, Member] = {}
    for member in sorted(_FILES.members(source), key=lambda member: member.stem != _SHORTENED):
        chats.setdefault(member.folder, member)
    by_name = {member.name.removesuffix(".gz"): member for member in source.having(".json")}
    parts = []
    for member in options.in_turn(sorted(chats.values(), key=by_number)):
        places = (f"{member.folder}/{name}".lstrip("/") for name in _QUESTIONS)
        questions = next((by_name[place] for place in places if place in by_name), None)
        parts.append(_chat(member, questions, member.folder.replace("/", "-") or source.name))
    return gather(source, "beam", parts)


def _chat(member: Member, questions: Member | None, id_: str) -> Part:
    sessions: list[Session] = []
    leftovers: list[Leftover] = []
    ids = UniqueNames("{}~{}")
    numbers: Counter[str] = Counter()
    for number, batch in enumerate(_batches(load(member)), 1):
        messages = []
        dates = [mapping(batch).get("time_anchor")]
        where = f"{member.name}: batch {number}"
        for entry, message in spoken_turns(list(_entries(batch)), number, where, leftovers):
            name = text_of(entry.get("id")) or message.id
            numbers[name] += 1
            extra = {key: value for key, value in entry.items() if key not in _MESSAGE and value}
            messages.append(
                replace(
                    message,
                    id=ids.free(name),
                    speaker=message.speaker.capitalize(),
                    text=_TAIL.sub("", message.text),
                    extra=extra_of(extra, member.where),
                )
            )
            dates.append(entry.get("time_anchor"))
        # "March-15-2024"
        times = (spelled_time(text_of(date).replace("-", " ")) for date in dates if date)
        sessions.append(Session(number, next(filter(None, times), None), tuple(messages)))
    if not numbers:
        raise member.error("holds no batch with messages")
    once = {number for number, count in numbers.items() if count == 1}
    asked = list(_questions(questions, once, leftovers)) if questions else []
    return chat_part(id_, sessions, asked, leftovers)


def _batches(value: Any) -> Iterator[Any]:
    """The batches in order; a plan of 10M is an object that holds them in lists."""
    for item in as_list(value):
        if isinstance(item, dict) and "turns" not in item:
            for plan in item.values():
                yield from as_list(plan)
        else:
            yield item


def _entries(batch: Any) -> Iterator[Any]:
    """Messages stand in turns, or without them."""
    turns = batch.get("turns") if isinstance(batch, dict) else batch
    for turn in as_list(turns):
        yield from turn if isinstance(turn, list) else [turn]


def _questions(member: Member, once: set[str], leftovers: list[Leftover]) -> Iterator[Question]:
    for ability, questions in mapping(load(member)).items():
        for at, entry in enumerate(map(mapping, as_list(questions)), 1):
            text = entry.get("question")
            if not isinstance(text, str):
                leftovers.append(Leftover(f"{member.name}: {ability}[{at - 1}]", "asks nothing"))
                continue
            golds = (text_of(entry[name]) for name in _GOLDS if entry.get(name) is not None)
            extra = {key: entry[key] for key in ("rubric", "difficulty") if entry.get(key)}
            yield Question(
                f"{ability}-{at}",
                text,
                next(golds, None),
                ability,
                extra=extra_of(extra, member.where),
                **known_evidence(_numbers(entry.get("source_chat_ids")), once),
            )


def _numbers(value: Any) -> Iterator[str]:
    """The numbers of messages in lists and objects of any depth."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif value is not None:
        yield text_of(value)


FORMAT = Format("BEAM folders", _FILES.sniff, _read)
