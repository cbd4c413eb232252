"""How surely a chat goes to its encoder, and its language is told, where that is known.

    python bench/languages.py --data ../shared/data
    → chats sent to the multilingual encoder, of English and of other languages; where it errs

A chat here is so many consecutive texts of one source and language (tweets, subtitles, dialogues,
SMS), said by two speakers in turn, and REALTALK's ten chats as they are. Train parts are among
them, which the identifier learned from. Nigerian Pidgin (pcm) is left out: it is English in part.
Hindi in Latin script holds whole English sentences. Parallel English is taken where it stands
beside German, Japanese and French; half of XED's English column is not English and is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

from realtalk.ei.encoder_choice import MULTILINGUAL, encoder_for
from realtalk.ei.labels import turn_inputs
from realtalk.ei.languages import Languages
from realtalk.formats.opening import open_reading
from realtalk.text.languages import LanguageIdentifier, turn_languages

SAME = {"bs": "hr", "sr": "hr", "pt-BR": "pt", "pt-MZ": "pt", "zh-TW": "zh", "yue": "zh"}
SAME |= {"nb": "no", "nn": "no", "ms": "id", "ary": "ar", "arq": "ar", "arz": "ar", "lvs": "lv"}
MOST = 1200  # texts of a source and language
LEFT_OUT = ("pcm", "und")
Key = tuple[str, str]  # language, source


def read(data: Path) -> dict[Key, list[str]]:
    found: dict[Key, list[str]] = defaultdict(list)

    def add(key: Key, text: str) -> None:
        if len(found[key]) < MOST:
            found[key].append(text)

    for path in sorted((data / "multilingual").glob("*.jsonl.gz")):
        source = path.name.split(".")[1]
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                if row["lang"] not in LEFT_OUT:
                    add((row["lang"], source), row["text"])
                if row["lang"] in ("de", "ja", "fr") and row.get("en") and source != "xed":
                    add(("en", f"{source}, parallel"), row["en"])
    for name in ("emocontext/all", "goemotions/all", "offmychest/all", "dailydialog/all"):
        with gzip.open(data / "ei" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                add(("en", name.partition("/")[0]), row["text"])
    return found


def chat(texts: list[str]) -> Languages:
    said = (("c", "ab"[at % 2], text) for at, text in enumerate(texts))
    return Languages("c", "embedded", Counter(turn_languages(said)))


def sent(found: dict[Key, list[str]], size: int) -> None:
    """Which chats go to the wrong encoder, and of how many the language is right."""
    counts: dict[Key, tuple[int, int, int]] = {}
    known = LanguageIdentifier.load_shipped().languages
    for key, texts in found.items():
        parts = [texts[at : at + size] for at in range(0, len(texts) - size + 1, size)]
        spoken = [chat(part) for part in parts]
        away = sum(encoder_for(each.turns) == MULTILINGUAL for each in spoken)
        right = sum(each.mainly[:1] == (SAME.get(key[0], key[0]),) for each in spoken)
        if parts:
            counts[key] = (away, right, len(parts))
    for english, title in ((True, "English"), (False, "other languages")):
        here = {key: each for key, each in counts.items() if (key[0] == "en") == english}
        away, _, chats = (sum(each[at] for each in here.values()) for at in range(3))
        print(f"chats of {size} messages, {title}: {away:,} of {chats:,} to the multilingual one")
        wrong = {key: n if english else m - n for key, (n, _, m) in here.items()}
        worst = sorted((key for key in wrong if wrong[key]), key=lambda key: -wrong[key])[:8]
        if worst:
            print("  wrong: " + "; ".join(f"{' '.join(key)} {wrong[key]}" for key in worst))
    here = {key: each for key, each in counts.items() if SAME.get(key[0], key[0]) in known}
    right, chats = (sum(each[at] for each in here.values()) for at in (1, 2))
    print(f"chats of {size} messages, language known: {right / chats:.1%} right of {chats:,}")
    wrong = {key: m - n for key, (_, n, m) in here.items()}
    worst = sorted((key for key in wrong if wrong[key]), key=lambda key: -wrong[key])[:8]
    print("  wrong: " + "; ".join(f"{' '.join(key)} {wrong[key]}" for key in worst))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    inputs = turn_inputs(open_reading(str(options.data / "realtalk")).reading.corpus)
    told = turn_languages((each.chat, each.speaker, each.text) for each in inputs)
    chats: dict[str, Counter[str]] = defaultdict(Counter)
    for each, language in zip(inputs, told, strict=True):
        chats[each.chat][language] += 1
    shares = [Languages(name, "embedded", counts).english or 0.0 for name, counts in chats.items()]
    print(f"REALTALK: English share of {len(shares)} chats {min(shares):.3f} to {max(shares):.3f}")
    found = read(options.data)
    for size in (60, 20, 8):
        sent(found, size)


if __name__ == "__main__":
    main()
