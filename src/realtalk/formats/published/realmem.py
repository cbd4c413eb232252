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
from collections.abc import Mapping
from itertools import pairwise

from realtalk.chat import Question, Session
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import Fields, as_list, load, mapping, text_of, with_keys
from realtalk.formats.published.record import (
    Part,
    chat_part,
    corpus_format,
    extra_of,
    known_evidence,
    spelled_time,
    spoken_turns,
)
from realtalk.formats.questions import BEFORE_SESSION, EVIDENCE_BY
from realtalk.formats.reading import Leftover
from realtalk.formats.source import FormatFiles, Member

_FILES = FormatFiles(
    (".json",), with_keys("session_uuid dialogue_turns"), "no file of RealMem found"
)


def _chat(member: Member) -> Part:
    whole = mapping(load(member))
    dialogues = whole.get("dialogues")
    if not isinstance(dialogues, list):
        raise member.error("has no list of 'dialogues'")
    leftovers: list[Leftover] = []
    sessions: list[Session] = []
    earlier: dict[str, Session] = {}
    questions: list[Question] = []
    ids = UniqueNames("{}-{}")
    for number, dialogue in enumerate(map(mapping, dialogues), 1):
        where = f"{member.name}: dialogues[{number - 1}].dialogue_turns"
        turns = as_list(dialogue.get("dialogue_turns"))
        replies = {id(turn): reply for turn, reply in pairwise(turns)}
        time = spelled_time(dialogue.get("current_time"))
        spoken = list(spoken_turns(turns, number, where, leftovers, "speaker"))
        for turn, message in spoken:
            if turn.get("is_query") is True:
                extra = {BEFORE_SESSION: number, EVIDENCE_BY: "session"}
                extra |= {key: turn[key] for key in ("topic", "session_type") if turn.get(key)}
                question = Question(
                    ids.free(text_of(turn.get("query_id")) or message.id),
                    message.text,
                    category=re.sub(r"\W+", "_", text_of(turn.get("category_name")).lower()),
                    asked=time,
                    extra=extra_of(extra, member.where),
                    **_gold(mapping(replies.get(id(turn))), earlier),
                )
                questions.append(question)
        sessions.append(Session(number, time, tuple(message for _, message in spoken)))
        earlier[text_of(dialogue.get("session_uuid"))] = sessions[-1]
    name = text_of(mapping(whole.get("_metadata")).get("person_name")) or member.stem
    return chat_part(name, sessions, questions, leftovers)


def _gold(reply: Fields, earlier: Mapping[str, Session]) -> Fields:
    """What the turn behind a question says: its answer, and the sessions that it needs."""
    used = (mapping(memory).get("session_uuid") for memory in as_list(reply.get("memory_used")))
    named = map(text_of, (*as_list(reply.get("memory_session_uuids")), *used))
    gold = known_evidence(filter(None, named), earlier)
    messages = (message for uuid in gold["evidence"] for message in earlier[uuid].messages)
    answer = reply.get("content")
    return {
        **gold,
        "evidence": tuple(message.id for message in messages),
        "answer": answer if isinstance(answer, str) else None,
    }


FORMAT = corpus_format("RealMem JSON", "realmem", _FILES, _chat)
