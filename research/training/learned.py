"""Everything that a shipped model learned from → hashes by which it is known again.

    python -m research.training.learned --data ../shared/data
    → src/realtalk_models/memory/learned.npz   XPersona 8,248, invented chats 23,720
    → src/realtalk_models/memory_multilingual/learned.npz what that learned in other languages
    → src/realtalk_models/ei/learned.npz       REALTALK (chats 2 and 6) 813, LoCoMo …
    → src/realtalk_models/ei_multilingual/learned.npz     what it learned beside the English sets

Memory: messages and questions that the retriever and its ranking weights learned from
(`memory_data.py` has made them before), and LoCoMo, on which the weights of an earlier reader
were fitted; LongMemEval for runs made by the encoder's first version. The EI encoder: the
conversations that it learned from; single tweets and posts are left out, since nobody's chat is
made of them. Hashes only: no text goes into the package.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from realtalk.encoders.shipped import fingerprint
from research.training.chats import every_chat, unmarked
from research.training.ei_data import ALLOWED, Conversations, dialogues, unlabelled
from research.training.languages_sources import lines
from research.training.memory_data import in_other_languages, is_held

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "realtalk_models"


SETS = {"fiction": "invented chats", "xpersona": "XPersona"}


def memory_texts(_data: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in json.loads((HERE / "build" / "memory" / "chats.json").read_text("utf-8")):
        for message in one["messages"]:
            found[SETS[message["set"]]].append(message["text"])
        for query in one["queries"]:
            found[SETS[one["messages"][0]["set"]]].append(query["text"])
    return found


def memory_language_texts(data: Path) -> dict[str, list[str]]:
    known = language_texts(data)
    ours = [
        said["text"]
        for chat in in_other_languages()
        if not is_held(chat["id"])
        for said in (*chat["messages"], *chat["queries"])
    ]
    return {name: known[name] for name in ("XPersona", "BConTrasT")} | {"invented chats": ours}


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


def language_texts(data: Path) -> dict[str, list[str]]:
    """Conversations in other languages. In scripts without spaces nothing is long enough to be
    known by, so sets in Chinese or Japanese alone are left out."""
    sets = {
        "XPersona": ("parallel.xpersona.train",),
        "MELD": ("emotion.meld_zh_de.train",),
        "MaSaC": ("emotion.masac.train",),
        "MSCTD": ("sentiment.msctd.train", "sentiment.msctd.dev"),
        "BConTrasT": ("parallel.bcontrast_de.train",),
    }
    found = {
        name: [str(row["text"]) for file in files for row in lines(data, file)]
        for name, files in sets.items()
    }
    ours = [unmarked(each.text) for chat in every_chat() if not chat.held for each in chat.bubbles]
    return found | {"invented chats": ours}


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
    parser.add_argument("--only", default="memory,memory_multilingual,ei,ei_multilingual")
    options = parser.parse_args()
    texts = {
        "memory": memory_texts,
        "memory_multilingual": memory_language_texts,
        "ei": ei_texts,
        "ei_multilingual": language_texts,
    }
    for name in options.only.split(","):
        save(texts[name](options.data), TARGET / name / "learned.npz")


if __name__ == "__main__":
    main()
