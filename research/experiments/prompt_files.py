"""Files of prompts and of answers → their rows, wherever there is Python alone.

    read(Path("prompts.jsonl.xz"))    → {"head": true, "max_tokens": 64, "sets": {…}},
        [{"set": "whole all", "chat": "Chat_1", "id": "Q3", "before": "…", "shown": "…", …}, …]
    lines(Path("answers.jsonl"))      → [{"set": "whole all", "chat": "Chat_1", "id": "Q3", …}, …]

What many prompts show, a whole chat say, is written and held once.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Key = tuple[str, str, str]  # set, chat, question


def read(path: Path) -> tuple[Row, list[Row]]:
    """The head, and every prompt with its context's text and how long its reply may be."""
    contexts: dict[int, str] = {}
    rows: list[Row] = []
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        head = json.loads(next(stream))
        sets = head.get("sets", {})
        for row in map(json.loads, stream):
            if "text" in row:
                contexts[row["context"]] = row["text"]
            else:
                longest = sets.get(row["set"], {}).get("max_tokens", head["max_tokens"])
                rows.append({**row, "shown": contexts[row["context"]], "max_tokens": longest})
    return head, rows


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def key(row: Row) -> Key:
    return row["set"], row["chat"], row["id"]


def named(row: Row) -> Row:
    return {name: row[name] for name in ("set", "chat", "id")}


def prompt_text(row: Row) -> str:
    return f"{row['before']}{row['shown']}{row['after']}"
