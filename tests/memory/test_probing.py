"""Questions asked of memories: rows, what may be seen, figures, answers from elsewhere; questions
that the chat does not answer, and runs that earlier versions scored."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from plain_reader import MessageReader
from realtalk.chat import Chat, Corpus, Question
from realtalk.evals.folder import content_hash
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, PlainSolver, run_schema
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.answers_elsewhere import read_answers, score_answers
from realtalk.memory.asking import Plan, contexts
from realtalk.memory.benchmark import judge_run, rescore_run, run_probe
from realtalk.memory.golds import UNTOLD, Judge
from realtalk.memory.pictures import draw_sweep, pareto
from realtalk.memory.plain import Events, Nothing, Recent, Whole
from realtalk.memory.remembering import Item, MemoryReader, NoReader, load_wording, prompt_of
from realtalk.memory.rows import COLUMNS, RANK_SCORES, category_of, may_abstain
from realtalk.memory.values import Budget, Context, label, parse_budgets
from realtalk.models.asking import ModelConfig
from refusals import refused
from samples import read_sample
from short_chats import chat_of, said
from text_tables import cases, records

START = datetime(2026, 3, 2, 9)
CATEGORIES = ("temporal", "multi_hop", "commonsense")


def chat(number: int, questions: int = 12) -> Chat:
    lines = (f"{('Mara', 'Tom')[n % 2]}: word{n} said" for n in range(1, 31))
    asked = tuple(
        Question(
            f"Q{n}",
            f"what about word{n}?",
            f"SECRET{n}",
            CATEGORIES[n % 3],
            evidence=(f"D1:{n}", f"D1:{n + 10}")[: 1 + n % 2],
        )
        for n in range(1, questions + 1)
    )
    return chat_of(said(1, START, *lines), id=f"Chat_{number}", questions=asked)


CORPUS = Corpus("made up", "test", tuple(chat(n) for n in range(6)))


class Shuffled:
    """A memory that ranks by a seed, and notes what it is shown."""

    name = "shuffled"
    version = "1"

    def __init__(self) -> None:
        self.settings: dict[str, str | int | float | bool] = {"seed": 7}
        self.chats: list[Chat] = []
        self.asked: list[Question] = []

    def build(self, chat: Chat, progress: Progress = silent) -> Shuffled:
        self.chats.append(chat)
        return self

    def recall(self, question: Question, budget: Budget) -> Context:
        self.asked.append(question)
        chat = self.chats[-1]
        ids = [message.id for message in chat.messages]
        ranked = random.Random(f"{chat.id}{question.id}").sample(ids, len(ids))
        room = budget.words or budget.tokens or 2 * len(ids)
        shown = set(ranked[: room // 2])
        kept = tuple(id_ for id_ in ids if id_ in shown)
        return Context(" ".join(kept), kept, 2 * len(kept), 2 * len(kept), tuple(ranked))


class Sayer(PlainSolver):
    """A reader that says what it is told to, fails, or is stopped in the middle."""

    name = "sayer"

    def __init__(
        self, right: float = 1.0, failing: Sequence[str] = (), stop_at: str | None = None
    ) -> None:
        self.right, self.failing, self.stop_at = right, failing, stop_at
        self.items: list[Item] = []

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:
        answers: list[Answer[str]] = []
        for item in shown:
            if item.question.id == self.stop_at:
                raise KeyboardInterrupt
            self.items.append(item)
            lucky = random.Random(f"{item.chat.id}{item.question.id}").random() < self.right
            text = f"SECRET{item.question.id[1:]}" if lucky else "no idea"
            failed = item.question.id in self.failing
            answers.append(Answer(None, "timeout") if failed else Answer(text))
        return answers


def plan_of(reader: Any, *budgets: Budget, memory: Any = None, **options: Any) -> Plan:
    return Plan(CORPUS, memory or Shuffled(), reader, budgets or (Budget(words=10),), **options)


def asked(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return list(run_probe(plan_of(*given, **more)).rows)


def unread(corpus: Corpus, memory: Any = None, **options: Any) -> Plan:
    """Everything that a memory recalls, without a reader."""
    return Plan(corpus, memory or Recent(), NoReader(), (Budget(),), **options)


def test_neither_memory_nor_reader_sees_what_only_the_corpus_knows() -> None:
    memory, reader = Shuffled(), Sayer()
    asked(reader, memory=memory)
    assert len(memory.chats) == 6  # built once a chat
    for seen in memory.chats:
        assert seen.questions == ()
    for question in [*memory.asked, *(item.question for item in reader.items)]:
        assert (question.answer, question.category, question.evidence) == (None, "", ())
        assert question.stated == () and question.extra == ""


def test_rows_hold_every_question_and_budget_once() -> None:
    rows = asked(Sayer(), *parse_budgets("10w,40"))
    keys = [(row["group"], row["sample"], row["variant"]) for row in rows]
    assert len(keys) == len(set(keys)) == 6 * 12 * 2
    assert {row["variant"] for row in rows} == {"10w", "40t"}
    assert set(rows[0]) == set(run_schema(COLUMNS))
    assert all(row["f1"] == 1.0 and row["gold"] == row["answer"] for row in rows)


def test_recall_is_what_ranks_and_contexts_say() -> None:
    for row in asked(NoReader(), Budget(words=10), Budget(words=60)):
        hits = sum(rank is not None and rank <= 10 for rank in row["ranks"])
        assert row["recall@10"] == hits / len(row["evidence"])
        shown = [id_ in row["message_ids"] for id_ in row["evidence"]]
        assert row["recall@budget"] == sum(shown) / len(shown)
        assert row["all@budget"] == float(all(shown))
        assert row["answer"] is None and row["unscored"] is None and row["f1"] is None


def test_a_memory_without_an_order_or_messages_is_not_scored_on_them() -> None:
    (row, *_) = asked(NoReader(), Budget(), memory=Whole())
    assert [row[name] for name in RANK_SCORES] == [None] * len(RANK_SCORES)
    assert row["recall@budget"] == 1.0
    assert row["ranks"] == [None] * len(row["evidence"])
    (row, *_) = asked(NoReader(), Budget(), memory=Nothing())
    assert row["recall@budget"] == 0.0
    run = run_probe(unread(read_sample(), Events(), limit=2))
    assert [row["recall@budget"] for row in run.rows] == [None, None]  # events show no message
    assert run.scores == () and not run.variants["all"].overall


def chosen(corpus: Corpus, **options: Any) -> list[tuple[Chat, tuple[Question, ...]]]:
    return list(unread(corpus, **options).questions)


def test_questions_can_be_chosen() -> None:
    assert [len(own) for _, own in chosen(CORPUS, limit=8)] == [2, 2, 1, 1, 1, 1]
    drawn = chosen(read_sample(), limit=12)
    categories = Counter(question.category for _, own in drawn for question in own)
    assert set(categories.values()) == {4}
    assert [len(own) for _, own in drawn] == [6, 6]
    for chat, own in drawn:  # in the chat's own order
        assert list(own) == [each for each in chat.questions if each in own]
    temporal = chosen(CORPUS, categories=("temporal",))
    assert {q.category for _, own in temporal for q in own} == {"temporal"}
    quiet = Corpus("quiet", "test", (replace(CORPUS.chats[0], questions=()),))
    for corpus, options, fault in (
        (CORPUS, {"categories": ("temporel",)}, "did you mean 'temporal'"),
        (CORPUS, {"limit": 0}, "limit must be 1 or more"),
        (quiet, {}, "has no questions"),
    ):
        with refused(fault):
            chosen(corpus, **options)


def test_budgets_are_written_one_way() -> None:
    written = [label(each) for each in parse_budgets("1000, 2000W,all,1000t")]
    assert written == ["1000t", "2000w", "all"]
    assert parse_budgets("500", words=True) == (Budget(words=500),)
    for text in ("", "1k", "-5", "0", "2000x", "1000;2000"):
        with refused("budget"):
            parse_budgets(text)


def test_what_failed_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    first = run_probe(plan_of(Sayer(failing=("Q3", "Q5"))), tmp_path)
    scores = first.variants["10w"]
    assert scores.unscored == {"timeout": 12}
    f1 = scores.overall["f1"]
    assert (f1.value, f1.n, f1.left_out) == (1.0, 60, 12)  # unscored is not zero
    assert "10w, unscored: 12 timeout" in first.remarks()[-1]
    reader = Sayer()
    second = run_probe(plan_of(reader), tmp_path)
    assert [item.question.id for item in reader.items] == ["Q3", "Q5"] * 6
    assert not second.variants["10w"].unscored
    assert second.rows == run_probe(plan_of(Sayer()), tmp_path / "steady").rows


def test_a_run_that_went_on_and_was_stopped_shows_how_far_it_got(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryReader, "at_once", 1)
    run_probe(plan_of(Sayer(failing=("Q1", "Q2"))), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_probe(plan_of(Sayer(stop_at="Q2")), tmp_path)
    first, second, *rest = Run.load(tmp_path).rows
    assert (first["answer"], second["answer"]) == ("SECRET1", None)
    assert len(rest) == 70
    straight = run_probe(plan_of(Sayer()), tmp_path / "straight")
    assert run_probe(plan_of(Sayer()), tmp_path).rows == straight.rows


def test_a_corpus_hash_depends_on_content_alone() -> None:
    one = content_hash(CORPUS)
    assert [each.by_id for each in CORPUS.chats]  # what a chat derives from itself changes nothing
    assert content_hash(CORPUS) == one
    other = Corpus("made up", "test", (replace(CORPUS.chats[0], id="X"), *CORPUS.chats[1:]))
    assert content_hash(other) != one


def test_contexts_say_nothing_of_the_answer() -> None:
    rows = list(contexts(plan_of(NoReader())))
    assert len(rows) == 72
    assert set(rows[0]) == {
        *("chat", "id", "budget", "category", "question", "context"),
        *("tokens", "words", "message_ids"),
    }
    assert "SECRET" not in json.dumps(rows)


def test_figures_overall_and_by_category(tmp_path: Path) -> None:
    probed = run_probe(plan_of(Sayer(right=0.5)), tmp_path)
    answers = probed.variants["10w"]
    by_hand = sum(row["f1"] for row in probed.rows) / 72
    f1 = answers.overall["f1"]
    assert f1.value == pytest.approx(by_hand) and answers.groups == 6
    assert f1.low is not None and f1.high is not None and f1.low < by_hand < f1.high
    assert sum(group["f1"].n for group in answers.slices.values()) == 72
    ranked = probed.variants["ranking"]
    any_5 = sum(row["any@5"] for row in probed.rows) / 72
    assert ranked.overall["any@5"].value == pytest.approx(any_5)
    assert set(answers.slices) == set(CATEGORIES) == set(ranked.slices)
    assert {"recall@budget", "all@budget"} <= set(answers.slices["temporal"])
    assert answers.facts["context words"] == 10
    assert len(probed.table()) == 3 and len(probed.table(groups=True)) == 6


def test_the_picture_marks_what_nothing_beats(tmp_path: Path) -> None:
    points = records("""
        tokens | value
        100    | 0.5
        200    | 0.4
        200    | 0.6
        900    | 0.6
    """)
    assert pareto(points) == [0, 2]
    run = run_probe(plan_of(Sayer(right=0.5)), tmp_path)
    charts = draw_sweep({"shuffled": run, "again": run})
    assert list(charts) == ["recall", "f1", "date_f1"]
    spec = charts["f1"].to_dict()
    assert spec["title"]["text"] == "Partial-match F1 of the answers"
    assert "72 questions" in spec["title"]["subtitle"][0]


def test_answers_from_elsewhere(tmp_path: Path) -> None:
    given = [{"chat": "Chat_0", "id": "Q1", "answer": "SECRET1", "message_ids": ["D1:1"]}]
    probed = score_answers(CORPUS, given, tmp_path / "a")
    assert len(probed.rows) == 72
    f1 = probed.variants["all"].overall["f1"]
    assert (f1.value, f1.n, f1.left_out) == (1.0, 1, 71)
    assert probed.rows[0]["recall@budget"] == 0.5  # Q1 has two pieces of evidence
    assert probed.rows[1]["recall@budget"] is None
    for wrong, line in (
        ([{"id": "Q1", "answer": "x"}], "in several chats"),
        ([{"chat": "Chat_0", "id": "Q99", "answer": "x"}], "no question 'Q99' in Chat_0"),
        (given * 2, "answered twice"),
    ):
        with refused(line):
            score_answers(CORPUS, wrong, tmp_path / "b")


def test_an_answer_stands_beside_the_papers(tmp_path: Path) -> None:
    corpus = read_sample()
    chats = (replace(corpus.chats[0], id="Chat_1_Emi_Elise"),)  # as the paper's are called
    plan = Plan(replace(corpus, chats=chats), Whole(), MessageReader(), (Budget(),))
    tables = run_probe(plan, tmp_path).table(groups=True)
    rows = [row for table in tables for row in table.frame.to_dicts() if "f1" in row]
    printed = [row for row in rows if row["memory"] == "Table 3: gpt-4o-mini"]
    known = {row["category"]: row["f1"] for row in printed if row["budget"] == "whole"}
    assert known["multi_hop"] == "0.301"


# --- questions that the chat does not answer, and runs that earlier versions scored ---


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
    ((_, own),) = chosen(corpus, categories=("abstention",))
    assert [question.id for question in own] == ["q2_abs"]


def test_an_abstention_is_right_and_an_answer_wrong(corpus: Corpus, tmp_path: Path) -> None:
    right = score_answers(corpus, answers("nine crowns", "not mentioned"), tmp_path / "right")
    wrong = score_answers(corpus, answers("not mentioned", "nine crowns"), tmp_path / "wrong")
    assert [row["category"] for row in right.rows] == ["multi_session", "abstention"]
    for score in ("f1", "exact", "rouge_l_stemmed", "date_f1"):
        assert [row[score] for row in right.rows] == [1.0, 1.0]
        assert [row[score] for row in wrong.rows] == [0.0, 0.0]
    assert set(right.variants["all"].slices) == {"multi_session", "abstention"}


def test_the_judge_holds_an_abstention_against_the_same_words(
    corpus: Corpus, tmp_path: Path
) -> None:
    (row,) = score_answers(corpus, answers("x", "not mentioned"), tmp_path / "run").rows[1:]
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


def test_a_run_of_an_earlier_version_is_scored_anew_on_request(
    corpus: Corpus, tmp_path: Path
) -> None:
    given = answers("nine crowns", "You did not mention it")
    score_answers(corpus, given, tmp_path / "old")
    new = score_answers(corpus, given, tmp_path / "new")
    wrong = dict.fromkeys(("f1", "rouge_l_stemmed", "date_f1"), 0.2)
    made_before(tmp_path / "old", q2_abs={**wrong, "category": "multi_session", "exact": 0.0})
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
    plan = Plan(corpus, Recent(), MessageReader(), (Budget(),))
    straight = run_probe(plan, tmp_path / "straight")
    run_probe(plan, tmp_path / "old")
    made_before(tmp_path / "old", Q1={"date_f1": 0.1})
    lines = (tmp_path / "old" / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "old" / "rows.jsonl").write_bytes(lines[0] + lines[1][:20])  # and was killed
    with refused("earlier formulas"):
        run_probe(plan, tmp_path / "old")
    _, changes = rescore_run(tmp_path / "old")
    assert changes.changed_rows == 1 and changes.changed == {"date_f1": 1}
    assert run_probe(plan, tmp_path / "old").rows == straight.rows


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
    assert [row["variant"] for row in found.rows[::2]] == ["3t"] * 2
    straight = run_probe(plan, tmp_path / "straight")
    for one, other in zip(found.rows[1::2], straight.rows[1::2], strict=True):
        assert one["variant"] == "500t" and one["recall@budget"] == other["recall@budget"]
    bare = [{name: line[name] for name in ("id", "answer")} for line in lines]
    with refused(r"answered twice; .*budgets name theirs"):
        score_answers(corpus, bare, tmp_path / "bare")


def test_one_id_twice_in_a_chat_is_refused(corpus: Corpus) -> None:
    chat = replace(corpus.chats[0], questions=corpus.chats[0].questions * 2)
    with refused("q1: 2 questions have the id 'q1'"):
        unread(replace(corpus, chats=(chat,)))


@cases("""
    name       | held | fault
    rows.jsonl | {"x": 1} | does not fit this version of realtalk
    rows.jsonl | [1] | does not fit this version of realtalk
    rows.jsonl | {"sample": "a", "group": "b", "variant": "all", "unscored": null} | its rows lack 'accept'
    run.json   | {"kind": "memory probing", "settings": {}, "versions": []} | its settings lack 'solver'
""")  # noqa: E501
def test_a_damaged_run_is_refused_in_a_line(
    corpus: Corpus, tmp_path: Path, name: str, held: Any, fault: str
) -> None:
    score_answers(corpus, answers("nine crowns", "x"), tmp_path / "run")
    (tmp_path / "run" / name).write_text(json.dumps(held) + "\n", "utf-8")
    for read in (Run.load, rescore_run):
        with refused(f"{fault}.*make the run again"):
            read(tmp_path / "run")
