"""A tagger's spans beside the rules: what both see goes, what one doubts is listed."""

from __future__ import annotations

from collections.abc import Sequence

import redacted_chats
from realtalk.chat import Corpus
from realtalk.encoders.tag_spans import TaggedSpan
from realtalk.redaction.redact import find_candidates
from realtalk.redaction.sources import TaggedNames
from redacted_chats import WordTagger, corpus_of
from text_tables import cases


def texts_of(corpus: Corpus, tagger: WordTagger) -> list[str]:
    return redacted_chats.texts_of(corpus, sources=[TaggedNames(tagger)])


def test_a_name_seen_once_goes_everywhere_in_small_letters_too() -> None:
    tagger = WordTagger(("Ingrid", "person", 0.95), ("ingrid", "person", 0.2))
    corpus = corpus_of("Ingrid came", "ask ingrid", "INGRID!", "a grid")
    assert texts_of(corpus, tagger) == ["Person3 came", "ask Person3", "Person3!", "a grid"]


def test_a_word_that_is_a_name_elsewhere_stays_in_small_letters() -> None:
    tagger = WordTagger(("Rosa", "person", 0.95))
    corpus = corpus_of("Rosa came", "ein kleid in rosa", "rosa ist schön", "alles rosa")
    assert texts_of(corpus, tagger)[1:] == ["ein kleid in rosa", "rosa ist schön", "alles rosa"]


def test_a_word_in_small_letters_that_mostly_follows_an_article_is_a_thing() -> None:
    tagger = WordTagger(("harmonica", "person", 0.95), ("odile", "person", 0.95))
    corpus = corpus_of("did the harmonica come?", "with some harmonica", "this odile", "odile came")
    assert texts_of(corpus, tagger) == [
        "did the harmonica come?",
        "with some harmonica",
        "this Person3",
        "Person3 came",
    ]
    listed = {
        each.form: each.is_replaced
        for each in find_candidates(corpus, sources=[TaggedNames(tagger)])
    }
    assert listed == {"harmonica": False, "odile": True}


def test_a_word_that_is_taken_for_a_name_once_in_many_times_is_a_word() -> None:
    words = [f"der Stern scheint, Nacht {at}" for at in range(12)]
    tagger = WordTagger(("Stern", "person", 0.6), only="Nacht 3")
    assert not any("Person3" in text for text in texts_of(corpus_of(*words), tagger))
    (listed,) = find_candidates(corpus_of(*words), sources=[TaggedNames(tagger)])
    assert (listed.form, listed.is_replaced) == ("Stern", False)


def test_capitals_count_only_where_the_tagger_sees_something() -> None:
    corpus = corpus_of(
        "I told Ingrid", "so Ingrid came", "my Sofa is red", "the new Sofa of my Sofa"
    )
    assert texts_of(corpus, WordTagger())[:2] == ["I told Ingrid", "so Ingrid came"]
    seen = WordTagger(("Ingrid", "person", 0.2))
    assert texts_of(corpus, seen)[:2] == ["I told Person3", "so Person3 came"]
    assert texts_of(corpus, seen)[2] == "my Sofa is red"
    place = WordTagger(("Ingrid", "place", 0.9))
    assert texts_of(corpus, place)[0] == "I told <place-1>"


@cases("""
    form         | kind         | made
    Person1 Berg | person       | ask Person1 Person3 now
    monday       | place        | ask monday now
    may          | person       | ask may now
    no           | number       | ask no now
    12 Elm       | address      | ask <address-1> now
    somewhere    | address      | ask somewhere now
    X9           | number       | ask X9 now
    AB-1234      | number       | ask <number-1> now
    Kestrel Ltd. | organisation | ask <organisation-1>. now
""")
def test_what_cannot_be_of_its_kind_stays(form: str, kind: str, made: str) -> None:
    corpus = corpus_of(f"ask {form} now", speakers=("Person1", "Person2"))
    assert texts_of(corpus, WordTagger((form, kind, 0.95))) == [made]


def test_a_nickname_joins_somebody_who_is_only_spoken_of() -> None:
    tagger = WordTagger(("Alexander Quill", "person", 0.95), ("Sasha", "person", 0.95))
    corpus = corpus_of("Alexander Quill is here", "Sasha laughed")
    assert texts_of(corpus, tagger) == ["Person3 is here", "Person3 laughed"]


def test_a_form_has_the_kind_that_it_mostly_is() -> None:
    class Mixed(WordTagger):
        def tag(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
            kinds = ["person", "place", "place"]
            return [
                [TaggedSpan(text.find("Aldham"), text.find("Aldham") + 6, kind, 0.9)]
                for text, kind in zip(texts, kinds, strict=True)
            ]

    corpus = corpus_of("Aldham is far", "in Aldham", "to Aldham")
    assert texts_of(corpus, Mixed())[0] == "<place-1> is far"


def test_a_date_that_stands_alone_is_no_date_of_birth() -> None:
    tagger = WordTagger(("03.03.1986", "birthday", 0.9))
    assert texts_of(corpus_of("03.03.1986"), tagger) == ["03.03.1986"]
    assert texts_of(corpus_of("she came on 03.03.1986"), tagger) == ["she came on <birthday-1>"]
