"""How much of what identifies people goes, and how much of the rest stays, on a set of our own.

    "ask {speaker:Mara} about {phone:0170/1234567}, not about marathons"
    → what stands in braces must be gone, every other word must still be there

Recall is the share of marked pieces of which nothing is left; what is kept is the share of
the other words that came through. A stranger who is named once, without a greeting or
"my sister" before the name, is known to stay: those are counted and not asked for.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from realtalk.chat import Alias, Chat, Corpus, Message, Session
from realtalk.redaction.redact import redact

_MARKED = re.compile(r"\{(\w+):([^{}]+)\}")
_NOON = datetime(2026, 3, 2, 12, 0)

# Each chat: who speaks, what else they are called, what is said.
# Each chat: who speaks, what else they are called, what is said.
CHATS = tomllib.loads(Path(__file__).with_name("recall.toml").read_text("utf-8"))["chats"]


def _plain(text: str) -> str:
    return _MARKED.sub(lambda found: found[2], text)


def _corpus() -> Corpus:
    chats = []
    for number, each in enumerate(CHATS, 1):
        speakers = tuple(each["speakers"])
        messages = tuple(
            Message(
                f"D1:{place}",
                speakers[place % len(speakers)],
                _NOON + timedelta(minutes=place),
                _plain(text),
            )
            for place, text in enumerate(each["texts"], 1)
        )
        aliases = tuple(Alias(name, speaker, "D1:1") for name, speaker in each["called"].items())
        session = Session(1, _NOON, messages)
        chats.append(Chat(f"chat {number}", speakers, (session,), aliases=aliases))
    return Corpus("ours", "realtalk", tuple(chats))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text))


def measure() -> tuple[dict[str, tuple[int, int]], tuple[int, int], list[str]]:
    """Gone and all, of each kind; kept and all, of the other words; and every miss."""
    made, _ = redact(_corpus())
    gone: Counter[str] = Counter()
    total: Counter[str] = Counter()
    kept = words = 0
    misses = []
    for each, chat in zip(CHATS, made.chats, strict=True):
        for text, message in zip(each["texts"], chat.messages, strict=True):
            left = re.sub(r"<\w+-\d+>|@handle\d+|Person\d+", " ", message.text)
            for kind, piece in _MARKED.findall(text):
                total[kind] += 1
                name = piece.removeprefix("Mr ")
                parts = [part for part in re.findall(r"[^\W_]+", name) if len(part) > 2]
                outside = _words(_MARKED.sub(" ", text))
                survived = [p for p in parts or [name] if _words(left)[p] > outside[p]]
                gone[kind] += not survived
                misses += [f"{kind} left: {piece} in {message.text}"] if survived else []
            others = _words(_MARKED.sub(" ", text))
            words += others.total()
            lost = others - _words(left)
            kept += others.total() - lost.total()
            misses += [f"lost: {word} in {message.text}" for word in lost]
    return {kind: (gone[kind], total[kind]) for kind in total}, (kept, words), misses


def test_what_identifies_goes_and_the_rest_stays() -> None:
    found, (kept, words), misses = measure()
    told = "\n".join(misses)
    assert found.pop("once") == (0, 1), "better than the docs say: tell it there"
    for kind, (gone, total) in found.items():
        assert gone == total, f"{kind}: {gone} of {total} gone\n{told}"
    assert kept / words > 0.995, f"{kept} of {words} words kept\n{told}"
    assert sum(total for _, total in found.values()) > 60


def test_the_same_person_is_one_person_in_both_chats() -> None:
    _, key = redact(_corpus())
    assert "Mara" in key.to_json()["Person1"] and "Mimi" in key.to_json()["Person1"]
    texts = [message.text for message in redact(_corpus())[0].chats[1].messages]
    assert texts[-1].startswith("Person1 from the other chat")
