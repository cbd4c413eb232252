"""Stored guesses without texts → the page's part about who wrote it.

    who_wrote_it(Path("research/results/rows/persona/qwen2.5-1.5b"))    → ["### Who wrote it", "…", …]

`guessed/SIMULATOR/GUESSER` below a model's folder is one run (persona_guess_rows.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from realtalk.evals.run import Run
from realtalk.evals.tables import figure, run_tables
from realtalk.metrics.statistics import holm
from realtalk.persona.guessing import GUESS_SCORES, READING
from research.papers.markdown import table as markdown

SIMULATED = GUESS_SCORES[-1]
ORDER = ("classifier", "nearness both", "nearness speaker", "nearness context")
COMPARED = ("nearness both", "llm")  # with the classifier; of language models each


def place(guesser: str) -> tuple[int, str]:
    """Where a guesser stands: language models come last."""
    return (ORDER.index(guesser) if guesser in ORDER else len(ORDER), guesser)


def who_wrote_it(folder: Path) -> list[str]:
    """The part of one model; nothing where nobody guessed."""
    runs = [Run.load(each) for each in sorted(folder.glob("guessed/*/*/"))]
    by_simulator: dict[str, dict[str, Run]] = {}
    for run in sorted(runs, key=lambda run: place(run.name)):
        (simulator,) = run.settings["replies"]["simulated"]
        by_simulator.setdefault(simulator, {})[run.name] = run
    if not runs:
        return []
    every = [
        (f"{guesser}, {simulator}", run)
        for simulator, several in by_simulator.items()
        for guesser, run in several.items()
    ]
    return [
        "### Who wrote it",
        ASKED,
        markdown(
            *run_tables({name: run.with_name(name) for name, run in every}, groups=False)[0].lines
        ),
        READING,
        "\n".join(f"- {line}" for line in differences(by_simulator)),
    ]


ASKED = (
    "Which of four replies did this person write here: the real one, one of the partner's, one of another speaker, or the simulated "
    "one? Chance is .25. The *classifier* knows how the speaker writes in the learned chat, *nearness* goes by the encoder's meaning: "
    "nearest to what was said before, to the speaker's own turns, or to both; a language model (*llm*) reads the chat so far, some of the speaker's turns and the four replies. The name behind the guesser is the simulator's. Made by `realtalk persona who-wrote-it DATA/realtalk "
    "--simulated NAME=RUN --guesser nearness --out OUT` and `python -m research.results.persona_guess_rows OUT --name MODEL`; the language model's answers by "
    "`research/experiments/guess_prompts.py` and `research/experiments/answers_run.py` on an accelerator. tuned+retrieved and untuned were written at different times; "
    "each guesser's rows of one simulator are about the same replies."
)


def differences(by_simulator: Mapping[str, Mapping[str, Run]]) -> list[str]:
    """Others against the classifier, and one simulator's replies against another's."""
    changes = {
        (simulator, guesser): several["classifier"].changes(run)[""].changes["accuracy"]
        for simulator, several in by_simulator.items()
        for guesser, run in several.items()
        if "classifier" in several and guesser.startswith(COMPARED)
    }
    corrected = holm([change.p for change in changes.values()])
    lines = []
    for ((simulator, guesser), change), p in zip(changes.items(), corrected, strict=True):
        told = change.difference
        lines.append(
            f"Among replies of {simulator}, {guesser} against the classifier: accuracy "
            f"{told.value:+.3f} [{told.low:+.3f}, {told.high:+.3f}], p {p:.3f} after Holm's "
            "correction, whole speakers swapped."
        )
    for simulator, several in by_simulator.items():
        for guesser, run in several.items():
            if guesser.startswith("llm"):
                said = Counter(str(row["answer"]) for row in run.rows)
                letter, times = said.most_common(1)[0]
                if times * 2 <= len(run.rows):
                    continue
                lines.append(
                    f"{guesser} answers {letter} in {times / len(run.rows):.2f} of choices "
                    f"({simulator}), wherever the real reply stands: it goes by the letter more "
                    "than by the person."
                )
    for guesser in ORDER:
        taken = [
            f"{figure(several[guesser].variants[''].overall[SIMULATED.name])} ({simulator})"
            for simulator, several in by_simulator.items()
            if guesser in several
        ]
        if len(taken) > 1:
            lines.append(f"{guesser} takes the simulated reply for real: {', '.join(taken)}.")
    return lines


if __name__ == "__main__":
    import sys

    sys.stdout.write("\n\n".join(who_wrote_it(Path(sys.argv[1]))) + "\n")
