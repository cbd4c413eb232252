"""Which texts of Meta's conversations the app wrote by itself, by structure and by words.

    "Ann Berg pinned a message." by Ann Berg, "Bo Lund pinned a message." by Bo Lund
    → both "notice": one sentence of several people in which only the name differs
    "Captain set the nickname for Bo to Cook." by Ann Berg   → "notice"; Ann is also called Captain
    "ann ने अटॅचमेंट पाठवले." by ann, with a post that she shared   → "sent": the app's words for it
    "ann is late" by ann                                      → None: a message

Newer downloads have no field that marks a notice, and the language is that of whoever requested
the download. Two signs need no language: a sender who speaks of themselves by name in the same
words as others do, and a sentence that repeats as people's do not (`meta_repeats`). What remains
is looked up in `meta_wording.txt`. What stays uncertain is a message, and is counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import get_args

from realtalk.formats.exports.meta_repeats import (
    ENDS,
    Line,
    MetaThread,
    Own,
    Sort,
    beside_files,
    by_reaction,
    by_repetition,
    frame_of,
    senders,
)
from realtalk.text.wordlists import data_text

# What Messenger and Instagram write into a conversation by themselves, by language.
#
#     sort_of(f"{SUBJECT} named the group Garden club.")  → "notice"
#     sort_of("Du hast einen Anhang gesendet.")           → "sent", the app's words for a file
#     sort_of("see you at nine")                          → None
#
# The sentences are in `meta_wording.txt`, which says how they are written. Languages that are not
# there are read by their structure (`meta_notices`); a phrase that is missing costs nothing but
# certainty.

SUBJECT = "\ue000"  # stands for the name of whoever did it

_WORDS = {
    "{s}": SUBJECT,
    "{x}": r".{1,300}?",
    "{e}": r"[^\w\s]{1,16}(?: ?[^\w\s]{1,16})?",
}


def _templates() -> Iterator[tuple[Sort, str, str]]:
    """Every template: what it tells of, its mark ("", "!" or "*") and its words."""
    table = data_text("realtalk.formats.exports", "meta_wording.txt")
    for line in re.sub(r"\n ", " ", re.sub(r"\|\n ", "|", table)).splitlines():
        kind, colon, sentences = line.partition(": ")
        sort: Sort = "sent" if kind == "sent" else "unsent" if kind == "unsent" else "notice"
        for sentence in sentences.split(" | ") if colon else ():
            template = sentence.strip()
            mark = template[:1] if template[:1] in ("!", "*") else ""
            yield sort, mark, template.removeprefix(mark)


def _regex(template: str) -> str:
    body = template.rstrip(".")
    stop = r"[.。।]?" if body != template else ""
    body = re.sub(r"\.(?!\{)", r"\\.", body)
    body = re.sub(r"(?<!\[)\((?!\?)", "(?:", body)  # groups that capture nothing fail faster
    for name, pattern in _WORDS.items():
        body = body.replace(name, pattern)
    return f"(?:{body}{stop})"


def _first_words(template: str) -> set[str]:
    """The words that may follow whoever did it."""
    after = template.partition("{s}")[2]
    group = re.match(r"[,?]* \(([^()]*)", after) or re.match(r"[,?]* ([\w]+)", after)
    choices = group[1].split("|") if group else ()
    return {words[0] for choice in choices if (words := choice.split())}


_TEMPLATES = list(_templates())
_MARKED = {mark: [words for _, own, words in _TEMPLATES if own == mark] for mark in ("!", "*")}
_PARTICULAR, _OF_ANYBODY = (
    re.compile("|".join(map(_regex, templates))) for templates in _MARKED.values()
)
_BY_SORT = {
    sort: re.compile("|".join(_regex(words) for own, _, words in _TEMPLATES if own == sort))
    for sort in get_args(Sort)
}
FIRST_WORDS = frozenset(word for template in _MARKED["!"] for word in _first_words(template))


def sort_of(text: str) -> Sort | None:
    """What a text is in which SUBJECT stands for the sender; None where no template fits."""
    return next((sort for sort, pattern in _BY_SORT.items() if pattern.fullmatch(text)), None)


_LONGEST = 400  # characters of a notice
_NEAR = 16  # where the name stands at the latest: "Użytkownik Ann Berg"
_VARIANTS = 1000  # sentences that end in the same two words; more are no notices
_MOST_COMPARED = 300_000  # sentences with each other; in the largest real archive 20,000
_NAMESAKES = 9  # of more nobody can tell who got the nickname
_SIGNED = 8  # times that a sentence without a full stop must be there, with the sender's name
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


def judge(threads: Sequence[MetaThread]) -> tuple[int, int]:
    """Says of every line what it is (`sort`).

    How many messages may be notices is returned, and how many notices only their repetition gives
    away.
    """
    for thread in threads:
        thread.note_reactions()
    every = [line for thread in threads for line in thread.lines]
    likely = [line for line in every if _may_be_notice(line)]
    names = {thread: _Names(thread) for thread in threads}
    for line in likely:
        _by_words(line, names[line.thread])
    uncertain = _by_own_name(likely, _Tails(likely, names))
    by_reaction(every, likely)
    beside_files(every, likely)
    return uncertain, by_repetition(every, likely)


def _may_be_notice(line: Line) -> bool:
    return 0 < len(line.text) <= _LONGEST and "\n" not in line.text.strip()


def _by_words(line: Line, names: _Names) -> None:
    """Sorts by the wordings known, and says where the sender stands by name."""
    text = words = line.text.strip()
    line.own = names.own(line.sender, text)
    if line.own is not None:
        words = f"{line.own.before}{SUBJECT}{line.own.after}"
    elif text.startswith("You "):
        words = SUBJECT + text.removeprefix("You")
    sort = sort_of(words) or ("notice" if names.tells_of_another(text) else None)
    # What came with a file is the sender's, unless the words are those for a file.
    line.sort = None if line.carries and sort == "notice" else sort


class _Names:
    """Who is called what in one conversation; nicknames are learned from it."""

    def __init__(self, thread: MetaThread) -> None:
        self._of: dict[str, set[str]] = {}
        self.people: dict[str, set[str]] = {}  # the same the other way round
        for name in (*thread.people, *(line.sender for line in thread.lines)):
            if name not in self._of:
                self._of[name] = set()
                for form in {name, *name.split()[:1]} - {""}:
                    self._call(name, form)
        likely = [line for line in thread.lines if _may_be_notice(line)]
        for line in likely:
            self._note_nickname(line)
        self._learn(line for line in likely if not line.carries)

    def _call(self, person: str, name: str) -> None:
        self._of[person].add(name)
        self.people.setdefault(name, set()).add(person)

    def _note_nickname(self, line: Line) -> None:
        if " nickname " not in line.text:
            return
        text = line.text.strip()
        start = text.find("set ")
        if match := _NICKNAMED.fullmatch(text, start):
            persons = self.people.get(match["who"], set())
            for person in tuple(persons) if len(persons) <= _NAMESAKES else ():
                self._call(person, match["name"])
        elif match := _OWN_NICKNAME.fullmatch(text, start):
            self._call(line.sender, match["name"])

    def own(self, sender: str, text: str) -> Own | None:
        """Where the sender stands in a text by name, the longest of the names first."""
        for name in sorted(self._of[sender], key=len, reverse=True):
            place = text.find(name, 0, _NEAR + len(name))
            if place < 0 or (place and text[place - 1].isalnum()):
                continue
            after = text[place + len(name) :]
            # "Ann's" and "Anna" are not "Ann"; a particle of another script may follow at once.
            if after and after[0] not in "'’" and not (after[0].isalnum() and after[0] < "\u0e00"):
                return Own(text[:place], after, " " in name and name == sender)
        return None

    def _learn(self, lines: Iterable[Line]) -> None:
        """Learns who stands by an unknown name before sentences of the app alone.

        One such sentence may be a person's ("so Mum named the group this."), two are not, nor is
        one that tells of a vote or of a nickname for somebody here.
        """
        sentences: dict[tuple[str, str], set[str]] = defaultdict(set)
        for line in lines:
            if split := self._subject(line.text.strip()):
                sentences[line.sender, split[0]].add(split[1])
        people = frozenset(self.people)
        for (sender, subject), rests in sentences.items():
            nicknamed = (match["who"] for rest in rests if (match := _NICKNAMED.fullmatch(rest)))
            sure = not people.isdisjoint(nicknamed) or any(map(_VOTED.match, rests))
            if sure or len(rests) > 1:
                self._call(sender, subject)

    def _subject(self, text: str) -> tuple[str, str] | None:
        """What stands before the words of a notice, and these words."""
        words = text.split(" ", 7)
        for count in range(1, min(6, len(words))):
            subject, rest = " ".join(words[:count]), " ".join(words[count:])
            # No person writes such words, whoever the subject is.
            if words[count] in FIRST_WORDS and _PARTICULAR.fullmatch(f"{SUBJECT} {rest}"):
                ended = rest.endswith(ENDS) or ": " in rest
                is_name = _NO_NAMES.isdisjoint(word.lower().strip(",") for word in words[:count])
                # A person may say of another what the app would say of them.
                return (subject, rest) if ended and is_name and subject not in self.people else None
        return None

    def tells_of_another(self, text: str) -> bool:
        """Whether the app writes this of people who are not the sender."""
        words = text.split(" ", 4)
        return any(
            (name := " ".join(words[:count])) in self.people
            and _OF_ANYBODY.fullmatch(SUBJECT + text[len(name) :])
            for count in range(1, len(words))
        )


def _by_own_name(likely: Iterable[Line], others: _Tails) -> int:
    """Judges sentences in which the senders themselves stand by name; how many stay uncertain."""
    frames: dict[tuple[str, str], list[Line]] = defaultdict(list)
    stems: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in likely:
        own = line.own
        after = "" if own is None else frame_of(own.after, line.thread.people)
        if own is None or len(after) < 6:
            continue
        frames[own.before, after].append(line)
        words = after.split()
        ended = own.after.endswith(ENDS) or ": " in after or "\ue003" in after
        if own.full and len(words) > 3 and ended:
            stems[own.before, " ".join(words[:3])].append(line)
    uncertain: list[Line] = []
    for (_, after), alike in frames.items():
        words = after.split()
        ended = after.endswith(ENDS)
        of_several = len(senders(alike)) > 1 and (
            all(line.own is not None and line.own.full for line in alike)
            or (len(alike) > 2 and ended and len(words) > 2)
            or (len(words) > 2 and _are_signed(alike))
        )
        carried = sum(line.carries for line in alike)
        tails = others.of(words) if ended else []
        if any(line.sort for line in alike) or of_several or (carried > 1 and ended):
            _take(alike)
            _take(tails)
            others.add_nickname(words)
        elif len(alike) > 1 and len(words) > 2 and not ended and not _are_labels(alike):
            uncertain += alike  # "Ann is coming along", "Bo is coming along"
        elif len(senders([*alike, *tails])) > 1 and len(words) > 2 and len(alike) + len(tails) > 2:
            _take([*alike, *tails])
        elif len(alike) > 1 and ended:
            uncertain += alike
    for alike in stems.values():
        if len(senders(alike)) > 1 and len(alike) > 2:
            _take(alike)
    for alike in others.nicknames():
        _take(alike)
    return sum(not line.sort for line in uncertain)


def _are_signed(lines: Sequence[Line]) -> bool:
    """Whether people say of themselves by name what each of them says again and again."""
    times = Counter(line.sender for line in lines)
    return len(lines) >= _SIGNED and sum(count > 2 for count in times.values()) > 1


def _are_labels(lines: Iterable[Line]) -> bool:
    """Whether all stand there by the name of an account, with which nobody signs: "ann.b7"."""
    return all(
        (line.own is not None and line.own.full)
        or not (" " in line.sender or line.sender.isalpha())
        for line in lines
    )


def _take(lines: Sequence[Line]) -> None:
    """Takes sentences that are alike for the app's, unless they are known for something else."""
    carried = sum(line.carries for line in lines)
    usual: Sort = "sent" if 2 * carried >= len(lines) else "notice"
    for line in lines:
        line.sort = line.sort or ("sent" if line.carries else usual)


class _Tails:
    """Sentences without their sender's name, by how they end: "Du hast einen Anhang gesendet."."""

    def __init__(self, likely: Iterable[Line], names: Mapping[MetaThread, _Names]) -> None:
        # By the last two words: what each sender wrote that ends so.
        self._ends: dict[tuple[str, ...], dict[tuple[MetaThread, str, str], list[Line]]]
        self._ends = defaultdict(lambda: defaultdict(list))
        self._compared = 0
        self._names = names
        self._heads: dict[tuple[MetaThread, str, str], list[tuple[str, Line]]] = defaultdict(list)
        for line in likely:
            text = line.text.strip()
            if line.own is None and text.endswith(ENDS):
                plain = frame_of(text, line.thread.people)
                same_end = self._ends[tuple(plain.split()[-2:])]
                same_end[line.thread, line.sender, plain].append(line)

    def _alike(self, words: list[str]) -> Iterator[tuple[int, str, list[Line]]]:
        """How many words at the end are the same, what is before them, and in which lines."""
        same_end = self._ends.get(tuple(words[-2:]), {})
        self._compared += len(same_end)
        if len(same_end) > _VARIANTS or self._compared > _MOST_COMPARED:
            return
        for (thread, _, plain), lines in same_end.items():
            plain_words = plain.split()
            pairs = zip(reversed(words), reversed(plain_words), strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            before = " ".join(plain_words[: len(plain_words) - same])
            if before and before not in self._names[thread].people:
                yield same, before, lines

    def of(self, words: list[str]) -> list[Line]:
        """Where the app addresses the owner: all but the first words are alike, again and again."""
        hits: list[Line] = []
        for same, before, lines in self._alike(words):
            if before.split()[0].lower() in _NO_NAMES - {"you"}:
                continue  # "He sent a photo." is a person's
            often = len(lines) > 1 or lines[0].carries
            if often and same >= max(2, len(words) - 1) and len(before.split()) <= 2:
                hits += lines
        return hits

    def add_nickname(self, words: list[str]) -> None:
        """Remembers who may stand by a nickname before the words of a notice."""
        for same, before, lines in self._alike(words):
            if same == len(words) and len(before.split()) <= 4:
                sentences = self._heads[lines[0].thread, lines[0].sender, before]
                sentences += [(" ".join(words), line) for line in lines]

    def nicknames(self) -> Iterator[list[Line]]:
        """Where a nickname stands: before the words of several notices, or of one often."""
        for sentences in self._heads.values():
            if len({words for words, _ in sentences}) > 1 or len(sentences) > 2:
                yield [line for _, line in sentences]
