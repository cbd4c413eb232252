"""Stored scores of the real persona run → docs/results/persona.md and its picture.

    python -m research.results.persona_results

Reads research/results/rows/persona/: one folder per run (as `realtalk runs share` writes them), what the
machine reported while it trained and wrote (report.json), and its benchmark (bench.json); a folder
below it with tuned + retrieved runs is a larger model's (persona_round.py), and comes first. Every
sentence with a figure is made from them, so that page and rows cannot disagree.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from realtalk.describe.figures import style_chart
from realtalk.evals.run import Run
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.persona_claims import (
    ENDINGS,
    SIX,
    claims,
)
from research.results.persona_round import second_round
from research.results.persona_tables import (
    compare,
    fact_average,
    title_of,
)

FOLDER = ROWS / "persona"
BASELINES = ("constant", "copy", "common", "retrieve")
MODELS = [f"{how}{end}" for how in ("untuned", "tuned") for end in ENDINGS.values()]
ORDER = (*BASELINES, *MODELS[:3], "styled", *MODELS[3:])


def main() -> None:
    runs = {name: Run.load(FOLDER / name) for name in ORDER if (FOLDER / name).is_dir()}
    found = {name: run.with_name(name) for name, run in runs.items()}
    ways = {
        way: compare(found[f"untuned{end}"], found[f"tuned{end}"]) for way, end in ENDINGS.items()
    }
    parts = [
        HEAD,
        "## What was asked of it",
        claims(ways, fact_average(found["tuned"], "ceiling").value),
        "## More and more context (Figure 7, Akib)",
        context(),
    ]
    if larger := second_round(FOLDER, PAGES):
        first = re.sub("^#", "##", "\n\n".join(parts), flags=re.MULTILINE)
        parts = [TITLE, *larger, first]
        draw_content(FOLDER / "qwen2.5-1.5b")
    (PAGES / "persona.md").write_text("\n\n".join(parts).rstrip() + "\n", "utf-8")
    sys.stdout.write(f"wrote {PAGES / 'persona.md'}\n")


TITLE = """# Persona simulation: can a small model write as you do?

A 1.5B model that was tuned on a speaker's turns writes nearer to what ten people of REALTALK wrote than the same model untuned, in content and in the mix of
emotions. Rules without a model do as well or better: repeating what was just said is nearer in content, and one own sentence, always the same, is always taken for
the speaker. No agreement on EI improves beyond chance once all tests are corrected together, and showing own turns adds nothing to tuning beyond chance.
Ten are too few to tell more; [189 people of Reddit](people.md) tell whether it matters whose turns were learned.

![Token matching F1 by simulator](persona-content.svg)

## How it was run

Ten speakers of REALTALK, continued in one of their chats by models that know the other one. The largest model comes first, then
how many turns are enough, then the first round with a model of 135M parameters. Rows without texts are in `research/results/rows/persona`; this page is
made from them by `python -m research.results.persona_results`, `realtalk runs show ROWS` has every speaker, and
`realtalk runs compare ROWS ROWS` every test of two ways of writing. The two chats of a speaker ran side by side: of what is learned about six messages in ten are
later than the tested turn (Kevin 86 %, Emi 82 %), as in the paper, so a simulator may know the same day's news from the other chat.

```sh
python -m research.experiments.persona_prepare DATA/realtalk --choice paper --examples 8 --curve 25,50,100,200,400 --out prompts.jsonl.xz
python -m research.experiments.persona_run --prompts prompts.jsonl.xz --base QWEN.gguf --out run --learning-rate 1e-4,2e-4,4e-4 --trials 2 \\
    --held --processes 2
python -m research.experiments.persona_choose DATA/realtalk --choice paper --rows run/rows
python -m research.results.persona_rows DATA/realtalk --choice paper --run run --name qwen2.5-1.5b
```"""

HEAD = """# The first round, with 135M parameters

The same speakers, continued by SmolLM2-135M-Instruct as it is (untuned) and after learning from the speaker's other chat (tuned,
LoRA of rank 16). Three ways of writing: greedy; sampled at temperature .8 from the likeliest 95 %; pure, drawn as the model
believes (its adapters were trained again, alike). Greedy writing of so small a model runs in circles: 37 % of the tuned turns and
76 % of the untuned ones reach the limit of 160 tokens, so what tuning teaches it may mostly be when to stop."""


def context() -> str:
    points: list[dict[str, Any]] = []
    rows = []
    for how in ("untuned", "tuned"):
        for sessions in (1, 2, 3, 5, 10):
            run = swept(how, sessions)
            if run is None:
                continue
            scores = run.variants[""].slices["Akib"]
            cells = [f"{scores[name].value:.2f}" for name in ("rouge_1", "semantic", *SIX)]
            rows.append((how, sessions, len(run.rows), *cells))
            points += [
                {
                    "simulator": how,
                    "sessions": sessions,
                    "score": title_of(name),
                    "value": scores[name].value,
                    "low": scores[name].low,
                    "high": scores[name].high,
                }
                for name in SIX
            ]
    draw(points)
    headings = ("simulator", "sessions", "turns", *map(title_of, ("rouge_1", "semantic", *SIX)))
    missing = [
        f"{how} at {sessions}"
        for how in ("untuned", "tuned")
        for sessions in (1, 2, 3, 5, 10)
        if swept(how, sessions) is None
    ]
    return (
        "Akib's turns with contexts of more and more sessions (5,500 tokens of room; at three sessions the main run's "
        f"1,500), greedy.\n\n{markdown(headings, rows)}\n\n"
        "![scores over sessions of context](persona-context.svg)"
        + (f"\n\nNot made in the time there was: {', '.join(missing)}." if missing else "")
    )


def swept(how: str, sessions: int) -> Run | None:
    folder = FOLDER / f"sweep{sessions}-{how}"
    if folder.is_dir():
        return Run.load(folder)
    if sessions == 3:
        run = Run.load(FOLDER / how)
        rows = [row for row in run.rows if row["group"] == "Akib"]
        facts = [fact for fact in run.facts if fact["group"] == "Akib"]
        return replace(run, rows=rows, facts=facts)
    return None


def draw_content(folder: Path) -> None:
    """How near the turns are to what was written, with and without a model."""
    shown = {
        **{"constant": '"ok"', "retrieve": "nearest own turn", "common": "one own sentence"},
        **{"untuned-greedy": "1.5B, untuned", "tuned-greedy": "1.5B, tuned"},
        **{"tuned+retrieved-greedy": "1.5B, tuned, shown own turns", "copy": "repeats the last"},
    }
    points = [
        (label, "", Run.load(folder / name).variants[""].overall["semantic"])
        for name, label in shown.items()
    ]
    notes = ["mean over ten speakers; 95 % intervals draw speakers"]
    path = PAGES / "persona-content.svg"
    draw_estimates(path, "Nearness in content (token matching F1)", points, notes)


def draw(points: Sequence[Mapping[str, Any]]) -> None:
    import vl_convert

    frame = pl.DataFrame(points)
    sessions = alt.X(
        "sessions:Q", scale=alt.Scale(type="log"), axis=alt.Axis(values=[1, 2, 3, 5, 10])
    )
    plain = alt.Chart(frame).encode(x=sessions, color=alt.Color("simulator:N", title=None))
    value = alt.Y("value:Q", title=None, scale=alt.Scale(zero=False))
    band = plain.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    lines = band + plain.mark_line(point=True).encode(y=value)
    chart = style_chart(
        lines.properties(width=220, height=140)
        .facet(facet=alt.Facet("score:N", title=None), columns=3)
        .resolve_scale(y="independent"),
        "Akib continued with more and more context",
        ["sessions shown before the turn; bands are 95 % intervals over turns"],
    )
    picture = vl_convert.vegalite_to_svg(chart.to_dict())
    (PAGES / "persona-context.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
