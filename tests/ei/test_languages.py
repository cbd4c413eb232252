"""What chats are written in: languages, slang, mixtures, too little to tell; grades of languages,
and where nothing may be claimed."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from facet_labels import lively, table
from realtalk.ei import encoder_choice as stored
from realtalk.ei.comparison import compare, comparison_rows, finding_rows
from realtalk.ei.encoder_choice import (
    GRADES,
    encoder_for,
    grade_of,
    is_usable,
    worst,
)
from realtalk.ei.labels import MEASURES
from realtalk.ei.languages import (
    Languages,
    language_name,
    language_notes,
    other_languages,
)
from realtalk.ei.speakers import consistency, consistency_doubts, speakers
from realtalk.ei.values import from_frame, speaker_rows, speakers_frame, speakers_json
from realtalk.text.languages import LanguageIdentifier, turn_languages
from text_tables import cases, records, spoken

OTHERS = dict(
    spoken("""
    es: oye, ayer fuimos a la playa con los niños y comimos pescado, qué rico estaba
    pt: então amanhã a gente se encontra na praça, leva o guarda-chuva por favor
    fr: coucou, on se voit demain devant la gare ou tu préfères venir à la maison ?
    it: ciao, domani sera andiamo a mangiare la pizza con i ragazzi, vieni anche tu?
    de: na, gestern waren wir mit den Kindern am See und haben Fische gefangen, war schön
    nl: hoi, zullen we morgen naar de markt gaan of heb je het weer te druk met je werk
    sv: hej, ska vi ta en fika imorgon eller måste du jobba hela dagen igen nu
    pl: cześć, jutro jadę do babci i nie wiem czy zdążę wrócić na obiad, zadzwonię
    tr: yarın akşam bize gelir misiniz, annem yine kocaman bir börek yapmış da
    id: besok kita jadi pergi ke pasar atau kamu masih sibuk dengan pekerjaan di kantor
    sw: habari za asubuhi, leo nitakuja nyumbani baada ya kazi tupike chakula pamoja
    tl: kumusta ka na, pupunta ba tayo bukas sa palengke o may trabaho ka na naman
    hi-Latn: kya kar raha hai yaar, kal milte hain station ke paas, chai pi lenge saath me
    vi: mai mình đi chợ nhé, nhớ mang theo cái ô vì trời sắp mưa to lắm đó
    ar: صباح الخير، غدا سنذهب إلى السوق مع الأولاد ونشتري السمك
    el: καλημέρα, χθες πήγαμε στη θάλασσα με τα παιδιά
    ru: привет, завтра поедем к бабушке, не забудь взять зонтик
    hi: कल हम सब बाज़ार जाएँगे, छाता लाना मत भूलना
    zh: 昨天我们和孩子们一起去了海边，吃了很多鱼，真的很好吃
    ja: 昨日は子どもたちと海に行って、魚をたくさん食べました。おいしかったです
    ko: 어제 아이들이랑 바다에 가서 생선을 많이 먹었어. 진짜 맛있더라
    fa: سلام، فردا با بچه‌ها می‌رویم بازار و ماهی می‌خریم، تو هم می‌آیی؟
    he: בוקר טוב, מחר נלך לשוק עם הילדים ונקנה דגים, אתה בא?
    uk: привіт, завтра поїдемо до бабусі, не забудь взяти парасольку
    cs: ahoj, zítra jedeme k babičce, nezapomeň si vzít deštník, prý bude pršet
    fi: moi, mennäänkö huomenna torille vai onko sinulla taas liikaa töitä
    hu: szia, holnap megyünk a nagymamához, ne felejtsd el az esernyőt
    ro: salut, mâine mergem la bunica, nu uita să iei umbrela că plouă
    ar-Latn: sba7 el kheir ya sa7bi, bokra hanrou7 el sou2 m3a el wlad w neshteri samak
    th: เมื่อวานเราไปทะเลกับเด็กๆ กินปลาเยอะมาก
""")
)
ENGLISH = dict(
    spoken("""
    plain: did you hear about the boat, they painted it green and nobody wants to row it
    slang: lol idk tbh it was so good, gonna grab food later if you wanna come, brooo
    SMS: wat time u reach, i wait 4 u at e mrt k, dun b late again lah
    no apostrophes: im not sure thats what hes saying, dont you think its a bit odd
    fancy letters: 𝓱𝓸𝔀 𝓪𝓻𝓮 𝔂𝓸𝓾 𝓭𝓸𝓲𝓷𝓰 𝓽𝓸𝓭𝓪𝔂 𝓶𝔂 𝓭𝓮𝓪𝓻 𝓯𝓻𝓲𝓮𝓷𝓭
    names: Theo and Ines went to Porto with Mara, they said it was too hot for Juno
    a word or two: coming
""")
)


def told(lines: list[str], speakers: str = "ab") -> Languages:
    said = (("c", speakers[at % len(speakers)], line) for at, line in enumerate(lines))
    return Languages("c", "embedded", Counter(turn_languages(said)))


@pytest.mark.parametrize("language", OTHERS)
def test_the_language_of_a_chat_is_found(language: str) -> None:
    found = told([OTHERS[language]] * 6)
    assert found.mainly == (language,) and found.english == 0.0
    assert encoder_for(found.turns) == "multilingual"
    assert language_name(language) != language
    (note,) = language_notes([found])
    assert note.startswith("c: hardly any English in 6 turns; the English encoder labelled them")


@pytest.mark.parametrize("language", [code for code in OTHERS if code not in ("ar-Latn", "sw")])
def test_short_messages_of_a_language_are_weighed_together(language: str) -> None:
    text = OTHERS[language]
    step = 4 if " " not in text else None
    words = [text[at : at + 4] for at in range(0, len(text), 4)] if step else text.split()
    lines = [" ".join(words[at : at + 2]) for at in range(0, len(words), 2)]
    assert told(lines * 3).mainly == (language,)


SMALL_TALK = (
    "hey | are you up | yeah | coming over? | in a bit | ok | when | after lunch | cool | see you"
)


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_is_english_however_it_is_written(kind: str) -> None:
    lines = [ENGLISH[kind]] * 6
    if kind == "a word or two":
        lines = SMALL_TALK.split(" | ")
    assert told(lines).english == 1.0
    assert encoder_for(told(lines).turns) == "english"
    assert language_notes([told(lines)]) == []


@cases("""
    lines
    ["jajaja", "", "🫠", "5"]
    ["😀😀", "❤️", "👍🏽"]
    ["hola", "que tal"]
    ["https://example.org/una/pagina/muy/larga", "@mara"]
    ["okay", "hahaha", "hmm", "lol"]
""")
def test_too_little_tells_nothing(lines: list[str]) -> None:
    found = told(lines)
    assert found.total == 0 and found.english is None
    assert language_notes([found]) == []


def test_a_chat_without_a_turn_that_could_be_told_alone() -> None:
    lines = ["hola", "hola, qué tal", "todo bien", "y tú", "también, mucho trabajo", "ya veo"]
    assert told(lines).english == 0.0
    assert told(["привет"]).english == 0.0  # another script tells at once


def test_a_mixed_chat_is_told_turn_by_turn() -> None:
    spanish, english = OTHERS["es"], ENGLISH["plain"]
    said = [("c", "Ana", spanish), ("c", "Bo", english)] * 5
    assert turn_languages(said) == ["es", "en"] * 5
    one = [("c", "Ana", (spanish, english)[at % 2]) for at in range(10)]
    assert turn_languages(one) == ["es", "en"] * 5
    found = told([spanish, english] * 5)
    assert found.english == 0.5 and found.mainly == ("en", "es")
    assert encoder_for(found.turns) == "multilingual"
    assert encoder_for(told([spanish] + [english] * 9).turns) == "english"
    assert "5 of 10 turns are not in English (50%)" in language_notes([found])[0]
    # One turn in ten is no reason for doubt; nine in ten are all of it.
    assert language_notes([told([spanish] + [english] * 9)]) == []
    assert "hardly any English" in language_notes([told([spanish] * 9 + [english])])[0]


def test_notes_are_few_and_fit_the_way_of_measuring() -> None:
    many = [Languages(f"c{at}", "embedded", {"other": 10}) for at in range(20)]
    (line,) = language_notes(many)
    assert line.startswith("c0, c1, c2 and 17 more: hardly any English in 200 turns;")
    assert language_notes([Languages("c", "judge", {"other": 10})]) == []
    (line,) = language_notes([Languages("c", "hub", {"other": 10})])
    assert "the paper's classifiers learned English" in line
    assert "not known" in language_notes([Languages("c", "embedded", {})])[0]
    assert "hardly any" in language_notes([Languages("c", "embedded", {"es": 9, "und": 1})])[0]


def lines_of(path: Path, most: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in map(json.loads, stream):
            lines = found.setdefault(row["lang"], [])
            if len(lines) < most:
                lines.append(row["text"])
    return found


@cases("""
    text                                               | code
    நாளை நாம் சந்தைக்குப் போகலாம், குடையை எடுத்து வா      | ta
    ხვალ ბაზარში წავიდეთ, ქოლგა არ დაგავიწყდეს         | ka
    ᚠᛇᚻ ᛒᛦᚦ ᚠᚱᚩᚠᚢᚱ ᚠᛁᚱᚪ ᚷᛖᚻᚹᛦᛚᚳᚢᛗ                     | other  # a script that is not known
""")
def test_a_script_of_one_language_tells_it(text: str, code: str) -> None:
    assert told([text] * 3).turns == {code: 3}


def test_the_chat_decides_where_a_piece_could_be_of_two_languages() -> None:
    danish = "jeg glæder mig virkelig til at se jer alle sammen i weekenden, det bliver hyggeligt"
    either = "vi skal spise sammen i dag og se en film"
    assert told([danish] * 5 + [either]).turns == {"da": 6}


def test_chats_of_forty_languages_leave_the_english_encoder(data: Path) -> None:
    path = data / "multilingual" / "emotion.xed.test.jsonl.gz"
    if not path.is_file():
        pytest.skip("no multilingual data here")
    for language, lines in lines_of(path, 120).items():
        for start in range(0, len(lines) - 39, 40):
            found = told(lines[start : start + 40])
            away = encoder_for(found.turns) == "multilingual"
            assert away == (language != "en"), (language, start)


# --- grades of languages ---


MADE: Mapping[str, Any] = {
    "version": "1",
    "rules": {},
    "languages": {
        row["code"]: {
            "grade": row["grade"],
            "measures": {name: {"grade": grade} for name, grade in row["measures"].items()},
        }
        for row in records("""
    code | grade  | measures
    es   | usable | {"sentiment": "good", "emotion": "usable", "reflective": "rough", "grounding": "usable", "empathy": "usable", "intimacy": "usable"}
    sw   | rough  | {"sentiment": "rough"}
    en   | usable | {"sentiment": "usable"}
    """)  # noqa: E501
    },
}
VERSION = "multilingual 1"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Grades of this test's own, whatever ships."""
    monkeypatch.setattr(stored, "_grade_file", lambda: MADE)
    yield


def in_languages(turns: dict[str, int], chat: str = "c", version: str = VERSION) -> Languages:
    return Languages(chat, "embedded", turns, version)


def test_the_shipped_grades_can_be_read() -> None:
    for language, figures in stored._grade_file()["languages"].items():
        assert figures["grade"] in GRADES
        assert grade_of("multilingual", language) == figures["grade"]
        for measure in MEASURES:
            own = figures["measures"].get(measure, {"grade": "none"})
            assert grade_of("multilingual", language, measure) == own["grade"]


def test_every_language_that_is_told_has_a_name() -> None:
    for language in (
        *LanguageIdentifier.load_shipped().languages,
        *stored._grade_file()["languages"],
    ):
        assert language_name(language) != language


def test_grades_by_encoder_language_and_measure(made: None) -> None:
    assert grade_of("english", "en", "emotion") == "good"
    assert grade_of("english", "es") == "none"
    assert grade_of("multilingual", "es") == "usable"
    assert grade_of("multilingual", "es", "sentiment") == "good"
    assert grade_of("multilingual", "sw", "empathy") == "none"  # nobody measured it
    assert grade_of("multilingual", "xx") == "none"
    assert worst(["good", "rough", "usable"]) == "rough" and worst([]) is None
    assert is_usable("good") and is_usable("usable") and is_usable(None)
    assert not is_usable("rough") and not is_usable("none")


def test_a_mixed_chat_has_the_worse_grade(made: None) -> None:
    assert in_languages({"es": 60, "sw": 40}).grade() == "rough"
    assert in_languages({"es": 90, "sw": 10}).grade() == "usable"  # a quotation
    assert in_languages({"en": 60, "es": 40}).grade("sentiment") == "usable"
    assert in_languages({"und": 4}).grade() is None
    assert Languages("c", "judge", {"sw": 9}).grade() is None
    assert in_languages({"en": 9}, version="2").grade() == "good"


def labelled(language: str, chats: str, seed: int, version: str = VERSION) -> Any:
    rows = [
        {**row, "measure": "embedded", "version": version, "language": language}
        for at, name in enumerate(chats.split())
        for row in lively(name, ("Ana", f"Bo {name}"), seed + at, wide=seed < 9)
    ]
    return table(rows)


def test_facets_of_a_rough_language_carry_it(made: None) -> None:
    found = speakers(labelled("sw", "a", 1))
    grid = speaker_rows(found)
    assert grid.headings[-1] == "language, grade" and grid.rows[0][-1] == "Swahili: rough"
    at = grid.headings.index("sentiment diversity")
    assert str(grid.rows[0][at]).endswith("(rough)")
    assert str(grid.rows[0][grid.headings.index("empathy")]).endswith("(none)")
    told = speakers_json(found)["speakers"][0]
    assert told["grade"] == "rough" and told["facets"]["sentiment_diversity"]["grade"] == "rough"
    frame = speakers_frame(found)
    assert {"facet": "empathy", "grade": "none"} in frame["grades"][0].to_list()
    assert from_frame(frame) == found
    usable = speaker_rows(speakers(labelled("es", "a", 1)))
    assert "(rough)" in str(usable.rows[0][usable.headings.index("reflective frequency")])
    assert "(" not in str(usable.rows[0][usable.headings.index("empathy")])
    english = speaker_rows(speakers(labelled("en", "a", 1, "2")))
    assert english.headings[-1] != "language, grade"


def test_nothing_is_claimed_below_usable(made: None) -> None:
    people = speakers(labelled("en", "a b c d e", 1, "2"))
    models = speakers(labelled("sw", "f g h i j", 9))
    plain = compare(people, speakers(labelled("en", "f g h i j", 9, "2")), ("one", "two"))
    assert [each.verdict for each in plain.findings].count("cannot be told") < 3
    assert plain.unusable == frozenset() and plain.doubts == ()
    found = compare(people, models, ("one", "two"))
    assert {each.verdict for each in found.findings} == {"cannot be told"}
    assert all("labels below usable" in str(row[2]) for row in finding_rows(found).rows)
    assert all("(below usable)" in str(row[0]) for row in comparison_rows(found).rows)
    assert "empathy" in found.to_json()["below_usable"]
    # What may be the language's doing is said, beside the labellers.
    assert "what differs may be the language's doing" in found.doubts[-1]
    assert "one is in English, two in Swahili" in found.doubts[-1]
    assert found.to_json()["doubts"] == list(found.doubts)
    # Spanish is usable but for reflection: what stands on that alone is not said.
    good = compare(people, speakers(labelled("es", "f g h i j", 9)), ("one", "two"))
    assert good.unusable == {"reflective_frequency"}
    assert good.findings[1].verdict == plain.findings[1].verdict
    assert good.findings[2].verdict == "cannot be told"


def test_one_person_in_two_languages_is_said(made: None) -> None:
    import polars as pl

    both = pl.concat([labelled("es", "uno", 1), labelled("en", "two", 2, "2")])
    (line,) = consistency_doubts(consistency(both))
    assert line.startswith("Ana: uno is in Spanish, two in English: what differs may be")
    same = pl.concat([labelled("es", "uno", 1), labelled("es", "dos", 2)])
    assert consistency_doubts(consistency(same)) == ()
    assert other_languages(("a", []), ("b", [in_languages({"es": 3})])) == ()
