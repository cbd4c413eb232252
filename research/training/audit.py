"""The audit of REALTALK's questions → `audit.jsonl.gz` in the package.

    python -m research.training.audit DATA/audit/realtalk_questions.jsonl DATA/realtalk

The audit names files and places; what ships is keyed by content and has no defaults in it.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import orjson

from realtalk.formats.audit import chat_key, question_key
from realtalk.formats.opening import open_reading

OUT = Path(__file__).parents[2] / "src" / "realtalk" / "corpora" / "audit.jsonl.gz"
DEFAULTS = {"accept": [], "date_basis": "none", "evidence_changed": False}


def main(audit: Path, chats: Path) -> None:
    corpus = open_reading(chats).reading.corpus
    by_name = {chat.id: chat for chat in corpus.chats}
    lines = []
    for line in audit.read_bytes().splitlines():
        entry = orjson.loads(line)
        chat = by_name[entry["chat"]]
        question = chat.questions[entry["question"] - 1]
        said = {entry["answer"].strip().casefold()}
        accept = []
        for other in entry["accept"]:  # the same answer in other letters says nothing new
            if other.strip().casefold() not in said:
                said.add(other.strip().casefold())
                accept.append(other)
        kept = {
            name: entry[name]
            for name in ("verdict", "answer", "evidence", "why", "date_basis", "evidence_changed")
        }
        kept = {"chat": chat_key(chat), "question": question_key(question), **kept}
        kept |= {"accept": accept}
        lines.append({name: each for name, each in kept.items() if each != DEFAULTS.get(name)})
    keys = {(line["chat"], line["question"]) for line in lines}
    assert len(keys) == len(lines), "two questions with one key"
    packed = gzip.compress(b"\n".join(map(orjson.dumps, lines)), 9, mtime=0)
    OUT.write_bytes(packed)
    print(
        f"{len(lines)} questions of {len({chat for chat, _ in keys})} chats, {len(packed):,} bytes"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
