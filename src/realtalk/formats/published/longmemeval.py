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

import re
from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Message, Question, Session
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import as_list, head_keys, items, text_of
from realtalk.formats.published.record import extra_of, gather
from realtalk.formats.questions import name_of
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source

_DATE = re.compile(r"\s*([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})\D{0,20}?([0-9]{1,2}):([0-9]{2})\s*")
_MARKS = frozenset({"question_id", "question_type"})
_HAYSTACK = frozenset({"haystack_sessions", "haystack_dates", "haystack_session_ids"})
# What becomes a field, a session or an id; everything else is kept in the question's extra.
_READ = frozenset(
    """
    question_id question_type question answer question_date haystack_dates haystack_session_ids
    haystack_sessions answer_session_ids
    """.split()  # noqa: SIM905 - words read better than quotes
)


def parse_date(text: object) -> datetime | None:
    """`2023/10/02 (Mon) 04:40`, or None."""
    match = _DATE.fullmatch(text) if isinstance(text, str) else None
    try:
        return datetime(*map(int, match.groups())) if match else None  # type: ignore[arg-type]
    except ValueError:
        return None


def _is_ours(member: Member) -> bool:
    keys = head_keys(member)
    return keys >= _MARKS and bool(keys & _HAYSTACK)


_FILES = FormatFiles(
    (".json", ""),  # the official files have also been published without an ending
    _is_ours,
    "no LongMemEval file found",
)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = _FILES.members(source)
    chats: list[Chat] = []
    ids = UniqueNames("{}-{}")
    total = 0
    leftovers: list[Leftover] = []
    for member in members:
        for index, item in enumerate(items(member)):
            where = f"{member.name}[{index}]"
            chat = _chat(item, where, ids, leftovers)
            if chat is None:
                leftovers.append(Leftover(where, "is not a question with sessions"))
            else:
                chats.append(chat)
                total += sum(len(session.messages) for session in chat.sessions)
            if len(chats) % 50 == 0:
                options.progress(len(chats), 0, member.stem)
    ledger = Ledger.of(total + len(leftovers), leftovers)
    return gather(source, "longmemeval", [(chats, ledger)])


def _chat(item: Any, where: str, ids: UniqueNames, leftovers: list[Leftover]) -> Chat | None:
    if not isinstance(item, dict):
        return None
    question_text, haystack = item.get("question"), item.get("haystack_sessions")
    if not isinstance(question_text, str) or not isinstance(haystack, list):
        return None
    question_id = text_of(item.get("question_id")) or where
    id_ = ids.free(question_id)
    names = [text_of(name) for name in as_list(item.get("haystack_session_ids"))]
    dates = [parse_date(date) for date in as_list(item.get("haystack_dates"))]
    order = _in_time(dates, len(haystack))
    sessions, evidence = [], []
    for number, place in enumerate(order, 1):
        messages: list[Message] = []
        for position, turn in enumerate(as_list(haystack[place])):
            message = _message(turn, f"D{number}:{len(messages) + 1}", where)
            if message is None:
                spot = f"{where}: haystack_sessions[{place}][{position}]"
                leftovers.append(Leftover(spot, "has no role or no content"))
                continue
            messages.append(message)
            if turn.get("has_answer") is True:
                evidence.append(message.id)
        time = dates[place] if place < len(dates) else None
        sessions.append(Session(number, time, tuple(messages)))
    speakers = dict.fromkeys(message.speaker for s in sessions for message in s.messages)
    extra = {
        "order": [place + 1 for place in order],
        "session_ids": [names[place] if place < len(names) else "" for place in order],
    }
    question = _question(item, question_text, tuple(evidence), frozenset(names), where)
    return Chat(
        id_, tuple(speakers), tuple(sessions), (), (question,), extra=extra_of(extra, where)
    )


def _in_time(dates: list[datetime | None], count: int) -> list[int]:
    """Places of sessions, oldest first; one without date stays behind the one before it."""
    keys: list[tuple[datetime, int]] = []
    last = datetime.min
    for place in range(count):
        last = (dates[place] if place < len(dates) else None) or last
        keys.append((last, place))
    return [place for _, place in sorted(keys)]


def _message(turn: Any, id_: str, where: str) -> Message | None:
    if not isinstance(turn, dict):
        return None
    role, content = turn.get("role"), turn.get("content")
    if not isinstance(role, str) or not isinstance(content, str):
        return None
    extra = {
        key: value
        for key, value in turn.items()
        # An unmarked turn and one marked false are the same.
        if key not in ("role", "content") and not (key == "has_answer" and value is False)
    }
    return Message(id_, role, None, content, extra=extra_of(extra, where))


def _question(
    item: dict[str, Any],
    text: str,
    evidence: tuple[str, ...],
    sessions: frozenset[str],
    where: str,
) -> Question:
    id_ = text_of(item.get("question_id")) or where
    extra = {key: value for key, value in item.items() if key not in _READ}
    answer = item.get("answer")
    if answer is not None and not isinstance(answer, str):
        extra["answer"] = answer  # the number as a number
    if id_.endswith("_abs"):
        extra["abstention"] = True
    asked_at = parse_date(item.get("question_date"))
    if asked_at is None and item.get("question_date") is not None:
        extra["question_date"] = item["question_date"]
    stated = tuple(text_of(name) for name in as_list(item.get("answer_session_ids")))
    return Question(
        id_,
        text,
        None if answer is None else text_of(answer),
        name_of("longmemeval", item.get("question_type")),
        evidence,
        tuple(name for name in stated if name not in sessions),
        stated,
        asked_at,
        extra_of(extra, where),
    )


FORMAT = Format("LongMemEval JSON", _FILES.sniff, _read)
