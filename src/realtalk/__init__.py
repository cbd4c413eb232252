"""Long-term conversation: read real chats, measure them, test what models make of them.

    import realtalk as rt

    corpus = rt.read("WhatsApp Chat with Mara.zip")
    labels = rt.label(corpus)
    run = rt.probe("sample", memory="retrieved", budget="1000")
    rt.report([corpus, labels, run], "report.html")

Everything here is loaded when it is first used. A path, the name of a sample, a Corpus, a Reading
and a stored folder are taken everywhere alike; anything wrong raises RealtalkError with the line
that the command prints.
"""

from realtalk.files.offline import switch_off

__version__ = "0.2.0"

switch_off()  # before any library is imported that would report to its maker

from typing import TYPE_CHECKING  # noqa: E402

from realtalk.registry import offer  # noqa: E402

if TYPE_CHECKING:
    from realtalk import ei, memory, persona, threads
    from realtalk.api import data, runs
    from realtalk.api.batch import batch
    from realtalk.api.benchmarks import compare, predict, probe, simulate
    from realtalk.api.chats import check, export, read, redact, samples, stats
    from realtalk.api.choices import Engine, Model, Reading
    from realtalk.api.labels import label
    from realtalk.api.pages import mcp, report, studio
    from realtalk.api.sweeping import sweep
    from realtalk.chat import Chat, Corpus, Message, Question, Session, Turn
    from realtalk.ei.results import Labels
    from realtalk.errors import RealtalkError
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable

__all__ = [
    "Chat",
    "Corpus",
    "Engine",
    "Labels",
    "Message",
    "Model",
    "Question",
    "Reading",
    "RealtalkError",
    "ResultTable",
    "Run",
    "Session",
    "Turn",
    "batch",
    "check",
    "compare",
    "data",
    "ei",
    "export",
    "label",
    "mcp",
    "memory",
    "persona",
    "predict",
    "probe",
    "read",
    "redact",
    "report",
    "runs",
    "samples",
    "simulate",
    "stats",
    "studio",
    "sweep",
    "threads",
]

if not TYPE_CHECKING:  # a type checker would take every misspelt name for an offer
    __getattr__, __dir__ = offer(
        __name__,
        {
            "realtalk.api.batch": "batch",
            "realtalk.api.benchmarks": "compare predict probe simulate",
            "realtalk.api.chats": "check export read redact samples stats",
            "realtalk.cli.demo": "demo",
            "realtalk.api.labels": "label",
            "realtalk.api.choices": "Engine Model Reading",
            "realtalk.api.pages": "mcp report studio",
            "realtalk.api.sweeping": "sweep",
            "realtalk.chat": "Chat Corpus Message Question Session Turn",
            "realtalk.errors": "RealtalkError",
            "realtalk.ei.results": "Labels",
            "realtalk.evals.run": "Run",
            "realtalk.evals.tables": "ResultTable",
        },
        {
            "data": "realtalk.api.data",
            "ei": "realtalk.ei",
            "memory": "realtalk.memory",
            "persona": "realtalk.persona",
            "runs": "realtalk.api.runs",
            "threads": "realtalk.threads",
        },
    )
