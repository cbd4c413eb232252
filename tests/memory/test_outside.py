"""Systems from outside and memories that anybody wrote, measured like the ones in here."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from embedding_server import DIMENSIONS, embedding_server
from memory_chats import ask, bakery
from realtalk.chat import Session
from realtalk.encoders.tokens import count_tokens
from realtalk.errors import MissingExtraError
from realtalk.evals.values import Cost
from realtalk.memory.outside import (
    BuiltOutside,
    Outside,
    Recalled,
    load_object,
    mem0_memory,
    retriever_memory,
)
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import build_memory, reminder
from realtalk.memory.values import Budget, message_line
from refusals import refused
from text_tables import cases

MATCHING = '''
class Matching:
    """Recalls the messages that share a word with the question."""

    def __init__(self):
        self.messages = []

    def add_session(self, session):
        self.messages += session.messages

    def recall(self, question):
        from realtalk.memory.outside import Recalled
        asked = set(question.lower().split())
        hits = [m for m in self.messages if asked & set(m.text.lower().split())]
        return [Recalled(message_ids=(m.id,)) for m in reversed(hits)]


def start(chat):
    return Matching()


number = 3
'''


class Fixed:
    """Recalls what it was made with, and keeps what it was told."""

    def __init__(self, *items: Recalled | str) -> None:
        self.items = items
        self.told: list[Session] = []
        self.asked: list[str] = []

    def add_session(self, session: Session) -> None:
        self.told.append(session)

    def recall(self, question: str) -> Sequence[Recalled | str]:
        self.asked.append(question)
        return self.items


def test_a_file_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MATCHING)
    memory = make_memory("outside", {"system": f"{file}:start"})
    context = memory.build(bakery()).recall(ask("the mechanic marathon"), Budget())
    assert context.message_ids == ("D1:2", "D1:3", "D1:5", "D2:3", "D3:1")
    assert context.ranked == context.message_ids[::-1]
    assert context.text.startswith("[Monday 4 May 2026]\nTobias: morning Nessa how is the bakery\n")
    assert context.cost.calls == 1
    assert context.cost.seconds > 0
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    assert memory.settings == {"system": f"{file}:start", "sha256": digest}


def built(*items: Recalled | str) -> BuiltOutside:
    return Outside("fixed", lambda _: Fixed(*items)).build(bakery())


def test_it_is_told_every_session_and_asked_only_the_text() -> None:
    chat, system = bakery(), Fixed("a fact")
    steps: list[tuple[int, int]] = []
    memory = Outside("fixed", lambda _: system)
    told = memory.build(chat, lambda done, total, _: steps.append((done, total)))
    told.recall(ask("where?"), Budget())
    assert (system.told, system.asked) == (list(chat.sessions), ["where?"])
    assert steps == [(1, 3), (2, 3), (3, 3)] and told.cost.calls == 3


def test_texts_stand_under_their_days_before_the_messages() -> None:
    context = built(
        Recalled("Ines has a kitten.\nIt is grey.", ("D2:2",), 2),
        Recalled(message_ids=("D3:1",)),
        "Tobias runs.",
        Recalled("The oven broke.", session=1),
        Recalled(),
    ).recall(ask("?"), Budget())
    assert context.text == (
        "[Monday 4 May 2026]\n- The oven broke.\n\n"
        "[Friday 8 May 2026]\n- Ines has a kitten. It is grey.\n\n"
        "[no date]\n- Tobias runs.\n\n"
        "[Wednesday 20 May 2026]\nTobias: I signed up for the marathon in Porto"
    )
    # A message that a text rests on is credited in the ranking, not as shown.
    assert (context.message_ids, context.ranked) == (("D3:1",), ("D2:2", "D3:1"))
    assert context.tokens == count_tokens(context.text)
    # Texts alone have no ranking, and nothing has an empty one.
    assert built("a", "b").recall(ask("?"), Budget()).ranked is None
    empty = built().recall(ask("?"), Budget())
    assert (empty.text, empty.ranked, empty.tokens) == ("", (), 0)


def test_the_best_stay_where_not_all_fits() -> None:
    items = [Recalled(f"fact number {n} about the bakery", session=1) for n in range(9)]
    system = built(*items, Recalled(message_ids=("D1:1",)))
    for tokens in range(0, 90, 15):
        context = system.recall(ask("?"), Budget(tokens=tokens))
        assert context.tokens == count_tokens(context.text) <= tokens
    lines = system.recall(ask("?"), Budget(tokens=30)).text.splitlines()
    assert lines[1:3] == [f"- fact number {n} about the bakery" for n in (0, 1)]


class Spending(Fixed):
    spent = Cost()

    def add_session(self, session: Session) -> None:
        self.spent = Cost(self.spent.calls + 2, self.spent.tokens_in + 100)

    def recall(self, question: str) -> Sequence[Recalled | str]:
        self.spent = Cost(self.spent.calls + 3, self.spent.tokens_in + 7, 5)
        return ("x",)


def test_a_system_can_say_what_it_spent() -> None:
    spending = Outside("spending", lambda _: Spending()).build(bakery())
    assert (spending.cost.calls, spending.cost.tokens_in) == (6, 300)
    cost = spending.recall(ask("?"), Budget()).cost
    assert (cost.calls, cost.tokens_in, cost.tokens_out) == (3, 7, 5)


class Failing(Fixed):
    def recall(self, question: str) -> Sequence[Recalled | str]:
        raise ValueError(f"cannot answer: {question}")


def test_a_failure_names_the_question_not_its_text() -> None:
    broken = Outside("broken", lambda _: Failing()).build(bakery())
    with refused() as raised:
        broken.recall(ask("a secret", "Q7"), Budget())
    assert str(raised.value) == (
        "Chat_9_Ines_Tobias: the system 'broken' failed at Q7 (ValueError)"
    )
    with refused("no message 'D9:9'"):  # of another chat
        built(Recalled("x", ("D9:9",))).recall(ask("?"), Budget())


@cases("""
    reference                 | said
    start                     | 'start' names no object; write it as system=my_module:start
    no_such_module_here:start | no module 'no_such_module_here'; install it, or name
    nowhere.py:start          | nowhere.py: no such file
    {mine}:begin              | no 'begin' in it
    {mine}:number             | 'number' cannot be called
""")
def test_a_reference_that_leads_nowhere(reference: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MATCHING)
    with refused(said):
        load_object(reference.format(mine=tmp_path / "mine.py"), "system")


def test_a_missing_extra_names_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("realtalk.memory.outside.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[langchain\]'"):
        retriever_memory(list)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[mem0\]'"):
        mem0_memory({})


def needs(module: str) -> pytest.MarkDecorator:
    # Looked for, not imported: Mem0 decides on telemetry there, which the adapter must do.
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{module} is not installed")


_with_langchain = needs("langchain_core")


def _word_retriever(documents: list[Any], *, cut: bool = False) -> Any:
    """A retriever of LangChain's own kind that counts common words."""
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Words(BaseRetriever):  # type: ignore[misc, unused-ignore]
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            asked = set(query.lower().split())
            common = {
                at: len(asked & set(document.page_content.lower().split()))
                for at, document in enumerate(documents)
            }
            best = sorted((at for at in common if common[at]), key=lambda at: -common[at])
            return [_cut(documents[at]) if cut else documents[at] for at in best]

    return Words()


def _cut(document: Any) -> Any:
    lines = document.page_content.splitlines()
    return document.model_copy(update={"page_content": "\n".join(lines[2:4])})


@_with_langchain
def test_a_langchain_retriever_is_a_memory() -> None:
    memory = retriever_memory(factory=_word_retriever)
    assert memory.settings == {"factory": "_word_retriever", "per": "message"}
    context = memory.build(bakery()).recall(ask("the marathon in porto"), Budget(tokens=60))
    assert (context.ranked or ())[0] == "D3:1" and "D3:1" in context.message_ids
    assert context.tokens == count_tokens(context.text) <= 60


@_with_langchain
def test_a_cut_document_credits_only_what_it_still_holds() -> None:
    chat = bakery()
    memory = retriever_memory(factory=partial(_word_retriever, cut=True), per="session")
    context = memory.build(chat).recall(ask("the shelter"), Budget())
    # Two lines of the second session are left: a message, and the line of the new day.
    assert set(context.ranked or ()) == {"D1:2", "D1:3", "D2:2", "D3:2", "D3:3"}
    assert message_line(chat.by_id["D2:2"]) in context.text
    assert "Pepper" not in context.text


@needs("mem0")
def test_mem0_stores_messages_and_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    with embedding_server() as (url, asked):
        about = {"openai_base_url": url, "api_key": "none", "model": "tiny"}
        sized = {**about, "embedding_dims": DIMENSIONS}
        config = {
            name: {"provider": "openai", "config": given}
            for name, given in (("embedder", sized), ("llm", about))
        }
        memory = mem0_memory(config=config, limit=5, threshold=0.0)
        stored = memory.build(bakery())
        context = stored.recall(ask("signed up for the marathon in Porto"), Budget(tokens=80))
    ranked = context.ranked or ()
    assert ranked[0] == "D3:1" and len(ranked) <= 5
    assert message_line(bakery().by_id["D3:1"]) in context.text
    assert stored.cost.calls >= 12 and stored.cost.tokens_in > 60
    assert context.cost.calls >= 1 and set(asked) == {"/v1/embeddings"}
    assert sys.modules["mem0.memory.telemetry"].MEM0_TELEMETRY is False
    assert memory.version.startswith("1, mem0ai ")


def test_importing_the_adapters_imports_no_extra() -> None:
    code = (
        "import sys, realtalk.memory.outside;"
        "sys.exit(any(n in sys.modules for n in ('mem0', 'langchain_core', 'qdrant_client')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


GUIDE = Path(__file__).parents[2] / "docs" / "build" / "memory.md"


def test_an_exception_in_it_shows_the_users_own_lines(run: Any, tmp_path: Path) -> None:
    shown = GUIDE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    broken = (
        "class Broken(MyMemory):\n    def recall(self, question):\n        return self.mesages\n"
    )
    (tmp_path / "mine.py").write_text(f"{shown}\n{broken}", "utf-8")
    err = run("probe sample --memory mine.py:Broken --reader none").err
    assert "self.mesages" in err and "AttributeError" in err
    assert "error: Chat_1_Mara_Theo: the system 'Broken' failed at Q1 (AttributeError)" in err
    assert "outside.py" not in err  # our own frames say nothing to them


def test_a_class_with_the_protocol_is_a_memory(tmp_path: Path) -> None:
    code = "from realtalk.memory.plain import Recent\nclass Mine(Recent):\n    name = 'mine'\n"
    (tmp_path / "mine.py").write_text(code, "utf-8")
    memory = make_memory(f"{tmp_path}/mine.py:Mine")
    assert memory.name == "mine"
    assert memory.build(bakery()).recall(ask("x"), Budget(tokens=60)).message_ids


# --- a memory that anybody wrote: checked before it is built, whatever it recalls ---


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


def odd(name: str, **has: Any) -> Any:
    """An object of a class of that name."""
    return type(name, (), {"name": "odd", "version": "1", "settings": {}, **has})()


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (
            odd("NoRecall", build=lambda memory, _: memory),
            "the memory 'odd' has no recall: NoRecall cannot be asked",
        ),
        (odd("NoBuild", recall=print), "NoBuild is not a memory, it has no 'build'"),
        (odd("No", build=print, recall=""), "No is not a memory, its 'recall' cannot be called"),
        (Returning, "Returning is a class, not a memory; give an instance: Returning()"),
        (Returning(3), "recall of the memory 'returning' returned int; return a Context, a text"),
        (Returning([3]), "recall of the memory 'returning' returned a list of int"),
        (Returning(["a line of the chat"]), "no message id of this chat"),
    ],
)
def test_what_cannot_be_used_is_one_line_before_anything_is_stored(
    memory: Any, said: str, tmp_path: Path
) -> None:
    with refused(said) as raised:
        probe(memory, out=tmp_path / "run")
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
        assert [row["unscored"] for row in run.rows] == [
            "the memory 'returning' failed (KeyError)",
            *[None] * 10,
            "recall of the memory 'returning' returned NoneType",
        ]


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
