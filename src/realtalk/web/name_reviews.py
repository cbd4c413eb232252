"""What redaction would replace → a table to tick in the browser, one row per name, kept as it is.

    review = NameReview(corpus, Path("annotations.names.csv"))
    review.rows                                    → None while names are still looked for
    review.decide(NameDecision("Ingrid", "person", False))      kept: Ingrid stays

The file is the table of `realtalk redact --review`: the command takes it as it lies there. It holds
names and is its owner's only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.redaction.candidates import NameCandidate
from realtalk.redaction.mentions import MentionSource
from realtalk.redaction.redact import find_candidates
from realtalk.redaction.review import (
    BETWEEN,
    NameDecision,
    read_review,
    review_rows,
    write_review,
)
from realtalk.text.folding import fold


class NameReview:
    """The names of one corpus, for all pages that show them."""

    def __init__(
        self, corpus: Corpus, path: Path, sources: Sequence[MentionSource] | None = None
    ) -> None:
        self.path = path
        self._corpus = corpus
        self._sources = sources
        known = read_review(path) if path.exists() else []
        self._decisions = {fold(each.form): each for each in known}
        self._found: list[NameCandidate] | None = None
        self._problem: RealtalkError | None = None
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None

    @property
    def rows(self) -> list[dict[str, str]] | None:
        """One row per name, likely ones first; None while names are looked for."""
        self._look()
        with self._lock:
            if self._problem is not None:
                raise self._problem
            if self._found is None:
                return None
            return review_rows(self._found, self._decisions.values())

    def decide(self, decision: NameDecision) -> None:
        """Keeps whether a name goes; one that was not found is added."""
        if not decision.form.strip():
            raise RealtalkError("a name has letters")
        key = fold(decision.form)
        with self._lock:
            if self._found is None:
                raise RealtalkError("names are still looked for", fix="wait a moment")
            before = dict(self._decisions)
            rows = review_rows(self._found, self._decisions.values())
            row = next((row for row in rows if fold(row["form"]) == key), None)
            if row is not None:
                forms = tuple(row["forms"].split(BETWEEN))
                decision = replace(decision, forms=forms, same_as=row["same_as"])
                # Of a name there is one decision, whichever of its forms was decided on before.
                for form in forms:
                    self._decisions.pop(fold(form), None)
            self._decisions[key] = decision
            try:
                write_review(self.path, self._found, self._decisions.values())
            except OSError:
                self._decisions = before  # what is not on the disk was not said
                raise

    def _look(self) -> None:
        """Starts to look for names, once; a long chat takes some seconds."""
        with self._lock:
            if self._looking is None:
                self._looking = threading.Thread(target=self._find, daemon=True)
                self._looking.start()

    def _find(self) -> None:
        from realtalk.redaction.sources import name_sources

        try:
            sources = name_sources() if self._sources is None else self._sources
            found = find_candidates(self._corpus, sources=sources)
        except RealtalkError as error:
            with self._lock:
                self._problem = error
            return
        with self._lock:
            self._found = found
