"""Languages of labelled turns → what a chat is written in, who labelled it, and how far that goes.

    chat_languages(labels)[0]            → Languages("Chat_1", "embedded", {"es": 412}, "multil…")
    chat_languages(labels)[0].english    → 0.0, of the turns that can be told
    chat_languages(labels)[0].grade()    → "usable"; .grade("emotion") of one measure
    language_notes(chat_languages(labels))
    → ["Chat_1: Spanish in 412 turns, labelled by the multilingual encoder, whose grade there …"]
    other_languages(first, second)       → ["first is Spanish, second English: what differs may …"]

A turn's language stands in the labels' column `language`; null there means that nobody looked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import TYPE_CHECKING, Any, cast

from realtalk.ei.encoder_choice import (
    ENGLISH_ENCODER,
    GRADES,
    EncoderName,
    Grade,
    encoder_by,
    grade_of,
    worst,
)
from realtalk.ei.labels import MEASURES
from realtalk.grouping import grouped
from realtalk.text.languages import ENGLISH, SOME, UNTOLD, mainly
from realtalk.text.wordlists import language_lines

if TYPE_CHECKING:
    import polars as pl

_EMBEDDED = "embedded"
NAMED_CHATS = 3  # that one line names


def language_name(code: str) -> str:
    """What a language is called in English; a code that has no name is its own."""
    return language_lines("realtalk_models", "languages/names.txt").get(code, code)


@dataclass(frozen=True, slots=True)
class Languages:
    """How many turns of a chat are in which language; nothing where nobody looked."""

    chat: str
    measure: str  # how the turns were labelled ...
    turns: Mapping[str, int] = field(hash=False)
    version: str = ""  # ... and by which version

    @property
    def total(self) -> int:
        """Turns with enough words to tell."""
        return sum(self.turns.values()) - self.turns.get(UNTOLD, 0)

    @property
    def english(self) -> float | None:
        """Their share that is English; None where nothing can be told, or nobody looked."""
        return self.turns.get(ENGLISH, 0) / self.total if self.total else None

    @property
    def mainly(self) -> tuple[str, ...]:
        """The languages of more than a quotation, the commonest first."""
        return mainly(self.turns)

    @property
    def encoder(self) -> EncoderName | None:
        """Which shipped encoder labelled; None where it was another way of measuring."""
        return encoder_by(self.version) if self.measure == _EMBEDDED else None

    def grade(self, measure: str | None = None) -> Grade | None:
        """How far the labels can be used; None where no grade applies or nothing can be told."""
        encoder = self.encoder
        if encoder is None:
            return None
        return worst(grade_of(encoder, language, measure) for language in self.mainly)

    def to_json(self) -> dict[str, Any]:
        return {
            "chat": self.chat,
            "english": self.english,
            "turns": dict(self.turns),
            "languages": list(self.mainly),
            "encoder": self.encoder,
            "grade": self.grade(),
            "grades": {name: self.grade(name) for name in MEASURES} if self.grade() else {},
        }


def merge_chats(languages: Iterable[Languages]) -> tuple[Languages, ...]:
    """The same, once per chat: what is known of its speakers added up."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for language in languages:
        key = (language.chat, language.measure, language.version)
        counts.setdefault(key, Counter()).update(language.turns)
    return tuple(
        Languages(chat, measure, dict(turns), version)
        for (chat, measure, version), turns in counts.items()
    )


def chat_languages(labels: pl.DataFrame) -> tuple[Languages, ...]:
    """The languages of every chat in a table of labels."""
    columns = [
        name for name in ("chat", "measure", "version", "language") if name in labels.columns
    ]
    counts = labels.group_by(columns, maintain_order=True)
    return merge_chats(
        Languages(chat, measure, {code: turns for code in language if code is not None}, version)
        for chat, measure, version, *language, turns in counts.len().iter_rows()
    )


def languages_of(labels: pl.DataFrame) -> list[str | None]:
    """The language of each turn in a table of labels, None where nobody looked."""
    has_languages = "language" in labels.columns
    return labels["language"].to_list() if has_languages else [None] * labels.height


_MORE = "A language model may do better: realtalk ei PATH `measures=judge`"
# What is to be thought of an encoder's labels, by its grade in the language.
_ADVICE: Mapping[Grade, str] = {
    "good": "",
    "usable": "",
    "rough": "; read its facets as hints",
    "none": f"; not to be trusted. {_MORE}",
}
# What is to be thought of labels of another language where English alone was learned. A judge's
# model is not ours to speak of.
_DOUBTS = {
    _EMBEDDED: "the English encoder labelled them, whose grade there is none: label them again "
    "with realtalk ei PATH `encoder=auto`",
    "hub": "the paper's classifiers learned English; trust others as far as they know the language",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """What has to be said of some chats: the kind of sentence, and what stands in it."""

    kind: str  # "hardly", "partly", "unseen", "untold", or a grade
    chats: tuple[str, ...]
    measure: str
    counts: Mapping[str, int] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    apart: Mapping[Grade, Sequence[str]] = field(default_factory=dict)  # measures of other grades

    def __str__(self) -> str:
        """In English, as it is printed."""
        counts, doubt = self.counts, _DOUBTS[self.measure]
        more = len(self.chats) - NAMED_CHATS
        names = ", ".join(self.chats[:NAMED_CHATS])
        names = f"{names} and {more:,} more" if more > 0 else names
        if self.kind == "hardly":
            return f"{names}: hardly any English in {counts['turns']:,} turns; {doubt}"
        if self.kind == "partly":
            others, total = counts["others"], counts["total"]
            share = f"{others / total:.0%}"
            return f"{names}: {others:,} of {total:,} turns are not in English ({share}); {doubt}"
        if self.kind == "unseen":
            return (
                f"{names}: not known whether this is English, which these labels are "
                "for: they were made by a version that did not look"
            )
        if self.kind == "untold":
            return (
                f"{names}: labelled by the multilingual encoder; too few words to tell the language"
            )
        spoken = " and ".join(map(language_name, self.languages))
        remarks = "; ".join(f"{', '.join(some)} {grade}" for grade, some in self.apart.items())
        return (
            f"{names}: {spoken} in {counts['turns']:,} turns, labelled by the multilingual "
            f"encoder, whose grade there is {self.kind}{f' ({remarks})' if remarks else ''}"
            f"{_ADVICE[cast(Grade, self.kind)]}"
        )


def language_notes(languages: Iterable[Languages]) -> list[str]:
    """A line for every kind of chat that is not in English, or of which that is not known."""
    return list(map(str, language_remarks(languages)))


def language_remarks(languages: Iterable[Languages]) -> list[Remark]:
    """The same before it is said, so that it can be said in another language."""
    remarks: list[Remark] = []
    every = list(languages)
    for measure in dict.fromkeys(language.measure for language in every):
        if measure not in _DOUBTS:
            continue
        of_measure = [language for language in every if language.measure == measure]
        chats = [each for each in of_measure if each.encoder in (None, ENGLISH_ENCODER)]
        groups = grouped(  # that the multilingual encoder labelled
            (language.mainly, language)
            for language in of_measure
            if language.encoder not in (None, ENGLISH_ENCODER)
        )
        remarks += starmap(_graded, groups.items())
        foreign = [(each, 1 - each.english) for each in chats if each.english is not None]
        if hardly := [each for each, share in foreign if share > 1 - SOME]:
            remarks.append(Remark("hardly", _chats(hardly), measure, {"turns": _turns(hardly)}))
        if partly := [each for each, share in foreign if SOME < share <= 1 - SOME]:
            total = sum(each.total for each in partly)
            others = total - sum(each.turns.get(ENGLISH, 0) for each in partly)
            counts = {"others": others, "total": total}
            remarks.append(Remark("partly", _chats(partly), measure, counts))
        if unseen := [each for each in chats if not each.turns]:
            remarks.append(Remark("unseen", _chats(unseen), measure))
    return remarks


def _graded(codes: tuple[str, ...], chats: Sequence[Languages]) -> Remark:
    """Chats in one language that the multilingual encoder labelled, with its grade."""
    grade = chats[0].grade()
    apart = {} if grade is None else _apart(chats[0], grade)
    counts = {"turns": _turns(chats)}
    return Remark(grade or "untold", _chats(chats), _EMBEDDED, counts, codes, apart)


def _apart(each: Languages, grade: Grade) -> dict[Grade, list[str]]:
    """{"good": ["sentiment"], …}: measures with another grade than the whole, the best first."""
    grades = ((each.grade(measure), measure) for measure in MEASURES)
    by_grade = grouped((own, name) for own, name in grades if own is not None and own != grade)
    return dict(sorted(by_grade.items(), key=lambda item: -GRADES.index(item[0])))


def _chats(chats: Sequence[Languages]) -> tuple[str, ...]:
    return tuple(language.chat for language in chats)


def _turns(chats: Sequence[Languages]) -> int:
    return sum(sum(language.turns.values()) for language in chats)


def other_languages(
    first: tuple[str, Iterable[Languages]], second: tuple[str, Iterable[Languages]]
) -> tuple[str, ...]:
    """What is to be said where two sides, each with its name, are not in the same languages."""
    spoken = []
    for _, languages in (first, second):
        counts: Counter[str] = Counter()
        for language in languages:
            counts.update(language.turns)
        spoken.append(mainly(counts))
    if not all(spoken) or set(spoken[0]) == set(spoken[1]):
        return ()
    first_languages, second_languages = (
        " and ".join(map(language_name, codes)) for codes in spoken
    )
    return (
        f"{first[0]} is in {first_languages}, {second[0]} in {second_languages}: what differs may "
        "be the language's doing, or its labels', and not the speakers'",
    )


def languages_json(languages: Sequence[Languages]) -> dict[str, Any]:
    """Every chat's share of English, its grade, and the lines that are printed about it."""
    chats = [language.to_json() for language in languages]
    return {"chats": chats, "notes": language_notes(languages)}
