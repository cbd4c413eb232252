"""Runs on the same questions → a page that shows what failed side by side.

    failures_page({"recent": run, "retrieved": run}, most=50)   → [Section("multi_hop", …), …]
    failures_page(runs, most=50, corpus=corpus)                 also what the evidence says

One table per category, one line per question that at least one run got wrong: the question, what
is right, of every run the answer and why it failed, then what the audit says and where it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from realtalk.chat import Corpus
from realtalk.evals.values import Row
from realtalk.report.grids import table
from realtalk.report.values import Section, TableView

if TYPE_CHECKING:
    from realtalk.memory.benchmark import ProbedRun


def failures_page(
    runs: Mapping[str, ProbedRun], *, most: int, corpus: Corpus | None = None
) -> list[Section]:
    """The sections; of every category the `most` questions that most runs got wrong."""
    wrong: dict[tuple[str, str, str], dict[str, str]] = {}
    rows_of: dict[str, dict[tuple[str, str, str], Row]] = {}
    for name, run in runs.items():
        rows_of[name] = {_key(row): row for row in run.rows}
        for row in run.failed:
            wrong.setdefault(_key(row), {})[name] = row["why"]
    first = {key: next(rows[key] for rows in rows_of.values() if key in rows) for key in wrong}
    categories = list(dict.fromkeys(row["category"] for row in first.values()))
    evidence = ("what the evidence says",) if corpus is not None else ()
    headings = ["question", "right"]
    for name in runs:
        headings += [f"{name}: answer", f"{name}: why"]
    headings += ["the audit", *evidence, "chat", "question id", "budget"]
    reasons = (_reasons(runs, wrong),) if wrong else ()
    sections = [Section("why", "Why", _lead(wrong), reasons)]
    for category in categories:
        keys = [key for key, row in first.items() if row["category"] == category]
        keys.sort(key=lambda key: -len(wrong[key]))
        lines = []
        for key in keys[:most]:
            row = first[key]
            line: list[Any] = [row["question"], row["gold"]]
            for name in runs:
                said = rows_of[name].get(key)
                line += [
                    None if said is None else said["answer"] or said["unscored"],
                    "not asked" if said is None else wrong[key].get(name, "right"),
                ]
            line.append(_audit(row))
            if corpus is not None:
                line.append(_texts(corpus, row))
            lines.append([*line, *key])
        several = ", those that most runs got wrong first" if len(runs) > 1 else ""
        shown = f"{len(lines):,} of {len(keys):,} that failed{several}."
        title = category or "(no category)"
        tables = (table(f"{title}: failures side by side", headings, lines, note=shown, find=True),)
        sections.append(Section(category or "none", title, "", tables))
    return sections


def _key(row: Row) -> tuple[str, str, str]:
    return row["group"], row["sample"], row["variant"]


def _lead(wrong: Mapping[Any, Any]) -> str:
    some = (
        f"{len(wrong):,} question{'' if len(wrong) == 1 else 's'} that at least one run got wrong."
    )
    return (
        f"{some if wrong else 'No run got a question wrong.'} An answer is wrong where its "
        "date-aware F1 is below one half and it equals no accepted answer; where nobody answers, "
        "a question is where a piece of its evidence was not shown."
    )


def _reasons(runs: Mapping[str, Any], wrong: Mapping[Any, Mapping[str, str]]) -> TableView:
    counts = {name: Counter(whys[name] for whys in wrong.values() if name in whys) for name in runs}
    reasons = list(dict.fromkeys(why for each in counts.values() for why, _ in each.most_common()))
    rows = [(why, *(counts[name][why] for name in runs)) for why in reasons]
    return table("Reasons", ("why", *runs), rows)


def _audit(row: Row) -> str | None:
    if row.get("verdict") is None:
        return None
    if row["verdict"] == "ok":
        return "ok"
    return f"{row['verdict']}: {row['audit_answer']} ({row['audit_why']})"


def _texts(corpus: Corpus, row: Row) -> str | None:
    chat = next((each for each in corpus.chats if each.id == row["group"]), None)
    if chat is None:
        return None
    said = [chat.by_id[id_] for id_ in row["evidence"] if id_ in chat.by_id]
    return " / ".join(f"{each.id} {each.speaker}: {each.text}" for each in said) or None
