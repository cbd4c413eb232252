"""Messenger and Instagram: what the app wrote by itself, by structure and in many languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Attachment, Message, unpack_extra
from realtalk.formats.exports.meta import INSTAGRAM, MESSENGER
from realtalk.formats.exports.meta_notices import SUBJECT, judge, sort_of
from realtalk.formats.exports.meta_repeats import Line, MetaThread
from realtalk.formats.reading import Format, ReadCorpus, ReadOptions
from realtalk.formats.source import Source

START = 1714548600000
ANN, BO, CLEO = "Ann Berg", "Bo Lund", "Cleo Marsh"
LINK = {"link": "https://a.example/p/1", "original_content_owner": "zoe"}


def broken(text: str) -> str:
    """As the download writes it: every byte a character."""
    return text.encode("utf-8").decode("latin-1")


def read(
    folder: Path, *told: tuple[str, str] | dict[str, Any], app: Format = MESSENGER
) -> ReadCorpus:
    """A group of three in which these were sent; the layout without `type`."""
    messages = []
    for number, one in enumerate(told):
        item = one if isinstance(one, dict) else {"sender_name": one[0], "content": one[1]}
        item = {key: broken(v) if isinstance(v, str) else v for key, v in item.items()}
        messages.append({"timestamp_ms": START + number * 60_000} | item)
    export = {
        "participants": [{"name": broken(name)} for name in (ANN, BO, CLEO)],
        "messages": messages[::-1],
        "title": "Garden",
        "magic_words": [],
        "thread_path": "inbox/garden_1",
    }
    if app is MESSENGER:
        export["thread_type"] = "RegularGroup"
    path = folder / "message_1.json"
    path.write_text(json.dumps(export), encoding="utf-8")
    source = Source.open(path)
    assert app.sniff(source)
    reading: ReadCorpus = app.read(source, ReadOptions())
    assert reading.ledger.total == len(told)
    return reading


def texts(reading: ReadCorpus) -> list[str]:
    return [message.text for message in said(reading)]


def said(reading: ReadCorpus) -> list[Message]:
    return [message for chat in reading.corpus.chats for message in chat.messages]


def test_a_nickname_in_place_of_the_name(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        (ANN, "Ann Berg set the nickname for Bo Lund to Captain Cook."),
        (BO, "Captain Cook left the group."),  # a nickname that a notice told
        (CLEO, 'Queen of Hearts voted for "Friday" in the poll: When?'),  # one that none told
        (CLEO, "Queen of Hearts pinned a message."),
        (ANN, "Captain Cook left the group."),  # of him, by somebody else
        (CLEO, "Queen of Hearts created a poll: Where?"),
        (ANN, "see you"),
    )
    assert texts(reading) == ["Captain Cook left the group.", "see you"]
    assert str(reading.ledger) == "7 entries = 2 in messages + 5 system + 0 left over"


@pytest.mark.parametrize(
    "text",
    [
        "The video chat ended.",
        "The call ended.",
        "This poll is no longer available.",
        "Multiple updates for the poll: When?",
        "You missed a video chat with Bo Lund.",
        "You set your nickname to Boss.",
        "Bo Lund missed your call.",  # the sender is who called
    ],
)
def test_sentences_without_the_sender(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text), (BO, "hello"))
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@pytest.mark.parametrize("fields", [{"users": [{"name": BO}]}, {"call_duration": 0}])
def test_fields_that_only_notices_have(tmp_path: Path, fields: dict[str, Any]) -> None:
    item = {"sender_name": ANN, "content": "whatever it says"}
    empty: dict[str, Any] = {
        "sender_name": BO,
        "content": "hello",
        "users": [],
        "call_duration": None,
    }
    reading = read(tmp_path, item | fields, empty)
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


# Sentences of a language that no table holds: Swahili-like, and our own invention.
UNKNOWN = [
    ("{} amebadilisha picha ya kikundi.", ""),
    ("{} alianzisha simu ya video.", ""),
    ("Mtumiaji {} ameondoka kwenye kikundi.", ""),
    ("{}さんのグループからのお知らせです。", ""),
]


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in UNKNOWN])
def test_one_sentence_of_several_who_stand_in_it_by_name(tmp_path: Path, sentence: str) -> None:
    told = [(name, sentence.format(name)) for name in (ANN, BO)]
    reading = read(tmp_path, *told, (CLEO, "jambo"), (ANN, "Ann Berg amesema hivi."))
    assert texts(reading) == ["jambo", "Ann Berg amesema hivi."]


def test_a_sentence_with_words_that_vary(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        (ANN, "Ann Berg amekipa kikundi jina Bustani."),
        (BO, "Bo Lund amekipa kikundi jina Maua mengi."),
        (CLEO, "Cleo Marsh amekipa kikundi jina Nyumba."),
        (CLEO, "Cleo Marsh amekula."),
    )
    assert texts(reading) == ["Cleo Marsh amekula."]


def test_the_owner_is_spoken_to_and_others_by_nickname(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        (ANN, "Ann Berg ametuma kiambatisho kimoja leo."),
        (BO, "Umetuma kiambatisho kimoja leo."),
        (BO, "Umetuma kiambatisho kimoja leo."),
        (ANN, "Ann Berg ametuma kiambatisho kimoja leo."),
        (CLEO, "Nani basi ametuma hiki kiambatisho kimoja leo."),
    )
    assert texts(reading) == ["Nani basi ametuma hiki kiambatisho kimoja leo."]


def test_a_nickname_before_sentences_of_an_unknown_language(tmp_path: Path) -> None:
    pinned, left = "{} amebandika ujumbe hapa.", "{} ameondoka kwenye kikundi."
    told = [(name, text.format(name)) for text in (pinned, left) for name in (ANN, BO)]
    queen = [(CLEO, pinned.format("Malkia")), (CLEO, left.format("Malkia"))]
    other = (ANN, left.format("Mama"))  # once, of somebody who is not in the group
    reading = read(tmp_path, *told, *queen, other)
    assert texts(reading) == [other[1]]


def test_what_people_say_stays_theirs(tmp_path: Path) -> None:
    told = [
        (ANN, "Ann is hungry."),
        (BO, "Bo is hungry."),
        (BO, "good night ❤"),
        (ANN, "good night 😘"),
        (ANN, "good night 🥰"),
        (BO, "Ann Berg left the group."),
        (CLEO, "Cleo Marsh, Garden Street 4."),
        (CLEO, "I set the nickname for Bo to Captain."),
        (ANN, "who created a poll: nobody"),
        *((CLEO, "She sent a photo."), (CLEO, "She sent a photo.")),
        (BO, "lol Mum named the group Soup."),
        (CLEO, "so nobody changed the theme to Ocean."),
        (BO, "ok"),
        (ANN, "ok"),
    ]
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
    reading = read(
        tmp_path,
        {"sender_name": ANN, "content": "Ann Berg ametuma kitu fulani.", "share": LINK},
        {"sender_name": ANN, "content": "Ann Berg ametuma kitu fulani.", "share": LINK},
        *({"sender_name": BO, "content": owner, "share": LINK} for _ in range(3)),
        {"sender_name": BO, "content": "look at this.", "share": LINK},
        (CLEO, "Cleo Marsh sent a photo."),  # and the photo is not in the download
        app=INSTAGRAM,
    )
    found = said(reading)
    assert [message.text for message in found] == ["", "", "", "", "", "look at this.", ""]
    assert unpack_extra(found[2].extra)["notice"] == owner
    assert found[-1].attachments == (Attachment("media"),)
    assert reading.ledger.system == 0


def test_reactions_by_an_emoji_inside_a_sentence(tmp_path: Path) -> None:
    told = [
        (who, f"Ameitikia {mark} ujumbe wako ")
        for who, mark in ((ANN, "❤"), (BO, "😂"), (ANN, "👍🏽"))
    ]
    reading = read(tmp_path, *told, (CLEO, "hello ❤ to you all"), app=INSTAGRAM)
    assert texts(reading) == ["hello ❤ to you all"]


def test_reactions_by_the_second_in_which_they_were_given(tmp_path: Path) -> None:
    def target(number: int, when: int) -> dict[str, Any]:
        mark = {"reaction": broken("❤"), "actor": BO, "timestamp": when}
        return {"sender_name": ANN, "content": f"text {number}", "reactions": [mark]}

    second = START // 1000
    reading = read(
        tmp_path,
        target(1, second + 120),
        target(2, second + 180),
        (BO, "Amependa ujumbe"),
        (BO, "Amependa ujumbe"),
        (BO, "sawa sawa"),
        app=INSTAGRAM,
    )
    assert texts(reading) == ["text 1", "text 2", "sawa sawa"]


@pytest.mark.parametrize(("often", "expected"), [(10, 10), (4, 0)])
def test_likes_by_the_reactions_they_follow(tmp_path: Path, often: int, expected: int) -> None:
    liked: dict[str, Any] = {"sender_name": ANN, "content": "see"}
    liked["reactions"] = [{"reaction": broken("❤"), "actor": BO}]
    told: list[tuple[str, str] | dict[str, Any]] = []
    for number in range(often):
        told += [((ANN, BO)[n % 2], f"text {number} {n}") for n in range(50)]
        told += [liked, (BO, "Amependa ujumbe"), (ANN, "sawa sawa")]
    reading = read(tmp_path, *told, app=INSTAGRAM)
    assert reading.ledger.system == expected
    assert texts(reading).count("sawa sawa") == often


LANGUAGES = {
    "liked": [
        *("Liked a message", "A aimé un message", "Curtiu uma mensagem", "Bir mesajı beğendi"),
        *("Gefällt eine Nachricht", "Le gustó un mensaje", "Menyukai pesan", "मेसेज आवडला"),
        *("एक मेसेज लाइक केला", "मैसेज को लाइक किया", "Gillade ett meddelande"),
    ],
    "reacted": [
        *("Reacted {} to your message ", "Hat mit {} auf deine Nachricht reagiert "),
        *(
            "Reaccionó con {} a tu mensaje",
            "A réagi {} à votre message",
            "Reagiu com {} à sua mensagem",
        ),
        *("तुमच्या मेसेजवर {} प्रतिक्रिया दिली", "Ha reagito con {} al tuo messaggio"),
    ],
    "named": [
        *(
            "{} hat die Gruppe Garten genannt.",
            "{} a nommé le groupe Jardin.",
            "{} nombró al grupo Jardín.",
        ),
        *(
            "{} ha chiamato il gruppo Giardino.",
            "{} heeft de groep Tuin genoemd.",
            "{} nazwał(a) grupę Ogród.",
        ),
        *(
            "{} назвала группу Сад.",
            "{} đã đặt tên nhóm là Vườn.",
            "{} elnevezte a csoportot: Kert.",
        ),
        *("Użytkownik {} nazwał grupę Ogród.", "{}님이 그룹 이름을 정원으로 변경했습니다."),
    ],
}


@pytest.mark.parametrize("text", LANGUAGES["liked"])
def test_likes_in_other_languages(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text), (BO, "hello"), app=INSTAGRAM)
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@pytest.mark.parametrize("text", LANGUAGES["reacted"])
def test_one_reaction_in_other_languages(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text.format("❤️")), (BO, "hello"), app=INSTAGRAM)
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@pytest.mark.parametrize("text", LANGUAGES["named"])
def test_one_name_of_a_group_in_other_languages(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, (ANN, text.format(ANN)), (BO, "hello"))
    assert (texts(reading), reading.ledger.system) == (["hello"], 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SUBJECT} unsent a message.", "unsent"),
        ("Du hast einen Anhang gesendet.", "sent"),
        ("Vous avez envoyé une pièce jointe.", "sent"),
        ("Enviaste un archivo adjunto.", "sent"),
        ("तुम्ही अटॅचमेंट पाठवली.", "sent"),
        ("Du hast mir das falsche Foto gesendet.", None),
        ("Hai visto?", None),
        ("", None),
    ],
)
def test_wordings(text: str, expected: str | None) -> None:
    assert sort_of(text) == expected


def test_an_unsent_message_is_a_deleted_one(tmp_path: Path) -> None:
    [message] = said(read(tmp_path, (ANN, "Ann unsent a message.")))
    assert (message.deleted, message.text) == (True, "")


def test_a_language_is_learned_from_other_conversations() -> None:
    threads = [
        MetaThread((name, "Me"), [Line(name, f"{name} amebandika ujumbe."), Line("Me", "ndiyo")])
        for name in (ANN, BO)
    ]
    assert judge(threads) == ([["notice", None], ["notice", None]], 0, 0)


def test_notices_of_encrypted_conversations(tmp_path: Path) -> None:
    def item(number: int, who: str, text: str) -> dict[str, Any]:
        told = {"senderName": who, "messageText": text, "timestamp": START + number * 1000}
        return told | {"type": "text", "isUnsent": False, "media": [], "reactions": []}

    pinned = "{} amebandika ujumbe."
    items = [item(1, ANN, pinned.format(ANN)), item(2, BO, pinned.format(BO)), item(3, BO, "jambo")]
    path = tmp_path / "Ann_7.json"
    export = {"participants": [ANN, BO], "threadName": "Ann_7", "messages": items}
    path.write_text(json.dumps(export), encoding="utf-8")
    reading = MESSENGER.read(Source.open(path), ReadOptions())
    assert (texts(reading), reading.ledger.system) == (["jambo"], 2)
