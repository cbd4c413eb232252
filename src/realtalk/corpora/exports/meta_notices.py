"""Which texts of Meta's conversations the app wrote by itself, by structure and by words.

    "Ann Berg pinned a message." by Ann Berg, "Bo Lund pinned a message." by Bo Lund
    → both "notice": one sentence of several people in which only the name differs
    "Captain set the nickname for Bo to Cook." by Ann Berg   → "notice"; Ann is also called Captain
    "ann ने अटॅचमेंट पाठवले." by ann, with a post that she shared   → "sent": the app's words for it
    "ann is late" by ann                                      → None: a message

Newer downloads have no field that marks a notice, and the language is that of whoever requested
the download. Four signs need no language: a sender who speaks of themselves by name in the same
words as others do, an emoji that varies inside a sentence which several send, a text that always
goes with a reaction of its sender, the same sentence beside every file. What remains is looked
up in `meta_wording`. What stays uncertain is a message, and is counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from realtalk.corpora.exports.meta_people import People
from realtalk.corpora.exports.meta_wording import (
    FIRST_WORDS,
    SUBJECT,
    Sort,
    is_of_anybody,
    is_particular,
    sort_of,
)

_LONGEST = 400  # characters of a notice
_NEAR = 16  # where the name stands at the latest: "Użytkownik Ann Berg"
_VARIANTS = 1000  # sentences that end in the same two words; more are no notices
_MOST_COMPARED = 300_000  # sentences with each other; in the largest real archive 20,000
_NAMESAKES = 9  # of more nobody can tell who got the nickname
_MOST_PEOPLE = 500  # whose names are looked for in every sentence; a group has 250
_ENDS = (".", "。", "।", "։", "።")
_MANY = 8  # times that a text without names must follow a reaction of its sender
_SELDOM = 0.25  # of all texts that do, at most
_EMOJI = re.compile(
    "[\u2190-\u21ff\u231a-\u23ff\u25aa-\u27bf\u2934-\u2b55\U0001f000-\U0001faff]"
    "[\ufe0f\u200d\u2640\u2642\u2764\U0001f000-\U0001faff]*"
)
_QUOTED = re.compile(r"[\"“„«「『].{1,200}?[\"”“»」』]")
_NICKNAMED = re.compile(r"set the nickname for (?P<who>.{1,80}?) to (?P<name>.{1,80}?)\.?")
_VOTED = re.compile(
    r"(?:voted for|votó por|votou em) .{1,200} (?:in the poll|en la encuesta|na \w+): "
)
_OWN_NICKNAME = re.compile(r"set (?:his|her|their) own nickname to (?P<name>.{1,80}?)\.?")
_NO_NAMES = frozenset(
    """
    i we he she it they who someone somebody everyone nobody and but ich er sie wir wer jemand
    il elle on nous qui yo él ella quien quién eu ele ela quem io lui lei chi ik hij zij ze wie
    iemand you that this
    """.split()  # noqa: SIM905 - words read better than quotes
)


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: who sent it, and its text."""

    sender: str
    text: str
    carries: bool = False  # a file came with it
    reacted: bool = False  # its sender gave a reaction in the same second
    near: bool = False  # its sender gave a reaction to a message close by


@dataclass(slots=True)
class MetaThread:
    """One conversation with the names of its people."""

    people: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _Own:
    """A text in which its sender stands by name: what is before and after the name."""

    before: str
    after: str
    full: bool  # by a name of several words

    @property
    def ended(self) -> bool:
        return self.after.endswith(_ENDS)


@dataclass(slots=True, eq=False)
class _Text:
    """A line that may be the app's, and what it turns out to be."""

    thread: int
    line: Line
    own: _Own | None = None
    sort: Sort | None = None  # None: a message


def judge(threads: Sequence[MetaThread]) -> tuple[list[list[Sort | None]], int]:
    """For every line what it is (None: a message), and how many messages may be notices."""
    threads = [replace(thread, people=thread.people[:_MOST_PEOPLE]) for thread in threads]
    names = [_Names(thread) for thread in threads]
    by_place = {
        (number, place): _Text(number, line)
        for number, thread in enumerate(threads)
        for place, line in _candidates(thread)
    }
    texts = list(by_place.values())
    for text in texts:
        _by_words(text, names[text.thread])
    uncertain = _by_own_name(threads, texts, _Tails(threads, texts, names))
    _by_reaction(threads, texts)
    _beside_files(threads, texts)
    sorts: list[list[Sort | None]] = [[None] * len(thread.lines) for thread in threads]
    for (number, place), text in by_place.items():
        sorts[number][place] = text.sort
    return sorts, uncertain


def _candidates(thread: MetaThread) -> Iterator[tuple[int, Line]]:
    for place, line in enumerate(thread.lines):
        if line.text and len(line.text) <= _LONGEST and "\n" not in line.text.strip():
            yield place, line


def _by_words(text: _Text, names: _Names) -> None:
    """Sorts by the wordings known, and says where the sender stands by name."""
    written = words = text.line.text.strip()
    text.own = names.own(text.line.sender, written)
    if text.own is not None:
        words = f"{text.own.before}{SUBJECT}{text.own.after}"
    elif written.startswith("You "):
        words = SUBJECT + written.removeprefix("You")
    sort = sort_of(words)
    if sort is None and names.tells_of_another(written):
        sort = "notice"
    # What came with a file is the sender's, unless the words are those for a file.
    text.sort = None if text.line.carries and sort == "notice" else sort


class _Names:
    """Who is called what in one conversation; nicknames are learned from it."""

    def __init__(self, thread: MetaThread) -> None:
        self.of: dict[str, set[str]] = {}
        self._who: dict[str, set[str]] = {}  # the same the other way round
        for name in (*thread.people, *(line.sender for line in thread.lines)):
            if name not in self.of:
                self.of[name] = set()
                for called in {name, *name.split()[:1]} - {""}:
                    self._call(name, called)
        for _, line in _candidates(thread):
            self._nicknamed(line)
        self._learn(thread)
        self.known = frozenset(self._who)

    def _call(self, person: str, name: str) -> None:
        self.of[person].add(name)
        self._who.setdefault(name, set()).add(person)

    def _nicknamed(self, line: Line) -> None:
        if " nickname " not in line.text:
            return
        text = line.text.strip()
        start = text.find("set ")
        if match := _NICKNAMED.fullmatch(text, start):
            called = self._who.get(match["who"], set())
            for person in tuple(called) if len(called) <= _NAMESAKES else ():
                self._call(person, match["name"])
        elif (match := _OWN_NICKNAME.fullmatch(text, start)) and line.sender in self.of:
            self._call(line.sender, match["name"])

    def own(self, sender: str, text: str) -> _Own | None:
        """Where the sender stands in a text by name, the longest of the names first."""
        for name in sorted(self.of.get(sender, ()), key=len, reverse=True):
            place = text.find(name, 0, _NEAR + len(name))
            if place < 0 or (place and text[place - 1].isalnum()):
                continue
            after = text[place + len(name) :]
            # "Ann's" and "Anna" are not "Ann"; a particle of another script may follow at once.
            if not after or after[0] in "'’" or (after[0].isalnum() and after[0] < "\u0e00"):
                continue
            return _Own(text[:place], after, " " in name and name == sender)
        return None

    def _learn(self, thread: MetaThread) -> None:
        """Learns who stands by an unknown name before sentences of the app alone.

        One such sentence may be a person's ("so Mum named the group this."), two are not, nor is
        one that tells of a vote or of a nickname for somebody here.
        """
        sentences: dict[tuple[str, str], set[str]] = defaultdict(set)
        for _, line in _candidates(thread):
            if not line.carries and (split := self._subject(line)):
                sentences[line.sender, split[0]].add(split[1])
        known = frozenset(self._who)
        for (sender, subject), rests in sentences.items():
            for rest in rests:
                nicknamed = _NICKNAMED.fullmatch(rest)
                sure = (nicknamed and nicknamed["who"] in known) or _VOTED.match(rest)
                if sure or len(rests) > 1:
                    self._call(sender, subject)

    def _subject(self, line: Line) -> tuple[str, str] | None:
        """What stands before the words of a notice, and these words."""
        text = line.text.strip()
        words = text.split(" ", 7)
        for count in range(1, min(6, len(words))):
            if words[count] not in FIRST_WORDS:
                continue
            subject, rest = " ".join(words[:count]), " ".join(words[count:])
            if not is_particular(f"{SUBJECT} {rest}"):
                continue
            if not rest.endswith(_ENDS) and ": " not in rest:
                return None
            if any(word.lower().strip(",") in _NO_NAMES for word in words[:count]):
                return None
            # A person may say of another what the app would say of them.
            if subject in self._who:
                return None
            return subject, rest
        return None

    def tells_of_another(self, text: str) -> bool:
        words = text.split(" ", 4)
        return any(
            (name := " ".join(words[:count])) in self.known
            and is_of_anybody(SUBJECT + text[len(name) :])
            for count in range(1, len(words))
        )


def _plain(text: str, people: People) -> str:
    """A sentence without what varies in it: other people, quotations, emoji, numbers."""
    for name in people.named(text):
        text = text.replace(name, "\ue001")
    text = _EMOJI.sub("\ue002", _QUOTED.sub("\ue003", text))
    return re.sub(r"\d+", "0", text).strip()


def _by_own_name(threads: Sequence[MetaThread], texts: Sequence[_Text], others: _Tails) -> int:
    """Judges sentences in which the senders themselves stand by name; how many stay uncertain."""
    frames: dict[tuple[str, str], list[_Text]] = defaultdict(list)
    stems: dict[tuple[str, str], list[_Text]] = defaultdict(list)
    people = [People(thread.people) for thread in threads]
    for text in texts:
        own = text.own
        after = "" if own is None else _plain(own.after, people[text.thread])
        if own is None or len(after) < 6:
            continue
        frames[own.before, after].append(text)
        words = after.split()
        if own.full and len(words) > 3 and (own.ended or ": " in after or "\ue003" in after):
            stems[own.before, " ".join(words[:3])].append(text)
    open_texts: list[_Text] = []
    for (_, after), alike in frames.items():
        words = after.split()
        ended = after.endswith(_ENDS)
        of_several = len(_senders(alike)) > 1 and (
            all(text.own is not None and text.own.full for text in alike)
            or (len(alike) > 2 and ended and len(words) > 2)
        )
        carried = sum(text.line.carries for text in alike)
        tails = others.of(words) if ended else []
        if any(text.sort for text in alike) or of_several or (carried > 1 and ended):
            _take(alike)
            _take(tails)
            others.nicknamed(words)
        elif len(_senders([*alike, *tails])) > 1 and len(words) > 2 and len(alike) + len(tails) > 2:
            _take([*alike, *tails])
        elif len(alike) > 1 and ended:
            open_texts += alike
    for alike in stems.values():
        if len(_senders(alike)) > 1 and len(alike) > 2:
            _take(alike)
    for alike in others.nicknames():
        _take(alike)
    return sum(not text.sort for text in open_texts)


def _senders(texts: Sequence[_Text]) -> set[str]:
    return {text.line.sender for text in texts}


def _take(texts: Sequence[_Text]) -> None:
    """Takes sentences that are alike for the app's, unless they are known for something else."""
    carried = sum(text.line.carries for text in texts)
    usual: Sort = "sent" if 2 * carried >= len(texts) else "notice"
    for text in texts:
        text.sort = text.sort or ("sent" if text.line.carries else usual)


class _Tails:
    """Sentences without their sender's name, by how they end: "Du hast einen Anhang gesendet."."""

    def __init__(
        self, threads: Sequence[MetaThread], texts: Sequence[_Text], names: Sequence[_Names]
    ) -> None:
        # By the last two words: what each sender wrote that ends so.
        self._ends: dict[tuple[str, ...], dict[tuple[int, str, str], list[_Text]]] = defaultdict(
            dict
        )
        self._compared = 0
        self._names = [names_here.known for names_here in names]
        self._heads: dict[tuple[int, str, str], list[tuple[str, _Text]]] = defaultdict(list)
        people = [People(thread.people) for thread in threads]
        for text in texts:
            written = text.line.text.strip()
            if text.own is None and written.endswith(_ENDS):
                plain = _plain(written, people[text.thread])
                same_end = self._ends[tuple(plain.split()[-2:])]
                same_end.setdefault((text.thread, text.line.sender, plain), []).append(text)

    def _alike(self, words: list[str]) -> Iterator[tuple[int, str, list[_Text]]]:
        """How many words at the end are the same, what is before them, and in which texts."""
        same_end = self._ends.get(tuple(words[-2:]), {})
        self._compared += len(same_end)
        if len(same_end) > _VARIANTS or self._compared > _MOST_COMPARED:
            return
        for (thread, _, plain), texts in same_end.items():
            other = plain.split()
            same = 0
            while same < min(len(words), len(other)) and words[-1 - same] == other[-1 - same]:
                same += 1
            before = " ".join(other[: len(other) - same])
            if before and before not in self._names[thread]:
                yield same, before, texts

    def of(self, words: list[str]) -> list[_Text]:
        """Where the app addresses the owner: all but the first words are alike, again and again."""
        hits: list[_Text] = []
        for same, before, texts in self._alike(words):
            if before.split()[0].lower() in _NO_NAMES - {"you"}:
                continue  # "He sent a photo." is a person's
            often = len(texts) > 1 or any(text.line.carries for text in texts)
            if often and same >= max(2, len(words) - 1) and len(before.split()) <= 2:
                hits += texts
        return hits

    def nicknamed(self, words: list[str]) -> None:
        """Remembers who may stand by a nickname before the words of a notice."""
        for same, before, texts in self._alike(words):
            if same == len(words) and len(before.split()) <= 4:
                sentences = self._heads[texts[0].thread, texts[0].line.sender, before]
                sentences += [(" ".join(words), text) for text in texts]

    def nicknames(self) -> Iterator[list[_Text]]:
        """Where a nickname stands: before the words of several notices, or of one often."""
        for sentences in self._heads.values():
            if len({words for words, _ in sentences}) > 1 or len(sentences) > 2:
                yield [text for _, text in sentences]


def _by_reaction(threads: Sequence[MetaThread], texts: Sequence[_Text]) -> None:
    """Notices of reactions: an emoji inside a sentence of several, or in the second of one."""
    frames: dict[str, list[tuple[_Text, str]]] = defaultdict(list)
    every = [line.near for thread in threads for line in thread.lines]
    seldom = sum(every) <= _SELDOM * len(every)
    for text in texts:
        emoji = _EMOJI.findall(text.line.text)
        if not text.line.carries and len(emoji) < 2:
            frame = _EMOJI.sub("\ue002", text.line.text).strip()
            frames[frame].append((text, emoji[0] if emoji else ""))
    for frame, alike in frames.items():
        lines = [text.line for text, _ in alike]
        at_once = sum(line.reacted for line in lines)
        several = len({line.sender for line in lines}) > 1
        inside = len(frame.partition("\ue002")[2].split()) > 1 and len(frame.split()) > 3
        trailing = sum(line.text.endswith(" ") for line in lines) > len(lines) / 2
        kinds = len({emoji for _, emoji in alike})
        follows = sum(line.near for line in lines) >= 0.9 * len(lines) and len(lines) >= _MANY
        if (
            (seldom and follows and len(frame.split()) > 1)
            or (at_once > 1 and at_once > 0.6 * len(lines) and len(frame) > 5)
            or (inside and several and (kinds > 2 or (trailing and len(lines) > 2)))
        ):
            for text, _ in alike:
                text.sort = text.sort or "notice"


def _beside_files(threads: Sequence[MetaThread], texts: Sequence[_Text]) -> None:
    """One sentence beside many files: the app's words for them."""
    lines = (line for thread in threads for line in thread.lines if line.carries)
    often = Counter((line.sender, line.text) for line in lines)
    for text in texts:
        line, written = text.line, text.line.text.strip()
        several_words = written.endswith(_ENDS) and len(written.split()) > 1
        if line.carries and several_words and often[line.sender, line.text] > 2:
            text.sort = text.sort or "sent"
