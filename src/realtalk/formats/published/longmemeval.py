"""LongMemEval's list of questions, each with its own haystack of sessions, to a Corpus.

    [{"question_id": "q1", "question_type": "temporal-reasoning", "question": "When …?",
      "answer": "in May", "question_date": "2023/10/02 (Mon) 04:40",
      "haystack_session_ids": ["s1"], "haystack_dates": ["2023/04/11 (Tue) 07:47"],
      "haystack_sessions": [[{"role": "user", "content": "hi", "has_answer": true}]],
      "answer_session_ids": ["s1"]}]
    → Chat("q1", ("user",), (Session(1, 2023-04-11 07:47, …),), questions=(Question("q1", …),))

Sessions are put in time order; their own ids and places are in the chat's extra
(`session_ids`, `order`). Only sessions have a date: messages have no time. Evidence is
the turns marked `has_answer`. A question whose id ends in `_abs` asks for what was never
said: its extra has `abstention`, its answer is kept as given. The file is streamed, one
question at a time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any

from realtalk.chat import Question, Session
from realtalk.formats.json_input import (
    Fields,
    as_list,
    items,
    text_of,
    with_keys,
    without,
    word_set,
)
from realtalk.formats.published.record import (
    Part,
    chat_part,
    extra_of,
    gather,
    spelled_time,
    spoken_turns,
)
from realtalk.formats.questions import name_of
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import sorted_by_time
from realtalk.formats.source import FormatFiles, Source

_TURN = ("role", "content")
# What becomes a field, a session or an id; everything else is kept in the question's extra.
_READ = word_set("""
    question_id question_type question answer question_date haystack_dates haystack_session_ids
    haystack_sessions answer_session_ids
    """)


_FILES = FormatFiles(
    (".json", ""),  # the official files have also been published without an ending
    with_keys("question_id question_type", "haystack_sessions haystack_dates haystack_session_ids"),
    "no LongMemEval file found",
)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    parts: list[Part] = []
    for member in _FILES.members(source):
        for index, item in enumerate(items(member)):
            parts.append(_chat(item, f"{member.name}[{index}]"))
            if len(parts) % 50 == 0:
                options.progress(len(parts), 0, member.stem)
    return gather(source, "longmemeval", parts)


def _chat(item: Any, where: str) -> Part:
    haystack = item.get("haystack_sessions") if isinstance(item, dict) else None
    if not isinstance(haystack, list) or not isinstance(item.get("question"), str):
        return [], Ledger.of(0, [Leftover(where, "is not a question with sessions")])
    leftovers: list[Leftover] = []
    id_ = text_of(item.get("question_id")) or where
    names = [text_of(name) for name in as_list(item.get("haystack_session_ids"))]
    dates = map(spelled_time, as_list(item.get("haystack_dates")))
    places = enumerate(islice(chain(dates, repeat(None)), len(haystack)))
    slots = sorted_by_time(Session(place, date, ()) for place, date in places)
    order = [slot.number for slot in slots]
    sessions, evidence = [], []
    for number, slot in enumerate(slots, 1):
        place = slot.number
        messages = []
        spot = f"{where}: haystack_sessions[{place}]"
        for turn, message in spoken_turns(haystack[place], number, spot, leftovers):
            if turn.get("has_answer") is True:
                evidence.append(message.id)
            # An unmarked turn and one marked false are the same.
            beyond = {
                key: value
                for key, value in turn.items()
                if key not in _TURN and not (key == "has_answer" and value is False)
            }
            messages.append(replace(message, extra=extra_of(beyond, where)) if beyond else message)
        sessions.append(Session(number, slot.time, tuple(messages)))
    extra = {
        "order": [place + 1 for place in order],
        "session_ids": [names[place] if place < len(names) else "" for place in order],
    }
    question = _question(item, id_, tuple(evidence), names, where)
    (chat,), ledger = chat_part(id_, sessions, [question], leftovers)
    return [replace(chat, extra=extra_of(extra, where))], ledger


def _question(
    item: Fields, id_: str, evidence: tuple[str, ...], sessions: list[str], where: str
) -> Question:
    extra = without(item, _READ)
    answer = item.get("answer")
    if answer is not None and not isinstance(answer, str):
        extra["answer"] = answer  # the number as a number
    if id_.endswith("_abs"):
        extra["abstention"] = True
    asked_at = spelled_time(item.get("question_date"))
    if asked_at is None and item.get("question_date") is not None:
        extra["question_date"] = item["question_date"]
    stated = tuple(text_of(name) for name in as_list(item.get("answer_session_ids")))
    return Question(
        id_,
        item["question"],
        None if answer is None else text_of(answer),
        name_of("longmemeval", item.get("question_type")),
        evidence,
        tuple(name for name in stated if name not in sessions),
        stated,
        asked_at,
        extra_of(extra, where),
    )


FORMAT = Format("LongMemEval JSON", _FILES.sniff, _read)
