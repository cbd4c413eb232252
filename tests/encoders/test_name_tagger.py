"""The name tagger: spans of whole words, the same for a text alone and among others; lists of names
that its chances are read beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from realtalk.encoders.name_tagger import NameTagger
from realtalk.encoders.tag_spans import (
    NameWords,
    SpanDecoder,
    TaggedSpan,
    WeighedWords,
    case_of,
    hash_of,
    word_case,
)
from realtalk.redaction.sources import name_sources, tagger_shipped
from refusals import refused
from written_onnx import LONGEST, tiny_tagger

SHIPPED = pytest.mark.skipif(not tagger_shipped(), reason="the tagger's weights are not here")
TEXTS = [
    "ask ingrid if she is still at the bakery in Gdansk",
    "ok",
    "Frau Sommerfeld kommt morgen mit dem Hund",
    "спроси у Маши, она в Казани",
    "我明天和李小红去上海",
    "ok",
    "x" * 800 + " Ingrid",
    "so " * 400 + "Ingrid Berg came",
    "",
]


@pytest.fixture
def tagger(tmp_path: Path) -> NameTagger:
    words = {"anna": "person", "lund": "person", "oslo": "place", "born": "birthday"}
    return NameTagger(tiny_tagger(tmp_path, words, unsure={"rose": "person"}))


def read(decoder: SpanDecoder, *given: Any, **more: Any) -> list[TaggedSpan]:
    return decoder.spans(decoder.weigh(*given, **more))


def named(tagger: NameTagger, text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.kind) for span in tagger.tag([text])[0]]


def test_words_are_tagged_where_they_stand(tagger: NameTagger) -> None:
    assert named(tagger, "ask Anna, she is in OSLO") == [("Anna", "person"), ("OSLO", "place")]
    assert named(tagger, "nobody here") == [] and named(tagger, "") == []
    ((sure,), (unsure,)) = tagger.tag(["anna", "a rose"])
    assert sure.score > 0.75 and 0.4 < unsure.score < 0.75


def test_a_text_is_the_same_alone_and_among_others(tagger: NameTagger) -> None:
    texts = ["anna", "ask anna in oslo", "oslo", "anna", "ask anna in oslo", "a " * 40 + "anna"]
    assert tagger.tag(texts) == [tagger.tag([text])[0] for text in texts]


@pytest.mark.parametrize("before", [0, 1, LONGEST - 1, LONGEST, 3 * LONGEST, 100])
def test_names_of_long_texts_are_found_at_every_place(tagger: NameTagger, before: int) -> None:
    text = "so " * before + "anna " + "and " * 30 + "oslo"
    assert named(tagger, text) == [("anna", "person"), ("oslo", "place")]


def test_scores_follow_the_thresholds_and_pieces_make_words() -> None:
    decoder = SpanDecoder(["person", "place"], {"person": [0.4, 0.8], "place": [0.4, 0.8]})
    offsets = [(0, 3), (4, 6), (6, 8), (9, 13), (13, 14)]

    def spans(*rows: list[float]) -> list[TaggedSpan]:
        return read(decoder, "hey Anna Lund!", offsets, np.array(rows, np.float32))

    out = [1.0, 0, 0, 0, 0]
    (whole,) = spans(out, [0, 1, 0, 0, 0], [0.4, 0, 0.6, 0, 0], [0.2, 0, 0.8, 0, 0], out)
    assert (whole.start, whole.end, whole.kind) == (4, 13, "person") and whole.score >= 0.75
    two = spans(out, [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 0, 0, 0], out)
    assert [(each.start, each.end) for each in two] == [(4, 8), (9, 13)]
    # Whether it is a person or a place is open; that it is a name is not.
    (mixed,) = spans(out, out, out, [0, 0.5, 0, 0.5, 0], out)
    assert mixed.score == pytest.approx(1.0)
    (weak,) = spans(out, out, out, [0.8, 0.2, 0, 0, 0], out)
    assert weak.score == pytest.approx(0.25)
    assert spans(out, out, out, out, [0, 1, 0, 0, 0]) == []  # a mark is nobody


def test_signs_that_touch_are_one_name_and_rare_words_need_more() -> None:
    plain = {"person": [0.5, 0.9]}
    rows = np.array([[0, 1, 0], [0.8, 0, 0.2]], np.float32)
    assert [
        each.end for each in read(SpanDecoder(["person"], plain), "小明", [(0, 1), (1, 2)], rows)
    ] == [2]
    assert len(read(SpanDecoder(["person"], plain), "al li", [(0, 2), (3, 5)], rows)) == 2
    # How often a word's pieces are in names counts beside what the model sees.
    decoder = SpanDecoder(["person"], plain, [0.0, 1.0, 1.0, *[0.0] * 7])
    seen = np.array([[0.3, 0.7, 0]], np.float32)
    (often,) = read(decoder, "rosa", [(0, 4)], seen, np.array([2.0], np.float32))
    (seldom,) = read(decoder, "nada", [(0, 4)], seen, np.array([-1.5], np.float32))
    assert often.score > 0.75 and seldom.score < 0.5
    assert read(decoder, "nada", [(0, 4)], seen, np.array([-6.0], np.float32)) == []


def test_a_capital_inside_a_sentence_tells_more_and_not_in_every_language() -> None:
    inside = [0.0, 1.0, *[0.0] * 6, 3.0, 0.0]  # of nothing, what is seen, ..., a capital inside
    decoder = SpanDecoder(
        ["person"],
        {"person": [0.5, 0.9]},
        inside,
        by_language={"de": [*[0.0] * 8, -3.0, 0.0]},
    )
    rows = np.array([[1, 0, 0], [0.7, 0.3, 0]], np.float32)

    def score(text: str, lang: str = "") -> float:
        start = text.index("Hope")
        offsets = [(0, start - 1), (start, start + 4)]
        (found,) = read(decoder, text, offsets, rows, lang=lang)
        return found.score

    assert score("with Hope") > 0.5 > score("well. Hope")
    assert score("with Hope", "fr") == score("with Hope")  # a language without weights of its own
    assert score("mit Hope", "de") < 0.5
    assert score('so, "Hope') > 0.5 and score("so\n Hope") < 0.5


def test_the_language_of_a_text_is_told_from_those_around_it(
    tagger: NameTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(tagger, "_reads_languages", True)
    decoder = tagger._decoder
    weigh = decoder.weigh

    def noted(*given: Any) -> WeighedWords | None:
        asked.append(given[4])
        return weigh(*given)

    monkeypatch.setattr(decoder, "weigh", noted)
    german = "wir treffen uns morgen am Bahnhof und gehen dann zusammen etwas essen"
    tagger.tag([german, "ok", german + " oder nicht"])
    assert asked == ["de", "de", "de"]


def test_how_words_are_written() -> None:
    words = ("anna", "Anna", "ANNA", "McCoy", "42", "…", "王", "A")
    assert [case_of(word) for word in words] == [1, 2, 3, 4, 5, 0, 0, 2]
    assert word_case("hey Anna!", 6, 8) == 2 and word_case("hey Anna!", 8, 9) == 2


@pytest.mark.parametrize("kept", [0, 20, 200])
def test_a_table_that_is_cut_off_is_one_line(tmp_path: Path, kept: int) -> None:
    folder = tiny_tagger(tmp_path, {"anna": "person"})
    path = folder.parent / "encoder" / "table.npz"
    path.write_bytes(path.read_bytes()[:kept])
    with refused("weights cannot be read"):
        NameTagger(folder)


@SHIPPED
def test_the_shipped_tagger_knows_names_of_many_languages() -> None:
    tagger = NameTagger()
    found = tagger.tag(TEXTS)
    for number, name in ((0, "ingrid"), (2, "Sommerfeld"), (3, "Маши"), (4, "李小红")):
        forms = [TEXTS[number][each.start : each.end] for each in found[number]]
        assert any(name in form for form in forms), (name, forms)
    assert found[1] == [] and len(name_sources()) == 2


@SHIPPED
def test_the_shipped_tagger_says_the_same_bytes_in_any_batch() -> None:
    tagger = NameTagger()
    together = [chances for *_, chances in tagger.chances(TEXTS * 3)]
    by_one_thread = NameTagger(threads=1)
    for at, text in enumerate(TEXTS):
        ((*_, alone),) = by_one_thread.chances([text])
        for copy in (at, at + len(TEXTS), at + 2 * len(TEXTS)):
            assert np.array_equal(alone, together[copy])


def test_a_chat_that_names_few_still_names_them(tmp_path: Path) -> None:
    """Names are rarer there, so that a word needs more; one that is clear stays."""
    folder = tiny_tagger(tmp_path, {"anna": "person"})
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    # The model is sure; as a name it is then right nine times of ten (0.4 * log(.998 / .002)).
    settings |= {"weights": [0.0, 0.4, *[0.0] * 8], "names_among_words": 0.05}
    (folder / "settings.json").write_text(json.dumps(settings))
    small_talk = [f"so {number} of them went out again" for number in range(1500)]
    *_, named_once = NameTagger(folder).tag([*small_talk, "ask anna"])
    (among_many,) = NameTagger(folder).tag(["ask anna"])
    assert [span.kind for span in named_once] == ["person"]
    assert 0.5 < named_once[0].score < among_many[-1].score


# --- lists of names ---


LISTS = NameWords.of(
    {"ingrid", "mark", "ريم", "小明", "王小明", "रोहन", "new harbour"},
    {"mark": 40, "kettle": 9, "小明": 2},
)


def rows(text: str, *words: str) -> list[list[float]]:
    places = [(text.index(word), text.index(word) + len(word)) for word in words]
    return [[float(cell) for cell in row] for row in LISTS.features_of(text, places)]


def test_words_are_listed_or_plain_whatever_their_case() -> None:
    text = "ask INGRID or mark, the kettle is Odd"
    assert rows(text, "INGRID", "mark", "kettle", "Odd") == [
        [1, 0, 0],
        [1, 6, 0],
        [0, 0, 4],
        [0, 0, 0],
    ]


def test_marks_belong_to_their_letters_and_little_words_may_stand_before() -> None:
    assert rows("रोहन कहाँ है", "रोहन") == [[1, 0, 0]]
    assert rows("سلمي لريم وريم", "لريم", "وريم") == [[1, 0, 0], [1, 0, 0]]
    assert rows("حريم", "حريم") == [[0, 0, 0]]  # another word, which ends alike


def test_signs_in_a_row_are_looked_up_and_the_longest_counts() -> None:
    text = "我和王小明去"
    assert rows(text, "王", "小", "明") == [[1, 0, 0]] * 3
    assert rows(text, "和", "去") == [[0, 0, 0]] * 2
    assert rows("小明呢", "小") == [[1, 2, 0]]


def test_names_of_several_words_are_found_in_a_row() -> None:
    text = "off to New Harbour, a new town"
    assert rows(text, "New", "Harbour", "town") == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert rows("new. harbour", "new", "harbour") == [[0, 0, 0], [0, 0, 0]]


def test_what_is_stored_is_what_is_loaded(tmp_path: Path) -> None:
    LISTS.save(tmp_path / "words.npz")
    assert NameWords.load(tmp_path / "words.npz") == LISTS
    assert b"ingrid" not in (tmp_path / "words.npz").read_bytes()
    assert hash_of("É") == hash_of("e\u0301")


def test_a_listed_word_is_found_where_the_tagger_sees_little() -> None:
    thresholds = {"person": [0.5, 0.9]}
    chances = np.array([[0.97, 0.03, 0.0], [0.97, 0.03, 0.0]], np.float32)
    weights = [-2.0, *[0.0] * 9, 4.0, *[0.0] * 5]
    decoder = SpanDecoder(["person"], thresholds, weights, LISTS)
    (found,) = decoder.spans(decoder.weigh("ask ingrid", [(0, 3), (4, 10)], chances))
    assert (found.start, found.end, found.kind) == (4, 10, "person") and found.score >= 0.5
    alone = SpanDecoder(["person"], thresholds)
    assert alone.weigh("ask ingrid", [(0, 3), (4, 10)], chances) is None
