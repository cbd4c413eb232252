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
from typing import Literal

from realtalk.formats.exports.assembly import Draft, Entry
from realtalk.grouping import grouped
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

_MOST_PEOPLE = 500  # whose names are looked for in every sentence; a group has 250
_NEAR = 10  # entries between a message and the notice that somebody liked it
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
    """One entry, what is around it, and what it turns out to be."""

    thread: MetaThread
    entry: Entry
    second: int = 0  # when it was sent; 0 where a page does not tell it
    is_repaired: bool = False
    reacted: bool = False  # its sender gave a reaction in the same second
    marks: frozenset[str] = frozenset()  # reactions of its sender to messages close by
    own: Own | None = None
    face: str = ""  # the emoji that varies, where it has one
    frame: str = ""  # what does not vary
    sort: Sort | None = None  # None: a message

    @property
    def sender(self) -> str:
        return self.entry.name

    @property
    def text(self) -> str:
        return self.entry.text

    @property
    def carries(self) -> bool:
        """Whether a file came with it."""
        return bool(self.entry.attachments)

    @property
    def day(self) -> int:
        """The number of its day; 0 where that is not known."""
        return self.entry.time.toordinal() if self.entry.time else 0


@dataclass(slots=True, eq=False)
class MetaThread:
    """One conversation: its draft, and what will be in it."""

    draft: Draft
    lines: list[Line] = field(default_factory=list)
    reacted: set[tuple[str, int]] = field(default_factory=set)  # who gave a reaction when

    @property
    def people(self) -> Sequence[str]:
        names: Sequence[str] = self.draft.extra.get("participants", ())
        return names[:_MOST_PEOPLE]

    def take(self, entry: Entry, second: int = 0, *, is_repaired: bool = False) -> None:
        self.lines.append(Line(self, entry, second, is_repaired))

    def note_reactions(self) -> None:
        """Says of every line which reactions are close to it."""
        given = [
            [(name, mark["emoji"]) for mark in marks for name in mark["by"]]
            for marks in (line.entry.extra.get("reactions", ()) for line in self.lines)
        ]
        for at, line in enumerate(self.lines):
            line.reacted = (line.sender, line.second) in self.reacted
            near = (mark for marks in given[max(0, at - _NEAR) : at + _NEAR + 1] for mark in marks)
            line.marks = frozenset(emoji for name, emoji in near if name == line.sender)


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


_Group = tuple[str, list[Line]]  # what does not vary, and the lines


def by_repetition(every: Sequence[Line], likely: Iterable[Line]) -> int:
    """Takes what repeats too evenly for a person for the app's; how many lines those are."""
    with_emoji = []
    for line in likely:
        if line.sort is None and not line.carries and EMOJI.search(line.text):
            nameless = _nameless(line.text, line.thread.people)
            line.frame = _make_frame(nameless)
            if line.frame.count(_FACE) == 1:
                line.face = _bare(EMOJI.findall(nameless)[0])
                with_emoji.append(line)
    # Where the app calls people otherwise than the download does, the first word is the name.
    by_name = _groups(with_emoji, lambda line: f"{_NAME} {line.frame.partition(' ')[2]}")
    count = _take(every, [group for group in by_name if _are_names(group[1])])
    rest = [line for line in with_emoji if line.sort is None]
    notices = {line for line in with_emoji if line.sort is not None}
    others = [line for line in every if line not in notices]
    return count + _take(others, _groups(rest, lambda line: line.frame))


def _groups(lines: Sequence[Line], key: Callable[[Line], str]) -> list[_Group]:
    """Lines that are alike, often enough and of enough words; the most frequent first."""
    likely = [
        (frame, alike)
        for frame, alike in grouped((key(line), line) for line in lines).items()
        if len(alike) >= _MANY and _size(frame) >= _FEW_WORDS
    ]
    return sorted(likely, key=lambda group: -len(group[1]))[:_MOST]


def _are_names(alike: Sequence[Line]) -> bool:
    """Whether every sender has one first word, and no two of them the same."""
    pairs = {(line.sender, line.text.split()[0]) for line in alike}
    return len(pairs) == len({who for who, _ in pairs}) == len({word for _, word in pairs}) > 1


def _take(every: Sequence[Line], likely: Sequence[_Group]) -> int:
    """Judges groups of lines; how many lines are the app's."""
    if not likely:
        return 0
    counts = Counter(line.sender for line in every)
    others = _elsewhere(every, likely)
    count = 0
    for frame, alike in likely:
        is_bot = len(alike) > _BOT * sum(counts[sender] for sender in senders(alike))
        varied = others[frame] > _VARIED * len(alike)
        if is_bot or varied or not (_is_aligned(alike, every) or _is_even(frame, alike)):
            continue
        count += len(alike)
        for line in alike:
            line.sort = "notice"
    return count


def senders(alike: Iterable[Line]) -> set[str]:
    return {line.sender for line in alike}


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
    exact = {line for _, alike in likely for line in alike}
    others: Counter[str] = Counter()
    for line in every:
        if line not in exact:
            text = _words_alone(line.text[:_LONGEST])
            for word in by_word.keys() & text.split():
                others.update(frame for words, frame in by_word[word] if words in text)
    return others


def _is_aligned(alike: Sequence[Line], every: Iterable[Line]) -> bool:
    """Whether their emoji are reactions that their senders gave close by, as others' are not."""
    share = sum(line.face in map(_bare, line.marks) for line in alike) / len(alike)
    if share < _ALIGNED:
        return False
    kinds = {line.face for line in alike}
    ours, people = set(alike), senders(alike)
    rest = [line for line in every if line.sender in people and line not in ours]
    usual = sum(any(_bare(mark) in kinds for mark in line.marks) for line in rest)
    return share >= usual / max(1, len(rest)) + _ABOVE


def _bare(emoji: str) -> str:
    return _TONES.sub("", emoji)


def _is_even(frame: str, alike: Sequence[Line]) -> bool:
    """Whether the emoji changes, several times a day, in a sentence of many or all around it."""
    days = {(line.thread, line.sender, line.day) for line in alike}
    is_crowded = len(alike) - len(days) >= max(3, _CROWDED * len(alike))
    if len({line.face for line in alike}) < 2 or not (
        is_crowded and all(line.day for line in alike)
    ):
        return False
    before, _, after = frame.partition(_FACE)
    inside = len(alike) >= _OFTEN and _size(before) > 0 and _size(after) > 0
    return len(senders(alike)) > 2 or inside


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
