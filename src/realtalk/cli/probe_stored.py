"""`probe show` and `failures`: a stored run's figures and questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli.options import Json, PricesFile, named_run
from realtalk.cli.verbs import Groups, Most, StoredRun, print_failures, show_run

if TYPE_CHECKING:
    from realtalk.chat import Chat, Corpus
    from realtalk.memory.benchmark import ProbedRun

_KIND = "memory probing"
_SHOWN = (
    ("group", "chat"),
    ("sample", "id"),
    ("variant", "budget"),
    ("category", "category"),
    ("question", "question"),
    ("gold", "right"),
    ("accept", "also right"),
    ("verdict", "the audit"),
    ("audit_answer", "the audit's answer"),
    ("audit_why", "because"),
    ("answer", "answer"),
    ("unscored", "unscored"),
    ("accepted", "accepted"),
    ("f1", "f1"),
    ("date_f1", "date f1"),
    ("why", "why it failed"),
    ("tokens", "tokens shown"),
)

Chats = Annotated[
    str | None,
    typer.Option("--chats", metavar="PATH", help="The corpus: also shows what the messages say."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands to `probe`."""
    app.command()(show)
    app.command()(failures)


def show(
    run: StoredRun,
    question: Annotated[
        str | None, typer.Argument(metavar="[Q]", help="One question: Q3, or CHAT:Q3.")
    ] = None,
    chats: Chats = None,
    groups: Groups = False,
    prices: PricesFile = None,
    json: Json = False,
) -> None:
    """Show the figures of a stored run, or everything about one of its questions.

    With --prices also what its models cost; as JSON that is {"figures": …, "costs": …}. A
    question is shown with its evidence: the rank of every message, and whether it was shown.

    Examples:

        realtalk probe show probe-recent

        realtalk probe show probe-recent Chat_1:Q3 --chats sample
    """
    from realtalk.cli.printing import print_json, print_text
    from realtalk.memory.benchmark import load_probe
    from realtalk.memory.failing import find_question

    if question is None:
        show_run(run, _KIND, groups=groups, prices=prices, json=json)
        return
    probed = load_probe(run)
    rows = find_question(probed.rows, question, str(run))
    wrong = {
        row["variant"]: row["why"]
        for row in probed.failed
        if (row["group"], row["sample"]) == (rows[0]["group"], rows[0]["sample"])
    }
    chat = _chat(chats, rows[0]["group"])
    if json:
        print_json([row | {"why": wrong.get(row["variant"])} for row in rows])
        return
    for row in rows:
        told = row | {"why": wrong.get(row["variant"])}
        lines = [
            f"{title}: {'; '.join(value) if isinstance(value, list) else value}"
            for name, title in _SHOWN
            if (value := told.get(name)) not in (None, "", [])
        ]
        print_text("\n".join([*lines, *_evidence(row, chat)]) + "\n")


def _chat(path: str | None, name: str) -> Chat | None:
    corpus = _corpus(path)
    return next((each for each in corpus.chats if each.id == name), None) if corpus else None


def _corpus(path: str | None) -> Corpus | None:
    from realtalk.surface.sources import as_corpus

    return None if path is None else as_corpus(path)


def _evidence(row: dict[str, Any], chat: Chat | None) -> list[str]:
    """One line per message of the evidence, the published and the audit's."""
    shown, ranked = set(row["message_ids"]), row.get("ranked") or []
    audited = row.get("audit_evidence") or []
    lines = []
    for id_ in dict.fromkeys((*row["evidence"], *audited)):
        marks = ["shown" if id_ in shown else "not shown"]
        if id_ in ranked:
            marks.append(f"rank {ranked.index(id_) + 1}")
        if audited and (id_ in audited) != (id_ in row["evidence"]):
            marks.append("by the audit alone" if id_ in audited else "not by the audit")
        said = None if chat is None else chat.by_id.get(id_)
        text = "" if said is None else f" {said.speaker}: {' '.join(said.text.split())}"
        lines.append(f"evidence {id_} ({', '.join(marks)}){text}")
    return lines


def failures(
    runs: Annotated[
        list[str], typer.Argument(metavar="[NAME=]RUN…", help="Folders that probes wrote.")
    ],
    most: Most = 10,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", metavar="FILE", help="Write an HTML page: what failed, runs side by side."
        ),
    ] = None,
    chats: Chats = None,
    json: Json = False,
) -> None:
    """Show what failed in stored runs and why, worst first. Prints texts.

    Why: nobody answered, the gold is doubtful (by the audit), not retrieved, partly retrieved, or
    retrieved and not read. --page sets several runs side by side.

    Examples:

        realtalk probe failures probe-recent

        realtalk probe failures probe-recent probe-retrieved --page failures.html --chats sample
    """
    from realtalk.cli.printing import say
    from realtalk.errors import RealtalkError
    from realtalk.memory.benchmark import load_probe
    from realtalk.report.finding import told_apart

    given = [named_run(text) for text in runs]
    if page is None:
        if len(given) > 1 or chats is not None:
            raise RealtalkError(
                "several runs, or what messages say, are shown on a page",
                fix="name its file with --page failures.html",
            )
        print_failures(Path(given[0][1]), _KIND, most, json=json)
        return
    loaded = [load_probe(Path(folder)) for _, folder in given]
    names = [name or run.name for (name, _), run in zip(given, loaded, strict=True)]
    shown = told_apart(names, [folder for _, folder in given])
    _write_page(dict(zip(shown, loaded, strict=True)), page, most, chats)
    say(f"wrote {page}")


def _write_page(runs: dict[str, ProbedRun], page: Path, most: int, chats: str | None) -> None:
    from realtalk import __version__
    from realtalk.local.writing import write_text
    from realtalk.report.build import check_page
    from realtalk.report.failures import failures_page
    from realtalk.report.page import render

    check_page(page)
    sections = failures_page(runs, most=most, corpus=_corpus(chats))
    made = {"realtalk": __version__}
    write_text(page, render("What failed", sections, made=made, lead=" · ".join(runs)))
