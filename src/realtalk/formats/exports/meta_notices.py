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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from realtalk.formats.exports.meta_repeats import (
    ENDS,
    Line,
    MetaThread,
    Own,
    People,
    Sort,
    Text,
    beside_files,
    by_reaction,
    by_repetition,
    frame_of,
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
    "{x}": r".{1,300}?",
    "{e}": r"[^\w\s]{1,16}(?: ?[^\w\s]{1,16})?",
}


def _templates() -> list[tuple[Sort, str, str]]:
    """Every template: what it tells of, its mark ("", "!" or "*") and its words."""
    templates: list[tuple[Sort, str, str]] = []
    table = data_text("realtalk.formats.exports", "meta_wording.txt")
    for line in re.sub(r"\n ", " ", re.sub(r"\|\n ", "|", table)).splitlines():
        kind, colon, sentences = line.partition(": ")
        sort: Sort = "sent" if kind == "sent" else "unsent" if kind == "unsent" else "notice"
        for written in sentences.split(" | ") if colon else ():
            template = written.strip()
            mark = template[:1] if template[:1] in ("!", "*") else ""
            templates.append((sort, mark, template.removeprefix(mark)))
    return templates


def _regex(template: str) -> str:
    body = template.rstrip(".")
    stop = r"[.。।]?" if body != template else ""
    body = re.sub(r"\.(?!\{)", r"\\.", body)
    body = re.sub(r"(?<!\[)\((?!\?)", "(?:", body)  # groups that capture nothing fail faster
    for name, pattern in _WORDS.items():
        body = body.replace(name, pattern)
    return body.replace("{s}", SUBJECT) + stop


def _any_of(templates: list[str]) -> str:
    return "|".join(f"(?:{_regex(template)})" for template in templates)


def _first_words(template: str) -> set[str]:
    """The words that may follow whoever did it."""
    after = template.partition("{s}")[2]
    group = re.match(r"[,?]* \(([^()]*)", after) or re.match(r"[,?]* ([\w]+)", after)
    return (
        {words[0] for choice in group[1].split("|") if (words := choice.split())}
        if group
        else set()
    )


_TEMPLATES = _templates()
_MARKED = {mark: [words for _, own, words in _TEMPLATES if own == mark] for mark in ("!", "*")}
_BY_SORT = re.compile(
    "|".join(
        f"(?P<{sort}>{_any_of([words for own, _, words in _TEMPLATES if own == sort])})"
        for sort in get_args(Sort)
    )
)
_PARTICULAR, _OF_ANYBODY = (re.compile(_any_of(_MARKED[mark])) for mark in ("!", "*"))
FIRST_WORDS = frozenset(word for template in _MARKED["!"] for word in _first_words(template))


def sort_of(text: str) -> Sort | None:
    """What a text is in which SUBJECT stands for the sender; None where no template fits."""
    match = _BY_SORT.fullmatch(text)
    if match is None:
        return None
    return next((sort for sort in get_args(Sort) if match[sort] is not None), None)


def is_particular(text: str) -> bool:
    """Whether no person writes this, whatever the SUBJECT is."""
    return _PARTICULAR.fullmatch(text) is not None


def is_of_anybody(text: str) -> bool:
    """Whether the app writes this of people who are not the sender."""
    return _OF_ANYBODY.fullmatch(text) is not None


_LONGEST = 400  # characters of a notice
_NEAR = 16  # where the name stands at the latest: "Użytkownik Ann Berg"
_VARIANTS = 1000  # sentences that end in the same two words; more are no notices
_MOST_COMPARED = 300_000  # sentences with each other; in the largest real archive 20,000
_NAMESAKES = 9  # of more nobody can tell who got the nickname
_MOST_PEOPLE = 500  # whose names are looked for in every sentence; a group has 250
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


class MetaSorts(NamedTuple):
    """For every line what it is (None: a message), and how sure that is."""

    sorts: list[list[Sort | None]]
    uncertain: int  # messages that may be notices
    repeated: int  # notices that only their repetition gives away


def judge(threads: Sequence[MetaThread]) -> MetaSorts:
    """What every line of these conversations is."""
    threads = [replace(thread, people=thread.people[:_MOST_PEOPLE]) for thread in threads]
    names = [_Names(thread) for thread in threads]
    by_place = {
        (number, place): Text(number, line)
        for number, thread in enumerate(threads)
        for place, line in _candidates(thread)
    }
    texts = list(by_place.values())
    for text in texts:
        _by_words(text, names[text.thread])
    uncertain = _by_own_name(threads, texts, _Tails(threads, texts, names))
    by_reaction(threads, texts)
    beside_files(threads, texts)
    repeated = by_repetition(threads, texts)
    sorts: list[list[Sort | None]] = [[None] * len(thread.lines) for thread in threads]
    for (number, place), text in by_place.items():
        sorts[number][place] = text.sort
    return MetaSorts(sorts, uncertain, repeated)


def _candidates(thread: MetaThread) -> Iterator[tuple[int, Line]]:
    for place, line in enumerate(thread.lines):
        if line.text and len(line.text) <= _LONGEST and "\n" not in line.text.strip():
            yield place, line


def _by_words(text: Text, names: _Names) -> None:
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

    def own(self, sender: str, text: str) -> Own | None:
        """Where the sender stands in a text by name, the longest of the names first."""
        for name in sorted(self.of.get(sender, ()), key=len, reverse=True):
            place = text.find(name, 0, _NEAR + len(name))
            if place < 0 or (place and text[place - 1].isalnum()):
                continue
            after = text[place + len(name) :]
            # "Ann's" and "Anna" are not "Ann"; a particle of another script may follow at once.
            if not after or after[0] in "'’" or (after[0].isalnum() and after[0] < "\u0e00"):
                continue
            return Own(text[:place], after, " " in name and name == sender)
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
            if not rest.endswith(ENDS) and ": " not in rest:
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


def _by_own_name(threads: Sequence[MetaThread], texts: Sequence[Text], others: _Tails) -> int:
    """Judges sentences in which the senders themselves stand by name; how many stay uncertain."""
    frames: dict[tuple[str, str], list[Text]] = defaultdict(list)
    stems: dict[tuple[str, str], list[Text]] = defaultdict(list)
    people = [People(thread.people) for thread in threads]
    for text in texts:
        own = text.own
        after = "" if own is None else frame_of(own.after, people[text.thread])
        if own is None or len(after) < 6:
            continue
        frames[own.before, after].append(text)
        words = after.split()
        if own.full and len(words) > 3 and (own.ended or ": " in after or "\ue003" in after):
            stems[own.before, " ".join(words[:3])].append(text)
    open_texts: list[Text] = []
    for (_, after), alike in frames.items():
        words = after.split()
        ended = after.endswith(ENDS)
        of_several = len(_senders(alike)) > 1 and (
            all(text.own is not None and text.own.full for text in alike)
            or (len(alike) > 2 and ended and len(words) > 2)
            or (len(words) > 2 and _are_signed(alike))
        )
        carried = sum(text.line.carries for text in alike)
        tails = others.of(words) if ended else []
        if any(text.sort for text in alike) or of_several or (carried > 1 and ended):
            _take(alike)
            _take(tails)
            others.nicknamed(words)
        elif len(alike) > 1 and len(words) > 2 and not ended and not _are_labels(alike):
            open_texts += alike  # "Ann is coming along", "Bo is coming along"
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


def _are_signed(texts: Sequence[Text]) -> bool:
    """Whether people say of themselves by name what each of them says again and again."""
    times = Counter(text.line.sender for text in texts)
    return len(texts) >= _SIGNED and sum(count > 2 for count in times.values()) > 1


def _are_labels(texts: Sequence[Text]) -> bool:
    """Whether all stand there by the name of an account, with which nobody signs: "ann.b7"."""
    return all(
        text.own is not None
        and (text.own.full or not (" " in text.line.sender or text.line.sender.isalpha()))
        for text in texts
    )


def _senders(texts: Sequence[Text]) -> set[str]:
    return {text.line.sender for text in texts}


def _take(texts: Sequence[Text]) -> None:
    """Takes sentences that are alike for the app's, unless they are known for something else."""
    carried = sum(text.line.carries for text in texts)
    usual: Sort = "sent" if 2 * carried >= len(texts) else "notice"
    for text in texts:
        text.sort = text.sort or ("sent" if text.line.carries else usual)


class _Tails:
    """Sentences without their sender's name, by how they end: "Du hast einen Anhang gesendet."."""

    def __init__(
        self, threads: Sequence[MetaThread], texts: Sequence[Text], names: Sequence[_Names]
    ) -> None:
        # By the last two words: what each sender wrote that ends so.
        self._ends: dict[tuple[str, ...], dict[tuple[int, str, str], list[Text]]] = defaultdict(
            dict
        )
        self._compared = 0
        self._names = [names_here.known for names_here in names]
        self._heads: dict[tuple[int, str, str], list[tuple[str, Text]]] = defaultdict(list)
        people = [People(thread.people) for thread in threads]
        for text in texts:
            written = text.line.text.strip()
            if text.own is None and written.endswith(ENDS):
                plain = frame_of(written, people[text.thread])
                same_end = self._ends[tuple(plain.split()[-2:])]
                same_end.setdefault((text.thread, text.line.sender, plain), []).append(text)

    def _alike(self, words: list[str]) -> Iterator[tuple[int, str, list[Text]]]:
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

    def of(self, words: list[str]) -> list[Text]:
        """Where the app addresses the owner: all but the first words are alike, again and again."""
        hits: list[Text] = []
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

    def nicknames(self) -> Iterator[list[Text]]:
        """Where a nickname stands: before the words of several notices, or of one often."""
        for sentences in self._heads.values():
            if len({words for words, _ in sentences}) > 1 or len(sentences) > 2:
                yield [text for _, text in sentences]
