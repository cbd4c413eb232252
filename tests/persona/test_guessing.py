"""Who wrote it: the line-ups, those who guess, and what comes of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from guess_chats import guess_task, guessable, persona_run
from judge_server import JudgeServer
from persona_chats import WordEncoder
from realtalk.api.choices import as_reading
from realtalk.chat import Chat
from realtalk.evals import running
from realtalk.evals.values import run_schema
from realtalk.formats.store import store
from realtalk.persona.guessing import (
    GUESS_COLUMNS,
    GuessBenchmark,
    run_tasks,
    simulated_texts,
)
from realtalk.persona.lineups import FOUR, Lineup, LineupDraw, TurnLineup
from realtalk.persona.prompting import LlmGuesser, read_letter
from realtalk.persona.scoring import ByMeaningNear, ByStyle
from realtalk.persona.turns import speaker_turns
from refusals import refused
from short_chats import chat_of
from text_tables import cases

CORPUS = guessable()


def lineups(seed: int = 0, **simulated: Any) -> list[TurnLineup]:
    task = guess_task()
    draw = LineupDraw(CORPUS, simulated=simulated, seed=seed)
    where: Any = {"test": task.test, "learn": task.learning.chat.id, "wanted": FOUR}
    found = [lineup for turn in task.turns if (lineup := draw.lineup(turn, **where))]
    assert len(found) == len(task.turns)
    return found


def test_one_of_four_is_real_and_nothing_later_is_shown() -> None:
    task = guess_task()
    said = {turn.text: at for at, turn in enumerate(task.test.turns)}
    for lineup in lineups():
        texts = [reply.text for reply in lineup.replies]
        assert len(set(texts)) == 4
        assert [reply.origin for reply in lineup.replies].count("real") == 1
        assert lineup.replies[lineup.place].text == lineup.turn.text
        assert lineup.shown.replies == tuple(texts)
        shown = {turn.text for turn in lineup.turn.prompt.context}
        place = lineup.turn.prompt.place
        for reply in lineup.replies:
            if reply.origin != "real":
                assert reply.text not in shown and said.get(reply.text, -1) < place
                assert reply.writer != "Ines"
        others = {reply.writer for reply in lineup.replies if reply.origin == "other"}
        assert others == {"Pavel"}  # Tobias is in the chat that is learned from


def test_the_seed_decides_and_lengths_are_alike() -> None:
    assert lineups(3) == lineups(3) != lineups(4)
    assert len({lineup.place for lineup in lineups()}) > 1
    for lineup in lineups():
        sizes = [len(reply.text) for reply in lineup.replies]
        assert max(sizes) < 3 * min(sizes)


def test_length_tells_nothing() -> None:
    """The real reply is as often the shortest, or in the middle, as any other."""
    chance = random.Random(7)

    def talk(id_: str, *people: str) -> Chat:
        lines = (f"{people[at % 2]}: {at} {'x' * chance.randint(9, 99)}" for at in range(400))
        return chat_of(*lines, id=id_)

    chats = (talk("a", "Ines", "Juno"), talk("b", "Pavel", "Rosa"), talk("c", "Juno", "Rosa"))
    draw = LineupDraw(rt.Corpus("x", "realtalk", chats), simulated={})
    ranks: Counter[int] = Counter()
    for turn in speaker_turns(chats[0], "Ines", 1, 200):
        lineup = draw.lineup(turn, test=chats[0], learn=None, wanted=FOUR)
        assert lineup is not None
        sizes = [len(reply.text) for reply in lineup.replies]
        ranks[sum(size < sizes[lineup.place] for size in sizes)] += 1
    assert all(0.15 < ranks[at] / ranks.total() < 0.35 for at in range(4)), ranks


def test_what_was_simulated_stands_there_unless_it_is_the_real_one() -> None:
    task = guess_task()
    same, other, third = task.turns[:3]
    texts = {("Ines", same.id): f" {same.text.upper()} ", ("Ines", other.id): "haha a sail"}
    found = lineups(constant=texts)
    kinds = [[reply.origin for reply in lineup.replies] for lineup in found]
    assert ["simulated" in each for each in kinds[:3]] == [False, True, False]
    assert all(len(each) == 4 for each in kinds)
    (made,) = (reply for reply in found[1].replies if reply.origin == "simulated")
    assert (made.text, made.writer) == ("haha a sail", "constant")
    assert third.id in {lineup.turn.id for lineup in found}


def test_without_others_there_is_no_line_up() -> None:
    alone = rt.Corpus("two", "realtalk", CORPUS.chats[1:2])
    task = guess_task()
    first = task.turns[0]
    draw = LineupDraw(alone, simulated={})
    assert draw.lineup(first, test=task.test, learn=None, wanted=FOUR) is None
    with refused("no turn can stand beside three other replies"):
        GuessBenchmark(alone, [replace(task, turns=(first,))])


def test_the_classifier_knows_how_ines_writes(tmp_path: Path) -> None:
    texts = {"copy": {("Ines", turn.id): "The boat is dry." for turn in guess_task().turns}}
    benchmark = GuessBenchmark(CORPUS, [guess_task()], simulated=texts, limit=8)
    found = running.run(benchmark, CORPUS, ByStyle(), tmp_path / "c")
    overall = found.variants[""]
    assert overall.overall["accuracy"].value == 1.0 and overall.facts["chance"] == 0.25
    assert overall.overall["accuracy"].low is not None
    assert overall.overall["took_simulated"].value == 0.0
    assert set(overall.slices) == {"Ines"}
    loaded = rt.Run.load(tmp_path / "c")
    assert loaded.rows == found.rows and loaded.name == "classifier"
    frame = pl.read_parquet(tmp_path / "c" / "rows.parquet")
    assert frame.schema == run_schema(GUESS_COLUMNS)
    assert found.settings["replies"]["simulated"].keys() == {"copy"}
    assert "8 simulated" in found.cautions[0]


def test_too_little_to_learn_from_is_unscored() -> None:
    task = guess_task(2)
    found = running.run(GuessBenchmark(guessable(2), [task]), guessable(2), ByStyle())
    assert {row["unscored"] for row in found.rows} == {
        "fewer than 10 turns of one side to learn from"
    }
    assert found.variants[""].overall["accuracy"].value is None
    assert found.variants[""].strict["accuracy"].value == 0.0


def test_nearness_compares_no_reply_with_itself() -> None:
    task = guess_task()
    near = ByMeaningNear(to="speaker", encoder=WordEncoder())
    own = task.learning.turns[0].text
    prompt = task.turns[0].prompt
    # The nearest of one turn: the learned turn itself would be at a distance of nothing.
    learning = replace(task.learning, turns=task.learning.turns[:2])
    near.prepare(learning)
    second = learning.turns[1].text
    (answer,) = near.solve([Lineup(prompt, (own, f"{own} {second}"))])
    assert answer.value == 1
    context = ByMeaningNear(to="context", encoder=WordEncoder())
    context.prepare(task.learning)
    (nearest,) = context.solve([Lineup(prompt, ("crane", prompt.context[-1].text, "pier"))])
    assert nearest.value == 1
    with refused("unknown-side"):
        ByMeaningNear(to="contex", encoder=WordEncoder())


@cases("""
    said             | place
    C                | 2
    b                | null  # a small letter may be a word
    **D**            | 3
    The answer is A. | 0
    "B) haha  yes"   | 1
    B) haha no       | null
    A or B           | null
    I think C        | null
    E                | null
    ""               | null
""")
def test_a_letter_is_read_strictly(said: str, place: int | None) -> None:
    lineup = Lineup(guess_task().turns[0].prompt, ("one", "haha yes", "three", "four"))
    found = read_letter(said, lineup)
    assert found.value == place and bool(found.unscored) is (place is None)


def test_a_model_is_asked_and_what_cannot_be_read_is_strictly_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    benchmark = GuessBenchmark(CORPUS, [guess_task()], limit=4)
    with JudgeServer(lambda call: "it is hard to tell" if call.place == 0 else "A") as server:
        model = LlmGuesser(
            model="openai-api/local/tiny",
            base_url=server.url,
            style=False,
            connections=1,
            cache=tmp_path / "kept",
        )
        found = running.run(benchmark, CORPUS, model)
        prompts = [call.prompt for call in server.calls]
    assert len(prompts) == 4
    assert all("\nD) " in prompt for prompt in prompts)
    assert not any(word in prompts[0] for word in ("Pavel", "simulated", "partner"))
    (open_,) = (row for row in found.rows if row["unscored"])
    assert open_["unscored"] == "no letter" and open_["accuracy"] is None
    scores = found.variants[""]
    assert (scores.overall["accuracy"].n, scores.strict["accuracy"].n) == (3, 4)
    assert all((row["accuracy"] == 1) == (row["truth"] == "A") for row in found.rows[1:])


def test_runs_are_compared_where_they_share_turns() -> None:
    one = running.run(GuessBenchmark(CORPUS, [guess_task()]), CORPUS, ByStyle())
    other = running.run(
        GuessBenchmark(CORPUS, [guess_task()], seed=1), CORPUS, ByMeaningNear(encoder=WordEncoder())
    )
    (found,) = one.changes(other).values()
    assert list(found.changes) == ["accuracy"] and found.changes["accuracy"].n == 12
    assert any("to choose from differ" in line for line in found.further["notes"])
    assert not any("to choose from" in line for line in one.changes(one)[""].further["notes"])


def test_persona_runs_of_other_chats_are_refused() -> None:
    run = persona_run(None)
    (task,) = run_tasks(CORPUS, [run])
    assert [turn.id for turn in task.turns] == [row["sample"] for row in run.rows]
    assert set(simulated_texts({"flat": [run]})["flat"].values()) == {"haha yes, the boat"}
    with refused("not of this corpus"):
        run_tasks(rt.Corpus("empty", "realtalk", ()), [run])
    with refused("unknown-speaker"):
        run_tasks(CORPUS, [run], "Inez")


def test_the_command_and_python(run: Any, tmp_path: Path) -> None:
    store(as_reading(CORPUS), tmp_path / "corpus")
    persona_run(tmp_path / "flat")
    told = run("persona who-wrote-it corpus --simulated best=flat --out c --json").told
    assert told["variants"][""]["facts"]["chance"] == 0.25
    found = rt.persona.who_wrote_it(
        CORPUS, guesser="classifier", simulated=tmp_path / "flat", seed=1, limit=5
    )
    assert found.kind == "who wrote it" and len(found.rows) == 5
    assert {"accuracy", "took_simulated"} <= set(found.summary().frame["score"])
    assert "accuracy" in run("runs table c --groups").done.out
    assert all(
        row["answer"] != row["truth"] for row in json.loads(run("runs failures c --json").done.out)
    )
    assert (
        "a run of who wrote it, not of persona simulation"
        in run("persona who-wrote-it corpus --simulated c").wrong
    )
