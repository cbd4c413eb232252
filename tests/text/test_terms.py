"""Words of every language, read so that they find one another; English exactly as ever."""

from __future__ import annotations

import pytest

from realtalk.encoders.lexical import Bm25
from realtalk.formats.opening import open_reading
from realtalk.text.languages import languages_in, mainly
from realtalk.text.terms import Terms, common_words, english_terms, is_named, reading
from text_tables import cases, rows

ENGLISH = (
    "I was running late and the bakeries had closed, so no bread for us 😅",
    "Café on the corner? She studied there daily with Zoë",
    "the kettle's broken again, we tried everything",
)


def test_english_words_are_read_exactly_as_ever() -> None:
    """Figures of English chats rest on these very words."""
    assert reading(ENGLISH) is english_terms
    assert [" ".join(english_terms(text)) for text in ENGLISH] == [
        "run lat bakery clos no bread us",
        "café corner study dai zoë",
        "kettl s broken again try everyth",
    ]
    assert reading(["I dey go market now, abeg wait for me"]) is english_terms  # Nigerian Pidgin
    for few in ([], ["ok"], ["lol"], ["no", "ok", "see you"], ["12:30"], ["😂"]):
        assert reading(few) is english_terms


@pytest.mark.parametrize("name", ["sample", "sample-threads"])
def test_english_chats_are_searched_exactly_as_ever(name: str) -> None:
    for chat in open_reading(name).reading.corpus.chats:
        texts = [message.text for message in chat.messages]
        before, now = Bm25(texts, english_terms), Bm25(texts)
        assert now.reads_english
        for text in texts[:20]:
            assert (before.scores(text) == now.scores(text)).all()


SAID = """
    es | la lavadora se rompió esta mañana y no sé qué hacer | ¿y si la llevas a arreglar?
    tr | çamaşır makinem bozuldu ama tamirci ancak cuma günü gelecek | çok kötü olmuş
    ru | у меня сломалась стиральная машина, и что теперь делать | а мастера ты вызвала?
    ar | الغسالة عطلانة من الصبح ومش عارفة اعمل ايه | طيب كلمي حد يصلحها
    hi | आज सुबह मेरी मशीन खराब हो गई और अब क्या करूँ | किसी को बुला लो ना
    hi-Latn | yaar meri machine kharab ho gayi hai ab kya karu | kisi ko bula le na
    ko | 세탁기가 고장 나서 이제 어떻게 해야 할지 모르겠어 | 그럼 기사님을 불러
    ja | 洗濯機が壊れてしまって、どうしたらいいかわからない | 修理の人を呼んだら?
    zh | 洗衣机坏了，我不知道怎么办 | 叫人来修吧
    th | เครื่องซักผ้าเสียแล้วไม่รู้จะทำยังไงดี | เรียกช่างสิ
"""
TEXTS = {language: texts for language, *texts in rows(SAID)}


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_told_by_the_identifier(language: str) -> None:
    assert languages_in(TEXTS[language])[0] == language
    assert reading(TEXTS[language]) is not english_terms


def test_languages_without_a_list_of_words_are_told_too() -> None:
    """Catalan, Basque and runes: nothing of them is passed over, and none is read as English."""
    for code, text in {
        "ca": "la rentadora s'ha espatllat aquest matí i no sé què he de fer",
        "eu": "garbigailua gaur goizean hondatu da eta ez dakit zer egin behar dudan",
        "other": "ᚠᛇᚻ ᛒᛦᚦ ᚠᚱᚩᚠᚢᚱ ᚠᛁᚱᚪ ᚷᛖᚻᚹᛦᛚᚳᚢᛗ",
    }.items():
        assert languages_in([text] * 3) == (code,)
        assert common_words([code]) == frozenset()
        assert reading([text] * 3) is not english_terms


@cases("""
    text                                                                 | code | common
    mesin basuh rosak pagi tadi, tak tahu nak buat macam mana sebab kena | id   | nak
    машина се покварила јутрос и не знам шта да радим                    | hr   | шта
    mašina se pokvarila jutros i ne znam šta da radim                    | hr   | šta
""")
def test_lists_stand_under_the_codes_of_the_identifier(text: str, code: str, common: str) -> None:
    assert languages_in([text]) == (code,)
    assert Terms([code]).pieces(common) == []


def test_a_chat_in_two_languages_has_both_and_a_quotation_is_none() -> None:
    chats = [*ENGLISH, *ENGLISH, *TEXTS["es"], *TEXTS["es"], *TEXTS["es"]]
    assert set(languages_in(chats)) == {"en", "es"}
    assert languages_in([*ENGLISH * 3, TEXTS["es"][0]]) == ("en",)
    assert mainly({"en": 60, "es": 38, "fr": 2, "und": 40}) == ("en", "es")
    assert mainly({"und": 3}) == mainly({}) == ()


# A word as it is asked for, and as it stands in a message, beside another message.
FORMS = """
    es | operación | la OPERACION de la gata fue ayer | la gata come bien otra vez
    fr | réparations | le gars va la réparer jeudi | le chien va bien depuis jeudi
    de | Operationen | die wird morgen operiert, die Arme | die schläft den ganzen Tag
    tr | kediler | kedimin dişi ağrıyor galiba | köpeğin dişi de ağrıyor galiba
    ru | операции | её вчера оперировали | она вчера играла с мячом
    ar | مكتبة | انا رايح المكتبَة بكرة | انا رايح السوق بكرة
    he | ספריה | אני בספריה עד הערב | אני בעבודה עד הערב
    hi | चाबी | तुम्हारी चाबियाँ बगीचे में हैं | तुम्हारी किताबें कमरे में हैं
    vi | giat | máy giặt hỏng rồi em ơi | máy bay trễ rồi em ơi
    ko | 도서관 | 내일 도서관에서 보자 | 내일 수영장에서 보자
    ja | 図書館 | 明日は市立図書館で面接がある | 明日は友だちの家で夕飯がある
    zh | 图书馆 | 明天我在市图书馆面试 | 明天我在家里休息
    th | ห้องสมุด | พรุ่งนี้เราอยู่ที่ห้องสมุดทั้งวัน | พรุ่งนี้เราอยู่ที่ตลาดทั้งวัน
    lo | ຫ້ອງສະໝຸດ | ມື້ອື່ນຢູ່ຫ້ອງສະໝຸດ | ມື້ອື່ນຢູ່ຕະຫຼາດ
    km | បណ្ណាល័យ | ថ្ងៃស្អែកខ្ញុំនៅបណ្ណាល័យ | ថ្ងៃស្អែកខ្ញុំនៅផ្ទះ
    my | စာကြည့်တိုက် | မနက်ဖြန်စာကြည့်တိုက်မှာတွေ့မယ် | မနက်ဖြန်ဈေးမှာတွေ့မယ်
"""
NAMES = """
    Игорь | На что у Игоря аллергия?
    Emre | Emre'nin neye alerjisi var?
    健太 | 健太は何のアレルギーですか?
    민호 | 민호는 왜 잠을 못 잤어?
    ليلى | ما مهنة الأخ الأصغر لليلى؟
    Lena | Was fehlte Lenas Katze?
    Tuấn | vì sao tuan không ngủ được
"""


@pytest.mark.parametrize(("language", "asked", "right", "wrong"), rows(FORMS))
def test_a_word_is_found_in_its_other_forms(
    language: str, asked: str, right: str, wrong: str
) -> None:
    scores = Bm25([wrong, right], Terms([language]).pieces).scores(asked)
    assert scores[1] > scores[0]


def test_words_that_say_little_are_left_out() -> None:
    assert Terms(["es"]).pieces("¿cuándo es y qué hay?") == []
    assert Terms(["zh"]).pieces("为什么") == []
    assert "für" not in common_words(["de"]) and "fur" in common_words(["de"])  # folded
    assert Terms(["es"]).pieces("42") == ["_42_"] == Terms(["ar"]).pieces("٤٢")


@pytest.mark.parametrize(("name", "text"), rows(NAMES))
def test_a_name_is_seen_in_its_forms(name: str, text: str) -> None:
    assert is_named(name, text)
    assert not is_named("Beatriz", text)
    assert not is_named("Lan", "lá cờ làng")
