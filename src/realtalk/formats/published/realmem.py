"""RealMem's files, one per person, to a Corpus: questions asked in the middle of a long history.

    {"_metadata": {"person_name": "Ada"}, "dialogues": [
      {"session_uuid": "a1", "current_time": "2025-12-19 (Friday)", "dialogue_turns": [
        {"speaker": "User", "content": "What was my plan?", "is_query": true, "query_id": "Q-1"},
        {"speaker": "Assistant", "content": "To run.", "memory_session_uuids": ["9f"]}]}]}
    → Chat("Ada", ("User", "Assistant"), …) with Question("Q-1", …, evidence=<messages of 9f>)

Sessions stay in the file's order, whatever their dates say. A question's gold is on the turn that
follows it: whole sessions, so it is scored by session (`evidence_by`), and only sessions before
its own may be searched (`before_session`). A session that is not earlier is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Message, Question, Session
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import Fields, as_list, head_keys, load, mapping, text_of
from realtalk.formats.published.record import by_number, extra_of, gather
from realtalk.formats.questions import BEFORE_SESSION, EVIDENCE_BY
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source

_DAY = re.compile(r"\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?")


def _is_ours(member: Member) -> bool:
    return {"session_uuid", "dialogue_turns"} <= head_keys(member)


_FILES = FormatFiles((".json",), _is_ours, "no file of RealMem found")


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = sorted(_FILES.members(source), key=by_number)
    return gather(source, "realmem", [_chat(member) for member in options.in_turn(members)])


def _chat(member: Member) -> tuple[list[Chat], Ledger]:
    whole = mapping(load(member))
    dialogues = whole.get("dialogues")
    if not isinstance(dialogues, list):
        raise RealtalkError("has no list of 'dialogues'", where=member.where)
    leftovers: list[Leftover] = []
    sessions: list[Session] = []
    earlier: dict[str, Session] = {}
    questions: list[Question] = []
    ids = UniqueNames("{}-{}")
    total = 0
    for number, dialogue in enumerate(dialogues, 1):
        turns = as_list(mapping(dialogue).get("dialogue_turns"))
        time = parse_day(mapping(dialogue).get("current_time"))
        messages: list[Message] = []
        for at, turn in enumerate(turns):
            message = _message(turn, f"D{number}:{len(messages) + 1}")
            if message is None:
                spot = f"{member.name}: dialogues[{number - 1}].dialogue_turns[{at}]"
                leftovers.append(Leftover(spot, "has no speaker or no content"))
                continue
            messages.append(message)
            if turn.get("is_query") is True:
                reply = mapping(turns[at + 1]) if at + 1 < len(turns) else {}
                id_ = ids.free(text_of(turn.get("query_id")) or message.id)
                question = _question(id_, turn, reply, earlier)
                extra = {BEFORE_SESSION: number, EVIDENCE_BY: "session"}
                extra |= {key: turn[key] for key in ("topic", "session_type") if turn.get(key)}
                packed = extra_of(extra, member.where)
                questions.append(replace(question, asked=time, extra=packed))
        total += len(messages)
        sessions.append(Session(number, time, tuple(messages)))
        earlier[text_of(mapping(dialogue).get("session_uuid"))] = sessions[-1]
    name = text_of(mapping(whole.get("_metadata")).get("person_name")) or member.stem
    speakers = dict.fromkeys(message.speaker for s in sessions for message in s.messages)
    chat = Chat(name, tuple(speakers), tuple(sessions), (), tuple(questions))
    return [chat], Ledger.of(total + len(leftovers), leftovers)


def parse_day(text: object) -> datetime | None:
    """`2025-12-19 (Friday)`, also with a time of day, or None."""
    match = _DAY.match(text) if isinstance(text, str) else None
    try:
        return datetime.fromisoformat(f"{match[1]} {match[2] or '00:00'}") if match else None
    except ValueError:
        return None


def _message(turn: Any, id_: str) -> Message | None:
    speaker, content = mapping(turn).get("speaker"), mapping(turn).get("content")
    if not isinstance(speaker, str) or not isinstance(content, str):
        return None
    return Message(id_, speaker, None, content)


def _question(id_: str, turn: Fields, reply: Fields, earlier: Mapping[str, Session]) -> Question:
    stated = tuple(dict.fromkeys(filter(None, _stated(reply))))
    answer = reply.get("content")
    return Question(
        id_,
        turn["content"],
        answer if isinstance(answer, str) else None,
        re.sub(r"\W+", "_", text_of(turn.get("category_name")).lower()),
        tuple(m.id for uuid in stated if uuid in earlier for m in earlier[uuid].messages),
        tuple(uuid for uuid in stated if uuid not in earlier),
        stated,
    )


def _stated(reply: Fields) -> Iterator[str]:
    for uuid in as_list(reply.get("memory_session_uuids")):
        yield text_of(uuid)
    for memory in as_list(reply.get("memory_used")):
        yield text_of(mapping(memory).get("session_uuid"))


FORMAT = Format("RealMem JSON", _FILES.sniff, _read)
