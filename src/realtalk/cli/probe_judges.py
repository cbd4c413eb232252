"""`probe judges`: measure who judges answers before it is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import (
    Connections,
    FormatName,
    Gap,
    Json,
    Rate,
    Target,
    opened,
    read_options,
)
from realtalk.cli.probe_options import JudgeName, Prompts


def register(app: typer.Typer) -> None:
    """Adds the command to `probe`."""
    app.command()(judges)


def judges(
    path: Target,
    judge: JudgeName = None,
    graded: Annotated[
        Path | None,
        typer.Option(
            "--graded",
            metavar="FILE",
            help="JSONL of graded answers: chat, question (its place), answer, verdict (0 to 1).",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Planted questions.", min=1)
    ] = 60,
    prompts: Prompts = None,
    connections: Connections = 10,
    rate: Rate = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Measure a judge: false positives on planted answers, agreement with graded ones.

    Planted are the gold itself, the gold of another question, and words that say nothing. Rules
    that need no model stand beside the judge: accepted, containing the gold, F1 from a cut. What
    is chosen is chosen on one half of the graded questions and reported on the other. A planted
    answer that is called right is a point that any memory gets for nothing.

    Examples:

        realtalk probe judges sample

        realtalk probe judges data/realtalk --graded graded.jsonl --judge openai/gpt-4o-mini
    """
    from realtalk.cli.printing import end_unscored, print_json, progress, say, show
    from realtalk.evals.values import Row
    from realtalk.memory.golds import golds_named
    from realtalk.memory.measuring_judges import (
        agreement,
        false_positives,
        planted,
        read_graded,
        rule_verdicts,
    )
    from realtalk.surface.choices import make_judge

    with opened(path, format_name, read_options(gap)) as source:
        corpus = source.reading.corpus
    audit = golds_named()
    rows = planted(corpus, limit, audit)
    if graded is not None:
        rows += read_graded(graded, corpus, audit)
    verdicts = rule_verdicts(rows)
    judging = make_judge(judge, {}, prompts=prompts, connections=connections, rate=rate)
    unscored: list[str | None] = []
    if judging is not None:
        said: dict[tuple[str, str, str, str], float | None] = {}

        def keep(row: Row) -> None:
            said[row["wording"], row["group"], row["sample"], row["variant"]] = row["right"]
            unscored.append(row["unscored"])

        with progress("judging") as advance:
            judging.judge(rows, keep, progress=advance)
        for wording in judging.wordings:
            verdicts[f"{wording}, {judge}"] = [
                said.get((wording, row["group"], row["sample"], row["variant"])) for row in rows
            ]
    tables = {"planted": false_positives(rows, verdicts), "graded": agreement(rows, verdicts)}
    if json:
        print_json(
            {
                name: [dict(zip(headings, line, strict=True)) for line in lines]
                for name, (headings, lines) in tables.items()
            }
        )
    else:
        show(
            "planted answers: wrong and vague ones should be called right by nobody",
            *tables["planted"],
        )
        if tables["graded"][1]:
            show("agreement with graded answers, held-out questions", *tables["graded"])
    for reason in dict.fromkeys(filter(None, unscored)):
        say(f"unscored: {unscored.count(reason):,} judgements ({reason})")
    if judging is not None:
        end_unscored(unscored)
