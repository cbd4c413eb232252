"""Which parities are known to fail, and why; every other one is recorded as holding.

    KNOWN_FAILURES["Table 6, commonsense of Chat_6_Vanessa_Nicolas"]
    → "the published file holds 10 questions where the table prints 12"

`reproduce` prints these failures as failures and exits with 1 where a parity fails that is not
here. One that is here and holds is reported, so that it can be taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

_FEW = "r reaches its mark, but is not beyond the dummy's in 95 % of the draws of eight chats"
_ERROR = "concordance reaches its mark, the error does not"
# Our labels beside GPT-4o-mini's and RoBERTa's, speaker by speaker.
_SCALE_OVER_ALL = {
    "reflective_frequency": "our labels find more reflective messages",
    "emotion_diversity": "our emotions are spread more evenly, for every speaker",
    "sentiment_diversity": "the error lies just above its mark and is not beyond the dummy's",
    "grounding_frequency": "our labels find fewer grounding messages, and speakers less apart",
    "empathy": "GPT-4o-mini gives three to four times the empathy of our rubric",
    "intimacy_linear": "our intimacy rises more, by half as much again; not explained",
    "intimacy_exponential": "our intimacy rises more, by half as much again; not explained",
    "sentiment_stability": _ERROR,
    "emotion_stability": "our emotions change more often",
    "sentiment_alignment": "our speakers are less apart than the printed ones",
    "emotion_alignment": "our emotions agree less often",
}
_SCALE_WITHIN = {
    "reflective_frequency": _ERROR,
    **dict.fromkeys((f"{measure}_stability" for measure in ("sentiment", "emotion")), _ERROR),
    **dict.fromkeys((f"{measure}_alignment" for measure in ("sentiment", "emotion")), _ERROR),
    "grounding_frequency": "the interval of eight chats reaches below 0, the error above its mark",
    "empathy": "our rubric's empathy varies half as much as GPT-4o-mini's",
    "intimacy_linear": "our intimacy rises more, by half as much again; not explained",
    "intimacy_exponential": "our intimacy rises more, by half as much again; not explained",
}
_ORDER_OVER_ALL = {
    "reflective_frequency": "our reflective messages are others than GPT-4o-mini's",
    "empathy": "hardly better than knowing the circle of friends",
    "intimacy_linear": _FEW,
    "intimacy_exponential": _FEW,
    "sentiment_stability": _FEW,
    "emotion_stability": _FEW,
    "emotion_alignment": "hardly better than knowing the circle of friends",
}
_ORDER_WITHIN = {
    "grounding_frequency": "reaches its mark, but the interval of eight chats reaches below 0",
}
_JOINED = "from joined turns the difference is not beyond chance; Table 7 is from single messages"


def _known() -> Iterator[tuple[str, str]]:
    yield (
        "Table 6, commonsense of Chat_6_Vanessa_Nicolas",
        "the published file holds 10 questions where the table prints 12",
    )
    for finding in (1, 2):
        yield f"Figure 2, finding {finding}, turns", _JOINED
    for what, because in (
        ("order over all", _ORDER_OVER_ALL),
        ("order within circles", _ORDER_WITHIN),
        ("scale over all", _SCALE_OVER_ALL),
        ("scale within circles", _SCALE_WITHIN),
    ):
        for facet, reason in because.items():
            yield f"Table 7, {facet}, {what}", reason


KNOWN_FAILURES: Mapping[str, str] = MappingProxyType(dict(_known()))
