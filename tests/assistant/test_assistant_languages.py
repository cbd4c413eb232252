"""Search by words over chats of several languages at once: each is read in its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from realtalk.assistant.collection import Collection
from realtalk.assistant.finding import WordSearch
from realtalk.assistant.periods import Period
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.opening import open_reading

SAID = {
    "ja": ("明日は市立図書館で面接があります", "洗濯機が壊れて困っています", "猫の手術は来週です"),
    "ar": ("أنا رايح المكتبة بكرة عشان أذاكر", "الغسالة عطلانة من الصبح", "القطة عندها عملية"),
    "tr": (
        "yarın kütüphanede olacağım ama geç",
        "çamaşır makinesi bozuldu yine",
        "kedinin dişi çürük",
    ),
}


def talk(name: str, texts: Sequence[str]) -> Chat:
    time = datetime(2026, 3, 2)
    said = tuple(Message(f"{name}:{at}", "Uma", time, text) for at, text in enumerate(texts))
    return Chat(name, ("Uma", "Odo"), (Session(1, time, said),))


def found(search: WordSearch, chats: Collection, words: str) -> list[str]:
    return [each.message.id for each in search.rows(words, chats.chats, "", Period())]


def test_every_chat_is_searched_in_its_language() -> None:
    own = Corpus("own", "made", tuple(talk(name, texts) for name, texts in SAID.items()))
    chats = Collection.of([open_reading("sample").reading.corpus, own])
    search = WordSearch(chats)
    for words, id_ in (
        ("図書館", "ja:0"),
        ("洗濯機", "ja:1"),
        ("مكتبة", "ar:0"),
        ("غسالة", "ar:1"),
        ("kütüphane", "tr:0"),
        ("makine", "tr:1"),
    ):
        assert found(search, chats, words)[0] == id_
    # What is English is found as it is alone.
    alone = Collection.of([open_reading("sample").reading.corpus])
    before, now = WordSearch(alone), WordSearch(chats)
    for words in ("bicycle wheel", "radio", "exam next week"):
        english = [id_ for id_ in found(now, chats, words) if id_.startswith("D")]
        assert english == found(before, alone, words)
