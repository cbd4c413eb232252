"""Speakers who are called like a word of their language: the word stays, the name goes.

Every chat is our own. `[word]` marks an ordinary use, which must stay, `{name}` what must go.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from realtalk.redaction.redact import find_candidates, redact
from realtalk.text.ordinary import ordinary_words
from redacted_chats import Listed, corpus_of, texts_of
from text_tables import cases

BENCH = Path(__file__).parents[2] / "bench"
MARK = re.compile(r"[\[{](.*?)[\]}]")
_FILE = Path(__file__).parents[1] / "support" / "ordinary_words.toml"
CHATS: dict[str, dict[str, list[str]]] = tomllib.loads(_FILE.read_text("utf-8"))


@pytest.mark.parametrize("language", CHATS)
def test_words_stay_and_names_go(language: str) -> None:
    marked = CHATS[language]["lines"]
    plain = [MARK.sub(r"\1", text) for text in marked]
    made, key = redact(corpus_of(*plain, speakers=tuple(CHATS[language]["speakers"])))
    assert language in ordinary_words(plain).languages
    for text, message in zip(marked, made.chats[0].messages, strict=True):
        between = (re.escape(piece) for piece in re.split(r"\{.*?\}", text))
        kept = r"[^\s,،，、]+\d".join(between).replace(r"\[", "").replace(r"\]", "")
        assert re.fullmatch(kept, message.text), message.text
    assert key.left > 0


@cases("""
    speakers              | said | expected
    # A name that is no word goes in small letters.
    Mara, Theo Lund       | i saw mara at the market with the dog | i saw Person1 at the market with the dog
    Mara, Theo Lund       | marának, and it was so good to see maraaa | Person1, and it was so good to see Person1
    # A clipped name goes in address only.
    Gino, Valentina Conti | non ne vale la pena, ma se lo dici tu / Vale, vieni? / grazie vale / e il biglietto quanto vale per te? | non ne vale la pena, ma se lo dici tu / Person2, vieni? / grazie Person2 / e il biglietto quanto vale per te?
    # A word that lists of names have is one where the chat shows it.
    Angel, Bo Quist       | is there an angel on the tree? i want the angel, not a star | is there an angel on the tree? i want the angel, not a star
    Angel, Bo Quist       | we told angel about it, you know that | we told Person1 about it, you know that
""")  # noqa: E501
def test_where_a_speakers_word_is_a_name(speakers: str, said: str, expected: str) -> None:
    corpus = corpus_of(*said.split(" / "), speakers=tuple(speakers.split(", ")))
    assert texts_of(corpus) == expected.split(" / ")


def test_what_a_tagger_finds_in_a_speakers_word_is_not_replaced() -> None:
    corpus = corpus_of("the frogs in the marsh were so loud to me", speakers=("Rose Marsh", "Bo"))
    assert find_candidates(corpus, sources=[Listed(("marsh", "person", 0.9))]) == []


@pytest.mark.slow
def test_the_chats_of_the_bench_keep_their_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ordinary words at most one in a hundred goes as a speaker's, of speakers one is left."""
    monkeypatch.syspath_prepend(str(BENCH))
    sys.modules.pop("names", None)
    import names
    import names_words

    tool = names.realtalk_tool()
    languages, whole = set(), Counter[str]()
    for chat in names.own_chats(BENCH / "names" / "words"):
        gone = tool(chat)
        rows = [(r.speaker, r.text, r.spans, g) for r, g in zip(chat.rows, gone, strict=True)]
        counts = names_words.counted(rows)
        languages.add(chat.lang)
        whole.update(counts)
        assert chat.name.endswith("-0") or counts["WORD"] > 2
    assert len(languages) >= 12
    assert 100 * whole["WORD replaced"] <= whole["WORD"]
    assert 100 * whole["SPEAKER left"] <= whole["SPEAKER"]
