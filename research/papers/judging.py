"""Our facets beside Table 7's → whether a facet is reproduced, by order and by scale.

    circles()    → {"Chat_1_Emi_Elise": 0, "Chat_5_Nicolas_Nebraas": 1, ...}
    judge({key: 0.61 for key in TABLE_7}, "empathy").order    → False

A figure counts only beside what knowing the chats, and nothing of their speakers, would give: a
*dummy* that answers with the mean of the printed column in each chat, so that both partners get
the same number. It passes where it is nearer to perfect than to the dummy, and better than it in
the same draws of whole chats; over all speakers, and on differences from the chat's own mean,
where only who of the two partners has more is left. docs/decisions.md says why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

from realtalk.metrics.grouped import Figure, grouped_changes, grouped_estimates
from realtalk.metrics.statistics import Array, Estimate
from research.papers.published import TABLE_7

SpeakerKey: TypeAlias = tuple[str, str]  # chat and speaker
ORDER, SCALE = ("r",), ("concordance", "error")
_TINY = 1e-12


def products(truth: Sequence[float], predicted: Sequence[float]) -> Array:
    """One line per row: 1, both values, their products, and the error; NEARNESS is made of these.

    Both sides are moved and scaled alike, which changes neither r nor concordance, so that sums of
    products keep their last digits whatever the unit; the error stays in the unit given.
    """
    real, guess = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if not real.size:
        return np.zeros((0, 7))
    both = np.concatenate([real, guess])
    width = float(np.ptp(both)) or 1.0
    x, y = (real - both.mean()) / width, (guess - both.mean()) / width
    return np.stack([np.ones_like(x), x, y, x**2, y**2, x * y, np.abs(guess - real)], axis=1)


def _spreads(sums: Array) -> tuple[Array, Array, Array]:
    """Sums of squares around the means of x and of y, and of their products."""
    n, x, y, xx, yy, xy, _ = np.moveaxis(sums, -1, 0)
    return xx - x**2 / n, yy - y**2 / n, xy - x * y / n


def _correlation(sums: Array) -> Array:
    """Pearson's r; none where one side never changes."""
    x, y, together = _spreads(sums)
    known = np.minimum(x, y) > _TINY * sums[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation: Array = np.where(known, together / np.sqrt(x * y), np.nan)
    return correlation


def _concordance(sums: Array) -> Array:
    """Lin's: r, lowered by how far levels and widths are apart; 0 where one side never changes."""
    x, y, together = _spreads(sums)
    n = sums[..., 0]
    whole = x + y + (sums[..., 1] - sums[..., 2]) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        concordance: Array = np.where(whole > _TINY * n, 2 * together / whole, np.nan)
    return concordance


def _error(sums: Array) -> Array:
    error: Array = sums[..., 6] / sums[..., 0]
    return error


# Order, order with level and width, and how far off in the unit given.
NEARNESS: Mapping[str, Figure] = {
    "r": _correlation,
    "concordance": _concordance,
    "error": _error,
}


@dataclass(frozen=True, slots=True)
class Passing:
    """One figure of ours beside the dummy's, and what it has to reach.

    `beyond` is ours less the dummy's, both in the same draws. `circle` is what two values reach
    that know a speaker's circle of friends alone; it is shown, and the dummy knows more.
    """

    ours: Estimate
    circle: float | None
    dummy: float | None
    wanted: float
    beyond: Estimate
    passes: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A facet by NEARNESS, over all speakers and on differences from their chat's mean.

    `partners` counts the chats where the one who has more in print has more here too, of those
    whose two partners differ in print; `chats` is r between the chats' means.
    """

    facet: str
    over_all: Mapping[str, Passing]
    within: Mapping[str, Passing]
    partners: tuple[int, int]
    chats: float | None

    def _holds(self, figures: Sequence[str]) -> bool:
        sides = (self.over_all, self.within)
        return all(side[figure].passes for side in sides for figure in figures)

    @property
    def order(self) -> bool:
        return self._holds(ORDER)

    @property
    def scale(self) -> bool:
        return self._holds(SCALE)


@cache
def circles() -> Mapping[str, int]:
    """A number for each of Table 7's chats: chats that share a speaker have the same."""
    met: list[tuple[set[str], set[str]]] = []  # speakers and chats of each circle so far
    for chat, speaker in TABLE_7:
        people, chats = {speaker.casefold()}, {chat}
        apart = []
        for each in met:
            if people & each[0] or chats & each[1]:
                people, chats = people | each[0], chats | each[1]
            else:
                apart.append(each)
        met = [*apart, (people, chats)]
    order = list(dict.fromkeys(chat for chat, _ in TABLE_7))
    met.sort(key=lambda each: min(order.index(chat) for chat in each[1]))
    return {chat: place for place, (_, chats) in enumerate(met) for chat in sorted(chats)}


def circle_of(speaker: str) -> int:
    """The circle of one of the paper's ten people."""
    return next(circles()[chat] for chat, name in TABLE_7 if name.casefold() == speaker.casefold())


def best_split(printed: Array, places: Array) -> tuple[int, Array]:
    """The circle that parts a column best from all others, and the means on its two sides."""
    splits: list[tuple[float, int, Array]] = []
    for circle in sorted(set(places.tolist())):
        inside = places == circle
        if not inside.all():
            sides = np.where(inside, printed[inside].mean(), printed[~inside].mean())
            splits.append((float(((printed - sides) ** 2).sum()), circle, sides))
    if not splits:  # one circle alone has no other side
        return int(places[0]), np.full(len(printed), printed.mean())
    return min(splits, key=lambda each: each[:2])[1:]


def printed_column(facet: str, keys: Collection[SpeakerKey] = TABLE_7.keys()) -> Array:
    """A facet of Table 7's speakers, as printed."""
    return np.array([TABLE_7[key][facet] for key in keys])


def near(
    ours: Array, facet: str, keys: Collection[SpeakerKey] = TABLE_7.keys()
) -> dict[str, Estimate]:
    """A facet of ours beside the printed one: NEARNESS, with intervals that draw whole chats."""
    return _near(ours, printed_column(facet, keys), keys)


def _near(ours: Array, printed: Array, keys: Collection[SpeakerKey]) -> dict[str, Estimate]:
    chats = [chat for chat, _ in keys]
    return grouped_estimates(products(printed.tolist(), ours.tolist()), chats, NEARNESS)


def judge(ours: Mapping[SpeakerKey, float | None], facet: str) -> Judged | None:
    """A facet of all of Table 7's speakers in its unit; None where one of them has no figure."""
    values = [ours.get(key) for key in TABLE_7]
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if len(known) < len(TABLE_7):
        return None
    printed = printed_column(facet)
    answers = (known, best_split(printed, _places())[1], chat_means(printed))
    sides = (_passing(printed, answers), _passing(*_centred(printed, answers)))
    one, other = chat_means(printed), chat_means(known)
    # Every chat has two speakers, so that r over rows is r over chats.
    r = _near(other, one, TABLE_7.keys())["r"].value
    return Judged(facet, *sides, _partners(known, printed), r)


def _places() -> Array:
    return np.array([circles()[chat] for chat, _ in TABLE_7], dtype=np.float64)


def chat_means(values: Array) -> Array:
    """The mean of the speaker's chat in the place of every speaker's own value."""
    means: Array = _two(values).mean(axis=1).repeat(2)
    return means


def _two(values: Array) -> Array:
    """One line per chat: Table 7 lists both partners of a chat together."""
    return values.reshape(-1, 2)


def _partners(ours: Array, printed: Array) -> tuple[int, int]:
    """In how many chats the same partner has more, and in how many one of them has in print."""
    own, other = (np.sign(np.diff(_two(values), axis=1)) for values in (ours, printed))
    return int(((own == other) & (other != 0)).sum()), int((other != 0).sum())


def _centred(printed: Array, answers: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
    """Differences from the mean of the speaker's chat, of print and answers alike."""
    return printed - chat_means(printed), tuple(each - chat_means(each) for each in answers)


def _passing(printed: Array, answers: tuple[Array, ...]) -> dict[str, Passing]:
    chats = [chat for chat, _ in TABLE_7]
    ours, circle, dummy = (_near(each, printed, TABLE_7.keys()) for each in answers)
    own, trivial = (products(printed.tolist(), each.tolist()) for each in (answers[0], answers[2]))
    passing = {}
    for figure in NEARNESS:
        level, less = dummy[figure].value, figure == "error"
        # What never changes has no r; it orders nobody, which is what an r of 0 means.
        known = 0.0 if level is None else level
        gain = grouped_changes(trivial, own, chats, {figure: NEARNESS[figure]})
        beyond = ours[figure] if level is None else gain[figure].difference
        value = ours[figure].value
        wanted = known / 2 if less else (1 + known) / 2
        passes = False
        if value is not None and beyond.low is not None and beyond.high is not None:
            passes = (
                value <= wanted and beyond.high < 0 if less else value >= wanted and beyond.low > 0
            )
        passing[figure] = Passing(ours[figure], circle[figure].value, level, wanted, beyond, passes)
    return passing
