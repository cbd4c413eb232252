"""Stored runs of every kind for tests of the report, with names that try to break out of a page."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from facet_labels import label_settings, lively, table
from persona_chats import ines, ines_choice, light_scorer
from plain_reader import MessageReader
from realtalk.api.choices import as_reading
from realtalk.chat import Chat, Corpus, Message, Question, Session
from realtalk.ei.results import store_labels
from realtalk.evals import running
from realtalk.formats.opening import open_reading
from realtalk.formats.store import store
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.plain import Recent, Whole
from realtalk.memory.values import Budget
from realtalk.pages.report import PageReport, make_report
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw

HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\u2028'\"&amp;\\u2028"
)
FORMULA = "=HYPERLINK(1)"
CHATS = {
    "Chat_1": (HOSTILE, "Pia"),
    "Chat_2": (HOSTILE, "Omar"),
    "<b>Chat_3</b>": (FORMULA, "Lene"),
}
_START = datetime(2026, 3, 2, 18)


def _chat(id_: str, names: tuple[str, str]) -> Chat:
    sessions = []
    for number in range(1, 4):
        begin = _START + timedelta(days=number)
        messages = tuple(
            Message(
                f"D{number}:{at}",
                names[at // 2 % 2],
                begin + timedelta(minutes=at * at),
                f"the ferry number {at} leaves on day {number}",
            )
            for at in range(1, 13)
        )
        sessions.append(Session(number, begin, messages))
    questions = tuple(
        Question(f"Q{at}", f"When does ferry {at} leave?", f"day {at}", kind, (f"D{at}:{at}",))
        for at, kind in enumerate(("temporal", "multi_hop", "commonsense"), 1)
    )
    return Chat(id_, names, tuple(sessions), questions=questions)


def corpus() -> Corpus:
    return Corpus("ferry", "realtalk", tuple(_chat(*each) for each in CHATS.items()))


def write_corpus(folder: Path) -> Path:
    made = corpus()
    return store(as_reading(made), folder)


def write_labels(
    folder: Path, chats: dict[str, tuple[str, str]], *, wide: bool, corpus: str = ""
) -> Path:
    """A run of labels, of a corpus that is called like the folder unless it is named."""
    rows = [
        row
        for seed, (chat, names) in enumerate(chats.items())
        for row in lively(chat, names, seed, wide=wide)
    ]
    rows[0] |= {"empathy": None, "unscored": [{"measure": "empathy", "reason": "no text"}]}
    settings = label_settings(corpus or folder.name, "realtalk")
    store_labels(table(rows), settings, folder)
    return folder


@cache
def runs() -> Path:
    """A folder like the demo's, made once for all tests of a process."""
    place = Path(tempfile.mkdtemp(prefix="realtalk-report-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return write_runs(place)


@cache
def report() -> PageReport:
    return make_report([runs()])


def write_runs(folder: Path) -> Path:
    """A folder like the demo's: corpora, labels of people and of models, and runs."""
    write_corpus(folder / "corpora" / "ferry")
    write_labels(folder / "labels" / "ferry", CHATS, wide=True)
    models = {f"Sim_{at}": (f"bot {at}", f"bot {at + 9}") for at in range(3)}
    write_labels(folder / "labels" / "simulated", models, wide=False)
    budgets = (Budget(tokens=60), Budget(tokens=400))
    run_probe(Plan(corpus(), Recent(), MessageReader(), budgets), folder / "memory" / "recent")
    run_probe(Plan(corpus(), Whole(), MessageReader(), (Budget(),)), folder / "memory" / "whole")
    talk = ines(4)
    choice = ines_choice()
    task = tasks_of(talk, [choice])
    benchmark = PersonaBenchmark(talk, task, light_scorer(talk))
    running.run(benchmark, talk, Constant(), folder / "persona")
    threads = open_reading("sample-threads").reading.corpus
    run_threads(
        threads,
        ThreadTask(Draw("sentiment", limit=40).samples(threads), ("p-conv", "np-nonconv")),
        make_predictor("majority"),
        folder / "threads",
    )
    return folder
