"""Long chats and the questions about them → one JSON of what the retriever learns from.

    python -m research.training.questions_chats --data ../shared/data
    python -m research.training.memory_data
    → build/memory/chats.json: [{"id": "T001", "speakers": ["Mara", "Theo"],
       "messages": [{"speaker": 0, "session": 1, "date": "2024-03-02", "text": "hey"}, ...],
       "queries": [{"text": "When did …", "kind": "date", "positives": [17, 18]}, ...]}]

`questions*.jsonl` hold the questions, each with the numbers of the messages that answer it. The
chats are those of `questions_chats.py`, of which only the parts under open terms are kept, and the
invented ones in `fiction/`. Benchmarks are test sets: nothing here reads them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = ("fact", "list", "date", "infer", "none", "across")  # across: asked in another language
TESTS = "questions_languages_test.jsonl"  # about the chats M
PASSAGE = 450  # letters of a message that are read at once, about 80 words: few people write more
OPEN = {"xpersona", "fiction"}  # MIT, and our own
EARLIER = 12  # L chats from before the shipped encoder was trained
_SESSION = re.compile(r"== session (\d+), (.+)")
_MESSAGE = re.compile(r"(\d+) ([^:]+): (.*)")


def read_chat(path: Path) -> dict[str, Any]:
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


def read_questions(paths: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """Chat id → its questions, evidence counted from 0."""
    questions: dict[str, list[dict[str, Any]]] = {}
    for line in (line for path in paths for line in path.read_text("utf-8").splitlines()):
        row = json.loads(line)
        if row["kind"] not in KINDS or bool(row["evidence"]) == (row["kind"] == "none"):
            raise SystemExit(f"{row['chat']}: a question of no known kind, or without evidence")
        places = [number - 1 for number in row["evidence"]]
        query = {"text": row["question"], "kind": row["kind"], "positives": places}
        questions.setdefault(row["chat"], []).append(query)
    return questions


def training_questions() -> list[Path]:
    """The files of questions that may be learned from."""
    return sorted(path for path in HERE.glob("questions*.jsonl") if "_test" not in path.name)


def in_other_languages() -> Iterator[dict[str, Any]]:
    """The invented chats that are not in English, with their questions."""
    asked = read_questions(training_questions())
    for path in sorted((HERE / "fiction").glob("L*.txt")):
        chat = read_chat(path)
        yield {**chat, "queries": asked[chat["id"]]}


def is_held(id_: str) -> bool:
    """Whether one of these is for choosing: every third of the first twelve, and all after them,
    which were written when the shipped encoder had been trained."""
    return id_.startswith("L") and (not is_earlier(id_) or int(id_[1:]) % 3 == 0)


def is_earlier(id_: str) -> bool:
    """Whether a chat is one of the first L chats."""
    return id_.startswith("L") and int(id_[1:]) <= EARLIER


def open_part(chat: dict[str, Any]) -> dict[str, Any]:
    """A chat without what is under narrower terms, and without questions about that."""
    messages = chat["messages"]
    kept = [place for place, message in enumerate(messages) if message["set"] in OPEN]
    new_place = {place: number for number, place in enumerate(kept)}
    queries = [
        {**query, "positives": [new_place[place] for place in query["positives"]]}
        for query in chat["queries"]
        if all(place in new_place for place in query["positives"])
    ]
    return {**chat, "messages": [messages[place] for place in kept], "queries": queries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stitched", type=Path, default=HERE / "build/questions/chats.json")
    parser.add_argument("--out", type=Path, default=HERE / "build" / "memory" / "chats.json")
    options = parser.parse_args()
    chats = json.loads(options.stitched.read_text("utf-8"))
    # L and M are chats of other languages, which this encoder does not read; M are for tests.
    chats += [read_chat(path) for path in sorted((HERE / "fiction").glob("[!LM]*.txt"))]
    questions = read_questions(training_questions())
    questions = {id_: asked for id_, asked in questions.items() if id_[0] not in "LM"}
    for chat in chats:
        chat["queries"] = questions.pop(chat["id"], [])
        last = max((place for q in chat["queries"] for place in q["positives"]), default=0)
        if last >= len(chat["messages"]):
            raise SystemExit(f"{chat['id']}: a question points beyond the last message")
    if questions:
        raise SystemExit(f"questions about chats that are not there: {', '.join(questions)}")
    chats = [part for part in map(open_part, chats) if part["messages"] and part["queries"]]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(chats), "utf-8")
    kinds = Counter(query["kind"] for chat in chats for query in chat["queries"])
    print(f"{len(chats)} chats, {kinds.total()} questions: {dict(kinds)}")


if __name__ == "__main__":
    main()
