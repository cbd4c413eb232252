"""Which parities are known to fail, and why; every other one is recorded as holding.

    KNOWN_FAILURES["Table 6, commonsense of Chat_6_Vanessa_Nicolas"]
    → "the published file holds 10 questions where the table prints 12"

`reproduce` prints these failures as failures and exits with 1 where a parity fails that is not
here. One that is here and holds is reported, so that it can be taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

_CHAT = "not beyond a dummy that knows each chat's mean"
_BELOW = "the interval of eight chats reaches below 0"
_ERROR = "concordance reaches its mark, the error does not"
_RISES = "our intimacy rises for 12 of 16 speakers, the printed for 5; signed means in thousandths "
_LINEAR = f"{_RISES}.44 against .03; not explained"
_EXPONENTIAL = f"{_RISES}.81 against .04; not explained"
# Our labels beside GPT-4o-mini's and RoBERTa's, speaker by speaker.
_SCALE_OVER_ALL = {
    "reflective_frequency": "our labels find more reflective messages",
    "emotion_diversity": "our emotions are spread more evenly, for every speaker",
    "sentiment_diversity": _CHAT,
    "grounding_frequency": "our labels find fewer grounding messages, and speakers less apart",
    "empathy": "GPT-4o-mini gives three to four times the empathy of our rubric",
    "intimacy_linear": _LINEAR,
    "intimacy_exponential": _EXPONENTIAL,
    "sentiment_stability": _CHAT,
    "emotion_stability": "our emotions change more often",
    "sentiment_alignment": "our speakers are less apart than the printed ones",
    "emotion_alignment": "our emotions agree less often",
}
_SCALE_WITHIN = {
    "reflective_frequency": _BELOW,
    "emotion_diversity": _ERROR,
    **dict.fromkeys((f"{measure}_stability" for measure in ("sentiment", "emotion")), _ERROR),
    "sentiment_alignment": _ERROR,
    "emotion_alignment": _BELOW,
    "grounding_frequency": _BELOW,
    "empathy": "our rubric's empathy varies half as much as GPT-4o-mini's",
    "intimacy_linear": _LINEAR,
    "intimacy_exponential": _EXPONENTIAL,
}
_ORDER_OVER_ALL = dict.fromkeys(
    (name for name in _SCALE_OVER_ALL if name != "sentiment_diversity"), _CHAT
)
_ORDER_WITHIN = {
    "reflective_frequency": _BELOW,
    "grounding_frequency": f"reaches its mark, but {_BELOW}",
    "empathy": "r is below its mark",
    "emotion_alignment": _BELOW,
}
_FIGURE_2 = {
    "finding 1, messages": "counted by chats emotion diversity is not beyond chance",
    "finding 3, messages": "counted by chats the difference is not beyond chance",
    "finding 1, turns": "from joined turns emotion diversity is not beyond chance",
    "finding 2, turns": "from joined turns the difference is not beyond chance",
}


def _known() -> Iterator[tuple[str, str]]:
    yield (
        "Table 6, commonsense of Chat_6_Vanessa_Nicolas",
        "the published file holds 10 questions where the table prints 12",
    )
    for finding, reason in _FIGURE_2.items():
        yield f"Figure 2, {finding}", reason
    for what, because in (
        ("order of speakers over all", _ORDER_OVER_ALL),
        ("order of speakers within chats", _ORDER_WITHIN),
        ("scale over all", _SCALE_OVER_ALL),
        ("scale within chats", _SCALE_WITHIN),
    ):
        for facet, reason in because.items():
            yield f"Table 7, {facet}, {what}", reason


KNOWN_FAILURES: Mapping[str, str] = MappingProxyType(dict(_known()))
