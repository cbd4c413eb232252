"""Long chats and the questions about them → one JSON of what the retriever learns from.

    python -m research.training.questions_chats --data ../shared/data
    python -m research.training.memory_data
    → build/memory/chats.json: [{"id": "T001", "speakers": ["Mara", "Theo"],
       "messages": [{"speaker": 0, "session": 1, "date": "2024-03-02", "text": "hey"}, ...],
       "queries": [{"text": "When did …", "kind": "date", "positives": [17, 18]}, ...]}]

`questions.jsonl` holds the questions, each with the numbers of the messages that answer it. The
chats are those of `questions_chats.py` and the invented ones in `fiction/`. REALTALK, LoCoMo and
LongMemEval are test sets: nothing here reads them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = ("fact", "list", "date", "infer", "none")
_SESSION = re.compile(r"== session (\d+), (.+)")
_MESSAGE = re.compile(r"(\d+) ([^:]+): (.*)")


def told(path: Path) -> dict[str, Any]:
    """A listing of an invented chat → the chat."""
    first, *lines = path.read_text("utf-8").splitlines()
    id_, _, names = first.partition(": ")
    speakers = [name.strip() for name in names.split(",")]
    messages: list[dict[str, Any]] = []
    session, today = 0, ""
    for line in filter(None, lines):
        if found := _SESSION.fullmatch(line):
            session = int(found[1])
            today = datetime.strptime(found[2], "%A %d %B %Y").date().isoformat()
            continue
        found = _MESSAGE.fullmatch(line)
        if found is None or int(found[1]) != len(messages) + 1 or found[2] not in speakers:
            raise SystemExit(f"{path.name}, after message {len(messages)}: not a message")
        message = {"speaker": speakers.index(found[2]), "session": session, "date": today}
        messages.append({**message, "text": found[3], "set": "fiction"})
    return {"id": id_, "speakers": speakers, "messages": messages}


def asked(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Chat id → its questions, evidence counted from 0."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] not in KINDS or bool(row["evidence"]) == (row["kind"] == "none"):
            raise SystemExit(f"{row['chat']}: a question of no known kind, or without evidence")
        places = [number - 1 for number in row["evidence"]]
        query = {"text": row["question"], "kind": row["kind"], "positives": places}
        found.setdefault(row["chat"], []).append(query)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stitched", type=Path, default=HERE / "build/questions/chats.json")
    parser.add_argument("--out", type=Path, default=HERE / "build" / "memory" / "chats.json")
    options = parser.parse_args()
    chats = json.loads(options.stitched.read_text("utf-8"))
    chats += [told(path) for path in sorted((HERE / "fiction").glob("*.txt"))]
    questions = asked(HERE / "questions.jsonl")
    for chat in chats:
        chat["queries"] = questions.pop(chat["id"], [])
        last = max((place for q in chat["queries"] for place in q["positives"]), default=0)
        if last >= len(chat["messages"]):
            raise SystemExit(f"{chat['id']}: a question points beyond the last message")
    if questions:
        raise SystemExit(f"questions about chats that are not there: {', '.join(questions)}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps([chat for chat in chats if chat["queries"]]), "utf-8")
    kinds = Counter(query["kind"] for chat in chats for query in chat["queries"])
    print(f"{len(chats)} chats, {kinds.total()} questions: {dict(kinds)}")


if __name__ == "__main__":
    main()
