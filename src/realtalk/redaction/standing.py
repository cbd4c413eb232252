"""Whether an ordinary word stands where a name does: "ciao sole", "Rose, come!", "met Rose".

    stands_like_name("c'è il sole", 7, 11, words)             → False
    stands_like_name("ciao sole!", 5, 9, words)               → True: after a greeting
    stands_like_name("ask Rose about it", 4, 8, words)        → True: a capital inside a sentence

Signs of a name: an @, a greeting or a title before it; an apostrophe with an ending, "bey", "जी" or
"are you" after it; commas that set it off; a capital inside a sentence, but for German, where it is
the missing article. At the beginning of a sentence a capital counts for the name as it is. In
scripts without spaces it is punctuation on both sides, a greeting, or what is put after names.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial

import regex

from realtalk.redaction.words import EVERYDAY, GREETINGS, HONORIFICS, TITLES, WORDS
from realtalk.text.folding import TOKEN, UNSEEN, fold
from realtalk.text.ordinary import OrdinaryWords, articles
from realtalk.text.wordlists import by_language

_AROUND = 60  # signs that are looked at on each side
# Signs that nobody sees, as in the mentions of some apps: "@\u2068Rose\u2069".
_UNSEEN_BEFORE, _UNSEEN_AFTER = (
    regex.compile(pattern) for pattern in (rf"{UNSEEN}+$", rf"^{UNSEEN}+")
)
_BEFORE = regex.compile(r"([\p{L}\p{M}]+)([^\p{L}\p{M}]*)$")
_AFTER = regex.compile(r"[ ]([\p{L}\p{M}]+)(?:[ ]([\p{L}\p{M}]+))?")
_SENTENCE_ENDS = regex.compile(r"[.!?…؟।:;\n()\"“”„«»¿¡]|[\p{So}\p{Sk}]")
_ENDS = regex.compile(r"[ ]*(?:$|[.!?…؟।;:\n()\"”»]|[\p{So}\p{Sk}])")
_COMMA = regex.compile(r"[ ]*[,،]")
_BENT = re.compile(r"['’][^\W\d_]{1,8}")
_APART = regex.compile(r"[,،.!?…;:\n]")
_ADJECTIVE = regex.compile(r"\p{Ll}+(?:e|en|er|es|em)")
_POSSESSIVE = re.compile(r"(?i)\b(?:my|your|his|her|our|their|the|meine?|seine?|ihre?) $")
_ROLES = frozenset({"group", "chat", "person", "admin", "team", "work", "home", "user", "guest"})
_TITLED = frozenset(map(fold, HONORIFICS | (TITLES - _ROLES)))
_BEFORE_NOUNS = frozenset(map(fold, WORDS["before nouns"]))
_NOT_FOLLOWING = frozenset(map(fold, WORDS["not after names"]))
# In scripts without spaces: what ends a piece, what calls somebody, what is put after a name.
_EDGE = r"[\s\p{P}\p{S}]"
_OPENS = regex.compile(
    rf"(?:^|{_EDGE}|谢谢|多谢|你好|您好|早安|晚安|早上好|晚上好|再见|拜拜|哈喽|嗨|亲爱的|叫上|叫|我是"
    r"|ありがとう|おはよう|こんにちは|ねえ|ねぇ|ごめん|안녕|고마워|미안|สวัสดี|ขอบคุณ|คุณ|พี่|น้อง)$"
)
_CLOSES = regex.compile(rf"(?:$|{_EDGE})")
_WITH_NAMES = regex.compile(
    r"[ ]?(?:さん|ちゃん|くん|君|様|さま|先輩|先生|老师|老師|同学|姐|哥|阿姨|叔叔"
    r"|씨|님|언니|오빠|누나|선배"
    r"|이(?:가|는|도|랑|한테|네|의|를|와|만|야)"
    r"|[아야](?=$|[\s\p{P}\p{So}~]))"
)
# 하늘이 and nothing else.
_ALMOST_ALONE = regex.compile(r"\p{Hangul}{0,3}(?:[\"”’*_~]|[\p{P}\s]*$)", regex.M)
_CALLED = regex.compile(r"(?:谢谢|多谢|你好|您好|叫上|叫|我是|哈喽|嗨|亲爱的|คุณ|พี่|น้อง)$")


def stands_like_name(
    text: str, start: int, end: int, words: OrdinaryWords, *, exact: bool = True
) -> bool:
    """Whether the word there is somebody; `exact`: it is the name, no form of it."""
    before = _UNSEEN_BEFORE.sub("", text[max(0, start - _AROUND) : start])
    after = _UNSEEN_AFTER.sub("", text[end : end + _AROUND])
    if before[-1:] and before[-1] in "@#＃_":
        return True
    token = TOKEN.match(text, start)
    if token is not None and token.lastgroup == "run":
        return _stands_in_run(before, after, spaced="HANGUL" in unicodedata.name(text[start], ""))
    previous = _BEFORE.search(before)
    word, gap = (fold(previous[1]), previous[2]) if previous else ("", before)
    following = _AFTER.match(after)
    following_word = fold(following[1]) if following else ""
    second_word = fold(following[2] or "") if following else ""
    first = previous is None or _SENTENCE_ENDS.search(gap) is not None
    ends, comma = _ENDS.match(after) is not None, _COMMA.match(after) is not None
    listed_words = partial(
        by_language,
        "realtalk.redaction",
        "words.txt",
        languages=("any", *words.languages),
    )
    form = fold(text[start:end])
    if _BENT.match(after) and word not in articles(words.languages):
        return True
    if previous and not first:
        if word in listed_words("calls") | GREETINGS and gap in (" ", ", ", "، "):
            return not (form in EVERYDAY and following_word in _NOT_FOLLOWING)
        if (
            word in listed_words("calls at the end")
            and gap in (" ", ", ", "، ")
            and (ends or comma)
        ):
            return True
        if word in _TITLED and gap in (" ", ". "):
            return _POSSESSIVE.search(before[: previous.start(1)]) is None
        if gap.strip() in (",", "،") and (ends or comma):
            calls = listed_words("calls") | listed_words("calls at the end")
            is_asked = after.lstrip()[:1] in ("?", "؟")
            if is_asked or _is_clause(before[: previous.end(1)], calls):
                return True
    if following_word in listed_words("after names") or (
        first and comma and form not in listed_words("said first")
    ):
        return True
    if first and following_word in listed_words("asks") and second_word in listed_words("asked"):
        return True
    if exact and (
        (word in listed_words("kin") and gap == " ")
        or (first and following_word in listed_words("you"))
    ):
        return True
    capital = text[start].isupper() and not text.isupper()
    if first and ends:
        alone = not previous and len(_ENDS.sub("", after).strip()) == 0
        return capital or (exact and (alone or after.lstrip()[:1] in ("!", "?", "؟")))
    if not capital:
        return False
    if first:
        return exact and following_word not in _NOT_FOLLOWING
    return not words.nouns_in_capitals or (exact and not _is_noun_place(before))


def follows_article(text: str, start: int, words: OrdinaryWords) -> bool:
    """Whether a word in small letters stands right after what goes before things."""
    previous = _BEFORE.search(text[max(0, start - _AROUND) : start])
    if previous is None or previous[2] != " " or text[start].isupper():
        return False
    return fold(previous[1]) in articles(words.languages)


def _is_clause(before: str, calls: frozenset[str]) -> bool:
    """Whether what a comma ends is more than a thing in a list: "sea, sun" is one."""
    since = _APART.split(before)[-1].split()
    return len(since) > 1 or (bool(since) and fold(since[-1]) in calls)


def _is_noun_place(before: str) -> bool:
    """In German: after an article, or an adjective with one."""
    words = [fold(word) for word in regex.findall(r"[\p{L}\p{M}]+", before)][-2:]
    if not words:
        return False
    return words[-1] in _BEFORE_NOUNS or (
        _ADJECTIVE.fullmatch(words[-1]) is not None and words[0] in _BEFORE_NOUNS
    )


def _stands_in_run(before: str, after: str, *, spaced: bool) -> bool:
    """Where words touch: punctuation around, a greeting before, "さん" after. Korean has spaces."""
    if _WITH_NAMES.match(after):
        return True
    if spaced:
        before, after = before.rstrip(" "), after if after.strip() else ""
    opened = _OPENS.search(before) is not None
    if spaced and opened and _ALMOST_ALONE.match(after):
        return True
    if spaced and after[:1] == " ":
        return False
    return opened and (_CLOSES.match(after) is not None or _CALLED.search(before) is not None)
