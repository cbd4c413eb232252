"""How §4.3 of the REALTALK paper is read: protocols by name, and rules of one's own.

    rules_of("turns").joined              → True
    rules_of("paper").alignment_over      → "turns"
    rules_of(Rules("mine", joined=True, across_sessions=True, pairing="kth"))

| protocol | labels are of | stability compares | alignment pairs, and divides by |
|---|---|---|---|
| turns | joined turns | a turn and the speaker's one before | the others' latest; those pairs |
| paper | joined turns | the same | the others' latest; all turns of the speaker (§4.3) |
| released | messages | the same, within a session | the message directly before; those pairs |

The paper's released code (`self_regulation.py`) pairs a message with the one directly before it and
only where that is the partner's, so that of five messages in a row the first alone is paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from realtalk.registry import known_name


@dataclass(frozen=True, slots=True)
class Rules:
    """Where readings of §4.3 part.

    `joined`: labels are of turns, else of single messages. `across_sessions`: a session's
    first turn is compared with the last of the session before (stability). `pairing`
    (alignment): a turn goes with the turn it answers, which is the latest by somebody else
    in the session; or with that one only where it stands directly before; or the speaker's k-th
    in a session with the k-th of the others.
    `alignment_over`: what the matching pairs are divided by, the pairs that there are, or all
    turns of the speaker; a turn that opens a session then counts as one that does not match.
    """

    name: str
    joined: bool
    across_sessions: bool
    pairing: Literal["answered", "directly", "kth"]
    alignment_over: Literal["pairs", "turns"] = "pairs"


# Pairing by k counts the same pairs for both speakers of a chat, while Table 7 prints .86
# for one and .78 for the other: the paper's figures come from pairs that have a direction.
# They also come from single messages, whatever §4 says: labelled so, its sentiment diversity
# correlates at .99, with joined turns at .94.
PROTOCOLS: Mapping[str, Rules] = {
    "turns": Rules("turns", True, True, "answered"),
    "paper": Rules("paper", True, True, "answered", "turns"),
    "released": Rules("released", False, False, "directly"),
}


def rules_of(protocol: str | Rules) -> Rules:
    """A protocol by its name, or rules of one's own."""
    if isinstance(protocol, Rules):
        return protocol
    return PROTOCOLS[known_name("protocol", protocol, PROTOCOLS)]
