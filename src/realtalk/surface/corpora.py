"""A corpus → what it looks like, what is odd about it, and the same without its people.

stats("sample").frame                       one row per chat
check("sample").counts()                    → {"alias": 3, …}
shared, key = redact("sample", names=["Aunt Ida"])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.corpora.check import RULES, CheckFinding, CheckReport
from realtalk.corpora.reading import Ledger
from realtalk.local.progress import Progress, silent
from realtalk.notebook import counted, table_html
from realtalk.surface.sources import Readable, as_corpus, as_reading, as_stream

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.redaction.redact import Key
    from realtalk.stats.values import CorpusStats


def stats(
    corpus: Readable,
    *,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> CorpusStats:
    """Describes a corpus: sizes, sessions, response gaps, runs, activity, questions.

    The value has `.frame` (one row per chat), `.figures()` and `.to_json()`; means stand with 95 %
    intervals that draw whole chats.

    The path of a stored corpus in parts, or of a folder of stored corpora, is counted part by
    part: in this process, or by `engine` "processes" or "ray" with so many `workers`, on the
    cluster at `address`. What was counted is kept in the folder `out`, where a call that was
    stopped goes on; `fresh` starts anew there.
    """
    from realtalk.stats.describe import describe, describe_stream

    given = {"engine": engine, "workers": workers, "address": address, "out": out}
    asked = next((name for name, value in given.items() if value is not None), None)
    stream = as_stream(corpus, asked)
    if asked is not None and stream is not None:
        from realtalk.engine.engines import choose
        from realtalk.surface.counting import describe_by

        chosen = choose(engine, workers, address)
        place = None if out is None else Path(out)
        return describe_by(stream, chosen, place, fresh=fresh, progress=progress)
    if stream is not None and len(stream.pieces) > 1:
        return describe_stream(stream, progress)
    return describe(as_reading(corpus).tables)


class Findings:
    """Everything odd about a corpus. Findings name ids and counts, never a message's text.

    `ledger` counts where every line of the input went and `notes` are what the reader assumed;
    of a Corpus that was read before, neither is known.
    """

    def __init__(
        self, name: str, findings: Sequence[CheckFinding], ledger: Ledger, notes: Sequence[str]
    ) -> None:
        self.name = name
        self.findings = tuple(findings)
        self.ledger = ledger
        self.notes = tuple(notes)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per finding: severity, rule, chat, where, detail."""
        import polars as pl

        names = ("severity", "rule", "chat", "where", "detail")
        columns = {name: [getattr(each, name) for each in self.findings] for name in names}
        return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))

    def counts(self) -> dict[str, int]:
        """Findings by rule, without zeros."""
        return self._report.counts()

    @property
    def severity(self) -> str | None:
        """The gravest level there is: error, warning or note; None where nothing is odd."""
        return self._report.severity()

    @cached_property
    def _report(self) -> CheckReport:
        return CheckReport(self.findings)

    def to_json(self) -> dict[str, Any]:
        """Every finding with the ledger, as `realtalk check --json` prints them."""
        told: dict[str, Any] = self._report.to_json()
        return told | {"name": self.name, "ledger": self.ledger.to_json()}

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        levels = [
            counted(number, level)
            for level in ("error", "warning", "note")
            if (number := sum(each.severity == level for each in self.findings))
        ]
        return f"<Findings of {self.name}: {', '.join(levels) or 'nothing odd'}; {self.ledger}>"

    def _repr_html_(self) -> str:
        rows = [
            (rule, RULES[rule][0], count, RULES[rule][1]) for rule, count in self.counts().items()
        ]
        notes = (str(self.ledger), *self.notes)
        return table_html(
            f"{self.name}: findings", ("rule", "level", "count", "meaning"), rows, notes
        )


def check(corpus: Readable) -> Findings:
    """Looks for everything odd in a corpus: evidence, order, ids, answers, leftovers."""
    from realtalk.corpora.check import check as examine

    reading = as_reading(corpus)
    report = examine(reading.corpus, reading.ledger)
    return Findings(reading.corpus.name, report.findings, reading.ledger, reading.notes)


def redact(
    corpus: Readable,
    *,
    names: Sequence[str] = (),
    keep: Sequence[str] = (),
    kinds: Sequence[str] = (),
    review: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
) -> tuple[Corpus, Key]:
    """Replaces names, handles, phones, e-mails, links, streets and numbers by stable stand-ins.

    `names` are more names to replace, `keep` what to leave as it is (people, places,
    organisations, birthdays, handles, phones, emails, links, addresses, numbers, files, extra);
    with `kinds` only those are replaced, and speakers. `review` is a table that
    `realtalk redact --review` wrote, ticked; `key.notes` tells where its rows contradict each
    other (what is kept stays). Returns the new corpus and the key to it,
    which is private: `key.to_json()` tells who is who, `key.counts()` only how many, and
    `key.restore(redacted)` gives the original back. People who are only spoken of, places and
    organisations are found by a small model and by rules, which miss some: read the result
    before you share it.
    """
    from realtalk.redaction.redact import kept_without
    from realtalk.redaction.redact import redact as rewrite
    from realtalk.redaction.review import read_review
    from realtalk.redaction.sources import name_sources
    from realtalk.redaction.storing import store_redacted

    kept = frozenset(keep) | (kept_without(kinds) if kinds else frozenset())
    decisions = read_review(Path(review)) if review is not None else ()
    made, key = rewrite(
        as_corpus(corpus),
        names=list(names),
        keep=kept,
        sources=name_sources(),
        decisions=decisions,
    )
    if out is not None:
        store_redacted(made, Path(out))
    return made, key
