"""A small invented chat with events and questions, for the tests of memories."""

from __future__ import annotations

from datetime import datetime

from realtalk.chat import Alias, Attachment, Chat, Event, Message, Question, Session


def ask(text: str, id_: str = "Q1") -> Question:
    return Question(id_, text, "", "multi_hop")


def bakery() -> Chat:
    """Ines (also called Nessa) and Tobias over three sessions; the second passes midnight."""

    def said(id_: str, speaker: str, when: datetime, text: str, *shared: Attachment) -> Message:
        return Message(id_, speaker, when, text, tuple(shared))

    one = datetime(2026, 5, 4, 9, 0)
    two = datetime(2026, 5, 8, 23, 50)
    late = datetime(2026, 5, 9, 0, 10)
    three = datetime(2026, 5, 20, 18, 0)
    sessions = (
        Session(
            1,
            one,
            (
                said("D1:1", "Ines", one, "good morning"),
                said("D1:2", "Tobias", one, "morning Nessa\nhow is the bakery"),
                said("D1:3", "Ines", one, "the oven broke, I am waiting for the mechanic"),
                said("D1:4", "Tobias", one, "ugh, mine took two weeks"),
                said("D1:5", "Ines", one, "at least the sourdough starter is alive"),
            ),
        ),
        Session(
            2,
            two,
            (
                said("D2:1", "Tobias", two, "still awake?"),
                said("D2:2", "Ines", two, "", Attachment("image", "1.jpg", "", "a grey kitten")),
                said("D2:3", "Ines", late, "adopted her from the shelter, she is called Pepper"),
                said("D2:4", "Tobias", late, "congratulations!!"),
            ),
        ),
        Session(
            3,
            three,
            (
                said("D3:1", "Tobias", three, "I signed up for the marathon in Porto"),
                said("D3:2", "Ines", three, "wow, when is it"),
                said("D3:3", "Tobias", three, "8 November, I have to buy shoes"),
            ),
        ),
    )
    events = (
        Event(1, "Ines", "Nessa's oven breaks and she waits for a mechanic."),
        Event(3, "Tobias", "Tobias signs up for a marathon in Porto."),
        Event(2, "Ines", "Nessa adopts a kitten from the shelter."),
        Event(2, "Tobias", "Tobias is told about the pet.", "observation", "", ("D2:3", "D2:4")),
        Event(2, None, "They talk about a pet at night.", "summary"),
    )
    aliases = (Alias("Nessa", "Ines", "D1:2"),)
    return Chat("Chat_9_Ines_Tobias", ("Ines", "Tobias"), sessions, events, (), aliases)
