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
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.metrics.answers import token_f1
from realtalk.metrics.statistics import Estimate, bootstrap_interval, cohen_kappa
from realtalk.web.asking import Asked, Opened, Visit, download
from realtalk.web.exchange import exported, imported
from realtalk.web.library import OpenChat
from realtalk.web.values import CORPUS, FINAL, StudioItem, checked_name

_NOTHING = "one of the two has noted none"
_ALIKE = 0.25  # below this two items are not about the same


@dataclass(frozen=True, slots=True)
class Match:
    """Two items about the same thing, or one that only one annotator has."""

    first: StudioItem | None
    second: StudioItem | None
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One number about the two, with what it counts."""

    title: str
    measure: str
    estimate: Estimate
    unit: str

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "measure": self.measure,
            "unit": self.unit,
        } | self.estimate.to_json()


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """Figures, and the pairs that they rest on."""

    figures: tuple[AgreementFigure, ...]
    questions: tuple[Match, ...]
    events: tuple[Match, ...]


def compare(
    open_chat: OpenChat, first: Sequence[StudioItem], second: Sequence[StudioItem]
) -> AnnotatorComparison:
    """Pairs what two annotators noted, and measures it."""
    questions = _pair(_of("question", first), _of("question", second), _question_likeness)
    noted = _pair(_of("event", first), _of("event", second), _event_likeness)
    paired = [(match.first, match.second) for match in questions if match.first and match.second]
    categories = [
        [each.body.get("category") or None for each in side] for side in zip(*paired, strict=True)
    ]
    figures = (
        AgreementFigure(
            "messages that are evidence",
            "Cohen's kappa",
            _kappa(_evidence(open_chat, first), _evidence(open_chat, second)),
            "messages",
        ),
        AgreementFigure(
            "evidence of paired questions",
            "overlap (Jaccard)",
            _mean([_jaccard(*pair) for pair in paired], "no question is paired"),
            "pairs",
        ),
        AgreementFigure(
            "categories of paired questions",
            "Cohen's kappa",
            cohen_kappa(*(categories or ([], []))),
            "pairs",
        ),
        AgreementFigure(
            "answers of paired questions",
            "word F1",
            _mean([_answers(*pair) for pair in paired], "no question is paired"),
            "pairs",
        ),
        AgreementFigure("questions that both have", "F1", _found_by_both(questions), "questions"),
        AgreementFigure(
            "cells with an event (session and speaker)",
            "Cohen's kappa",
            _kappa(_cells(open_chat, first), _cells(open_chat, second)),
            "cells",
        ),
        AgreementFigure("events that both have", "F1", _found_by_both(noted), "events"),
    )
    return AnnotatorComparison(figures, questions, noted)


def _of(kind: str, items: Sequence[StudioItem]) -> list[StudioItem]:
    return [item for item in items if item.kind == kind]


def _pair(
    first: list[StudioItem],
    second: list[StudioItem],
    likeness: Callable[[StudioItem, StudioItem], float],
) -> tuple[Match, ...]:
    """The pairing with the largest sum of likeness, in the order of the first annotator."""
    from scipy.optimize import linear_sum_assignment

    partner: dict[int, tuple[int, float]] = {}
    if first and second:
        table = np.array([[likeness(one, two) for two in second] for one in first])
        for row, column in zip(*linear_sum_assignment(-table), strict=True):
            if table[row, column] >= _ALIKE:
                partner[int(row)] = (int(column), float(table[row, column]))
    matches = []
    for at, item in enumerate(first):
        other, alike = partner.get(at, (None, None))
        matches.append(Match(item, None if other is None else second[other], alike))
    taken = {column for column, _ in partner.values()}
    alone = [Match(None, item) for at, item in enumerate(second) if at not in taken]
    return (*matches, *alone)


def _question_likeness(one: StudioItem, two: StudioItem) -> float:
    evidence = _jaccard(one, two)
    return _words(one, two) if evidence is None else (_words(one, two) + evidence) / 2


def _event_likeness(one: StudioItem, two: StudioItem) -> float:
    same = all(one.body.get(name) == two.body.get(name) for name in ("session", "speaker"))
    return _words(one, two) if same else 0.0


def _words(one: StudioItem, two: StudioItem) -> float:
    a, b = str(one.body.get("text", "")), str(two.body.get("text", ""))
    return 1.0 if a == b else token_f1(a, b)  # also where there is no word to count


def _jaccard(one: StudioItem, two: StudioItem) -> float | None:
    a, b = set(one.body.get("evidence", ())), set(two.body.get("evidence", ()))
    return len(a & b) / len(a | b) if a | b else None


def _answers(one: StudioItem, two: StudioItem) -> float | None:
    a, b = one.body.get("answer"), two.body.get("answer")
    return token_f1(str(a), str(b)) if a and b else None


def _evidence(open_chat: OpenChat, items: Sequence[StudioItem]) -> list[bool]:
    named = {id_ for item in items for id_ in item.body.get("evidence", ())}
    return [id_ in named for id_ in open_chat.place]


def _cells(open_chat: OpenChat, items: Sequence[StudioItem]) -> list[bool]:
    filled = {
        (item.body["session"], item.body["speaker"]) for item in items if item.kind == "event"
    }
    return [
        (session.number, speaker) in filled
        for session in open_chat.chat.sessions
        for speaker in open_chat.chat.speakers
    ]


def _kappa(one: list[bool], two: list[bool]) -> Estimate:
    # Who has noted nothing has not disagreed with anybody.
    if not any(one) or not any(two):
        return Estimate(None, n=len(one), unscored=_NOTHING)
    # Beside somebody who marks everything kappa is zero whatever the other does.
    if all(one) or all(two):
        return Estimate(None, n=len(one), unscored="one of the two has noted all")
    return cohen_kappa(one, two)


def _mean(values: Sequence[float | None], without: str) -> Estimate:
    known = [value for value in values if value is not None]
    left_out = len(values) - len(known)
    if not known:
        return Estimate(None, left_out=left_out, unscored=without)
    low, high = bootstrap_interval((known,), np.mean)
    return Estimate(float(np.mean(known)), low, high, len(known), left_out)


def _found_by_both(matches: Sequence[Match]) -> Estimate:
    """Twice the pairs over the items of both, resampled over the rows of the pairing."""
    sides = ([m for m in matches if m.first], [m for m in matches if m.second])
    if not all(sides):
        return Estimate(None, n=len(matches), unscored=_NOTHING)
    pairs = np.array([2.0 if match.first and match.second else 0.0 for match in matches])
    items = np.array([2.0 if match.first and match.second else 1.0 for match in matches])

    def ratio(both: Any, all_: Any, axis: int = -1) -> Any:
        return np.sum(both, axis=axis) / np.sum(all_, axis=axis)

    low, high = bootstrap_interval((pairs, items), ratio, paired=True)
    return Estimate(float(ratio(pairs, items)), low, high, int(items.sum()))


router = APIRouter()


def _two(visit: Visit, open_chat: OpenChat, first: str, second: str) -> tuple[list[str], str, str]:
    """Everybody who can be compared, and the two that are."""
    there = visit.store.authors(open_chat.chat.id)
    names = [name for name in there if name != FINAL]
    # People before the file: agreement is between annotators first.
    names.sort(key=lambda name: name == CORPUS)
    one = first if first in names else (names[0] if names else "")
    others = [name for name in names if name != one]
    two = second if second in others else (others[0] if others else "")
    return names, one, two


@router.get("/chat/{number}/review")
def review(visit: Asked, open_chat: Opened, first: str = "", second: str = "") -> HTMLResponse:
    names, one, two = _two(visit, open_chat, first, second)
    agreed = visit.items(open_chat, FINAL)
    comparison = None
    if one and two:
        comparison = compare(open_chat, visit.items(open_chat, one), visit.items(open_chat, two))
    return visit.page(
        "review.html",
        open_chat,
        names=names,
        first=one,
        second=two,
        found=comparison,
        agreed=agreed,
        taken={item.taken_from for item in agreed},
    )


@router.get("/chat/{number}/agreement")
def agreement(visit: Asked, open_chat: Opened, first: str = "", second: str = "") -> JSONResponse:
    _, one, two = _two(visit, open_chat, first, second)
    if not (one and two):
        raise RealtalkError("two annotators are needed", where=f"chat {open_chat.chat.id}")
    items = (visit.items(open_chat, name) for name in (one, two))
    comparison = compare(open_chat, *items)
    return JSONResponse(
        {
            "first": one,
            "second": two,
            "figures": [each.to_json() for each in comparison.figures],
        }
    )


@router.get("/chat/{number}/export")
def export(visit: Asked, open_chat: Opened, layout: str, who: str = "") -> Response:
    shown = visit.studio.shown(open_chat, visit.me, who)
    name, data = exported(open_chat, visit.items(open_chat, shown), layout)
    return download(data, name)


@router.post("/chat/{number}/import")
async def import_(
    request: Request, visit: Asked, open_chat: Opened, name: str, who: str = ""
) -> JSONResponse:
    data = await request.body()

    def take() -> JSONResponse:
        author = checked_name(who) if who else visit.me
        content = imported(open_chat, name, data)
        created = visit.store.create_all(open_chat.chat.id, author, content.bodies)
        counts = {"made": len(created), "there": len(content.bodies) - len(created)}
        return JSONResponse(counts | {"notes": list(content.notes), "who": author}, 201)

    return await run_in_threadpool(take)
