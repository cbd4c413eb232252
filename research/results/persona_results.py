"""Stored scores of the real persona run → docs/results/persona.md and its picture.

    python -m research.results.persona_results

Reads research/results/rows/persona/: one folder per run (as `realtalk runs share` writes them), what the
machine reported while it trained and wrote (report.json), and its benchmark (bench.json); a folder
below it with tuned + retrieved runs is a larger model's (persona_round.py), and comes first. Every
sentence with a figure is made from them, so that page and rows cannot disagree.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from realtalk.describe.figures import style_chart
from realtalk.evals.comparing import RunComparison
from realtalk.evals.run import Run
from realtalk.persona.choosing import published_choice
from realtalk.persona.scoring import SCORES
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.persona_claims import (
    CONTENT,
    ENDINGS,
    ENOUGH,
    SIX,
    both_sides,
    claims,
    ended,
    findings,
    moved,
    rates,
)
from research.results.persona_round import second_round
from research.results.persona_tables import (
    beyond,
    compare,
    compared,
    fact_average,
    gain_line,
    table_2,
    table_8,
    title_of,
    unscored,
)

FOLDER = ROWS / "persona"
BASELINES = ("constant", "copy", "common", "retrieve")
MODELS = [f"{how}{end}" for how in ("untuned", "tuned") for end in ENDINGS.values()]
ORDER = (*BASELINES, *MODELS[:3], "styled", *MODELS[3:])


def main() -> None:
    runs = {name: Run.load(FOLDER / name) for name in ORDER if (FOLDER / name).is_dir()}
    found = {name: run.with_name(name) for name, run in runs.items()}
    tests = {
        (a, b): compare(found[a], found[b])
        for a, b in (
            *((f"untuned{end}", f"tuned{end}") for end in ENDINGS.values()),
            ("untuned", "styled"),
            ("constant", "tuned"),
            ("retrieve", "tuned"),
        )
    }
    ways = {way: tests[f"untuned{end}", f"tuned{end}"] for way, end in ENDINGS.items()}
    report = json.loads((FOLDER / "report.json").read_text("utf-8"))
    bench = json.loads((FOLDER / "bench.json").read_text("utf-8"))
    parts = [
        HEAD,
        machine(report, bench),
        "## What was asked of it",
        claims(ways, fact_average(found["tuned"], "ceiling").value),
        rates(runs, ways),
        "## Turns that both ended by themselves",
        ended(found),
        "## Beside Table 2",
        markdown(*table_2(list(found.values()), published=True)),
        READING,
        "\n".join(f"- {line}" for each in found.values() for line in unscored(each)),
        "## Beyond the paper",
        markdown(*beyond(list(found.values()))),
        "## Tuned against untuned, the same turns",
        TESTED,
        *(
            f"### {way}\n\n{markdown(*compared(test))}\n\n{gain_line(test)}"
            for way, test in ways.items()
        ),
        "## What a constant beats",
        constant(tests[("constant", "tuned")], tests[("retrieve", "tuned")]),
        "## Style from context alone",
        style(tests[("untuned", "styled")]),
        "## The paper's findings",
        findings(ways),
        "## More and more context (Figure 7, Akib)",
        context(),
        "## Beside Table 8",
        other_chats(found["tuned"]),
        *(
            f"### {name}\n\n{markdown(*table_8(found[name], published=True))}"
            for name in ("untuned", "tuned")
        ),
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

![Token matching F1 by simulator](persona-content.svg)

## How it was run

Ten speakers of REALTALK, continued in one of their chats by models that know the other one. The largest model comes first, then
how many turns are enough, then the first round with a model of 135M parameters. Rows without texts are in `persona/`; this page is
made from them by `python -m research.results.persona_results`. The two chats of a speaker ran side by side: of what is learned about six messages in ten are
later than the tested turn (Kevin 86 %, Emi 82 %), as in the paper, so a simulator may know the same day's news from the other chat.

```sh
python -m research.experiments.persona_prepare DATA/realtalk --choice paper --examples 8 --curve 25,50,100,200,400 --out prompts.jsonl.xz
python -m research.experiments.persona_run --prompts prompts.jsonl.xz --base QWEN.gguf --out run --learning-rate 1e-4,2e-4,4e-4 --trials 2 \\
    --held --processes 2
python -m research.experiments.persona_choose DATA/realtalk --choice paper --rows run/rows
python -m research.results.persona_rows DATA/realtalk --choice paper --run run --name qwen2.5-1.5b
```"""

HEAD = """# Persona simulation: the real run

All ten speakers of REALTALK who are in two chats, each continued in one chat (C_b) at every turn: by baselines, by
SmolLM2-135M-Instruct as it is (untuned), told how the speaker writes (styled), and after learning from the speaker's
other chat (tuned, LoRA of rank 16). Three ways of writing: greedy; sampled at temperature .8 from the likeliest 95 %; pure,
drawn as the model believes (temperature 1, no cut; its adapters were trained again, alike). Contexts of three sessions, at most
1,500 tokens. EI labels of truth and simulation are by the embedded encoder. Rows without texts are in `persona/`; this page is made from them by
`python -m research.results.persona_results`.

```sh
python -m research.experiments.persona_prepare DATA/realtalk --sweep Akib --out prompts.jsonl.xz
python -m research.experiments.persona_run --prompts prompts.jsonl.xz --base SmolLM2-135M-Instruct.Q4_1.gguf --out run \\
    --samplings greedy,sampled,pure
realtalk persona run DATA/realtalk --simulator written --set rows=run/rows/k3-tuned-greedy.jsonl --out tuned
realtalk persona run DATA/realtalk --simulator constant --out constant      # and copy, common, retrieve
realtalk runs share tuned untuned styled constant … --out research/results/rows/persona
python bench/persona.py --base run/base
```"""

READING = (
    "Mean ± standard deviation over speakers [95 % interval]. Intimacy and empathy are absolute differences: less is "
    "better. The paper simulates with GPT-4o-mini and labels with it; its semantic score is BERTScore, ours the same "
    "formula with another encoder. Compare our rows with each other, the paper's with each other, and the changes."
)


TESTED = (
    "Every speaker counts the same. Intervals draw whole speakers, p is exact: the two sides of whole speakers are "
    "swapped in all ways; Holm's correction is within content, EI, and what goes beyond the paper."
)


def machine(report: Mapping[str, Any], bench: Mapping[str, Any]) -> str:
    trained = [each for name, each in report["trained"].items() if name.startswith("k3 ")]
    tokens = sum(each["tokens"] for each in trained)
    seconds = sum(each["seconds"] for each in trained)
    written = [each for name, each in report["written"].items() if name.startswith("k3-")]
    new = sum(each["tokens_out"] for each in written)
    writing = sum(each["seconds"] for each in written)
    lower = [(each["untuned"], each["epochs"][each["kept"] - 1]["held_out"]) for each in trained]
    return "\n".join(
        [
            "## The machine",
            "",
            f"{bench['name']}, {bench['precision']}, {bench['parameters'] / 1e6:.1f}M parameters. "
            "`bench/persona.py` of version 0.1.0, which trained and wrote with loops of its own "
            "([decisions](../decisions.md) has what replaced them), alone on the device, one run:",
            "",
            f"- training {bench['ours_tokens_per_second']:,.0f} tokens/s "
            f"({bench['ours_share']:.1%} of the measured matrix rate of "
            f"{bench['matrix_tflops']:.0f} TFLOP/s), a plain loop with one turn per step "
            f"{bench['plain_tokens_per_second']:,.0f} ({bench['plain_share']:.1%}): "
            f"**{bench['times']:.1f} times**;",
            f"- writing {bench['new_tokens_per_second']:,.0f} new tokens/s "
            f"({bench['read_and_new_tokens_per_second']:,.0f} with those read)"
            f", {bench['unrecorded_new_tokens_per_second']:,.0f} with steps that are not "
            f"recorded; {bench['reading_share']:.0%} of the time goes into reading the prompts.",
            "",
            f"In the run itself, with other work beside it: {tokens / 1e6:.1f}M tokens of training "
            f"in {seconds:,.0f} s ({tokens / seconds:,.0f}/s), {new / 1e3:,.0f}k new tokens in "
            f"{writing:,.0f} s of writing. Loss per token on the held-out last tenth of the learned "
            f"chat: {mean([a for a, _ in lower]):.2f} untuned, {mean([b for _, b in lower]):.2f} "
            "tuned (means over speakers). Learning rate 5e-4 was not tuned: of three rates only "
            "2e-4 was tried beside it (held-out 2.99), and the tested chats had no say.",
        ]
    )


def other_chats(simulation: Run) -> str:
    """Whose tested chat is not the one that the paper tested."""
    chats = sorted({fact[name] for fact in simulation.facts for name in ("learn", "test")})
    others = [
        fact["group"]
        for fact in simulation.facts
        if (told := published_choice(fact["group"], chats)) is not None and told[1] != fact["test"]
    ]
    return (
        f"{', '.join(others)} are tested on the other of their two chats than in the paper: their "
        f"rows and the printed ones are about different turns. The other "
        f"{len(simulation.groups) - len(others)} speakers are tested on the same chat."
    )


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def constant(against: RunComparison, copied: RunComparison) -> str:
    def said(found: RunComparison, other: str) -> str:
        lost = [name for name in SIX if moved(found, name) * SCORES[name].better < 0]
        told = [
            f"{title_of(name)} ({both_sides(found, name, 2).replace('→', 'against')})"
            for name in lost
        ]
        return f"{other} does better than tuned on {', '.join(told) or 'none of the six'}."

    return (
        said(against, "One flat 'ok' at every turn")
        + " Its kappas are 0: raw agreement rewards whoever never says anything that is rare. "
        + said(copied, "Repeating the speaker's own turn whose context is nearest")
    )


def style(found: RunComparison) -> str:
    shown = [
        f"{title_of(name)} {both_sides(found, name, 2)}"
        f"{'' if (found.changes[name].p_holm or 1) < ENOUGH else ' (not beyond chance)'}"
        for name in (*SIX, *CONTENT, "taken_for")
    ]
    return (
        "The same model told how the speaker writes (facets in words, typical phrases, lengths, "
        f"examples from C_a): {'; '.join(shown)}. A model of 135M parameters repeats parts of "
        "such a description instead of following it; nothing follows for larger ones."
    )


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
