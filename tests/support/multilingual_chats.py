"""Chats of our own writing in fifteen languages, and whether their encoder is here to label them.

corpus_of(CHATS)             → one chat per language, two speakers each
corpus_of({"es": LINES})     → a chat of given lines
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.ei.encoder_choice import MULTILINGUAL, is_shipped

needs_multilingual = pytest.mark.skipif(
    not is_shipped(MULTILINGUAL), reason="the multilingual encoder's weights are not in this tree"
)

CHATS: Mapping[str, Sequence[str]] = {
    "es": (
        "estoy tan contenta, por fin aprobé el examen de conducir a la tercera",
        "¡qué alegría, te lo mereces! ¿y cuándo me llevas a dar una vuelta?",
        "el sábado, pero te aviso que todavía me da miedo aparcar",
        "no te preocupes, yo te ayudo, a mí también me costó mucho al principio",
    ),
    "pt": (
        "hoje foi um dia horrível, o chefe gritou comigo na frente de toda a gente",
        "que chato, sinto muito, queres falar um pouco sobre isso?",
        "acho que sim, não consigo parar de pensar no que ele disse",
        "entendo como te sentes, isso também já me aconteceu uma vez",
    ),
    "fr": (
        "je suis trop triste, mon chat est toujours malade et il ne mange plus rien",
        "oh non, pauvre petit, qu'est-ce que le vétérinaire a dit ce matin ?",
        "qu'il faut attendre encore deux jours avant de savoir",
        "courage, je pense fort à vous deux, tu veux que je passe ce soir ?",
    ),
    "de": (
        "ich habe die Wohnung bekommen, ich kann es noch gar nicht glauben",
        "wie schön, das freut mich riesig für dich, wann ziehst du denn um?",
        "Anfang Mai, und du musst mir unbedingt beim Streichen helfen",
        "na klar, ich bringe den Kuchen mit und du sorgst für die Farbe",
    ),
    "it": (
        "mia nonna è caduta ieri sera e adesso è in ospedale, ho tanta paura",
        "mi dispiace tantissimo, come sta adesso, ha già parlato con i medici?",
        "sta meglio, ma deve restare lì almeno una settimana",
        "se hai bisogno di qualcosa chiamami anche di notte, davvero",
    ),
    "nl": (
        "ik ben zo boos, ze hebben mijn fiets alweer gestolen bij het station",
        "wat ontzettend vervelend, was hij deze keer wel op slot?",
        "ja natuurlijk, met twee sloten zelfs, ik snap er niets van",
        "ik heb nog een oude fiets staan, die mag je zolang wel lenen hoor",
    ),
    "pl": (
        "nie mogę się doczekać wakacji, w tym roku jedziemy w końcu nad morze",
        "zazdroszczę wam, my znowu zostajemy w domu z powodu remontu",
        "to przyjedźcie do nas chociaż na weekend, miejsca jest dużo",
        "naprawdę? dzieci oszaleją ze szczęścia, jesteś kochana",
    ),
    "ru": (
        "мне так стыдно, я вчера накричала на маму из-за какой-то ерунды",
        "понимаю тебя, просто позвони ей и скажи, что ты жалеешь",
        "боюсь, она не возьмёт трубку, она очень обиделась",
        "возьмёт, она тебя любит, хочешь, я зайду к ней вместе с тобой?",
    ),
    "tr": (
        "sonunda işe kabul edildim, sevinçten bütün gece uyuyamadım",
        "çok sevindim senin adına, ne zaman başlıyorsun peki?",
        "pazartesi sabahı, biraz korkuyorum ama çok da heyecanlıyım",
        "merak etme, sen her şeyin üstesinden gelirsin, kutlayalım mutlaka",
    ),
    "ar": (
        "أنا حزين جدا اليوم لأن صديقي سافر ولن يعود قبل الصيف القادم",
        "أفهم شعورك، هل تريد أن نخرج معا هذا المساء لنتحدث قليلا؟",
        "نعم، أحتاج فعلا إلى أن أغير الجو وأنسى هذا الحزن",
        "اتفقنا إذن، سأمر عليك بعد صلاة المغرب إن شاء الله",
    ),
    "hi": (
        "आज मैं बहुत खुश हूँ, मेरी छोटी बहन का कॉलेज में दाखिला हो गया",
        "अरे वाह, बहुत बहुत बधाई हो, मिठाई कब खिला रहे हो?",
        "रविवार को घर आ जाओ, माँ तुम्हारे लिए खीर बनाएगी",
        "ज़रूर आऊँगा, आंटी के हाथ की खीर तो मुझे बहुत पसंद है",
    ),
    "hi-Latn": (
        "yaar aaj bahut bura laga, usne meri baat suni hi nahi aur chala gaya",
        "arre tension mat le, kal usse aaram se baat kar lena, sab theek ho jayega",
        "pata nahi yaar, mujhe lagta hai woh mujhse naraz hai kisi baat pe",
        "chal main bhi saath chalta hoon, mil ke baat karenge aur phir chai piyenge",
    ),
    "id": (
        "aku sedih banget hari ini, kucing kesayanganku hilang dari kemarin sore",
        "ya ampun, sudah dicari ke rumah tetangga belum? mau aku bantu cari?",
        "sudah, tapi belum ketemu juga, aku takut dia kenapa-kenapa di jalan",
        "tenang dulu ya, besok pagi kita cari sama-sama sambil tempel poster",
    ),
    "zh": (
        "今天真的太开心了，我们队终于赢了比赛，大家都高兴得哭了",
        "太棒了，恭喜你们！晚上要不要一起出去吃顿好的庆祝一下？",
        "好啊，不过我得先回家睡一会儿，昨天晚上紧张得没睡着",
        "没问题，你好好休息，我七点钟到你家楼下等你",
    ),
    "ja": (
        "最近なんだか寂しくて、夜になると昔のことばかり考えてしまう",
        "そうだったんだね、話してくれてありがとう。今度の週末、会いに行こうか？",
        "うん、来てくれたらすごく嬉しい。おいしいものを作って待ってるね",
        "楽しみにしてるよ。それまで無理しないでゆっくり休んでね",
    ),
    "ko": (
        "나 요즘 회사 때문에 너무 힘들어서 매일 울고 싶은 기분이야",
        "많이 힘들었겠다, 무슨 일이 있었는지 얘기해 줄 수 있어?",
        "팀장님이 내가 한 일을 자꾸 다른 사람이 한 것처럼 말씀하셔",
        "그건 진짜 속상하겠다, 내일 저녁에 만나서 맛있는 거 먹자",
    ),
}
ENGLISH = (
    "i finally got the job, i could not sleep all night because i was so happy",
    "that is wonderful, i am so proud of you, when do you start?",
    "on monday, i am a little scared but mostly excited about it",
    "you will be great, let us celebrate on friday, dinner is on me",
)


def corpus_of(chats: Mapping[str, Sequence[str]], times: int = 3) -> Corpus:
    """Each chat's lines so many times over, said by two people in turn, a session each time."""
    made = []
    for name, lines in chats.items():
        sessions = []
        for round_ in range(times):
            start = datetime(2026, 3, 1 + round_, 18, 30)
            messages = tuple(
                Message(
                    f"{name}:{round_}:{at}",
                    ("Ana", "Bo")[at % 2],
                    start + timedelta(minutes=at),
                    line,
                )
                for at, line in enumerate(lines)
            )
            sessions.append(Session(round_ + 1, start, messages))
        made.append(Chat(name, ("Ana", "Bo"), tuple(sessions)))
    return Corpus("many", "csv", tuple(made))
