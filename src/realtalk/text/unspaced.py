"""What people are called in scripts without spaces between words.

    run_forms("王小明")     → 王小明, 小明, 王小, 小王, 老王, 王先生, 明明, ...
    run_forms("김민수")     → 김민수, 민수
    run_forms("さくら")     → さくら, さくちゃん, さくさん, ...
    run_forms("田中さくら") → the whole, 田中, さくら, and their forms
    run_forms("นายสมชาย")   → นายสมชาย, สมชาย

Family and given names are written together there: of a name of three or four signs every
beginning and every end of two or more may be one of them. One sign is a name beside what makes
it one only ("王" in 王先生 and 小王). What comes in is folded, and so is what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from realtalk.text.folding import graphemes

_TO_CHINESE = (
    "先生 女士 小姐 太太 老师 老師 总 總 哥 姐 叔 姨 阿姨 叔叔 医生 醫生 同学 同學 董 经理"
)
_TO_JAPANESE = "さん ちゃん くん 君 様 さま 氏 先輩 せんぱい たん っち"
_TO_KANA = _TO_JAPANESE.split()
_TO_HAN = _TO_CHINESE.split() + _TO_KANA
_BEFORE_FAMILY = "小老阿"
_MOST_WITHOUT_SPACE = 6  # signs of a family and a given name
_TITLE = regex.compile("^(?:นางสาว|นาย|นาง|เด็กชาย|เด็กหญิง|คุณ|ດຣ|ທ້າວ|ນາງ|ဒေါ်|ဦး|ကို|မောင်|លោក|អ្នក)")
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_POINTS = regex.compile(r"\p{P}+")
_WORDLIKE = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}]{2}")
_SCRIPTS = regex.compile(
    r"(?P<han>[\p{Han}]+)|(?P<kana>[\p{Hiragana}\p{Katakana}ー\uff70\uff9e\uff9f\p{M}]+)"
    r"|(?P<hangul>\p{Hangul}+)|(?P<other>.[^\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]*)"
)


def run_forms(name: str, *, whole: bool = True) -> Iterator[str]:
    """A name of such a script, its parts, and what is said to somebody of that name."""
    if whole:
        yield name
    runs = list(_SCRIPTS.finditer(name))
    for part in runs:
        if graphemes(part[0]) > 1 and len(runs) > 1:
            yield part[0]
        if part.lastgroup == "han":
            yield from _han(part[0], alone=len(runs) == 1)
        elif part.lastgroup == "kana":
            # Short forms are what goes before -chan; alone, two kana are in every other word.
            for end in range(2, len(part[0])):
                yield from (part[0][:end] + title for title in _TO_KANA)
        elif part.lastgroup == "hangul":
            if len(part[0]) in (3, 4):
                yield part[0][1:]
            if len(part[0]) == 4:
                yield from (part[0][:2], part[0][2:])
        elif (titled := _TITLE.match(part[0])) and graphemes(part[0][titled.end() :]) > 1:
            yield part[0][titled.end() :]


def _han(name: str, *, alone: bool) -> Iterator[str]:
    if len(name) > _MOST_WITHOUT_SPACE:
        return
    for at in range(1, len(name)) if alone else ():
        for part in (name[:at], name[at:]):
            if len(part) > 1:
                yield part
    if len(name) > 4:
        return
    for sign in {name[0], name[-1]}:
        yield from (sign + title for title in _TO_HAN)
    yield from (before + name[0] for before in _BEFORE_FAMILY)
    if len(name) > 1:
        yield from (name[-1] * 2, "阿" + name[-1])


def stands_alone(text: str, at: int, name: str) -> bool:
    """Whether a name that is no word stands there by itself: "A.J.", "42"; an emoji anywhere."""
    before, after = text[at - 1 : at] if at else "", text[at + len(name) :][:1]
    if _POINTS.fullmatch(name):
        return not (before + after).strip()
    if len(name) > 2 and UNSPACED.search(name):  # words touch there; a longer number is another
        return not any(map(str.isdecimal, before + after))
    return not any(map(_WORDLIKE.fullmatch, (before + name[0], name[-1] + after)))
