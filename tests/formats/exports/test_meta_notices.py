"""Messenger and Instagram: what the app wrote by itself, by structure and in many languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment, unpack_extra
from realtalk.formats.exports.assembly import Draft, Entry
from realtalk.formats.exports.meta_notices import SUBJECT, judge, sort_of
from realtalk.formats.exports.meta_repeats import MetaThread
from realtalk.formats.reading import ReadCorpus
from text_tables import cases

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


@cases("""
    text
    The video chat ended.
    The call ended.
    This poll is no longer available.
    Multiple updates for the poll: When?
    You missed a video chat with Bo Lund.
    You set your nickname to Boss.
    Bo Lund missed your call.  # the sender is who called
""")
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
@pytest.mark.parametrize(
    "sentence",
    [
        *("{} amebadilisha picha ya kikundi.", "{} alianzisha simu ya video."),
        *("Mtumiaji {} ameondoka kwenye kikundi.", "{}さんのグループからのお知らせです。"),
    ],
)
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
    reading = read(
        tmp_path,
        target(1, second + 120),
        target(2, second + 180),
        (BO, "Amependa ujumbe"),
        (BO, "Amependa ujumbe"),
        (BO, "sawa sawa"),
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
    [message] = messages(read(tmp_path, (ANN, "Ann unsent a message.")))
    assert (message.deleted, message.text) == (True, "")


def test_a_language_is_learned_from_other_conversations() -> None:
    threads = [MetaThread(Draft("", extra={"participants": (name, "Me")})) for name in (ANN, BO)]
    for thread, name in zip(threads, (ANN, BO), strict=True):
        thread.take(Entry("", name, None, f"{name} amebandika ujumbe."))
        thread.take(Entry("", "Me", None, "ndiyo"))
    assert judge(threads) == (0, 0)
    assert [[line.sort for line in thread.lines] for thread in threads] == [["notice", None]] * 2
