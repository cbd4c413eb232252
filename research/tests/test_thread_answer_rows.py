"""Answers that were made elsewhere become rows of the package, without their texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from realtalk.chat import Corpus
from realtalk.evals.values import Row
from realtalk.formats.opening import open_reading
from realtalk.threads.benchmark import ThreadTask
from realtalk.threads.sampling import Draw
from realtalk.threads.values import SETTINGS, TASKS
from research.papers.shared_rows import PredictionKey, load_predictions, shared_frame, write_shared
from research.results import ROWS, threads_answers

LIMIT = 24
SAID = {
    "sentiment": ("Positive.", "negative", "positive or negative"),
    "impact": ("12", "Score: -3", "between 3 and 7"),
    "next_text": ('"The kettle sings again"', "I would not paint it green", ""),
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_reading("sample-threads").reading.corpus


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """research/results/threads_answers.py, with its runs below a folder that goes away."""
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(threads_answers, "BUILD", tmp_path / "build")
    return threads_answers


def made_up(corpus: Corpus, rules: str = "clean 0 recent") -> dict[tuple[str, str], Row]:
    """An answer to every prompt of one set of rules; the third of each three cannot be read."""
    answers: dict[tuple[str, str], Row] = {}
    for task in TASKS:
        for target in Draw(task, limit=LIMIT).samples(corpus).part("test"):
            for setting in SETTINGS:
                title = f"sample {rules} {task} {setting}"
                at = len(answers)
                answers[title, target.key] = {
                    "set": title,
                    "id": target.key,
                    "answer": SAID[task][at % 3],
                    "ended": at % 3 != 1,
                    "tokens_in": 100 + at,
                    "tokens_out": 3,
                    **({"positive": (at % 10) / 10} if task == "sentiment" else {}),
                }
    return answers


def no_report(module: Any) -> Row:
    found: Row = module.reported([{"base": "tiny", "sets": {}, "left": 0}], {})
    return found


def test_answers_are_read_and_scored_by_the_package(scripts: Any, corpus: Corpus) -> None:
    answers = made_up(corpus)
    about = no_report(scripts)
    for name in TASKS:
        task = ThreadTask(Draw(name, limit=LIMIT).samples(corpus), SETTINGS)
        rows = scripts.answered(task, f"sample clean 0 recent {name}", answers, about)
        assert len(rows) == 4 * LIMIT
        for row in rows:
            given = answers[f"sample clean 0 recent {name} {row['variant']}", row["sample"]]
            unread = given["answer"] == SAID[name][2]
            assert (row["unscored"] is not None) == unread
            assert (row["tokens_in"], row["calls"]) == (given["tokens_in"], 1)
            assert row.get("positive") == given.get("positive")
            # Unread is unscored, never nothing or wrong.
            if unread:
                assert row["predicted"] is None and row["rouge_1"] is None
            elif name == "next_text":
                assert row["answer"] in ("The kettle sings again", SAID[name][1])
                assert row["rouge_1"] is not None and row["cosine"] is not None
        counted = sum(sum(each.values()) for each in about["unread"].values())
        assert counted == sum(row["answer"] is None for row in rows) + _before(about, name)
    assert not about["lacking"]
    assert about["unread"]["sample clean 0 recent impact p-conv"] == {"several numbers": LIMIT // 3}
    assert sum(about["cut"].values()) == len(answers) // 3


def _before(about: Row, name: str) -> int:
    return sum(
        sum(each.values()) for title, each in about["unread"].items() if f" {name} " not in title
    )


def test_answers_that_are_missing_are_counted(scripts: Any, corpus: Corpus) -> None:
    answers = made_up(corpus)
    title = "sample clean 0 recent impact np-conv"
    gone = [key for key in answers if key[0] == title][:5]
    for key in gone:
        del answers[key]
    about = no_report(scripts)
    task = ThreadTask(Draw("impact", limit=LIMIT).samples(corpus), SETTINGS)
    rows = scripts.answered(task, "sample clean 0 recent impact", answers, about)
    assert len(rows) == 4 * LIMIT - 5
    assert about["lacking"] == {title: 5}


def test_answers_of_several_calls_are_joined(scripts: Any, tmp_path: Path) -> None:
    for at, word in enumerate(("positive", "negative")):
        row = {"set": "a", "id": "t/1", "answer": word, "tokens_in": 9, "tokens_out": at}
        more = {**row, "id": f"t/more-{at}"}
        lines = "".join(json.dumps(each) + "\n" for each in (row, more))
        (tmp_path / f"{at}.jsonl").write_text(lines, "utf-8")
    found = scripts.read_answers([tmp_path / f"{at}.jsonl" for at in range(2)])
    assert found["a", "t/1"]["answer"] == "negative"
    told = {"prompts": 3, "tokens_in": 9, "tokens_out": 1, "seconds": 0.5}
    about = scripts.reported([{"base": "tiny", "sets": {"a": told}, "left": 2}] * 2, found)
    # Counted from the answers: a call that was stopped left no report.
    assert about["sets"] == {"a": {"prompts": 3, "tokens_in": 27, "tokens_out": 2}}
    assert (about["base"], about["seconds"]) == ("tiny", 1.0)


def test_who_wrote_it_learns_from_other_threads_and_before(scripts: Any, corpus: Corpus) -> None:
    targets = Draw("next_text").samples(corpus).part("test")
    authors = scripts.Authors(corpus, targets)
    assert sum(authors.known.values()) == len({target.user for target in targets})
    texts = {target.text for target in targets}
    for user in {target.user for target in targets}:
        own, others = authors._learned(user)
        assert len(others) <= len(own) <= 200
        # Nothing that is asked about has been learned from, but for what people say twice.
        assert len([text for text in own if text in texts]) <= 1
        shares = authors.shares(user, ["The kettle sings again", "nobody said that"])
        assert all(share is None or 0 <= share <= 1 for share in shares)


@pytest.mark.slow
def test_the_whole_table_holds_no_text(scripts: Any, corpus: Corpus, tmp_path: Path) -> None:
    """Also the predictors beside it, on the very same replies."""
    answers = made_up(corpus)
    about = no_report(scripts)
    frames = list(scripts.scored(corpus, "sample", answers, about, LIMIT))
    write_shared(frames, tmp_path / "rows.parquet")
    loaded = load_predictions([tmp_path / "rows.parquet"])
    for task in TASKS:
        own = loaded[PredictionKey("sample", "clean", 0, "recent", task, scripts.MODEL)]
        replies = {row["sample"] for row in own}
        assert len(replies) == LIMIT
        beside = [key for key in loaded if (key.task, key.rules) == (task, "clean")]
        names = {key.predictor for key in beside}
        assert {"majority", "nearest"} <= names
        for key in beside:
            assert {row["sample"] for row in loaded[key]} == replies
    spoken = {message.text for chat in corpus.chats for message in chat.messages}
    known = spoken | {each for said in SAID.values() for each in said}
    for frame in frames:
        for column in frame.columns:
            if column not in ("reply", "user") and not frame[column].dtype.is_numeric():
                assert not known & set(frame[column].drop_nulls().to_list())
    assert shared_frame(PredictionKey("a", "clean", 0, "recent", "impact", "x"), []).height == 0


def test_the_committed_rows_hold_numbers_and_known_words_only() -> None:
    rows = pl.read_parquet(ROWS / "threads-model-rows.parquet")
    assert rows["reply"].dtype.is_integer() and rows["user"].dtype.is_integer()
    limits = {"domain": 14, "predictor": 8, "unscored": 4}  # how many words a column may know
    for name, kind in rows.schema.items():
        if not kind.is_numeric():
            words = set(rows[name].cast(pl.String).drop_nulls())
            assert len(words) <= limits.get(name, 5), name
            assert all(len(word) < 40 for word in words), name
    keys = ("corpus", "rules", "shots", "history", "task", "predictor", "setting", "reply")
    assert rows.select(keys).is_unique().all()
