"""The multilingual sets → examples: a turn in its language, its labels, its English twin.

    next(parallel(data)) → Spoken("¿Y tú?", previous="Estoy bien.", lang="es", en="And you?", …)

Only train files, and those dev files that choose nothing (DEV_TO_LEARN says which, and why).
Test files are read by languages_score.py alone; `emotion.masac.dev` by nobody but it, since turns
with rubric labels were drawn from there.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.training import ei_heads as english
from research.training import languages_heads as h
from research.training.ei_data import (
    Example,
    many,
    one,
    public,
    read_rows,
    silver,
    tweet,
    unlabelled,
)
from research.training.languages_latin import arabic_in_latin, hindi_in_latin, without_accents

# Their train files are missing from our data, and nothing is chosen by them.
DEV_TO_LEARN = (
    *("emotion.goemotions_mt", "emotion.cped", "sentiment.msctd"),
    *("parallel.bsd_ja", "parallel.xsid"),
)
# Hardly anybody chats in these, or nearly nobody writes them: their pieces would cost others.
DROPPED = frozenset(
    """dtp ilo cbk kha run gos nst lad hoc kzj grc ota zza lzh pam xal rom hrx mri nds yi tk wuu
    war cv lb que br oc de-ba de-st gsw nap mt ckb asm""".split()  # noqa: SIM905 - reads better
)
MOOD = {
    **{name: name for name in h.MOODS},
    **{"love": "joy", "happy": "joy", "hatred": "disgust", "contempt": "disgust"},
    **{"none": "neutral", "worried": "fear", "depress": "sadness", "astonished": "surprise"},
}
SINGLE = ("aetd_ar", "armanemo", "bn_youtube", "emoevent", "emosen", "emot_id", "red_ro", "vsmec")
TWEETS = ("umsab", "afrisenti")
REVIEWS = ("bn", "nusax", "smsa_id", "wisesight_th")
OTHERWISE = ("semeval2017_joined", "mint")  # long enough without; with the other languages
ACCENTED = frozenset(("es", "pt", "pt-BR", "fr", "it", "de", "ro", "tr", "cs", "sk", "pl", "hr"))
POSTS = Path(__file__).parent / "posts"
CONTEXT_SHARE = 3  # every third single line gets one before it


@dataclass
class Spoken(Example):
    """An example in any language; `en` is the same in English where somebody translated it."""

    lang: str = "en"
    en: str = ""
    en_previous: str = ""


def lines(data: Path, name: str) -> Iterator[dict[str, Any]]:
    yield from read_rows(data / "multilingual" / f"{name}.jsonl.gz")


def told(row: dict[str, Any], name: str, split: str = "train", **labels: Any) -> Spoken:
    """A row without context."""
    text, twin = tweet(row["text"]), row.get("en", "")
    return Spoken(text, set=name, split=split, labels=labels, lang=row["lang"], en=twin)


def in_dialogues(
    rows: Iterable[dict[str, Any]], name: str, split: str = "train"
) -> Iterator[tuple[dict[str, Any], Spoken]]:
    """Rows in their order, each with the one before it where both are of one dialogue."""
    before: dict[str, Any] = {}
    for row in rows:
        same = before and (row["lang"], row.get("dlg")) == (before["lang"], before.get("dlg"))
        made = told(row, name, split)
        if same:
            made.previous, made.en_previous = before["text"], before.get("en", "")
        if made.previous and made.en and not made.en_previous:
            made.en = ""  # its twin would have been asked without what was said before
        yield row, made
        before = row


def mood(row: dict[str, Any]) -> dict[str, Any]:
    """The one mood of a row, where it has one and we know it."""
    names = {MOOD[name] for name in row["labels"] if name in MOOD}
    one_of = len(names) == 1 and len(row["labels"]) == 1
    return {"mood": one(names.pop(), h.MOODS)} if one_of else {}


def sentiment(row: dict[str, Any], head: str) -> dict[str, Any]:
    value = row.get("label", row.get("sentiment"))
    return {head: one(value, english.SENTIMENTS)} if value in english.SENTIMENTS else {}


def brighter(row: dict[str, Any]) -> dict[str, Any]:
    """Six emotions; what was not asked in a language is not a number."""
    absent = row.get("na", ())
    values = many(row["labels"], h.EKMAN)
    pairs = zip(h.EKMAN, values, strict=True)
    return {"brighter": [float("nan") if n in absent else v for n, v in pairs]}


def posts(folder: Path = POSTS) -> Iterator[Spoken]:
    """Posts of our own, `anger,fear|text` a line, for a language whose rare emotions are few."""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            names, _, text = line.partition("|")
            row = {"text": text, "lang": path.stem.rpartition("-")[0]}
            row["labels"] = [name for name in names.split(",") if name != "none"]
            yield told(row, "posts", **brighter(row))


def labelled(data: Path, split: str = "train") -> Iterator[Spoken]:
    """Sets with labels in their own languages; of dev those that choose."""
    for row in lines(data, f"emotion.brighter.{split}"):
        yield told(row, "brighter", split, **brighter(row))
    for name in SINGLE if split == "train" else ():
        for row in lines(data, f"emotion.{name}.{split}"):
            more = sentiment(row, "tweet_sentiment") if name == "emosen" else {}
            yield told(row, name, split, **mood(row), **more)
    for name in TWEETS:
        for at, row in enumerate(lines(data, f"sentiment.{name}.{split}")):
            if split == "train" or name == "umsab" or at % 5 == 0:
                yield told(row, name, split, **sentiment(row, "tweet_sentiment"))
    for name in REVIEWS if split == "train" else ():
        yield from reviews(data, name, split)
    for row in lines(data, "intimacy.mint.train"):
        held = zlib.crc32(row["text"].encode()) % 10 == 0  # the set has no dev part
        if held == (split == "dev"):
            yield told(row, "mint", split, tweet_intimacy=(float(row["score"]) - 1) / 4)
    for row in lines(data, f"emotion.semeval18ec.{split}"):
        if row["lang"] != "en":  # English ones come with the English sets
            yield told(
                row, "semeval18ec", split, tweet_emotion=many(row["labels"], english.EMOTIONS)
            )
    if split == "train":
        for name in ("goemotions_mt.train", "goemotions_mt.dev", "vigoemotions.train"):
            for row in lines(data, f"emotion.{name}"):
                label = {"goemotions": many(row["labels"], english.GOEMOTIONS)}
                yield told(row, name.split(".")[0], split, **label)
        yield from posts()
        for row in lines(data, "emotion.hebemo.train"):
            yield told(row, "hebemo", split, **sentiment(row, "tweet_sentiment"))


def reviews(data: Path, name: str, split: str) -> Iterator[Spoken]:
    """Reviews and comments; NusaX has the same ones in English too."""
    rows = list(lines(data, f"sentiment.{name}.{split}"))
    twins = {row["id"]: row["text"] for row in rows if "id" in row and row["lang"] == "en"}
    for row in rows:
        label = sentiment(row, "review_sentiment")
        yield told({**row, "en": twins.get(row.get("id"), "")}, name, split, **label)


def films(data: Path, split: str = "train") -> Iterator[Spoken]:
    """Lines of films: XED's emotions and its pairs, MELD, MSCTD, CPED and MaSaC in order."""
    seen = set()
    for at, row in enumerate(lines(data, f"emotion.xed.{split}")):
        seen.add((row["lang"], row["text"]))
        if split == "train" or at % 3 == 0:
            yield told(row, "xed", split, xed=many(row["labels"], h.PLUTCHIK))
    if split == "train":
        for row in lines(data, "parallel.xed.train"):
            if (row["lang"], row["text"]) not in seen:
                yield told(row, "xed_pairs")
    for row, made in in_dialogues(lines(data, f"emotion.meld_zh_de.{split}"), "meld", split):
        label = {f"spoken_{name}": value for name, value in mood(row).items()}
        made.labels = {**label, **sentiment(row, "spoken_sentiment")}
        yield made
    if split != "train":
        return
    for row, made in in_dialogues(lines(data, "emotion.masac.train"), "masac"):
        made.labels = {f"spoken_{name}": value for name, value in mood(row).items()}
        yield made
    for name in ("train", "dev"):  # of Chinese only dev is there
        for row, made in in_dialogues(lines(data, f"sentiment.msctd.{name}"), "msctd"):
            if name == "train" or row["lang"] == "zh":
                made.labels = sentiment(row, "spoken_sentiment")
                yield made
    for row, made in in_dialogues(lines(data, "emotion.cped.dev"), "cped"):
        label = {f"spoken_{name}": value for name, value in mood(row).items()}
        made.labels = {**label, **sentiment(row, "spoken_sentiment")}
        yield made


def parallel(data: Path) -> Iterator[Spoken]:
    """Pairs without labels: the English encoder says what they express."""
    for name in ("xpersona.train", "bcontrast_de.train", "bsd_ja.dev"):
        kind = name.split(".")[0]
        for _, made in in_dialogues(lines(data, f"parallel.{name}"), kind):
            yield made
    for name in ("tatoeba.train", "stsb.train", "xsid.dev"):
        for row in lines(data, f"parallel.{name}"):
            if row["lang"] not in DROPPED and row["lang"] != "en":
                yield told(row, name.split(".")[0])


def chats(data: Path) -> Iterator[Spoken]:
    """Messages that real people sent each other, without labels or twins: for the vocabulary."""
    for name in ("nus_sms_en", "nus_sms_zh", "songys_ko"):
        for row in lines(data, f"chat.{name}.raw"):
            yield told(row, name)
            if "reply" in row:
                yield told({"text": row["reply"], "lang": row["lang"]}, name)


def in_english(data: Path) -> Iterator[Spoken]:
    """The English encoder's own sets; each is its own twin."""
    for each in (*public(data), *silver(data), *unlabelled(data, most=20_000)):
        if each.split in ("train", "unlabelled") and each.set not in OTHERWISE:
            twin: dict[str, Any] = {"en": each.text, "en_previous": each.previous}
            yield Spoken(**{**vars(each), "split": "train"}, **twin)
    for row in lines(data, "chat.nus_sms_en.raw"):
        yield told({**row, "en": row["text"]}, "nus_sms_en")


def with_contexts(examples: Iterable[Spoken]) -> Iterator[Spoken]:
    """Single lines of films and of Tatoeba, every third one after another line of its language.

    The encoder shall know how two parts of a row look in every language, not only in those of
    which there are dialogues. The English twin gets the same line before it.
    """
    waiting: dict[tuple[str, str], Spoken] = {}
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for each in examples:
        if each.set in ("xed", "xed_pairs", "tatoeba") and each.en and each.split == "train":
            key = (each.set, each.lang)
            last = waiting.get(key)
            counts[key] += 1
            if last is not None and counts[key] % CONTEXT_SHARE == 0:
                each.previous, each.en_previous = last.text, last.en
            waiting[key] = Spoken(each.text, en=each.en)
        yield each


def retyped(examples: Iterable[Spoken]) -> Iterator[Spoken]:
    """The same, and some again as people type: Hindi, Arabic in Latin letters; no accents."""
    rng = np.random.default_rng(0)
    counts: dict[str, int] = defaultdict(int)
    for each in examples:
        yield each
        if each.split != "train":
            continue
        counts[each.lang] += 1
        if each.lang == "hi" and each.set in ("tatoeba", "brighter", "umsab"):
            yield _typed(each, "hi-Latn", lambda text: hindi_in_latin(text, rng))
        elif each.lang == "ar" and each.set in ("xed", "xed_pairs", "tatoeba", "umsab"):
            yield _typed(each, "ar-Latn", lambda text: arabic_in_latin(text, rng))
        elif each.lang in ACCENTED and counts[each.lang] % 10 == 0:
            made = _typed(each, each.lang, without_accents)
            if made.text != each.text:
                yield made


def _typed(example: Spoken, lang: str, spelled: Callable[[str], str]) -> Spoken:
    given = {"text": spelled(example.text), "previous": spelled(example.previous)}
    return Spoken(**{**vars(example), **given, "lang": lang})


def everything(data: Path) -> Iterator[Spoken]:
    """What training reads: to learn from, and dev parts to choose by."""
    for split in ("train", "dev"):
        yield from retyped(labelled(data, split))
        yield from retyped(with_contexts(films(data, split)))
    yield from retyped(with_contexts(parallel(data)))
    yield from in_english(data)
