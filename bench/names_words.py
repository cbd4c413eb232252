"""How many ordinary words a redaction takes for names, where people are called like words.

    python bench/names.py --words            (chats of bench/names/words, by language)

Beside the marks of bench/names, `WORD` is an ordinary use of a word, or of a form of it, that a
speaker is called by, and `OTHER` one of a word that somebody else is called by. Neither may be
replaced. `LANG-1` was developed on, `LANG-2` looked at when all was done, `LANG-0` names nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import regex

from realtalk.text.folding import fold

ORDINARY = ("WORD", "OTHER")
_TOKEN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}ー]+|[\p{L}\p{M}]+")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Hangul}]")
_FEW = 3  # letters that a clipped form has at least in common with its name
Span = tuple[int, int, str]
COLUMNS = (
    "speakers' words replaced",
    "others' words replaced",
    "words wrong per 1,000",
    "speakers left",
    "persons left",
)


def counted(rows: Iterable[tuple[str, str, tuple[Span, ...], list[Span]]]) -> Counter[str]:
    """Speaker, text, marks and what was replaced of every message → counts."""
    listed = list(rows)
    speakers = {speaker for speaker, _, _, _ in listed}
    counts: Counter[str] = Counter()
    for _, text, marks, gone in listed:
        covered = {at for start, end, _ in gone for at in range(start, end)}
        private = {
            at for start, end, kind in marks if kind not in ORDINARY for at in range(start, end)
        }
        for start, end, kind in marks:
            letters = [at for at in range(start, end) if text[at].isalnum()]
            if kind in ORDINARY:
                counts[kind] += 1
                counts[f"{kind} replaced"] += any(at in covered for at in letters)
            elif kind == "PER":
                left = any(at not in covered for at in letters)
                names = ("PER", "SPEAKER") if is_speakers(text[start:end], speakers) else ("PER",)
                for name in names:
                    counts[name] += 1
                    counts[f"{name} left"] += left
        for match in _TOKEN.finditer(text):
            places = range(*match.span())
            wrong = sum(at in covered and at not in private for at in places)
            if _UNSPACED.match(match[0]):  # about two signs to a word
                counts["words"] += max(1, len(match[0]) // 2)
                counts["wrong"] += (wrong + 1) // 2
            else:
                counts["words"] += 1
                counts["wrong"] += wrong > 0 and not private.intersection(places)
    return counts


def is_speakers(name: str, speakers: Iterable[str]) -> bool:
    """Whether a name, clipped or bent, is a speaker's."""
    key = fold(name)
    for speaker in speakers:
        for part in fold(speaker).split():
            same = 0
            while same < min(len(key), len(part)) and key[same] == part[same]:
                same += 1
            if same >= min(_FEW, len(part), len(key)) or (_UNSPACED.match(key) and key in part):
                return True
    return False


def tell(by_language: dict[str, Counter[str]], write: Callable[[str], None] = print) -> None:
    write("| language | " + " | ".join(COLUMNS) + " |")
    write("|---" * (len(COLUMNS) + 1) + "|")
    total: Counter[str] = Counter()
    for counts in by_language.values():
        total.update(counts)
    for lang, counts in [*sorted(by_language.items()), ("all", total)]:
        cells = [f"{counts[f'{kind} replaced']} of {counts[kind]}" for kind in ORDINARY]
        cells.append(f"{1000 * counts['wrong'] / max(1, counts['words']):.1f}")
        cells += [f"{counts[f'{kind} left']} of {counts[kind]}" for kind in ("SPEAKER", "PER")]
        write(f"| {lang} | " + " | ".join(cells) + " |")


def summed(chats: Iterable[tuple[str, Counter[str]]]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for lang, counts in chats:
        found[lang].update(counts)
    return found
