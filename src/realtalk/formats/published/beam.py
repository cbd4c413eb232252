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
from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Message, Question, Session
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import Fields, as_list, head_keys, load, mapping, text_of
from realtalk.formats.published.record import by_number, extra_of, gather
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.text.calendars import MONTHS

_TAIL = re.compile(r"\s*->->\s*[\d.,\s]*$")
_DATE = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_SHORTENED = "chat_trunecated"  # the publication's spelling
_QUESTIONS = "probing_questions"
_MESSAGE = frozenset({"role", "id", "content"})
_GOLDS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")


def _is_ours(member: Member) -> bool:
    keys = head_keys(member)
    return {"turns", "role", "content"} <= keys and bool(keys & {"batch_number", "time_anchor"})


_FILES = FormatFiles((".json",), _is_ours, "no chat of BEAM found")


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    chats: dict[str, Member] = {}
    for member in sorted(_FILES.members(source), key=lambda member: member.stem != _SHORTENED):
        chats.setdefault(member.folder, member)
    questions = {member.name.removesuffix(".gz"): member for member in source.having(".json")}
    parts = []
    for member in options.in_turn(sorted(chats.values(), key=by_number)):
        name = f"{member.folder}/" if member.folder else ""
        asked = next(
            (
                questions[place]
                for place in (f"{name}{_QUESTIONS}/{_QUESTIONS}.json", f"{name}{_QUESTIONS}.json")
                if place in questions
            ),
            None,
        )
        parts.append(_chat(member, asked, member.folder.replace("/", "-") or source.name))
    return gather(source, "beam", parts)


def _chat(member: Member, asked: Member | None, id_: str) -> tuple[list[Chat], Ledger]:
    sessions: list[Session] = []
    leftovers: list[Leftover] = []
    ids = UniqueNames("{}~{}")
    numbers: Counter[str] = Counter()
    for place, batch in enumerate(_batches(load(member))):
        messages: list[Message] = []
        time = parse_date(mapping(batch).get("time_anchor"))
        for at, entry in enumerate(_entries(batch)):
            message = _message(entry, f"D{len(sessions) + 1}:{at + 1}", member.where)
            if message is None:
                spot = f"{member.name}: batch {place + 1}, message {at + 1}"
                leftovers.append(Leftover(spot, "has no role or no content"))
                continue
            numbers[message.id] += 1
            messages.append(
                Message(
                    ids.free(message.id), message.speaker, None, message.text, extra=message.extra
                )
            )
            time = time or parse_date(entry.get("time_anchor"))
        sessions.append(Session(len(sessions) + 1, time, tuple(messages)))
    if not numbers:
        raise RealtalkError("holds no batch with messages", where=member.where)
    once = {number for number, count in numbers.items() if count == 1}
    questions = () if asked is None else tuple(_questions(asked, once, leftovers))
    speakers = dict.fromkeys(message.speaker for s in sessions for message in s.messages)
    chat = Chat(id_, tuple(speakers), tuple(sessions), (), questions)
    return [chat], Ledger.of(sum(numbers.values()) + len(leftovers), leftovers)


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


def parse_date(text: object) -> datetime | None:
    """`March-15-2024`, or None."""
    match = _DATE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or match[1].capitalize() not in MONTHS:
        return None
    try:
        return datetime(int(match[3]), MONTHS.index(match[1].capitalize()) + 1, int(match[2]))
    except ValueError:
        return None


def _message(entry: Any, place: str, where: str) -> Message | None:
    if not isinstance(entry, dict):
        return None
    role, content = entry.get("role"), entry.get("content")
    if not isinstance(role, str) or not isinstance(content, str):
        return None
    extra = {key: value for key, value in entry.items() if key not in _MESSAGE and value}
    id_ = text_of(entry.get("id")) or place
    return Message(
        id_, role.capitalize(), None, _TAIL.sub("", content), extra=extra_of(extra, where)
    )


def _questions(member: Member, once: set[str], leftovers: list[Leftover]) -> Iterator[Question]:
    for ability, questions in mapping(load(member)).items():
        for at, entry in enumerate(as_list(questions), 1):
            text = mapping(entry).get("question")
            if not isinstance(text, str):
                leftovers.append(Leftover(f"{member.name}: {ability}[{at - 1}]", "asks nothing"))
                continue
            gold = next((entry[name] for name in _GOLDS if entry.get(name) is not None), None)
            stated = tuple(dict.fromkeys(_numbers(entry.get("source_chat_ids"))))
            extra: Fields = {key: entry[key] for key in ("rubric", "difficulty") if entry.get(key)}
            yield Question(
                f"{ability}-{at}",
                text,
                None if gold is None else text_of(gold),
                ability,
                tuple(number for number in stated if number in once),
                tuple(number for number in stated if number not in once),
                stated,
                extra=extra_of(extra, member.where),
            )


def _numbers(value: Any) -> Iterator[str]:
    """The numbers of messages in lists and objects of any depth."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif value is not None:
        yield text_of(value)


FORMAT = Format("BEAM folders", _FILES.sniff, _read)
