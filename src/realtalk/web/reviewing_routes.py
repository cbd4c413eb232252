"""Agreement and adjudication of two annotators, and files out and in.

GET /chat/0/review?first=Ana&second=Bo → the page; GET /chat/0/export?who=Ana&layout=sheet → a file

    found = compare(open_chat, anas_items, bos_items)
    found.questions[0] → Match(first=StudioItem(…), second=StudioItem(…), likeness=0.71)
    found.figures[0]   → AgreementFigure("evidence", "kappa", Estimate(0.62, 0.44, 0.78), …)

Annotators write freely, so their items are first paired: the best one-to-one pairing by shared
evidence and words (questions) or by words within one session and speaker (events). What has no
partner is one annotator's alone. Kappas are over the same units for both: messages that are
evidence or not, cells (session and speaker) with an event or not, categories of paired questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.metrics.answers import token_f1
from realtalk.metrics.statistics import Estimate, bootstrap_interval, cohen_kappa
from realtalk.web.asking import Asked, Opened, download
from realtalk.web.library import OpenChat
from realtalk.web.reviews import export_file, import_file
from realtalk.web.values import CORPUS, FINAL, StudioItem, checked_name

_NOTHING = "one of the two has noted none"
_ALIKE = 0.25  # below this two items are not about the same


class Match(NamedTuple):
    """Two items about the same thing, or one that only one annotator has."""

    first: StudioItem | None
    second: StudioItem | None
    likeness: float | None = None


class AgreementFigure(NamedTuple):
    """One number about the two, with what it counts."""

    title: str
    measure: str
    estimate: Estimate
    unit: str


class AnnotatorComparison(NamedTuple):
    """Figures, and the pairs that they rest on."""

    figures: tuple[AgreementFigure, ...]
    questions: tuple[Match, ...]
    events: tuple[Match, ...]


def compare(
    open_chat: OpenChat, first: Sequence[StudioItem], second: Sequence[StudioItem]
) -> AnnotatorComparison:
    """Pairs what two annotators noted, and measures it."""
    questions = _pair("question", first, second, _question_likeness)
    events = _pair("event", first, second, _event_likeness)
    paired = [(match.first, match.second) for match in questions if match.first and match.second]
    categories = [
        [item.body.get("category") or None for item in side] for side in zip(*paired, strict=True)
    ] or [[], []]
    evidence, cells = (
        [marks(open_chat, items) for items in (first, second)] for marks in (_evidence, _cells)
    )
    kappa = "Cohen's kappa"
    rows = (
        ("messages that are evidence", kappa, _kappa(*evidence), "messages"),
        ("evidence of paired questions", "overlap (Jaccard)", _mean(_jaccard, paired), "pairs"),
        ("categories of paired questions", kappa, cohen_kappa(*categories), "pairs"),
        ("answers of paired questions", "word F1", _mean(_answers, paired), "pairs"),
        ("questions that both have", "F1", _found_by_both(questions), "questions"),
        ("cells with an event (session and speaker)", kappa, _kappa(*cells), "cells"),
        ("events that both have", "F1", _found_by_both(events), "events"),
    )
    figures = tuple(AgreementFigure(*row) for row in rows)
    return AnnotatorComparison(figures, questions, events)


def _pair(
    kind: str,
    first: Sequence[StudioItem],
    second: Sequence[StudioItem],
    likeness: Callable[[StudioItem, StudioItem], float],
) -> tuple[Match, ...]:
    """The pairing with the largest sum of likeness, in the order of the first annotator."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = ([item for item in side if item.kind == kind] for side in (first, second))
    matches: list[Match] = [Match(item, None) for item in rows]
    alone = dict(enumerate(columns))
    if rows and columns:
        table = np.array([[likeness(first, two) for two in columns] for first in rows])
        for row, column in zip(*linear_sum_assignment(-table), strict=True):
            if (alike := float(table[row, column])) >= _ALIKE:
                matches[row] = Match(rows[row], alone.pop(int(column)), alike)
    return (*matches, *(Match(None, item) for item in alone.values()))


def _question_likeness(first: StudioItem, two: StudioItem) -> float:
    evidence = _jaccard(first, two)
    return _words(first, two) if evidence is None else (_words(first, two) + evidence) / 2


def _event_likeness(first: StudioItem, two: StudioItem) -> float:
    same = all(first.body.get(name) == two.body.get(name) for name in ("session", "speaker"))
    return _words(first, two) if same else 0.0


def _words(first: StudioItem, two: StudioItem) -> float:
    a, b = str(first.body.get("text", "")), str(two.body.get("text", ""))
    return 1.0 if a == b else token_f1(a, b)  # also where there is no word to count


def _jaccard(first: StudioItem, two: StudioItem) -> float | None:
    a, b = set(first.body.get("evidence", ())), set(two.body.get("evidence", ()))
    return len(a & b) / len(a | b) if a | b else None


def _answers(first: StudioItem, two: StudioItem) -> float | None:
    a, b = first.body.get("answer"), two.body.get("answer")
    return token_f1(str(a), str(b)) if a and b else None


def _evidence(open_chat: OpenChat, items: Sequence[StudioItem]) -> list[bool]:
    ids = {id_ for item in items for id_ in item.body.get("evidence", ())}
    return [id_ in ids for id_ in open_chat.place]


def _cells(open_chat: OpenChat, items: Sequence[StudioItem]) -> list[bool]:
    filled = {
        (item.body["session"], item.body["speaker"]) for item in items if item.kind == "event"
    }
    return [
        (session.number, speaker) in filled
        for session in open_chat.chat.sessions
        for speaker in open_chat.chat.speakers
    ]


def _kappa(first: list[bool], two: list[bool]) -> Estimate:
    # Who has noted nothing has not disagreed with anybody.
    if not any(first) or not any(two):
        return Estimate(None, n=len(first), unscored=_NOTHING)
    # Beside somebody who marks everything kappa is zero whatever the other does.
    if all(first) or all(two):
        return Estimate(None, n=len(first), unscored="one of the two has noted all")
    return cohen_kappa(first, two)


def _mean(
    score: Callable[[StudioItem, StudioItem], float | None],
    paired: Sequence[tuple[StudioItem, StudioItem]],
) -> Estimate:
    values = [score(*pair) for pair in paired]
    scores = [value for value in values if value is not None]
    left_out = len(values) - len(scores)
    if not scores:
        return Estimate(None, left_out=left_out, unscored="no question is paired")
    low, high = bootstrap_interval((scores,), np.mean)
    return Estimate(float(np.mean(scores)), low, high, len(scores), left_out)


def _found_by_both(matches: Sequence[Match]) -> Estimate:
    """Twice the pairs over the items of both, resampled over the rows of the pairing."""
    if not (any(match.first for match in matches) and any(match.second for match in matches)):
        return Estimate(None, n=len(matches), unscored=_NOTHING)
    pairs = np.array([2.0 if match.first and match.second else 0.0 for match in matches])
    items = np.maximum(pairs, 1.0)

    def ratio(both: Any, all_: Any, axis: int = -1) -> Any:
        return np.sum(both, axis=axis) / np.sum(all_, axis=axis)

    low, high = bootstrap_interval((pairs, items), ratio, paired=True)
    return Estimate(float(ratio(pairs, items)), low, high, int(items.sum()))


router = APIRouter()


@router.get("/chat/{number}/review")
def review(visit: Asked, open_chat: Opened, first: str = "", second: str = "") -> HTMLResponse:
    names = [name for name in visit.store.authors(open_chat.chat.id) if name != FINAL]
    # People before the file: agreement is between annotators first.
    names.sort(key=lambda name: name == CORPUS)
    first_name = first if first in names else next(iter(names), "")
    others = [name for name in names if name != first_name]
    two = second if second in others else next(iter(others), "")
    items = [visit.items(open_chat, name) for name in (first_name, two)]
    comparison = compare(open_chat, *items) if two else None
    agreed = visit.items(open_chat, FINAL)
    return visit.page(
        "review.html",
        open_chat,
        agreed=agreed,
        taken={item.taken_from for item in agreed},
        names=names,
        first=first_name,
        second=two,
        found=comparison,
    )


@router.get("/chat/{number}/export")
def export(visit: Asked, open_chat: Opened, layout: str, who: str = "") -> Response:
    _, items = visit.items_to_show(open_chat, who)
    name, data = export_file(open_chat, items, layout)
    return download(data, name)


@router.post("/chat/{number}/import")
async def import_(
    request: Request, visit: Asked, open_chat: Opened, name: str, who: str = ""
) -> JSONResponse:
    data = await request.body()

    def take() -> JSONResponse:
        author = checked_name(who) if who else visit.me
        content = import_file(open_chat, name, data)
        created = visit.store.create_all(open_chat.chat.id, author, content.bodies)
        counts = {"made": len(created), "there": len(content.bodies) - len(created)}
        return JSONResponse(counts | {"notes": list(content.notes), "who": author}, 201)

    return await run_in_threadpool(take)
