"""Labels of turns → which chat of a speaker is learned from and which is tested on.

    choose(labels)
    → [Choice("Mara", learn="Chat_1_Mara_Theo", test="Chat_2_Mara_Juno",
              overall={"Chat_1_Mara_Theo": 0.31, "Chat_2_Mara_Juno": -0.12}, sure=0.97, ...)]

The tested chat is the one with the lower overall EI, as in §6.1 of the REALTALK paper. It gives
no formula for "overall"; here every facet is z-scored over all speakers of all chats and the
eleven are averaged. `sure` is the share of resamples in which the tested chat stays lower: near
.5 the choice is a coin's. Of more than two chats the lowest is tested and, of the others, the
one with most turns of the speaker is learned from.

    TABLE_2["with fine-tuning"].mean["empathy"]    → 1.24
    TABLE_8[0]    → PublishedSpeaker("Emi", 0.21, learn=["Emi", "Paola"], test=["Emi", "Elise"], …)

What the paper reports, Tables 2 and 8 of arXiv:2502.13270, stands in published.toml. Lexical is
ROUGE (which one is not said), semantic BERTScore; agreement of the four categories is raw accuracy,
intimacy and empathy are absolute differences. The standard deviations are over the ten speakers,
with n - 1.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from realtalk.chat import is_nobody
from realtalk.ei.protocols import Rules
from realtalk.ei.speakers import ResampledFacets, consistency_of, measure_speakers
from realtalk.ei.values import FACETS
from realtalk.errors import RealtalkError
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Array, Estimate
from realtalk.text.wordlists import data_text


class PublishedRow(NamedTuple):
    """One line of Table 2."""

    mean: Mapping[str, float]
    sd: Mapping[str, float]


class PublishedSpeaker(NamedTuple):
    """A speaker's lines of Table 8; a chat is named by its two speakers."""

    speaker: str
    consistency: float
    learn: Sequence[str]
    test: Sequence[str]
    without: Mapping[str, float]
    tuned: Mapping[str, float]


_FILE = tomllib.loads(data_text("realtalk.persona", "published.toml"))
TABLE_2 = {title: PublishedRow(**row) for title, row in _FILE["table_2"].items()}
TABLE_8 = tuple(PublishedSpeaker(**row) for row in _FILE["table_8"])
PUBLISHED_SCORES = tuple(TABLE_8[0].tuned)


def published_choice(speaker: str, chats: Sequence[str]) -> tuple[str, str] | None:
    """Table 8's (learn, test) among these chat ids; None where it does not have them."""
    row = published_speaker(speaker)
    chat_ids = []
    for pair in (row.learn, row.test) if row else ():
        # The chat whose id names both; ids of the published files read Chat_4_Emi_Paola.
        names = {name.casefold() for name in pair}
        chat_ids += [chat for chat in chats if names <= set(chat.casefold().split("_"))][:1]
    return (chat_ids[0], chat_ids[1]) if len(chat_ids) == 2 else None


def published_speaker(name: str) -> PublishedSpeaker | None:
    """Table 8's speaker of that name, small or capital letters aside."""
    return next((row for row in TABLE_8 if row.speaker.casefold() == name.casefold()), None)


@dataclass(frozen=True, slots=True)
class Choice:
    """A speaker's two chats and what the choice between them rests on."""

    speaker: str
    learn: str
    test: str
    overall: Mapping[str, float]  # overall EI of each of the speaker's chats
    turns: Mapping[str, int]
    sure: float
    leading: tuple[str, ...]  # the facets that part the two chats most
    consistency: Estimate  # how far the speaker's facets differ between the two chats

    @property
    def published(self) -> tuple[str, str] | None:
        """Table 8's chats of the speaker to learn from and to test on, where it has them."""
        return published_choice(self.speaker, tuple(self.overall))


def choose(labels: pl.DataFrame, protocol: str | Rules = "turns") -> list[Choice]:
    """A choice for every speaker with two chats or more, in order of appearance."""
    measured = list(measure_speakers(labels, protocol))
    # As numbers, None is not a number.
    values = np.array([[it.value for it in one.speaker.facets] for one in measured], np.float64)
    # One that nobody has or that never varies is left out.
    mean, width = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    for place, column in enumerate(values.T):
        facet_values = column[np.isfinite(column)]
        if facet_values.size > 1 and facet_values.std(ddof=1) > 0:
            mean[place], width[place] = facet_values.mean(), facet_values.std(ddof=1)
    scaled = (values - mean) / width
    finite = [row[np.isfinite(row)] for row in scaled]
    overall = [float(row.mean()) if row.size else np.nan for row in finite]
    apart = {(pair.speaker, *pair.chats): pair.overall for pair in consistency_of(measured)}
    places = grouped((who.speaker.speaker, at) for at, who in enumerate(measured))
    choices = []
    for speaker, own in places.items():
        finite_places = [at for at in own if np.isfinite(overall[at])]
        if len(finite_places) < 2 or is_nobody(speaker):
            continue
        test = min(finite_places, key=overall.__getitem__)
        others = (at for at in finite_places if at != test)
        learn = max(others, key=lambda at: measured[at].speaker.turns)
        taught, tested = (measured[at].speaker.chat for at in (learn, test))
        gap = scaled[learn] - scaled[test]
        order = np.argsort(-np.where(np.isfinite(gap), gap, -np.inf))
        choices.append(
            Choice(
                speaker,
                taught,
                tested,
                {measured[at].speaker.chat: overall[at] for at in own},
                {measured[at].speaker.chat: measured[at].speaker.turns for at in own},
                _sure(measured[learn], measured[test], mean, width),
                tuple(list(FACETS)[at] for at in order[:3] if gap[at] > 0),
                apart.get((speaker, taught, tested)) or apart[speaker, tested, taught],
            )
        )
    if not choices:
        raise RealtalkError(
            "no speaker has two chats with turns that could be labelled",
            fix="one is needed to learn from and another to be tested on",
        )
    return choices


def _sure(learn: ResampledFacets, test: ResampledFacets, mean: Array, width: Array) -> float:
    """The share of resamples in which the tested chat is the lower one."""
    gaps = []
    for place, (learn_draws, test_draws) in enumerate(zip(learn.draws, test.draws, strict=True)):
        if learn_draws is not None and test_draws is not None and np.isfinite(mean[place]):
            gaps.append((learn_draws - test_draws) / width[place])
    total = np.nanmean(np.array(gaps), axis=0)
    return float(np.mean(total > 0))


def as_published(choices: Sequence[Choice]) -> list[Choice]:
    """The same speakers with Table 8's chats, where it has them."""
    printed = []
    for choice in choices:
        learn, test = choice.published or (choice.learn, choice.test)
        sure = choice.sure if test == choice.test else 1 - choice.sure
        printed.append(replace(choice, learn=learn, test=test, sure=sure))
    return printed


def difference(choice: Choice) -> str:
    """Where a choice is not Table 8's and why, "" where it is or Table 8 has none."""
    published = choice.published
    if published is None or published == (choice.learn, choice.test):
        return ""
    ours, theirs = choice.overall[choice.test], choice.overall[published[1]]
    led = ", ".join(FACETS[name].title.lower() for name in choice.leading)
    return (
        f"{choice.speaker}: Table 8 tests on {published[1]}, here {choice.test} is lower: overall "
        f"EI {ours:+.2f} against {theirs:+.2f}, in {choice.sure:.0%} of resamples; lower most in "
        f"{led or 'no one facet'}. The paper's labels come from other models, and it gives no "
        "formula for overall EI"
    )


def choice_rows(choices: Sequence[Choice]) -> list[dict[str, str | int | None]]:
    """One row per speaker: both chats, their overall EI, and Table 8's choice beside it."""
    rows = []
    for choice in choices:
        consistency = choice.consistency.value
        row: dict[str, str | int | None] = {
            "speaker": choice.speaker,
            "learn (C_a)": choice.learn,
            "test (C_b)": choice.test,
            "EI of C_a": f"{choice.overall[choice.learn]:+.2f}",
            "EI of C_b": f"{choice.overall[choice.test]:+.2f}",
            "sure": f"{choice.sure:.0%}",
            "turns C_a": choice.turns[choice.learn],
            "turns C_b": choice.turns[choice.test],
            "consistency": None if consistency is None else f"{consistency:.2f}",
        }
        if any(other.published for other in choices):
            printed, own = choice.published, published_speaker(choice.speaker)
            test = printed and ("same" if printed[1] == choice.test else printed[1])
            row["Table 8 tests on"] = test
            row["its consistency"] = f"{own.consistency:.2f}" if test and own else None
        rows.append(row)
    return rows
