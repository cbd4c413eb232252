"""research/results/rows/simulated.json → docs/results/simulated.md.

    python -m research.results.simulated_results

Every figure of the page is made from the committed rows (research/results/simulated_rows.py makes those), so
that page and rows cannot disagree.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

from realtalk.describe.counting import StatsPart, combine
from realtalk.describe.values import CorpusStats
from realtalk.ei.comparison import CorpusComparison, compare
from realtalk.ei.told_apart import WAYS, pair_estimate
from realtalk.ei.values import FACETS, SPEAKERS, SpeakerFacets, from_frame
from realtalk.metrics.statistics import Estimate
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import holm_p

FOREIGN = ("LoCoMo", "sample", "sample-simulated")  # beside the models that were run here


class Stored:
    """The committed rows, corpus by corpus."""

    def __init__(self) -> None:
        told = json.loads((ROWS / "simulated.json").read_text("utf-8"))
        self.people: str = told["people"]
        self._corpora: dict[str, Any] = told["corpora"]
        self._apart: dict[str, Any] = told["apart"]

    @property
    def names(self) -> list[str]:
        """People first, then what was there before, then what was simulated here."""
        ours = [name for name in self._corpora if name not in (self.people, *FOREIGN)]
        before = [name for name in FOREIGN if name in self._corpora and name != self.people]
        return [self.people, *before, *ours]

    def stats(self, name: str) -> CorpusStats:
        return combine(name, "", [StatsPart.from_json(self._corpora[name]["stats"])])

    def speakers(self, name: str) -> tuple[SpeakerFacets, ...]:
        rows = self._corpora[name]["speakers"]
        return from_frame(pl.DataFrame(rows, schema=SPEAKERS))

    def compared(self, name: str) -> CorpusComparison:
        return compare(self.speakers(self.people), self.speakers(name), (self.people, name))

    def apart(self, name: str, way: str) -> dict[str, Any]:
        found: dict[str, Any] = self._apart[name][way]
        return found

    def auc(self, name: str, way: str) -> Estimate:
        told = self.apart(name, way)
        if told["unscored"]:
            return Estimate(None, n=told["n"], unscored=told["unscored"])
        ones, others = (sorted({pair[at] for pair in told["pairs"]}) for at in (0, 1))
        table = np.full((len(ones), len(others)), np.nan)
        for one, other, auc in told["pairs"]:
            table[ones.index(one), others.index(other)] = auc
        return pair_estimate(table, told["n"])


def figure(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def told(one: Estimate, digits: int = 2) -> str:
    if one.value is None:
        return f"unscored: {one.unscored}"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f} [{one.low:.{digits}f}, {one.high:.{digits}f}]"


def looks(stored: Stored) -> str:
    rows = []
    for name in stored.names:
        found = stored.stats(name)
        messages, words = found.total("messages"), found.total("words")
        rows.append(
            (
                name,
                len(found.per_chat),
                figure(found.mean("days")),
                figure(found.messages_per_chat),
                figure(found.mean("sessions")),
                figure(words / messages if messages else None),
                figure(found.response_gaps.median),
                figure(found.runs.mean, 2),
            )
        )
    return markdown(
        ("corpus", "chats", "days per chat", "messages per chat",
         "sessions per chat", "words per message", "gap, median (min)", "messages in a row"), rows
    )  # fmt: skip


def apartness(stored: Stored) -> str:
    rows = []
    for name in stored.names:
        shown = f"{name}, people against other people" if name == stored.people else name
        about = stored.apart(name, "words")
        held = "people" if about["speaker_disjoint"] else "chats"
        kept = f"{about['folds']} folds, {held} apart" if about["folds"] else "–"
        chats = f"{about['chats'][0]} / {about['chats'][1]}"
        aucs = [told(stored.auc(name, way)) for way in WAYS]
        rows.append((shown, *aucs, f"{about['n']:,}", chats, kept))
    return markdown(("corpus", *WAYS.values(), "turns", "chats", "held out"), rows)


def tuned(stored: Stored) -> str:
    """In words: whether chats that were written as the people themselves can be told from theirs."""
    lines = []
    for name in (name for name in stored.names if name.endswith(" tuned")):
        for way, heading in WAYS.items():
            auc = stored.auc(name, way)
            if auc.low is None:
                continue
            verdict = "are told from people's" if auc.low > 0.5 else "cannot be told from chance"
            lines.append(f"{name}, by {heading}: they {verdict} (AUC {told(auc)}).")
    return "\n".join(lines)


def findings(stored: Stored) -> str:
    rows = []
    for name in stored.names[1:]:
        for each in stored.compared(name).findings:
            rows.append((name, each.claim, each.verdict, each.because))
    return markdown(("corpus", "finding", "verdict", "because"), rows)


def facets(stored: Stored) -> str:
    compared = {name: stored.compared(name) for name in stored.names[1:]}
    rows = [
        (
            facet.heading,
            *(
                f"{told(found[name].delta)}, p {holm_p(found[name].p_shift_holm)}"
                for found in compared.values()
            ),
        )
        for name, facet in FACETS.items()
    ]
    return markdown(("facet", *compared), rows)


def main() -> None:
    """Write the page anew."""
    stored = Stored()
    ours = stored.names[1 + sum(name in stored.names for name in FOREIGN) :]
    run = (
        f"Run here: {', '.join(ours)}."
        if ours
        else "No model has been run here yet: the rows below are of corpora that were there before."
    )
    best = "qwen2.5-1.5b tuned"
    page = f"""# How human is a model's conversation?

A classifier tells chats of an untuned model from people's nearly always (AUC {told(stored.auc("qwen2.5-1.5b untuned", "words"))} by words). Tuned on the people themselves, chats of a 1.5B
model cannot be told from chance by words ({told(stored.auc(best, "words"))}), and still by EI labels and style ({told(stored.auc(best, "facets"))}). People are told from other people
almost as well ({told(stored.auc(stored.people, "words"))}), so a high AUC alone does not say that a chat is a machine's; five simulated chats are few.

![How well chats are told from people's](simulated.svg)

## How it was measured
Chats that models wrote, beside chats of people ({stored.people}): what they look like, how well they are told apart, and which of
the paper's findings (Figure 2: people are more diverse in emotion and sentiment, less empathic, and more varied) hold. Made from
[simulated.json](../../research/results/rows/simulated.json) (ids, counts and facets, no text) by `python -m research.results.simulated_results`. {run}

## What the chats look like
Sessions, gaps and messages in a row of chats that were simulated here are drawn from {stored.people}: of them only the words are
the model's.

{looks(stored)}

Untuned, a model of 0.5B often repeats its instructions instead of following them.

## Told apart
The AUC of a classifier of turns that knows nobody in the chats it is asked about, neither as a person nor as a model ("Emi (simulated)" is Emi):
.5 is where it cannot be told, 1 where every turn gives it away. By words and letters (names hidden), and by EI labels and style.
Intervals draw whole chats, though people of one circle are alike, so they are somewhat too narrow. The first row is the measure of people against other
people: topics and habits tell these apart too, nearly as well as words tell people from models.

{apartness(stored)}

Tuned, the model writes as the people of {stored.people}, each by an adapter of their own. {tuned(stored)}
That the measure is fair to the same people on both sides is tested on {stored.people} itself: its odd sessions
against its even ones, under marked names, get .53 [.49, .56] by words, and .82 [.78, .86] once every third message begins with a phrase of an
assistant (tests/ei/test_told_apart.py has both).

## The paper's findings
{findings(stored)}

## Facet by facet
Cliff's delta of {stored.people}'s chats (each the mean of its speakers) against the others' with its interval (positive: people have more), and
p of Mann-Whitney over chats with Holm's correction over the facets of a column.

{facets(stored)}

## Again
```sh
python -m research.experiments.converse_prepare DATA/realtalk
python -m research.experiments.converse_run --base QWEN.gguf --pace research/experiments/build/converse/pace.json --out run \\
    --prompts research/experiments/build/persona/prompts.jsonl.xz --consent research
python -m research.results.simulated_rows REALTALK=DATA/realtalk LoCoMo=DATA/locomo sample sample-simulated \\
    "qwen2.5-1.5b untuned=run/untuned.jsonl" "qwen2.5-1.5b tuned=run/tuned.jsonl"
python -m research.results.simulated_results
```
The first corpus is people's; a name that is not given keeps its rows. The people of {stored.people} agreed to the study and not to a model that writes as them:
`--consent research` says so in every chat.
"""
    (PAGES / "simulated.md").write_text(page, "utf-8")
    points = [
        (name, heading, stored.auc(name, way))
        for name in stored.names
        for way, heading in WAYS.items()
    ]
    notes = [
        f"AUC of turns against {stored.people}; .5: cannot be told; intervals draw whole chats"
    ]
    draw_estimates(PAGES / "simulated.svg", "Told from people's chats", points, notes)


if __name__ == "__main__":
    main()
