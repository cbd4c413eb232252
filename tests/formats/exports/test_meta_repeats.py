"""Messenger and Instagram: sentences of the app in languages that no list holds, and people who
repeat themselves."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import exported
from exported import messages, texts
from realtalk.formats.reading import ReadCorpus

START = datetime(2024, 1, 1, 8, 0)
OWNER = "mila_k"
FRIENDS = ("ann.b", "Bo Lund", "cleo7", "🌸 Dana 🌸")
FACES = ("❤️", "😂", "👍🏽", "❤️", "😮", "❤️")
WORDS = "ako sa más dnes ja nie viem idem domov potom kino káva vlak zajtra prší pes".split()  # noqa: SIM905


class Told(NamedTuple):
    """One entry of a conversation: who, what, when, and reactions to it (who, emoji)."""

    who: str
    text: str
    when: datetime
    marks: tuple[tuple[str, str], ...] = ()


Thread = list[Told]


def small_talk(other: str, days: int, seed: int, a_day: int = 8) -> Thread:
    """Some days of a conversation of two, with nothing in it that repeats."""
    choice = random.Random(seed)
    told = []
    for day in range(days):
        for number in range(a_day):
            when = START + timedelta(days=day, minutes=40 * number)
            text = f"{' '.join(choice.sample(WORDS, 5))} {day}{number}"
            told.append(Told((OWNER, other)[choice.randrange(2)], text, when))
    return told


def with_reactions(thread: Thread, sentence: str, seed: int, *, shown: bool = False) -> Thread:
    """After every third message the app tells, under the other's name, that they reacted."""
    choice = random.Random(seed)
    people = sorted({one.who for one in thread})
    told = []
    for one in thread:
        face = choice.choice(FACES)
        reacts = choice.randrange(3) == 0
        who = next(name for name in people if name != one.who)
        told.append(one._replace(marks=((who, face),)) if reacts and shown else one)
        if reacts:
            account = "@" + who.encode("utf-8").hex()[-6:]
            text = sentence.format(e=face, s=who, x=account, q=one.text)
            told.append(Told(who, text, one.when + timedelta(minutes=1)))
    return told


def as_json(number: int, thread: Thread) -> tuple[str, Any]:
    def broken(text: str) -> str:
        return text.encode("utf-8").decode("latin-1")

    items = [
        {
            "sender_name": broken(one.who),
            "timestamp_ms": int((one.when - datetime(1970, 1, 1)).total_seconds() * 1000),
            "content": broken(one.text),
            "reactions": [{"reaction": broken(e), "actor": broken(w)} for w, e in one.marks],
        }
        for one in reversed(thread)
    ]
    people = [{"name": broken(name)} for name in dict.fromkeys(one.who for one in thread)]
    return "json", {"participants": people, "messages": items, "title": f"chat {number}"}


BOX = """<div class="_a6-g"><div class="_a6-h">{}</div><div class="_a6-p"><div><div></div>
<div>{}</div><div></div><div>{}</div></div></div>
<div class="_a6-o">{:%b %d, %Y %I:%M %p}</div></div>
"""


def as_html(number: int, thread: Thread) -> tuple[str, Any]:
    boxes = []
    for one in reversed(thread):
        marks = "".join(f"<li><span>{emoji}{who}</span></li>" for who, emoji in one.marks)
        boxes.append(BOX.format(one.who, one.text, f"<ul>{marks}</ul>" if marks else "", one.when))
    head = f"<head><title>c{number}</title></head>"
    return "html", f"<html>{head}<body>{''.join(boxes)}</body></html>"


Write = Callable[[int, Thread], tuple[str, Any]]
# How pages are read is tried by one of the tests below, and by all of them in `make slow`.
each_way = pytest.mark.parametrize(
    "write", [as_json, pytest.param(as_html, marks=pytest.mark.slow)]
)


def read(folder: Path, threads: list[Thread], write: Write) -> ReadCorpus:
    files = {"your_instagram_activity/start.txt": ""}
    for number, thread in enumerate(threads):
        ending, content = write(number, thread)
        path = f"your_instagram_activity/messages/inbox/t_{number}/message_1.{ending}"
        files[path] = content
    reading = exported.read(folder, files, "instagram")
    assert reading.ledger.total == sum(map(len, threads))
    assert not reading.ledger.leftovers
    return reading


LANGUAGES = {
    "Slovak": "Na vašu správu pribudla reakcia {e} práve teraz",
    "Slovak, by name": "{s} reagoval {e} na správu",
    "Filipino": "Nag-react ng {e} sa iyong message",
    "Marathi": "तुमच्या मेसेजला {e} असा प्रतिसाद आला आहे",
    "Swahili": "Ameitikia kwa {e} ujumbe wako",
    "Icelandic": "Brást við skilaboðum þínum með {e}",
    "Japanese": "{e}でメッセージへの反応をここに残しました",
    "Georgian, by name": "{s} გამოეხმაურა {e} თქვენს შეტყობინებას",
    "Slovak, by another name": "{x} reagoval {e} na správu",
    "Lithuanian, with the message": "Sureagavo {e} į jūsų žinutę: {q}",
}


@each_way
@pytest.mark.parametrize("sentence", LANGUAGES.values(), ids=LANGUAGES)
def test_reactions_in_any_language(tmp_path: Path, sentence: str, write: Write) -> None:
    said = [small_talk(name, 12, seed) for seed, name in enumerate(FRIENDS)]
    told = [with_reactions(thread, sentence, seed) for seed, thread in enumerate(said)]
    reading = read(tmp_path, told, write)
    assert sorted(texts(reading)) == sorted(one.text for thread in said for one in thread)
    assert reading.ledger.system == sum(map(len, told)) - sum(map(len, said)) > 100


@pytest.mark.parametrize("write", [as_json, as_html])
@pytest.mark.parametrize("sentence", [LANGUAGES["Filipino"], LANGUAGES["Swahili"]])
def test_reactions_of_one_person(tmp_path: Path, sentence: str, write: Write) -> None:
    said = small_talk("ann.b", 30, 7)
    told = [one for one in with_reactions(said, sentence, 7) if one in said or one.who == "ann.b"]
    reading = read(tmp_path, [told], write)
    assert texts(reading) == [one.text for one in said]
    note = f"because they repeat with nothing but an emoji changing: {len(told) - len(said)}"
    assert any(line.endswith(note) for line in reading.notes)


@each_way
def test_an_emoji_at_the_end_that_was_given_to_a_message_close_by(
    tmp_path: Path, write: Write
) -> None:
    said = small_talk("ann.b", 40, 3, a_day=30)
    choice = random.Random(3)
    told = []
    for number, one in enumerate(said):
        who = OWNER if one.who == "ann.b" else "ann.b"
        face = choice.choice(FACES)
        reacts = number % 40 == 5
        told.append(one._replace(marks=((who, face),)) if reacts else one)
        if reacts:
            told.append(Told(who, f"Brást við skilaboðum þínum með {face}", one.when))
    reading = read(tmp_path, [told], write)
    assert texts(reading) == [one.text for one in said]


LATER = timedelta(minutes=5)
GREETINGS = [
    # What, by how many of two people, on how many days, how often a day.
    *[("❤️", 2, 250, 2), ("😂😂😂", 2, 100, 3), ("haha {e}", 2, 100, 3), ("ok", 2, 300, 2)],
    *[("good morning {e}", 1, 365, 1), ("good night my dear love {e}", 2, 365, 1)],
    *[("te quiero {e}", 2, 200, 3), ("te quiero mucho mi amor ❤️", 2, 200, 3)],
    *[("Wordle {n} 4/6 {e}", 2, 200, 1), ("I scored {n} points in the game 🎮", 2, 100, 4)],
    *[
        ("{n}", 2, 200, 5),
        ("@{s} are you there", 2, 100, 3),
        ("day {n} of our trip {e}", 1, 100, 1),
    ],
    *[("Happy birthday {s}! 🎉", 2, 20, 1), ("happy new year to you {s} {e}", 2, 9, 1)],
]


@each_way
@pytest.mark.parametrize(
    ("sentence", "people", "days", "a_day"), GREETINGS, ids=[one[0] for one in GREETINGS]
)
def test_people_who_repeat_themselves(
    tmp_path: Path, sentence: str, people: int, days: int, a_day: int, write: Write
) -> None:
    choice = random.Random(1)
    thread: Thread = []
    for day in range(days):
        for number in range(a_day):
            for who in ("ann.b", OWNER)[:people]:
                other = OWNER if who == "ann.b" else "ann.b"
                text = sentence.format(e=choice.choice(FACES), n=day * a_day + number, s=other)
                when = START + timedelta(days=day, minutes=40 * number + len(thread) % 2)
                thread.append(Told(who, text, when))
                thread.append(Told(other, f"vlak {len(thread)}", when + LATER))
    reading = read(tmp_path, [thread], write)
    assert sorted(texts(reading)) == sorted(one.text for one in thread)
    assert reading.ledger.system == 0


@each_way
def test_lovers_vary_what_they_say(tmp_path: Path, write: Write) -> None:
    forms = ["love you so much {e}"] * 12 + ["love you so much", "Love you so much {e}!", "i {e}"]
    choice = random.Random(2)
    people = [*FRIENDS, OWNER]
    thread = [
        Told(
            choice.choice(people),
            choice.choice(forms).format(e=choice.choice(FACES)),
            START + timedelta(minutes=30 * number),
        )
        for number in range(900)
    ]
    reading = read(tmp_path, [thread], write)
    assert reading.ledger.system == 0


@each_way
def test_a_bot_says_what_it_says(tmp_path: Path, write: Write) -> None:
    alarms = [
        Told(
            "Coin Bot", f"price went {mark} once more today", START + timedelta(minutes=20 * number)
        )
        for number, mark in enumerate("🔺🔻🔻🔺🔺" * 80)
    ]
    thread = sorted([*alarms, *small_talk("ann.b", 6, 5)], key=lambda one: one.when)
    reading = read(tmp_path, [thread], write)
    assert reading.ledger.system == 0


def test_friends_who_sign_with_their_name(tmp_path: Path) -> None:
    told = [
        Told(who, f"{who.split()[0]} is coming along", START + timedelta(minutes=place))
        for place, who in enumerate(["Ann", "Bo Lund", "Cleo", "Dana", "Ann"])
    ]
    reading = read(tmp_path, [told], as_json)
    assert len(texts(reading)) == len(told)
    assert any(note.endswith("may be notices of the app: 5") for note in reading.notes)


def test_accounts_that_do_the_same_thing(tmp_path: Path) -> None:
    told = [
        Told(who, f"{who} ने हा ग्रुप सोडला", START + timedelta(minutes=place))
        for place, who in enumerate(["ann.b", "cleo7", "ann.b"])
    ]
    told.append(Told("ann.b", "ठीक आहे", START + timedelta(minutes=9)))
    assert texts(read(tmp_path, [told], as_json)) == ["ठीक आहे"]


ENGLISH = [
    *("Audio call started", "Audio call ended", "Video chat ended", "Video chat started"),
    *("You changed the theme to Lavender.", "ann.b changed the theme to Tie-dye."),
    "ann.b wasn't notified about this message because they're in quiet mode.",
]


@pytest.mark.parametrize("text", ENGLISH)
@each_way
def test_english_sentences(tmp_path: Path, text: str, write: Write) -> None:
    who = "ann.b" if text.startswith("ann.b changed") else OWNER
    told = [Told("ann.b", "hi", START), Told(who, text, START), Told(OWNER, "video chat?", START)]
    reading = read(tmp_path, [told], write)
    assert sorted(texts(reading)) == ["hi", "video chat?"]
    assert reading.ledger.system == 1


@pytest.mark.parametrize("words", ["Click for video", "Kliknite a prehrajte video:"])
@pytest.mark.parametrize(
    "body",
    [
        '<video src="inbox/videos/7.mp4" controls><a href="inbox/videos/7.mp4"><div>{}</div></a>'
        "</video>",
        '<div>look<a href="inbox/audio/7.mp4"><div>{}</div></a></div>',
    ],
)
def test_words_for_a_film_are_no_text(tmp_path: Path, words: str, body: str) -> None:
    told = [Told("ann.b", body.format(words), START), Told(OWNER, "nice", START + LATER)]
    first, _ = messages(read(tmp_path, [told], as_html))
    assert first.text == ("look" if "look" in body else "")
    assert [file.kind for file in first.attachments] == ["video"]


def test_words_for_a_film_that_is_not_there(tmp_path: Path) -> None:
    told = [Told("ann.b", "Click for audio", START), Told(OWNER, "nice", START)]
    reading = read(tmp_path, [told], as_html)
    assert sorted(texts(reading)) == ["", "nice"]
