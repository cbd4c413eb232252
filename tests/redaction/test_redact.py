"""Redaction: what must go is gone everywhere, what must stay is untouched."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from realtalk.chat import (
    Alias,
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Session,
    pack_extra,
)
from realtalk.redaction.redact import redact
from realtalk.redaction.standins import STAND_IN
from realtalk.redaction.words import EVERYDAY
from redacted_chats import NOON, corpus_of, texts_of
from refusals import refused
from text_tables import cases
from tries import tries
from work_done import within


def dump(corpus: Corpus) -> str:
    return json.dumps(asdict(corpus), default=str, ensure_ascii=False)


@cases("""
    text                                      | expected
    hi Mara                                   | hi Person1
    MARA! mara? Mara's                        | Person1! Person1? Person1's
    Mara Lund and mara_lund and Ms Lund       | Person1 and Person1 and Ms Person1
    Maras Hund, Maraaaa                       | Person1 Hund, Person1
    marathon, Tamara                          | marathon, Tamara
    Mara2 wrote IMG_Mara.jpg                  | Person1 wrote IMG_Person1.jpg
    ask @theo or @theo_k or @Theo_K.          | ask @Person2 or @handle1 or @handle1.
    pay faizan.q@okbank, thanks@theo          | pay @handle1, thanks@Person2
    mail ida.b@post.example.org!              | mail <email-1>!
    A@b.co, a@B.co, c@b.co                    | <email-1>, <email-1>, <email-2>
    see https://x.example/a?b=1). ok          | see <link-1>). ok
    www.example.org and t.me/abc and shop.com | <link-1> and <link-2> and <link-3>
    I love it.It is great.Me too              | I love it.It is great.Me too
    +49 170 1234567 or (555) 010-0199         | <phone-1> or <phone-2>
    +49 170 1234567 = +491701234567           | <phone-1> = <phone-1>
    01.23.45.67.89                            | <phone-1>
    IBAN DE89 3704 0044 0532 0130 00          | IBAN <number-1>
    card 4111 1111 1111 1111                  | card <number-1>
    code 48213, room 4821                     | code <number-1>, room 4821
    ssn 555-12-3456                           | ssn <phone-1>
    in 2023-2024 at 18:30, 10.30-11.45        | in 2023-2024 at 18:30, 10.30-11.45
    12.01.2024, 2024-01-12, 1/12/24           | 12.01.2024, 2024-01-12, 1/12/24
    100-200 people, 10,000 steps              | 100-200 people, 10,000 steps
    3.5.2024-4.6.2024 10:00-11:30 1/2         | 3.5.2024-4.6.2024 10:00-11:30 1/2
    2024-05-03 – 2024-06-04, 8 hours          | 2024-05-03 – 2024-06-04, 8 hours
    a V8 1GB card, Spring 2024, Weg 5         | a V8 1GB card, Spring 2024, Weg 5
    12500 euros, $125000, 1.250.000           | 12500 euros, $125000, 1.250.000
    # An amount has seven digits at most; longer ones are somebody's number.
    1234567 euros, 9876543 views              | 1234567 euros, 9876543 views
    12345678 euros, $98765432                 | <number-1> euros, $<number-2>
    0123456 steps                             | <phone-1> steps
    Hey Siri, hi Everyone, hello World        | Hey Siri, hi Everyone, hello World
    Mara19900412 and MaraLund, #lundmara      | Person1 and Person1, #Person1
""")
def test_what_goes_and_what_stays(text: str, expected: str) -> None:
    assert texts_of(corpus_of(text)) == [expected]


@cases("""
    speakers             | text                                 | expected
    Will, May, Al, A     | will you ask Will in may, May? | will you ask Person1 in may, Person2?
    Will, May, Al, A     | al dente, Al                         | Person3 dente, Person3
    Will, May, Al, A     | A day! I am A                        | A day! I am Person4
    José, 小明, Νίκος    | Jose und José und José              | Person1 und Person1 und Person1
    José, 小明, Νίκος    | 我和小明去                           | 我和Person2去
    José, 小明, Νίκος    | ΝΊΚΟΣ, Νίκος                         | Person3, Person3
    +49 170 1234567, Theo | ring +49 170 1234567, @491701234567 | ring Person1, @Person1
    throw_away99, b      | throw it away, throw_away99          | throw it away, Person1
    throw_away99, b      | Throw!                               | Person1!
""")
def test_speakers_called_like_words_in_scripts_by_numbers_and_by_user_names(
    speakers: str, text: str, expected: str
) -> None:
    assert texts_of(corpus_of(text, speakers=tuple(speakers.split(", ")))) == [expected]


def test_other_people_are_found_by_their_capitals() -> None:
    corpus = corpus_of(
        "yesterday with Ingrid, it was fun",
        "Ingrid says hi. Maybe we ask Ingrid? I like Paris and really Paris",
        "we met Zoltan once, and went to Gdansk, then to Gdansk",
        "Hey Bea!",
        "hi Bea",
    )
    assert texts_of(corpus) == [
        "yesterday with Person3, it was fun",
        "Person3 says hi. Maybe we ask Person3? I like Paris and really Paris",
        "we met Zoltan once, and went to Gdansk, then to Gdansk",
        "Hey Person4!",
        "hi Person4",
    ]
    assert redact(corpus)[1].to_json()["Person3"] == ["Ingrid"]
    assert "Ingrid" in texts_of(corpus, keep=frozenset({"people"}))[0]


def test_names_given_are_replaced_too() -> None:
    corpus = corpus_of("zoltan came", "so did Aunt Ida, my aunt", "and Mara")
    names = ["Zoltan", "Aunt Ida", "Mara", " "]
    assert texts_of(corpus, names=names) == [
        "Person3 came",
        "so did Person4, my aunt",
        "and Person1",
    ]
    assert redact(corpus, names=names)[1].to_json()["Person4"] == ["Aunt Ida"]


def rich() -> Corpus:
    messages = (
        Message(
            "D1:1",
            "Mara Lund",
            NOON,
            "hi Theo, write to ida@post.example",
            (Attachment("image", "Mara at sea.JPG", "https://x.example/mara.jpg", "Mara, waving"),),
            extra='{"phone":"+49 170 1234567"}',
        ),
        Message("D1:2", "Theo", None, "https://x.example/mara.jpg", reply_to="D1:1", edited=True),
        Message("D1:3", "Theo", NOON, "", deleted=True),
    )
    chat = Chat(
        "Chat_1_Mara_Theo",
        ("Mara Lund", "Theo"),
        (Session(1, NOON, messages), Session(2, None, ())),
        (Event(1, "Theo", "Theo meets Momo", date="when Mara left", evidence=("D1:1",)),),
        (
            Question(
                "Chat_1_Mara_Theo-Q1",
                "Who is Momo?",
                "Mara",
                "temporal",
                ("D1:1",),
                ("Theo",),
                ("D1:1; Theo",),
                NOON,
                '{"a":1}',
            ),
            Question("Q2", "What did theo say?", None, "adversarial"),
        ),
        (Alias("Momo", "Mara Lund", "D1:2"),),
        '{"name":"Mara"}',
    )
    other = Chat("ChatMARAOla", ("mara lund", "Ola"), (Session(1, None, ()),))
    return Corpus("Mara and Theo", "realtalk", (chat, other))


def test_what_goes_with_a_name_goes_and_comes_back() -> None:
    said = ("ask Big Mara", "mara jr, or Lil Mara III?", "a big mara, senior year", "so Big, Mara")
    corpus = corpus_of(*said)
    made, key = redact(corpus)
    texts = [message.text for message in made.chats[0].messages]
    assert not any("jr" in text or "Lil" in text or "III" in text for text in texts)
    assert "Big" not in texts[0] and "Big," in texts[3] and texts[2].endswith("senior year")
    assert key.restore(made) == corpus


def test_every_field_is_covered_and_structure_stays() -> None:
    made, key = redact(rich())
    text = dump(made)
    assert not re.search("mara|theo|lund|momo|ida@|x.example|1234567", text, re.IGNORECASE)
    chat = made.chats[0]
    assert chat.id == "Chat_1_Person1_Person2"
    assert made.name == "Person1 and Person2"
    assert chat.questions[0].id == "Chat_1_Person1_Person2-Q1"
    assert chat.questions[0].text == "Who is Person1?"
    assert chat.questions[1].answer is None
    first, second, third = chat.messages
    assert first.attachments == (
        Attachment("image", "<file-1>.jpg", "<link-1>", "Person1, waving"),
    )
    assert second.text == "<link-1>"
    assert (second.id, second.time, second.reply_to, second.edited) == ("D1:2", None, "D1:1", True)
    assert third.deleted
    assert chat.events[0].evidence == chat.questions[0].evidence == ("D1:1",)
    assert [session.number for session in chat.sessions] == [1, 2]
    assert made.chats[1].speakers[0] == "Person1"  # the same person in another case
    assert key.to_json()["Person1"][:2] == ["Mara Lund", "mara lund"]
    assert "Mara" not in repr(key)


def test_a_chats_own_names_go_before_those_of_other_chats() -> None:
    def chat(number: int, speakers: tuple[str, str], *aliases: Alias) -> Chat:
        messages = (Message("D1:1", speakers[0], None, "hi Vera"),)
        return Chat(f"Chat_{number}", speakers, (Session(1, None, messages),), aliases=aliases)

    chats = (
        chat(1, ("Mara", "Theo"), Alias("Vera", "Theo", "D1:1")),
        chat(2, ("Mara", "Vera")),
        chat(3, ("Mara", "Ola")),
    )
    made, _ = redact(Corpus("toy", "x", chats))
    assert [chat.messages[0].text for chat in made.chats] == [
        "hi Person2",
        "hi Person3",
        "hi Person3",
    ]


def test_speakers_who_differ_in_case_only_stay_two_in_one_chat() -> None:
    made, _ = redact(corpus_of("a", "b", speakers=("mara", "Mara")))
    assert made.chats[0].speakers == ("Person1", "Person2")


def test_what_is_kept_and_a_mistyped_kind() -> None:
    kept, _ = redact(rich(), keep=frozenset({"links", "emails", "files", "extra"}))
    assert "ida@post.example" in dump(kept)
    # Kept, and still without the speakers.
    assert "https://x.example/Person1.jpg" in dump(kept)
    assert "Person1 at sea.JPG" in dump(kept)
    assert kept.chats[0].extra == '{"name":"Person1"}'
    with refused("unknown-kind"):
        redact(rich(), keep=frozenset({"link"}))


def test_those_who_reacted_are_replaced_where_extras_are_kept() -> None:
    marks = {"reactions": [{"emoji": "❤", "count": 3, "by": ["Mara", "Odile Brandt", "Theo"]}]}
    said = tuple(
        Message(f"D1:{n}", speaker, None, text, extra=pack_extra(marks if n == 1 else {}))
        for n, (speaker, text) in enumerate((("Mara", "hello"), ("Theo", "odile says hi")), 1)
    )
    corpus = Corpus("c", "x", (Chat("c", ("Mara", "Theo"), (Session(1, None, said),)),))
    kept, key = redact(corpus, keep=frozenset({"extra"}))
    (mark,) = kept.chats[0].messages[0].reactions
    assert (mark.emoji, mark.count) == ("❤", 3)
    assert mark.by == (kept.chats[0].speakers[0], "Person3", kept.chats[0].speakers[1])
    assert key.to_json()["Person3"] == ["Odile Brandt", "odile"]
    assert "dile" not in dump(kept)
    assert redact(kept, keep=frozenset({"extra"}))[0] == kept
    assert redact(corpus)[0].chats[0].messages[0].reactions == ()


def test_names_in_a_street_go_even_where_streets_stay() -> None:
    corpus = corpus_of("at 5 Mara Lund Street")
    kept = texts_of(corpus, keep=frozenset({"addresses", "numbers"}))
    assert (kept, texts_of(corpus)) == (["at 5 Person1 Street"], ["at <address-1>"])


def test_chat_ids_stay_unique() -> None:
    chats = tuple(Chat(f"with {name}", (name,), ()) for name in ("Mara", "MARA"))
    made, _ = redact(Corpus("toy", "x", chats))
    assert [chat.id for chat in made.chats] == ["with Person1", "with Person1_2"]


def test_old_stand_ins_are_not_given_again() -> None:
    made, _ = redact(corpus_of("<phone-1> Person7 @handle3", "call +49 170 1234567 or @ida"))
    assert [message.text for message in made.chats[0].messages] == [
        "<phone-1> Person7 @handle3",
        "call <phone-2> or @handle4",
    ]
    assert made.chats[0].speakers == ("Person8", "Person9")


NAMES = st.from_regex(r"[A-ZÄÖÉ][a-zäöéß]{3,9}( [A-Z][a-z]{3,9})?", fullmatch=True).filter(
    lambda name: not set(name.lower().split()) & EVERYDAY
)
PHONES = st.one_of(
    st.from_regex(r"\+[1-9][0-9]{0,2} [0-9]{3} [0-9]{3,4} [0-9]{3,4}", fullmatch=True),
    st.from_regex(r"\([0-9]{3}\) [0-9]{3}-[0-9]{4}", fullmatch=True),
    st.from_regex(r"0[0-9]{3}/[0-9]{6,7}", fullmatch=True),
    st.from_regex(r"0[0-9]{9,10}", fullmatch=True),
)
MAILS = st.from_regex(
    r"[a-z][a-z0-9.+_-]{0,12}[a-z0-9]@[a-z]{2,9}(\.[a-z]{2,5}){1,2}", fullmatch=True
)
HANDLES = st.from_regex(r"@[a-z_][a-z0-9_]{3,12}[a-z0-9]", fullmatch=True).filter(
    lambda handle: not STAND_IN.fullmatch(handle)  # redacting twice changes nothing
)
AROUND = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Nd", "No", "Nl")), max_size=30
)


@given(
    names=st.tuples(NAMES, NAMES),
    planted=st.tuples(PHONES, MAILS, HANDLES),
    around=st.lists(AROUND, min_size=4, max_size=4),
)
@example(("Aaaa", "Aaaa"), ("+1 000 000 000", "a0@aa.aa", "@h_000"), ["", "", "", ""])
@settings(max_examples=tries(150))
def test_nothing_planted_survives(
    names: tuple[str, str], planted: tuple[str, str, str], around: list[str]
) -> None:
    told = [f"{text} {thing} {text}" for text, thing in zip(around, (*planted, ""), strict=True)]
    told += [f"{around[0]} {name} {around[1]}" for name in names]
    told += [f"({name.lower()}'s) {name.upper()}, {name}!" for name in names]
    messages = tuple(
        Message(
            f"D1:{number}",
            names[number % 2],
            NOON,
            text,
            (Attachment("file", f"{text}.txt", text, text),),
            extra=json.dumps({"t": text}),
        )
        for number, text in enumerate(told, 1)
    )
    corpus = Corpus(
        f"with {names[0]}",
        "x",
        (
            Chat(
                f"Chat_1_{names[0]}_{names[1]}",
                tuple(dict.fromkeys(names)),
                (Session(1, NOON, messages),),
                tuple(Event(1, names[0], text, date=text) for text in told),
                tuple(
                    Question(f"Q{n}", text, text, "c", (), (text,)) for n, text in enumerate(told)
                ),
                extra=json.dumps(told),
            ),
        ),
    )
    made, _ = redact(corpus)
    text = dump(made)
    for thing in planted:
        assert thing not in text
    for name in names:
        for form in (name, name.lower(), name.upper()):
            # Boundaries: a name inside a longer word is another word.
            assert not re.search(rf"(?<![^\W\d_]){re.escape(form)}(?![^\W\d_])", text)
    again, _ = redact(made)
    assert again == made


BITS = (
    "anna|met Anna|hey Anna|with Bella|ask Bella|bella|the|in Paris|Annas|Person3|@bella|12345|.|'s"
)
GUESSED = st.lists(st.sampled_from(BITS.split("|")), max_size=12).map(" ".join)


@given(
    texts=st.lists(st.text(max_size=60), max_size=6) | st.lists(GUESSED, min_size=2, max_size=6),
    speakers=st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True),
)
@example(texts=["anna anna anna anna met Anna"], speakers=["¯"])  # a space, once it is folded
@settings(max_examples=tries(150))
def test_any_text_and_any_speaker_twice_is_as_once(texts: list[str], speakers: list[str]) -> None:
    corpus = corpus_of(*texts, speakers=tuple(speakers))
    made, _ = redact(corpus)
    again, _ = redact(made)
    assert again == made
    assert len(made.chats[0].speakers) == len(set(made.chats[0].speakers)) == len(speakers)
    assert [m.id for m in made.chats[0].messages] == [m.id for m in corpus.chats[0].messages]


LONG_RUNS = """
from datetime import datetime
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.redaction.redact import redact

names = ("Mara", "MaRa", "#mara", "Ma\\u200b", "mara_", "Mara ", "राम", "王小明", "m1.", "ا")
for sign in (*".@-1a/+( ", "A-", "Aa'", "a1", "Aa ", "a (at) ", "1 rue de la ", *names):
    text = sign * (20_000 if len(sign) == 1 else 5_000) + "1"
    speakers = ("Mara Lund", "राम", "王小明", "+49 170 1234567", sign)
    noon = datetime(2026, 3, 2, 12)
    session = Session(1, noon, (Message("D1:1", "Mara Lund", noon, text),))
    redact(Corpus("long", "x", (Chat("Chat_1", speakers, (session,)),)))
"""


@pytest.mark.slow
def test_long_runs_of_anything_are_quick() -> None:
    within(120, LONG_RUNS)
