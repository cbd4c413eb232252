"""Guesses on the page of personas: rows without texts, and the part of the page made from them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from guess_chats import guess_task, guessable
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.persona.guessing import GuessBenchmark
from realtalk.persona.scoring import ByStyle
from research.results import PAGES, ROWS, persona_guess_rows, persona_guessed

MODEL = ROWS / "persona" / "qwen2.5-1.5b"
STORED = sorted(MODEL.glob("guessed/*/*/"))
WORDS = r"^(Chat_\d+_[A-Za-z]+_[A-Za-z]+(#\d+)?|[A-D]|real|partner|other|simulated|)$"


@pytest.mark.parametrize("folder", STORED, ids=lambda each: f"{each.parent.name}-{each.name}")
def test_stored_guesses_hold_ids_letters_and_names_only(folder: Path) -> None:
    run = Run.load(folder)
    names = {who for row in run.rows for who in (row["group"], *row["writers"])}
    assert len(names - set(run.settings["replies"]["simulated"])) == 10
    rows = pl.read_parquet(folder / "rows.parquet")
    for name, kind in rows.schema.items():
        if not kind.is_numeric():
            column = rows[name].explode() if kind == pl.List(pl.String) else rows[name]
            said = column.drop_nulls().cast(pl.String)
            assert said.filter(~(said.is_in(names) | said.str.contains(WORDS))).is_empty(), name


@pytest.mark.slow
def test_the_page_has_every_stored_guess() -> None:
    part = "\n\n".join(persona_guessed.who_wrote_it(MODEL))
    assert part in (PAGES / "persona.md").read_text("utf-8")
    for folder in STORED:
        run = Run.load(folder)
        (simulator,) = run.settings["replies"]["simulated"]
        accuracy = run.variants[""].overall["accuracy"]
        line = f"| {run.name}, {simulator} | 2,058 of 2,058 | 10 | 0.250 | {accuracy.value:.3f} ["
        assert line in part


def test_sharing_a_run_drops_what_was_written(tmp_path: Path) -> None:
    texts = {"copy": {("Ines", turn.id): "The boat is dry." for turn in guess_task().turns}}
    benchmark = GuessBenchmark(guessable(), [guess_task()], simulated=texts, limit=4)
    run = running.run(benchmark, guessable(), ByStyle(), tmp_path / "run")
    out = persona_guess_rows.share(tmp_path / "run", tmp_path / "out")
    assert out == tmp_path / "out" / "copy" / "classifier"
    shared = Run.load(out)
    assert shared.to_json() == run.to_json() and shared.settings == run.settings
    written = {text for row in run.rows for text in row["replies"]}
    held = {str(value) for row in shared.rows for value in row.values()}
    assert len(written) > 4 and not any(text in each for text in written for each in held)
    assert persona_guessed.who_wrote_it(tmp_path) == []
