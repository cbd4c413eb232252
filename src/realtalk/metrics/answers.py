"""A predicted answer against the true one: the paper's F1, exact match, ROUGE-L, and dates.

    score_answer("On January 19th, 2024", "19.01.2024", "temporal")
    → AnswerScores(f1=0.0, exact=0.0, rouge_l_stemmed=0.29, date_f1=0.67)
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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import zip_longest
from string import punctuation
from typing import Any, TypeAlias

import regex

from realtalk.text.dates import PartialDate, find_dates
from realtalk.text.words import words_and_emoji

_PUNCTUATION = str.maketrans("", "", punctuation)
# As the released code does, by `regex`: its idea of a word differs from `re` at accents.
_ARTICLES = regex.compile(r"\b(a|an|the|and)\b")
_IN_PIECES = frozenset({"multi_hop"})
_FIRST_ALTERNATIVE = frozenset({"commonsense", "open_domain"})
SWAPPED = "swapped"  # questions asked of the wrong person (memory/swapping.py)
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
Gold: TypeAlias = str | int | float | None
_MARK = "\ue000"  # a private character begins the word that stands for a date


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Each from 0 to 1; all None where there is nothing to compare with, and why."""

    f1: float | None = None
    exact: float | None = None
    rouge_l_stemmed: float | None = None
    date_f1: float | None = None
    unscored: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def score_answer(prediction: str | None, gold: Gold, category: str) -> AnswerScores:
    """Every score of one answer; an abstention is right or wrong by all of them."""
    if prediction is None:
        return AnswerScores(unscored="there is no answer")
    if category in ABSTAINING:
        right = float(is_abstention(prediction, category))
        return AnswerScores(right, right, right, right)
    if gold is None:
        return AnswerScores(unscored="the question has no true answer")
    return AnswerScores(
        partial_match(prediction, gold, category),
        exact_match(prediction, gold, category),
        rouge_l_stemmed(prediction, gold, category),
        date_f1(prediction, gold, category),
    )


def partial_match(prediction: str, gold: Gold, category: str) -> float:
    """The paper's partial-match F1 for a category by its name. A number is read as its digits."""
    if category in ABSTAINING:
        return float(is_abstention(prediction, category))
    true = _true(gold, category)
    if category in _IN_PIECES:
        return _pieces_f1(_split(prediction), _split(true), token_f1)
    return token_f1(prediction, true)


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


def _split(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",")]


def _pieces_f1(
    predicted: Sequence[str], true: Sequence[str], f1: Callable[[str, str], float]
) -> float:
    return sum(max(f1(prediction, piece) for prediction in predicted) for piece in true) / len(true)


def _true(gold: Gold, category: str) -> str:
    text = "" if gold is None else str(gold)
    return text.split(";")[0].strip() if category in _FIRST_ALTERNATIVE else text


def exact_match(prediction: str, gold: Gold, category: str) -> float:
    """1 where the normalised answers are the same words in the same order.

    Where normalising leaves nothing of the true one ("A", "!"), the answers as written.
    """
    true = _true(gold, category)
    if not normalise(true):
        return float(bool(true.strip()) and prediction.strip().lower() == true.strip().lower())
    return float(normalise(prediction) == normalise(true))


def rouge_l_stemmed(prediction: str, gold: Gold, category: str) -> float:
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
    return RougeScorer(["rougeL"], tokenizer=_AnyScript())


class _AnyScript:
    """The form in which ROUGE takes another idea of words."""

    def tokenize(self, text: str) -> list[str]:
        return words_and_emoji(text)


def date_f1(prediction: str, gold: Gold, category: str) -> float:
    """The paper's F1 with each calendar date as one word, where both answers hold one."""
    true = _true(gold, category)
    predicted_text, some_predicted = _mark_dates(prediction)
    true_text, some_true = _mark_dates(true)
    if category in ABSTAINING or not some_predicted or not some_true:
        return partial_match(prediction, gold, category)
    if category not in _IN_PIECES:
        return _dated_f1(predicted_text, true_text)
    # Commas inside a date are gone with it, so "January 19, 2024" stays one piece.
    return _pieces_f1(_split(predicted_text), _split(true_text), _dated_f1)


def around_dates(text: str) -> tuple[list[str], list[PartialDate]]:
    """What stands before, between and behind the dates of a text, and these dates."""
    around, end = [], 0
    dates = find_dates(text)
    for date in dates:
        around.append(text[end : date.start])
        end = date.end
    return [*around, text[end:]], [date.value for date in dates]


def _mark_dates(text: str) -> tuple[str, bool]:
    """The text with one private word for each date, and whether there is any."""
    around, dates = around_dates(text)
    words = (f" {_word_of(date)} " for date in dates)
    return "".join(map("".join, zip_longest(around, words, fillvalue=""))), bool(dates)


def _word_of(value: PartialDate) -> str:
    # Digits behind a private character: neither normalising nor stemming changes them.
    return f"{_MARK}{value.year or 0:04}{value.month or 0:02}{value.day or 0:02}"


def _date_of(word: str) -> PartialDate:
    year, month, day = int(word[1:5]), int(word[5:7]), int(word[7:9])
    return PartialDate(year or None, month or None, day or None)


def _dated_f1(prediction: str, gold: str) -> float:
    """F1 of two marked texts: words as ever, dates in pairs, the best agreeing pair first."""
    predicted, true = stems(prediction), stems(gold)
    shared = _shared_words(
        [word for word in predicted if not word.startswith(_MARK)],
        [word for word in true if not word.startswith(_MARK)],
    )
    ours = [_date_of(word) for word in predicted if word.startswith(_MARK)]
    theirs = [_date_of(word) for word in true if word.startswith(_MARK)]
    pairs = sorted(
        (-our_date.agreement(their_date), place, there)
        for place, our_date in enumerate(ours)
        for there, their_date in enumerate(theirs)
    )
    used: set[int] = set()
    matched: set[int] = set()
    for agreement, place, there in pairs:
        if place not in used and there not in matched:
            used.add(place)
            matched.add(there)
            shared -= agreement
    return _f1(shared, len(predicted), len(true))
