"""Rules that discard drafted questions: each of them discards what it names, and nothing else."""

from __future__ import annotations

import pytest

from drafted_chats import garden
from realtalk.memory.drafting import drafted, flaw_of, is_right, reading_flaw
from text_tables import cases

CHAT = garden()
COST = ("What did the greenhouse of Ines cost?", "340 euros", "single_hop", ("D1:1",))


@pytest.mark.parametrize(
    ("text", "answer", "category", "evidence"),
    [
        COST,
        ("Who carried the greenhouse up the stairs?", "Marek", "single_hop", ("D1:3",)),
        ("When did the storm break a pane?", "8 March 2026", "temporal", ("D2:1",)),
        ("When will Marek come with putty?", "13.03.2026", "temporal", ("D2:3",)),
        ("In which month does Tobias start?", "April 2026", "temporal", ("D3:1",)),
        ("Who carried and mended the greenhouse?", "Marek", "multi_hop", ("D1:3", "D2:3")),
        ("What is the season when Tobias starts?", "spring", "commonsense", ("D3:1",)),
    ],
)
def test_good_drafts_stay(text: str, answer: str, category: str, evidence: tuple[str, ...]) -> None:
    assert flaw_of(drafted(text, answer, category, evidence), CHAT) == ""


@pytest.mark.parametrize(
    ("text", "answer", "category", "evidence", "flaw"),
    [
        (*COST[:3], (), "names no message"),
        (*COST[:3], ("D1:1", "D9:9"), "names no message"),
        (COST[0], " ", *COST[2:], "has no answer"),
        (COST[0], "It is not mentioned.", *COST[2:], "has no answer"),
        ("Did Ines buy a greenhouse?", "a greenhouse", *COST[2:], "yes or no"),
        ("What of the greenhouse, is it new?", "Yes.", *COST[2:], "yes or no"),
        ("Tell the cost of the greenhouse", *COST[1:], "no short question"),
        (f"What {'very ' * 40}thing cost 3?", *COST[1:], "no short question"),
        (COST[0], "340 euros " * 20, *COST[2:], "no short question"),
        ("What did your greenhouse cost?", *COST[1:], "outside the chat"),
        ("What is said in the message of Ines?", *COST[1:], "outside the chat"),
        ("What cost Ines 340 euros?", *COST[1:], "names its own answer"),
        ("What was on 8 March 2026?", "8.3.2026", "temporal", ("D2:1",), "names its own answer"),
        ("When did Ines tell Marek of it?", "8.3.2026", "temporal", ("D2:1",), "was said"),
        ("When were the crowns discussed?", "8.3.2026", "temporal", ("D2:1",), "was said"),
        ("Who mended and carried it?", "Marek", "multi_hop", ("D2:1", "D2:3"), "one session"),
        (COST[0], "a lot of crowns", *COST[2:], "its evidence does not say"),
        ("When did the storm come?", "9 May 2026", "temporal", ("D2:1",), "does not say"),
        ("When did the storm come?", "at night", "temporal", ("D2:1",), "does not say"),
    ],
)
def test_what_is_flawed_is_discarded(
    text: str, answer: str, category: str, evidence: tuple[str, ...], flaw: str
) -> None:
    assert flaw in flaw_of(drafted(text, answer, category, evidence), CHAT)


@pytest.mark.parametrize(
    ("text", "answer", "evidence", "twice"),
    [
        ("How much did the greenhouse of Ines cost?", "340", ("D1:1",), True),
        ("What did the greenhouse of Ines cost?", "3 crowns", ("D2:1",), True),
        ("What was the price?", "340 euros", ("D1:1",), True),
        ("What did the large greenhouse of Ines cost?", "340 euros", ("D2:1",), True),
        ("What did the piano of Ines weigh?", "340 euros", ("D2:1",), False),
        ("Who helped Ines?", "Marek", ("D1:1",), False),
    ],
)
def test_nothing_is_asked_twice(
    text: str, answer: str, evidence: tuple[str, ...], twice: bool
) -> None:
    other = drafted(text, answer, "single_hop", evidence)
    assert (flaw_of(drafted(*COST), CHAT, [other]) == "was asked already") is twice


@cases("""
    read                 | unread                   | flaw
    340 euros            | It is not mentioned.     | ""
    It was 340 euros.    | perhaps 200 euros        | ""
    It is not mentioned. | It is not mentioned.     | not answered by its own evidence
    a piano              | ""                       | not answered by its own evidence
    340 euros            | About 340 euros, I guess | answered without the chat
""")
def test_a_model_reads_the_evidence_and_nothing(read: str, unread: str, flaw: str) -> None:
    assert flaw in reading_flaw(drafted(*COST), read, unread)
    assert bool(flaw) == bool(reading_flaw(drafted(*COST), read, unread))


def test_dates_are_compared_as_dates() -> None:
    asked = drafted("When did the storm break a pane?", "8 March 2026", "temporal", ("D2:1",))
    assert is_right(asked, "On 08.03.2026") and not is_right(asked, "9 March 2026")
