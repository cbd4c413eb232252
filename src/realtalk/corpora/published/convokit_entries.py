"""ConvoKit's utterances and conversations to frozen values and back.

    conversation.add({"text": "hey", "timestamp": 1772474640, "meta": {"score": 3}}, "u2", "mara")
    conversation.chat("u1", meta, …) → Chat("u1", ("mara",), sessions cut at pauses, …)
    utterance_entry(message, "u2", "u1", names) → the utterance that reads back as the message

`realtalk` in a meta amends what was read; `convokit` in an extra holds what is not meta.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Chat, Corpus, Message, Session, unpack_extra
from realtalk.corpora.json_input import listed, mapping, text_of
from realtalk.corpora.published.columns import cut_keeping_ids
from realtalk.corpora.published.record import KEY, amended, differences, extra_of
from realtalk.corpora.published.stamps import parse_stamp
from realtalk.corpora.reading import ReadOptions
from realtalk.corpora.sessions import Gap, sorted_by_time
from realtalk.errors import RealtalkError

_OWN = "convokit"
_EPOCH = datetime(1970, 1, 1)
_READ = frozenset(
    """
    id speaker user conversation_id root reply-to reply_to timestamp text meta
    """.split()  # noqa: SIM905 - words read better than quotes
)


def meta_of(entry: Any) -> tuple[dict[str, Any], list[Any]]:
    """(meta, vectors) of a speaker or conversation; older files hold the bare meta."""
    if not isinstance(entry, dict):
        return {}, []
    if "meta" in entry and set(entry) <= {"meta", "vectors"}:
        return mapping(entry["meta"]), listed(entry.get("vectors"))
    return entry, []


def _extra(meta: Mapping[str, Any], beyond: Mapping[str, Any], where: str) -> str:
    kept = {key: value for key, value in meta.items() if key != KEY}
    if more := {key: value for key, value in beyond.items() if value not in (None, [], {})}:
        kept[_OWN] = more
    return extra_of(kept, where)


def _message(
    fields: Mapping[str, Any], id_: str, speaker: str, tz: ZoneInfo | None, where: str
) -> Message:
    meta = mapping(fields.get("meta"))
    reply = fields["reply-to"] if "reply-to" in fields else fields.get("reply_to")
    beyond = {key: value for key, value in fields.items() if key not in _READ}
    message = Message(
        id_,
        speaker,
        parse_stamp(fields.get("timestamp"), tz),
        text_of(fields.get("text")),
        reply_to=None if reply is None else str(reply),
        extra=_extra(meta, beyond, where),
    )
    return amended(message, meta.get(KEY), where)


class Conversation:
    """The utterances of one conversation, as they are met."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    def add(
        self, fields: Mapping[str, Any], id_: str, speaker: str, tz: ZoneInfo | None, where: str
    ) -> bool:
        """Whether the utterance had a time stamp that could not be read."""
        message = _message(fields, id_, speaker, tz, where)
        self._messages.append(message)
        stamp = fields.get("timestamp")
        return message.time is None and stamp not in (None, "")

    def chat(self, id_: str, meta: Mapping[str, Any], beyond: Mapping[str, Any], gap: Gap) -> Chat:
        own = mapping(meta.get(KEY))
        where = f"conversation {id_}"
        sessions = self._laid_out(own.get("layout"), where)
        if sessions is None:
            sessions = cut_keeping_ids(sorted_by_time(self._messages), gap)
        speakers = tuple(dict.fromkeys(m.speaker for s in sessions for m in s.messages))
        known = beyond.get("speakers") or {}
        about = {name: known[name] for name in speakers if any(meta_of(known.get(name)))}
        extra = _extra(meta, {**beyond, "speakers": about}, where)
        chat = Chat(id_, speakers, sessions, extra=extra)
        return amended(chat, own, where)

    def _laid_out(self, layout: Any, where: str) -> tuple[Session, ...] | None:
        """Sessions as they were written along: [number, time, how many messages] each."""
        if layout is None:
            return None
        sessions = []
        start = 0
        for entry in layout if isinstance(layout, list) else [None]:
            if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], int)):
                raise RealtalkError(f"'{KEY}' holds no layout of sessions", where=where)
            stop = start + max(0, entry[2])
            head = amended(Session(0, None, ()), {"number": entry[0], "time": entry[1]}, where)
            messages = tuple(self._messages[start:stop])
            sessions.append(Session(head.number, head.time, messages))
            start = stop
        # Utterances added since then are not dropped.
        if rest := tuple(self._messages[start:]):
            number = max((session.number for session in sessions), default=0) + 1
            sessions.append(Session(number, rest[0].time, rest))
        return tuple(sessions)


def _stamp(time: datetime | None) -> int | float | None:
    if time is None:
        return None
    seconds = (time - _EPOCH).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _parted(extra: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(meta, what is not meta) of an extra."""
    meta = unpack_extra(extra)
    own = meta.pop(_OWN, None)
    if isinstance(own, dict):
        return meta, own
    return (meta if own is None else {**meta, _OWN: own}), {}


def utterance_entry(
    message: Message, name: str, conversation: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """The utterance called `name` that reads back as this very message."""
    meta, beyond = _parted(message.extra)
    entry: dict[str, Any] = {
        **{key: value for key, value in beyond.items() if key not in _READ},
        "id": name,
        "conversation_id": conversation,
        "text": message.text,
        "speaker": message.speaker,
        "meta": {key: value for key, value in meta.items() if key != KEY},
        "reply-to": None if message.reply_to is None else names.get(message.reply_to),
        "timestamp": _stamp(message.time),
    }
    entry.setdefault("vectors", [])
    read_back = _message(entry, name, message.speaker, None, name)
    if change := differences(message, read_back):
        entry["meta"] = {**entry["meta"], KEY: change}
    return entry


def shared_meta(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """What chats carry of speakers.json and corpus.json; one file each serves all chats."""
    shared: dict[str, dict[str, Any]] = {"speakers": {}, "corpus": {}}
    for place, chat in enumerate(corpus.chats):
        _, beyond = _parted(chat.extra)
        for name in ("speakers", "corpus") if place == 0 else ("speakers",):
            shared[name] |= mapping(beyond.get(name))
    shared["corpus"].pop(KEY, None)
    return shared


def chat_entry(
    chat: Chat, entries: list[dict[str, Any]], shared: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of conversations.json with which the utterances read back as this chat."""
    meta, beyond = _parted(chat.extra)
    meta.pop(KEY, None)
    vectors = listed(beyond.get("vectors"))
    again = Conversation()
    for entry in entries:
        again.add(entry, entry["id"], entry["speaker"], None, entry["id"])
    known, gap = {"vectors": vectors, **shared}, ReadOptions().gap
    read_back = again.chat(chat.id, meta, known, gap)
    own: dict[str, Any] = {}
    if read_back.sessions != chat.sessions or not entries:
        own["layout"] = [
            [session.number, session.time and session.time.isoformat(), len(session.messages)]
            for session in chat.sessions
        ]
        # The layout changes who speaks first, too.
        read_back = again.chat(chat.id, {**meta, KEY: dict(own)}, known, gap)
    own |= differences(chat, read_back)
    own.pop("sessions", None)
    return {"meta": {**meta, KEY: own} if own else meta, "vectors": vectors}
