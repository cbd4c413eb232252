"""Tables 2 and 8 beside stored simulations, and Figure 7 from a sweep."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from realtalk.evals.run import Run
from realtalk.evals.values import Row, run_schema
from realtalk.formats.opening import open_reading
from realtalk.metrics.statistics import Estimate
from realtalk.persona.benchmark import KIND, PersonaBenchmark
from realtalk.persona.choosing import (
    PUBLISHED_SCORES,
    TABLE_2,
    TABLE_8,
    PublishedSpeaker,
    published_choice,
)
from realtalk.persona.scoring import COLUMNS, SCORES
from refusals import refused
from research.papers.personas import Simulations, persona_rows
from research.papers.published import CHATS
from research.papers.rule import DUMMY_TOO, ResultRow
from research.results import ROWS

OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}


def chats(row: PublishedSpeaker) -> tuple[str, str]:
    """The published files that a row of Table 8 learns from and is tested on."""

    def named(pair: Sequence[str]) -> str:
        wanted = {name.casefold() for name in pair}
        return next(chat for chat in CHATS if wanted <= set(chat.casefold().split("_")))

    return named(row.learn), named(row.test)


def printed(name: str, tuned: bool, swapped: Sequence[str] = ()) -> Run:
    """A run that came out as Table 8 has it; of some the two chats are swapped."""
    turns: list[Row] = []
    facts: list[Row] = []
    nothing = Estimate(None, unscored="invented").to_json()
    for row in TABLE_8:
        values = row.tuned if tuned else row.without
        turn: Row = dict.fromkeys(run_schema(COLUMNS)) | {"group": row.speaker, "variant": ""}
        turn |= {OURS[score]: values[score] for score in PUBLISHED_SCORES}
        turn |= {"left_out": [], "calls": 0, "tokens_in": 0, "tokens_out": 0}
        turns += [turn | {"sample": f"{at}"} for at in range(9)]
        learn, test = chats(row) if row.speaker not in swapped else chats(row)[::-1]
        about: Row = {"group": row.speaker, "learn": learn, "test": test}
        about |= {"measure": "rules", "version": "1", "by_language": []}
        facts.append(
            about
            | {"consistency": row.consistency, "ceiling": nothing, "floor": nothing}
            | {f"distinct_{n}{end}": None for n in (1, 2) for end in ("", "_truth")}
        )
    settings = {"solver": {"name": name, "settings": {}}, "scoring": {}}
    settings["chats"] = {fact["group"]: [fact["learn"], fact["test"]] for fact in facts}
    return Run(PersonaBenchmark, settings, turns, facts=facts, title=name)


def rows(untuned: Run, tuned: Run, dummy: Run | None = None) -> dict[str, ResultRow]:
    simulations = Simulations(untuned, tuned, dummy or untuned)
    return {row.where: row for row in persona_rows(simulations, None)}


def words(found: dict[str, ResultRow], *names: str) -> list[str]:
    return [found[f"Table 2, {name}"].word for name in names]


def test_without_runs_nothing_is_compared() -> None:
    found = {row.where: row for row in persona_rows(None, None)}
    assert found["Tables 2 and 8"].word == found["Figure 7"].word == "cannot be compared"


def test_the_paper_beside_its_own_table() -> None:
    found = {row.where: row for row in persona_rows(None, None)}
    assert found["Table 2 beside Table 8"].verdict == "agrees"
    assert found["Table 2, caption"].word == "differs"
    assert "emotion 0.055 / 0.061" in found["Table 2, caption"].ours.text
    # Both readings of one sentence: the level says no, the gain by fine-tuning yes.
    assert (found["E.2, as a level"].word, found["E.2, as a gain"].word) == ("differs", "agrees")


def test_a_copy_of_the_table_agrees_where_its_own_figures_do() -> None:
    untuned, tuned = printed("untuned", False), printed("tuned", True)
    found = rows(untuned, tuned)
    assert words(found, "reflective", "grounding", "sentiment") == ["agrees"] * 3
    # Emotion and, corrected for six scores, empathy are not beyond chance in Table 8 itself.
    assert found["Table 2, emotion"].reason == "not beyond chance here"
    assert found["Table 2, empathy"].reason == "not beyond chance here"
    # Content stays and intimacy does not gain, which a side that never changes gets too.
    for name in ("lexical", "semantic", "intimacy"):
        assert found[f"Table 2, {name}"].reason == DUMMY_TOO
    # A dummy that changes does not.
    assert words(rows(untuned, tuned, tuned), "reflective") == ["cannot be compared"]
    eight = [row for where, row in found.items() if where.startswith("Table 8, ")]
    assert [row.word for row in eight] == ["agrees"] * 2 * len(PUBLISHED_SCORES)


def test_the_other_way_is_said() -> None:
    found = rows(printed("untuned", True), printed("tuned", False))
    assert words(found, "reflective", "grounding", "sentiment") == ["differs"] * 3
    assert found["Table 2, intimacy"].verdict == "differs: here it gains"


def test_another_chat_is_not_compared() -> None:
    """Three are tested on the chat that Table 8 learns from."""
    three = ("Elise", "Nebraas", "Akib")
    found = rows(printed("untuned", False, three), printed("tuned", True, three))
    assert (
        found["Table 8, lexical, tuned"].reason == "7 of its 10 speakers were tested on its chats"
    )


def test_committed_runs_change_content_where_the_papers_do_not() -> None:
    """What the page says of content and intimacy follows from the committed rows."""
    place = ROWS / "persona" / "qwen2.5-1.5b"
    runs = (Run.load(place / name, KIND) for name in ("untuned-greedy", "tuned-greedy", "constant"))
    found = rows(*runs)
    assert [found[f"Table 2, {name}"].verdict for name in ("lexical", "semantic")] == [
        "differs: here it changes"
    ] * 2
    assert words(found, "empathy", "emotion") == ["agrees", "cannot be compared"]
    assert found["Table 2, intimacy"].reason == DUMMY_TOO


def test_more_context_that_helps_is_seen(tmp_path: Path) -> None:
    """With the most sessions every turn of the committed sweep agrees: the claim fails."""
    place = ROWS / "persona" / "qwen2.5-1.5b"
    found = {row.where: row for row in persona_rows(None, place)}
    assert found["Figure 7, untuned"].reason == found["Figure 7, tuned"].reason == DUMMY_TOO
    assert "10 sessions against 1: 0 of 6 scores better" in found["Figure 7, tuned"].ours.text
    for sessions in (1, 10):
        shutil.copytree(place / f"sweep{sessions}-tuned", tmp_path / f"sweep{sessions}-tuned")
    table = tmp_path / "sweep10-tuned" / "rows.parquet"
    pl.read_parquet(table).with_columns(pl.lit(1.0).alias("emotion")).write_parquet(table)
    (better,) = (row for row in persona_rows(None, tmp_path) if row.where == "Figure 7, tuned")
    assert better.verdict == "differs: here it gains"
    with refused("no sweep here"):
        persona_rows(None, tmp_path / "sweep1-tuned")


def test_the_published_average_is_that_of_the_published_speakers() -> None:
    for title, side in (("without fine-tuning", "without"), ("with fine-tuning", "tuned")):
        for name, mean in TABLE_2[title].mean.items():
            values = [getattr(row, side)[name] for row in TABLE_8]
            assert sum(values) / len(values) == pytest.approx(mean, abs=0.0051)


def test_most_of_what_is_learned_on_realtalk_is_later_than_the_tested_turn(data: Path) -> None:
    """Table 8's chats ran side by side: what the page says of time."""
    corpus = open_reading(str(data / "realtalk")).reading.corpus
    chats = {chat.id: chat for chat in corpus.chats}
    later = {}
    for who in corpus.speakers:
        chosen = published_choice(who, [chat.id for chat in corpus.chats if who in chat.speakers])
        assert chosen is not None
        learned = [m.time for m in chats[chosen[0]].messages if m.speaker == who and m.time]
        tested = [turn.messages[0].time for turn in chats[chosen[1]].turns if turn.speaker == who]
        pairs = [(one, other) for one in tested for other in learned if one is not None]
        later[who] = sum(other > one for one, other in pairs) / len(pairs)
    assert 0.55 < sum(later.values()) / len(later) < 0.65
    assert round(later["Kevin"], 2) == 0.86 and round(later["Emi"], 2) == 0.82
