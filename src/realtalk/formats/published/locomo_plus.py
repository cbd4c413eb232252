"""LoCoMo-Plus: a cue put into a LoCoMo chat, and a remark that must find it, to a Corpus.

    [{"relation_type": "causal", "cue_dialogue": "A: I learned to say no.\\nB: Good for you.",
      "trigger_query": "A: I took on that project after all.", "time_gap": "two weeks later"}]
    → Chat("conv-26, 1", …) with Message("cue:1", "Caroline", None, "I learned to say no."), …
      and Question("1", "I took on that project after all.", …, evidence=("cue:1", "cue:2"))

The publication's rule: entry i goes into chat i (beginning anew after the last), A and B become
its two speakers; the remark is made a week after the last session, the cue as long before as the
gap says, in a session of its own. A gap without a number counts as none. LoCoMo's own file
(`locomo10.json`) must lie beside this one, or have been fetched: `realtalk data get locomo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from realtalk.chat import Chat, Message, Question, Session, unpack_extra
from realtalk.files.download import cache_folder
from realtalk.formats.json_input import as_list, load, mapping, text_of, with_keys
from realtalk.formats.published import locomo
from realtalk.formats.published.record import Part, chat_part, gather
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Source

_LOCOMO = "locomo10.json"
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_DAYS = {"week": 7, "month": 30, "year": 365}
_GAP = re.compile(rf"\b(\d{{1,4}}|a|an|{'|'.join(_NUMBERS[1:])})\s+(week|month|year)s?\b")
_AFTER = timedelta(days=7)  # from the last session to the remark


_FILES = FormatFiles(
    (".json",), with_keys("cue_dialogue trigger_query"), "no file of LoCoMo-Plus found"
)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    chats = [chat for chat in _locomo_chats(source, options) if _last(chat) is not None]
    if not chats:
        raise source.error("its LoCoMo file has no chat with dates")
    # Those of one chat side by side: what they share is searched for once.
    parts: list[list[Part]] = [[] for _ in chats]
    for member in options.in_turn(_FILES.members(source)):
        for at, entry in enumerate(as_list(load(member))):
            part = _stitch(chats[at % len(chats)], entry, at + 1)
            lost = Leftover(f"{member.name}[{at}]", "has no cue or no remark")
            parts[at % len(chats)].append(part or ([], Ledger.of(0, [lost])))
    return gather(source, "locomo-plus", [part for alike in parts for part in alike])


def _locomo_chats(source: Source, options: ReadOptions) -> Sequence[Chat]:
    beside = [member for member in source.members if member.name.endswith(_LOCOMO)]
    if beside:
        return locomo.FORMAT.read(Source(source.path, tuple(beside[:1])), options).corpus.chats
    for path in (source.path.with_name(_LOCOMO), cache_folder() / "locomo" / _LOCOMO):
        if path.is_file():
            return locomo.FORMAT.read(Source.open(path), options).corpus.chats
    raise source.error(
        "its chats are LoCoMo's, which is not here",
        f"fetch it: realtalk data get locomo; or put {_LOCOMO} beside it",
    )


def _last(chat: Chat) -> datetime | None:
    return max((session.time for session in chat.sessions if session.time), default=None)


def days_of(gap: str) -> int:
    """`about two weeks later` → 14; 0 where no number is told."""
    match = _GAP.search(gap.lower())
    if match is None:
        return 0
    number = match[1]
    count = (
        int(number) if number.isdigit() else max(1, number in _NUMBERS and _NUMBERS.index(number))
    )
    return count * _DAYS[match[2]]


def _stitch(chat: Chat, entry: Any, number: int) -> Part | None:
    last = _last(chat)
    item = mapping(entry)
    # Who is A: the order of speakers is that of their first words, unless the file said otherwise.
    told = mapping(unpack_extra(chat.extra).get("conversation"))
    first = text_of(told.get("speaker_a")) or chat.speakers[0]
    others = [name for name in chat.speakers if name != first]
    people = {"A": first, "B": others[0] if others else "B"}
    cue = tuple(
        Message(f"cue:{at}", people[who], None, text)
        for at, (who, text) in enumerate(_lines(item.get("cue_dialogue")), 1)
    )
    remark = " ".join(text for _, text in _lines(item.get("trigger_query")))
    if not cue or not remark or last is None:
        return None
    asked = last + _AFTER
    time = asked - timedelta(days=days_of(text_of(item.get("time_gap"))))
    at = sum(session.time is None or session.time <= time for session in chat.sessions)
    sessions = [*chat.sessions[:at], Session(0, time, cue), *chat.sessions[at:]]
    question = Question(
        str(number),
        remark,
        None,
        text_of(item.get("relation_type")),
        tuple(message.id for message in cue),
        asked=asked,
    )
    numbered = [replace(session, number=n) for n, session in enumerate(sessions, 1)]
    return chat_part(f"{chat.id}, {number}", numbered, [question], ())


def _lines(text: object) -> Iterator[tuple[str, str]]:
    """`A: …` and `B: …`, line by line."""
    for line in text_of(text).split("\n"):
        who, colon, rest = line.strip().partition(":")
        if colon and who in ("A", "B") and rest.strip():
            yield who, rest.strip()


FORMAT = Format("LoCoMo-Plus JSON", _FILES.sniff, _read)
