"""A corpus and a speaker → rows for tools that tune models: sessions as conversations.

    made = build_tuning_set(corpus, "Mara", "sharegpt")
    made.roles[0]   → ChatRoles("Chat_1_Mara_Theo", "Mara", user=("Theo",), replies=118)
    made.rows[0]
    → {"conversations": [{"from": "human", "value": "did you sleep?"},
                         {"from": "gpt", "value": "a bit"}, …],
       "system": "You are Mara, chatting with Theo."}

The speaker is the assistant, everybody else the user. A row begins with the user and ends with the
assistant, and they take turns: what stands before the first question or after the last reply of a
session is left out and counted. In a group the names stay in the user's text. Deleted messages,
and those of nobody, are left out; notices of the app never were messages.

The three forms are those that LLaMA-Factory, Axolotl, TRL and WeClone document
(docs/build/datasets.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from realtalk.chat import Chat, Corpus, Message, is_nobody
from realtalk.ei.labels import turn_inputs
from realtalk.errors import RealtalkError
from realtalk.files.json_objects import write_objects
from realtalk.persona.turns import named_speaker
from realtalk.registry import known_name

TuningRow: TypeAlias = dict[str, Any]
Exchange: TypeAlias = tuple[str, str]  # what the others said, and what the speaker replied
FORMS = ("sharegpt", "alpaca", "messages")
# Reasons why something is left out.
_GONE = "deleted or nobody's messages"
_OPENING = "own turns that answer nothing"
_UNANSWERED = "turns of others without a reply"


@dataclass(frozen=True, slots=True)
class ChatRoles:
    """Who is who in one chat, and how many replies of the assistant are written."""

    chat: str
    assistant: str
    user: tuple[str, ...]
    replies: int


@dataclass(frozen=True)
class TuningSet:
    """The rows of a speaker, in the form of a tool, and what was left out."""

    speaker: str
    form: str
    roles: tuple[ChatRoles, ...]
    rows: tuple[TuningRow, ...] = field(repr=False)
    left_out: Mapping[str, int]

    @property
    def lines(self) -> tuple[str, ...]:
        """Who is user and who assistant, chat by chat, for people."""
        return tuple(
            f"{role.chat}: assistant {role.assistant} ({role.replies:,} replies), "
            f"user {', '.join(role.user) or 'nobody'}"
            for role in self.roles
        )

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows: who is who, how many, and what was left out."""
        return {
            "speaker": self.speaker,
            "format": self.form,
            "roles": [asdict(role) | {"user": list(role.user)} for role in self.roles],
            "rows": len(self.rows),
            "replies": sum(role.replies for role in self.roles),
            "left_out": dict(self.left_out),
        }

    def write(self, path: Path) -> Path:
        """One JSON object per line."""
        return write_objects(path, self.rows)


def build_tuning_set(
    corpus: Corpus, speaker: str, form: str = "sharegpt", exchanges: int | None = None
) -> TuningSet:
    """The speaker's replies in all of their chats.

    A row holds at most so many `exchanges`: by default a whole session, of alpaca a single one.
    """
    known_name("form of a dataset", form, FORMS)
    if exchanges is not None and exchanges < 1:
        raise RealtalkError(f"a row must hold 1 or more exchanges, not {exchanges}")
    speaker = named_speaker(corpus, speaker)
    left_out = dict.fromkeys((_GONE, _OPENING, _UNANSWERED), 0)
    roles: list[ChatRoles] = []
    rows: list[TuningRow] = []
    for chat in corpus.chats:
        if speaker not in chat.speakers:
            continue
        spoken = _without_gone(chat)
        left_out[_GONE] += len(chat.messages) - len(spoken.messages)
        users = tuple(dict.fromkeys(m.speaker for m in spoken.messages if m.speaker != speaker))
        system = f"You are {speaker}, chatting with {' and '.join(users) or 'nobody'}."
        replies = 0
        for session_exchanges in _sessions(spoken, speaker, left_out, is_group=len(users) > 1):
            rows += _rows(form, session_exchanges, system, exchanges)
            replies += len(session_exchanges)
        roles.append(ChatRoles(chat.id, speaker, users, replies))
    if not rows:
        raise RealtalkError(f"{speaker} replies to nobody", where=corpus.name)
    return TuningSet(speaker, form, tuple(roles), tuple(rows), left_out)


def _without_gone(chat: Chat) -> Chat:
    def stays(message: Message) -> bool:
        return not message.deleted and not is_nobody(message.speaker)

    sessions = (
        replace(session, messages=tuple(filter(stays, session.messages)))
        for session in chat.sessions
    )
    return replace(chat, sessions=tuple(sessions))


def _sessions(
    chat: Chat, speaker: str, left: dict[str, int], *, is_group: bool
) -> Iterator[list[Exchange]]:
    """A session's exchanges, oldest first; `left` counts the turns at its edges."""
    by_session: dict[int, list[tuple[bool, str]]] = {}
    for turn in turn_inputs(Corpus(chat.id, "", (chat,))):
        if not (text := turn.text.strip()):
            continue
        own = turn.speaker == speaker
        if is_group and not own:
            text = f"{turn.speaker}: {text}"
        parts = by_session.setdefault(turn.session, [])
        # Others after each other are one user, and so is the speaker around a wordless picture.
        if parts and parts[-1][0] == own:
            parts[-1] = (own, f"{parts[-1][1]}\n{text}")
        else:
            parts.append((own, text))
    for parts in by_session.values():
        opens, ends_open = parts[0][0], not parts[-1][0]
        left[_OPENING] += opens
        left[_UNANSWERED] += ends_open
        texts = [text for _, text in parts[int(opens) : len(parts) - int(ends_open)]]
        if texts:
            yield list(zip(texts[::2], texts[1::2], strict=True))


def _rows(
    form: str, found: Sequence[Exchange], system: str, most: int | None
) -> Iterator[TuningRow]:
    """A session's rows, each of as many exchanges as it may hold."""
    if form == "alpaca":
        # One row per reply; those before it are its history.
        for at, (question, reply) in enumerate(found):
            earlier = [list(exchange) for exchange in found[max(0, at + 1 - (most or 1)) : at]]
            row = {"instruction": question, "input": "", "output": reply, "system": system}
            yield {**row, "history": earlier}
        return
    size = most or len(found)
    for start in range(0, len(found), size):
        part = found[start : start + size]
        if form == "sharegpt":
            yield {"conversations": _texts(part, "from", "value", "human", "gpt"), "system": system}
        else:
            texts = _texts(part, "role", "content", "user", "assistant")
            yield {"messages": [{"role": "system", "content": system}, *texts]}


def _texts(part: Sequence[Exchange], key: str, value: str, *who: str) -> list[TuningRow]:
    """Each text beside who says it."""
    return [{key: side, value: text} for pair in part for side, text in zip(who, pair, strict=True)]
