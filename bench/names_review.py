"""How often the rows of the review table are right, by kind and language, sure and unsure.

    python bench/names_review.py                   bench/names, and the chats held out of training
    python bench/names_review.py --wrong           also the rows that are wrong, and where

A row is right where most of the places of its forms are marked, as a thing that identifies
somebody; `of its kind` counts those that are marked as the kind that the row says (a place in an
address is a place). Rows of speakers' forms are right where most places are marked as a person.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import regex

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from names import NOON, OURS, LabelledChat, held_chats, own_chats  # noqa: E402

_TOUCHING = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_ALSO = {"place": {"ADDRESS"}, "number": {"BANK", "PHONE"}}  # what a kind may be marked as, too


class Judged(NamedTuple):
    """A row, and whether it was right."""

    source: str  # "bench" or "held"
    lang: str
    kind: str
    state: str  # "sure", "unsure" or "kept"
    is_right: bool
    is_of_kind: bool
    shown: str


@dataclass(frozen=True)
class Shares:
    rows: list[Judged]

    def __str__(self) -> str:
        if not self.rows:
            return "      –               "
        right, kind = (
            sum(map(bool, flags)) / len(self.rows)
            for flags in (
                [row.is_right for row in self.rows],
                [row.is_of_kind for row in self.rows],
            )
        )
        return f"{right:6.2f} {kind:6.2f} {len(self.rows):7,}"


def judged(source: str, chat: LabelledChat) -> Iterator[Judged]:
    from realtalk.chat import Chat, Corpus, Message, Session
    from realtalk.redaction.candidates import SPEAKERS
    from realtalk.redaction.redact import find_candidates
    from realtalk.redaction.review import BETWEEN, DOUBTFUL, review_rows
    from realtalk.redaction.sources import name_sources

    said = tuple(
        Message(f"D1:{at}", row.speaker, NOON, row.text) for at, row in enumerate(chat.rows, 1)
    )
    speakers = tuple(dict.fromkeys(message.speaker for message in said))
    corpus = Corpus("c", "x", (Chat("c", speakers, (Session(1, NOON, said),)),))
    for row in review_rows(find_candidates(corpus, sources=name_sources())):
        marks = [each for form in row["forms"].split(BETWEEN) for each in met(chat, form)]
        if not marks:
            continue
        kinds = {OURS[row["kind"]], *_ALSO.get(row["kind"], ())}
        state = "kept" if row[DOUBTFUL] else "sure" if row["sure"] == "yes" else "unsure"
        yield Judged(
            source,
            chat.lang,
            "speaker" if row["source"] == SPEAKERS else row["kind"],
            state,
            2 * sum(map(bool, marks)) >= len(marks),
            2 * sum(bool(each & kinds) for each in marks) >= len(marks),
            f"{chat.name}: {row['form']} ({row['kind']}): {row['context']}",
        )


def met(chat: LabelledChat, form: str) -> Iterator[set[str]]:
    """What the places of a form are marked as."""
    bound = "" if _TOUCHING.search(form) else r"(?<![\p{L}\p{M}\p{N}])"
    after = "" if not bound else r"(?![\p{L}\p{M}\p{N}])"
    pattern = regex.compile(bound + regex.escape(form) + after)
    for row in chat.rows:
        for match in pattern.finditer(row.text):
            yield {
                kind
                for start, end, kind in row.spans
                if start < match.end() and match.start() < end
            }


def tell(title: str, rows: list[Judged], by: str) -> None:
    states = ("sure", "unsure", "kept")
    print(f"\n{title}: right, of its kind, rows")
    print(f"{'':14}" + "".join(f"{state:>22}" for state in states))
    names = sorted({getattr(row, by) for row in rows})
    for name in [*names, "all"]:
        here = [row for row in rows if name in ("all", getattr(row, by))]
        cells = (Shares([row for row in here if row.state == state]) for state in states)
        print(f"{name:14}" + "".join(map(str, cells)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list the sure rows that are wrong")
    options = parser.parse_args()
    sets = {"bench": own_chats(HERE / "names"), "held": held_chats()}
    rows = [row for name, chats in sets.items() for chat in chats for row in judged(name, chat)]
    for name, title in (
        ("bench", "bench/names"),
        ("held", "chats held out of training"),
    ):
        tell(title, [row for row in rows if row.source == name], "kind")
    tell("both", rows, "lang")
    if options.wrong:
        print(*(row.shown for row in rows if row.state == "sure" and not row.is_right), sep="\n")


if __name__ == "__main__":
    main()
