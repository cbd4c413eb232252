"""A predicted answer against the true one: the paper's F1, exact match, ROUGE-L, and dates.

    score_answer("On January 19th, 2024", "19.01.2024", "temporal")
    → {"f1": 0.0, "exact": 0.0, "rouge_l_stemmed": 0.29, "date_f1": 0.67}
    partial_match("tennis, swimming", "swimming, chess", "multi_hop")  → 0.5
    partial_match("It is not mentioned", None, "adversarial")          → 1.0

`partial_match` is the formula of the released evaluation (LoCoMo's, which REALTALK took over):
words in lower case without punctuation and a, an, the, and; stemmed by Porter's rules; F1 of the
word counts. A multi-hop answer is split at commas and each true piece takes its best predicted
piece; commonsense and open-domain answers count up to their first ";"; an adversarial question
is right if the prediction says that there is no information, and so is LongMemEval's abstention.
Every other category is plain F1.

`date_f1` differs where both answers hold a calendar date: a date is one word, and dates in
different clothes are the same word. Dates that differ share nothing, so it can be lower than
the paper's F1, which gives two thirds of a point to the wrong day of the right month: a measure
that could only rise would keep that gift. A date that tells less than the other, `January 2024`
for `19 January 2024`, counts in part. A range is two dates: `3-5 May 2023` has the
year and the month at both ends.

Is an answer the gold, or one that was accepted beside it, once both are normalised?

    matches_gold("5 January 2024", "On 05.01.2024", question="When did he call?")  → True
    matches_gold("camera, phone", "the phone and the camera")                      → True
    matches_gold("twice", "2 times", question="How many times did he call?")       → True
    matches_gold("Nessa", "Ines", names=("Nessa=Ines",))                           → True
    matches_gold("phone", "phone and camera")                                      → False
    holds_gold("her phone and a lens", ["phone"], question="What did she lose?")   → True

Equality, not overlap: dates are compared as dates, lists as sets, numbers as numbers, people by
one of their names, yes and no as such where the question wants one. Words that only join, and
words of the question, say nothing of their own. What stands in brackets may be left out. An
answer that says more or less than the gold is not accepted, so the score errs on the side of no:
docs/results/audit.md has how often, against a judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from string import punctuation
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import regex

from realtalk.text.dates import PartialDate, find_dates
from realtalk.text.words import words_and_emoji

_PUNCTUATION = str.maketrans("", "", punctuation)
# As the released code does, by `regex`: its idea of a word differs from `re` at accents.
_ARTICLES = regex.compile(r"\b(a|an|the|and)\b")
_IN_PIECES = frozenset({"multi_hop"})
_FIRST_ALTERNATIVE = frozenset({"commonsense", "open_domain"})
SWAPPED = "swapped"  # questions asked of the wrong person (memory/rows.py)
ABSTAINING = frozenset({"adversarial", "abstention", SWAPPED})  # categories that want no answer
_ABSTENTIONS = ("no information available", "not mentioned")
# LongMemEval has no formula of its own for these: its true answers, and answers of readers that
# were not told which words to use, say it in many ways.
_UNTOLD = regex.compile(
    r"(?:\b(?:not|never|no one|nobody)|n['’]t)\s+(?:\w+ly\s+)?(?:been\s+|was\s+)?"
    r"(?:mention|said|say|stat|specif|provid|discuss|told|tell|shar|given|indicat)"
    r"|\bnot\s+(?:enough|sufficient)\b|\b(?:in|un)sufficient\s+(?:info|context|detail)"
    r"|\bno\s+(?:information|info|mention|record|details?)\b"
    r"|\b(?:can(?:not|\s+not|['’]t)|unable\s+to)\s+(?:be\s+)?"
    r"(?:answer|determin|tell|told|say|find|found|know)"
    r"|\b(?:do\s+not|don['’]t|does\s+not|doesn['’]t)\s+know\b|\bunknown\b|\bunanswerable\b",
    regex.IGNORECASE,
)
_LATIN = regex.compile(r"[a-z0-9]", regex.IGNORECASE)
_MARK = "\ue000"  # a private character stands for a date: it is no word of any text
_P = TypeVar("_P")


def score_answer(prediction: str, gold: str | None, category: str) -> dict[str, float]:
    """Every score of one answer, each from 0 to 1; none where there is nothing to compare with.

    An abstention is right or wrong by all of them.
    """
    if category in ABSTAINING:
        right = float(is_abstention(prediction, category))
        return dict.fromkeys(_SCORES, right)
    if gold is None:
        return {}
    return {name: score(prediction, gold, category) for name, score in _SCORES.items()}


def partial_match(prediction: str, gold: str | None, category: str) -> float:
    """The paper's partial-match F1 for a category by its name."""
    if category in ABSTAINING:
        return float(is_abstention(prediction, category))
    predicted, true = (_split(text, category) for text in (prediction, _true(gold, category)))
    return _pieces_f1(predicted, true, token_f1)


def is_abstention(prediction: str, category: str = "adversarial") -> bool:
    """Whether an answer says that the chat does not contain it.

    LoCoMo's adversarial questions take the released code's words alone, LongMemEval's
    abstentions and ours also other words for it.
    """
    text = prediction.lower()
    if any(words in text for words in _ABSTENTIONS):
        return True
    return category != "adversarial" and _UNTOLD.search(text) is not None


def normalise(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single spaces: the released order."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(str(_ARTICLES.sub(" ", bare)).split())


def stems(text: str) -> tuple[str, ...]:
    """The normalised words, stemmed."""
    return tuple(stem(word) for word in normalise(text).split())


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A lower-case word stemmed by Porter's rules as NLTK extends them."""
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def token_f1(prediction: str, gold: str) -> float:
    """F1 of the stemmed words' counts; 0 where none is shared, also between empty answers."""
    predicted, true = stems(prediction), stems(gold)
    return _f1(_shared_words(predicted, true), len(predicted), len(true))


def _shared_words(predicted: Sequence[str], true: Sequence[str]) -> float:
    return float((Counter(predicted) & Counter(true)).total())


def _f1(shared: float, predicted: int, true: int) -> float:
    if not shared:
        return 0.0
    precision, recall = shared / predicted, shared / true
    return 2 * precision * recall / (precision + recall)


def _split(text: str, category: str) -> list[str]:
    return text.split(",") if category in _IN_PIECES else [text]


def _pieces_f1(predicted: Sequence[_P], true: Sequence[_P], f1: Callable[[_P, _P], float]) -> float:
    return sum(max(f1(prediction, piece) for prediction in predicted) for piece in true) / len(true)


def _true(gold: str | None, category: str) -> str:
    text = gold or ""
    return text.split(";")[0].strip() if category in _FIRST_ALTERNATIVE else text


def exact_match(prediction: str, gold: str, category: str) -> float:
    """1 where the normalised answers are the same words in the same order.

    Where normalising leaves nothing of the true one ("A", "!"), the answers as written.
    """
    true = _true(gold, category)
    if not normalise(true):
        return float(bool(true.strip()) and prediction.strip().lower() == true.strip().lower())
    return float(normalise(prediction) == normalise(true))


def rouge_l_stemmed(prediction: str, gold: str, category: str) -> float:
    """ROUGE-L's F, stemmed: the longest common subsequence of words.

    Answers are a few words: LoCoMo's released scoring stems them, for F1 as for ROUGE. The turns
    of people, which nobody stems (metrics/texts.py), have another score, `rouge_l`.

    ROUGE's own words are Latin letters and digits; an answer without any (東京, 👍) is compared
    by words of any script, else no answer could be right.
    """
    true = _true(gold, category)
    scores = _rouge(_LATIN.search(true) is not None).score(true, prediction)
    return float(scores["rougeL"].fmeasure)


@cache
def _rouge(latin: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    if latin:
        return RougeScorer(["rougeL"], use_stemmer=True)
    return RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=words_and_emoji))


class _AnswerPiece(NamedTuple):
    """An answer, or one between commas: its stems, and what its dates are."""

    words: list[str]
    dates: list[PartialDate]


def date_f1(prediction: str, gold: str | None, category: str) -> float:
    """The paper's F1 with each calendar date as one word, where both answers hold one."""
    ours, theirs = (_dated(text, category) for text in (prediction, _true(gold, category)))
    is_dated = all(any(piece.dates for piece in side) for side in (ours, theirs))
    if category in ABSTAINING or not is_dated:
        return partial_match(prediction, gold, category)
    return _pieces_f1(ours, theirs, _dated_f1)


def around_dates(text: str) -> tuple[list[str], list[PartialDate]]:
    """What stands before, between and behind the dates of a text, and these dates."""
    around, end = [], 0
    dates = find_dates(text)
    for date in dates:
        around.append(text[end : date.start])
        end = date.end
    return [*around, text[end:]], [date.value for date in dates]


def _dated(text: str, category: str) -> list[_AnswerPiece]:
    """An answer's pieces. Commas inside a date are gone: "January 19, 2024" stays one piece."""
    around, dates = around_dates(text.replace(_MARK, " "))
    found = iter(dates)
    pieces = []
    for piece in _split(f" {_MARK} ".join(around), category):
        words = stems(piece)
        own = [next(found) for word in words if word == _MARK]
        pieces.append(_AnswerPiece([word for word in words if word != _MARK], own))
    return pieces


def _dated_f1(prediction: _AnswerPiece, gold: _AnswerPiece) -> float:
    """F1 of words as ever, and of dates in pairs, the best agreeing pair first."""
    shared = _shared_words(prediction.words, gold.words)
    pairs = sorted(
        (-our_date.agreement(their_date), place, there)
        for place, our_date in enumerate(prediction.dates)
        for there, their_date in enumerate(gold.dates)
    )
    used: set[int] = set()
    matched: set[int] = set()
    for agreement, place, there in pairs:
        if place not in used and there not in matched:
            used.add(place)
            matched.add(there)
            shared -= agreement
    return _f1(shared, *(len(piece.words) + len(piece.dates) for piece in (prediction, gold)))


# What an answer is scored by.
_SCORES: dict[str, Callable[[str, str, str], float]] = {
    "f1": partial_match,
    "exact": exact_match,
    "rouge_l_stemmed": rouge_l_stemmed,
    "date_f1": date_f1,
}


_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_JOINING = frozenset(
    """
    a an the and or but so as of to in on at by for from with into about around approximately
    roughly circa it its he him his she her hers they them their theirs we us our you your i me my
    is are was were be been being am do does did has have had will would can could may might
    that this these those there then also both probably likely maybe usually because while when
    who whom which what where how why very some any just s
    """.split()  # noqa: SIM905 - words read better than quotes
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"once": "1", "twice": "2", "thrice": "3"}
_POLAR = re.compile(
    r"^(?:.*,\s*)?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might)"
    r"\s+(?!.*\bor\b)",
    re.IGNORECASE | re.DOTALL,
)
_YES = re.compile(r"\b(?:yes|yeah|yep|true|correct)\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|not|nope|never|cannot|\w+n['’]t)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:]")


@dataclass(frozen=True, slots=True)
class Content:
    """What an answer says: its words as a set, and its dates."""

    words: frozenset[str]
    dates: tuple[PartialDate, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.dates)

    def equals(self, other: Content) -> bool:
        """Whether both say the same; a date of the gold may leave out what the answer adds."""
        same_size = (len(self.words), len(self.dates)) == (len(other.words), len(other.dates))
        return same_size and self.contains(other)

    def contains(self, other: Content) -> bool:
        """Whether all that the other says is said here too; each date stands for one."""
        rest = list(self.dates)
        for date in other.dates:
            near = [
                candidate
                for candidate in rest
                if candidate.agreement(date) > 0 and candidate.fields >= date.fields
            ]
            if not near:
                return False
            rest.remove(near[0])
        return other.words <= self.words


def matches_gold(
    answer: str,
    gold: str | None,
    accept: Sequence[str] = (),
    *,
    question: str = "",
    names: Sequence[str] = (),
    category: str = "",
) -> bool:
    """Whether an answer equals the gold or one of the accepted answers.

    `names` are other names of people, each as "other=name".
    """
    if category in ABSTAINING:
        return is_abstention(answer, category)
    known_words = question_words(question, tuple(names))
    polar = polarity(answer) if is_polar(question) else None
    for true in (gold, *accept):
        if true is None or not true.strip():
            continue
        if polar is not None and polarity(true) == polar:
            return True
        for ours in _forms(answer):
            for theirs in _forms(true):
                our_content, their_content = (
                    content(text, question=known_words, names=tuple(names))
                    for text in (ours, theirs)
                )
                if their_content and our_content.equals(their_content):
                    return True
    return False


def holds_gold(answer: str, golds: Sequence[str], *, question: str) -> bool:
    """Whether an answer says all that one of the golds says, whatever else it says."""
    known_words = question_words(question, ())
    said = content(answer)
    wanted = (content(true, question=known_words) for true in golds)
    return any(gold and said.contains(gold) for gold in wanted)


def is_polar(question: str) -> bool:
    """Whether a question wants yes or no."""
    return _POLAR.match(question.strip()) is not None


def polarity(text: str) -> bool | None:
    """Yes or no, as the first clause says it; None where it says neither."""
    first = _CLAUSE.split(text, maxsplit=1)[0]
    if _NO.search(first):
        return False
    return True if _YES.search(first) else None


def question_words(question: str, names: tuple[str, ...]) -> frozenset[str]:
    """What a question says already, so that an answer need not."""
    return frozenset(_plain_words(question, _people(names)))


@lru_cache(maxsize=1 << 14)
def content(
    text: str, *, question: frozenset[str] = frozenset(), names: tuple[str, ...] = ()
) -> Content:
    """What a text says beyond joining words and the question's; all of it where that is nothing."""
    rest, dates = around_dates(text)
    words = frozenset(_plain_words(" ".join(rest), _people(names)))
    if not words and not dates:  # "A", "it": what only joins elsewhere is all there is
        words = frozenset(_WORD.findall(text.casefold()))
    beyond = words - question
    return Content(beyond if beyond or dates else words, tuple(dates))


def _plain_words(text: str, people: dict[str, str]) -> Iterator[str]:
    for word in _WORD.findall(text.casefold().replace("-", "")):
        bare = re.sub(r"['’]s?$", "", word)
        bare = people.get(bare, _NUMBERS.get(bare, bare))
        if bare not in _JOINING:
            yield bare if bare[0].isdigit() else stem(bare)


@lru_cache(maxsize=256)
def _people(names: tuple[str, ...]) -> dict[str, str]:
    """Every word of another name → the first word of the name."""
    first_names: dict[str, str] = {}
    for pair in names:
        alias, _, name = pair.partition("=")
        (first, *_) = [*_WORD.findall(name.casefold()), ""]
        first_names |= dict.fromkeys(_WORD.findall(alias.casefold()), first)
    return first_names


def _forms(text: str) -> Iterable[str]:
    """A text, and without what stands in brackets."""
    bare = _BRACKETS.sub("", text).strip()
    return (text, bare) if bare and bare != text else (text,)
