"""Rules that discard drafted questions: each of them discards what it names, and nothing else."""

from __future__ import annotations

from drafted_chats import garden
from realtalk.chat import Question
from realtalk.memory.drafting import drafted, flaw_of, is_right, reading_flaw
from text_tables import cases

CHAT = garden()
COST = drafted("What did the greenhouse of Ines cost?", "340 euros", "single_hop", ("D1:1",))


def draft(text: str, answer: str = "", category: str = "", evidence: str | None = None) -> Question:
    """A drafted question; what is not given is that of the greenhouse's cost."""
    ids = COST.evidence if evidence is None else tuple(evidence.split())
    return drafted(text or COST.text, answer or COST.answer or "", category or COST.category, ids)


@cases("""
    text                                      | answer       | category    | evidence
    ""                                        | ""           | ""          | null
    Who carried the greenhouse up the stairs? | Marek        | single_hop  | D1:3
    When did the storm break a pane?          | 8 March 2026 | temporal    | D2:1
    When will Marek come with putty?          | 13.03.2026   | temporal    | D2:3
    In which month does Tobias start?         | April 2026   | temporal    | D3:1
    Who carried and mended the greenhouse?    | Marek        | multi_hop   | D1:3 D2:3
    What is the season when Tobias starts?    | spring       | commonsense | D3:1
""")
def test_good_drafts_stay(text: str, answer: str, category: str, evidence: str | None) -> None:
    assert flaw_of(draft(text, answer, category, evidence), CHAT) == ""


@cases("""
    text                                 | answer | category | evidence | flaw
    ""                                   | "" | "" | "" | names no message
    ""                                   | "" | "" | D1:1 D9:9 | names no message
    ""                                   | " " | "" | null | has no answer
    ""                                   | It is not mentioned. | "" | null | has no answer
    Did Ines buy a greenhouse?           | a greenhouse | "" | null | yes or no
    What of the greenhouse, is it new?   | Yes. | "" | null | yes or no
    Tell the cost of the greenhouse      | "" | "" | null | no short question
    What did your greenhouse cost?       | "" | "" | null | outside the chat
    What is said in the message of Ines? | "" | "" | null | outside the chat
    What cost Ines 340 euros?            | "" | "" | null | names its own answer
    What was on 8 March 2026?            | 8.3.2026 | temporal | D2:1 | names its own answer
    When did Ines tell Marek of it?      | 8.3.2026 | temporal | D2:1 | was said
    When were the crowns discussed?      | 8.3.2026 | temporal | D2:1 | was said
    Who mended and carried it?           | Marek | multi_hop | D2:1 D2:3 | one session
    ""                                   | a lot of crowns | "" | null | its evidence does not say
    When did the storm come?             | 9 May 2026 | temporal | D2:1 | does not say
    When did the storm come?             | at night | temporal | D2:1 | does not say
""")
def test_what_is_flawed_is_discarded(
    text: str, answer: str, category: str, evidence: str | None, flaw: str
) -> None:
    assert flaw in flaw_of(draft(text, answer, category, evidence), CHAT)


def test_long_drafts_are_discarded() -> None:
    for long in (draft(f"What {'very ' * 40}thing cost 3?"), draft("", "340 euros " * 20)):
        assert "no short question" in flaw_of(long, CHAT)


@cases("""
    text                                        | answer    | evidence | twice
    How much did the greenhouse of Ines cost?   | "340"     | D1:1     | true
    What did the greenhouse of Ines cost?       | 3 crowns  | D2:1     | true
    What was the price?                         | 340 euros | D1:1     | true
    What did the large greenhouse of Ines cost? | 340 euros | D2:1     | true
    What did the piano of Ines weigh?           | 340 euros | D2:1     | false
    Who helped Ines?                            | Marek     | D1:1     | false
""")
def test_nothing_is_asked_twice(text: str, answer: str, evidence: str, twice: bool) -> None:
    other = draft(text, answer, evidence=evidence)
    assert (flaw_of(COST, CHAT, [other]) == "was asked already") is twice


@cases("""
    read                 | unread                   | flaw
    340 euros            | It is not mentioned.     | ""
    It was 340 euros.    | perhaps 200 euros        | ""
    It is not mentioned. | It is not mentioned.     | not answered by its own evidence
    a piano              | ""                       | not answered by its own evidence
    340 euros            | About 340 euros, I guess | answered without the chat
""")
def test_a_model_reads_the_evidence_and_nothing(read: str, unread: str, flaw: str) -> None:
    assert flaw in reading_flaw(COST, read, unread)
    assert bool(flaw) == bool(reading_flaw(COST, read, unread))


def test_dates_are_compared_as_dates() -> None:
    asked = drafted("When did the storm break a pane?", "8 March 2026", "temporal", ("D2:1",))
    assert is_right(asked, "On 08.03.2026") and not is_right(asked, "9 March 2026")
