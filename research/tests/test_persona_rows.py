"""Many simulators are scored by one scorer, which labels what people really wrote once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from persona_chats import RuleLabeller, WordEncoder, ines, ines_choice, light_scorer
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import Label, TurnInput
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.persona.scoring import TurnScorer
from realtalk.persona.turns import tasks_of
from research.results.persona_rows import RememberingLabeller


def test_true_turns_are_labelled_once_for_all_simulators(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = ines(8)
    labelled: Counter[str] = Counter()

    def count(
        _: EmbeddedLabeller, inputs: Sequence[TurnInput], progress: Progress = silent
    ) -> list[Label]:
        labelled.update(turn.text for turn in inputs)
        return RuleLabeller().label(inputs, progress)

    monkeypatch.setattr(EmbeddedLabeller, "label", count)
    scorer = TurnScorer(corpus, RememberingLabeller(), Similarity(WordEncoder()))
    (task,) = tasks_of(corpus, [ines_choice(24)])
    for told in ("haha ok", "I do not know", "haha ok"):
        said = [Answer(f"{told} {at}") for at, _ in enumerate(task.turns)]
        rows = scorer.rows(task, task.turns, said)
        assert rows == light_scorer(corpus).rows(task, task.turns, said)
    assert set(labelled.values()) == {1}
    assert labelled.total() == 3 * len(task.turns)
