"""Messenger and Instagram: what the app wrote by itself, by structure and in many languages."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment, unpack_extra
from realtalk.formats.exports.assembly import Draft, Entry
from realtalk.formats.exports.meta_notices import SUBJECT, judge, sort_of
from realtalk.formats.exports.meta_repeats import MetaThread
from realtalk.formats.reading import ReadCorpus
from text_tables import cases, spoken

START = 1714548600000
ANN, BO, CLEO = "Ann Berg", "Bo Lund", "Cleo Marsh"
LINK = {"link": "https://a.example/p/1", "original_content_owner": "zoe"}


def broken(text: str) -> str:
    """As the download writes it: every byte a character."""
    return text.encode("utf-8").decode("latin-1")


def read(folder: Path, *told: tuple[str, str] | dict[str, Any]) -> ReadCorpus:
    """A group of three in which these were sent; the layout without `type`."""
    items = []
    for number, one in enumerate(told):
        item = one if isinstance(one, dict) else {"sender_name": one[0], "content": one[1]}
        item = {key: broken(v) if isinstance(v, str) else v for key, v in item.items()}
        items.append({"timestamp_ms": START + number * 60_000} | item)
    people = [{"name": name} for name in (ANN, BO, CLEO)]
    export = {"participants": people, "messages": items[::-1], "title": "Garden"}
    reading = exported.read(folder, {"message_1.json": export}, "instagram")
    assert reading.ledger.total == len(told)
    return reading


NOTICES = {
    "a nickname in place of the name": (
        """
        Ann Berg: Ann Berg set the nickname for Bo Lund to Captain Cook.
        Bo Lund: Captain Cook left the group.  # a nickname that a notice told
        Cleo Marsh: Queen of Hearts voted for "Friday" in the poll: When?  # one that none told
        Cleo Marsh: Queen of Hearts pinned a message.
        Ann Berg: Captain Cook left the group.  # of him, by somebody else
        Cleo Marsh: Queen of Hearts created a poll: Where?
        Ann Berg: see you
        """,
        ["Captain Cook left the group.", "see you"],
    ),
    "a sentence with words that vary": (
        """
        Ann Berg: Ann Berg amekipa kikundi jina Bustani.
        Bo Lund: Bo Lund amekipa kikundi jina Maua mengi.
        Cleo Marsh: Cleo Marsh amekipa kikundi jina Nyumba.
        Cleo Marsh: Cleo Marsh amekula.
        """,
        ["Cleo Marsh amekula."],
    ),
    "the owner is spoken to and others by nickname": (
        """
        Ann Berg: Ann Berg ametuma kiambatisho kimoja leo.
        Bo Lund: Umetuma kiambatisho kimoja leo.
        Bo Lund: Umetuma kiambatisho kimoja leo.
        Ann Berg: Ann Berg ametuma kiambatisho kimoja leo.
        Cleo Marsh: Nani basi ametuma hiki kiambatisho kimoja leo.
        """,
        ["Nani basi ametuma hiki kiambatisho kimoja leo."],
    ),
    "a nickname before sentences of an unknown language": (
        """
        Ann Berg: Ann Berg amebandika ujumbe hapa.
        Bo Lund: Bo Lund amebandika ujumbe hapa.
        Ann Berg: Ann Berg ameondoka kwenye kikundi.
        Bo Lund: Bo Lund ameondoka kwenye kikundi.
        Cleo Marsh: Malkia amebandika ujumbe hapa.
        Cleo Marsh: Malkia ameondoka kwenye kikundi.
        Ann Berg: Mama ameondoka kwenye kikundi.  # once, of somebody who is not in the group
        """,
        ["Mama ameondoka kwenye kikundi."],
    ),
}


@pytest.mark.parametrize(("talk", "kept"), NOTICES.values(), ids=NOTICES)
def test_notices_among_what_people_say(tmp_path: Path, talk: str, kept: list[str]) -> None:
    told = spoken(talk)
    reading = read(tmp_path, *told)
    assert texts(reading) == kept
    assert (reading.ledger.system, reading.ledger.leftovers) == (len(told) - len(kept), ())


@cases("""
    text
    The video chat ended.
    The call ended.
    This poll is no longer available.
    Multiple updates for the poll: When?
    You missed a video chat with Bo Lund.
    You set your nickname to Boss.
    Bo Lund missed your call.  # the sender is who called
    Audio call started
    Audio call ended
    Video chat ended
    Video chat started
    You changed the theme to Lavender.
    Ann Berg changed the theme to Tie-dye.
    Bo Lund wasn't notified about this message because they're in quiet mode.
""")
def test_sentences_without_the_sender(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text), (BO, "hello"))
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@pytest.mark.parametrize("fields", [{"users": [{"name": BO}]}, {"call_duration": 0}])
def test_fields_that_only_notices_have(tmp_path: Path, fields: dict[str, Any]) -> None:
    item = {"sender_name": ANN, "content": "whatever it says"}
    empty: dict[str, Any] = {"sender_name": BO, "content": "hello"} | {
        "users": [],
        "call_duration": None,
    }
    reading = read(tmp_path, item | fields, empty)
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


# Sentences of a language that no table holds: Swahili-like, and our own invention.
@cases("""
    sentence
    {} amebadilisha picha ya kikundi.
    {} alianzisha simu ya video.
    Mtumiaji {} ameondoka kwenye kikundi.
    {}さんのグループからのお知らせです。
""")
def test_one_sentence_of_several_who_stand_in_it_by_name(tmp_path: Path, sentence: str) -> None:
    told = [(name, sentence.format(name)) for name in (ANN, BO)]
    reading = read(tmp_path, *told, (CLEO, "jambo"), (ANN, "Ann Berg amesema hivi."))
    assert texts(reading) == ["jambo", "Ann Berg amesema hivi."]


def test_what_people_say_stays_theirs(tmp_path: Path) -> None:
    told = spoken("""
        Ann Berg: Ann is hungry.
        Bo Lund: Bo is hungry.
        Bo Lund: good night ❤
        Ann Berg: good night 😘
        Ann Berg: good night 🥰
        Bo Lund: Ann Berg left the group.
        Cleo Marsh: Cleo Marsh, Garden Street 4.
        Cleo Marsh: I set the nickname for Bo to Captain.
        Ann Berg: who created a poll: nobody
        Cleo Marsh: She sent a photo.
        Cleo Marsh: She sent a photo.
        Bo Lund: lol Mum named the group Soup.
        Bo Lund: video chat?
        Cleo Marsh: so nobody changed the theme to Ocean.
        Bo Lund: ok
        Ann Berg: ok
    """)
    reading = read(tmp_path, *told, (ANN, "Ann Berg sent a photo."))
    assert texts(reading) == [*(text for _, text in told), ""]


def test_what_stays_uncertain_is_a_message_and_counted(tmp_path: Path) -> None:
    sentence = "Ann Berg ametuma ujumbe."
    reading = read(tmp_path, (ANN, sentence), (BO, "hapana"), (ANN, sentence))
    assert texts(reading) == [sentence, "hapana", sentence]
    assert [note for note in reading.notes if "may be notices" in note] == [
        "messages that begin with their sender's own name and may be notices of the app: 2"
    ]


def test_words_for_a_file_are_no_text_but_the_file_is_a_message(tmp_path: Path) -> None:
    owner = "Umetuma kitu fulani."
    shared = [(ANN, "Ann Berg ametuma kitu fulani.")] * 2 + [(BO, owner)] * 3
    shared.append((BO, "look at this."))
    reading = read(
        tmp_path,
        *({"sender_name": who, "content": text, "share": LINK} for who, text in shared),
        (CLEO, "Cleo Marsh sent a photo."),  # and the photo is not in the download
    )
    found = messages(reading)
    assert [message.text for message in found] == ["", "", "", "", "", "look at this.", ""]
    assert unpack_extra(found[2].extra)["notice"] == owner
    assert found[-1].attachments == (Attachment("media"),)
    assert reading.ledger.system == 0


def test_reactions_by_an_emoji_inside_a_sentence(tmp_path: Path) -> None:
    told = [
        (who, f"Ameitikia {mark} ujumbe wako ")
        for who, mark in ((ANN, "❤"), (BO, "😂"), (ANN, "👍🏽"))
    ]
    reading = read(tmp_path, *told, (CLEO, "hello ❤ to you all"))
    assert texts(reading) == ["hello ❤ to you all"]


def test_reactions_by_the_second_in_which_they_were_given(tmp_path: Path) -> None:
    def target(number: int, when: int) -> dict[str, Any]:
        mark = {"reaction": broken("❤"), "actor": BO, "timestamp": when}
        return {"sender_name": ANN, "content": f"text {number}", "reactions": [mark]}

    second = START // 1000
    said = [(BO, text) for text in ("Amependa ujumbe", "Amependa ujumbe", "sawa sawa")]
    reading = read(tmp_path, target(1, second + 120), target(2, second + 180), *said)
    assert texts(reading) == ["text 1", "text 2", "sawa sawa"]


@pytest.mark.parametrize(("often", "expected"), [(10, 10), (4, 0)])
def test_likes_by_the_reactions_they_follow(tmp_path: Path, often: int, expected: int) -> None:
    liked: dict[str, Any] = {"sender_name": ANN, "content": "see"}
    liked["reactions"] = [{"reaction": broken("❤"), "actor": BO}]
    told: list[tuple[str, str] | dict[str, Any]] = []
    for number in range(often):
        told += [((ANN, BO)[n % 2], f"text {number} {n}") for n in range(50)]
        told += [liked, (BO, "Amependa ujumbe"), (ANN, "sawa sawa")]
    reading = read(tmp_path, *told)
    assert reading.ledger.system == expected
    assert texts(reading).count("sawa sawa") == often


LANGUAGES = """
Liked a message | A aimé un message | Curtiu uma mensagem | Bir mesajı beğendi |
Gefällt eine Nachricht | Le gustó un mensaje | Menyukai pesan | मेसेज आवडला |
एक मेसेज लाइक केला | मैसेज को लाइक किया | Gillade ett meddelande |
Reacted ❤️ to your message | Hat mit ❤️ auf deine Nachricht reagiert |
Reaccionó con ❤️ a tu mensaje | A réagi ❤️ à votre message | Reagiu com ❤️ à sua mensagem |
तुमच्या मेसेजवर ❤️ प्रतिक्रिया दिली | Ha reagito con ❤️ al tuo messaggio |
Ann Berg hat die Gruppe Garten genannt. | Ann Berg a nommé le groupe Jardin. |
Ann Berg nombró al grupo Jardín. | Ann Berg ha chiamato il gruppo Giardino. |
Ann Berg heeft de groep Tuin genoemd. | Ann Berg nazwał(a) grupę Ogród. |
Ann Berg назвала группу Сад. | Ann Berg đã đặt tên nhóm là Vườn. |
Ann Berg elnevezte a csoportot: Kert. | Użytkownik Ann Berg nazwał grupę Ogród. |
Ann Berg님이 그룹 이름을 정원으로 변경했습니다."""


@pytest.mark.parametrize("text", LANGUAGES.split("|"))
def test_one_notice_in_other_languages(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text.strip()), (BO, "hello"))
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@cases(f"""
    text                               | expected
    {SUBJECT} unsent a message.        | unsent
    Du hast einen Anhang gesendet.     | sent
    Vous avez envoyé une pièce jointe. | sent
    Enviaste un archivo adjunto.       | sent
    तुम्ही अटॅचमेंट पाठवली.                 | sent
    Du hast mir das falsche Foto gesendet. | null
    Hai visto?                         | null
    ""                                 | null
""")
def test_wordings(text: str, expected: str | None) -> None:
    assert sort_of(text) == expected


def test_an_unsent_message_is_a_deleted_one(tmp_path: Path) -> None:
    [message] = messages(read(tmp_path, (ANN, "Ann unsent a message.")))
    assert (message.deleted, message.text) == (True, "")


def test_a_language_is_learned_from_other_conversations() -> None:
    threads = [MetaThread(Draft("", extra={"participants": (name, "Me")})) for name in (ANN, BO)]
    for thread, name in zip(threads, (ANN, BO), strict=True):
        thread.take(Entry("", name, None, f"{name} amebandika ujumbe."))
        thread.take(Entry("", "Me", None, "ndiyo"))
    assert judge(threads) == (0, 0)
    assert [[line.sort for line in thread.lines] for thread in threads] == [["notice", None]] * 2


# --- people who repeat themselves ---


MORNING = datetime(2024, 1, 1, 8, 0)
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
            when = MORNING + timedelta(days=day, minutes=40 * number)
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


def read_threads(
    folder: Path, threads: list[Thread], write: Callable[[int, Thread], tuple[str, Any]] = as_json
) -> ReadCorpus:
    files = {"your_instagram_activity/start.txt": ""}
    for number, thread in enumerate(threads):
        ending, content = write(number, thread)
        path = f"your_instagram_activity/messages/inbox/t_{number}/message_1.{ending}"
        files[path] = content
    reading = exported.read(folder, files, "instagram")
    assert reading.ledger.total == sum(map(len, threads))
    assert not reading.ledger.leftovers
    return reading


SENTENCES = dict(
    spoken("""
    Slovak: Na vašu správu pribudla reakcia {e} práve teraz
    Slovak, by name: {s} reagoval {e} na správu
    Filipino: Nag-react ng {e} sa iyong message
    Marathi: तुमच्या मेसेजला {e} असा प्रतिसाद आला आहे
    Swahili: Ameitikia kwa {e} ujumbe wako
    Icelandic: Brást við skilaboðum þínum með {e}
    Japanese: {e}でメッセージへの反応をここに残しました
    Georgian, by name: {s} გამოეხმაურა {e} თქვენს შეტყობინებას
    Slovak, by another name: {x} reagoval {e} na správu
    Lithuanian, with the message: Sureagavo {e} į jūsų žinutę: {q}
    """)
)


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
def test_reactions_in_any_language(tmp_path: Path, sentence: str) -> None:
    said = [small_talk(name, 12, seed) for seed, name in enumerate(FRIENDS)]
    told = [with_reactions(thread, sentence, seed) for seed, thread in enumerate(said)]
    reading = read_threads(tmp_path, told)
    assert sorted(texts(reading)) == sorted(one.text for thread in said for one in thread)
    assert reading.ledger.system == sum(map(len, told)) - sum(map(len, said)) > 100


@pytest.mark.parametrize("write", [as_json, as_html])
@pytest.mark.parametrize("sentence", [SENTENCES["Filipino"], SENTENCES["Swahili"]])
def test_reactions_of_one_person(tmp_path: Path, sentence: str, write: Any) -> None:
    said = small_talk("ann.b", 30, 7)
    told = [one for one in with_reactions(said, sentence, 7) if one in said or one.who == "ann.b"]
    reading = read_threads(tmp_path, [told], write)
    assert texts(reading) == [one.text for one in said]
    note = f"because they repeat with nothing but an emoji changing: {len(told) - len(said)}"
    assert any(line.endswith(note) for line in reading.notes)


def test_an_emoji_at_the_end_that_was_given_to_a_message_close_by(tmp_path: Path) -> None:
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
    reading = read_threads(tmp_path, [told])
    assert texts(reading) == [one.text for one in said]


LATER = timedelta(minutes=5)


# What, by how many of two people, on how many days, how often a day.
@cases("""
    sentence                         | people | days | a_day
    ❤️                               | 2      | 250  | 2
    😂😂😂                           | 2      | 100  | 3
    haha {e}                         | 2      | 100  | 3
    ok                               | 2      | 300  | 2
    good morning {e}                 | 1      | 365  | 1
    good night my dear love {e}      | 2      | 365  | 1
    te quiero {e}                    | 2      | 200  | 3
    te quiero mucho mi amor ❤️       | 2      | 200  | 3
    Wordle {n} 4/6 {e}               | 2      | 200  | 1
    I scored {n} points in the game 🎮 | 2    | 100  | 4
    {n}                              | 2      | 200  | 5
    @{s} are you there               | 2      | 100  | 3
    day {n} of our trip {e}          | 1      | 100  | 1
    Happy birthday {s}! 🎉           | 2      | 20   | 1
    happy new year to you {s} {e}    | 2      | 9    | 1
""")
def test_people_who_repeat_themselves(
    tmp_path: Path, sentence: str, people: int, days: int, a_day: int
) -> None:
    choice = random.Random(1)
    thread: Thread = []
    for day in range(days):
        for number in range(a_day):
            for who in ("ann.b", OWNER)[:people]:
                other = OWNER if who == "ann.b" else "ann.b"
                text = sentence.format(e=choice.choice(FACES), n=day * a_day + number, s=other)
                when = MORNING + timedelta(days=day, minutes=40 * number + len(thread) % 2)
                thread.append(Told(who, text, when))
                thread.append(Told(other, f"vlak {len(thread)}", when + LATER))
    reading = read_threads(tmp_path, [thread])
    assert sorted(texts(reading)) == sorted(one.text for one in thread)
    assert reading.ledger.system == 0


def test_lovers_vary_what_they_say(tmp_path: Path) -> None:
    forms = ["love you so much {e}"] * 12 + ["love you so much", "Love you so much {e}!", "i {e}"]
    choice = random.Random(2)
    people = [*FRIENDS, OWNER]
    thread = [
        Told(
            choice.choice(people),
            choice.choice(forms).format(e=choice.choice(FACES)),
            MORNING + 6 * LATER * number,
        )
        for number in range(900)
    ]
    assert read_threads(tmp_path, [thread]).ledger.system == 0


def test_a_bot_says_what_it_says(tmp_path: Path) -> None:
    alarms = [
        Told("Coin Bot", f"price went {mark} once more today", MORNING + 4 * LATER * number)
        for number, mark in enumerate("🔺🔻🔻🔺🔺" * 80)
    ]
    thread = sorted([*alarms, *small_talk("ann.b", 6, 5)], key=lambda one: one.when)
    assert read_threads(tmp_path, [thread]).ledger.system == 0


def test_friends_who_sign_with_their_name(tmp_path: Path) -> None:
    told = [
        Told(who, f"{who.split()[0]} is coming along", MORNING + timedelta(minutes=place))
        for place, who in enumerate(["Ann", "Bo Lund", "Cleo", "Dana", "Ann"])
    ]
    reading = read_threads(tmp_path, [told])
    assert len(texts(reading)) == len(told)
    assert any(note.endswith("may be notices of the app: 5") for note in reading.notes)


def test_accounts_that_do_the_same_thing(tmp_path: Path) -> None:
    told = [
        Told(who, f"{who} ने हा ग्रुप सोडला", MORNING + timedelta(minutes=place))
        for place, who in enumerate(["ann.b", "cleo7", "ann.b"])
    ]
    told.append(Told("ann.b", "ठीक आहे", MORNING + timedelta(minutes=9)))
    assert texts(read_threads(tmp_path, [told])) == ["ठीक आहे"]


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
    told = [Told("ann.b", body.format(words), MORNING), Told(OWNER, "nice", MORNING + LATER)]
    first, _ = messages(read_threads(tmp_path, [told], as_html))
    assert first.text == ("look" if "look" in body else "")
    assert [file.kind for file in first.attachments] == ["video"]


def test_words_for_a_film_that_is_not_there(tmp_path: Path) -> None:
    told = [Told("ann.b", "Click for audio", MORNING), Told(OWNER, "nice", MORNING)]
    assert sorted(texts(read_threads(tmp_path, [told], as_html))) == ["", "nice"]
