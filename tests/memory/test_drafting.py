"""Questions drafted by a model on loopback: shown little, checked twice, resumed, and kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from drafted_chats import MODEL, garden, model_rule
from file_modes import mode
from judge_server import Call, JudgeServer, Reply
from realtalk.chat import Corpus
from realtalk.memory.drafting import Drafts, drafted
from refusals import refused
from text_tables import rows

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")

CORPUS = Corpus("garden", "realtalk", (garden(),))


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("REALTALK_RETRIES", "0")
    monkeypatch.chdir(tmp_path)


def draft(server: JudgeServer, corpus: Corpus = CORPUS, **options: Any) -> Drafts:
    return rt.memory.draft(corpus, model=rt.Model(MODEL, base_url=server.url), **options)


def test_drafts_are_checked_and_the_file_says_why_others_were_dropped(tmp_path: Path) -> None:
    with JudgeServer(model_rule) as server:
        drafts = draft(server, count=8)
    kept = [(each.question.text, " ".join(each.question.evidence)) for each in drafts.kept]
    assert sorted(kept) == rows("""
        What did the greenhouse of Ines cost?   | D1:1
        What did the storm break?               | D2:1
        What does Tobias restore at the museum? | D3:1
        When did the storm break the glass?     | D2:1
        Who carried and mended the greenhouse?  | D1:3 D2:3
    """)
    assert drafts.reasons == {
        "has an answer that its evidence does not say": 1,  # 2031
        "is answered without the chat": 1,  # stiff hands
    }
    assert drafts.file == Path("garden-drafts.jsonl") and mode(drafts.file) == 0o600
    assert Drafts.read(drafts.file) == drafts
    assert [each.id for each in drafts.of(garden())] == [d.question.id for d in drafts.kept]
    assert drafts.of(replace(garden(), sessions=garden().sessions[:1])) == ()  # another chat


def test_a_prompt_shows_a_part_of_the_chat_and_never_what_came_later() -> None:
    with JudgeServer(model_rule) as server:
        draft(server, count=8)
    drafting = [call.prompt for call in server.calls if "<messages>" in call.prompt]
    for prompt in drafting:
        shown = [word for word in ("340", "putty", "compasses") if word in prompt]
        assert len(shown) == (2 if "both parts" in prompt else 1)
        days = [at for at in ("2 March", "9 March", "1 April") if f" {at} 2026]" in prompt]
        assert prompt.find(days[0]) <= prompt.find(days[-1])  # the earlier session first
    reading = [call.prompt for call in server.calls if "<messages>" not in call.prompt]
    assert sum("(nothing of the conversation is shown)" in each for each in reading) * 2 == len(
        reading
    )


def test_a_run_that_failed_goes_on_and_asks_for_the_rest_alone() -> None:
    broken = True

    def rule(call: Call) -> str | Reply:
        return Reply(status=500) if broken and "compasses" in call.prompt else model_rule(call)

    with JudgeServer(rule) as server:
        first = draft(server, count=8)
        before = len(server.calls)
        broken = False
        second = draft(server, count=8)
        new = [call.prompt for call in server.calls[before:]]
        assert new and all("museum" in prompt or "stiff" in prompt for prompt in new)
        assert {d.question.id for d in first.kept} < {d.question.id for d in second.kept}
        asked = len(server.calls)
        assert draft(server, count=8) == second and len(server.calls) == asked
        assert len(draft(server, count=2, fresh=True).kept) == 2


def test_a_draft_that_could_not_be_checked_is_checked_the_next_time() -> None:
    broken = True

    def rule(call: Call) -> str | Reply:
        reads = "(nothing of" in call.prompt and "cost?" in call.prompt
        return Reply(status=500) if broken and reads else model_rule(call)

    with JudgeServer(rule) as server:
        first = draft(server, count=8)
        assert first.reasons["could not be checked: provider error (500)"] == 1
        broken = False
        before = len(server.calls)
        second = draft(server, count=8)
        assert len(server.calls) == before + 1 and len(second.kept) == len(first.kept) + 1


def test_a_model_that_cannot_draft_is_an_error() -> None:
    with JudgeServer(lambda _: "Let me think") as server:
        with refused("malformed answer"):
            draft(server, count=2)
        with refused("1 or more"):
            draft(server, count=0)


def test_what_stands_in_the_corpus_is_not_asked_again() -> None:
    there = drafted("What did the greenhouse of Ines cost?", "340 euros", "single_hop", ("D1:1",))
    chat = replace(garden(), questions=(there,))
    with JudgeServer(model_rule) as server:
        drafts = draft(server, Corpus("garden", "realtalk", (chat,)), count=8)
    assert there.text not in [each.question.text for each in drafts.kept]
    assert "was asked already" in drafts.reasons


def test_several_chats_share_the_count() -> None:
    other = replace(garden(), id="Chat_2", sessions=garden().sessions[:2])
    with JudgeServer(model_rule) as server:
        drafts = draft(server, Corpus("two", "realtalk", (garden(), other)), count=3)
    assert (len(drafts.of(garden())), len(drafts.of(other))) == (2, 1)


def test_without_any_model_one_line_says_what_to_get() -> None:
    with refused("drafting takes a language model.*realtalk models get qwen2.5-1.5b"):
        rt.memory.draft(CORPUS)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "garden-drafts.jsonl"
    path.write_text('{"question": "text"}\n')
    with refused("line 1: not a drafted question"):
        Drafts.read(path)
