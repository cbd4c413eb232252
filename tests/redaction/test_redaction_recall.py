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
from pathlib import Path

from realtalk.chat import Alias, Corpus
from realtalk.redaction.redact import redact
from short_chats import chat_of

_MARKED = re.compile(r"\{(\w+):([^{}]+)\}")

# Each chat: who speaks, what else they are called, what is said.
CHATS = tomllib.loads(Path(__file__).with_name("recall.toml").read_text("utf-8"))["chats"]


def _corpus() -> Corpus:
    chats = []
    for number, each in enumerate(CHATS, 1):
        speakers = tuple(each["speakers"])
        lines = (
            f"{speakers[place % len(speakers)]}: {_MARKED.sub(lambda found: found[2], text)}"
            for place, text in enumerate(each["texts"], 1)
        )
        aliases = tuple(Alias(name, speaker, "D1:1") for name, speaker in each["called"].items())
        chats.append(chat_of(*lines, id=f"chat {number}", speakers=speakers, aliases=aliases))
    return Corpus("ours", "realtalk", tuple(chats))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text))


def test_what_identifies_goes_and_the_rest_stays() -> None:
    made, _ = redact(_corpus())
    survived, lost = [], Counter[str]()
    pieces = words = 0
    for each, chat in zip(CHATS, made.chats, strict=True):
        for text, message in zip(each["texts"], chat.messages, strict=True):
            left = _words(re.sub(r"<\w+-\d+>|@handle\d+|Person\d+", " ", message.text))
            others = _words(_MARKED.sub(" ", text))
            for kind, piece in _MARKED.findall(text):
                pieces += 1
                name = piece.removeprefix("Mr ")
                parts = [part for part in re.findall(r"[^\W_]+", name) if len(part) > 2]
                if any(left[part] > others[part] for part in parts or [name]):
                    survived.append((kind, piece, message.text))
            words += others.total()
            lost += others - left
    # If even that one is gone, it is better than the docs say: tell it there.
    assert [kind for kind, *_ in survived] == ["once"], survived
    assert pieces > 61
    assert lost.total() / words < 0.005, lost


def test_the_same_person_is_one_person_in_both_chats() -> None:
    _, key = redact(_corpus())
    assert "Mara" in key.to_json()["Person1"] and "Mimi" in key.to_json()["Person1"]
    texts = [message.text for message in redact(_corpus())[0].chats[1].messages]
    assert texts[-1].startswith("Person1 from the other chat")
