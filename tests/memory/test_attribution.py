"""Who said it: whose words a memory shows, and questions asked of the wrong person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from realtalk.chat import Alias, Chat, Corpus, Event, Question
from realtalk.evals.run import Run
from realtalk.memory.benchmark import rescore_run
from realtalk.memory.golds import Gold, Golds
from realtalk.memory.rows import (
    WHO_COLUMNS,
    People,
    answered_columns,
    may_abstain,
    of_another,
    swapped,
)
from realtalk.memory.values import Context
from refusals import refused
from short_chats import chat_of
from text_tables import cases

ADOPTED = Question("Q1", "What did Nessa adopt?", "a kitten", "multi_hop", ("D1:2",))
HERS = Gold("a kitten", (), ("D1:2",))
TWO = (
    *("Tobias: long day at the harbour", "Ines: I adopted a kitten"),
    *("Tobias: lovely, nessa!", "Tobias: my boat leaks"),
)


def harbour(lines: tuple[str, ...] = TWO, *questions: Question) -> Chat:
    """Lines "speaker: text" as one session; Ines is also called Nessa."""
    aliases = (Alias("Nessa", "Ines", "D1:1"),)
    return chat_of(*lines, questions=questions or (ADOPTED,), aliases=aliases)


def four() -> Chat:
    """Two share a surname; the first who may be asked instead knows the answer."""
    asked = replace(ADOPTED, text="What did Ann Lee adopt?", evidence=("D1:3",))
    said = (
        *("Bo Lee: my kitten sleeps all day", "Cleo: rain again", "Ann Lee: I adopted a kitten"),
        *("Dan: the boat leaks", "Dan: Ann, is it grey?"),
    )
    return harbour(said, asked)


def corpus(*chats: Chat) -> Corpus:
    return Corpus("own", "test", chats)


def shown(chat: Chat, *ids: str, evidence: tuple[str, ...] = (), question: str = "") -> Any:
    gold = Gold("a kitten", (), evidence)
    return People(chat).shown(question or chat.questions[0].text, Context("…", ids), gold)


def test_what_is_shown_is_held_against_the_person_asked_about() -> None:
    whole = shown(harbour(), "D1:1", "D1:2", "D1:3", "D1:4")
    assert whole["person@budget"] == 0.5  # what Ines said, and what calls her Nessa
    assert shown(harbour(), "D1:1", "D1:4")["person@budget"] == 0.0
    assert shown(harbour())["person@budget"] is None  # nothing is shown: no share of it
    for nobody in ("Who adopted it?", "Did Ines and Tobias meet?"):
        assert shown(harbour(), "D1:2", question=nobody)["person@budget"] is None
    both = ("D1:2", "D1:3")
    assert shown(harbour(), "D1:2", "D1:3", evidence=both)["other@budget"] == 0.5
    assert shown(harbour(), "D1:2", "D1:4", evidence=both)["other@budget"] == 0.0
    assert shown(harbour(), "D1:4", evidence=both)["other@budget"] is None


def test_of_four_people_a_shared_surname_names_nobody() -> None:
    people = People(four())
    assert people.named("What did Ann Lee adopt?") == ("Ann Lee",)
    assert people.named("Where do the Lees live? With Lee!") == ()
    row = shown(four(), "D1:1", "D1:3", "D1:4", "D1:5")
    assert row["person@budget"] == 0.5  # of Dan's two messages the one that names her


@cases(r"""
    told                                                     | named | misnamed
    - Ines adopted a kitten                                  | 1.0   | 0.0
    - Tobias adopted a kitten                                | 0.0   | 1.0
    - the user adopted a kitten                              | 0.0   | 0.0
    "[the day of the kitten]\n- Tobias has a leaking boat"   | null  | null
    "- Nessa has a kitten\n- Tobias bought the kitten a bed" | 0.5   | 0.5
""")
def test_names_in_what_is_told_are_held_against_the_speakers(
    told: str, named: float | None, misnamed: float | None
) -> None:
    people = People(harbour())
    alone = people.shown(ADOPTED.text, Context(told.replace("- ", "")), HERS, tells=True)
    beside = Context(f"{told}\nTobias: the kitten is here", ("D1:1",))  # a message tells nothing
    for row in (alone, people.shown(ADOPTED.text, beside, HERS)):
        assert (row["named@budget"], row["misnamed@budget"]) == (named, misnamed)


def test_scores_of_a_run_have_n_and_an_interval(tmp_path: Path) -> None:
    noted = replace(harbour(), events=(Event(1, "Tobias", "Tobias adopts a kitten."),))
    both = corpus(noted, replace(four(), id="Chat_2"))
    run = rt.probe(both, memory="whole", out=tmp_path / "run")
    figure = run.variants["all"].overall["person@budget"]
    assert figure.value == pytest.approx((0.5 + 0.4) / 2) and figure.n == 2
    assert figure.low is not None and figure.low < 0.45
    assert "who said it" in [table.title for table in run.table()]
    told = rt.probe(corpus(noted), memory="events", budget="all")
    assert told.variants["all"].overall["misnamed@budget"].value == 1.0
    path = tmp_path / "run" / "rows.parquet"
    pl.read_parquet(path).drop(*WHO_COLUMNS).write_parquet(path)
    (tmp_path / "run" / "rows.jsonl").unlink()
    earlier = Run.load(tmp_path / "run").variants["all"].overall  # before there were such columns
    assert "person@budget" not in earlier and earlier["recall@budget"].n == 2


def test_a_question_is_asked_of_the_other_person() -> None:
    asked, golds = swapped(corpus(harbour()), Golds())
    (question,) = asked.chats[0].questions
    assert (question.id, question.text) == ("Q1-swapped", "What did Tobias adopt?")
    assert (question.answer, question.category) == (None, "swapped")
    assert of_another(People(harbour()), question) == (["a kitten"], "ines nessa")
    assert golds.name == "swapped" and may_abstain(asked)
    run = rt.probe(corpus(harbour()), memory="oracle", questions="swapped", budget="all")
    assert run.rows[0]["message_ids"] == ["D1:2"]  # the tempting fact
    assert run.rows[0]["other@budget"] is None and run.settings["golds"] == "swapped"
    of_four, _ = swapped(corpus(four()), Golds())
    assert [q.text for q in of_four.chats[0].questions] == ["What did Cleo adopt?"]  # Bo has one


LEFT_OUT: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (TWO, {"text": "What did Nessa adopt with her sister?"}),
    (TWO, {"text": "Did Nessa adopt a kitten?"}),
    (TWO, {"text": "What did Nessa adopt, as Tobias says?"}),
    (TWO, {"text": "What was adopted?"}),
    (TWO, {"text": "What leaks at Nessa's?"}),  # half of its words are Tobias's
    (TWO, {"answer": "a boat"}),  # he speaks of one
    (TWO, {"answer": "Tobias's kitten"}),
    (TWO, {"answer": ""}),
    (TWO, {"evidence": ()}),
    (TWO, {"evidence": ("D1:2", "D1:3")}),  # not all by her
    ((TWO[0], "Ines: we adopted a kitten"), {}),
    ((TWO[0], "Ines: I adopted a kitten, Tobias"), {}),
    ((*TWO[:2], "Tobias: me too!"), {}),
    ((*TWO, "Ines: Tobias, feed your kitten"), {}),
]


@pytest.mark.parametrize(("said", "change"), LEFT_OUT)
def test_a_question_that_might_have_an_answer_is_not_asked(
    said: tuple[str, ...], change: dict[str, Any]
) -> None:
    about = Question("Q2", "Which pets did Tobias adopt?", "none", "multi_hop")
    for chat in (harbour(said, replace(ADOPTED, **change)), harbour(TWO, ADOPTED, about)):
        with refused("no question here can be asked of another person"):
            swapped(corpus(chat), Golds())


@cases("""
    answer                                              | declined | misattributed
    a kitten                                            | 0.0      | 1.0
    Tobias adopted a small grey kitten from the shelter | 0.0      | 1.0
    not mentioned                                       | 1.0      | 0.0
    The chat does not say; a kitten is mentioned        | 1.0      | 0.0
    It was Nessa who adopted a kitten                   | 0.0      | 0.0
    a boat                                              | 0.0      | 0.0
""")
def test_an_answer_declines_or_tells_the_other_persons_fact(
    answer: str, declined: float, misattributed: float, tmp_path: Path
) -> None:
    path, out = tmp_path / "answers.jsonl", tmp_path / "run"
    path.write_text(f'{{"id": "Q1-swapped", "answer": "{answer}"}}\n', "utf-8")
    run = rt.memory.score(corpus(harbour()), path, questions="swapped", out=out)
    (row,) = run.rows
    assert (row["declined"], row["misattributed"]) == (declined, misattributed)
    assert row["accepted"] == declined
    assert rescore_run(out)[0].rows == run.rows  # without the chat


def test_contexts_ask_them_too_and_a_mistyped_set_is_told_the_nearest(tmp_path: Path) -> None:
    out = tmp_path / "contexts.jsonl"
    rt.memory.contexts(corpus(harbour()), memory="recent", questions="swapped", out=out)
    assert '"Q1-swapped"' in out.read_text("utf-8")
    with refused("did you mean 'swapped'"):
        rt.probe("sample", questions="swaped")


def test_locomos_adversarial_questions_are_asked_as_they_are() -> None:
    trap = Question("Q2", "What did Tobias adopt?", None, "adversarial", ("D1:2",))
    chat = harbour(TWO, replace(trap, extra='{"adversarial_answer":"a kitten"}'), ADOPTED)
    asked, _ = swapped(corpus(replace(chat, questions=(*chat.questions[:1], trap))), Golds())
    assert asked.chats[0].questions == chat.questions[:1]  # the other names no fact
    answers, another = of_another(People(chat), chat.questions[0])
    row: dict[str, Any] = {"category": "adversarial", "question": trap.text, "gold": None}
    row |= {"of_another": answers, "another": another, "accept": [], "names": []}
    assert answered_columns("a kitten", row)["misattributed"] == 1.0
    assert answered_columns("nothing is said of it; unknown", row)["declined"] == 1.0
