"""A memory that anybody wrote: checked before it is built, whatever it recalls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from memory_chats import ask, bakery
from realtalk.encoders.tokens import count_tokens
from realtalk.memory.remembering import build_memory, reminder
from refusals import refused


class Returning:
    """Recalls whatever it was made with; a function is called with the question."""

    name, version, settings = "returning", "1", {}  # type: ignore[var-annotated]

    def __init__(self, given: Any) -> None:
        self.given = given
        self.asked: list[str] = []

    def build(self, chat: rt.Chat) -> None:
        self.chat = chat

    def recall(self, question: rt.Question, budget: rt.memory.Budget) -> Any:
        self.asked.append(question.id)
        return self.given(self.chat, question) if callable(self.given) else self.given


def newest_first(chat: rt.Chat, question: rt.Question) -> list[str]:
    return [message.id for message in reversed(chat.messages)]


def probe(memory: Any, **options: Any) -> rt.Run:
    return rt.probe("sample", memory=memory, budget="300", limit=12, **options)


def test_a_context_counts_by_itself() -> None:
    made = rt.memory.Context("Mara: the kettle sings", ["D1:1"])  # type: ignore[arg-type]
    assert made == rt.memory.Context("Mara: the kettle sings", ("D1:1",), made.tokens, 4)
    assert made.tokens == count_tokens("Mara: the kettle sings")
    assert rt.memory.Context("x y", (), 7, 9).tokens == 7  # what is given counts


def test_ids_are_shown_in_time_order_as_far_as_the_budget_reaches() -> None:
    ids = ["D3:3", "D3:1", "D1:3", "D3:1"]
    built = build_memory(Returning(ids), bakery())  # type: ignore[arg-type]
    whole = built.recall(ask("?"), rt.memory.Budget())
    assert whole.message_ids == ("D1:3", "D3:1", "D3:3")
    assert whole.ranked == ("D3:3", "D3:1", "D1:3")
    small = built.recall(ask("?"), rt.memory.Budget(words=12))
    assert small.message_ids == ("D3:3",)
    assert small.words == len(small.text.split()) <= 12


def test_a_text_is_the_memorys_own_words() -> None:
    run = probe(Returning("they spoke about the move"), reader="none")
    assert {row["words"] for row in run.rows} == {5}
    assert {row["recall@budget"] for row in run.rows} == {None}


class NoRecall:
    name, version, settings = "no recall", "1", {}  # type: ignore[var-annotated]

    def build(self, chat: rt.Chat) -> NoRecall:
        return self


class NoBuild:
    name, version, settings = "no build", "1", {}  # type: ignore[var-annotated]

    def recall(self, question: rt.Question, budget: rt.memory.Budget) -> str:
        return ""


class Uncallable(NoRecall):
    recall = "this"


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (NoRecall(), "the memory 'no recall' has no recall: NoRecall cannot be asked"),
        (NoBuild(), "NoBuild is not a memory, it has no 'build'"),
        (Uncallable(), "Uncallable is not a memory, its 'recall' cannot be called"),
        (Returning, "Returning is a class, not a memory; give an instance: Returning()"),
        (Returning(3), "recall of the memory 'returning' returned int; return a Context, a text"),
        (Returning(None), "recall of the memory 'returning' returned NoneType"),
        (Returning([3]), "recall of the memory 'returning' returned a list of int"),
        (Returning(["a line of the chat"]), "no message id of this chat"),
    ],
)
def test_what_cannot_be_used_is_one_line_before_anything_is_stored(
    memory: Any, said: str, tmp_path: Path
) -> None:
    with refused() as raised:
        probe(memory, out=tmp_path / "run")
    assert said in str(raised.value)
    assert "a line of the chat" not in str(raised.value)
    rows = tmp_path / "run" / "rows.jsonl"
    assert not rows.exists() or rows.read_bytes() == b""
    assert len(getattr(memory, "asked", ())) <= 1


def test_questions_at_which_it_fails_do_not_lose_the_others(tmp_path: Path) -> None:
    """Also where it is the first one, and when the run is gone on with."""
    rows = probe("recent").rows
    first, other = [(row["group"], row["sample"]) for row in (rows[0], rows[-1])]

    def failing(chat: rt.Chat, question: rt.Question) -> Any:
        place = (chat.id, question.id)
        if place == first:
            raise KeyError("a line of the chat")
        return None if place == other else newest_first(chat, question)

    for _ in range(2):
        run = probe(Returning(failing), out=tmp_path / "run")
        failed = {
            (row["group"], row["sample"]): row["unscored"] for row in run.rows if row["unscored"]
        }
        assert failed == {
            first: "the memory 'returning' failed (KeyError)",
            other: "recall of the memory 'returning' returned NoneType",
        }
        assert len(run.rows) == 12


def test_one_that_fails_at_every_question_stops() -> None:
    def failing(chat: rt.Chat, question: rt.Question) -> Any:
        raise KeyError("a line of the chat")

    with refused(r"the memory 'returning' failed \(KeyError\)") as at:
        probe(Returning(failing))
    assert isinstance(at.value.__cause__, KeyError)
    assert "a line of the chat" not in str(at.value)


def test_what_something_brings_to_mind_is_checked_too() -> None:
    """As in a conversation of two simulators."""
    chat = bakery()
    moment = chat.messages[-1].time
    assert moment is not None
    remember = reminder(Returning(["D3:1", "D1:1"]), rt.memory.Budget(words=100))  # type: ignore[arg-type]
    assert remember(chat)("a marathon?", moment) == ("D1:1", "D3:1")
    for given, said in (("words", "shows no messages"), (3, "returned int")):
        with refused(said):
            reminder(Returning(given), rt.memory.Budget())(chat)("?", moment)  # type: ignore[arg-type]
