"""What models wrote for personas → scored runs without a word of it, for research/results/persona_results.py.

    python -m research.results.persona_rows ../shared/data/realtalk --choice paper \\
        --run research/experiments/build/persona/run --name qwen2.5-1.5b
    → research/results/rows/persona/qwen2.5-1.5b/untuned-greedy, tuned+retrieved-sampled, n25-greedy, …

Every file of rows is scored as `realtalk persona run --simulator written` does, the simulators that
need no model beside it, and two pairs once more with as many words as both have: untuned and
tuned + retrieved, tuned and tuned on another.
Scored runs with their texts stay in a build folder: a call that was stopped goes on.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import Label, TurnInput
from realtalk.evals import running
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Rows, Similarity, shipped_encoder
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.scoring import TurnScorer
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, Simulator, make_simulator
from realtalk.persona.written import WrittenSimulator
from research.experiments.people import open_choices
from research.results import ROWS

BUILD = Path(__file__).parents[1] / "experiments" / "build" / "persona" / "scored"
CONTROLS = ("constant", "copy", "common", "retrieve")
CALLED = {"local": "untuned"}
BEST, PLAIN = "tuned+retrieved", "local"
OF_EQUAL_LENGTH = ((BEST, PLAIN), ("tuned", "swapped"))
HELD = "held"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--run", type=Path, required=True, help="what persona_run.py wrote")
    parser.add_argument("--name", required=True, help="of the model: qwen2.5-1.5b")
    parser.add_argument(
        "--choice", default="ei", help="ei; paper: as in its Table 8; earlier: people.py"
    )
    parser.add_argument("--labels", type=Path, help="what `realtalk ei` wrote: saves labelling")
    parser.add_argument("--limit", type=int, help="each speaker's first turns, to try it out")
    parser.add_argument("--scored", type=Path, default=BUILD)
    parser.add_argument("--out", type=Path, default=ROWS / "persona")
    given = parser.parse_args()
    corpus, choices = open_choices(given.corpus, given.choice, given.labels)
    truths = {turn.text for task in tasks_of(corpus, choices) for turn in task.turns}
    scorer = TurnScorer(corpus, RememberingLabeller(), Similarity(Remembering(truths)))
    for name, simulator, context, speakers in runs(given.run / "rows"):
        chosen = [each for each in choices if not speakers or each.speaker in speakers]
        tasks: list[PersonaTask] = tasks_of(corpus, chosen, **context)
        scored = given.scored / given.name / name
        benchmark = PersonaBenchmark(corpus, tasks, scorer, given.limit)
        found = running.run(benchmark, corpus, simulator, scored)
        out = given.out / given.name / name
        shutil.rmtree(out, ignore_errors=True)
        found.share(out)
        sys.stdout.write(f"{name}: {len(found.rows):,} turns of {len(found.groups)} speakers\n")
        sys.stdout.flush()
    for file in (
        given.run / "report.json",
        given.run / "chosen.json",
        given.run / "rows/chosen.json",
    ):
        if file.is_file():
            name = "ways.json" if file.parent.name == "rows" else file.name
            shutil.copyfile(file, given.out / given.name / name)


class Remembering:
    """The shipped encoder, which reads what people really wrote once for all runs."""

    def __init__(self, kept: Collection[str]) -> None:
        self._encoder = shipped_encoder()
        self.version = self._encoder.version
        self._kept = kept
        self._vectors: dict[str, Rows] = {}
        self._tokens: dict[str, Rows] = {}

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> Rows:
        return np.stack(
            self._all(texts, self._vectors, lambda new: list(self._encoder.embed(new, progress)))
        )

    def token_vectors(self, texts: Sequence[str]) -> list[Rows]:
        return self._all(texts, self._tokens, self._encoder.token_vectors)

    def _all(
        self,
        texts: Sequence[str],
        known: dict[str, Rows],
        read: Callable[[Sequence[str]], list[Rows]],
    ) -> list[Rows]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        found = dict(zip(new, read(new), strict=True)) if new else {}
        known |= {text: rows for text, rows in found.items() if text in self._kept}
        return [known[text] if text in known else found[text] for text in texts]


class RememberingLabeller(EmbeddedLabeller):
    """The shipped labeller, which labels each text after each other one once for all runs."""

    def __init__(self) -> None:
        super().__init__()
        self._labels: dict[tuple[str, str, str], Label] = {}

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        keys = [(turn.previous, turn.text, turn.encoder) for turn in inputs]
        pairs = zip(keys, inputs, strict=True)
        new = {key: turn for key, turn in pairs if key not in self._labels}
        self._labels |= zip(new, super().label([*new.values()], progress), strict=True)
        return [self._labels[key] for key in keys]


def runs(folder: Path) -> Iterator[tuple[str, Simulator, dict[str, int], set[str]]]:
    """Names of runs, who simulates, with which contexts, and which speakers there are."""
    files = [path for path in sorted(folder.glob("*.jsonl")) if HELD not in path.stem]
    main = {}
    for path in files:
        place, how, way = path.stem.split("-")
        head = WrittenSimulator(rows=path).head
        name = f"{CALLED.get(how, how)}-{way}"
        if place.startswith("k"):
            main[how, way] = path
        else:
            name = called(place, how, way)
        yield name, make_simulator("written", {"rows": path}), head["context"], set(head["chats"])
    if not main:
        return
    head = WrittenSimulator(rows=next(iter(main.values()))).head
    for control in CONTROLS:
        yield control, make_simulator(control), head["context"], set(head["chats"])
    partner = dict(OF_EQUAL_LENGTH) | {other: how for how, other in OF_EQUAL_LENGTH}
    for (how, way), path in main.items():
        other = main.get((partner.get(how, ""), way))
        if other is not None:
            name = f"{CALLED.get(how, how)}-matched-{way}"
            matched = make_simulator("matched", {"rows": path, "to": other})
            head = WrittenSimulator(rows=path).head
            yield name, matched, head["context"], set(head["chats"])


def called(place: str, how: str, way: str) -> str:
    """A point of the curve by its number of turns: n0 is untuned, nall learned from all.

    A sweep's greedy runs are called as `research.papers.reproduce --sweep` reads them.
    """
    if place.startswith("sweep"):
        name = f"{place}-{CALLED.get(how, how)}"
        return name if way == "greedy" else f"{name}-{way}"
    if place == "curve":
        place = "n0" if how == PLAIN else "nall" if how == "tuned" else f"n-{how}"
    return f"{place}-{way}"


if __name__ == "__main__":
    main()
