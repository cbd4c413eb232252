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

from realtalk.local.offline import switch_off

__version__ = "0.2.0.dev0"

switch_off()  # before any library is imported that would report to its maker

import importlib  # noqa: E402
import sys  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from realtalk.chat import Chat, Corpus, Event, Message, Question, Reaction, Session, Turn
    from realtalk.corpora.reading import Reading
    from realtalk.errors import RealtalkError
    from realtalk.memory.values import Budget, Context
    from realtalk.persona.datasets import TuningSet
    from realtalk.persona.talking import Talk
    from realtalk.persona.tuning import Tuned
    from realtalk.redaction.redact import Key
    from realtalk.stats.values import CorpusStats
    from realtalk.surface.benchmarks import compare, predict, probe, simulate
    from realtalk.surface.conversing import converse
    from realtalk.surface.corpora import Findings, check, redact, stats
    from realtalk.surface.each import EachResult, each
    from realtalk.surface.guessing import guess
    from realtalk.surface.labelling import Facets, Labels, label
    from realtalk.surface.own_chats import export_dataset, talk, tune
    from realtalk.surface.pages import report, studio
    from realtalk.surface.runs import Run
    from realtalk.surface.sources import read, samples
    from realtalk.surface.sweeping import Sweep, sweep
    from realtalk.surface.tables import ResultTable
    from realtalk.surface.telling import told_apart

__all__ = [
    "Budget",
    "Chat",
    "Context",
    "Corpus",
    "CorpusStats",
    "EachResult",
    "Event",
    "Facets",
    "Findings",
    "Key",
    "Labels",
    "Message",
    "Question",
    "Reaction",
    "Reading",
    "RealtalkError",
    "ResultTable",
    "Run",
    "Session",
    "Sweep",
    "Talk",
    "Tuned",
    "TuningSet",
    "Turn",
    "check",
    "compare",
    "converse",
    "each",
    "export_dataset",
    "guess",
    "label",
    "predict",
    "probe",
    "read",
    "redact",
    "report",
    "samples",
    "simulate",
    "stats",
    "studio",
    "sweep",
    "talk",
    "told_apart",
    "tune",
]

_PLACES = {
    "realtalk.chat": "Chat Corpus Event Message Question Reaction Session Turn",
    "realtalk.corpora.reading": "Reading",
    "realtalk.redaction.redact": "Key",
    "realtalk.errors": "RealtalkError",
    "realtalk.memory.values": "Budget Context",
    "realtalk.persona.datasets": "TuningSet",
    "realtalk.persona.talking": "Talk",
    "realtalk.persona.tuning": "Tuned",
    "realtalk.stats.values": "CorpusStats",
    "realtalk.surface.benchmarks": "compare predict probe simulate",
    "realtalk.surface.conversing": "converse",
    "realtalk.surface.corpora": "Findings check redact stats",
    "realtalk.surface.each": "EachResult each",
    "realtalk.surface.guessing": "guess",
    "realtalk.surface.labelling": "Facets Labels label",
    "realtalk.surface.own_chats": "export_dataset talk tune",
    "realtalk.surface.pages": "report studio",
    "realtalk.surface.runs": "Run",
    "realtalk.surface.sources": "read samples",
    "realtalk.surface.sweeping": "Sweep sweep",
    "realtalk.surface.tables": "ResultTable",
    "realtalk.surface.telling": "told_apart",
}
_HOMES = {name: place for place, names in _PLACES.items() for name in names.split()}
_ROOMS = frozenset({"report", "stats", "studio"})  # packages that share a function's name


def _offered(name: str) -> Any:
    return getattr(importlib.import_module(_HOMES[name]), name)


class _Room(ModuleType):
    """A package that can be called: `realtalk.stats` holds modules, `rt.stats(corpus)` counts."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        return _offered(self.__name__.rpartition(".")[2])(*args, **named)

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(_offered(self.__name__.rpartition(".")[2]))


class _Door(ModuleType):
    """This package: it makes the rooms callable whenever they are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ROOMS and isinstance(value, ModuleType):
            value.__class__ = _Room
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Door


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an offer

    def __getattr__(name: str) -> Any:
        """What is offered, loaded now and kept."""
        if name in _ROOMS:
            return importlib.import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = _offered(name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
