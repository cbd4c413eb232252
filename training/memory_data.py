"""Chats with questions and their evidence → one JSON of what the retriever learns from.

    python training/memory_data.py --data ../shared/data
    → build/memory/chats.json: [{"id": "locomo/Chat_1", "speakers": ["Mara", "Theo"],
       "messages": [{"speaker": 0, "session": 1, "text": "did you sleep at all"}, ...],
       "queries": [{"text": "When did …", "kind": "temporal", "positives": [17, 18]}, ...]}]

LoCoMo gives questions and annotated observations (statements with the message they come from);
LongMemEval gives questions about assistant chats, joined ten at a time into one chat so that
there is something to tell apart. REALTALK is the test set and is never read here.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from realtalk.chat import Chat
from realtalk.corpora.opening import open_reading
from realtalk.memory.index import document_text

HERE = Path(__file__).parent
JOINED = 10  # LongMemEval chats in one: about 220 messages


def swapped(text: str, speakers: tuple[str, ...]) -> str:
    """A question about one speaker, asked about the other instead."""
    names = {speakers[0]: speakers[1], speakers[1]: speakers[0]}
    return re.sub("|".join(map(re.escape, speakers)), lambda match: names[match[0]], text)


def queries(chat: Chat, places: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Questions and observations whose evidence exists.

    An adversarial question asks about a speaker what the other one said: with the names
    exchanged it is an honest question with the same evidence.
    """
    for question in chat.questions:
        found = [places[id_] for id_ in question.evidence]
        if not found:
            continue
        text = question.text
        if question.category == "adversarial":
            said = {chat.by_id[id_].speaker for id_ in question.evidence}
            named = {name for name in chat.speakers if name in text}
            if len(chat.speakers) == 2 and len(said) == len(named) == 1 and said != named:
                text = swapped(text, chat.speakers)
        yield {"id": question.id, "text": text, "kind": question.category, "positives": found}
    for event in chat.events:
        found = [places[id_] for id_ in event.evidence if id_ in places]
        if event.kind == "observation" and found:
            yield {"id": "", "text": event.text, "kind": "observation", "positives": found}


def record(chat: Chat, name: str) -> dict[str, Any]:
    """One chat as the training script wants it."""
    messages, places = [], {}
    for session in chat.sessions:
        for message in session.messages:
            places.setdefault(message.id, len(messages))
            speaker = chat.speakers.index(message.speaker)
            text = document_text(message)
            messages.append({"speaker": speaker, "session": session.number, "text": text})
    return {
        "id": name,
        "speakers": list(chat.speakers),
        "messages": messages,
        "queries": list(queries(chat, places)),
        "asked": [question.text for question in chat.questions],
    }


def joined(parts: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Several small chats as one, their sessions kept apart."""
    whole: dict[str, Any] = {
        "id": name,
        "speakers": parts[0]["speakers"],
        "messages": [],
        "queries": [],
        "asked": [text for part in parts for text in part["asked"]],
    }
    for number, part in enumerate(parts):
        start = len(whole["messages"])
        for message in part["messages"]:
            session = 1000 * number + message["session"]
            whole["messages"].append({**message, "session": session})
        for query in part["queries"]:
            moved = [start + place for place in query["positives"]]
            whole["queries"].append({**query, "positives": moved})
    return whole


def training_chats(data: Path) -> list[dict[str, Any]]:
    """LoCoMo's ten chats, and LongMemEval's joined."""
    locomo = open_reading(data / "locomo" / "locomo10.json").reading.corpus
    found = [record(chat, f"locomo/{chat.id}") for chat in locomo.chats]
    other = open_reading(data / "longmemeval").reading.corpus
    small = [record(chat, chat.id) for chat in other.chats]
    small = [one for one in small if one["speakers"] == ["user", "assistant"]]
    for start in range(0, len(small), JOINED):
        name = f"longmemeval/{start // JOINED}"
        found.append(joined(small[start : start + JOINED], name))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    parser.add_argument("--out", type=Path, default=HERE / "build" / "memory" / "chats.json")
    options = parser.parse_args()
    found = training_chats(options.data)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found), encoding="utf-8")
    for one in found:
        print(f"{one['id']}: {len(one['messages'])} messages, {len(one['queries'])} queries")


if __name__ == "__main__":
    main()
