"""Finds what identifies a person in a text, and says what stands there instead.

    scanner.text("ask Mara's brother, +49 170 1234567 or @theo_k", "Chat_1")
    → "ask Person1's brother, <phone-1> or @handle1"
    stands_like_name("c'è il sole", 7, 11, words)             → False
    stands_like_name("ciao sole!", 5, 9, words)               → True: after a greeting
    stands_like_name("ask Rose about it", 4, 8, words)        → True: a capital inside a sentence

First the things that are of some kind (`standins`), then the names (`names`) in all that was not
replaced, what the user wants to keep included: a link may stay, a speaker's name in it may not.

An ordinary word goes only where a name stands. Signs of one: an @, a greeting or a title before it;
an apostrophe with an ending, "bey", "जी" or "are you" after it; commas that set it off; a capital
inside a sentence, but for German, where it is the missing article. At the beginning of a sentence a
capital counts for the name as it is. In scripts without spaces it is punctuation on both sides, a
greeting, or what is put after names.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

import regex

from realtalk.redaction.names import Names, NameSpan, Replacement, SpeakerForms, squash
from realtalk.redaction.standins import STAND_IN, StandIns, is_phone, kinds_in, without_end
from realtalk.redaction.words import EVERYDAY, GREETINGS, HONORIFICS, NO_FORM, NOBLE, TITLES, WORDS
from realtalk.text.folding import TOKEN, UNSEEN, fold, fold_word, is_plain
from realtalk.text.ordinary import OrdinaryWords, articles
from realtalk.text.wordlists import by_language

_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_TAG = regex.compile(r"[#＃]([\w]+)")
# Words with digits in them, as user names have: "user_31955", "J4ne-fan".
_WITH_DIGITS = regex.compile(r"(?<![\w.\-])[\w.\-]*\d[\w.\-]*")
_APART = regex.compile(r"[^._\-]+")
_DIGIT = re.compile(r"\d")
_MOST_PARTS = 4  # of one name, when it is looked for as a whole
_HOLDS_MORE = re.compile(r"[@+]|\d{5}")  # an id with a number or an address in it
# Between the parts of one name: "Mara Lund", "mara_lund", "玛丽·居里", "Anna de Vries".
_BETWEEN = regex.compile(
    rf"[ \u00a0\u3000_.\-·・=’'＿]?|[ ](?:(?:{'|'.join(sorted(NOBLE))})[ ]){{1,3}}"
)
_INITIAL = regex.compile(r"[ ](\p{Lu})\b\.?")
# What goes with a name: "Big Gabe", "Lil Ray", "ray jr".
_EPITHET = re.compile(r"(?<!\w)(?:Big|Little|Lil['’]?|Ol['’]|Old|Young) $")
_GENERATION = re.compile(r",? (?:[JjSs]r\b\.?|(?:II|III)\b)")
_NO_WORDS = OrdinaryWords()
_AND = regex.compile(r"[ ](?:and|&|y|e|et|und|en|i|и|та|ve|aur|और|dan|och|og|ja|és|και|و)[ ]")
# A message's id as every reader of ours makes it; it cannot hold a name.
_ACCOUNT = re.compile(r"[\w.+-]+$")
_LONGEST_ACCOUNT = 64
_OUR_ID = re.compile(r"D\d+:\d+")
_Replaced = list[Replacement]
_Spans = list[NameSpan]
_Tables = list[Names]


class Scanner:
    """Replaces in texts; a chat's own names go before those of the other chats."""

    def __init__(
        self,
        stand_ins: StandIns,
        everyone: Names,
        chats: Mapping[str, Names],
        keep: Iterable[str] | None = None,
        ordinary: Mapping[str, OrdinaryWords] = MappingProxyType({}),
        forms: SpeakerForms | None = None,
    ) -> None:
        """`keep`: the kinds that stay as they are; None: names go, and nothing else.

        `ordinary`: the words of each chat's language; they are names only where names stand.
        `forms` notes what people decide on, and says what stays.
        """
        self.stand_ins = stand_ins
        self._everyone = everyone
        self._chats = chats
        self._ordinary = ordinary
        self._names_only = keep is None
        self._keep = frozenset(keep or ())
        self._forms = forms
        self.left = 0  # speakers' names that stand like ordinary words

    def text(self, text: str, chat: str, *, is_id: bool = False, dense: bool = False) -> str:
        """The text with stand-ins; of an id only names, mail addresses and phones are taken.

        `dense`: words may be written together there, as in file names and ids.
        """
        if is_id and _OUR_ID.fullmatch(text):
            return text
        names = [self._chats[chat], self._everyone] if chat in self._chats else [self._everyone]
        digits = _DIGIT.search(text) is not None
        users = list(self._user_names(text, names)) if digits and self._everyone.squashed else []
        tags = [tag.span(1) for tag in _TAG.finditer(text)] if "#" in text or "＃" in text else []
        if self._names_only or (is_id and not _HOLDS_MORE.search(text)):
            matches = STAND_IN.finditer(text) if digits else ()
            kinds: _Replaced = [(*match.span(), None) for match in matches]
        else:
            kinds, together = self._kinds(text, names, is_id)
            tags += together
            kinds = list(_without(kinds, users)) if users else kinds
        if is_id or dense:
            tags = [(0, len(text))]
        ordinary = self._ordinary.get(chat, _NO_WORDS)
        spans = self._names(
            text, names, kinds, tags, users, _NO_WORDS if dense or is_id else ordinary
        )
        if spans and self._forms is not None and not (is_id or dense):
            spans = self._forms.settle(text, spans)
        if not kinds and not spans:
            return text
        pieces: list[str] = []
        done = 0
        for start, end, stand_in in sorted([*kinds, *spans]):
            if stand_in is not None:
                pieces += (text[done:start], stand_in)
                done = end
        return "".join((*pieces, text[done:])) if pieces else text

    # ── things of some kind ──────────────────────────────────────────────────────────────

    def _kinds(
        self, text: str, names: _Tables, is_id: bool
    ) -> tuple[_Replaced, list[tuple[int, int]]]:
        """What is replaced or held as it is, and where words may be written together."""
        spans: _Replaced = []
        tags: list[tuple[int, int]] = []
        for match in kinds_in(text):
            kind, token, start, end = match.lastgroup, match[0], match.start(), match.end()
            if kind in ("stand_in", "date", "clock"):
                spans.append((start, end, None))
                continue
            if kind == "link":
                end = start + len(without_end(token))
                token = text[start:end]
            if kind == "handle" and spans and spans[-1][1] == start and "emails" in self._keep:
                continue  # "Person1@post.example", of which the name went before
            if kind == "handle" and not self._find_squashed(token, names):
                start = _account_start(text, start, spans[-1][1] if spans else 0)
                token = text[start:end]
            stand_in = self._stand_in(match, token, names, is_id)
            if stand_in is not None:
                spans.append((start, end, stand_in))
            elif kind in ("link", "email", "handle"):
                tags.append((start, end))
        return spans, tags

    def _stand_in(
        self, match: re.Match[str], token: str, names: _Tables, is_id: bool
    ) -> str | None:
        """What to put in place of what was found (None: leave it to the names)."""
        kind = match.lastgroup
        if kind != "email" and (person := self._find_squashed(token, names)):
            return f"@{person}" if kind == "handle" else person
        if kind == "digits":
            return self._number(match, is_id)
        word = TOKEN.match(token) if kind == "token" else None
        if word is not None and any(table.find(word[0]) for table in names):
            return None  # "Mara19900412"
        if is_id and kind != "email":
            return None
        plural = {"address": "addresses", "token": "numbers", "iban": "numbers"}
        if plural.get(kind or "", f"{kind}s") in self._keep:
            return None
        if kind in ("link", "address", "email", "handle"):
            return self.stand_ins.make(kind, token, token if kind == "link" else None)
        return self.stand_ins.make("number", token, squash(token) if kind == "iban" else None)

    def _find_squashed(self, token: str, names: _Tables) -> str | None:
        key = squash(token)
        for table in names:
            person = table.squashed.get(key) or table.words.get(key, (None,))[0]
            if person is not None:
                self.stand_ins.note(person, token)
                return person
        return None

    def _number(self, match: re.Match[str], is_id: bool) -> str | None:
        digits, phone = match[0], is_phone(match)
        if phone is None or ("phones" if phone else "numbers") in self._keep:
            return None
        if is_id and digits[0] != "+":
            return None
        return self.stand_ins.make("phone" if phone else "number", digits, squash(digits))

    # ── names ────────────────────────────────────────────────────────────────────────────

    def _names(
        self,
        text: str,
        names: _Tables,
        kinds: _Replaced,
        tags: list[tuple[int, int]],
        users: _Spans,
        ordinary: OrdinaryWords,
    ) -> _Replaced:
        candidates = [*users, *self._words(text, names)]
        candidates += self._everyone.matches("signs", text)
        for start, end in tags:
            candidates += self._inside(text, start, end, names)
        if not candidates:
            return []
        candidates.sort(key=lambda span: (span.start, -span.end))
        free: _Spans = []
        bounds = iter([*sorted(kinds), (len(text) + 1, 0, None)])
        start, end, _ = next(bounds)
        for span in candidates:
            while end and end <= span.start:
                start, end, _ = next(bounds)
            if start >= span.end and (not free or span.start >= free[-1].end):
                free.append(span)
        return self._settle(text, _as_one(text, free, names), ordinary)

    def _words(self, text: str, names: _Tables) -> Iterator[NameSpan]:
        find, words = self._everyone.find, TOKEN
        if is_plain(text):
            words = _PLAIN_WORD
            # Most words are nobody's name, and every name is in everyone's.
            if self._everyone.nobody.issuperset(_PLAIN_WORD.findall(text)):
                return
        for match in words.finditer(text):
            word = match[0]
            if not (everyones := find(word)):
                continue
            at = match.start()
            for span in (*names[0].find(word), *everyones) if len(names) > 1 else everyones:
                yield span._replace(start=at + span.start, end=at + span.end)

    def _user_names(self, text: str, names: _Tables) -> Iterator[NameSpan]:
        """Names with digits in them, and phone numbers that are somebody's only name."""
        yield from self._everyone.phones(text)
        for match in _WITH_DIGITS.finditer(text):
            whole = match[0].rstrip(".-")
            spans = [(0, len(whole)), *(part.span() for part in _APART.finditer(whole))]
            for first, last in spans:
                key = squash(whole[first:last])
                person = _whole_name(key, names)
                if person is not None and not key.isdecimal():
                    yield NameSpan(match.start() + first, match.start() + last, person)

    def _inside(self, text: str, start: int, end: int, names: _Tables) -> Iterator[NameSpan]:
        """Names within words, where words are written together: "#happybirthdaymara"."""
        piece = text[start:end]
        for table in names:
            for span in table.matches("inside", piece):
                yield NameSpan(start + span.start, start + span.end, span.person)
        if start and text[start - 1] in "#＃":
            # A name at either end of a tag: all of it goes, "#teamann" as "#annsday". An everyday
            # word counts at the beginning, with a capital: "#WillIsHere".
            key, capital = fold(piece), piece[:1].isupper()
            for table in names:
                for name, (person, everyday) in table.words.items():
                    begins = key.startswith(name) and (capital or not everyday)
                    if len(name) > 2 and (begins or (key.endswith(name) and not everyday)):
                        yield NameSpan(start, end, person)

    def _settle(self, text: str, spans: _Spans, ordinary: OrdinaryWords) -> _Replaced:
        """Parts of one name joined, and ordinary words judged by the place they stand at."""
        groups: list[_Spans] = []
        for span in spans:
            if (
                groups
                and groups[-1][-1].person == span.person
                and _BETWEEN.fullmatch(text, groups[-1][-1].end, span.start)
            ):
                groups[-1].append(span)
            else:
                groups.append([span])
        settled: _Replaced = []
        are_names = [self._is_named(text, group, ordinary) for group in groups]
        for at, group in enumerate(groups):
            start, end = group[0].start, group[-1].end
            person = group[0].person
            if not (are_names[at] or _is_beside_name(text, groups, are_names, at)):
                self.left += 1
                continue
            after = settled[-1][1] if settled else 0
            for name in self._everyone.titled.get(person, ()):
                # The whole name: "Aunt Ida", of which only Ida is looked for.
                first = end - len(name)
                if after <= first < start and text[first:end].casefold() == name:
                    start = first
                    break
            if epithet := _EPITHET.search(text, after, start):
                start = epithet.start()
            initial = _INITIAL.match(text, end)
            if initial and initial[1] not in "AI" and self._has_initial(person, initial[1]):
                end = initial.end()
            end = _past_digits(text, end)
            if generation := _GENERATION.match(text, end):
                end = generation.end()
            self.stand_ins.note(person, text[start:end])
            settled.append((start, end, person))
        return settled

    def _is_named(self, text: str, group: _Spans, ordinary: OrdinaryWords) -> bool:
        """Whether words that lie together are a name: by themselves or by their place."""
        if any(_is_sure(text, span, ordinary) for span in group):
            return True
        whole = squash(text[group[0].start : _past_digits(text, group[-1].end)])
        return (len(group) > 1 and self._everyone.squashed.get(whole) == group[0].person) or any(
            _is_placed(text, span, ordinary) for span in group
        )

    def _has_initial(self, person: str, letter: str) -> bool:
        return any(
            fold(word[0]) == fold(letter)
            for name in self.stand_ins.originals.get(person, ())
            for word in name.split()[1:]
        )


def _without(kinds: _Replaced, users: _Spans) -> Iterator[Replacement]:
    """All but numbers inside a user's name, and dates that one looks like."""
    users = sorted(users, key=lambda user: user.start)
    at = 0
    for start, end, stand_in in kinds:
        while at < len(users) and users[at].end <= start:
            at += 1
        past = bisect_left(users, end, key=lambda user: user.start)
        meeting = [user for user in users[at:past] if user.end > start]
        if not meeting or (
            stand_in is not None
            and not any(user.start <= start and end <= user.end for user in meeting)
        ):
            yield start, end, stand_in


def _as_one(text: str, spans: _Spans, names: _Tables) -> _Spans:
    """Of two called Anna, "Anna Berg" is the one: neighbours that make somebody's whole name."""
    for first in range(len(spans) - 1):
        last = first
        while (
            last + 1 < len(spans)
            and last - first < _MOST_PARTS
            and _BETWEEN.fullmatch(text, spans[last].end, spans[last + 1].start)
        ):
            last += 1
        for end in range(last, first, -1):
            key = squash(text[spans[first].start : spans[end].end])
            if person := _whole_name(key, names):
                spans[first : end + 1] = [
                    span._replace(person=person) for span in spans[first : end + 1]
                ]
                break
    return spans


def _whole_name(key: str, names: _Tables) -> str | None:
    """Whose name this is when it is written without spaces."""
    return next((table.squashed[key] for table in names if key in table.squashed), None)


def _is_beside_name(text: str, groups: list[_Spans], are_names: list[bool], at: int) -> bool:
    """Whether another name is joined to it: "sunny and Art"; at the beginning, "sunny and art"."""
    for first in (at - 1, at):
        if first < 0 or first + 1 == len(groups):
            continue
        first_span, second_span = groups[first][-1], groups[first + 1][0]
        is_pair = first_span.person != second_span.person and _AND.fullmatch(
            text, first_span.end, second_span.start
        )
        if is_pair and (
            are_names[first] or are_names[first + 1] or not text[: first_span.start].strip()
        ):
            return True
    return False


def _is_sure(text: str, span: NameSpan, ordinary: OrdinaryWords) -> bool:
    """Whether it is a name wherever it stands: neither an everyday nor an ordinary word."""
    if not span.sure:
        return False
    form = fold_word(text[span.start : span.end])
    if ordinary.has(form, span.root):
        return False
    return not (ordinary.may_be(form) and follows_article(text, span.start, ordinary))


def _is_placed(text: str, span: NameSpan, ordinary: OrdinaryWords) -> bool:
    start, end = span.start, span.end
    if end - start == 1 and text[start].isupper() and text[start] != "I":  # a name of one letter
        before = text[:start].rstrip()
        return bool(before) and not before.endswith((".", "!", "?"))
    form = fold_word(text[start:end])
    if not span.root and form in NO_FORM and ("en" in ordinary.languages or not ordinary.languages):
        return False  # "vale" may be Valentina in Italian, but "man" is not Mandy
    # A bent name that is no word itself is a name; of German nouns the lists have few forms.
    is_word = ordinary.nouns_in_capitals or ordinary.is_word(form) or form in EVERYDAY
    exact = form == span.root or not is_word
    return stands_like_name(text, start, end, ordinary, exact=exact)


def _account_start(text: str, start: int, done: int) -> int:
    """Where "faizan.q@okbank" begins, a payment address, whose "@" is at `start`."""
    before = _ACCOUNT.search(text, max(done, start - _LONGEST_ACCOUNT), start)
    return before.start() if before else start


def _past_digits(text: str, at: int) -> int:
    """Beyond the digits there: "Mara2" must not become "Person12"."""
    while at < len(text) and text[at].isdigit():
        at += 1
    return at


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
_PAUSE = regex.compile(r"[,،.!?…;:\n]")
_ADJECTIVE = regex.compile(r"\p{Ll}+(?:e|en|er|es|em)")
_POSSESSIVE = re.compile(r"(?i)\b(?:my|your|his|her|our|their|the|meine?|seine?|ihre?) $")
_ROLES = frozenset("group chat person admin team work home user guest".split())  # noqa: SIM905
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
    since = _PAUSE.split(before)[-1].split()
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
