"""Media, deletions, edits, locations, polls, calls and notices, in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment, Message
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from shown import check
from text_tables import cases

L = "\u200e"


def read(tmp_path: Path, text: str) -> ReadCorpus:
    return open_reading(exported.write(tmp_path, {"chat.txt": text}), "whatsapp").reading


def chat(tmp_path: Path, *bodies: str, header: str = "20/06/2019, 15:{:02} - ") -> list[Message]:
    """Messages of two people in turn, as Android writes them."""
    people = ("Mara", "Theo")
    lines = [f"{header.format(n)}{people[n % 2]}: {body}\n" for n, body in enumerate(bodies)]
    return messages(read(tmp_path, "".join(lines)))


def android(tmp_path: Path, body: str) -> Message:
    return chat(tmp_path, "hi", body)[1]


def iphone(tmp_path: Path, body: str) -> Message:
    return chat(tmp_path, "hi", body, header="[20/06/2019, 15:{:02}:00] ")[1]


OMITTED = """
<Media omitted> | <media omitted> | <Medien ausgeschlossen> | <Multimedia omitido> |
<Mídia oculta> | <Médias omis> | <Media omessi> | <Medya dahil edilmedi> | <Без медиафайлов> |
<pominięto multimedia> | <省略多媒体文件> | <メディアなし> | <تم استبعاد الوسائط> |
<मीडिया के बिना> | <Αρχείο παραλήφθηκε> | <Medijski zapis izostavljen> | <Medija praleista> |
<Медіа пропущено> | <Bỏ qua Media> | <미디어 파일을 생략한 대화내용> | <省略多媒體檔案> |
<省略影音内容> | < Médiá vynechané >"""


@pytest.mark.parametrize("body", OMITTED.split("|"))
def test_one_placeholder_in_many_languages(tmp_path: Path, body: str) -> None:
    message = android(tmp_path, body.strip())
    assert (message.text, message.attachments) == ("", (Attachment("media"),))


@cases(r"""
    body                                          | kind    | name                     | text
    "<Media omitted>\nwhat a view"                | media   | ""                       | what a view
    <View once voice message omitted>             | audio   | ""                       | ""
    IMG-20190620-WA0001.jpg (file attached)       | image   | IMG-20190620-WA0001.jpg  | ""
    ⟨L⟩VID-20190620-WA0003.mp4 (Datei angehängt)  | video   | VID-20190620-WA0003.mp4  | ""
    PTT-20190620-WA0004.opus (archivo adjunto)    | audio   | PTT-20190620-WA0004.opus | ""
    STK-20190620-WA0004.webp (file allegato)      | sticker | STK-20190620-WA0004.webp | ""
    "IMG-20190620-WA0009.jpg (etwas neues)\nlook" | image   | IMG-20190620-WA0009.jpg  | look
    Anna B.vcf (file attached)                    | contact | Anna B.vcf               | ""
    my tax form (1).pdf (file attached)           | file    | my tax form (1).pdf      | ""
""")
def test_android_media(tmp_path: Path, body: str, kind: str, name: str, text: str) -> None:
    message = android(tmp_path, body.replace("⟨L⟩", L))
    assert (message.text, message.attachments) == (text, (Attachment(kind, name),))


@cases(r"""
    body                                        | kind    | name                        | text
    ⟨L⟩image omitted                            | image   | ""                          | ""
    image omitted                               | image   | ""                          | ""
    ⟨L⟩Bild weggelassen                         | image   | ""                          | ""
    ⟨L⟩audio omitido                            | audio   | ""                          | ""
    ⟨L⟩figurinha omitida                        | sticker | ""                          | ""
    ⟨L⟩GIF omitted                              | image   | ""                          | ""
    ⟨L⟩Contact card omitted                     | contact | ""                          | ""
    ⟨L⟩视频已忽略                               | video   | ""                          | ""
    sunset ⟨L⟩image omitted                     | image   | ""                          | sunset
    report.pdf • ⟨L⟩3 pages ⟨L⟩document omitted | file    | report.pdf                  | ""
    ⟨L⟩<attached: 00000012-PHOTO-15-59-00.jpg>  | image   | 00000012-PHOTO-15-59-00.jpg | ""
    ⟨L⟩<Anhang: 00000013-VIDEO-2019.mp4>        | video   | 00000013-VIDEO-2019.mp4     | ""
    ⟨L⟩<неведомо: 00000014-x.opus>              | audio   | 00000014-x.opus             | ""
    look ⟨L⟩<attached: 00000015-STICKER.webp>   | sticker | 00000015-STICKER.webp       | look
    ⟨L⟩<jotain jätettiin>                       | media   | ""                          | ""
    "⟨L⟩<attached: 00000016-PHOTO.jpg>\na\nb"   | image   | 00000016-PHOTO.jpg          | "a\nb"
""")
def test_iphone_media(tmp_path: Path, body: str, kind: str, name: str, text: str) -> None:
    message = iphone(tmp_path, body.replace("⟨L⟩", L))
    assert (message.text, message.attachments) == (text, (Attachment(kind, name),))


def test_the_one_wording_in_angles_of_a_file_is_the_phone_s(tmp_path: Path) -> None:
    words = ["<wala ng larawan dito>"] * 2
    lines = [f"20/06/2019, 15:58 - Mara: {body}\n" for body in (*words, "<awkward silence>")]
    found = messages(read(tmp_path, "".join(lines[:2])))
    assert [m.attachments for m in found] == [(Attachment("media"),)] * 2
    # Whoever writes like this for fun varies it.
    assert texts(read(tmp_path, "".join(lines))) == [*words, "<awkward silence>"]


def test_a_marked_line_of_unknown_wording_keeps_its_sender(tmp_path: Path) -> None:
    stamp = "[20.06.2019, 15:5{}:00] "
    lines = [
        f"Сад: {L}Мара создал(-а) группу «Сад»",
        f"Тео: {L}картинка сюда не вошла",
        "Тео: привет",
        "Мара: и тебе",
        f"Мара: {L}мара сменила обложку",
        f"Сад: {L}лена теперь здесь",
        f"Тео: {L}Тео теперь без кода безопасности",
    ]
    text = "\n".join(stamp.format(n) + line for n, line in enumerate(lines))
    check(
        read(tmp_path, f"{text}\n"),
        """
        chat (Тео, Мара)
        session 1, 2019-06-20 15:51:00
        D1:1 2019-06-20 15:51:00 Тео:
            media
        D1:2 2019-06-20 15:52:00 Тео: привет
        D1:3 2019-06-20 15:53:00 Мара: и тебе
        7 lines = 3 in messages + 4 system + 0 left over
        """,
    )


ORDINARY = """
<3 | I <3 you (really) | he said (file attached) | see notes.txt (old) | <b>bold</b> |
1 < 2 and 3 > 2 | look: https://maps.google.com/?q=1,2 | a • b | image omitted, sorry |
This message was deleted, he said | the (image) was <omitted> | null | POLL:"""


@pytest.mark.parametrize("body", [body.strip() for body in ORDINARY.split("|")])
def test_ordinary_words_stay_words(tmp_path: Path, body: str) -> None:
    for message in (android(tmp_path, body), iphone(tmp_path, body)):
        assert (message.text, message.attachments) == (body, ())
        assert not message.edited
        assert not message.deleted


DELETED = f"""
This message was deleted | You deleted this message | {L}This message was deleted. |
Diese Nachricht wurde gelöscht | Se eliminó este mensaje | Mensagem apagada |
Ce message a été supprimé | Questo messaggio è stato eliminato | Bu mesaj silindi |
Данное сообщение удалено | 此消息已被删除 | このメッセージは削除されました | 삭제된 메시지입니다 |
تم حذف هذه الرسالة | הודעה זו נמחקה | Dit bericht is verwijderd | Pesan ini telah dihapus"""


@pytest.mark.parametrize("body", DELETED.split("|"))
def test_deleted(tmp_path: Path, body: str) -> None:
    message = android(tmp_path, body.strip())
    assert (message.deleted, message.text) == (True, "")


EDITED = f"""
<This message was edited> | <Diese Nachricht wurde bearbeitet.> | <Mensagem editada> |
<Se editó este mensaje.> | {L}<This message was edited> | {L}<Seda sõnumit muudeti>"""


@pytest.mark.parametrize("suffix", [suffix.strip() for suffix in EDITED.split("|")])
def test_edited(tmp_path: Path, suffix: str) -> None:
    for body in (f"see you at 5 {suffix}", f"see you\nat 5 {suffix}"):
        message = iphone(tmp_path, body)
        assert message.edited
        assert message.text == body.removesuffix(suffix).rstrip()
        assert message.attachments == ()


@pytest.mark.parametrize("word", ["location", "Standort", f"{L}Location", f"{L}Jossakin"])
def test_location(tmp_path: Path, word: str) -> None:
    message = android(tmp_path, f"{word}: https://maps.google.com/?q=48.1,11.5")
    place = Attachment("location", "", "https://maps.google.com/?q=48.1,11.5")
    assert (message.text, message.attachments) == ("", (place,))


def test_poll_keeps_its_question(tmp_path: Path) -> None:
    message = iphone(
        tmp_path, f"{L}POLL:\nwhen?\n{L}OPTION: now ({L}2 votes)\n{L}OPTION: later (0 votes)"
    )
    assert message.text == "POLL:\nwhen?\nOPTION: now (2 votes)\nOPTION: later (0 votes)"


def test_iphone_notices_are_system(tmp_path: Path) -> None:
    text = (
        f"[20/06/2019, 15:00:00] Trip: {L}Messages and calls are end-to-end encrypted.\n"
        f"[20/06/2019, 15:00:00] Trip: {L}Mara created group “Trip”\n"
        f"[20/06/2019, 15:01:00] Theo: {L}Mara added Theo\n"
        f"[20/06/2019, 15:02:00] Mara: hi\n"
        f"[20/06/2019, 15:03:00] Theo: {L}Missed voice call\n"
        f"{L}[20/06/2019, 15:04:00] Theo: {L}image omitted\n"
        "[20/06/2019, 15:05:00] Trip: the icon was changed\n"
    )
    reading = read(tmp_path, text)
    assert [(m.speaker, m.text) for m in messages(reading)] == [("Mara", "hi"), ("Theo", "")]
    assert (reading.ledger.in_messages, reading.ledger.system) == (2, 5)


def test_the_encryption_notice_of_a_private_chat_hides_nobody(tmp_path: Path) -> None:
    text = (
        f"[20/06/2019, 15:00:00] Theo: {L}Messages and calls are end-to-end encrypted.\n"
        "[20/06/2019, 15:02:00] Theo: hi\n"
        "[20/06/2019, 15:02:00] Mara: ho\n"
    )
    assert texts(read(tmp_path, text)) == ["hi", "ho"]


def test_android_notices_are_system_whatever_the_language(tmp_path: Path) -> None:
    text = (
        "20/06/2019, 15:00 - Keegi lõi rühma\n"
        '20/06/2019, 15:01 - Mara created group "Trip: the return"\n'
        '20/06/2019, 15:01 - Mara changed the subject from "a: b" to "c"\n'
        "20/06/2019, 15:02 - Mara: hi\n"
        "20/06/2019, 15:03 - Theo:.\n"
        "20/06/2019, 15:03 - : nobody\n"
        "20/06/2019, 15:04 - Theo left\n"
    )
    reading = read(tmp_path, text)
    assert reading.corpus.chats[0].speakers == ("Mara",)
    assert (reading.ledger.in_messages, reading.ledger.system) == (1, 4)
    assert [left.where for left in reading.ledger.leftovers] == ["chat.txt:5", "chat.txt:6"]


def test_a_right_to_left_mark_before_the_apps_words(tmp_path: Path) -> None:
    image = iphone(tmp_path, "\u200fהתמונה הושמטה")
    assert (image.text, image.attachments) == ("", (Attachment("image"),))
    assert iphone(tmp_path, "\u200fהודעה זו נמחקה").deleted
    assert iphone(tmp_path, "\u200fכן").text == "\u200fכן"


@pytest.mark.parametrize("words", ["Missed voice call", "Verpasster Videoanruf"])
def test_missed_calls_are_nobodys_words_on_android_too(tmp_path: Path, words: str) -> None:
    text = (
        f"20/06/2019, 15:58 - Mara: {words}\n"
        f"20/06/2019, 15:59 - Theo: {words} again?\n"
        f"20/06/2019, 16:00 - Mara: yes\n"
    )
    reading = read(tmp_path, text)
    assert texts(reading) == [f"{words} again?", "yes"]
    assert reading.ledger.system == 1


UNKNOWN = f"""
<Vyombo vya habari vimeachwa> | <메디아가 없어요> | <сурет жоқ> | <l'arxiu s'ha omès> |
<このファイルはありません> | <ไม่มีไฟล์นี้> | {L}<hakuna picha> | <nothing to see here>"""


@pytest.mark.parametrize("words", [words.strip() for words in UNKNOWN.split("|")])
def test_unknown_words_for_media_of_two_people(tmp_path: Path, words: str) -> None:
    found = chat(tmp_path, words, words, "hi")
    assert [message.text for message in found] == ["", "", "hi"]
    assert [len(message.attachments) for message in found] == [1, 1, 0]


@cases("""
    words
    <grin>
    <br>
    </div>
    <3
    <a href="x y">
""")
def test_what_people_put_in_angles(tmp_path: Path, words: str) -> None:
    found = chat(tmp_path, words, words, words, words)
    assert [message.text for message in found] == [words] * 4


def test_unknown_words_for_an_edited_message(tmp_path: Path) -> None:
    mark = "<Ujumbe huu umehaririwa>"
    found = chat(tmp_path, f"one {mark}", f"two {mark}", "three <not so sure>")
    assert [(m.text, m.edited) for m in found] == [
        *(("one", True), ("two", True), ("three <not so sure>", False))
    ]


def test_unknown_words_for_an_attached_file(tmp_path: Path) -> None:
    found = chat(tmp_path, "ziwa.jpg (faili lipo)", "wimbo.mp3 (faili lipo)", "plan.jpg (old one)")
    assert [m.text for m in found] == ["", "", "plan.jpg (old one)"]
    assert [m.attachments[0].kind for m in found[:2]] == ["image", "audio"]
