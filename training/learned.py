"""Everything that a shipped model learned from → hashes by which it is known again.

    python training/learned.py --data ../shared/data
    → src/realtalk/encoders/memory/learned.npz   LoCoMo 7,012, LongMemEval 1,936 …
    → src/realtalk/encoders/ei/learned.npz       REALTALK (chats 2 and 6) 813, LoCoMo …

The retriever: messages, questions and observations of the chats that it was trained on, and that
its ranking weights and the weights of the `extract` reader were fitted on. The EI encoder: the
conversations that it learned from; single tweets and posts are left out, since nobody's chat is
made of them. Hashes only: no text goes into the package.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ei_data import ALLOWED, Conversations, dialogues, unlabelled
from memory_data import training_chats
from realtalk.encoders.learned import fingerprint

TARGET = Path(__file__).parent.parent / "src" / "realtalk" / "encoders"


def memory_texts(data: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for chat in training_chats(data):
        name = "LoCoMo" if chat["id"].startswith("locomo") else "LongMemEval"
        found[name] += [message["text"] for message in chat["messages"]]
        found[name] += [query["text"] for query in chat["queries"]]
        found[name] += chat["asked"]
    return found


def ei_texts(data: Path) -> dict[str, list[str]]:
    conversations = Conversations(data)
    found: dict[str, list[str]] = {
        "REALTALK (chats 2 and 6)": [
            text for name in sorted(ALLOWED) for text in conversations.texts(f"realtalk/{name}")
        ],
        "WASSA 2024": conversations.texts("wassa2024_convt"),
        "EmoContext": conversations.texts("emocontext"),
        "DailyDialog": [
            str(row["text"]) for _, row in dialogues(data, "dailydialog/all.jsonl.gz", "dialogue")
        ],
        "AnnoMI": [
            str(row["text"]) for _, row in dialogues(data, "annomi/all.jsonl.gz", "dialogue")
        ],
    }
    names = {"locomo": "LoCoMo", "persuasion": "Persuasion For Good", "esconv_failed": "ESConv"}
    for example in unlabelled(data, most=0):
        found.setdefault(names[example.set], []).append(example.text)
    return found


def save(texts: Mapping[str, Iterable[str]], path: Path) -> None:
    sets = {
        name: np.unique(
            np.array([h for text in given if (h := fingerprint(text)) is not None], np.uint32)
        )
        for name, given in texts.items()
    }
    np.savez(path, **sets)
    size = path.stat().st_size / 1e3
    counts = ", ".join(f"{name} {len(hashes):,}" for name, hashes in sets.items())
    print(f"{path.parent.name}: {counts}; {size:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    data = parser.parse_args().data
    save(memory_texts(data), TARGET / "memory" / "learned.npz")
    save(ei_texts(data), TARGET / "ei" / "learned.npz")


if __name__ == "__main__":
    main()
