"""No question of a published set sees what came after it; sessions are scored as sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import memory_sets as sets
from realtalk.chat import Chat, Corpus, Question
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.golds import golds_named
from realtalk.memory.index import ChatIndex
from realtalk.memory.plain import Recent, Whole
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import NoReader
from realtalk.memory.values import Budget, Context
from refusals import refused

LONGMEMEVAL = [
    {"question_id": "q1", "question_type": "multi-session", "question": "Which kiln?"}
    | {"answer": "blue", "question_date": "2023/05/02 (Tue) 04:40", "answer_session_ids": ["s"]}
    | {
        "haystack_session_ids": ["s", "late"],
        "haystack_sessions": [
            [{"role": "user"} | said]
            for said in (
                {"content": "my kiln is blue", "has_answer": True},
                {"content": "my kiln is red"},
            )
        ],
    }
    | {"haystack_dates": ["2023/05/01 (Mon) 07:00", "2023/06/01 (Thu) 07:00"]}
]


def _beam(folder: Path) -> Path:
    return sets.beam(folder / "1").parent


def _plus(folder: Path) -> Path:
    sets.locomo(folder)
    return sets.saved(folder / "locomo_plus.json", sets.LOCOMO_PLUS).parent


# Of each set: how to write it, and the last message that each question may see.
SETS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "beam": (_beam, ["4", "4", "4"]),
    "realmem": (lambda folder: sets.saved(folder / "x.json", sets.REALMEM), ["D2:1", "D4:1"]),
    "locomo": (sets.locomo, ["D2:3"] * 8),
    "locomo-plus": (_plus, ["D2:3", "cue:2", "D2:3"]),
    "lmeb": (sets.lmeb, ["scene_1_session_2_turn_1", "scene_12_session_2_turn_1"]),
    "longmemeval": (lambda folder: sets.saved(folder / "x.json", LONGMEMEVAL), ["D1:1"]),
}


class Told:
    """A memory that notes what it is built from and asked."""

    name, version = "told", "1"
    settings: dict[str, str | int | float | bool] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.last: list[str] = []

    def build(self, chat: Chat) -> Told:
        assert not chat.questions
        self.ids = [message.id for message in chat.messages]
        return self

    def recall(self, question: Question, budget: Budget) -> Context:
        assert not (question.extra or question.evidence or question.stated)
        self.last.append(self.ids[-1])
        return Context("", tuple(self.ids), ranked=tuple(self.ids))


@pytest.mark.parametrize("name", SETS)
def test_no_question_sees_what_came_after_it(tmp_path: Path, name: str) -> None:
    write, last = SETS[name]
    opened = open_reading(write(tmp_path))
    assert opened.format == name
    memory = Told()
    run_probe(Plan(opened.reading.corpus, memory, NoReader(), (Budget(),)))
    assert memory.last == last


@pytest.mark.parametrize(
    "memory",
    [Whole(), Recent(), *(make_memory("retrieved", {"way": way}) for way in ("bm25", "fused"))],
)
def test_every_memory_knows_only_earlier_sessions(
    tmp_path: Path, memory: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    run = run_probe(Plan(_realmem(tmp_path), memory, NoReader(), (Budget(),)))  # type: ignore[arg-type]
    first, second = run.rows
    assert set(first["message_ids"]) == {"D1:1", "D1:2", "D2:1"}
    assert {id_.partition(":")[0] for id_ in second["message_ids"]} == {"D1", "D2", "D3", "D4"}


def _realmem(folder: Path) -> Corpus:
    return open_reading(sets.saved(folder / "x.json", sets.REALMEM)).reading.corpus


def test_sessions_are_scored_as_sessions(tmp_path: Path) -> None:
    class Ranking(Told):
        def recall(self, question: Question, budget: Budget) -> Context:
            return Context("x", ("D1:1", "D2:1"), ranked=("D2:1", "D1:2", "D1:1"))

    run = run_probe(Plan(_realmem(tmp_path), Ranking(), NoReader(), (Budget(),)))
    first, second = run.rows
    assert (first["evidence"], first["ranked"], first["ranks"]) == (["D1"], ["D2", "D1"], [2])
    assert (first["any@5"], first["recall@budget"], first["unresolved"]) == (1.0, 1.0, 1)
    assert (second["evidence"], second["ranks"]) == (["D2", "D4"], [1, None])
    assert (second["all@5"], second["recall@10"], second["recall@budget"]) == (0.0, 0.5, 0.5)
    assert any("it is whole sessions" in line for line in run.cautions)
    lines = run.benchmark.evidence(second, None)
    assert lines == ["evidence D2 (shown, rank 1)", "evidence D4 (not shown)"]


def test_what_was_encoded_before_is_not_encoded_again(tmp_path: Path) -> None:
    memory = make_memory("retrieved", {})
    [chat] = _realmem(tmp_path).chats
    encoder = memory.load_encoder()  # type: ignore[attr-defined]
    texts: list[str] = []
    encode = encoder.encode

    def counting(some: list[str], *rest: object) -> object:
        texts.extend(some)
        return encode(some, *rest)

    encoder.encode = counting
    known: dict[str, object] = {}
    for sessions in (chat.sessions[:2], chat.sessions, chat.sessions[1:]):
        part = Chat("x", chat.speakers, sessions)
        index = ChatIndex.of(part, encoder, cache=tmp_path / "kept", known=known)  # type: ignore[arg-type]
        texts_so_far = len(texts)
        whole = ChatIndex.of(part, encoder, cache=tmp_path / f"{len(sessions)}")
        assert len(texts) == texts_so_far + len(index.ids)
        del texts[texts_so_far:]
        assert index.encoded is not None and whole.encoded is not None
        for name in ("vectors", "tokens", "offsets"):
            assert (getattr(index.encoded, name) == getattr(whole.encoded, name)).all()
    assert len(texts) == len(chat.messages)


def _errors(folder: Path, number: int = 0) -> Path:
    """Corrections of the second chat: another message for one question, another answer for one."""
    about = {"error_type": "WRONG_CITATION", "cited_evidence": ["D1:2"]}
    errors = [
        about | {"correct_evidence": ["D2:2; D2:3"], "correct_answer": "2.2"},
        {**about, "error_type": "HALLUCINATION", "correct_evidence": [], "correct_answer": "tea"},
    ]
    for at, error in enumerate(errors, 1):
        error |= {"question_id": f"locomo_1_qa{at}", "question": f"What says Bo {at + 1}?"}
    return sets.saved(folder / f"errors_conv_{number}.json", errors)


@pytest.mark.parametrize("fetched", [True, False])
def test_locomo_by_the_corrections_that_were_fetched(
    tmp_path: Path, fetched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    corpus = open_reading(sets.locomo(tmp_path)).reading.corpus
    with refused("realtalk data get locomo-audit"):
        Plan(corpus, Whole(), NoReader(), (Budget(),), golds=golds_named("audited"))
    file = _errors(tmp_path / "cache" / "locomo-audit" if fetched else tmp_path)
    golds = golds_named("audited" if fetched else str(file))
    # Both chats ask the same here; in LoCoMo no two do.
    right, cited, wrong, adversarial = golds.of(corpus.chats[1]).values()
    assert (right.answer, right.evidence) == ("2.1", ("D1:1",))
    assert (cited.answer, cited.evidence) == ("2.2", ("D2:2", "D2:3"))
    assert (wrong.answer, wrong.evidence) == ("tea", ())
    assert adversarial.left_out == "the audit does not cover it"
    rows = run_probe(Plan(corpus, Whole(), NoReader(), (Budget(),), golds=golds)).rows
    assert [row["recall@budget"] for row in rows[4:]] == [1.0, 1.0, None, None]


@pytest.mark.parametrize("text", ["[{}]", "[5", '[{"question_id": "q"}]'])
def test_what_is_no_correction_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "errors.json"
    path.write_text(text)
    with refused(r"errors\.json.*not (a correction|valid JSON)"):
        golds_named(str(path))
