"""A speaker's turns in the learned chat → those written in places like this, for a prompt.

    own = OwnTurns(learning, count=8)
    own.texts(prompts)[0]
    → "Messages that Mara wrote to somebody else:
       - to “did you sleep at all” Mara answered: lol no
       - to begin with, Mara wrote: guess who is back"

Nearest is the end of the context, by the shipped encoder or by words. A tested turn is shown turns
of the learned chat, which is another one but need not be earlier: on REALTALK, whose chats ran side
by side, about six in ten of what is learned is later than the tested turn, as in the paper. A turn
of the learned chat itself, in training, is shown only turns of sessions that its prompt does not
show: never itself, nothing that stands in its context, and no later turn that quotes what was said
to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.persona.nearness import nearness
from realtalk.persona.simulators import gist, refuse_empty
from realtalk.persona.values import Learning, TurnPrompt

_LONGEST = 240  # characters of an example: a long one would crowd out the others


class OwnTurns:
    """What a speaker wrote elsewhere, found by what was said before it."""

    def __init__(self, learning: Learning, count: int, by: str = "encoder") -> None:
        refuse_empty(learning)
        self._learning = learning
        self._count = count
        self._index = nearness(by).index([gist(turn.prompt) for turn in learning.turns])

    def texts(self, prompts: Sequence[TurnPrompt], count: int | None = None) -> list[str]:
        """Nearest turns first; "" where there is none to show. `count` shows another number."""
        most = self._count if count is None else count
        ranked = self._index.nearest([gist(prompt) for prompt in prompts])
        both = zip(prompts, ranked, strict=True)
        return [self._text(self._open(prompt, places)[:most]) for prompt, places in both]

    def _open(self, prompt: TurnPrompt, places: Sequence[int]) -> list[int]:
        """Those places that the prompt may be shown, in order."""
        if prompt.chat != self._learning.chat.id:
            return list(places)
        seen = {prompt.session, *(turn.session for turn in prompt.context)}
        turns = self._learning.turns
        return [at for at in places if turns[at].prompt.session not in seen]

    def _text(self, places: Sequence[int]) -> str:
        who = self._learning.speaker
        lines = [f"Messages that {who} wrote to somebody else:"] if places else []
        for at in places:
            turn = self._learning.turns[at]
            before = turn.prompt.previous
            if before:
                lines.append(
                    f"- to \N{LEFT DOUBLE QUOTATION MARK}{_short(before)}"
                    f"\N{RIGHT DOUBLE QUOTATION MARK} {who} answered: {_short(turn.text)}"
                )
            else:
                lines.append(f"- to begin with, {who} wrote: {_short(turn.text)}")
        return "\n".join(lines)


def _short(text: str) -> str:
    flat = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST].rsplit(' ', 1)[0]} …"
