"""How much of what identifies people is left after redaction, by kind and language.

    python bench/names.py --chats bench/names
    python bench/names.py --held         (the chats in training/ that the tagger did not learn from)
    python bench/names.py --public ../shared/data/names/uner.test.jsonl.gz --tools realtalk,presidio
    python bench/names.py --time [../shared/data/realtalk]
    python bench/names.py --guide        (the table of docs/redact/how-well.md)
    python bench/names.py --words        (people who are called like words: `names_words`)
    python bench/names.py --counts FILE  (each chat's counts, for `names_beside`)

Left is the share of marked mentions of which a letter or digit is still there; precision the share
of what was replaced as a person that meets a mark of a person ("a name": or of a place or an
organisation), and of the other kinds of one of the kind. Ours redacts a whole chat with its
speakers, with the tagger or by `rules` alone; Presidio (pattern recognisers, no language model) and
scrubadub (its default detectors) read message by message, where installed.
Public sets are read as chats of one speaker, 50 sentences each, and are never learned from.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

NOON = datetime(2026, 3, 2, 12, 0)
MARK = re.compile(r"\[\[([A-Z]+):(.*?)\]\]")
NAMES = ("PER", "LOC", "ORG")
SURE = ("PHONE", "EMAIL", "HANDLE", "BANK")
SPEAKER = "SPEAKER"
OTHERS = "OTHERS"  # persons that do not speak in the chat: speakers' names go by rules anyway
WORDS = "WORDS"  # all words, and those that went though nothing private is marked there
DRAWS = 2_000  # of chats, for an interval
OURS = {
    "person": "PER",
    "place": "LOC",
    "organisation": "ORG",
    "address": "ADDRESS",
    "birthday": "DOB",
    "number": "ID",
}
PUBLIC = {"PER", "LOC", "ORG", "ADDRESS", "DOB", "ID", "PHONE", "EMAIL", "HANDLE"}


@dataclass(frozen=True)
class Marked:
    """A text and where its mentions are."""

    speaker: str
    text: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class LabelledChat:
    lang: str
    name: str
    rows: tuple[Marked, ...]


Gone = list[tuple[int, int, str]]  # what was replaced: start, end, kind ("person" or another)
Tool = Callable[[LabelledChat], list[Gone]]


def own_chats(folder: Path) -> Iterator[LabelledChat]:
    for path in sorted(folder.glob("*-[0-9].txt")):
        rows = []
        for line in path.read_text("utf-8").splitlines():
            speaker, bar, marked = line.partition("|")
            if bar:
                rows.append(unmarked(speaker, marked))
        yield LabelledChat(path.stem.rpartition("-")[0], path.stem, tuple(rows))


def held_chats() -> Iterator[LabelledChat]:
    """The chats of our own that were held out in training; thresholds are fitted on them."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # whence `research` is imported
    from research.training.chats import every_chat

    for number, chat in enumerate(each for each in every_chat() if each.held):
        rows = tuple(unmarked(bubble.speaker, bubble.text) for bubble in chat.bubbles)
        yield LabelledChat(chat.lang, f"held {number}", rows)


def unmarked(speaker: str, marked: str) -> Marked:
    text, spans, done = "", [], 0
    for match in MARK.finditer(marked):
        text += marked[done : match.start()]
        spans.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        done = match.end()
    return Marked(speaker, text + marked[done:], tuple(spans))


def public_chats(folder: Path, most: int) -> Iterator[LabelledChat]:
    for path in sorted(folder.glob("*test.jsonl.gz")) if folder.is_dir() else (folder,):
        by_lang: dict[str, list[Marked]] = defaultdict(list)
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                if len(by_lang[row["lang"]]) < most:
                    by_lang[row["lang"]].append(sentence(row))
        for lang, rows in by_lang.items():
            for at in range(0, len(rows), 50):
                name = f"{path.name.partition('.')[0]}.{lang}.{at}"
                yield LabelledChat(lang, name, tuple(rows[at : at + 50]))


def sentence(row: dict[str, Any]) -> Marked:
    """Tokens and tags as a text with places; of the raw text where the source has it."""
    text, join = row.get("text"), row.get("join", " ")
    places: list[tuple[int, int]] = []
    at = 0
    for token in row["tokens"]:
        if text is not None:
            found = text.find(token, at)
            start = found if found >= 0 else at
        else:
            start = at + (len(join) if places else 0)
        places.append((start, start + len(token)))
        at = start + len(token)
    spans: list[tuple[int, int, str]] = []
    for (start, end), tag in zip(places, row["tags"], strict=True):
        kind = tag[2:]
        if tag.startswith("I-") and spans and spans[-1][2] == kind:
            spans[-1] = (spans[-1][0], end, kind)
        elif kind in PUBLIC:
            spans.append((start, end, kind))
    return Marked("", join.join(row["tokens"]) if text is None else text, tuple(spans))


def rules_tool() -> Tool:
    from realtalk.redaction.redact import RULES

    return realtalk_tool(RULES)


def realtalk_tool(sources: Any = None) -> Tool:
    from realtalk.redaction.sources import name_sources

    chosen = name_sources() if sources is None else sources

    def run(chat: LabelledChat) -> list[Gone]:
        texts = redacted(chat, chosen)
        return [differences(row.text, text) for row, text in zip(chat.rows, texts, strict=True)]

    return run


def redacted(chat: LabelledChat, sources: Any) -> list[str]:
    """The texts of a chat after redaction."""
    from realtalk.chat import Chat, Corpus, Message, Session
    from realtalk.redaction.redact import redact

    said = tuple(
        Message(f"D1:{at}", row.speaker or "zzq", NOON, row.text)
        for at, row in enumerate(chat.rows, 1)
    )
    speakers = tuple(dict.fromkeys(message.speaker for message in said))
    corpus = Corpus("c", "x", (Chat("c", speakers, (Session(1, NOON, said),)),))
    made, _ = redact(corpus, sources=sources)
    return [message.text for message in made.chats[0].messages]


def differences(text: str, redacted: str) -> Gone:
    """What a redacted text has instead of which letters, from its stand-ins."""
    if text == redacted:
        return []
    from realtalk.redaction.standins import STAND_IN, kind_of

    pieces, kinds, done = [], [], 0
    for match in STAND_IN.finditer(redacted):
        pieces.append(redacted[done : match.start()])
        kinds.append(kind_of(match[0]).lower())
        done = match.end()
    pieces.append(redacted[done:])
    pattern = "(.+?)".join(map(re.escape, pieces))
    match_all = re.fullmatch(pattern, text, re.DOTALL)
    if match_all is None:  # should not be: then whatever differs
        matcher = SequenceMatcher(None, text, redacted, autojunk=False)
        return [(a, b, "person") for op, a, b, _, _ in matcher.get_opcodes() if op != "equal"]
    return [(*match_all.span(at), kind) for at, kind in enumerate(kinds, 1)]


def presidio_tool() -> Tool:
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

    class Blank(NlpEngine):  # type: ignore[misc]
        """No language model: patterns alone."""

        def load(self) -> None: ...
        def is_loaded(self) -> bool:
            return True

        def process_text(self, text: str, language: str) -> Any:  # noqa: ARG002
            return NlpArtifacts([], [], [], [], self, language)

        def process_batch(self, texts: Any, language: str, **_: Any) -> Any:
            return ((text, self.process_text(text, language)) for text in texts)

        def is_stopword(self, word: str, language: str) -> bool:  # noqa: ARG002
            return False

        def is_punct(self, word: str, language: str) -> bool:  # noqa: ARG002
            return False

        def get_supported_entities(self) -> list[str]:
            return []

        def get_supported_languages(self) -> list[str]:
            return ["en"]

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])

    def run(chat: LabelledChat) -> list[Gone]:
        return [
            [(r.start, r.end, "person" if r.entity_type == "PERSON" else r.entity_type)
             for r in engine.analyze(row.text, language="en")]
            for row in chat.rows
        ]  # fmt: skip

    return run


def scrubadub_tool() -> Tool:
    import scrubadub

    scrubber = scrubadub.Scrubber()

    def run(chat: LabelledChat) -> list[Gone]:
        return [
            [(f.beg, f.end, "person" if f.type == "name" else f.type)
             for f in scrubber.iter_filth(row.text)]
            for row in chat.rows
        ]  # fmt: skip

    return run


TOOLS: dict[str, Callable[[], Tool]] = {
    "realtalk": realtalk_tool,
    "rules": rules_tool,
    "presidio": presidio_tool,
    "scrubadub": scrubadub_tool,
}
Counts = dict[tuple[str, str], Counter[str]]


def measure(tool: Tool, chats: list[LabelledChat]) -> Counts:
    return summed(by_chat(tool, chats))


def summed(parts: Iterable[Counts]) -> Counts:
    counts: Counts = defaultdict(Counter)
    for part in parts:
        for key, each in part.items():
            counts[key].update(each)
    return counts


def by_chat(tool: Tool, chats: list[LabelledChat]) -> list[Counts]:
    import names_words

    found = []
    for chat in chats:
        counts: Counts = defaultdict(Counter)
        found.append(counts)
        words = {
            word.casefold() for row in chat.rows for word in row.speaker.split() if len(word) > 2
        }
        replaced = tool(chat)
        rows = [(r.speaker, r.text, r.spans, g) for r, g in zip(chat.rows, replaced, strict=True)]
        said = names_words.counted(rows)
        counts[chat.lang, WORDS].update({"all": said["words"], "wrong": said["wrong"]})
        for row, gone in zip(chat.rows, replaced, strict=True):
            covered = {at for start, end, _ in gone for at in range(start, end)}
            for start, end, kind in row.spans:
                spoken = kind == "PER" and row.text[start:end].casefold() in words
                left = any(row.text[at].isalnum() and at not in covered for at in range(start, end))
                whose = (SPEAKER if spoken else OTHERS,) if kind == "PER" else ()
                for each in (kind, *whose):
                    counts[chat.lang, each]["all"] += 1
                    counts[chat.lang, each]["left"] += left
            for start, end, kind in gone:
                meets = {k for s, e, k in row.spans if s < end and start < e}
                if kind in OURS:
                    counts[chat.lang, f"as {kind}"]["replaced"] += 1
                    counts[chat.lang, f"as {kind}"]["right"] += OURS[kind] in meets
                    counts[chat.lang, f"as {kind}"]["marked"] += bool(meets)
                if kind == "person":
                    counts[chat.lang, "PER"]["replaced"] += 1
                    counts[chat.lang, "PER"]["right"] += "PER" in meets
                    counts[chat.lang, "PER"]["a name"] += bool(meets & set(NAMES))
    return found


SHOWN = {  # columns: what of which kinds, and how many times
    "others left": ((OTHERS,), "left", "all", 1),
    "places, organisations left": (NAMES[1:], "left", "all", 1),
    "persons replaced: names": (("PER",), "a name", "replaced", 1),
    "words wrong per 1,000": ((WORDS,), "wrong", "all", 1000),
}


def summary(parts: list[Counts]) -> None:
    """What is left and what goes wrongly by language, with n and 95 % intervals over chats."""
    langs = sorted({lang for part in parts for lang, _ in part})
    print("| language | " + " | ".join(SHOWN) + " |\n" + "|---" * (len(SHOWN) + 1) + "|")
    for lang in [*langs, "all"]:
        here = [part for part in parts if lang == "all" or any(key[0] == lang for key in part)]
        print(f"| {lang} | " + " | ".join(cell(here, *column) for column in SHOWN.values()) + " |")
    for title, (kinds, top, of, times) in SHOWN.items():
        shares = [share(summed(parts), [lang], kinds, top, of) for lang in langs]
        known = [times * each for each in shares if not math.isnan(each)]
        print(f"{title}: mean over languages {sum(known) / max(1, len(known)):.3f}")


def cell(parts: list[Counts], kinds: tuple[str, ...], top: str, of: str, times: int) -> str:
    import numpy as np

    each = [
        [sum(c[of_] for (_, k), c in p.items() if k in kinds) for of_ in (top, of)] for p in parts
    ]
    pairs = np.array(each, float)
    if not pairs[:, 1].sum():
        return "–"
    drawn = pairs[np.random.default_rng(0).integers(0, len(pairs), (DRAWS, len(pairs)))].sum(1)
    shares = times * drawn[:, 0] / np.maximum(drawn[:, 1], 1)
    low, high = np.percentile(shares, [2.5, 97.5])
    value, digits = times * pairs[:, 0].sum() / pairs[:, 1].sum(), 1 if times > 1 else 2
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}] of {pairs[:, 1].sum():,.0f}"


def share(counts: Counts, langs: list[str], kinds: tuple[str, ...], top: str, of: str) -> float:
    parts = [counts[lang, kind] for lang in langs for kind in kinds if (lang, kind) in counts]
    total = sum(part[of] for part in parts)
    return sum(part[top] for part in parts) / total if total else float("nan")


def tell(name: str, counts: Counts) -> None:
    langs = sorted({lang for lang, _ in counts})
    kinds = (*NAMES, "ADDRESS", "DOB", "ID", *SURE, SPEAKER, OTHERS)
    print(f"\n{name}: share left by kind; of persons replaced the share that are persons, names")
    print("lang     " + " ".join(f"{kind:>7}" for kind in kinds) + "   right  a name")
    for lang in [*langs, "all"]:
        here = langs if lang == "all" else [lang]
        cells = [share(counts, here, (kind,), "left", "all") for kind in kinds]
        cells += [share(counts, here, ("PER",), top, "replaced") for top in ("right", "a name")]
        print(f"{lang:8} " + " ".join(f"{cell:7.2f}" for cell in cells))

    print("of what is replaced as each kind the share that meets a mark of it, and of any; n")
    print("lang     " + " ".join(f"{kind:>17}" for kind in OURS))
    for lang in [*langs, "all"]:
        here = langs if lang == "all" else [lang]
        told = []
        for kind in OURS:
            right, marked = (
                share(counts, here, (f"as {kind}",), top, "replaced") for top in ("right", "marked")
            )
            count = sum(counts[each, f"as {kind}"]["replaced"] for each in here)
            told.append(f"{right:5.2f} {marked:5.2f} {count:5}")
        print(f"{lang:8} " + " ".join(told))


def guide(counts: Counts) -> None:
    """The guide's table, in Markdown."""
    print("| language | persons | places | organisations | of persons replaced: names |")
    print("|---|---|---|---|---|")
    langs = sorted({lang for lang, _ in counts})
    for lang in [*langs, "all"]:
        here = langs if lang == "all" else [lang]
        cells = [share(counts, here, (kind,), "left", "all") for kind in NAMES]
        cells.append(share(counts, here, ("PER",), "a name", "replaced"))
        print(f"| {lang} | " + " | ".join(f"{100 * cell:.0f} %" for cell in cells) + " |")


def floors(counts: Counts) -> None:
    langs = sorted({lang for lang, _ in counts})
    persons = [share(counts, [lang], ("PER",), "left", "all") for lang in langs]
    known = [each for each in persons if not math.isnan(each)]
    rows = [
        ("persons left, English", share(counts, ["en"], ("PER",), "left", "all"), 0.15),
        ("persons left, mean over languages", sum(known) / max(1, len(known)), 0.22),
        ("places and organisations left", share(counts, langs, NAMES[1:], "left", "all"), 0.35),
        ("speakers' names left", share(counts, langs, (SPEAKER,), "left", "all"), 0.0),
        ("phones, e-mails, handles, bank", share(counts, langs, SURE, "left", "all"), 0.02),
        (
            "persons that are no names",
            1 - share(counts, langs, ("PER",), "a name", "replaced"),
            0.15,
        ),
        ("words wrong per 1,000", 1000 * share(counts, langs, (WORDS,), "wrong", "all"), 3.0),
        ("persons left, worst script", max(_by_script(counts, langs)), 0.35),
    ]
    print()
    for lang, here in (("English", ["en"]), ("all", langs)):
        parts = [(each, share(counts, here, (each,), "left", "all")) for each in ("PER", OTHERS)]
        told = ", ".join(f"{each} {value:.3f}" for each, value in parts)
        count = sum(counts[each, OTHERS]["all"] for each in here)
        print(f"left, {lang}: {told} (of {count:,})")
    for title, value, most in rows:
        print(
            f"{title:36} {value:.3f} (at most {most:.2f}): {'kept' if value <= most else 'BROKEN'}"
        )


SCRIPTS = {
    **{"ar": "Arabic", "fa": "Arabic", "ru": "Cyrillic", "uk": "Cyrillic", "hi": "Devanagari"},
    **{"ja": "Japanese", "ko": "Hangul", "th": "Thai", "zh": "Han", "bn": "Bengali", "el": "Greek"},
    **{"hi-Latn": "Hindi in Latin letters", "ar-Latn": "Arabic in Latin letters"},
}


def _by_script(counts: Counts, langs: list[str]) -> Iterator[float]:
    """The share of persons left in every script with ten of them at least."""
    for script in sorted({SCRIPTS.get(lang, "Latin") for lang in langs}):
        here = [lang for lang in langs if SCRIPTS.get(lang, "Latin") == script]
        if sum(counts[lang, "PER"]["all"] for lang in here) >= 10:
            yield share(counts, here, ("PER",), "left", "all")


def timing(chats: list[LabelledChat], corpus: str) -> None:
    """Seconds for 10,000 messages of many languages, or for a corpus; and of the processor."""
    from realtalk.formats.opening import open_reading
    from realtalk.redaction.redact import redact
    from realtalk.redaction.sources import name_sources

    if corpus:
        read, sources = open_reading(corpus).reading.corpus, name_sources()
        began, ran = time.perf_counter(), time.process_time()
        redact(read, sources=sources)
        took, ran = time.perf_counter() - began, time.process_time() - ran
        count = sum(len(chat.messages) for chat in read.chats)
        print(f"{count:,} messages: {took:.1f} s, {ran:.1f} s of processors")
        return
    rows = [row for chat in chats for row in chat.rows]
    many = LabelledChat("all", "timing", tuple((rows * (10_000 // len(rows) + 1))[:10_000]))
    began = time.perf_counter()
    redacted(many, name_sources())
    took = time.perf_counter() - began
    print(f"10,000 messages: {took:.1f} s (at most 30): {'kept' if took <= 30 else 'BROKEN'}")


def words(chats: list[LabelledChat], tool: Tool, shown: bool) -> None:
    """What became of ordinary words, by language; in chats that name nobody, by themselves."""
    import names_words

    found = []
    for chat in chats:
        gone = tool(chat)
        rows = [(r.speaker, r.text, r.spans, g) for r, g in zip(chat.rows, gone, strict=True)]
        found.append((chat.name, names_words.counted(rows)))
        for number, (row, spans) in enumerate(
            zip(chat.rows, gone, strict=True) if shown else (), 1
        ):
            for at in _faults(row, spans):
                print(f"{chat.name}:{number} {at}: {row.text}")
    sets = {"people called like words": "[1-9]", "nobody named": "0"}
    for title, ending in sets.items():
        here = [(name.rpartition("-")[0], n) for name, n in found if re.match(ending, name[-1])]
        if here:
            print(f"\n{title}:")
            names_words.tell(names_words.summed(here))


def _faults(row: Marked, gone: Gone) -> Iterator[str]:
    """Words that went wrongly, and persons that are left, of a message."""
    private = [span for span in row.spans if span[2] not in ("WORD", "OTHER")]
    for start, end, kind in gone:
        if not any(s < end and start < e for s, e, _ in private):
            yield f"{row.text[start:end]!r} went as {kind}"
    for start, end, kind in private:
        if kind == "PER" and not any(s <= start and end <= e for s, e, _ in gone):
            yield f"{row.text[start:end]!r} left"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=Path, default=Path(__file__).parent / "names")
    parser.add_argument("--held", action="store_true", help="those held out in training instead")
    parser.add_argument("--half", type=int, choices=(0, 1), help="with --held: every other one")
    parser.add_argument("--public", type=Path, help="public test file, or a folder of them")
    parser.add_argument("--most", type=int, default=300, help="sentences per file and language")
    parser.add_argument("--tools", default="realtalk")
    parser.add_argument("--time", nargs="?", const="", metavar="CORPUS", help="how long it takes")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="keep each chat's counts")
    parser.add_argument("--guide", action="store_true", help="print how-well.md's table")
    parser.add_argument("--words", action="store_true", help="people called like words")
    parser.add_argument("--part", default="[0-9]", help="which of those chats, as a pattern: 1")
    parser.add_argument("--shown", action="store_true", help="with --words: name every fault")
    options = parser.parse_args()
    if options.words:
        some = [c for c in own_chats(options.chats / "words") if re.match(options.part, c.name[-1])]
        words(some, TOOLS[options.tools](), options.shown)
        return
    chats = list(held_chats() if options.held else own_chats(options.chats))
    if options.half is not None:
        chats = chats[1 - options.half :: 2]  # those that names_thresholds.py --half left out
    if options.time is not None:
        timing(chats, options.time)
        return
    sets = {"our chats": chats}
    if options.public:
        sets = {"public tests": list(public_chats(options.public, options.most))}
    for title, some in sets.items():
        for tool in options.tools.split(","):
            try:
                run = TOOLS[tool]()
            except ImportError as error:
                print(f"{tool}: not installed ({error.name})")
                continue
            parts = by_chat(run, some)
            if options.counts:
                kept = [[[*key, dict(count)] for key, count in part.items()] for part in parts]
                options.counts.write_text(json.dumps(kept))
            counts = summed(parts)
            if options.guide:
                guide(counts)
                continue
            summary(parts)
            tell(f"{tool} on {title}", counts)
            if tool in ("realtalk", "rules"):
                floors(counts)


if __name__ == "__main__":
    main()
