"""Pages of results say what the committed rows say, and the rows hold no text."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import realtalk as rt
from realtalk.files.download import DATASETS
from realtalk.formats.audit import VERDICTS
from realtalk.formats.opening import open_reading
from realtalk.memory.answers_elsewhere import score_answers
from realtalk.memory.golds import audited_gold
from realtalk.memory.rows import ANSWER_SCORES
from research.results import (
    PAGES,
    ROWS,
    languages_results,
    memory_rows,
    memory_stored,
    page_words,
    side_rows,
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("memory", marks=pytest.mark.slow),
        "languages",
        "which",
        "side",
        "who",
        pytest.param("people", marks=pytest.mark.slow),
        pytest.param("simulated", marks=pytest.mark.slow),
        pytest.param("threads", marks=pytest.mark.slow),
        pytest.param("persona", marks=pytest.mark.slow),
    ],
)
def test_a_page_is_what_its_rows_make(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = import_module(f"research.results.{name}_results")
    monkeypatch.setattr(pages, "PAGES", tmp_path)
    pages.main()
    pages_named = {"which": "which-memory", "side": "side-by-side", "who": "who-said-it"}
    page = f"{pages_named.get(name, name)}.md"
    assert (tmp_path / page).read_text("utf-8") == (PAGES / page).read_text("utf-8")


def test_the_rows_of_memory_hold_ids_and_numbers_only() -> None:
    rows = pl.read_parquet(ROWS / "memory-rows.parquet")
    assert rows.height == 22 * 728 + 3 * 140  # mem0 was told two chats
    keys = rows.select("memory", "budget", "chat", "question")
    assert keys.is_unique().all()
    chats = {file.name.removesuffix(".json") for file in DATASETS["realtalk"].files}
    known: dict[str, set[str]] = {
        "memory": {"none", "recent", "events", "restored", "retrieved", "langchain", "whole"}
        | {"oracle", "mem0"},
        "budget": {"all", "125w", "250w", "500w", "1000w", "2000w", "4000w"},
        "chat": chats,
        "question": {f"Q{number}" for number in range(1, 100)},
        "category": {"multi_hop", "temporal", "commonsense"},
        "verdict": set(VERDICTS),
        "left_out_audited": {
            audited_gold(None, None).left_out,
            *(f"the audit calls it {verdict}" for verdict in VERDICTS),
        },
    }
    for name, kind in rows.schema.items():
        if not kind.is_numeric() and kind != pl.Boolean:
            said = set(rows[name].cast(pl.String).drop_nulls())
            assert said <= known.get(name, set()), name


def test_memories_side_by_side_are_measured_as_the_command_does() -> None:
    corpus = open_reading("sample").reading.corpus
    row = side_rows.measured(corpus, "published", "BM25")
    probed = rt.probe("sample", settings={"way": "bm25"}, budget=side_rows.BUDGET)
    order, shown = probed.variants.values()
    for name in side_rows.SCORES:
        one = {**order.overall, **shown.overall}[name]
        assert one.value is not None
        assert row[name]["value"] == round(one.value, 4) and row[name]["n"] == one.n
    assert row["recall_ms"] > 0 and row["build_s"] > 0
    for stored in side_rows.stored():  # names and numbers only
        assert stored["set"] in side_rows.SETS and stored["memory"] in side_rows.MEMORIES
        texts = {key for key, value in stored.items() if isinstance(value, str)}
        assert texts == {"set", "memory", "version"}


def test_the_rows_of_languages_hold_names_and_ranks_only() -> None:
    rows = pl.read_parquet(ROWS / "languages-rows.parquet")
    assert rows.schema["rank"].is_integer() and rows["rank"].min() == 1
    assert rows.select(pl.exclude("rank")).is_unique().all()
    assert set(rows["set"]) == {"own", "across", "paraphrases"}
    assert set(rows["way"]) == set(languages_results.WAYS)
    assert rows["language"].str.contains(r"^[a-z]{2}(-Latn)?$").all()
    assert rows["question"].str.contains(r"^(M\d+/|S)\d+$").all()
    # English is ranked as English.
    english = rows.filter(pl.col("language") == "en").sort("set", "question")
    before, now = (english.filter(pl.col("way") == way)["rank"] for way in ("english", "now"))
    assert before.to_list() == now.to_list()


def test_the_rows_of_people_hold_hashed_names_and_numbers_only() -> None:
    named = {"sample": r"p[0-9a-f]{8} later#\d+", "chat": r"p[0-9a-f]{8} later"}
    named |= {"unscored": "empty answer|nothing to match"}
    named |= {"group": "p[0-9a-f]{8}", "run": r"[a-z+]+(25|50)?(-[a-z]+){0,2}", "opening": "[a-z]+"}
    paths = sorted((ROWS / "people").glob("*/**/*.parquet"))
    assert paths
    for path in paths:
        for name, said in pl.read_parquet(path).select(pl.col(pl.String)).to_dict().items():
            wanted = named.get(name, r"[a-z]*|p[0-9a-f]{8} (earlier|later)|other chats|\d+")
            assert said.drop_nulls().str.contains(f"^({wanted})$").all(), (path, name)


def test_translations_of_a_question_make_no_interval_narrower() -> None:
    """Twelve questions in sixteen languages are twelve questions."""
    ranks = [1, 9, 1, 9, 1, 1, 9, 9, 1, 9, 1, 9]

    def asked(languages: int) -> pl.DataFrame:
        return pl.DataFrame(
            [
                {"language": f"l{at}", "question": f"Q{number}", "way": "now", "rank": rank}
                for at in range(languages)
                for number, rank in enumerate(ranks)
            ]
        )

    one, many = (languages_results.estimates(asked(languages))["any@5"] for languages in (1, 16))
    assert many.value == one.value == 0.5
    assert many.low is not None and many.high is not None
    assert many.high - many.low > 0.4  # languages drawn whole: no width at all
    cells = languages_results.line(
        "all", pl.concat([asked(16).with_columns(way=pl.lit(w)) for w in languages_results.WAYS])
    )
    assert cells[2] == page_words.told(many)


def test_no_test_sets_two_versions_of_the_encoder_side_by_side() -> None:
    """What version 1 showed is marked in the tables; which budget is best, the rows say."""
    page = (PAGES / "memory.md").read_text("utf-8")
    tables, tests = page.split("### Retrieval against the whole conversation")
    for memory, budget in memory_stored.EARLIER:
        assert f"| {memory} {budget} † |" in tables
        assert f"| {memory} {budget} |" not in page
        assert f"{memory} {budget}" not in tests
    assert "| 4000w |" not in tests
    rows = pl.read_parquet(ROWS / "memory-rows.parquet").with_columns(
        pl.col("memory", "budget").cast(pl.String)
    )
    shown = rows.filter(memory="retrieved").filter(pl.col("budget") != "4000w")
    means = shown.group_by("budget").agg(pl.col("f1", "accepted_audited").mean())
    best, right = (
        means.sort(score)["budget"][-1].removesuffix("w") for score in ("f1", "accepted_audited")
    )
    assert f"{best} words have the highest F1" in " ".join(page.split())
    assert f"and {right} the most accepted answers" in " ".join(page.split())


def test_answers_from_elsewhere_are_scored_without_their_texts() -> None:
    corpus = open_reading("sample").reading.corpus
    title, about = "recent 500w", {"memory": "recent", "budget": "500w"}
    asked = [(chat, question) for chat in corpus.chats for question in chat.questions]
    shown = {
        (title, chat.id, q.id): {"message_ids": list(q.evidence), "tokens": 40, "words": 30}
        for chat, q in asked
    }
    answers = {
        (title, chat.id, q.id): {
            "answer": (q.answer or "it was never said") if place % 2 else "zzz",
            "tokens_in": 90,
            "tokens_out": 7,
            "ended": True,
            "early": place == 0,
        }
        for place, (chat, q) in enumerate(asked)
    }
    rows = memory_rows.scored(corpus, (title, about), shown, answers, len)
    elsewhere = score_answers(
        corpus,
        [
            {"chat": chat, "id": id_, "budget": "500w", **shown[title, chat, id_], **answer}
            for (_, chat, id_), answer in answers.items()
        ],
    )
    for row, other, (chat, question) in zip(rows, elsewhere.rows, asked, strict=True):
        assert (row["chat"], row["question"]) == (chat.id, question.id)
        assert {name: row[name] for name in ANSWER_SCORES} == {
            name: other[name] for name in ANSWER_SCORES
        }
        assert row["recall@budget"] == (1.0 if question.evidence else None)
        assert row["beyond"] == 7 - row["tokens_out"]
        said = {value for value in row.values() if isinstance(value, str)}
        assert not said & {question.text, question.answer, "zzz"}
    assert {row["accepted"] for row in rows} == {0.0, 1.0}
    assert memory_rows.frame(rows).height == len(asked)
