"""Questions that the chat does not answer, and runs that earlier versions scored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plain_reader import MessageReader
from realtalk.chat import Corpus, Question
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.answers_elsewhere import read_answers, score_answers
from realtalk.memory.asking import Plan, contexts
from realtalk.memory.benchmark import judge_run, rescore_run, run_probe
from realtalk.memory.golds import UNTOLD, Judge
from realtalk.memory.plain import Recent
from realtalk.memory.remembering import Item, NoReader, load_wording, prompt_of
from realtalk.memory.rows import category_of, may_abstain
from realtalk.memory.values import Budget, Context
from realtalk.models.asking import ModelConfig
from refusals import refused
from short_chats import chat_of

TURN = {"role": "user", "content": "the ferry costs nine crowns", "has_answer": True}


def item(id_: str, answer: str) -> dict[str, Any]:
    return {
        "question_id": id_,
        "question_type": "multi-session",
        "question": "What does the bus cost?",
        "answer": answer,
        "question_date": "2026/05/02 (Sat) 04:40",
        "haystack_session_ids": ["s1"],
        "haystack_dates": ["2026/04/11 (Sat) 07:47"],
        "haystack_sessions": [[TURN, {"role": "assistant", "content": "noted"}]],
        "answer_session_ids": ["s1"],
    }


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """LongMemEval's layout: one question with an answer, one without."""
    path = tmp_path / "questions.json"
    both = [item("q1", "nine crowns"), item("q2_abs", "You did not mention any bus.")]
    path.write_text(json.dumps(both), "utf-8")
    return open_reading(path).reading.corpus


def answers(*said: str) -> list[dict[str, Any]]:
    return [{"id": id_, "answer": each} for id_, each in zip(("q1", "q2_abs"), said, strict=False)]


def test_longmemeval_abstentions_are_a_category_and_readers_are_told(corpus: Corpus) -> None:
    first, second = (chat.questions[0] for chat in corpus.chats)
    assert (category_of(first), category_of(second)) == ("multi_session", "abstention")
    said = replace(first, extra='{"note":"abstention"}')  # a text that speaks of it is no mark
    assert category_of(said) == "multi_session"
    assert may_abstain(corpus)
    assert not may_abstain(replace(corpus, chats=corpus.chats[:1]))
    plan = Plan(corpus, Recent(), NoReader(), (Budget(),), ("abstention",))
    assert [q.id for _, chosen in plan.questions for q in chosen] == ["q2_abs"]
    with refused("unknown-category"):
        Plan(corpus, Recent(), NoReader(), (Budget(),), ("abstension",))


def test_an_abstention_is_right_and_an_answer_wrong(corpus: Corpus, tmp_path: Path) -> None:
    right = score_answers(corpus, answers("nine crowns", "not mentioned"), tmp_path / "right")
    wrong = score_answers(corpus, answers("not mentioned", "nine crowns"), tmp_path / "wrong")
    assert [row["category"] for row in right.rows] == ["multi_session", "abstention"]
    for score in ("f1", "exact", "rouge_l_stemmed", "date_f1"):
        assert [row[score] for row in right.rows] == [1.0, 1.0]
        assert [row[score] for row in wrong.rows] == [0.0, 0.0]
    assert set(right.variants["all"].slices) == {"multi_session", "abstention"}


def test_the_judge_holds_an_abstention_against_the_same_words(corpus: Corpus) -> None:
    row = {
        **{"group": "c", "sample": "q2_abs", "variant": "all", "category": "abstention"},
        **{"question": "What does the bus cost?", "gold": "You did not mention any bus."},
        "answer": "not mentioned",
    }
    judge = Judge(ModelConfig("local/tiny"), load_wording())
    assert UNTOLD in judge._prompt(row, "strict")
    assert "any bus" not in judge._prompt(row, "strict")
    assert len(judge.tasks([row | {"gold": None}])) == 2  # two wordings


def test_prompts_have_versions_and_the_earlier_ones_can_be_asked_for(corpus: Corpus) -> None:
    now, second, before = load_wording(), load_wording(Path("2")), load_wording(Path("1"))
    assert (now.version, second.version, before.version) == ("3", "2", "1")
    chat = corpus.chats[1]
    shown = Item(chat, chat.questions[0], Context("…", (), 1, 1))
    assert "never said" in prompt_of(shown, now, abstain=True)
    assert "not mentioned" in prompt_of(shown, before, abstain=True)


def made_before(folder: Path, **rows: dict[str, Any]) -> None:
    """The folder as an earlier version left it."""
    place = folder / "run.json"
    told = json.loads(place.read_text("utf-8"))
    del told["settings"]["scoring"]
    place.write_text(json.dumps(told), "utf-8")
    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    texts = [json.dumps(row | rows.get(row["sample"], {})) + "\n" for row in lines]
    (folder / "rows.jsonl").write_text("".join(texts), "utf-8")


BEFORE = {
    "category": "multi_session",
    "f1": 0.2,
    "exact": 0.0,
    "rouge_l_stemmed": 0.2,
    "date_f1": 0.2,
}


def test_a_run_of_an_earlier_version_is_scored_anew_on_request(
    corpus: Corpus, tmp_path: Path
) -> None:
    given = answers("nine crowns", "You did not mention it")
    score_answers(corpus, given, tmp_path / "old")
    new = score_answers(corpus, given, tmp_path / "new")
    made_before(tmp_path / "old", q2_abs=BEFORE)
    old = Run.load(tmp_path / "old")
    assert old.rows[1]["f1"] == 0.2
    with refused(r"different formulas; .*runs rescore .*old"):
        new.compare(old)
    with refused(r"earlier formulas; .*runs rescore .*old"):
        score_answers(corpus, given, tmp_path / "old")
    found, changes = rescore_run(tmp_path / "old")
    assert changes.changed_rows == 1 and found.rows == new.rows
    new.compare(found)
    (tmp_path / "old" / "rows.jsonl").unlink()  # what is shared is the table
    again, changes = rescore_run(tmp_path / "old")
    assert changes.changed_rows == 0 and again.rows == new.rows
    assert score_answers(corpus, given, tmp_path / "old").rows == new.rows


def test_a_run_goes_on_after_it_was_scored_anew(tmp_path: Path) -> None:
    asked = tuple(Question(f"Q{n}", "what broke?", "the kiln", "x") for n in (1, 2))
    chat = chat_of("Mara: the kiln broke on 3 May 2026", questions=asked)
    corpus = Corpus("x", "test", (chat,))

    def plan() -> Plan:
        return Plan(corpus, Recent(), MessageReader(), (Budget(),))

    straight = run_probe(plan(), tmp_path / "straight")
    run_probe(plan(), tmp_path / "old")
    made_before(tmp_path / "old", Q1={"date_f1": 0.1})
    lines = (tmp_path / "old" / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "old" / "rows.jsonl").write_bytes(lines[0] + lines[1][:20])  # and was killed
    with refused("earlier formulas"):
        run_probe(plan(), tmp_path / "old")
    assert run_probe(plan(), tmp_path / "anew", fresh=True).rows == straight.rows
    _, changes = rescore_run(tmp_path / "old")
    assert changes.changed_rows == 1 and changes.changed == {"date_f1": 1}
    assert run_probe(plan(), tmp_path / "old").rows == straight.rows


def test_an_empty_answer_is_none_wherever_it_comes_from(corpus: Corpus, tmp_path: Path) -> None:
    class Blank(PlainSolver):
        name = "blank"

        def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:
            return [Answer(" \n") for _ in shown]

    given = score_answers(corpus, answers("", " "), tmp_path / "given")
    read = run_probe(Plan(corpus, Recent(), Blank(), (Budget(),)), tmp_path / "read")
    for found in (given, read):
        assert [row["answer"] for row in found.rows] == [None, None]
        assert [row["f1"] for row in found.rows] == [None, None]
        assert set(found.variants["all"].unscored) == {"empty answer"}
    made_before(tmp_path / "given", q1={"answer": "", "unscored": None, "f1": 0.0})
    assert rescore_run(tmp_path / "given")[0].rows == given.rows
    with refused("no answers to judge"):
        judge_run(read, Judge(ModelConfig("a/b"), load_wording()))


def test_answers_from_contexts_of_several_budgets_are_told_apart(
    corpus: Corpus, tmp_path: Path
) -> None:
    budgets = (Budget(tokens=3), Budget(tokens=500))
    plan = Plan(corpus, Recent(), NoReader(), budgets)
    lines = [row | {"answer": "nine crowns"} for row in contexts(plan)]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    found = score_answers(corpus, read_answers(path), tmp_path / "run")
    assert [row["variant"] for row in found.rows] == ["3t", "500t"] * 2
    straight = run_probe(plan, tmp_path / "straight")
    assert [row["recall@budget"] for row in found.rows if row["variant"] == "500t"] == [
        row["recall@budget"] for row in straight.rows if row["variant"] == "500t"
    ]
    bare = [{name: line[name] for name in ("id", "answer")} for line in lines]
    with refused(r"answered twice; .*budgets name theirs"):
        score_answers(corpus, bare, tmp_path / "bare")


def test_one_id_twice_in_a_chat_is_refused(corpus: Corpus) -> None:
    chat = replace(corpus.chats[0], questions=corpus.chats[0].questions * 2)
    twins = replace(corpus, chats=(chat,))
    with refused("q1: 2 questions have the id 'q1'"):
        Plan(twins, Recent(), NoReader(), (Budget(),))


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("rows.jsonl", '{"x": 1}\n', "does not fit this version of realtalk"),
        ("rows.jsonl", "[1]\n", "does not fit this version of realtalk"),
        (
            "rows.jsonl",
            '{"sample": "a", "group": "b", "variant": "all", "unscored": null}\n',
            "its rows lack 'accept'",
        ),
        (
            "run.json",
            '{"kind": "memory probing", "settings": {}, "versions": []}',
            "its settings lack 'solver'",
        ),
    ],
)
def test_a_damaged_run_is_refused_in_a_line(
    corpus: Corpus, tmp_path: Path, name: str, text: str, fault: str
) -> None:
    score_answers(corpus, answers("nine crowns", "x"), tmp_path / "run")
    (tmp_path / "run" / name).write_text(text, "utf-8")
    for read in (Run.load, rescore_run):
        with refused(fault) as caught:
            read(tmp_path / "run")
        assert "\n" not in str(caught.value) and "make the run again" in str(caught.value)
