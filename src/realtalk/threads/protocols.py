"""Names of protocols → by which rules samples are made.

    protocol("clean")                         → no leak; the default
    protocol("released")                      → every leak, as the released code has them
    protocol("clean", leaks=("sign-shown",))  → clean but for one, to see what it is worth
    describe(protocol("clean"))               → ("cutoff: the target's own time; …", …)

`clean`. A target's cutoff is its own time. What was written at the cutoff or after it, or at an
unknown time, is not shown; a reply whose parent is not from before it is not asked about. Scores
are those of the crawl, so even an earlier comment's comes from later: hidden, unless
`with_scores`. Every reply of a user is eligible and none is chosen by its outcome. The test part
is the last share of each user's replies in time (`split="user"`), or what came after one moment
(`split="global"`): with the first, one person's training replies may be younger than another's
test, so nothing learned over all users is free of look-ahead, while with the second it is.

`released`. Read from the public code of the benchmark (PERSONA-bench/PERSONA: its three prompt
makers), each habit by the name of `values.LEAKS`:

target-by-outcome   In each thread of more than three people, where the post's author replied more
                    than twice, the author's reply with the largest absolute score, the latest of
                    equals, if above 3. For next_text the author's last reply.
positives-halved    The targets with a positive score are sorted by it and the lower half dropped.
flat-tree           sentiment and impact: the tree is written into a data store beside the prompt,
                    and only the prompt is sent. It holds 500 characters of the post and 100 of the
                    parent. The mask over the target's score is put into that store as well, so
                    that it never applies to anything a model reads.
post-always-shown   "Without conversation" the post's title and text are shown all the same, and for
                    next_text what is answered: settings differ by less than their names say.
sign-shown          impact: "the score is expected to be positive" or "negative".
later-comments      Everything in the thread but the target and the answers to it is context,
                    whenever it was written. What flat-tree cuts is cut first.
later-history       Other posts count as history whenever they were written.
own-thread-only     History is what the person wrote in the same thread, and without conversation
                    there is none. Only next_text without conversation takes other posts (not
                    comments).
example-by-outcome  With conversation, one solved example: the author's reply of the next largest
                    score in the same thread (next_text: the last but one), its outcome told. In
                    the np settings it is taken from another author's thread.
scores-shown        Scores stand beside the post and, where the tree is shown, every comment.

The code has no training part; ours splits its targets like any others. It answers np-conv with an
example from another thread, and has no np-nonconv: there we show what p-nonconv shows of another
person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from realtalk.registry import suggest
from realtalk.threads.values import LEAKS, Protocol

CLEAN = Protocol()
RELEASED = Protocol(leaks=tuple(LEAKS), least=1, conversation=1000)
_LOOKING_AHEAD = ("later-comments", "later-history", "example-by-outcome")
PROTOCOLS = {"clean": CLEAN, "released": RELEASED}


def protocol(name: str = "clean", *, leaks: tuple[str, ...] = (), **settings: Any) -> Protocol:
    """A protocol by name, with further leaks and settings changed."""
    found = PROTOCOLS.get(name)
    if found is None:
        raise suggest("protocol", name, list(PROTOCOLS))
    on = {*found.leaks, *leaks}
    for leak in on:
        if leak not in LEAKS:
            raise suggest("leak", leak, list(LEAKS))
    ordered = tuple(leak for leak in LEAKS if leak in on)
    return replace(found, leaks=ordered, **settings)


def stored_protocol(settings: Mapping[str, Any]) -> Protocol:
    """The protocol that a run's settings tell of: the way back from `Protocol.settings`."""
    name, _, leaks = str(settings["protocol"]).partition("+")
    known = (
        PROTOCOLS["released"].leaks if name == "released" else tuple(filter(None, leaks.split("+")))
    )
    others = {key: value for key, value in settings.items() if key != "protocol"}
    return Protocol(leaks=tuple(leak for leak in LEAKS if leak in known), **others)


def describe(rules: Protocol) -> tuple[str, ...]:
    """What a table made by these rules must say, a line each."""
    split = (
        f"test: the last {rules.test_share:.0%} of each user's replies in time"
        if rules.split == "user"
        else f"test: the last {rules.test_share:.0%} of all replies in time"
    )
    later = any(leak in rules.leaks for leak in _LOOKING_AHEAD)
    lines = [
        f"protocol: {rules.name}",
        "cutoff: none, what came later is shown"
        if later
        else "cutoff: the target's own time; nothing from then or later is shown",
        split,
        f"history: at most {rules.history}, the most "
        + ("recent" if rules.chosen == "recent" else "similar"),
    ]
    if rules.shows_scores:
        lines.append("scores are shown; they are those of the crawl, later than any cutoff")
    if rules.shots:
        lines.append(f"{rules.shots} solved examples; their scores are those of the crawl")
    lines += [f"leak {leak}: {LEAKS[leak]}" for leak in rules.leaks]
    return tuple(lines)
