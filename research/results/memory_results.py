"""research/results/rows/memory-rows.parquet → docs/results/memory.md.

    python -m research.results.memory_results

Every figure of the page is made from the committed rows (research/results/memory_rows.py makes those), from
what the machine reported (memory-run.json) and from what building took (memory-building.json), so
that page and rows cannot disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from realtalk.evals.tables import p_value
from realtalk.memory.golds import TABLE_3
from realtalk.memory.registry import BUDGETLESS
from realtalk.metrics.statistics import Estimate
from research.papers.markdown import table as markdown
from research.results import PAGES
from research.results.memory_claims import (
    ENOUGH,
    Test,
    as_claimed,
    condensed,
    few_words,
    few_words_by_category,
    fewest,
    others,
)
from research.results.memory_stored import CATEGORIES, MEM0, QUESTIONS, SETS, TESTED, Stored, title
from research.results.page_pictures import draw_estimates
from research.results.page_words import digits, share, told, wrapped_page

SHOWN = ("f1", "date_f1", "accepted")


def mean(found: Estimate) -> float:
    assert found.value is not None
    return found.value


def cell(figures: Mapping[str, Estimate] | None, name: str) -> str:
    found = None if figures is None else figures.get(name)
    return "–" if found is None else told(found)


def answers(stored: Stored, golds: str) -> str:
    rows = [
        (title(which), *(cell(stored.figures(which, golds).overall, name) for name in SHOWN))
        for which in SETS
    ]
    return markdown(("memory", "F1", "date-aware F1", "accepted"), rows)


def categories(stored: Stored, score: str, golds: str) -> str:
    rows = [
        (
            title(which),
            *(cell(stored.figures(which, golds).slices[name], score) for name in CATEGORIES),
        )
        for which in SETS
    ]
    return markdown(("memory", *(name.replace("_", "-") for name in CATEGORIES)), rows)


def costs(stored: Stored) -> str:
    rows = []
    for which in SETS:
        shown = stored.figures(which, "audited").overall
        rows.append(
            (
                title(which),
                f"{stored.mean(which, 'context_words'):,.0f}",
                f"{stored.mean(which, 'tokens_in'):,.0f}",
                *(
                    # What these show follows from what they are: there is nothing to draw.
                    digits(mean(shown[name])) if which[0] in BUDGETLESS else cell(shown, name)
                    for name in ("recall@budget", "all@budget")
                ),
            )
        )
    headings = ("memory", "words", "tokens in", "evidence", "all of it")
    return markdown(headings, rows)


def paper(stored: Stored) -> str:
    rows: list[tuple[Any, ...]] = []
    for memory in ("whole", "events"):
        found = stored.figures((memory, "all")).slices
        ours = [digits(mean(found[name]["f1"])) for name in CATEGORIES]
        rows.append(("Qwen2.5-Coder-1.5B (ours)", memory, *ours))
    for line in TABLE_3:
        printed = [digits(line.f1[name]) for name in CATEGORIES]
        rows.append((f"{line.model} (Table 3)", line.memory, *printed))
    return markdown(("reader", "shown", *(name.replace("_", "-") for name in CATEGORIES)), rows)


def building(taken: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        (
            name,
            f"{each['seconds']:.2f}",
            f"{each['cpu_seconds']:.2f}",
            f"{each['recall_ms']:.1f}",
            0,
        )
        for name, each in taken.items()
    ]
    headings = ("memory", "seconds", "of all cores", "ms per question", "model calls")
    return markdown(headings, rows)


def told_to_mem0(stored: Stored) -> dict[str, str]:
    """What mem0 took and gave, on the chats that it was told."""
    taken = stored.mem0
    chats = [each["chat"] for each in taken["chats"]]
    sums = {
        name: sum(each[name] for each in taken["chats"])
        for name in ("messages", "calls", "tokens_in", "tokens_out", "facts")
    }
    rows = []
    for which in (*SETS, *MEM0):
        part = stored.part(which, chats)
        means = {name: part[name].mean() for name in ("f1", "f1_audited", "accepted_audited")}
        words = part["context_words"].mean()
        assert isinstance(words, float)
        rows.append(
            (title(which), f"{words:,.0f}", *(digits(cast(float, mean)) for mean in means.values()))
        )
    headings = ("memory", "words", "F1", "F1, audited", "accepted, audited")
    return {
        "mem0": markdown(headings, rows),
        "mem0_version": taken["version"],
        "mem0_chats": " and ".join(chats),
        "mem0_questions": f"{stored.part(MEM0[0], chats).height}",
        "mem0_messages": f"{sums['messages']:,}",
        "mem0_calls": f"{sums['calls']:,}",
        "mem0_in": f"{sums['tokens_in']:,}",
        "mem0_out": f"{sums['tokens_out']:,}",
        "mem0_facts": f"{sums['facts']:,}",
        "mem0_seconds": f"{max(each['seconds'] for each in taken['chats']):.0f}",
        "mem0_cut": f"{taken['server']['cut']}",
        "mem0_requests": f"{taken['server']['requests']}",
    }


def ending(frame: pl.DataFrame) -> dict[str, str]:
    """What stands after the answers of the first runner, in numbers."""
    early, late = (frame.filter(pl.col("early") == first) for first in (True, False))
    ended = early.filter("ended")
    odd = ended.filter(pl.col("beyond") != 2).height
    cut = early.filter(~pl.col("ended"))
    return {
        "early": f"{early.height:,}",
        "marked": f"{ended.height - odd:,}",
        "odd": f"{odd}",
        "cut": f"{cut.height}",
        "cut_odd": f"{cut.filter(pl.col('beyond') != 0).height}",
        "late": f"{late.height:,}",
        "late_odd": f"{late.filter(pl.col('beyond') != 0).height}",
        "all_cut": f"{frame.filter(~pl.col('ended')).height}",
    }


def counted(budget: str) -> str:
    """`2000w` as 2,000."""
    return f"{int(budget.removesuffix('w')):,}"


def page(stored: Stored) -> str:
    run = stored.run
    sets = run["sets"].values()
    drop, drops = condensed(stored)
    against, found = few_words(stored)
    changes = {budget: found[budget, "f1"][0] for budget in TESTED}
    losses = [
        1 - TABLE_3[place + 1].f1["multi_hop"] / TABLE_3[place].f1["multi_hop"] for place in (0, 2)
    ]
    f1 = {which: stored.figures(which).overall["f1"] for which in SETS}
    right = {which: stored.figures(which, "audited").overall["accepted"] for which in SETS}
    best, best_right = (
        max(TESTED, key=lambda budget: found["retrieved", budget].value or 0)
        for found in (f1, right)
    )
    guessed = stored.figures(("none", "all")).slices["commonsense"]["f1"]
    whole = stored.figures(("whole", "all")).slices["commonsense"]["f1"]
    hops = {
        memory: mean(stored.figures((memory, "all")).slices["multi_hop"]["f1"])
        for memory in ("whole", "events")
    }
    few = Test(("whole", "all"), ("retrieved", "125w"), "f1", category="multi_hop")
    out = [stored.mean(which, "tokens_out") for which in SETS]
    text = (Path(__file__).parent / "memory_page.md").read_text("utf-8")
    filled = text.format(
        **ending(stored.frame),
        rows=f"{len(SETS) * QUESTIONS:,}",
        **told_to_mem0(stored),
        sets=len(SETS),
        machine=run["device"],
        precision=run["precision"],
        transformers=run["transformers"],
        sha256=run["file_sha256"][:12],
        seconds=f"{sum(each['seconds'] for each in sets):,.0f}",
        asked=f"{sum(each['tokens_in'] for each in sets) / 1e6:.1f}",
        read=f"{sum(each['tokens_read'] for each in sets) / 1e6:.1f}",
        published=answers(stored, "published"),
        audited=answers(stored, "audited"),
        by_f1=categories(stored, "f1", "published"),
        by_accepted=categories(stored, "accepted", "audited"),
        costs=costs(stored),
        drop=drop,
        lost=share(drops["multi_hop", "published"].relative),
        lost_audited=share(drops["multi_hop", "audited"].relative),
        claimed=as_claimed(drops["multi_hop", "published"], min(losses)),
        claimed_audited=as_claimed(drops["multi_hop", "audited"], min(losses)),
        papers=" and ".join(f"{loss:.1%}" for loss in losses),
        **{f"hop_{memory}": digits(hops[memory]) for memory in hops},
        against=against,
        by_category=few_words_by_category(stored),
        fewest=fewest(changes),
        gain=told(changes["125w"].difference),
        right_gain=told(found["125w", "accepted"][0].difference),
        gain_p=p_value(found["125w", "f1"][1]),
        gain_chance="beyond" if (found["125w", "f1"][1] or 1) < ENOUGH else "not quite beyond",
        right_p=p_value(found["125w", "accepted"][1]),
        few_hops=told(few.change(stored).difference),
        all_125=f"{mean(stored.figures(('retrieved', '125w'), 'audited').overall['all@budget']):.0%}",
        out=f"{min(out):.0f} to {max(out):.0f}",
        f1_125=told(f1["retrieved", "125w"]),
        f1_whole=told(f1["whole", "all"]),
        in_125=f"{stored.mean(('retrieved', '125w'), 'tokens_in'):,.0f}",
        in_whole=f"{stored.mean(('whole', 'all'), 'tokens_in'):,.0f}",
        best=counted(best),
        best_right=counted(best_right),
        right_best=told(right["retrieved", best_right]),
        budgets=len(TESTED),
        tests=len(TESTED) * len(CATEGORIES),
        most=counted(TESTED[-1]),
        f1_best=told(f1["retrieved", best]),
        f1_oracle=told(f1["oracle", "all"]),
        f1_none=told(f1["none", "all"]),
        right_oracle=told(right["oracle", "all"]),
        right_125=told(right["retrieved", "125w"]),
        right_most=told(right["retrieved", TESTED[-1]]),
        guessed=told(guessed),
        whole_guessed=told(whole),
        others=others(stored, dict.fromkeys((best, best_right))),
        paper=paper(stored),
        building=building(stored.building),
        chats=stored.building["retrieved"]["chats"],
        messages=f"{stored.building['retrieved']['messages']:,}",
    )
    return wrapped_page(filled)


def draw(stored: Stored) -> None:
    """F1 of every memory at 500 words, and of what has no budget."""
    shown = [("none", "all"), ("recent", "500w"), ("events", "500w"), ("restored", "500w")]
    shown += [("langchain", "500w"), *(("retrieved", budget) for budget in TESTED)]
    shown += [("whole", "all"), ("oracle", "all")]
    points = [(title(which), "", stored.figures(which).overall["f1"]) for which in shown]
    notes = ["728 questions, published answers; 95 % intervals draw whole chats"]
    draw_estimates(PAGES / "memory-answers.svg", "F1 of a 1.5B reader by memory", points, notes)


def main() -> None:
    stored = Stored()
    (PAGES / "memory.md").write_text(page(stored), "utf-8")
    draw(stored)
    sys.stdout.write(f"wrote {PAGES / 'memory.md'}\n")


if __name__ == "__main__":
    main()
