"""Whether a chat was written as its participants were asked to: Appendix B.1 of REALTALK, checked.

    report = check_guidelines(corpus)
    report.findings  → (CheckFinding("messages-a-day", "warning", "Chat_1", "2026-03-02 Mara"), …)
    report.days      → (Day("Chat_1", date(2026, 3, 2), {"Mara": 12, "Theo": 55}, 1, 4), …)
    report.counts()  → {"messages-a-day": 31, "image-source": 2}

Checked is what can be read off a chat: how many messages a person sent on a day (§3.1 asks for
fifty), silent days, images and where they come from, references to time, and greetings against
the clock. The rest of the appendix (that the two are strangers, tone, what an image adds) is
named in UNTOLD: no rule here pretends to know it. Details hold ids and counts, never text.

    python -m research.papers.guidelines data/realtalk --all
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from realtalk.chat import Chat, Corpus, Message
from realtalk.cli.printing import print_json, say, show
from realtalk.formats.check import CheckFinding, CheckReport, RuleHit, Severity
from realtalk.formats.opening import open_reading
from research.command import call

MESSAGES_A_DAY = 50

GUIDELINES: dict[str, tuple[Severity, str]] = {
    "messages-a-day": ("warning", f"a speaker sent fewer than {MESSAGES_A_DAY} messages on a day"),
    "day-silent": ("warning", "nobody wrote on a day between the first and the last"),
    "images": ("warning", "a speaker shared no image in the whole chat"),
    "image-source": ("warning", "an image has no web address: it may be from a camera"),
    "time-references": ("warning", "a speaker never refers to time ('last Friday', 'next month')"),
    "greeting-clock": ("note", "a greeting does not fit the clock (the chat's own)"),
    "day-unknown": ("note", "messages without a date: they are in no day's count"),
}

UNTOLD: dict[str, str] = {
    "first-time interaction": "whether two people knew each other is not in a chat",
    "chit-chat, daily events, personal information": "what counts as such is for a reader to say",
    "places": "names of places are not told from other names here",
    "dialog style": "whether a tone is casual is for a reader to say",
    "images containing faces, image context": "the images themselves are not looked at",
    "image licence": "an address does not say under which terms an image may be used",
    "pronoun use": "what a pronoun stands for is not resolved here",
}

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTHS = (
    r"(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?:in|last|next|this|since|until|by|of) (?:march|may))"
)
_UNITS = r"(?:second|minute|min|hour|hr|day|night|week|weekend|month|semester|year|decade)s?"
_COUNTS = (
    r"(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|couple(?: of)?|several)"
)
_TIME = re.compile(
    rf"\b(?:today|tonight|tonite|yesterday|tomorrow|tmrw?|tmr|nowadays|recently|lately"
    rf"|{_DAYS}|{_MONTHS}"
    rf"|(?:last|next|this|past|coming|every|each|the other|previous) "
    rf"(?:morning|afternoon|evening|summer|winter|spring|fall|autumn|time|{_UNITS})"
    rf"|{_COUNTS} {_UNITS} (?:ago|later|before|from now|old|back)"
    rf"|in (?:the )?(?:{_COUNTS} {_UNITS}|morning|afternoon|evening|summer|winter|spring|fall"
    rf"|autumn|(?:19|20)\d\d)"
    rf"|for {_COUNTS} {_UNITS}|since (?:i was|(?:19|20)\d\d)|when (?:i|we) (?:was|were)"
    rf"|at \d{{1,2}}(?::\d\d)?|\d{{1,2}}(?::\d\d)? ?(?:am|pm|o['’]?clock)|at (?:noon|midnight)"
    rf"|(?:19|20)\d\ds?|weekend|good (?:morning|afternoon|evening|night)"
    rf"|for (?:breakfast|lunch|dinner))\b",
    re.IGNORECASE,
)
# Generous borders: people greet late, and an export's clock may be a zone away.
_GREETINGS = (
    (re.compile(r"\bgood morning\b", re.IGNORECASE), range(3, 13)),
    (re.compile(r"\bgood afternoon\b", re.IGNORECASE), range(11, 19)),
    (re.compile(r"\bgood evening\b", re.IGNORECASE), range(15, 24)),
)


@dataclass(frozen=True, slots=True)
class Day:
    """What was written in a chat on one day; a speaker who wrote nothing counts 0."""

    chat: str
    day: date
    messages: Mapping[str, int]
    images: int
    time_references: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"day": self.day.isoformat()}


@dataclass(frozen=True, slots=True)
class GuidelineReport(CheckReport):
    """Every finding, and the counts of every day."""

    days: tuple[Day, ...]

    def counts(self) -> dict[str, int]:
        """Findings by rule, in the order of GUIDELINES, zeros too: a rule that was kept is one."""
        by_rule = Counter(finding.rule for finding in self.findings)
        return {rule: by_rule[rule] for rule in GUIDELINES}

    def to_json(self) -> dict[str, Any]:
        days = [day.to_json() for day in self.days]
        return CheckReport.to_json(self) | {"days": days, "untold": UNTOLD}


def refers_to_time(text: str) -> bool:
    """Whether a text says when: a day, a part of it, a span, an age, a clock time."""
    return _TIME.search(text) is not None


def check_guidelines(corpus: Corpus, least: int = MESSAGES_A_DAY) -> GuidelineReport:
    """Holds every chat against the guidelines; a speaker is to send `least` messages a day."""
    findings: list[CheckFinding] = []
    days: list[Day] = []
    for chat in corpus.chats:
        own = _days(chat)
        days += own
        for entries in (_daily(chat, own, least), _images(chat), _time(chat)):
            findings += [
                CheckFinding(rule, GUIDELINES[rule][0], chat.id, where, detail)
                for rule, where, detail in entries
            ]
    return GuidelineReport(tuple(findings), tuple(days))


def _dated(chat: Chat) -> Iterator[tuple[date | None, Message]]:
    for session in chat.sessions:
        for message in session.messages:
            time = message.time or session.time
            yield None if time is None else time.date(), message


def _days(chat: Chat) -> list[Day]:
    sent: dict[date, Counter[str]] = {}
    images: Counter[date] = Counter()
    references: Counter[date] = Counter()
    for day, message in _dated(chat):
        if day is None:
            continue
        sent.setdefault(day, Counter())[message.speaker] += 1
        images[day] += sum(file.kind == "image" for file in message.attachments)
        references[day] += refers_to_time(message.text)
    return [
        Day(
            chat.id,
            day,
            {name: sent[day][name] for name in chat.speakers},
            images[day],
            references[day],
        )
        for day in sorted(sent)
    ]


def _daily(chat: Chat, days: list[Day], least: int) -> Iterator[RuleHit]:
    for before, after in pairwise(day.day for day in days):
        for silent in range(1, (after - before).days):
            yield "day-silent", (before + timedelta(days=silent)).isoformat(), ""
    for day in days:
        for name, count in day.messages.items():
            if count < least:
                yield "messages-a-day", f"{day.day.isoformat()} {name}", str(count)
    if lost := sum(day is None for day, _ in _dated(chat)):
        yield "day-unknown", "messages", f"{lost:,}"


def _images(chat: Chat) -> Iterator[RuleHit]:
    shared: Counter[str] = Counter()
    for message in chat.messages:
        for image in (file for file in message.attachments if file.kind == "image"):
            shared[message.speaker] += 1
            if not image.url:
                yield "image-source", message.id, image.name
    for name in chat.speakers:
        if not shared[name]:
            yield "images", name, ""


def _time(chat: Chat) -> Iterator[RuleHit]:
    references: Counter[str] = Counter()
    for message in chat.messages:
        references[message.speaker] += refers_to_time(message.text)
        if message.time is None:
            continue
        for greeting, hours in _GREETINGS:
            if message.time.hour not in hours and greeting.search(message.text):
                yield "greeting-clock", message.id, message.time.strftime("%H:%M")
    for name in chat.speakers:
        if not references[name]:
            yield "time-references", name, ""


def main(words: Sequence[str] | None = None) -> None:
    """Prints how a corpus keeps the guidelines; exit 1 where one is broken."""
    parser = argparse.ArgumentParser(prog="python -m research.papers.guidelines")
    parser.add_argument("path", help="an export, a corpus, a stored folder, or 'sample'")
    parser.add_argument("--all", action="store_true", help="every finding and every day")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(words)
    report = check_guidelines(open_reading(chosen.path).reading.corpus)
    if chosen.json:
        print_json(report.to_json())
    else:
        _print(report, everything=chosen.all)
    if report.severity() in ("error", "warning"):
        sys.exit(1)


def _print(report: GuidelineReport, *, everything: bool) -> None:
    first = {finding.rule: finding for finding in reversed(report.findings)}
    rows = [
        (rule, GUIDELINES[rule][0], count, GUIDELINES[rule][1], _example(first[rule]))
        if count
        else (rule, "kept", 0, GUIDELINES[rule][1], None)
        for rule, count in report.counts().items()
    ]
    show("the guidelines", ("rule", "level", "count", "meaning", "first"), rows)
    if everything:
        all_findings = [(f.severity, f.rule, f.chat, f.where, f.detail) for f in report.findings]
        show("findings", ("level", "rule", "chat", "where", "detail"), all_findings)
    days = [
        (
            day.chat,
            day.day.isoformat(),
            ", ".join(f"{name} {count}" for name, count in day.messages.items()),
            day.images,
            day.time_references,
        )
        for day in report.days
    ]
    headings = ("chat", "day", "messages", "images", "references to time")
    show("day by day", headings, days, None if everything else 20, "; --all shows them")
    for rule, reason in UNTOLD.items():
        say(f"not checked: {rule} ({reason})")


def _example(finding: CheckFinding) -> str:
    place = " ".join(part for part in (finding.chat, finding.where) if part)
    return f"{place}: {finding.detail}" if finding.detail else place


if __name__ == "__main__":
    call(main)
