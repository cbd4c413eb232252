"""Sentences of Meta's apps that only their repetition gives away, in whatever language.

    "Nag-react ng ❤️ sa iyong message", "Nag-react ng 😂 sa iyong message", ... again and again
    → "notice": one emoji changes, and never a letter, a capital or a full stop
    "good night my love ❤️", "Good night my love", "good night my love 😘😘"
    → None: people vary what they say often

Also: a text in the second of its sender's reaction, an emoji inside a sentence of several people,
and one sentence beside every file. A sender who writes little else is a bot, and keeps its texts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from realtalk.text.words import plain_words

Sort = Literal["unsent", "sent", "notice"]  # what the app's words are about

ENDS = (".", "。", "।", "։", "።")
EMOJI = re.compile(
    "[\u203c\u2049\u2190-\u21ff\u231a-\u23ff\u25aa-\u27bf\u2934-\u2b55\u3030\u3297\u3299"
    "\U0001f000-\U0001faff]"
    "[\ufe0f\u200d\u2640\u2642\u2764\U0001f000-\U0001faff]*"
)
_QUOTED = re.compile(r"[\"“„«「『].{1,200}?[\"”“»」』]")
_NAME, _FACE, _QUOTE = "\ue001", "\ue002", "\ue003"  # what stands where something varies
_CITED = re.compile("(\ue002[^:：]{3,60}[:：] ?).+")  # behind an emoji and a colon: a message
_SLOTS = re.compile("[\ue001-\ue003]")
_TONES = re.compile("[\ufe0f\U0001f3fb-\U0001f3ff]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

_MANY = 8  # times that a text must be there before its repetition says something
_OFTEN = 20  # the same where nobody else writes so
_FEW_WORDS = 3  # that do not vary; shorter texts are anybody's
_LETTERS = 4  # of a script without spaces that count as a word
_SELDOM = 0.25  # of all texts that follow a reaction, at most
_VARIED = 0.03  # of a sentence's repetitions: how often people say it differently, at least
_CROWDED = 0.1  # of them: how many are not the first of their sender's on that day
_ALIGNED, _ABOVE = 0.6, 0.3  # share that repeats a reaction of its sender, and above all others
_BOT = 0.5  # of all that its senders wrote
_MOST = 100  # sentences that are looked at closely, the most frequent first
_LONGEST = 400  # characters of a text in which they are looked for


@dataclass(slots=True)
class Own:
    """A text in which its sender stands by name: what is before and after the name."""

    before: str
    after: str
    full: bool  # by a name of several words


@dataclass(slots=True, eq=False)
class Line:
    """One entry: who sent it, its text, and what it turns out to be."""

    sender: str
    text: str
    carries: bool = False  # a file came with it
    reacted: bool = False  # its sender gave a reaction in the same second
    marks: frozenset[str] = frozenset()  # reactions of its sender to messages close by
    day: int = 0  # the number of its day; 0 where that is not known
    thread: MetaThread = field(init=False)
    own: Own | None = None
    sort: Sort | None = None  # None: a message


@dataclass(slots=True, eq=False)
class MetaThread:
    """One conversation with the names of its people."""

    people: Sequence[str]
    lines: list[Line]

    def __post_init__(self) -> None:
        for line in self.lines:
            line.thread = self


def frame_of(text: str, people: Iterable[str]) -> str:
    """A sentence without what varies in it: other people, quotations, emoji, numbers."""
    return _make_frame(_nameless(text, people))


def _nameless(text: str, people: Iterable[str]) -> str:
    for name in filter(None, people):
        text = text.replace(name, _NAME)
    return text


def _make_frame(text: str) -> str:
    framed = EMOJI.sub(_FACE, _QUOTED.sub(_QUOTE, text))
    return _CITED.sub(rf"\1{_QUOTE}", re.sub(r"\d+", "0", framed)).strip()


class _EmojiLine(NamedTuple):
    """A line with one emoji: that emoji, and what does not vary."""

    line: Line
    face: str
    frame: str


_Group = tuple[str, list[_EmojiLine]]  # what does not vary, and the lines


def by_repetition(every: Sequence[Line], likely: Iterable[Line]) -> int:
    """Takes what repeats too evenly for a person for the app's; how many lines those are."""
    emoji_lines = []
    for line in likely:
        if line.sort is None and not line.carries and EMOJI.search(line.text):
            nameless = _nameless(line.text, line.thread.people)
            frame = _make_frame(nameless)
            if frame.count(_FACE) == 1:
                emoji_lines.append(_EmojiLine(line, _bare(EMOJI.findall(nameless)[0]), frame))
    # Where the app calls people otherwise than the download does, the first word is the name.
    by_name = _groups(
        emoji_lines, lambda emoji_line: f"{_NAME} {emoji_line.frame.partition(' ')[2]}"
    )
    count = _take(every, [group for group in by_name if _are_names(group[1])])
    rest = [emoji_line for emoji_line in emoji_lines if emoji_line.line.sort is None]
    notices = {emoji_line.line for emoji_line in emoji_lines if emoji_line.line.sort is not None}
    others = [line for line in every if line not in notices]
    return count + _take(others, _groups(rest, lambda emoji_line: emoji_line.frame))


def _groups(emoji_lines: Sequence[_EmojiLine], key: Callable[[_EmojiLine], str]) -> list[_Group]:
    """Lines that are alike, often enough and of enough words; the most frequent first."""
    groups: dict[str, list[_EmojiLine]] = defaultdict(list)
    for emoji_line in emoji_lines:
        groups[key(emoji_line)].append(emoji_line)
    likely = [
        (frame, alike)
        for frame, alike in groups.items()
        if len(alike) >= _MANY and _size(frame) >= _FEW_WORDS
    ]
    return sorted(likely, key=lambda group: -len(group[1]))[:_MOST]


def _are_names(alike: Sequence[_EmojiLine]) -> bool:
    """Whether every sender has one first word, and no two of them the same."""
    pairs = {(emoji_line.line.sender, emoji_line.line.text.split()[0]) for emoji_line in alike}
    return len(pairs) == len({who for who, _ in pairs}) == len({word for _, word in pairs}) > 1


def _take(every: Sequence[Line], likely: Sequence[_Group]) -> int:
    """Judges groups of lines; how many lines are the app's."""
    if not likely:
        return 0
    counts = Counter(line.sender for line in every)
    others = _elsewhere(every, likely)
    count = 0
    for frame, alike in likely:
        is_bot = len(alike) > _BOT * sum(counts[sender] for sender in _senders(alike))
        varied = others[frame] > _VARIED * len(alike)
        if is_bot or varied or not (_is_aligned(alike, every) or _is_even(frame, alike)):
            continue
        count += len(alike)
        for emoji_line in alike:
            emoji_line.line.sort = "notice"
    return count


def _senders(alike: Iterable[_EmojiLine]) -> set[str]:
    return {emoji_line.line.sender for emoji_line in alike}


def _size(text: str) -> int:
    """How many words do not vary."""
    words = [word for word in _SLOTS.sub(" ", text).split() if any(map(str.isalpha, word))]
    return max(len(words), len(_UNSPACED.findall(text)) // _LETTERS)


def _words_alone(text: str) -> str:
    """The words alone, in small letters, with a space on both sides."""
    return f" {' '.join(plain_words(text.casefold()))} "


def _elsewhere(every: Iterable[Line], likely: Sequence[_Group]) -> Counter[str]:
    """How often people say the words of a sentence otherwise, or among more words."""
    by_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for frame, _ in likely:
        words = max(map(_words_alone, re.split(f"[{_NAME}{_QUOTE}]", frame)), key=len)
        if words.strip():
            by_word[max(words.split(), key=len)].append((words, frame))  # long words are rare
    exact = {emoji_line.line for _, alike in likely for emoji_line in alike}
    others: Counter[str] = Counter()
    for line in every:
        if line not in exact:
            text = _words_alone(line.text[:_LONGEST])
            for word in by_word.keys() & text.split():
                others.update(frame for words, frame in by_word[word] if words in text)
    return others


def _is_aligned(alike: Sequence[_EmojiLine], every: Iterable[Line]) -> bool:
    """Whether their emoji are reactions that their senders gave close by, as others' are not."""
    share = sum(emoji_line.face in map(_bare, emoji_line.line.marks) for emoji_line in alike) / len(
        alike
    )
    if share < _ALIGNED:
        return False
    kinds = {emoji_line.face for emoji_line in alike}
    ours, senders = {emoji_line.line for emoji_line in alike}, _senders(alike)
    rest = [line for line in every if line.sender in senders and line not in ours]
    usual = sum(any(_bare(mark) in kinds for mark in line.marks) for line in rest)
    return share >= usual / max(1, len(rest)) + _ABOVE


def _bare(emoji: str) -> str:
    return _TONES.sub("", emoji)


def _is_even(frame: str, alike: Sequence[_EmojiLine]) -> bool:
    """Whether the emoji changes, several times a day, in a sentence of many or all around it."""
    days = {
        (emoji_line.line.thread, emoji_line.line.sender, emoji_line.line.day)
        for emoji_line in alike
    }
    is_crowded = len(alike) - len(days) >= max(3, _CROWDED * len(alike))
    if len({emoji_line.face for emoji_line in alike}) < 2 or not (
        is_crowded and all(emoji_line.line.day for emoji_line in alike)
    ):
        return False
    before, _, after = frame.partition(_FACE)
    inside = len(alike) >= _OFTEN and _size(before) > 0 and _size(after) > 0
    return len(_senders(alike)) > 2 or inside


def by_reaction(every: Sequence[Line], likely: Iterable[Line]) -> None:
    """Notices of reactions: an emoji inside a sentence of several, or in the second of one."""
    frames: dict[str, list[tuple[Line, str]]] = defaultdict(list)
    seldom = sum(bool(line.marks) for line in every) <= _SELDOM * len(every)
    for line in likely:
        emoji = EMOJI.findall(line.text)
        if not line.carries and len(emoji) < 2:
            frames[EMOJI.sub(_FACE, line.text).strip()].append((line, "".join(emoji)))
    for frame, alike in frames.items():
        lines = [line for line, _ in alike]
        at_once = sum(line.reacted for line in lines)
        several = len({line.sender for line in lines}) > 1
        words = len(frame.split())
        inside = len(frame.partition(_FACE)[2].split()) > 1 and words > 3
        trailing = sum(line.text.endswith(" ") for line in lines) > len(lines) / 2
        kinds = len({emoji for _, emoji in alike})
        follows = len(lines) >= _MANY and sum(bool(line.marks) for line in lines) >= 0.9 * len(
            lines
        )
        if (
            (seldom and follows and words > 1)
            or (at_once > 1 and at_once > 0.6 * len(lines) and len(frame) > 5)
            or (inside and several and (kinds > 2 or (trailing and len(lines) > 2)))
        ):
            for line in lines:
                line.sort = line.sort or "notice"


def beside_files(every: Iterable[Line], likely: Iterable[Line]) -> None:
    """One sentence beside many files: the app's words for them."""
    often = Counter((line.sender, line.text) for line in every if line.carries)
    for line in likely:
        text = line.text.strip()
        several_words = text.endswith(ENDS) and len(text.split()) > 1
        if line.carries and several_words and often[line.sender, line.text] > 2:
            line.sort = line.sort or "sent"
